"""The grammar takes what is printed, in one spelling; of anything else it says what is wrong, and where."""

import pytest

from proofs.render.inverse import UnreadableError
from proofs.render.inverse.forms import FORMS
from proofs.render.inverse.latex import read
from proofs.render.inverse.tree import (
    Ascribed,
    Bracket,
    Call,
    Cases,
    Domain,
    Fraction,
    Function,
    Name,
    Number,
    Place,
    Power,
    Product,
    Ratio,
    Relation,
    Squared,
    Sum,
    Symbol,
)  # fmt: skip

from ..mutations import bare

x, n, i = Name("x"), Name("n"), Name("i")


def parsed(text, form="statement"):
    return bare(read(text, form))


def name(base, **looks):
    return Symbol(0, Name(base, **looks))


TREES = {
    r"\omega": name("ω"),
    r"\mathit{pos}": name("pos"),
    r"d_{\mathrm{k}}": name("d", label="k"),
    r"d_{\mathrm{Q\text{-}Z}}": name("d", label="Q_Z"),
    r"\begin{cases} x, & i < n \\ 0, & i \ge n \end{cases}": Cases(
        0, name("x"), Relation(0, "lt", name("i"), name("n")), Number(0, 0), Relation(0, "ge", name("i"), name("n"))
    ),
    r"d_{\mathrm{k}, i}": Symbol(0, Name("d", "k"), (name("i"),)),
    r"z_{i j}": Symbol(0, Name("z"), (name("i"), name("j"))),
    r"z_{0, j}": Symbol(0, Name("z"), (Number(0, 0), name("j"))),
    r"z_{i}'": Symbol(0, Name("z", primes=1), (name("i"),)),
    r"\dot{y}_{i}(t)": Symbol(0, Name("y", dotted=True), (name("i"),), (name("t"),)),
    r"\operatorname{log-softmax}'(z)_{i}": Symbol(
        0, Name("log_softmax", primes=1, upright=True), None, (name("z"),), (name("i"),)
    ),
    r"2 \cdot 3": Product(0, (Number(0, 2), Number(0, 3))),
    r"x (n + 1)": Product(0, (name("x"), Bracket(0, Sum(0, ((False, name("n")), (False, Number(0, 1))))))),
    r"x(n)": Symbol(0, x, None, (name("n"),)),
    r"-x": Sum(0, ((True, name("x")),)),
    r"\frac{1}{x}": Fraction(0, None, name("x")),
    r"\tfrac{1}{2} \frac{x}{n}": Product(0, (Ratio(0, 1, 2), Fraction(0, name("x"), name("n")))),
    r"\mathrm{e}^{x}": Call(0, "exp", (name("x"),), raised=True),
    r"\exp\!\left(\frac{1}{x}\right)": Call(0, "exp", (Fraction(0, None, name("x")),)),
    r"(x')^{2}": Power(0, Bracket(0, name("x", primes=1)), Number(0, 2)),
    r"x^{1/2}": Power(0, name("x"), Ratio(0, 1, 2, slashed=True)),
    r"x^{-n/i}": Power(0, name("x"), Sum(0, ((True, Fraction(0, name("n"), name("i"), slashed=True)),))),
    r"x^{1/(2 n)}": Power(
        0, name("x"), Fraction(0, None, Bracket(0, Product(0, (Number(0, 2), name("n")))), slashed=True)
    ),
    r"x^{3 \cdot 2^{-1}}": Power(0, name("x"), Product(0, (Number(0, 3), Fraction(0, None, Number(0, 2))))),
    r"0_{n}": Ascribed(0, Number(0, 0), name("n")),
    r"[i]": Squared(0, name("i")),
}


@pytest.mark.parametrize("text", TREES)
def test_tree(text):
    assert parsed(text) == bare(TREES[text])


def test_other_forms():
    assert parsed(r"(i < n, t \in \mathbf{R}_{> 0}) \mapsto x", "argument") == bare(
        Function(0, (Place(0, i, name("n"), "lt"), Place(0, Name("t"), Domain(0, "positive"), "in")), name("x"))
    )
    assert parsed(r"i \mapsto x", "argument") == bare(Function(0, (Place(0, i),), name("x")))
    assert len(read("i, x + 1", "listed")) == 2
    assert set(FORMS) == {"statement", "argument", "symbol", "listed", "members", "places", "assignment"}


WRONG = {
    r"\alpha \beth": (r"no formula has '\\beth'", 8),
    r"x # 2": ("no formula has '#'", 3),
    r"x +": ("found the end, needed a term", 4),
    r"(x + 1": ("found the end, needed ')'", 7),
    r"x + 1)": ("found ')', needed the end", 6),
    r"x = n = i": ("found '=', needed the end", 7),
    r"(x)": ("nothing needs these brackets", 1),
    r"(x) i": ("nothing needs these brackets", 1),
    r"x + (n i)": ("nothing needs these brackets", 5),
    r"x + (-n)": ("this minus belongs before its part", 5),
    r"\frac{(x + 1)}{n}": ("nothing needs these brackets", 7),
    r"\sqrt{x}^{2}": (r"found '^', needed the end", 9),
    r"x'^{2}": ("a prime is a superscript too", 1),
    r"x^{2}^{3}": (r"found '^', needed the end", 6),
    r"\left(x + n\right) i": (r"needed no \left and \right around this", 1),
    r"(\frac{x}{n} + 1) i": (r"needed \left and \right around this", 1),
    r"x\left(\frac{1}{n}\right)": (r"found '\\left(', needed \!\left( together", 2),
    r"\exp(x)": ("the exponential of what is not tall is a power of e", 1),
    r"\mathrm{e}^{\frac{1}{x}}": (r"e to the power of what is tall is written with \exp", 13),
    r"x 2": (r"found '2', needed \cdot", 3),
    r"x \cdot n": (r"found 'n', needed no \cdot here", 9),
    r"xn": ("found 'n', needed a space between factors", 2),
    r"x \frac{1}{n}": ("this factor belongs above the bar that follows it", 1),
    r"\frac{\tfrac{1}{2} x}{n}": ("this number belongs before the bar", 7),
    r"\frac{-x}{n}": ("this needs brackets above a bar", 7),
    r"\left(\sum_{l=0}^{n - 1} x\right)": ("nothing needs these brackets", 1),
    r"i \sum_{l=0}^{n - 1} \left(x n\right)": (r"needed no \left", 22),
    r"\left(\sum_{l=0}^{n - 1} x\right) + i": ("nothing needs these brackets", 1),
    r"z_{i, j}": ("letters in a subscript stand side by side, without commas", 4),
    r"z_{}": ("found '}', needed a name", 4),
    r"z_{i}_{j}": ("found '_', needed the end", 6),
    r"x^{\tfrac{1}{2}}": ("a bar in an exponent is written as a slash", 4),
    r"x^{\frac{i}{n}}": ("a bar in an exponent is written as a slash", 4),
    r"1/2": ("found '/', needed the end", 2),
    r"\mathrm{e}^{1/x}": ("found '/', needed '}'", 14),
    r"x^{i/n/2}": ("found '/', needed '}'", 7),
    r"x^{i (1/n)}": ("this quotient is written with a slash", 6),
    r"x^{i \cdot 2^{-1}}": ("this quotient is written with a slash", 12),
    r"x^{(i)/n}": ("nothing needs these brackets", 4),
    r"x^{i/(n)}": ("nothing needs these brackets", 6),
    r"x^{-(1/n)}": ("nothing needs these brackets", 5),
    r"x^{i/2 n}": ("found 'n', needed '}'", 8),
    r"\mathit{x}": ("a single letter needs no font", 1),
    r"007": ("007 is not how a number is written", 1),
    r"00": ("00 is not how a number is written", 1),
    r"\tfrac{01}{2}": ("01 is not how a number is written", 8),
    r"\tfrac{1}{02}": ("02 is not how a number is written", 11),
    r"z_{01}": ("01 is not how a number is written", 4),
    r"\mathbf{Q}": (r"needed \mathbf{E}", 1),
    r"\begin{cases} x, & i = n \\ 0, & \text{otherwise} \end{cases}": (r"no formula has '\\text'", 34),
    r"\begin{cases} x & i = n \\ 0 & i \ne n \end{cases}": ("found '&', needed ','", 17),
    r"\begin{cases} x, & i \\ 0, & n \end{cases}": (r"needed a sign of a relation", 22),
    r"x > n": ("found '>', needed the end", 3),
    r"d_{\mathrm{k-q}}": (r"no formula has \mathrm{k-q}", 4),
    r"\operatorname{log\text{-}softmax}": (r"no formula has \operatorname", 1),
    r"\mathit{p-q}": (r"no formula has \mathit{p-q}", 1),
    r"(i = n) \Rightarrow x = n": ("a guard is a relation, or another statement in brackets", 1),
    r"\sum_{l=2}^{n - 1} x": ("found '2', needed '0'", 9),
    r"\frac{\mathrm{d}}{\mathrm{d} t} \left[x\right]_{n = 0}": ("needed t at a point", 51),
}  # fmt: skip


@pytest.mark.parametrize("text", WRONG)
def test_wrong_text(text):
    problem, at = WRONG[text]
    with pytest.raises(UnreadableError) as found:
        read(text)
    assert problem in found.value.problem
    assert found.value.at + 1 == at


def test_a_text_too_deep():
    with pytest.raises(UnreadableError, match="too deep"):
        read("-(" * 5000 + "x" + ")" * 5000)


def test_a_message_shows_the_place():
    text = "x + " * 30 + "? + " + "x + " * 30 + "x"
    with pytest.raises(UnreadableError) as found:
        read(text)
    assert str(found.value) == (f"no formula has '?', at character 121: ...{'x + ' * 10} >>> ? + {'x + ' * 9}...")


# --- traps of other printers and converters, which are no formulas here ------------------------------------------------

TRAPS = {
    "braces that change nothing to see": r"{x}_{i}",
    "the imaginary unit": r"\mathrm{i}",
    "a matrix of ones": r"\mathbf{1}",
    "a derivative of a product without brackets": r"\frac{\mathrm{d}}{\mathrm{d} t} t x",
    "a derivative of a product in round brackets": r"\frac{\mathrm{d}}{\mathrm{d} t} (t x)",
    "a slash that may take any part of what follows": r"1/x (n + 1)",
    "a label inside a formula": r"x = n \label{eq:1}",
    "a mark of the end of a proof": r"x = n \qedhere",
    "a subscript without braces": r"x_i",
    "a superscript without braces": r"x^2",
    "words": r"\text{otherwise}",
    "a fraction without braces": r"\frac12",
}


@pytest.mark.parametrize("trap", TRAPS)
def test_trap(trap):
    with pytest.raises(UnreadableError):
        read(TRAPS[trap])
