"""The words that statements and proofs are written in, and the symbols with the assumptions they carry everywhere."""

from __future__ import annotations

from typing import Any

from .binders import derivative, expectation, forall, function, sum_, tends
from .definitions import Definition
from .terms import (
    ANY_REAL,
    INFINITY,
    ONE,
    PI,
    ZERO,
    Family,
    IndexMap,
    Term,
    apply_function,
    choice,
    curve,
    delta,
    family,
    implies,
    index,
    join,
    literal,
    maximum,
    number,
    outcome,
    permutation,
    rational,
    relation,
    size,
    space,
    split,
    table,
    value_of,
    variable,
    when,
)


def exp(x: Any) -> Term:
    return apply_function("exp", x)


def log(x: Any) -> Term:
    return apply_function("log", x)


def sqrt(x: Any) -> Term:
    return apply_function("sqrt", x)


def sin(x: Any) -> Term:
    return apply_function("sin", x)


def cos(x: Any) -> Term:
    return apply_function("cos", x)


def tanh(x: Any) -> Term:
    return apply_function("tanh", x)


def erf(x: Any) -> Term:
    return apply_function("erf", x)


def absolute(x: Any) -> Term:
    return apply_function("abs", x)


def eq(left: Any, right: Any) -> Term:
    return relation("eq", left, right)


def ne(left: Any, right: Any) -> Term:
    return relation("ne", left, right)


def le(left: Any, right: Any) -> Term:
    return relation("le", left, right)


def lt(left: Any, right: Any) -> Term:
    return relation("lt", left, right)


n = size("n")  # tokens, or classes
M = size("M")  # frequency pairs; d_model = 2 M
i, j, l, r = (index(name, n) for name in "ijlr")
z = family("z", n)  # logits
t = variable("t")  # along a curve, or time

__all__ = [
    "ANY_REAL", "INFINITY", "ONE", "PI", "ZERO", "Definition", "Family", "IndexMap", "M", "Term", "absolute", "choice",
    "cos", "curve", "delta", "derivative", "eq", "erf", "exp", "expectation", "family", "forall", "function", "i", "implies", "index", "j",
    "join", "l", "le", "literal", "log", "lt", "maximum", "n", "ne", "number", "outcome", "permutation", "r", "rational", "sin", "size", "space",
    "split", "sqrt", "sum_", "t", "table", "tanh", "tends", "value_of", "variable", "when", "z",
]  # fmt: skip
