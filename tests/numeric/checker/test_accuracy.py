"""Within the bound, and beyond what an accurate evaluation may return: a convention, a loss of digits, or nothing to tell."""

from dataclasses import replace

import numpy as np
import pytest

from numeric.checker.accuracy import LOST, with_accuracy
from numeric.checker.contracts import contract_named
from numeric.checker.enclosure import Exact
from numeric.checker.formats import format_named
from numeric.checker.record import Record
from numeric.checker.report import Finding
from numeric.checker.verdict import Verdict

GELU, DOUBLE = contract_named("gelu"), format_named("float64")
PASSED = Finding("values", Verdict.PASS, "within rounding")
X = np.array([[-7.0, -3.0, -0.5, 0.25, 1.0, 2.0]])
RIGHT, _ = GELU.layer(X)


def record(found, accurate=1e-15, allowed=1.0):
    exact = Exact(RIGHT, 0 * RIGHT, 0 * RIGHT)
    reach = (np.full_like(RIGHT, allowed),)
    return Record("generic", (X,), {}, None, (found,), (exact,), reach, False, (accurate * np.abs(RIGHT),))


def told(found, **how):
    return with_accuracy(PASSED, GELU, "values", [record(found, **how)], DOUBLE, None)


def test_what_is_accurate_is_left_as_it_was():
    assert told(RIGHT) is PASSED
    assert with_accuracy(PASSED, GELU, "values", [replace(record(RIGHT + 0.1), accurate=())], DOUBLE, None) is PASSED


def test_a_little_more_than_accurate_is_left_too():
    assert told(RIGHT * (1 + 0.9 * LOST * 1e-15)) is PASSED


def test_a_loss_of_digits_passes_with_a_note():
    found = RIGHT.copy()
    found[0, 1] *= 1 + 1e-9
    finding = told(found)
    assert (finding.verdict, finding.mistake) == ("pass", None)
    assert "within rounding. Accuracy, not an error: digits are lost. Probe 'generic'" in finding.message
    assert "a relative error of 1e-09, 1e+06 times what an accurate evaluation may err by" in finding.message


def test_a_known_loss_is_named():
    [known] = [each for each in GELU.mistakes if each.id == "gelu.one_plus_erf"]
    finding = told(known.emulated(X))
    assert (finding.verdict, finding.mistake) == ("pass", "gelu.one_plus_erf")
    elsewhere = RIGHT.copy()
    elsewhere[0, 3:] *= 1 + 1e-9  # where the sum with erf loses nothing
    assert told(elsewhere).mistake is None


@pytest.mark.parametrize(("id", "verdict"), [("gelu.tanh", "variant"), ("gelu.silu", "fail")])
def test_another_formula_is_told_though_the_bound_has_room_for_it(id, verdict):
    [known] = [each for each in GELU.mistakes if each.id == id]
    finding = told(known.formula(X))
    assert (finding.verdict, finding.mistake, finding.theorem) == (verdict, id, known.theorem)


def test_another_formula_is_told_by_its_nearness_where_its_own_rounding_hides_it():
    [known] = [each for each in GELU.mistakes if each.id == "gelu.sigmoid"]
    noise = 1 + 1e-3 * np.random.default_rng(0).standard_normal(X.shape)
    assert told(known.formula(X) * noise).mistake == "gelu.sigmoid"
    assert told(RIGHT * noise).verdict == "pass"


def test_gradients_that_follow_a_convention_are_its_own():
    [tanh] = [each for each in GELU.mistakes if each.id == "gelu.tanh"]
    [wrong] = [each for each in GELU.mistakes if each.id == "gelu.gradient_of_tanh"]
    dy = np.array([[1.0, -2.0, 0.5, 1.5, -1.0, 0.75]])
    exact = GELU.layer(X)[1](dy)[0]
    found = wrong.formula(dy, X)
    found = found[0] if isinstance(found, tuple) else found
    judged = Record(
        "generic",
        (X,),
        {},
        dy,
        (found,),
        (Exact(exact, 0 * exact, 0 * exact),),
        (np.ones_like(exact),),
        False,
        (1e-13 * np.abs(exact),),
    )
    alone = with_accuracy(PASSED, GELU, "gradients", [judged], DOUBLE, None)
    assert (alone.verdict, alone.mistake) == ("fail", "gelu.gradient_of_tanh")
    following = with_accuracy(PASSED, GELU, "gradients", [judged], DOUBLE, tanh)
    assert (following.verdict, following.mistake) == ("variant", "gelu.tanh")
