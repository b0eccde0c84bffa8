"""Random rational points for SymPy expressions, and their values there."""

from random import Random

import sympy

DIGITS = 30


def drawn(symbol, seed) -> sympy.Rational:
    """A rational for a symbol or a curve, the same for one name and seed."""
    rng = Random(f"{symbol.name} {seed}")
    if symbol.is_integer:
        return sympy.Integer(rng.randint(-5, 5))
    return sympy.Rational(rng.randint(1 if symbol.is_nonnegative else -200, 200), 100)


def value(expression, seed):
    """Every symbol a rational, every curve a sine of its own, derivatives taken by SymPy: a number of 40 digits."""
    known = expression.replace(
        lambda e: isinstance(e, sympy.core.function.AppliedUndef),
        lambda f: drawn(f.func, seed) * sympy.sin(f.args[-1] + drawn(f.func, -1 - seed)),
    )
    done = known.doit()
    return done.xreplace({s: drawn(s, seed) for s in done.free_symbols}).evalf(DIGITS + 10)
