"""From SymPy and back again; what SymPy has and the language has not is refused."""

from contextlib import suppress
from random import Random

import pytest
import sympy
from sympy import Derivative, IndexedBase, KroneckerDelta, Piecewise, Sum, Symbol, nan, oo, symbols, zoo

from proofs.evaluate import Point, evaluate, mp
from proofs.notation import (
    PI,
    M,
    absolute,
    delta,
    exp,
    family,
    i,
    index,
    j,
    l,
    literal,
    n,
    number,
    rational,
    sqrt,
    sum_,
    value_of,
    variable,
    z,
)  # fmt: skip
from proofs.rules.context import Context
from proofs.rules.normal import Normal
from proofs.sympy_form import SympyFormError, from_sympy, to_sympy
from proofs.terms import REAL, TermError, apply_function
from proofs.well_typed import sort

x, y = variable("x"), variable("y", "positive")
q, c, m = family("q", n, M), family("c", 2 * M), index("m", M)
NAMES = {"x": x, "y": y, "n": n, "M": M, "i": i, "j": j, "m": m, "z": z, "q": q, "c": c}
FUNCTIONS = ("exp", "log", "sqrt", "sin", "cos", "tanh", "erf", "abs")

N, I = Symbol("n"), Symbol("i")
Z, Q = IndexedBase("z"), IndexedBase("q")
X, K, L = symbols("x k l")


class Terms:
    """Random terms of the fragment, under nested sums with confusing names."""

    def __init__(self, seed):
        self.random = Random(seed)

    def leaf(self, indices):
        a, b = (self.random.choice(indices) for _ in range(2))
        numbers = [number(self.random.randint(-3, 3)), rational(2, 3), PI, n, M]
        return self.random.choice(
            [x, y, z[a], z[0], q[a, m], delta(a, b), delta(a, literal(0, n)), value_of(a), *numbers]
        )

    def real(self, depth, indices=(i, j)):
        if depth == 0:
            return self.leaf(indices)
        bound = self.random.choice([l, i, index("x", n), index("k", n)])
        first, second = self.real(depth - 1, indices), self.real(depth - 1, indices)
        return self.random.choice([
            lambda: first + second, lambda: first - second, lambda: first * second, lambda: first / (1 + second**2),
            lambda: (1 + first**2) ** rational(self.random.choice([1, -1, 3]), self.random.choice([2, 3])), lambda: first**2,
            lambda: y ** (first / 4), lambda: apply_function(self.random.choice(FUNCTIONS), first),
            lambda: sum_(bound, self.real(depth - 1, (*indices, bound))), lambda: sum_(m, first * q[i, m]),
            lambda: sum_(index("c", 2 * M), c[index("c", 2 * M)] + first),
        ])()  # fmt: skip


def same(read, term) -> bool:
    """By one normal form, or else by value wherever the term has one, at three points at least."""
    if not Normal(("sums", "exp"), Context()).difference(read, term):
        return True
    values = []
    for point in map(Point, range(12)):
        with suppress(ZeroDivisionError):
            values.append((evaluate(term, point), point))
    finite = [(a, evaluate(read, point)) for a, point in values if mp.isfinite(a)]
    assert len(finite) >= 3
    return all(abs(a - b) <= mp.mpf(10) ** -20 * (1 + abs(a)) for a, b in finite)  # they may be complex


def with_a_value(seed):
    """A random term and its SymPy form; log(-1) and the like have none."""
    terms = Terms(seed)
    for _ in range(50):
        term = terms.real(terms.random.randint(1, 3))
        with suppress(SympyFormError):
            return term, to_sympy(term)
    raise AssertionError("no term has a SymPy form")


@pytest.mark.parametrize("seed", range(60))
def test_there_and_back_again(seed):
    term, written = with_a_value(seed)
    assert sort(from_sympy(written, NAMES)) == REAL
    assert same(from_sympy(written, NAMES), term)
    assert not same(from_sympy(written + 1, NAMES), term)


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [range(k, k + 100) for k in range(1000, 3000, 100)], ids=str)
def test_there_and_back_again_at_length(seeds):
    for seed in seeds:
        term, written = with_a_value(seed)
        assert same(from_sympy(written, NAMES), term), seed


@pytest.mark.parametrize(
    ("expression", "term"),
    [
        (3, number(3)),
        (sympy.Rational(2, 3) * X, rational(2, 3) * x),
        (sympy.E, exp(1)),
        (sympy.sqrt(X), sqrt(x)),
        (1 / sympy.sqrt(X), sqrt(x) ** -1),
        (X ** sympy.Rational(2, 3), x ** rational(2, 3)),
        (sympy.Abs(X) + N, n + absolute(x)),
        (I * Z[I], value_of(i) * z[i]),
        (Z[2 - 2], z[0]),
        (KroneckerDelta(I, 0), delta(literal(0, n), i)),
        (KroneckerDelta(I, K, (0, N - 1)), delta(i, j)),
        (Sum(Z[K], (K, 0, N - 1)), sum_(j, z[j])),
        (Sum(Z[I] * X, (X, 0, N - 1)), sum_(j, z[i] * value_of(j))),
        (Sum(K * I, (K, 0, 2 * Symbol("M") - 1)), sum_(index("c", 2 * M), value_of(i) * value_of(index("c", 2 * M)))),
        (Sum(Z[K] * Z[I], (K, 0, N - 1), (I, 0, N - 1)), sum_([i, j], z[i] * z[j])),
        (Sum(Q[K, L], (L, 0, Symbol("M") - 1), (K, 0, N - 1)), sum_([i, m], q[i, m])),
    ],
)  # fmt: skip
def test_what_is_read(expression, term):
    assert not Normal((), Context()).difference(from_sympy(expression, {**NAMES, "k": j}), term)


def test_a_bound_symbol_never_captures():
    """k stands for our index i, and the sum is over SymPy's symbol i: two different indices."""
    assert from_sympy(Sum(Z[I] * Z[K], (I, 0, N - 1)), {**NAMES, "k": i}) == sum_(j, z[j] * z[i])
    plain, whole = Symbol("k"), Symbol("k", integer=True)
    nested = Sum(Z[plain] * Sum(Z[plain] * Z[whole], (whole, 0, N - 1)), (plain, 0, N - 1))
    assert from_sympy(nested, NAMES) == sum_(i, z[i] * sum_(j, z[i] * z[j]))


def test_sympy_has_rearranged_what_it_is_given():
    """So a term may come back simpler, and defined at more points, than what was written."""
    assert from_sympy(0 / X + (X + 1) / (X + 1) - X + X, NAMES) == number(1)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        (zoo, "zoo is no number: a quotient by 0, or a limit, was evaluated before it came here"),
        (nan, "nan is no number"),
        (oo, "oo is no number"),
        (X + 1 / sympy.Integer(0), "zoo is no number"),
        (sympy.Mul(X, -oo, evaluate=False), "-oo is no number"),
        (0.5 * X, "0.500000000000000 is a float, which has no place in a proof; needed a Rational"),
        (sympy.I * X, "I is a ImaginaryUnit, which is not read; needed numbers, symbols, +, *, powers, exp"),
        (Derivative(sympy.sin(X), X), "is a Derivative, which is not read"),
        (Piecewise((X, X > 0), (0, True)), "is a Piecewise, which is not read"),
        (sympy.tan(X), "tan(x) is a tan, which is not read"),
        (Symbol("w"), "w has no meaning: give it in names={'w': ...}, which has M, c, i, j, m, n, q, x, y, z"),
        (IndexedBase("w")[I], "w has no meaning"),
        (Symbol("z") + 1, "z stands for Family"),
        (IndexedBase("x")[I], "x stands for x; needed a family"),
        (Z[I, I], "z has 1 slots, found 2 indices"),
        (Z[2 * I], "2*i is not read as an index into a range of size n; needed a whole number or an index symbol"),
        (Z[Symbol("m")], "m is not read as an index into a range of size n; it has the size M"),
        (Z[X], "x is not read as an index into a range of size n; needed"),
        (Z[3], "3 is not known to be an index into a range of size n"),
        (KroneckerDelta(I, Symbol("m")), "m is not read as an index into a range of size n; it has the size M"),
        (KroneckerDelta(I, Symbol("j"), (0, Symbol("M") - 1)), "its range is not that of i, which has the size n"),
        (KroneckerDelta(2 * I, 4), "is not read as an index"),
        (Sum(Z[K], (K, 1, N)), "it ranges over 1..n; needed 0..size-1, so shift the index"),
        (Sum(Z[K], (K, 0, N)), "k is not read as an index into a range of size n; it has the size add(n, 1)"),
        (Sum(Z[K], (K, 0, X)), "0..x is not read as a range"),
        (Sum(Z[K], (K, 0, oo)), "0..oo is not read as a range"),
        (sympy.Eq(X, 1), "of the type Equality; needed a SymPy expression"),
        ("x + 1", "'x + 1' is of the type str; needed a SymPy expression"),
    ],
)  # fmt: skip
def test_anything_else_is_refused(expression, message):
    with pytest.raises(TermError) as caught:
        from_sympy(expression, NAMES)
    assert message in str(caught.value)
