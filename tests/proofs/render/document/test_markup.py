"""Markup: words that Typst cannot take for anything else."""

import pytest

from proofs.render.document.markup import Setter, array, call, fit_beside, string
from proofs.render.parts import Formula, Words

SIGNS = '#$*_`<>@[]~=-+/\\"{}'


def setter():
    return Setter({"softmax.positive"}.__contains__)


def test_strings():
    assert string('a "b" \\c\nd') == r'"a \"b\" \\c d"'


def test_signs_stay_words():
    typst = pytest.importorskip("typst")
    assert typst.eval(b"", string(SIGNS)).strip('"').replace("\\\\", "\\").replace('\\"', '"') == SIGNS


def test_lines():
    found = setter()
    line = found.line((Words("by "), Words("softmax.positive"), Words(" at "), Formula("n := 2")))
    assert line == '[#"by "#cited("softmax.positive")#" at "$n := 2$]'
    assert found.formulas == ["n := 2"]


def test_long_formulas_in_a_line_may_be_broken():
    long = Formula(" + ".join(["x"] * 30))
    assert setter().line((Words("at "), long)) == f'[#"at "#wide(${long.text}$)]'


def test_names():
    assert setter().name("softmax.positive") == 'with-page("softmax.positive")'
    assert setter().name("softmax.negative") == 'code("softmax.negative")'


def test_displays_say_whether_they_surely_fit():
    assert setter().display("z_(i)") == "short($z_(i)$)"
    assert setter().display("z_(i) + " * 20 + "1").startswith("$z_(i) + ")
    assert fit_beside("z_(i)", (Words("as given"),))
    assert not fit_beside("z_(i)", (Words("as given" * 20),))
    assert not fit_beside("z_(i)", (Words("가" * 50), Formula("n")))


def test_calls():
    assert call("step", "1", None, side_by_side="true", other=None) == "#step(1, none, side-by-side: true)"
    assert array([]) == "()" and array(["1"]) == "(1, )"
