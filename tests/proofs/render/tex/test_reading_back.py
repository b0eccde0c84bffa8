"""The reader of fragments: it finds every formula, and refuses any fragment that differs from its page."""

import random
import re

import pytest

from proofs.registry import all_claims
from proofs.render.gate import GateError
from proofs.render.latex import Latex
from proofs.render.tex import LAYOUTS, fragment
from proofs.render.tex.reading_back import require_same
from proofs.render.tex.unlaid import NotLaidOutError, tokens_of, unlaid
from proofs.render.theorem import page

from .samples import theorem

COLUMN = LAYOUTS["column"]
JACOBIAN = page(theorem("softmax_jacobian.jacobian"), Latex)
TEXT = fragment(theorem("softmax_jacobian.jacobian"), COLUMN).text
MATH = re.compile(
    r"\\\((?P<inline>.*?)\\\)|(?<=\{\} & )(?P<step>.*?)(?= && \\notag)|(?<= & = )(?P<body>.*?)(?= \\\\\n|\n)"
)
SAYS_SOMETHING = re.compile(
    r"[A-Za-z0-9+=<>'-]|\\(?:frac|sum|delta|mathrm|operatorname|sqrt|le|exp|left|Biggl|biggl)\b"
)
OTHERS = ("a", "7", "+", "-", "=", "<", r"\delta ", r"\sum ", r"\mu ", "'", "_", "^", "(", ")", "{", "}")


def refused(text, found=JACOBIAN, layout=COLUMN):
    with pytest.raises(GateError) as caught:
        require_same(text, found, layout)
    return str(caught.value)


def changed(text, random_):
    """The text with one token of a formula left out, doubled, or replaced by another."""
    formula = random_.choice([m for m in MATH.finditer(text) if m[0]])
    tokens = [m for m in SAYS_SOMETHING.finditer(text, *formula.span()) if m[0]]
    at = random_.choice(tokens)
    new = random_.choice(["", at[0] + " " + at[0], *(other for other in OTHERS if other != at[0])])
    return text[: at.start()] + new + text[at.end() :]


def mutations(name, count):
    random_, text = random.Random(name), fragment(theorem(name), COLUMN).text
    found = page(theorem(name), Latex)
    for _ in range(count):
        wrong = changed(text, random_)
        try:
            require_same(wrong, found, COLUMN)
        except GateError:
            continue
        at = next(k for k, (a, b) in enumerate(zip(text, wrong, strict=False)) if a != b)
        raise AssertionError(f"{wrong[at - 60 : at]} >>> {wrong[at : at + 60]}")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["softmax_jacobian.jacobian", "shift_instances.instance_of_two"])
def test_one_wrong_token_is_refused(name):
    mutations(name, 150)


@pytest.mark.slow
@pytest.mark.parametrize("name", [c.name for c in all_claims()][::24])
def test_many_wrong_tokens_are_refused(name):
    mutations(name, 500)


def test_a_hand_made_wrong_page_is_refused():
    wrong = TEXT.replace(r"(\delta_{i j} - \operatorname", r"(\delta_{i j} + \operatorname", 1)
    assert refused(wrong).startswith("softmax_jacobian.jacobian, formula 7 of the fragment: found")


def test_a_formula_that_is_hidden_is_missed():
    for part, what in ((r"= {} & \frac{\delta", "formula"), ("laws of finite sums}", "the labels of the fragment")):
        line = next(line for line in TEXT.splitlines() if part in line)
        assert what in refused(TEXT.replace(line, "%" + line))


def test_a_formula_too_many_is_seen():
    assert "found 22, needed 21" in refused(TEXT + "\nand \\(a = b\\)\n")


def test_a_label_that_is_lost_or_wrong_is_seen():
    assert "the labels of the fragment" in refused(TEXT.replace(r"\label{eq:softmax_jacobian.jacobian:2}", ""))
    assert "the labels of the fragment" in refused(TEXT.replace("jacobian:2}", "jacobian:3}"))


@pytest.mark.parametrize(
    "foreign",
    [
        r"\iffalse",
        r"\def\delta{\mu}",
        "$a = b$",
        r"\[a\]",
        r"\begin{comment}",
        r"\input{other}",
        "a % b",
        r"\textbf{x}",
    ],
)
def test_what_no_fragment_has_is_refused(foreign):
    assert "no fragment has" in refused(TEXT.replace("No other theorem", foreign + "\nNo other theorem"))


def test_a_formula_among_the_words_is_refused():
    assert "a formula stands among the words" in refused(TEXT.replace("No other", r"\ensuremath{a+b} No other"))


@pytest.mark.parametrize(
    ("laid_out", "plain"),
    [
        (r"\begin{aligned}[t] & a \\ & \quad + b \end{aligned}", "a + b"),
        (r"\frac{\begin{aligned} & a \\ & + b \end{aligned}}{\displaystyle c}", r"\frac{a + b}{c}"),
        (r"f\biggl(x,\allowbreak y\biggr)_{i}", r"f\!\left(x, y\right)_{i}"),
        (r"\rlap{$\displaystyle a = \mbox{\tiny\arraycolsep=2pt $b$}$}", "a = b"),
        (r"x^{\begin{subarray}{l} a \\ \quad + b \end{subarray}}", "x^{a + b}"),
        (
            r"\begin{bmatrix} \begin{gathered} a \\ + b \end{gathered} & c \\ d & e \end{bmatrix}",
            r"\begin{bmatrix} a + b & c \\ d & e \end{bmatrix}",
        ),
    ],
)
def test_layout_is_nothing(laid_out, plain):
    assert unlaid(tokens_of(laid_out)) == unlaid(tokens_of(plain))


@pytest.mark.parametrize(
    "wrong",
    [r"\begin{aligned} & a", r"a & b", r"a \\ b", r"\end{aligned}", r"\mbox{a}", r"\begin{array} a \end{array}",
     r"\rlap{$\displaystyle a$", r"\begin{bmatrix} a \end{cases}", r"\rlap{$\displaystyle a$ b}"],
)  # fmt: skip
def test_layout_that_is_not_closed_is_refused(wrong):
    with pytest.raises(NotLaidOutError):
        unlaid(tokens_of(wrong))


def test_cells_of_a_table_are_something():
    assert unlaid(tokens_of(r"\begin{cases} a & b \end{cases}")) != unlaid(tokens_of(r"\begin{cases} a b \end{cases}"))


def test_a_layout_is_not_the_other():
    assert "formula" in refused(TEXT, layout=LAYOUTS["wide"])
