"""What PyTorch users already use: each has its verdict, and those that fail do so for a reason that is known."""

import pytest

from numeric.checker import check
from numeric.checker.contracts import contract_names
from numeric.checker.subjects import group_named
from numeric.checker.survey import surveyed

torch = pytest.importorskip("torch", reason="these subjects are PyTorch's")
torch.set_num_threads(1)  # small arrays: a second thread only waits
slow = pytest.mark.slow
SUBJECTS = {each.name: each for each in group_named("torch")}
NOT_PASSED = {
    # the gradients of a query that keeps no key are NaN, and reach the weights and all other keys
    ("nn.MultiheadAttention", "float64"): "gradients",
    ("nn.MultiheadAttention", "float32"): "gradients",
    # sums in 16 bits
    ("nn.functional.cross_entropy", "float16"): "cross_entropy.smoothing_overflows",
    ("nn.functional.embedding", "bfloat16"): "embedding.gradient_accumulated_in_16_bits",
    ("nn.functional.embedding", "float16"): "embedding.gradient_accumulated_in_16_bits",
}


def test_all_that_was_promised_is_there():
    contracts = {each.contract for each in SUBJECTS.values()}
    promised = "softmax log_softmax scaled_dot_product_attention layer_norm rms_norm gelu silu relu cross_entropy embedding dropout"
    assert contracts >= set(promised.split()) | {
        "multi_head_attention",
        "encoder_layer",
        "decoder_layer",
        "transformer",
    }
    assert sum(each.contract == "gelu" for each in SUBJECTS.values()) == 2


@pytest.mark.parametrize("name", ["nn.functional.relu", *(pytest.param(each, marks=slow) for each in SUBJECTS)])
@pytest.mark.parametrize("dtype", ["float64", pytest.param("float32", marks=slow)])
def test_verdicts(name, dtype):
    one = surveyed("torch", SUBJECTS[name], dtype)
    if SUBJECTS[name].contract not in contract_names():
        assert one.report is None and one.verdict == "inconclusive"
        return
    expected = NOT_PASSED.get((name, dtype))
    assert one.verdict == ("fail" if expected else "pass"), one.report.diagnosis()
    assert (expected or "") in one.reason
    assert one.report.finding("gradients").ran


@slow
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ["nn.functional.softmax", "nn.functional.cross_entropy", "nn.functional.embedding"])
def test_verdicts_in_16_bits(name, dtype):
    one = surveyed("torch", SUBJECTS[name], dtype)
    assert (NOT_PASSED.get((name, dtype)) or "") in one.reason
    assert (one.verdict == "fail") == ((name, dtype) in NOT_PASSED)


def test_the_tanh_gelu_passes_as_what_it_is():
    subject = SUBJECTS["nn.functional.gelu, tanh"]
    report = check("gelu", subject.forward, adapter="torch", accept=subject.accept, probes=("generic*",))
    assert report.verdict == "pass" and report.mistakes == ("gelu.tanh",)
    assert check("gelu", subject.forward, adapter="torch", probes=("generic*",)).verdict == "variant"


def test_attention_passes_with_masks():
    forward = SUBJECTS["nn.functional.scaled_dot_product_attention"].forward
    report = check("scaled_dot_product_attention", forward, adapter="torch", probes=("generic*draw 0",))
    report.raise_if_failed()
    assert not [each for each in report.findings if each.check.startswith("option")]


def test_the_module_of_attention_follows_its_weights():
    forward = SUBJECTS["nn.MultiheadAttention, bare"].forward
    report = check("multi_head_attention", forward, adapter="torch", options={"heads": 2}, probes=("generic*draw 0",))
    assert report.finding("values").verdict == report.finding("gradients").verdict == "pass"


def exchanged(x_q, x_kv, w_q, w_k, w_v, w_o, heads=2):
    return SUBJECTS["nn.MultiheadAttention"].forward(x_q, x_kv, w_k, w_q, w_v, w_o, heads)


def test_the_module_with_its_weights_exchanged_does_not_pass():
    assert (
        check(
            "multi_head_attention", exchanged, adapter="torch", options={"heads": 2}, probes=("generic*draw 0",)
        ).verdict
        == "fail"
    )
