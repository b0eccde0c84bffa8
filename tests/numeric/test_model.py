# mypy: disable-error-code="arg-type"
# (wrong arguments are passed on purpose, to see what is said of them)
from dataclasses import replace

import numpy as np
import pytest

from numeric import decoder, encoder, model, sublayers
from numeric.arithmetic import precision, to_balls
from numeric.derivatives import derivative
from numeric.layers import dropout, embedding, masking, multi_head, positional_encoding, unembedding
from numeric.parameters import flatten, map_leaves, unflatten

from . import transformer_by_definition as definition
from .small_models import CONFIGS, PAD, SOURCE, TAGS, TARGET, batch, differ, sample

TRANSLATOR, WRITER, READER = (CONFIGS[f"{form}, pre"] for form in ("encoder-decoder", "decoder", "encoder"))
EVERY = pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)


def without_pads(row):
    return None if row is None else [int(token) for token in row if token != PAD]


def sequences(config):
    """For each row src, tgt_in and targets as the definition takes them."""
    src, tgt = batch(config)
    for row in range(len(tgt)):
        source = None if src is None else without_pads(src[row])
        if config.form == "encoder":
            yield source, None, tgt[row, : len(source)]
        else:
            target = without_pads(tgt[row])
            yield source, target[:-1], np.array(target[1:])


def by_definition(params, config):
    """The loss."""
    losses = []
    for src, tgt_in, targets in sequences(config):
        rows = definition.logits(params, src, tgt_in, config)
        counted = [place for place, target in enumerate(targets) if target != PAD]
        losses += definition.losses([rows[i] for i in counted], targets[counted], config.smoothing)
    return sum(losses, to_balls(0)[()]) / len(losses)


def loss_differs(config):
    params = sample(config)
    with precision(160):
        return differ(model.forward(params, *batch(config), config)[0], by_definition(params, config))


@EVERY
def test_the_loss_is_that_of_the_definition(config):
    assert loss_differs(config) == 0


@EVERY
def test_the_logits_of_each_row_are_those_of_the_sequence_alone(config):
    params, (src, tgt) = sample(config), batch(config)
    with precision(160):
        z = model.logits(params, src, None if config.form == "encoder" else tgt[:, :-1], config)
        for row, (source, tgt_in, _) in enumerate(sequences(config)):
            alone = definition.logits(params, source, tgt_in, config)
            assert differ(z[row, : len(alone)], alone) == 0


def unscaled(table, tokens):
    return LOOK_UP(table, tokens, scaled=False)


def reversed_layers(forward):
    def mutant(x, params, *rest, **more):
        return forward(x, {**params, "layers": params["layers"][::-1]}, *rest, **more)

    return mutant


LOOK_UP, ENCODE = embedding.forward, positional_encoding.forward
FORWARD_MUTANTS = {
    "no sqrt(d)": (embedding, "forward", unscaled),
    "no positions": (positional_encoding, "forward", lambda x, *_: (x, ENCODE(x)[1])),
    "positions from 1": (positional_encoding, "forward", lambda x, base, start=0: ENCODE(x, base, start + 1)),
    "pads attended to": (masking, "padding", lambda tokens, pad: np.ones((len(tokens), 1, tokens.shape[1]), bool)),
    "later tokens attended to": (masking, "causal", lambda n: np.ones((n, n), bool)),
    "encoder's layers in reverse": (encoder, "forward", reversed_layers(encoder.forward)),
    "decoder's layers in reverse": (decoder, "forward", reversed_layers(decoder.forward)),
}


@pytest.mark.parametrize("name", FORWARD_MUTANTS)
def test_mutants_of_the_way_forward_are_caught(name, monkeypatch):
    monkeypatch.setattr(*FORWARD_MUTANTS[name])
    assert loss_differs(TRANSLATOR) > 0


# Gradients


def gradient_differs(config, only="", seed=1):
    """Whether <gradient, v> is not the derivative along v, a direction of all parameters, or of those named."""
    flat, src, tgt = flatten(sample(config)), *batch(config)
    rng = np.random.default_rng(seed)
    along = {name: to_balls(rng.normal(size=array.shape).round(3) * (only in name)) for name, array in flat.items()}

    def loss(*arrays):
        dropping = None if config.dropout == 0 else np.random.default_rng(7)
        return model.forward(unflatten(dict(zip(flat, arrays, strict=True))), src, tgt, config, dropping)

    with precision(300):
        gradients = flatten(model.backward(loss(*flat.values())[1]))
        assert gradients.keys() == flat.keys()
        forwards = derivative(lambda *arrays: loss(*arrays)[0], list(flat.values()), list(along.values()))
        backwards = sum((np.sum(gradients[name] * along[name]) for name in flat), to_balls(0)[()])
        return differ(*forwards, backwards)


@EVERY
def test_the_gradient_is_the_derivative(config):
    assert gradient_differs(config) == 0


@pytest.mark.slow
@EVERY
def test_the_gradient_of_each_array_is_the_derivative_along_it(config):
    assert [name for name in flatten(sample(config)) if gradient_differs(config, name)] == []


@pytest.mark.slow
@pytest.mark.parametrize("config", [TRANSLATOR, WRITER], ids=["encoder-decoder", "decoder"])
def test_the_gradient_under_dropout_is_that_of_what_was_kept(config):
    assert gradient_differs(replace(config, dropout=0.25)) == 0


def only_calls(function, *numbers):
    """The function, but what it returns is 0 unless the number of the call is named, from 0."""
    calls = iter(range(100))

    def mutant(*args):
        result = function(*args)
        return result if next(calls) in numbers else result * to_balls(0)[()]

    return mutant


def memory_of_the_last_layer(function):
    calls = iter(range(100))

    def mutant(dy, cache):
        dx, dmemory, gradients = function(dy, cache)
        return dx, dmemory if next(calls) == 0 else dmemory * to_balls(0)[()], gradients

    return mutant


def layers_exchanged(function):
    return lambda dy, cache: function(dy, cache._replace(layers=cache.layers[::-1]))


def without_table(dz, cache):
    dy, dtable = READ_OUT(dz, cache)
    return dy, dtable * to_balls(0)[()]


def queries_only(df, cache):
    du, _, weights = multi_head.backward(df, cache)
    return du, {name: array for name, array in weights._asdict().items() if array is not None}


READ_OUT = unembedding.backward
BACKWARD_MUTANTS = {
    "table: logits left out": (unembedding, "backward", without_table),
    "table: source left out": (model, "pull_embed", only_calls(model.pull_embed, 0)),
    "table: target left out": (model, "pull_embed", only_calls(model.pull_embed, 1)),
    "memory: of the last layer only": (
        decoder, "layer_backward", memory_of_the_last_layer(decoder.layer_backward)
    ),
    "encoder's layers in reverse": (encoder, "backward", layers_exchanged(encoder.backward)),
    "decoder's layers in reverse": (decoder, "backward", layers_exchanged(decoder.backward)),
    "self-attention: not as keys and values": (sublayers, "pull_self_attention", queries_only),
}  # fmt: skip


@pytest.mark.parametrize("name", BACKWARD_MUTANTS)
def test_mutants_of_the_way_back_are_caught(name, monkeypatch):
    monkeypatch.setattr(*BACKWARD_MUTANTS[name])
    assert gradient_differs(TRANSLATOR) > 0


def test_the_gradient_scales_with_that_of_the_loss():
    params, (src, tgt) = sample(TRANSLATOR), batch(TRANSLATOR)
    with precision(160):
        _, cache = model.forward(params, src, tgt, TRANSLATOR)
        once, thrice = (flatten(model.backward(cache, each)) for each in (1.0, to_balls(3)))
        assert sum(differ(3 * once[name], thrice[name]) for name in once) == 0


# What does not matter


def loss_and_gradients(params, src, tgt, config):
    loss, cache = model.forward(params, src, tgt, config)
    return loss, flatten(model.backward(cache)), cache.tokens


def results_differ(one, other):
    return differ(one[0], other[0]) + sum(differ(one[1][name], other[1][name]) for name in one[1])


def widened(tokens, by):
    return None if tokens is None else np.pad(tokens, ((0, 0), (0, by)), constant_values=PAD)


@EVERY
def test_more_padding_changes_nothing(config, monkeypatch):
    params, (src, tgt) = sample(config), batch(config)
    more = (2, 2) if config.form == "encoder" else (3, 2)
    with precision(160):
        plain = loss_and_gradients(params, src, tgt, config)
        longer = loss_and_gradients(params, *map(widened, (src, tgt), more), config)
        assert results_differ(plain, longer) == 0 and plain[2] == longer[2]
        if config.form == "encoder-decoder":
            monkeypatch.setattr(*FORWARD_MUTANTS["pads attended to"])
            longer = loss_and_gradients(params, *map(widened, (src, tgt), more), config)
            assert results_differ(plain, longer) > 0


@EVERY
def test_micro_batches_weighted_by_their_tokens_are_the_whole_batch(config):
    params, (src, tgt) = sample(config), batch(config)
    with precision(160):
        loss, gradients, tokens = loss_and_gradients(params, src, tgt, config)
        parts = [
            loss_and_gradients(params, None if src is None else src[row : row + 1], tgt[row : row + 1], config)
            for row in range(len(tgt))
        ]
        counts = [part[2] for part in parts]
        assert sum(counts) == tokens and len(set(counts)) > 1
        means = {name: sum(part[1][name] * part[2] for part in parts) / tokens for name in gradients}
        assert results_differ((loss, gradients), (sum(part[0] * part[2] for part in parts) / tokens, means)) == 0
        unweighted = {name: sum(part[1][name] for part in parts) / len(parts) for name in gradients}
        assert results_differ((loss, gradients), (loss, unweighted)) > 0


@pytest.mark.parametrize("config", [TRANSLATOR, WRITER], ids=["encoder-decoder", "decoder"])
def test_later_tokens_do_not_change_earlier_logits(config):
    params, (src, tgt) = sample(config), batch(config)
    other = tgt.copy()
    other[:, 2:] = [[3, 3, 5], [6, 6, 6]]
    with precision(160):
        z, changed = (model.logits(params, src, each, config) for each in (tgt, other))
        assert differ(z[:, :2], changed[:, :2]) == 0 and differ(z[:, 2], changed[:, 2]) > 0


def test_an_encoder_sees_later_tokens():
    params, other = sample(READER), SOURCE.copy()
    other[:, 1:] = [[5, 5], [5, PAD]]
    with precision(160):
        z, changed = (model.logits(params, src, None, READER) for src in (SOURCE, other))
        assert differ(z[:, 0], changed[:, 0]) == z[:, 0].size


# Floats


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64], ids=lambda dtype: dtype.__name__)
@EVERY
def test_floats_of_every_size(config, dtype):
    params = sample(config, dtype=dtype)
    before = map_leaves(np.copy, params)
    loss, cache = model.forward(params, *batch(config), config)
    gradients = model.backward(cache)
    assert loss.dtype == dtype and loss.shape == () and np.isfinite(loss)
    for name, gradient in flatten(gradients).items():
        array = flatten(params)[name]
        assert gradient.shape == array.shape and gradient.dtype == dtype and np.isfinite(gradient).all()
        assert np.array_equal(array, flatten(before)[name])
    assert list(flatten(gradients)) == list(flatten(params))


def test_dropout_needs_a_generator_and_follows_it():
    config, params = replace(TRANSLATOR, dropout=0.5), sample(TRANSLATOR, dtype=np.float64)

    def loss(config, rng=None):
        return float(model.forward(params, SOURCE, TARGET, config, rng)[0])

    assert loss(config) == loss(TRANSLATOR) == loss(TRANSLATOR, np.random.default_rng(0))
    assert loss(config, np.random.default_rng(1)) == loss(config, np.random.default_rng(1))
    assert len({loss(config, np.random.default_rng(seed)) for seed in range(5)} | {loss(config)}) == 6


def test_every_sublayer_and_both_embeddings_are_thinned(monkeypatch):
    drawn, config = [], replace(TRANSLATOR, dropout=0.5)
    monkeypatch.setattr(dropout, "draw", lambda shape, rate, rng: drawn.append((shape, rate)) or np.ones(shape, bool))
    model.forward(sample(config, dtype=np.float64), SOURCE, TARGET, config, np.random.default_rng(0))
    source, target = (*SOURCE.shape, 4), (len(TARGET), TARGET.shape[1] - 1, 4)
    assert drawn == [(source, 0.5)] * (1 + 2 * 2) + [(target, 0.5)] * (1 + 2 * 3)


# Errors

PARAMS = {config: sample(config, dtype=np.float64) for config in (TRANSLATOR, WRITER, READER)}


def run(config, src, tgt):
    return lambda: model.forward(PARAMS[config], src, tgt, config)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (run(TRANSLATOR, None, TARGET), ValueError, r"model: src is None, needed integers \(B, n\)"),
        (run(WRITER, SOURCE, TARGET), ValueError, "model: src was given, needed None for the form 'decoder'"),
        (run(TRANSLATOR, SOURCE, None), ValueError, "model: tgt is None, needed integers"),
        (run(TRANSLATOR, SOURCE.tolist(), TARGET), TypeError, "model: src is a list, needed a NumPy array"),
        (run(TRANSLATOR, SOURCE * 1.0, TARGET), TypeError, "model: src has dtype float64, needed integers"),
        (run(TRANSLATOR, SOURCE[0], TARGET), ValueError, r"model: src has shape \(3,\), needed \(B, n\)"),
        (run(TRANSLATOR, SOURCE[:, :0], TARGET), ValueError, r"src has shape \(2, 0\), needed \(B, n\) with at least"),
        (run(TRANSLATOR, SOURCE[:1], TARGET), ValueError, "model: src has 1 rows and tgt 2, needed as many of each"),
        (run(TRANSLATOR, SOURCE, TARGET[:, :1]), ValueError, r"tgt has shape \(2, 1\), needed two columns at least"),
        (run(READER, SOURCE, TAGS[:, :2]), ValueError, r"tgt has shape \(2, 2\), needed \(2, 3\), the shape of src"),
        (run(TRANSLATOR, SOURCE + 4, TARGET), ValueError, "embedding: tokens holds 7, needed 0 <= tokens < 7"),
        (run(TRANSLATOR, SOURCE, TARGET * 0), ValueError, "cross_entropy: no row counts, needed a target other than"),
        (
            lambda: model.logits(PARAMS[READER], SOURCE, TARGET, READER),
            ValueError,
            "model: tgt was given, needed None for the form 'encoder'",
        ),
        (
            lambda: model.forward(PARAMS[WRITER], SOURCE, TARGET, TRANSLATOR),
            ValueError,
            "model: the parameters lack 'decoder.layers.0.cross_attention.w_k'",
        ),
    ],
)  # fmt: skip
def test_bad_input_gets_a_clear_error(call, error, message):
    with pytest.raises(error, match=message):
        call()
