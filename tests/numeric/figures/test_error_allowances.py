"""Three implementations as the checker judges them, and marks that stand at their errors."""

import math
from functools import cache

import pytest

from numeric.checker.verdict import Verdict
from numeric.figures import error_allowances as figure
from numeric.figures.catalogue import Words

from .reading_svg import centre, elements

SVG_SHAPES = {"circle": "circle", "triangle": "path", "square": "rect"}


@cache
def found(kind):
    (mistake,) = [mistake for name, mistake, _, _ in figure.KINDS if name == kind]
    return figure.judged(mistake, 0)


@cache
def drawing():
    return figure.draw(Words("en"), 0)


@pytest.mark.parametrize(("kind", "mistake"), [(name, mistake) for name, mistake, _, _ in figure.KINDS])
def test_the_verdicts(kind, mistake):
    right = kind == "right"
    assert found(kind).verdict == (Verdict.PASS if right else Verdict.FAIL)
    assert found(kind).mistakes == (() if right else (mistake,))
    assert (found(kind).beyond == 0) == right


def test_the_unstable_one_is_right_nearly_everywhere_and_the_wrong_one_nearly_nowhere():
    probes = len(found("right").ratios)
    assert found("unstable").beyond < probes / 4 < 3 * probes / 4 < found("wrong").beyond
    assert max(found("unstable").ratios.values()) > 1000


def test_each_probe_has_a_mark_at_its_error():
    ratios = [ratio for kind, *_ in figure.KINDS for ratio in found(kind).ratios.values() if 0 < ratio < math.inf]
    low, high = math.floor(math.log10(min(ratios))), math.ceil(math.log10(max(ratios)))
    for kind, _, shape, colour in figure.KINDS:
        marks = [
            each
            for each in elements(drawing())
            if each.tag == SVG_SHAPES[shape] and each.get("class") == f"{colour} full"
        ]
        for mark, (probe, ratio) in zip(marks, found(kind).ratios.items(), strict=True):
            assert mark.find("title").text.startswith(f"{probe}: ")
            place = {0.0: 14.0, math.inf: 346.0}.get(ratio)
            if place is None:
                place = 36 + 288 * (math.log10(ratio) - low) / (high - low)
            # written to a tenth, at the corner of a square or triangle, which lies half its size away
            assert centre(mark)[0] == pytest.approx(place, abs=0.05 + 1e-9)


def test_the_allowance_parts_right_from_wrong():
    (allowance,) = {
        float(each.get("d").split()[0][1:]) for each in elements(drawing()) if each.get("class") == "ink dashed"
    }
    places = {}
    for each in elements(drawing()):
        if each.find("title") is not None:
            places.setdefault(each.get("class").split()[0], []).append(centre(each)[0])
    assert max(places["one"]) < allowance < max(places["ink"]) and min(places["two"]) < allowance
    assert sum(place > allowance for place in places["two"]) == found("wrong").beyond


def test_a_wrong_layer_does_not_pass_for_the_right_one(monkeypatch):
    right = figure.implementation(None)
    monkeypatch.setattr(figure, "implementation", lambda mistake: lambda *inputs, **options: -right(*inputs, **options))
    assert figure.judged(None, 0).verdict == Verdict.FAIL
