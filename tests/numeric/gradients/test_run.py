"""Every layer has a case, every case agrees, and what keeps a case from being looked at is told."""

import sys
from types import ModuleType

import pytest

from numeric import layers
from numeric.gradients import all_cases, check_gradients, checked
from numeric.gradients.case import Case
from numeric.gradients.report import Verdict
from numeric.gradients.run import differentiable, without_case
from numeric.layers import activations

CASES = all_cases()
MODELS = ("encoder", "decoder", "model")


def cases():
    return [
        pytest.param(each, id=each.name, marks=[pytest.mark.slow] if each.layer in MODELS else []) for each in CASES
    ]


@pytest.mark.parametrize("case", cases())
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_a_case_agrees_in_all_three_ways(case, seed):
    report = checked(case, seed)
    assert report.findings == ()
    assert report.exact.widest < 1e-20
    assert report.difference.ratio <= 1 and report.step.ratio <= 1


def test_every_layer_has_a_case_and_names_are_different():
    assert without_case(CASES) == ()
    assert len({each.name for each in CASES}) == len(CASES)
    assert {each.layer for each in CASES} == differentiable()
    assert {"softmax", "multi_head", "residual", "dropout", "blocked_attention", *MODELS} <= differentiable()


def test_a_layer_without_a_case_is_listed(monkeypatch):
    assert without_case([each for each in CASES if each.layer != "rotary"]) == ("rotary",)
    monkeypatch.setattr(
        "numeric.gradients.run.layer_cases", lambda: [each for each in CASES if each.layer == "softmax"]
    )
    monkeypatch.setattr("numeric.gradients.run.model_cases", list)
    report = check_gradients()
    assert report.failed == () and "rotary" in report.without_case
    assert report.verdict is Verdict.UNDECIDED and report.exit_code == 1
    assert check_gradients("softmax").exit_code == 0, "a part that was asked for says nothing of the others"


def test_a_new_module_counts_as_a_layer_if_it_has_both_ways(monkeypatch, tmp_path):
    for name, text in {"both": "def forward(): ...\ndef backward(): ...\n", "one": "def forward(): ...\n"}.items():
        (tmp_path / f"new_with_{name}.py").write_text(text)
    monkeypatch.setattr(layers, "__path__", [*layers.__path__, str(tmp_path)])
    try:
        assert differentiable() - {each.layer for each in CASES} == {"new_with_both"}
    finally:
        for name in ("both", "one"):
            module = sys.modules.pop(f"numeric.layers.new_with_{name}")
            assert isinstance(module, ModuleType)


def test_a_layer_that_raises_disagrees():
    def backward(dy, cache):
        raise RuntimeError("planted")

    report = checked(Case("layer", "raising", {"x": (2,)}, lambda x: (x, None), backward))
    assert report.verdict is Verdict.DISAGREES
    assert report.trouble[0].message == "raised RuntimeError: planted"


def test_a_point_on_a_kink_is_undecided():
    case = Case(
        "activations",
        "relu",
        {"x": (2,)},
        lambda x: activations.forward("relu", x - x),
        lambda dy, cache: activations.backward(dy, cache),
    )
    report = checked(case)
    assert report.verdict is not Verdict.AGREES
    assert any(finding.verdict is Verdict.UNDECIDED for finding in report.findings)


def test_progress_is_told_before_each_case():
    told = []
    check_gradients("softmax.rows", before=lambda number, name: told.append((number, name)))
    assert told == [(0, "softmax.rows"), (1, "log_softmax.rows")]
