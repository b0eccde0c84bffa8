"""Mistakes planted in every layer are seen, each in all the ways that it says; in way a by one random direction for each array."""

from dataclasses import replace

import pytest

from numeric.gradients import all_cases, checked
from numeric.gradients.report import Verdict
from numeric.gradients.run import differentiable

from ..agreement.mutants import MUTANTS as AGREEMENT_MUTANTS
from .mutants import MUTANTS, Mutant, planted

LEAST = 5  # for each layer


def ways(report):
    """The ways that call the gradient wrong."""
    found = {"a": report.exact, "b": report.difference, "c": report.step}
    return "".join(
        way
        for way, result in found.items()
        if result is not None and any(finding.verdict is Verdict.DISAGREES for finding in result.findings)
    )


def case_named(name):
    return replace(next(case for case in all_cases() if case.name == name), entries=False)


def slow_unless_small(mutant):
    marks = [] if mutant.module.startswith("layers.") else [pytest.mark.slow]
    return pytest.param(mutant, id=mutant.name, marks=marks)


def first_of_each_module():
    return {mutant.module: mutant for mutant in reversed(MUTANTS)}.values()


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value", "ignore:divide by zero")
@pytest.mark.parametrize("mutant", [slow_unless_small(mutant) for mutant in MUTANTS])
def test_a_mutant_is_seen(mutant, monkeypatch):
    planted(mutant, monkeypatch)
    report = checked(case_named(mutant.case))
    assert report.trouble == ()
    assert ways(report) == mutant.ways


@pytest.mark.parametrize("mutant", [slow_unless_small(mutant) for mutant in first_of_each_module()])
def test_planting_alone_changes_nothing(mutant, monkeypatch):
    """The harness: the same module, run again without an edit, has right gradients."""
    planted(mutant._replace(new=mutant.old), monkeypatch)
    assert checked(case_named(mutant.case)).findings == ()


def test_every_layer_has_mutants_enough():
    counts = {layer: sum(mutant.case.startswith(f"{layer}.") for mutant in MUTANTS) for layer in differentiable()}
    assert {layer: count for layer, count in counts.items() if count < LEAST} == {}
    assert len(MUTANTS) + len(AGREEMENT_MUTANTS) >= 60
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)


def test_an_edit_that_fits_nowhere_or_twice_is_refused(monkeypatch):
    nowhere = Mutant("layers.softmax", "nothing", "no such text", "", "softmax.rows")
    with pytest.raises(AssertionError, match="'no such text' occurs 0 times"):
        planted(nowhere, monkeypatch)
    with pytest.raises(AssertionError, match="'axis' occurs"):
        planted(nowhere._replace(old="axis"), monkeypatch)
