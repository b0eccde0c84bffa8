"""Right cross-entropies pass in whatever order they are evaluated, in NumPy and in PyTorch."""

import numpy as np
import pytest

from numeric.checker import check
from numeric.checker.formats import FORMATS

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
