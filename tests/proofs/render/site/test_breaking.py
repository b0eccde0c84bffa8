"""Where a long formula may be broken, and where it never is."""

from xml.etree.ElementTree import fromstring

import pytest

pytest.importorskip("math_core", reason="formulas become MathML by math-core")

from proofs.render.site.mathml import mathml


def pieces(latex):
    """The parts of a formula between which a line may end, as text."""
    math = fromstring(mathml(latex))
    assert math.get("class") == "long"
    return ["".join(piece.itertext()).replace("\u2061", "") for side in math for term in side for piece in term]


def sides(latex):
    return ["".join(side.itertext()).replace("\u2061", "") for side in fromstring(mathml(latex))]


def test_a_short_formula_is_left_alone():
    assert "class" not in fromstring(mathml(r"x = y + z")).attrib


def test_relations_come_first_then_sums():
    latex = r"\operatorname{softmax}(z)_{i} = \operatorname{softmax}(z)_{j} + \operatorname{softmax}(z)_{k} \le 1"
    assert sides(latex) == ["softmax(z)i", "=softmax(z)j+softmax(z)k", "≤1"]
    assert [len(side) for side in fromstring(mathml(latex))] == [1, 2, 1]


def test_no_line_ends_between_a_name_and_its_argument_or_after_a_sum():
    found = pieces(
        r"\sum_{l=0}^{n - 1} \operatorname{softmax}(z)_{l} x_{l}(t) \sum_{m=0}^{n - 1} \operatorname{softmax}(w)_{m}"
    )
    assert found == ["∑l=0n−1softmax(z)lxl(t)", "∑m=0n−1softmax(w)m"]


def test_a_minus_in_front_stays_with_its_term():
    assert pieces(r"-\operatorname{softmax}(z)_{i} + \operatorname{softmax}(w)_{j}")[0] == "−softmax(z)i"


def test_an_assignment_is_no_relation():
    assert len(sides(r"W_{\mathrm{Q}} := \operatorname{projected}(X, W)_{f} + \operatorname{projected}(Y, W)_{f}")) == 1


def test_places_of_a_function_stay_together():
    found = pieces(r"\operatorname{attention}((i, a) \mapsto X_{i a}, (j, c) \mapsto Y_{j c}, V)_{i c}")
    assert found == ["attention((i,a)↦Xia,", "(j,c)↦Yjc,", "V)ic"]


def test_tall_brackets_with_much_in_them_open():
    latex = r"x \left(\frac{a}{b} + \operatorname{softmax}(z)_{i} + \operatorname{softmax}(z)_{j} + 1\right)^{2}"
    found = pieces(latex)
    assert found[0].startswith("x")
    assert len(found) >= 4
    sizes = {e.get("minsize") for e in fromstring(mathml(latex)).iter("mo") if e.get("minsize")}
    assert sizes == {"2.1em"}


def test_tall_brackets_with_little_in_them_and_tables_stay_whole():
    for latex in (
        r"\operatorname{softmax}(z)_{i} \left(\frac{a}{b} + c\right) \operatorname{softmax}(z)_{j}",
        r"\begin{bmatrix} \sin(\omega_{m} (p + k)) & \cos(\omega_{m} (p + k)) \\ 0 & 1 \end{bmatrix}_{a b} + x_{a b}",
    ):
        assert not [e for e in fromstring(mathml(latex)).iter("mo") if e.get("minsize")]


def test_functions_of_functions_may_be_parted():
    found = pieces(
        r"\operatorname{fed-forward}(\operatorname{cross-attended}(\operatorname{self-attended}(X, W), Z), b)_{l}"
    )
    assert found == ["fed-forward(", "cross-attended(", "self-attended(X,", "W),", "Z),", "b)l"]
