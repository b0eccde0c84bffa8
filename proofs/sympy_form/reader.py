"""From SymPy to terms: the part of SymPy that the language has, and a refusal of everything else."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import sympy
from sympy import S

from ..binders import close
from ..terms import PI, Family, Term, TermError, delta, extent, literal, number, sort_of, value_of
from .writer import ELEMENTARY, SympyFormError

_PLAIN = {f: op for op, f in ELEMENTARY.items() if op != "sqrt"}
_NO_NUMBERS = (S.ComplexInfinity, S.NaN, S.Infinity, S.NegativeInfinity)
Scope = Mapping[Any, Term]  # what each bound symbol of SymPy's stands for


def from_sympy(expression: Any, names: Mapping[Any, Any]) -> Term:
    """A SymPy expression as a real term.

    `names` says what its symbols stand for: {"z": a family, "i": an index, "n": a size, x: a variable}; a key is a Symbol or an
    IndexedBase, or its name. An index where a number is needed is its value. What is read is what SymPy kept of its input.
    Raises SympyFormError for a symbol without a meaning, for zoo, nan and oo, for a float, for a range that is not 0..size-1,
    and for whatever else the language does not have; TermError where a part is of another sort or range than its place.
    """
    if isinstance(expression, int | Fraction):
        return number(expression)
    if not isinstance(expression, sympy.Expr):
        raise SympyFormError(f"{expression!r} is of the type {type(expression).__name__}; needed a SymPy expression")
    return _Reader(names).real(expression, {})


class _Reader:
    def __init__(self, names: Mapping[Any, Any]):
        self.names = names

    def real(self, e: Any, scope: Scope) -> Term:
        if e in _NO_NUMBERS:
            raise SympyFormError(f"{e} is no number: a quotient by 0, or a limit, was evaluated before it came here")
        if isinstance(e, sympy.Float):
            raise SympyFormError(f"{e} is a float, which has no place in a proof; needed a Rational")
        if isinstance(e, sympy.Rational):
            return number(Fraction(int(e.p), int(e.q)))
        if e is S.Pi:
            return PI
        if e.is_Symbol:
            found = self.meaning(e, scope)
            return value_of(found) if isinstance(sort_of(found), Term) else found
        if e.is_Add:
            return Term("add", tuple(self.real(a, scope) for a in e.as_ordered_terms()))
        if e.is_Mul:
            return Term("mul", tuple(self.real(a, scope) for a in e.as_ordered_factors()))
        if e is S.Exp1 or e.func in _PLAIN:  # SymPy has exp(1) as a number of its own
            return Term(_PLAIN.get(e.func, "exp"), (self.real(S.One if e is S.Exp1 else e.args[0], scope),))
        if e.is_Pow:
            return self.power(e, scope)
        if isinstance(e, sympy.Indexed):
            return self.entry(e, scope)
        if isinstance(e, sympy.KroneckerDelta):
            return self.delta(e, scope)
        if isinstance(e, sympy.Sum):
            return self.sum(e, list(e.limits), scope)
        raise SympyFormError(
            f"{e} is a {e.func.__name__}, which is not read; needed numbers, symbols, +, *, powers, {', '.join(ELEMENTARY)}, "
            "Indexed, KroneckerDelta and Sum"
        )

    def meaning(self, symbol: Any, scope: Scope) -> Any:
        name = str(symbol.name if symbol.is_Symbol else symbol.label)
        found = scope.get(symbol, self.names.get(symbol, self.names.get(name)))
        if found is None:
            known = ", ".join(sorted(map(str, self.names))) or "nothing"
            raise SympyFormError(f"{name} has no meaning: give it in names={{{name!r}: ...}}, which has {known}")
        if isinstance(found, Family) == symbol.is_Symbol or not isinstance(found, Term | Family):
            needed = "a variable, a size or an index" if symbol.is_Symbol else "a family"
            raise SympyFormError(f"{name} stands for {found!r}; needed {needed}")
        return found

    def power(self, e: Any, scope: Scope) -> Term:
        base, exponent = e.as_base_exp() if e.exp.is_Rational else (e.base, e.exp)
        if exponent.is_Rational and exponent.q == 2:  # SymPy has no square root of its own
            root = Term("sqrt", (self.real(base, scope),))
            return root if exponent == S.Half else root ** int(exponent.p)
        return Term("power", (self.real(base, scope), self.real(exponent, scope)))

    def position(self, e: Any, scope: Scope, size: Term | None) -> Term:
        """An index into a range of this size, or into its own where None is needed."""
        found = (
            self.meaning(e, scope)
            if e.is_Symbol
            else literal(int(e), size)
            if e.is_Integer and size is not None
            else None
        )
        own = None if found is None else sort_of(found)
        if found is not None and isinstance(own, Term) and size in (None, own):
            return found
        wanted = f"it has the size {own!r}" if isinstance(own, Term) else "needed a whole number or an index symbol"
        raise SympyFormError(f"{e} is not read as an index into a range of size {size!r}; {wanted}")

    def entry(self, e: Any, scope: Scope) -> Term:
        family = self.meaning(e.base, scope)
        if len(family.slots) != len(e.indices):
            raise TermError(f"{e}: {family.name} has {len(family.slots)} slots, found {len(e.indices)} indices")
        pairs = zip(e.indices, family.slots, strict=True)
        return family[tuple(self.real(i, scope) if s.op == "domain" else self.position(i, scope, s) for i, s in pairs)]

    def delta(self, e: Any, scope: Scope) -> Term:
        i, j = e.args[:2]
        first, second = (i, j) if i.is_Symbol else (j, i)
        left = self.position(first, scope, None)
        if len(e.args) == 3 and self.size(e.args[2][0], e.args[2][1], e) != sort_of(left):
            raise SympyFormError(f"{e}: its range is not that of {first}, which has the size {sort_of(left)!r}")
        right = self.position(second, scope, sort_of(left))
        return delta(left, right) if first is i else delta(right, left)

    def sum(self, e: Any, limits: list[Any], scope: Scope) -> Term:
        """The limits of a SymPy sum go from the innermost to the outermost; a bound may speak of those outside it."""
        if not limits:
            return self.real(e.function, scope)
        *inner, (symbol, lower, upper) = limits
        size = self.size(lower, upper, e)
        hint = symbol.name.rstrip("'")
        bound = Term("index", (size,), f"{len(scope)}'{hint}")  # a name that no declared symbol has
        return Term("sum", (size, close(self.sum(e, inner, {**scope, symbol: bound}), (bound,))), None, (hint,))

    def size(self, lower: Any, upper: Any, e: Any) -> Term:
        """The size of the range lower..upper."""
        try:
            if lower == 0:
                return extent(self.real(upper + 1, {}))
        except TermError as problem:
            raise SympyFormError(f"{e}: {lower}..{upper} is not read as a range: {problem}") from problem
        raise SympyFormError(f"{e}: it ranges over {lower}..{upper}; needed 0..size-1, so shift the index")
