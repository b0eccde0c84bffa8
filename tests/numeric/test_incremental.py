# mypy: disable-error-code="arg-type"
# (wrong arguments are passed on purpose, to see what is said of them)
import numpy as np
import pytest

from numeric import incremental, model
from numeric.arithmetic import largest_error, precision, to_balls
from numeric.checker.rounding import allowance
from numeric.layers import masking, multi_head
from numeric.layers.positional_encoding import encode
from numeric.parameters import map_leaves

from . import model_bounds
from .layers import bounds
from .small_models import CONFIGS, PAD, SOURCE, differ, sample

DECODING = {name: config for name, config in CONFIGS.items() if config.form != "encoder"}
EVERY = pytest.mark.parametrize("config", DECODING.values(), ids=DECODING)
TOKENS = np.array([[1, 4, 4, 6], [1, 5, PAD, 3]])  # a pad inside is not attended to either
WRITER = CONFIGS["decoder, pre"]


def source(config):
    return None if config.form == "decoder" else SOURCE


def misses(config, chunks):
    """How many logits are not those of all tokens at once, when the tokens come in chunks of these sizes."""
    params, src = sample(config), source(config)
    with precision(160):
        state = incremental.start(params, src, config, 2, 4)
        ends = np.cumsum(chunks)
        parts = [
            incremental.advance(params, state, TOKENS[:, end - size : end], config)
            for size, end in zip(chunks, ends, strict=True)
        ]
        assert state.length == 4
        return differ(np.concatenate(parts, 1), model.logits(params, src, TOKENS, config))


@EVERY
@pytest.mark.parametrize("chunks", [(1, 1, 1, 1), (2, 1, 1), (1, 3), (4,)], ids=str)
def test_cached_decoding_is_full_recomputation(config, chunks):
    assert misses(config, chunks) == 0


EMBED, CAUSAL, KEYS_AND_VALUES, START = model.embed, masking.causal, multi_head.keys_and_values, incremental.start


def positions_from_0(params, tokens, config, rng=None, start=0):
    return EMBED(params, tokens, config, rng)


def memory_without_mask(*args):
    state = START(*args)
    state.memory_keep = None
    return state


def shifted_keys(m, weights, n_heads, n_groups):
    k, v = KEYS_AND_VALUES(m, weights, n_heads, n_groups)
    return k[..., ::-1, :], v


MUTANTS = {
    "positions from 0": (model, "embed", positions_from_0, (1, 3)),
    "causal from the upper left": (masking, "causal", lambda n, m, lower_right: CAUSAL(n, m), (1, 3)),
    "all of a chunk seen": (masking, "causal", lambda n, m, lower_right: np.ones((n, m), bool), (1, 3)),
    "keys in reverse": (multi_head, "keys_and_values", shifted_keys, (1, 3)),
    "pads of the source attended to": (incremental, "start", memory_without_mask, (1, 1, 1, 1)),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_mutants_are_caught(name, monkeypatch):
    owner, attribute, mutant, chunks = MUTANTS[name]
    config, params = CONFIGS["encoder-decoder, pre"], sample(CONFIGS["encoder-decoder, pre"])
    with precision(160):
        right = model.logits(params, SOURCE, TOKENS, config)
    monkeypatch.setattr(owner, attribute, mutant)
    monkeypatch.setattr(model, "logits", lambda *_: right)
    assert misses(config, chunks) > 0


@EVERY
def test_rows_may_be_exchanged_and_repeated(config):
    params, src, rows = sample(config), source(config), np.array([1, 0, 1])
    with precision(160):
        state = incremental.start(params, src, config, 2, 4)
        incremental.advance(params, state, TOKENS[:, :2], config)
        chosen = state.select(rows)
        z = incremental.advance(params, chosen, TOKENS[rows, 2:], config)
        whole = model.logits(params, None if src is None else src[rows], TOKENS[rows], config)
        assert differ(z, whole[:, 2:]) == 0
        # the state that it was made from is as before
        z = incremental.advance(params, state, TOKENS[:, 2:], config)
        assert differ(z, model.logits(params, src, TOKENS, config)[:, 2:]) == 0


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64], ids=lambda dtype: dtype.__name__)
def test_floats_keep_their_dtype(dtype):
    params = sample(WRITER, dtype=dtype)
    state = incremental.start(params, None, WRITER, 2, 4)
    z = incremental.advance(params, state, TOKENS[:, :3], WRITER)
    assert z.dtype == dtype and np.isfinite(z).all()
    assert {array.dtype for kept in state.own for array in kept} == {np.dtype(dtype)}


def rounding_bound(params, tokens, config, dtype):
    """How far any logit may be from its true value, in whatever order sums are taken."""
    table = bounds.exact(params["embedding"]["table"], dtype)
    encoding, exact = (encode(np.arange(tokens.shape[1]), config.d_model, dtype=each) for each in (dtype, object))
    positions = bounds.exact(encoding, dtype).loosened(largest_error(encoding, exact))
    x = bounds.moved(table, lambda rows: rows[tokens]) * bounds.root(config.d_model, table) + positions
    weights = map_leaves(lambda array: bounds.exact(array, dtype), params["decoder"])
    y, _ = model_bounds.stack(x, weights, config, masking.causal(tokens.shape[1]))
    return allowance(bounds.product(y, bounds.transposed(table)))


def test_floats_stay_within_the_rounding_bound_cached_or_not():
    config, tokens, dtype = CONFIGS["decoder, post"], np.array([[1, 4, 4, 6], [1, 5, 2, 3]]), np.float64
    params = sample(config, dtype=dtype)
    with precision(160):
        exact = model.logits(map_leaves(to_balls, params), None, tokens, config)
    state = incremental.start(params, None, config, 2, 4)
    cached = np.concatenate([incremental.advance(params, state, each[:, None], config) for each in tokens.T], 1)
    allowed = rounding_bound(params, tokens, config, dtype)
    assert allowed.max() < 1e-8  # or the test would say little
    for z in (cached, model.logits(params, None, tokens, config)):
        assert (largest_error(z, exact) <= allowed).all()
    assert not (largest_error(cached + 2 * allowed.max(), exact) <= allowed).any()


PARAMS = {config: sample(config, dtype=np.float64) for config in (WRITER, CONFIGS["encoder-decoder, pre"])}


def started(rows=2, capacity=3):
    return incremental.start(PARAMS[WRITER], None, WRITER, rows, capacity)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: incremental.start({}, None, CONFIGS["encoder, pre"], 2, 4),
            "incremental: form is 'encoder', needed one with a decoder",
        ),
        (
            lambda: incremental.start(PARAMS[WRITER], SOURCE, WRITER, 2, 4),
            "incremental: src was given, needed None for the form 'decoder'; a prompt goes through `advance`",
        ),
        (
            lambda: incremental.start(*list(PARAMS.values())[1:], None, list(PARAMS)[1], 2, 4),
            r"model: src is None, needed integers \(B, n\)",
        ),
        (
            lambda: incremental.start(*list(PARAMS.values())[1:], SOURCE, list(PARAMS)[1], 3, 4),
            r"incremental: src has shape \(2, 3\), needed \(3, m\)",
        ),
        (lambda: started(capacity=0), "incremental: capacity is 0, needed an integer of at least 1"),
        (lambda: started(rows=0), "incremental: rows is 0"),
        (
            lambda: incremental.advance(PARAMS[WRITER], started(), TOKENS, WRITER),
            r"incremental: tokens has shape \(2, 4\), needed \(2, n\) with n <= 3, since the state has 2 rows and 0",
        ),
        (
            lambda: incremental.advance(PARAMS[WRITER], started(), TOKENS[:1, :1], WRITER),
            r"incremental: tokens has shape \(1, 1\), needed \(2, n\)",
        ),
        (
            lambda: incremental.advance(PARAMS[WRITER], started(), TOKENS[:, :1] + 6, WRITER),
            "embedding: tokens holds 7, needed 0 <= tokens < 7",
        ),
    ],
)
def test_bad_input_gets_a_clear_error(call, message):
    with pytest.raises(ValueError, match=message):
        call()
