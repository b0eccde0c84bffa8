"""Formulas as parts: their text is kept, and their widths are those of TeX."""

import pytest

from proofs.render.names import RenderError
from proofs.render.tex.parsing import parsed
from proofs.render.tex.shapes import Fence, Fraction, Scripted, Table, kinds_in, text_of, widths_of

from .samples import NAMES, formulas

# as pdflatex measures them, in article at 10 pt and in \displaystyle
MEASURED = {
    r"\mathrm{e}^{z_{i}}": 11.9,
    r"\forall i'\colon \forall u\colon k_{i' u}^{2} = k_{i' u}": 82.8,
    r"\operatorname{softmax}(l \mapsto b z_{l})_{r} \le \operatorname{softmax}(l \mapsto c z_{l})_{r}": 168.3,
    r"\operatorname{pair}(m' < M \mapsto \operatorname{frequency}(\mathit{base}, M, m'), p)_{m, 1}": 199.0,
    r"K_{\mathrm{t}} := (j, a, t \in \mathbf{R}) \mapsto K_{j a} + t \delta_{j l} \delta_{a e}": 151.5,
    r"\left(x_{i} - \frac{\sum_{l=0}^{d - 1} x_{l}}{d}\right)^{2}": 79.9,
    r"\operatorname{softmax}(y)_{i} \le \mathrm{e}^{\mathit{low} - \mathit{best}}": 102.0,
    r"-n^{-2} \sum_{l=0}^{n - 1} z_{l}": 50.7,
    r"\operatorname{softmax}(z)_{a} (\delta_{a b} - \operatorname{softmax}(z)_{b})": 136.4,
    r"\operatorname{projected}(X, W)_{i a} = \sum_{b=0}^{d - 1} X_{i b} W_{b a}": 142.5,
    r"\frac{(1 - p) x_{i}^{2}}{(1 - p)^{2}}": 42.6,
    r"\frac{\left(\sum_{b=0}^{B - 1} \sum_{u=0}^{T - 1} \mathrm{e}^{z_{u}(b)}\right) v}{\sum_{b=0}^{B - 1} z_{b}}": 102.6,
}


@pytest.mark.parametrize("name", NAMES)
def test_text_is_kept(name):
    for formula in formulas(name):
        assert text_of(parsed(formula)) == formula


@pytest.mark.parametrize("formula", MEASURED)
def test_widths_are_those_of_tex(formula):
    ratio = widths_of(parsed(formula)).display / MEASURED[formula]
    assert 0.99 < ratio < 1.09  # wider than it is costs a line break, narrower an overfull box


def test_shapes():
    grown, plain, fraction = parsed(r"\left(a + b\right)_{i}"), parsed("(a)"), parsed(r"\frac{a}{b}")
    assert isinstance(grown[0].shape, Fence)
    assert isinstance(plain[0].shape, Fence)
    assert isinstance(fraction[0].shape, Fraction)
    assert (grown[0].scripts, grown[0].shape.grows, plain[0].shape.grows) == ("_{i}", True, False)
    (matrix,) = parsed(r"\begin{bmatrix} a & b \\ c & d \end{bmatrix}_{i j}")
    assert isinstance(matrix.shape, Table)
    assert [[text_of(cell) for cell in row] for row in matrix.shape.rows] == [["a", "b"], ["c", "d"]]


def test_only_a_wide_exponent_is_worth_breaking():
    assert parsed(r"x^{2}")[0].shape is None
    assert isinstance(parsed(rf"\mathrm{{e}}^{{{' + '.join('abcdefgh')}}}")[0].shape, Scripted)


def test_a_minus_in_front_is_no_difference():
    assert kinds_in(parsed("-a - b = -c")) == ["ord", "ord", "bin", "ord", "rel", "ord", "ord"]


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        (r"a \oplus b", r"'\\\\oplus' is no sign of the printer"),
        (r"\frac{a}", "found the end, needed {"),
        (r"\left(a", r"found the end, needed \\right\)"),
        (r"a}", "} has no place here"),
        (r"\mathrm{Ä}", "no width for 'Ä'"),
    ],
)
def test_what_the_printer_never_writes_is_refused(formula, message):
    with pytest.raises(RenderError, match=message):
        parsed(formula)
