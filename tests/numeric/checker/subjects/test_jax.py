"""What JAX users already use: each passes, but for what is known."""

import pytest

from numeric.checker import check
from numeric.checker.subjects import group_named
from numeric.checker.survey import surveyed

jax = pytest.importorskip("jax", reason="these subjects are JAX's")
slow = pytest.mark.slow
SUBJECTS = {each.name: each for each in group_named("jax")}
IN_FLOAT32 = "its errors are no larger than rounding to float32 gives: some step may be computed in it"
NOT_PASSED = {
    ("nn.dot_product_attention", "float64"): IN_FLOAT32
}  # JAX takes its softmax in float32 whatever the dtype


def test_all_that_was_promised_is_there():
    promised = "softmax log_softmax relu gelu silu scaled_dot_product_attention cross_entropy embedding dropout"
    assert {each.contract for each in SUBJECTS.values()} >= set(promised.split())


@slow
@pytest.mark.parametrize("name", SUBJECTS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_each_passes(name, dtype):
    one = surveyed("jax", SUBJECTS[name], dtype)
    expected = NOT_PASSED.get((name, dtype))
    assert one.verdict == ("fail" if expected else "pass"), one.report.diagnosis()
    assert (expected or "") in one.report.finding("values").message
    assert one.report.finding("gradients").ran


@slow
def test_attention_takes_its_softmax_in_float32():
    one = SUBJECTS["nn.dot_product_attention"]
    settings = {"adapter": "jax", "options": {"causal": True}, "probes": ("generic (2, 3, 6, 4), mask=None*draw 0",)}
    check(one.contract, one.forward, dtype="float32", **settings).raise_if_failed()
    report = check(one.contract, one.forward, **settings)
    assert IN_FLOAT32 in report.finding("values").message
    check(one.contract, one.forward, precision="float32", **settings).raise_if_failed()


@slow
@pytest.mark.parametrize("name", ["nn.gelu", "random.bernoulli, dropout"])
def test_a_generic_probe_of_each_wrapper(name):
    one = SUBJECTS[name]
    report = check(one.contract, one.forward, adapter="jax", accept=one.accept, probes=("generic*draw 0",))
    report.raise_if_failed()
    assert set(report.mistakes) == set(one.accept)


@slow
def test_cross_entropy_passes_without_options():
    forward = SUBJECTS["cross-entropy by log_softmax"].forward
    options = {"ignore_index": None, "label_smoothing": 0.0}
    check("cross_entropy", forward, adapter="jax", options=options, probes=("generic (5, 7)*",)).raise_if_failed()
