"""What LaTeX gets: text by text, and only macros that amsmath has."""

import re

import pytest

from proofs.notation import (
    ANY_REAL,
    INFINITY,
    PI,
    Definition,
    absolute,
    curve,
    delta,
    derivative,
    eq,
    erf,
    exp,
    expectation,
    family,
    forall,
    function,
    i,
    index,
    j,
    join,
    l,
    le,
    log,
    n,
    ne,
    number,
    outcome,
    permutation,
    rational,
    size,
    space,
    split,
    sqrt,
    sum_,
    t,
    table,
    tends,
    value_of,
    variable,
    when,
    z,
)  # fmt: skip
from proofs.registry import all_claims
from proofs.render import Latex, Notation, RenderError
from proofs.render.latex import MACROS as MACROS_OF_LETTERS
from proofs.render.latex import running
from proofs.render.parts import Formula, Words
from proofs.render.source import latex_source
from proofs.rules import LIMIT_RULES, RULES
from proofs.terms import Term
from proofs.theorems.softmax import softmax as s

M, d_k = size("M"), size("d_k")
a, m = index("a", 2), index("m", M)
b, c, omega = variable("b"), variable("c"), variable("omega")
x, W = curve("x", n), family("W_Q", n, n)
log_softmax = Definition("log_softmax", [z, i], z[i] - log(sum_(l, exp(z[l]))))
column = index("c", 2 * M)

U = space("U")
u, R = outcome("u", U), family("R", U)
TEXTS = {
    r"\frac{\mathrm{e}^{z_{i}}}{\sum_{l=0}^{n - 1} \mathrm{e}^{z_{l}}}": exp(z[i]) / sum_(l, exp(z[l])),
    r"\operatorname{softmax}(z)_{i} (\delta_{i j} - \operatorname{softmax}(z)_{j})": s(z, i) * (delta(i, j) - s(z, j)),
    r"\operatorname{log-softmax}(z)_{i}": log_softmax(z, i),
    r"\operatorname{softmax}(j \mapsto z_{j} + c)_{i}": s(function(j, z[j] + c), i),
    r"\sum_{a=0}^{1} a": sum_(a, value_of(a)),
    r"\sum_{c=0}^{2 M - 1} z_{i}": sum_(column, z[i]),
    r"\frac{b c}{t}": b * c / t,
    r"\frac{b}{c} t": b / c * t,
    r"\left(\frac{b}{c}\right)^{2}": (b / c) ** 2,
    r"\frac{b}{c} \frac{1}{t}": b / c / t,
    r"\frac{b + c}{b - c}": (b + c) / (b - c),
    r"\tfrac{1}{2} b": rational(1, 2) * b,
    r"\tfrac{1}{2} \frac{b}{c}": rational(1, 2) * b / c,
    r"2 \cdot \tfrac{1}{2} b": number(2) * rational(1, 2) * b,
    r"-\tfrac{2}{3}": rational(-2, 3),
    r"b \cdot 2": b * 2,
    r"\frac{1}{\sqrt{d_{\mathrm{k}}}}": 1 / sqrt(d_k),
    r"b^{-1/2}": b ** rational(-1, 2),
    r"b^{-2 c/d_{\mathrm{k}}}": b ** (-2 * c / d_k),
    r"b^{2 c/(2 t)}": b ** (2 * c / (2 * t)),
    r"b^{-(c + 1)/t}": b ** (-(c + 1) / t),
    r"b^{1 - 1/t}": b ** (1 - 1 / t),
    r"b^{(1/2) c}": b ** (rational(1, 2) * c),
    r"b^{3 \cdot 2^{-1}}": b ** Term("mul", (number(3), 1 / number(2))),
    r"b^{c (1/t) b}": b ** (c / t * b),
    r"b^{\mathrm{e}^{c/t}}": b ** exp(c / t),
    r"\exp\!\left(\frac{b}{c}\right)": exp(b / c),
    r"(\mathrm{e}^{b})^{2}": exp(b) ** 2,
    r"\log\!\left(\frac{b}{c}\right)": log(b / c),
    r"\operatorname{erf}(b)": erf(b),
    r"\left|b\right|": absolute(b),
    r"W_{\mathrm{Q}, i j}": W[i, j],
    r"W_{\mathrm{Q\text{-}Z}, i}": family("W_Q_Z", n)[i],
    r"\dot{x}_{i}(t)": x.derivative[i, t],
    r"\omega": omega,
    r"2 \pi": 2 * PI,
    r"z_{\pi(i)}": z[permutation("pi", n)(i)],
    r"[2 m + a]": value_of(join(m, a)),
    r"[c \bmod 2]": value_of(split(column, 2)[1]),
    r"\begin{bmatrix} b & c \\ t & 0 \end{bmatrix}_{a a}": table([[b, c], [t, 0]], a, a),
    r"\begin{cases} b, & i = j \\ c, & i \ne j \end{cases}": when(eq(i, j), b, c),
    r"\begin{cases} b, & c \le t \\ c, & c > t \end{cases}": when(le(c, t), b, c),
    r"\left(\begin{cases} b, & i = j \\ c, & i \ne j \end{cases}\right) t": when(eq(i, j), b, c) * t,
    r"\frac{\mathrm{d}}{\mathrm{d} t} \left[t b\right]_{t = 0}": derivative(t, t * b, 0),
    r"\frac{\mathrm{d}}{\mathrm{d} t} \left[x_{i}(t)\right]": derivative(t, x[i, t], t),
    r"\lim_{b \to \infty} (b + c) = 0": tends(b, b + c, INFINITY, 0),
    r"\forall j \ne i\colon c \le z_{j}": forall(j, le(c, z[j]), where=[ne(j, i)]),
    r"\mathbf{E}_{u \in U}\left[R_{u}^{2}\right] - \mathbf{E}_{u \in U}\left[R_{u}\right]^{2}": expectation(u, R[u] ** 2) - expectation(u, R[u]) ** 2,
    r"\mathbf{E}_{u \in U}\left[1\right]": expectation(u, number(1)),
    r"b \mathbf{E}_{u \in U}\left[\frac{R_{u}}{c}\right]": b * expectation(u, R[u] / c),
    r"\forall u \in U\colon b \le c": forall(u, le(b, c)),
    r"1 \left(-\tfrac{2}{3}\right) \frac{1}{b}": Term("mul", (number(1), rational(-2, 3), b**-1)),
    r"(2 m + a)_{2 M} = 2 l + a": eq(join(m, a), join(index("l", M), a)),
    r"\mathit{pos}": variable("pos"),
    r"f(b)": family("f", ANY_REAL)[b],
}  # fmt: skip


def printed(term):
    return Latex(Notation.of(term))(term)


@pytest.mark.parametrize("text", TEXTS)
def test_text(text):
    assert printed(TEXTS[text]) == text


def test_a_name_that_latex_lacks():
    with pytest.raises(
        RenderError, match="no LaTeX for the name 'é'; use Latin letters, digits, and Greek letters or their names"
    ):
        printed(variable("é"))


def test_running_text():
    parts = (Words("by softmax.sums_to_one at "), Formula("z := x_{i}"), Words(", 100% & <sure>"))
    assert running(parts) == r"by softmax.sums\_to\_one at \(z := x_{i}\), 100\% \& \(<\)sure\(>\)"
    with pytest.raises(RenderError, match="no LaTeX for '♥' in running text"):
        running((Words("♥"),))


@pytest.mark.parametrize("says", [r.says for r in RULES.values()] + list(LIMIT_RULES.values()))
def test_every_rule_has_words(says):
    assert running((Words(says),)).isascii()


# --- whole theorems ---------------------------------------------------------------------------------------------------

ENVIRONMENTS = {"align*", "bmatrix", "cases", "itemize"}
MACROS = {
    "frac", "tfrac", "sum", "sqrt", "left", "right", "begin", "end", "text", "operatorname", "mathrm", "mathit", "mathbf", "lim", "to",
    "infty", "le", "ge", "ne", "in", "forall", "colon", "Rightarrow", "mapsto", "cdot", "dot", "bmod", "lfloor", "rfloor", "log", "exp",
    "sin", "cos", "tanh", "max", "item", *(macro.lstrip("\\") for macro in MACROS_OF_LETTERS.values()), *"\\!_%&()[]{}#$",
}  # fmt: skip


def unbalanced(source):
    """What is opened and not closed, or closed and not opened, in the order in which TeX meets it."""
    pairs = {"}": "{", r"\right": r"\left", r"\)": r"\(", r"\]": r"\["}
    stack = []
    for token in re.findall(r"\\(?:begin|end)\{[^}]*\}|\\[A-Za-z]+|\\.|[{}]", source):
        if token in pairs.values() or token.startswith(r"\begin"):
            stack.append(token)
        elif token in pairs or token.startswith(r"\end"):
            opener = pairs.get(token, token.replace(r"\end", r"\begin"))
            if not stack or stack.pop() != opener:
                return token
    return stack or None


def test_unbalanced_is_found():
    assert unbalanced(r"\left(\frac{1}{2}\right)") is None
    assert unbalanced(r"\left(\frac{1}{2}") == [r"\left"]
    assert unbalanced(r"{\left(}\right)") == "}"


@pytest.mark.cases(12)
@pytest.mark.parametrize("claim", all_claims(), ids=lambda c: c.name)
def test_every_theorem_is_sound_latex(claim):
    source = latex_source(claim.theorem)
    body = re.sub(r"^%.*$", "", source, flags=re.MULTILINE)
    assert source.isascii() or source.split("\n", 1)[1].isascii()  # the first line is a comment with the author's words
    assert unbalanced(body) is None
    assert set(re.findall(r"\\([A-Za-z]+|.)", body)) <= MACROS
    assert set(re.findall(r"\\begin\{([^}]*)\}", body)) <= ENVIRONMENTS
    assert body.count(r"&& \text{(") == len(claim.theorem.steps)
    assert not re.search(r"_\{[^{}]*\}_|\^\{[^{}]*\}\^|'\^", body), "a double subscript or superscript"
