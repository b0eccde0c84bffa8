"""Wrong cross-entropies do not pass, and are told what is wrong; the field cases; which options are asked for."""

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


def plain(logits, targets, ignore_index=-100, label_smoothing=0.0):
    rows = targets != ignore_index
    x = logits - logits.max(-1, keepdims=True)
    losses = np.log(np.exp(x).sum(-1)) - (mixed(x, np.where(rows, targets, 0), label_smoothing) * x).sum(-1)
    return losses[rows].sum() / x.dtype.type(rows.sum())


def mixed(z, t, e):
    y = np.zeros(z.shape, z.dtype)
    y[np.arange(len(t)), t] = 1 - e
    return y + z.dtype.type(e / z.shape[-1])


def gradient(dloss, logits, targets, ignore_index=-100, label_smoothing=0.0):
    rows = targets != ignore_index
    p = np.exp(logits - logits.max(-1, keepdims=True))
    dz = p / p.sum(-1, keepdims=True) - mixed(logits, np.where(rows, targets, 0), label_smoothing)
    return dz * rows[:, None] * (dloss / dloss.dtype.type(rows.sum()))


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


@pytest.mark.slow
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
    assert check("cross_entropy", plain, probes=[probe]).finding("values").evidence["worst"]["exact"] == pytest.approx(
        1.6
    )


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_class_may_be_what_is_ignored():
    check("cross_entropy", plain, backward=gradient, options={"ignore_index": 0}, probes=SMALL).raise_if_failed()
    wrong = check("cross_entropy", lambda z, t: plain(z, t), options={"ignore_index": 0}, probes=SMALL)
    assert wrong.verdict == "fail"


def test_an_implementation_without_ignore_index_is_not_asked_for_it():
    report = check("cross_entropy", lambda logits, targets: plain(logits, targets), probes=SMALL)
    report.raise_if_failed()
    told = report.finding("ignored rows do not matter")
    assert (told.verdict, told.message) == (
        "not run",
        "it sets ignore_index, for which the implementation takes no keyword",
    )


def test_a_wrong_ignore_index_is_told():
    with pytest.raises(UsageError, match=r"ignore_index=1\.5: needed an integer, or None where every row counts"):
        check("cross_entropy", plain, options={"ignore_index": 1.5})


def test_a_loss_that_is_always_the_same_has_no_factor_told():
    report = check("cross_entropy", lambda logits, targets: logits.sum() * 0 + 1, probes=SMALL)
    assert report.verdict == "fail"
    assert "times the right one" not in report.finding("values").message
