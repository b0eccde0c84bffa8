# mypy: disable-error-code="arg-type"
# (wrong arguments are passed on purpose, to see what is said of them)
import math
from dataclasses import replace

import numpy as np
import pytest
from flint import arb

from numeric import initialisation, model
from numeric.arithmetic import to_balls
from numeric.config import FORMS, Config
from numeric.initialisation import initial_loss, initialise, require_parameters, shapes
from numeric.parameters import count, flatten, unflatten

from .small_models import CONFIGS, sample

EVERY = pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
LARGE = Config("encoder-decoder", 300, 64, 96, 4, 1, n_groups=2, norm="pre", attention_biases=True)


@EVERY
def test_the_shapes_are_those_that_forward_needs(config):
    params = initialise(config, 0)
    assert {name: leaf.shape for name, leaf in flatten(params).items()} == shapes(config)
    names = shapes(config)
    assert ("encoder.layers.1.self_attention.w_q" in names) == (config.form != "decoder")
    assert ("decoder.layers.1.cross_attention_norm.gain" in names) == (config.form == "encoder-decoder")
    assert any(".b_q" in name for name in names) == config.attention_biases
    assert any(name.endswith("coder.norm.gain") for name in names) == (config.norm == "pre")


def test_the_number_of_parameters_of_the_base_model():
    """Vaswani et al. 2017, table 3, row base: 65 million, with a vocabulary of about 37000 (section 5.1)."""
    config = Config("encoder-decoder", 37000, 512, 2048, 8, 6)
    numbers = sum(math.prod(shape) for shape in shapes(config).values())
    attention, feed_forward, norm = 4 * 512**2, 2 * 512 * 2048 + 2048 + 512, 2 * 512
    by_hand = 37000 * 512 + 6 * (attention + feed_forward + 2 * norm) + 6 * (2 * attention + feed_forward + 3 * norm)
    assert numbers == by_hand and abs(numbers - 65e6) < 3e6
    small = replace(config, vocabulary=5, d_model=8, d_ff=3, n_layers=1)
    assert count(initialise(small, 0)) == sum(math.prod(shape) for shape in shapes(small).values())


def test_what_is_drawn():
    from scipy import stats

    flat = flatten(initialise(LARGE, 0, np.float64))
    for name, array in flat.items():
        if name.endswith("gain"):
            assert (array == 1).all()
        elif array.ndim == 1:
            assert (array == 0).all()
    w_q, w_k = (flat[f"encoder.layers.0.self_attention.{name}"] for name in ("w_q", "w_k"))
    for w, bound in ((w_q, math.sqrt(6 / 128)), (w_k, math.sqrt(6 / 96))):
        assert np.abs(w).max() <= bound
        # of n uniform numbers none lies in the outer share p with probability (1 - p)^n
        assert np.abs(w).max() > bound * (1 - 30 / w.size)
        assert stats.kstest(w.ravel(), stats.uniform(-bound, 2 * bound).cdf).pvalue > 1e-6
    table = flat["embedding.table"]
    assert stats.kstest(table.ravel(), stats.norm(0, 1 / 64).cdf).pvalue > 1e-6
    assert stats.kstest(table.ravel(), stats.norm(0, 1 / 8).cdf).pvalue < 1e-6
    assert not np.array_equal(w_q, flat["decoder.layers.0.self_attention.w_q"])


def test_the_seed_decides_and_the_dtype_only_rounds():
    one, same, other = (flatten(initialise(LARGE, seed, np.float64)) for seed in (1, 1, 2))
    single, balls = (flatten(initialise(LARGE, 1, dtype)) for dtype in (np.float32, object))
    biases = flatten(initialise(replace(LARGE, attention_biases=False), 1, np.float64))
    for name, array in one.items():
        assert np.array_equal(array, same[name]) and (array.ndim == 1 or not np.array_equal(array, other[name]))
        assert single[name].dtype == np.float32 and np.array_equal(single[name], array.astype(np.float32))
        assert isinstance(balls[name].flat[0], arb) and (balls[name] == to_balls(array)).all()
        assert name not in biases or np.array_equal(array, biases[name])


# The first loss


def measured(config, seed):
    """The loss of a first batch whose targets none of the rows read, no two alike; and how many tokens a row reads."""
    rng = np.random.default_rng(seed)
    tokens = rng.permutation(np.arange(1, config.vocabulary))
    src, read, targets = (part.reshape(4, 6) for part in np.split(tokens[: 3 * 24], 3))
    params = initialise(config, seed)
    if config.form == "encoder":
        return float(model.forward(params, src, targets, config)[0]), 6
    loss = _decoder_loss(params, src if config.form == "encoder-decoder" else None, read, targets, config)
    before = (1 + 2 + 3 + 4 + 5 + 6) / 6
    return loss, before + (6 if config.form == "encoder-decoder" else 0)


def _decoder_loss(params, src, read, targets, config):
    z = model.logits(params, src, read, config)
    return float(model.cross_entropy.forward(z, targets, config.pad, config.smoothing)[0])


def outside(config, seeds=24):
    """How far the mean loss is from the interval, and how far Student's t allows it to be once in a million."""
    from scipy import stats

    losses, reads = zip(*(measured(config, seed) for seed in range(seeds)), strict=True)
    low, high = initial_loss(config, reads[0])
    mean = np.mean(losses)
    slack = stats.t.ppf(1 - 1e-6, seeds - 1) * np.std(losses, ddof=1) / math.sqrt(seeds)
    return max(low - mean, mean - high), slack


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("norm", ["post", "pre"])
def test_the_first_loss_is_the_predicted_one(form, norm):
    distance, slack = outside(Config(form, 1000, 32, 48, 4, 2, norm=norm, smoothing=0.125))
    assert distance <= slack < 0.05


@pytest.mark.parametrize("name", ["embedding.table", "decoder.norm.gain"])
def test_logits_of_variance_1_are_noticed(name, monkeypatch):
    """sqrt(d) times as large, as with a table of deviation 1/sqrt(d): the loss is then log V + 1/2."""
    drawn = initialisation._drawn
    monkeypatch.setattr(
        initialisation, "_drawn", lambda leaf, *rest: drawn(leaf, *rest) * (math.sqrt(32) if leaf == name else 1)
    )
    distance, slack = outside(Config("encoder-decoder", 1000, 32, 48, 4, 2, norm="pre"))
    assert distance > 2 * slack


def test_the_bounds_are_those_derived():
    config = Config("decoder", 100, 8, 8, 2, 1)
    assert initial_loss(config, 0) == (math.log(100), math.log(100) + 1 / 16)
    low, high = initial_loss(replace(config, smoothing=0.25), 10, met=0.5)
    assert low == math.log(100) - 0.1 - 0.375
    expected = math.log(100 + (math.e - 1) * 10) + 1 / 16 + 0.25 * 0.1 + 0.375
    assert abs(high - expected) <= 16 * np.spacing(expected)  # each side has fewer than 8 roundings, of smaller numbers


# Errors


def changed(config, **changes):
    """Parameters for config, but those named otherwise; None removes one."""
    flat = {**flatten(sample(config, dtype=np.float32)), **{name.replace("__", "."): a for name, a in changes.items()}}
    return unflatten({name: array for name, array in flat.items() if array is not None})


ENCODER = CONFIGS["encoder, post"]


def test_biases_and_a_final_norm_may_be_there():
    require_parameters(changed(ENCODER, encoder__norm__gain=np.ones(4), encoder__norm__bias=np.ones(4)), ENCODER)
    require_parameters(changed(ENCODER, encoder__layers__0__self_attention__b_q=np.ones(4)), ENCODER)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"embedding__table": None}, r"the parameters lack 'embedding.table' \(1 such in all\)"),
        ({"decoder__x": np.ones(2)}, r"the parameters have 'decoder.x' \(1 such in all\), against the Config"),
        ({"encoder__layers__0__feed_forward__W_2": np.ones((4, 5))}, r"W_2 has shape \(4, 5\), needed \(5, 4\)"),
        ({"encoder__norm__gain": np.ones(4)}, "the parameters lack 'encoder.norm.bias'"),
    ],
)
def test_parameters_that_do_not_fit_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        require_parameters(changed(ENCODER, **changes), ENCODER)


def test_a_pre_norm_model_needs_its_final_norm():
    config = CONFIGS["decoder, pre"]
    with pytest.raises(ValueError, match=r"model: the parameters lack 'decoder.norm.bias' \(2 such in all\)"):
        require_parameters(changed(config, decoder__norm__gain=None, decoder__norm__bias=None), config)


def test_a_dtype_that_no_layer_computes_in():
    with pytest.raises(TypeError, match="initialise: dtype is int64, needed float16, bfloat16, float32"):
        initialise(ENCODER, 0, int)
