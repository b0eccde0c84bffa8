"""Right cross-entropies pass in whatever order they are evaluated; wrong ones do not, and are told what is wrong."""

import numpy as np
import pytest

from numeric.checker import Probe, UsageError, check
from numeric.checker.contracts import contract_named
from numeric.checker.formats import FORMATS, precision_of
from numeric.checker.rounding import allowance

torch = pytest.importorskip("torch", reason="some subjects are PyTorch's")
torch.set_num_threads(1)  # small arrays: a second thread only waits
functional = torch.nn.functional

SMALL = ("generic*draw 0", "[!4g5]*")  # one draw, and neither 4096 classes nor 512 rows
slow = pytest.mark.slow
SEEDS = 10


def total(x, axis=-1):
    """A sum that accumulates in float32 at least, stored in the dtype of x: the default precision model."""
    return x.sum(axis, dtype=np.float32 if x.dtype.itemsize == 2 else x.dtype).astype(x.dtype)


def counted(logits, targets, ignore_index):
    rows = targets != ignore_index
    return logits[rows], targets[rows]


def mean(losses):
    return total(losses) / losses.dtype.type(losses.size)


def mixed(z, t, e):
    y = np.zeros(z.shape, z.dtype)
    y[np.arange(len(t)), t] = 1 - e
    return y + z.dtype.type(e / z.shape[-1])


def log_weights(z):
    x = z - z.max(-1, keepdims=True)
    return x - np.log(total(np.exp(x)))[:, None]


def plain(logits, targets, ignore_index=-100, label_smoothing=0.0):
    z, t = counted(logits, targets, ignore_index)
    return mean(total(-mixed(z, t, label_smoothing) * log_weights(z)))


def picked(logits, targets, ignore_index=-100, label_smoothing=0.0):
    z, t = counted(logits, targets, ignore_index)
    y, e = log_weights(z), z.dtype.type(label_smoothing)
    at_target = -np.take_along_axis(y, t[:, None], -1)[:, 0]
    return mean((1 - e) * at_target + e * (total(-y) / z.dtype.type(z.shape[-1])))


def sum_less_logit(logits, targets, ignore_index=-100, label_smoothing=0.0):
    z, t = counted(logits, targets, ignore_index)
    x, e = z - z.max(-1, keepdims=True), z.dtype.type(label_smoothing)
    at_target = np.take_along_axis(x, t[:, None], -1)[:, 0]
    uniform = total(x) / x.dtype.type(x.shape[-1])
    return mean(np.log(total(np.exp(x))) - (1 - e) * at_target - e * uniform)


def masked(logits, targets, ignore_index=-100, label_smoothing=0.0):
    """All rows, those ignored with weight 0."""
    rows = targets != ignore_index
    y = mixed(logits, np.where(rows, targets, 0), label_smoothing) * rows[:, None].astype(logits.dtype)
    return total(total(-y * log_weights(logits))) / logits.dtype.type(rows.sum())


def weighted_rows(logits, targets, ignore_index=-100, label_smoothing=0.0):
    z, t = counted(logits, targets, ignore_index)
    return total(total(-mixed(z, t, label_smoothing) * log_weights(z)) / z.dtype.type(len(z)))


def einsum(logits, targets, ignore_index=-100, label_smoothing=0.0):
    z, t = counted(logits, targets, ignore_index)
    wide = np.float32 if z.dtype.itemsize == 2 else z.dtype
    y, x = (each.astype(wide) for each in (mixed(z, t, label_smoothing), log_weights(z)))
    return np.einsum("nc,nc->", y, -x).astype(z.dtype) / z.dtype.type(len(z))


def online(logits, targets, ignore_index=-100, label_smoothing=0.0):
    """Class after class, with a running maximum; the rows after that."""
    z, t = counted(logits, targets, ignore_index)
    wide = z.astype(np.float32 if z.dtype.itemsize == 2 else z.dtype)
    peak, sums = np.full(len(z), -np.inf, wide.dtype), np.zeros(len(z), wide.dtype)
    for column in wide.T:
        new = np.maximum(peak, column)
        sums = sums * np.exp(peak - new) + np.exp(column - new)
        peak = new
    e = label_smoothing
    below = wide - peak[:, None]
    losses = np.log(sums) - (1 - e) * below[np.arange(len(t)), t] - e * below.mean(-1)
    return losses.mean().astype(z.dtype)


def in_halves(logits, targets, ignore_index=-100, label_smoothing=0.0):
    """Two batches, weighted by the rows that count."""
    z, t = counted(logits, targets, ignore_index)
    parts = [part for part in (slice(len(z) // 2), slice(len(z) // 2, None)) if len(z[part])]
    sums = [plain(z[part], t[part], -1, label_smoothing) * z.dtype.type(len(z[part])) for part in parts]
    return sum(sums[1:], sums[0]) / z.dtype.type(len(z))


def computed_in_float64(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return plain(logits.astype(np.float64), targets, ignore_index, label_smoothing).astype(logits.dtype)


def gradient(dloss, logits, targets, ignore_index=-100, label_smoothing=0.0):
    rows = targets != ignore_index
    p = np.exp(logits - logits.max(-1, keepdims=True))
    s = p / total(p)[:, None]
    dz = (s - mixed(logits, np.where(rows, targets, 0), label_smoothing)) * (dloss / dloss.dtype.type(rows.sum()))
    return np.where(rows[:, None], dz, dz.dtype.type(0))


def gradient_divided_last(dloss, logits, targets, ignore_index=-100, label_smoothing=0.0):
    z, t = counted(logits, targets, ignore_index)
    dz = np.zeros_like(logits)
    slope = np.exp(log_weights(z)) - mixed(z, t, label_smoothing)
    dz[targets != ignore_index] = slope * dloss / dloss.dtype.type(len(z))
    return dz


def thinned(forwards, seeds):
    """Each of them once, in one dtype or another; the rest is slow."""
    for number, forward in enumerate(forwards):
        name = getattr(forward, "__name__", type(forward).__name__)
        for place, dtype in enumerate(FORMATS):
            for seed in range(seeds):
                by_default = seed == 0 and place == number % len(FORMATS)
                yield pytest.param(forward, dtype, seed, marks=() if by_default else slow, id=f"{name}-{dtype}-{seed}")


RIGHT = [plain, picked, sum_less_logit, masked, weighted_rows, einsum, online, in_halves, computed_in_float64]


@pytest.mark.parametrize(("forward", "dtype", "seed"), list(thinned(RIGHT, SEEDS)))
def test_every_right_order_of_evaluation_passes(forward, dtype, seed):
    backward = gradient if forward in RIGHT[::2] else gradient_divided_last
    report = check("cross_entropy", forward, backward=backward, dtype=dtype, seed=seed, probes=SMALL)
    report.raise_if_failed()
    assert 0 < report.finding("values").evidence["worst"]["ratio"] < 1
    assert 0 < report.finding("gradients").evidence["worst"]["ratio"] < 1


def through_log_softmax(logits, targets, ignore_index=-100, label_smoothing=0.0):
    rows = targets != ignore_index
    y = torch.log_softmax(logits, -1)
    at_target = -y.gather(-1, targets.where(rows, torch.zeros_like(targets))[:, None])[:, 0]
    losses = (1 - label_smoothing) * at_target - label_smoothing * y.mean(-1)
    return losses.where(rows, torch.zeros_like(losses)).sum() / rows.sum()


def through_logsumexp(logits, targets, ignore_index=-100, label_smoothing=0.0):
    rows = targets != ignore_index
    z, t = logits[rows], targets[rows]
    x = z - z.detach().amax(-1, keepdim=True)
    at_target = x.gather(-1, t[:, None])[:, 0]
    return (x.logsumexp(-1) - (1 - label_smoothing) * at_target - label_smoothing * x.mean(-1)).mean()


def through_nll_loss(logits, targets, ignore_index=-100):
    return functional.nll_loss(functional.log_softmax(logits, -1), targets, ignore_index=ignore_index)


def through_soft_targets(logits, targets, label_smoothing=0.0):
    return functional.cross_entropy(
        logits, functional.one_hot(targets, logits.shape[-1]).to(logits.dtype), label_smoothing=label_smoothing
    )


TORCH = [
    functional.cross_entropy,
    torch.nn.CrossEntropyLoss(),
    through_log_softmax,
    through_logsumexp,
    through_nll_loss,
    through_soft_targets,
]


@pytest.mark.parametrize(("forward", "dtype", "seed"), list(thinned(TORCH, 3)))
def test_torch_passes_with_its_autograd(forward, dtype, seed):
    report = check("cross_entropy", forward, adapter="torch", dtype=dtype, seed=seed, probes=SMALL)
    report.raise_if_failed()
    assert report.finding("gradients").verdict == "pass"


@slow
@pytest.mark.parametrize("dtype", FORMATS)
def test_all_probes_are_within_reach_of_the_bound(dtype):
    report = check("cross_entropy", functional.cross_entropy, dtype=dtype)
    ratios = [report.finding(kind).evidence["worst"]["ratio"] for kind in ("values", "gradients")]
    if dtype == "float16":
        # its sum over 4 x 4096 logarithms is past the largest number
        assert report.mistakes == ("cross_entropy.smoothing_overflows",)
        assert report.finding("values").evidence["failed_probes"] == ["4 x 4096, smoothed"]
        ratios.pop(0)
    else:
        report.raise_if_failed()
    assert all(0.05 < ratio < 1 for ratio in ratios)


@pytest.mark.parametrize("dtype", ["float64", "bfloat16"])
def test_twice_the_worst_case_is_seen(dtype):
    contract, form = contract_named("cross_entropy"), FORMATS[dtype]
    settings = {"ignore_index": None, "label_smoothing": 0.0}
    z = 2.5 * np.random.default_rng(3).standard_normal((5, 7))
    probe = Probe("mine", (z, np.array([2, 0, 6, 3, 3])))
    held = [np.asarray(each).astype(float) for each in (torch.tensor(z).to(getattr(torch, dtype)).double(),)]
    bound = contract.bound(precision_of(dtype), held[0], probe.inputs[1], **settings)

    def off(logits, targets):
        loss = functional.cross_entropy(logits.double(), targets)
        return (loss + 2.01 * float(allowance(bound)) + 2 * form.unit * float(loss)).to(logits.dtype)

    assert check("cross_entropy", off, adapter="torch", dtype=dtype, probes=[probe]).finding("values").verdict == "fail"
    assert 4 * form.unit < float(allowance(bound)) / float(bound.value) < 40 * form.unit


@pytest.mark.parametrize("kind", ["values", "gradients"])
def test_a_relative_error_of_1e_10_in_one_entry_is_seen(kind):
    def forward(logits, targets, ignore_index=-100, label_smoothing=0.0):
        return plain(logits, targets, ignore_index, label_smoothing) * (1 + (1e-10 if kind == "values" else 0))

    def backward(dloss, *arguments, **options):
        dz = gradient(dloss, *arguments, **options)
        dz[-1, -1] *= 1 + (1e-10 if kind == "gradients" else 0)
        return dz

    report = check("cross_entropy", forward, backward=backward, probes=SMALL)
    assert report.verdict == "fail"
    assert {each.check for each in report.findings if each.verdict == "fail"} >= {kind}


# Faults that people met: logits, targets, options, the right loss, the wrong one, a wrong implementation


def softmax_twice(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return functional.cross_entropy(
        torch.softmax(logits, -1), targets, ignore_index=ignore_index, label_smoothing=label_smoothing
    )


def divided_by_all(logits, targets, ignore_index=-100, label_smoothing=0.0):
    options = {"ignore_index": ignore_index, "label_smoothing": label_smoothing}
    return functional.cross_entropy(logits, targets, **options, reduction="sum") / len(targets)


FIELD = {
    "CE1": ([[10, 0, 0, 0]], [0], {}, 0.000136, 0.743764, softmax_twice, "cross_entropy.softmax_twice"),
    "CE3": ([[0, 0], [0, 0]], [0, -100], {"ignore_index": -100}, 0.693147, 0.346574, divided_by_all, "cross_entropy.divided_by_all_rows"),
}  # fmt: skip


@pytest.mark.parametrize("case", FIELD)
def test_field_case(case):
    logits, targets, options, right, wrong, implementation, name = FIELD[case]
    probe = Probe(case, (np.array(logits, float), np.array(targets)), options)
    report = check("cross_entropy", implementation, adapter="torch", probes=[probe])
    worst = report.finding("values").evidence["worst"]
    assert worst["exact"] == pytest.approx(right, abs=5e-7)
    assert worst["found"] == pytest.approx(wrong, abs=5e-7)
    assert check("cross_entropy", implementation, adapter="torch", probes=SMALL).mistakes[0] == name


def test_field_case_3_is_told_as_padding():
    report = check("cross_entropy", divided_by_all, adapter="torch", probes=("ignored rows*",))
    assert "the loss changes when ignored rows are taken away" in report.finding("ignored rows do not matter").message


def test_field_case_4_a_mean_of_means_breaks_the_splits():
    def mean_of_means(logits, targets, ignore_index=-100, label_smoothing=0.0):
        z, t = logits[targets != ignore_index], targets[targets != ignore_index]
        parts = [part for part in (slice(len(z) // 2), slice(len(z) // 2, None)) if len(z[part])]
        means = [functional.cross_entropy(z[part], t[part], label_smoothing=label_smoothing) for part in parts]
        return sum(means) / len(means)

    report = check("cross_entropy", mean_of_means, adapter="torch", probes=SMALL)
    assert report.mistakes[0] == "cross_entropy.mean_of_means"
    assert report.finding("splits of a batch").verdict == "fail"
    # token losses 1, 1, 1, 1 and 4 in batches of four and one: 1.6 is right, 2.5 the mean of means
    losses = np.array([1.0, 1, 1, 1, 4])
    logits = np.stack([np.zeros(5), np.log(np.expm1(losses))], -1)
    probe = Probe("CE4", (logits, np.zeros(5, int)))
    assert check("cross_entropy", plain, probes=[probe]).finding("values").evidence["worst"]["exact"] == pytest.approx(1.6)


def test_field_case_7_finite_logits_have_a_finite_loss():
    def logarithm_of_softmax(logits, targets, ignore_index=-100, label_smoothing=0.0):
        return functional.nll_loss(torch.softmax(logits, -1).log(), targets, ignore_index=ignore_index)

    probe = Probe("CE7", (np.array([[-431.0, 279, 427]]), np.array([0])))
    assert check("cross_entropy", plain, probes=[probe]).finding("values").evidence["worst"]["exact"] == 858
    options = {"label_smoothing": 0.0}
    report = check("cross_entropy", logarithm_of_softmax, adapter="torch", options=options, probes=SMALL)
    assert "cross_entropy.logarithm_of_softmax" in report.mistakes
    assert "minus infinity where softmax underflows" in report.finding("values").message


def test_the_unshifted_sum_is_right_but_unstable():
    def lost_digits(logits, targets):
        return (logits.logsumexp(-1) - logits.gather(-1, targets[:, None])[:, 0]).mean()

    report = check("cross_entropy", lost_digits, adapter="torch", dtype="float32", probes=SMALL)
    assert report.mistakes[0] == "cross_entropy.maximum_and_logarithm_together"
    assert "right formula, unstable at" in report.finding("values").message


def test_ignore_index_is_not_passed_where_it_may_be_absent_and_there_is_a_default():
    seen = []

    def with_default(logits, targets, ignore_index=-100):
        seen.append(ignore_index)
        return plain(logits, targets, ignore_index)

    def without_default(logits, targets, ignore_index):
        seen.append(ignore_index)
        return plain(logits, targets, -100 if ignore_index is None else ignore_index)

    check("cross_entropy", with_default, probes=("generic*draw 0",)).raise_if_failed()
    assert set(seen) == {-100}
    check("cross_entropy", without_default, probes=("generic*draw 0",)).raise_if_failed()
    assert None in seen


def test_a_class_may_be_what_is_ignored():
    check("cross_entropy", plain, backward=gradient, options={"ignore_index": 0}, probes=SMALL).raise_if_failed()
    wrong = check("cross_entropy", lambda z, t: plain(z, t), options={"ignore_index": 0}, probes=SMALL)
    assert wrong.verdict == "fail"


def test_an_implementation_without_ignore_index_is_not_asked_for_it():
    report = check("cross_entropy", lambda logits, targets: plain(logits, targets), probes=SMALL)
    report.raise_if_failed()
    told = report.finding("ignored rows do not matter")
    assert (told.verdict, told.message) == ("not run", "it sets ignore_index, for which the implementation takes no keyword")


def test_a_wrong_ignore_index_is_told():
    with pytest.raises(UsageError, match="ignore_index=1.5: needed an integer, or None where every row counts"):
        check("cross_entropy", plain, options={"ignore_index": 1.5})


def test_a_loss_that_is_always_the_same_has_no_factor_told():
    report = check("cross_entropy", lambda logits, targets: logits.sum() * 0 + 1, probes=SMALL)
    assert report.verdict == "fail"
    assert "times the right one" not in report.finding("values").message
