"""Formulas in a width: every line fits, and nothing but the layout changes."""

import pytest

from proofs.registry import all_claims
from proofs.render.latex import Latex
from proofs.render.page_formulas import formulas_of
from proofs.render.tex.fitting import indented, lines, stacked
from proofs.render.tex.unlaid import tokens_of, unlaid
from proofs.render.theorem import page

from .samples import NAMES, formulas

WIDTHS = (205.0, 219.0, 297.0, 343.0)


def said(text):
    return unlaid(tokens_of(text))


@pytest.mark.parametrize("name", NAMES[:7])
def test_lines_fit_and_say_the_same(name):
    for formula in formulas(name):
        for width in WIDTHS[::2]:
            found = lines(formula, width)
            assert max(line.width for line in found) <= width
            assert said(stacked(found)) == said(" ".join(map(indented, found))) == said(formula)


def test_what_fits_stays_as_it_is():
    (line,) = lines("a + b", 100.0)
    assert (line.text, line.rank) == ("a + b", 0)


def broken(formula, width):
    return [indented(line) for line in lines(formula, width)]


def test_relations_before_terms_before_factors():
    left, right = r"\operatorname{projected}(X, W)_{i a}", r"\operatorname{average}(x) + \operatorname{average}(y)"
    assert broken(f"{left} = {right}", 150.0) == [left, rf"\quad = {right}"]
    assert broken(f"{left} = {right}", 90.0)[1:] == [
        r"\quad = \operatorname{average}(x)",
        r"\qquad + \operatorname{average}(y)",
    ]
    product = r"\operatorname{average}(x) \operatorname{average}(y)"
    assert broken(product, 90.0) == [r"\operatorname{average}(x)", r"\quad \operatorname{average}(y)"]


def test_brackets_that_are_broken_have_a_fixed_size():
    sums = r"\sum_{l=0}^{n - 1} \operatorname{average}(x_{l})"
    assert broken(rf"c \left({sums} + {sums}\right)^{{2}}", 130.0) == [
        rf"c \biggl({sums}",
        rf"\quad + {sums}\biggr)^{{2}}",
    ]


def test_ranges_of_a_function_stay_together():
    pieces = broken(r"\operatorname{softmax}(p' < T B \mapsto \operatorname{average}(z_{p'}))_{i}", 110.0)
    assert pieces[0].endswith(r"p' < T B \mapsto")


def test_a_fraction_gets_lines_above_its_bar():
    above = r"\operatorname{average}(x) \operatorname{average}(y)"
    (line,) = lines(rf"\frac{{{above}}}{{d}}", 80.0)
    begin, end = r"\begin{aligned}", r"\end{aligned}"
    lines_above = rf"{begin} & \operatorname{{average}}(x) \\ & \quad \operatorname{{average}}(y) {end}"
    assert line.text == rf"\frac{{{lines_above}}}{{d}}"


def test_brackets_do_not_grow_around_such_a_fraction():
    above = r"\operatorname{average}(x) \operatorname{average}(y)"
    (line,) = lines(rf"\exp\!\left(\frac{{{above}}}{{d}}\right)", 110.0)
    assert line.text.startswith(r"\exp\biggl(\frac")
    assert line.text.endswith(r"\biggr)")


def test_a_wide_table_is_set_smaller():
    row = " & ".join([r"\cos(\omega_{0} k)"] * 4)
    (line,) = lines(rf"\begin{{bmatrix}} {row} \\ {row} \end{{bmatrix}}_{{i j}}", 175.0)
    assert line.text.startswith(r"\mbox{\small\arraycolsep=2pt $\begin{bmatrix}")
    assert line.text.endswith(r"\end{bmatrix}$}_{i j}")


def test_an_exponent_gets_lines():
    average = r"\operatorname{average}"
    (line,) = lines(rf"\mathrm{{e}}^{{{average}(x) - {average}(y)}}", 66.0)
    assert line.text == (
        rf"\mathrm{{e}}^{{\begin{{subarray}}{{l}} {average}(x) \\ \quad - {average}(y) \end{{subarray}}}}"
    )


def test_subscripts_get_lines_after_commas():
    index = r"\lfloor (r - 1) / 2 \rfloor + 1"
    begin, end = r"\begin{subarray}{l}", r"\end{subarray}"
    told = rf"_{{{begin} {index}, {index}, \\ {index} {end}}}"
    matrix = r"\begin{bmatrix} a & b \end{bmatrix}"
    for start, width in ((r"\operatorname{projection}(k)", 168.0), (r"\delta", 125.0), (matrix, 168.0)):
        (line,) = lines(f"{start}_{{{index}, {index}, {index}}}", width)
        assert line.text == start + told and line.width < width


def test_a_subscript_with_a_wide_index_is_broken_inside_it():
    average = r"\operatorname{average}"
    (line,) = lines(rf"x_{{{average}(x) + {average}(y), i}}", 72.0)
    assert line.text == rf"x_{{\begin{{subarray}}{{l}} {average}(x) \\ \quad + {average}(y), i \end{{subarray}}}}"


@pytest.mark.slow
def test_every_formula_of_the_catalogue():
    every = {formula for claim in all_claims() for formula in formulas_of(page(claim.theorem, Latex))}
    too_wide = {}
    for formula in every:
        for width in WIDTHS:
            found = lines(formula, width)
            assert said(stacked(found)) == said(formula)
            if (widest := max(line.width for line in found)) > width:
                too_wide[formula, width] = widest
    assert too_wide == {}
    assert len(every) > 4500
