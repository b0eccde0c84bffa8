"""Right dropouts pass however they draw and scale; wrong masks, scales, laws and gradients are told apart."""

import numpy as np
import pytest

from numeric.checker import Probe, check, checks_of
from numeric.checker.adapters.numpy import DTYPES
from numeric.layers import dropout

torch = pytest.importorskip("torch", reason="some subjects are PyTorch's")
torch.set_num_threads(1)  # small arrays: a second thread only waits
functional = torch.nn.functional

slow = pytest.mark.slow
EVERY_DTYPE = ["float64", pytest.param("float32", marks=slow), pytest.param("float16", marks=slow), "bfloat16"]
SEEDS = [0, *(pytest.param(seed, marks=slow) for seed in range(1, 10))]
FEW = ("generic*draw 0", "[!g]*")


class Layer:
    """forward draws and keeps a mask, backward uses it, as a layer with a cache does."""

    def __init__(self, mask, scale):
        self.mask, self.scale, self.rng = mask, scale, np.random.default_rng(0)

    def forward(self, x, p=0.1, training=True):
        self.keep = self.mask(self.rng, x.shape, p) if training else np.ones(x.shape, bool)
        return self.scale(x, self.keep, p if training else 0.0)

    def backward(self, dy, x, p=0.1, training=True):
        return self.scale(dy, self.keep, p if training else 0.0)


def uniform(rng, shape, p):
    return rng.random(shape) >= p


def single(rng, shape, p):
    return rng.random(shape, np.float32) < 1 - p


def binomial(rng, shape, p):
    return rng.binomial(1, 1 - p, shape).astype(bool)


def octets(rng, shape, p):
    return dropout.draw(shape, p, rng)


def in_bfloat16(rng, shape, p):
    """Uniform numbers in steps of 2^-8, whose law the dtype excuses."""
    return rng.integers(0, 256, shape) / 256 >= float(np.asarray(p, DTYPES["bfloat16"]))


def divided(x, keep, p):
    return np.where(keep, x / x.dtype.type(1 - p), x.dtype.type(0))


def by_reciprocal(x, keep, p):
    return x * keep.astype(x.dtype) * x.dtype.type(1 / (1 - p))


def scaled_mask(x, keep, p):
    return x * (keep / (1 - p)).astype(x.dtype)


def share_in_dtype(x, keep, p):
    one = x.dtype.type(1)
    return x * keep.astype(x.dtype) / (one - x.dtype.type(p))


def reciprocal_in_dtype(x, keep, p):
    one = x.dtype.type(1)
    return x * keep.astype(x.dtype) * (one / (one - x.dtype.type(p)))


def layer(x, keep, p):
    return dropout.forward(x, keep, p)[0]


RIGHT = [
    (uniform, divided),
    (single, by_reciprocal),
    (binomial, scaled_mask),
    (octets, layer),
    (uniform, share_in_dtype),
    (single, reciprocal_in_dtype),
]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype", EVERY_DTYPE)
@pytest.mark.parametrize(("mask", "scale"), RIGHT)
def test_right_ones_pass(mask, scale, dtype, seed):
    one = Layer(mask, scale)
    report = check("dropout", one.forward, backward=one.backward, dtype=dtype, seed=seed, probes=FEW)
    report.raise_if_failed()
    assert 0 < report.finding("values").evidence["worst"]["ratio"] < 1
    assert report.finding("draws").verdict == "pass"


def test_a_uniform_number_in_bfloat16_is_excused_there_only():
    one = Layer(in_bfloat16, divided)
    check("dropout", one.forward, dtype="bfloat16", probes=FEW).raise_if_failed()
    coarser = Layer(lambda rng, shape, p: rng.integers(0, 16, shape) / 16 >= p, divided)
    assert check("dropout", coarser.forward, dtype="bfloat16", probes=FEW).finding("draws").verdict == "fail"


TORCH = {
    "functional": functional.dropout,
    "bernoulli": lambda x, p=0.1, training=True: x * torch.bernoulli(torch.full_like(x, 1 - p)) / (1 - p) if training else x,
    "rand": lambda x, p=0.1, training=True: (
        torch.where(torch.rand(x.shape) >= p, x / (1 - p), torch.zeros_like(x)) if training else x
    ),
}  # fmt: skip


@slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("name", TORCH)
def test_torch_passes_with_its_autograd(name, dtype, seed):
    report = check("dropout", TORCH[name], adapter="torch", dtype=dtype, seed=seed, probes=FEW)
    report.raise_if_failed()
    assert report.finding("gradients").verdict == "pass"
    assert report.finding("two calls equal").message.startswith("equal bit for bit")


@slow
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_bound_is_within_reach(dtype):
    report = check("dropout", functional.dropout, dtype=dtype)
    report.raise_if_failed()
    assert all(0.1 < report.finding(kind).evidence["worst"]["ratio"] < 1 for kind in ("values", "gradients"))


@slow
def test_modules_have_their_rate_built_in():
    training, evaluating = torch.nn.Dropout(0.3), torch.nn.Dropout(0.3).eval()
    report = check("dropout", training, options={"p": 0.3, "training": True}, adapter="torch", probes=FEW)
    report.raise_if_failed()
    assert report.finding("two calls equal").message == "at these options the output is random on purpose"
    report = check("dropout", evaluating, options={"p": 0.3, "training": False}, adapter="torch", probes=FEW)
    report.raise_if_failed()
    assert report.finding("draws").verdict == "not run"
    assert check("dropout", training, options={"p": 0.2, "training": True}, probes=FEW).verdict == "fail"


def test_the_checks_are_listed():
    names = [finding.check for finding in check("dropout", functional.dropout, probes=("generic*",)).findings]
    assert names[: len(checks_of("dropout"))] == checks_of("dropout")
    assert "draws" in checks_of("dropout")
    assert "draws" not in checks_of("softmax")


def test_field_case_mh8_a_single_weight_is_kept_as_one_and_a_quarter_or_dropped():
    found = set()

    def spy(x, p=0.1, training=True):
        y = functional.dropout(x, p, training)
        if x.numel() == 1 and training:
            found.add(round(float(y), 6))
        return y

    probes = [Probe(f"one key {number}", (np.ones((1, 1)),)) for number in range(40)]
    check("dropout", spy, adapter="torch", options={"p": 0.2}, probes=[*probes, "generic*draw 0"]).raise_if_failed()
    assert found == {0, 1.25}


@slow
def test_field_case_mh9_active_at_evaluation():
    def active(x, p=0.1, training=True):
        return functional.dropout(x, p, True)

    report = check("dropout", active, adapter="torch", probes=FEW)
    assert report.verdict == "fail"
    assert report.mistakes[0] == "dropout.active_at_evaluation"
    told = report.finding("two calls equal")
    assert told.verdict == "fail" and "at options where nothing is random" in told.message


@slow
def test_a_seed_that_is_set_anew_in_each_call_is_told():
    def seeded(x, p=0.1, training=True):
        torch.manual_seed(0)
        return functional.dropout(x, p, training)

    report = check("dropout", seeded, adapter="torch", probes=FEW)
    assert report.mistakes == ("dropout.same_mask_every_time",)
    assert "share of entries that two calls both keep or both drop" in report.finding("draws").message
    assert "found 1, expected 0." in report.finding("draws").message


@slow
def test_a_mask_for_whole_rows_is_told():
    one = Layer(lambda rng, shape, p: np.broadcast_to(uniform(rng, (*shape[:-1], 1), p), shape), divided)
    report = check("dropout", one.forward, backward=one.backward, probes=FEW)
    assert report.mistakes == ("dropout.shared_along_last_axis",)
    assert report.finding("values").verdict == report.finding("gradients").verdict == "pass"


@slow
def test_another_rate_is_fitted_and_its_law_refused():
    report = check("dropout", lambda x, p=0.1, training=True: functional.dropout(x, p / 2, training), adapter="torch")
    assert report.verdict == report.finding("draws").verdict == "fail"
    always = check("dropout", lambda x, training=True: functional.dropout(x, 0.25, training), adapter="torch")
    assert "it is what p = 0.25 gives" in always.finding("values").message


@slow
def test_a_mask_drawn_anew_in_backward_is_told():
    one, other = Layer(uniform, divided), Layer(uniform, divided)

    def backward(dy, x, p=0.1, training=True):
        return other.forward(dy, p, training)

    other.rng = np.random.default_rng(7)
    report = check("dropout", one.forward, backward=backward, probes=FEW)
    assert report.finding("values").verdict == "pass"
    assert report.mistakes == ("dropout.gradient_with_another_mask",)
