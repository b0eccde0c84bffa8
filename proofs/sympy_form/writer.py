"""From terms to SymPy, node by node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import product
from typing import Any

import sympy
from sympy import S

from ..definitions import unfolded
from ..terms import ANY_REAL, FUNCTIONS, Family, Term, TermError, free, named, sort_of

ELEMENTARY = {op: sympy.Abs if op == "abs" else getattr(sympy, op) for op in FUNCTIONS}
_PLAIN = {"add": sympy.Add, "mul": sympy.Mul, "power": sympy.Pow, "max": sympy.Max, "implies": sympy.Implies, **ELEMENTARY}  # fmt: skip
_RELATIONS = {"eq": sympy.Eq, "ne": sympy.Ne, "le": sympy.Le, "lt": sympy.Lt}
_NATURAL = {"integer": True, "nonnegative": True}
Bound = tuple[tuple[Any, Term], ...]  # of each binder around a node, the innermost last: its value, and its range


class SympyFormError(TermError):
    """A term without a SymPy form, an instance without all its values, or a SymPy expression outside the language."""


class Writer:
    """`counts` has the sizes of an instance, and is None in general; `values` has its indices and index maps."""

    def __init__(self, symbols: Iterable[Any], counts: Mapping[Any, int] | None, values: Mapping[Any, Any]):
        self.counts, self.values = counts, values
        self._owners: dict[str, Any] = {}  # what each name of SymPy's stands for
        for symbol in symbols:
            self._own(named([symbol]), symbol)

    def write(self, term: Term, bound: Bound = (), evaluate: bool = True) -> Any:
        if term.op in ("sum", "expect", "forall", "derivative", "tends"):
            return self._binder(term, bound)
        if term.op == "apply":
            return self.write(unfolded(term), bound)
        if term.op == "table":
            return self._table(term, bound)
        if term.op in ("function", "domain"):
            raise SympyFormError(f"{term!r} has no SymPy form of its own: apply the function to its arguments")
        parts = [self.write(a, bound) for a in term.args]
        if term.op in _PLAIN:
            return _PLAIN[term.op](*parts)
        match term.op:
            case "relation":
                return _RELATIONS[term.data](*parts, evaluate=evaluate)
            case "when":
                return sympy.Piecewise((parts[1], parts[0]), (parts[2], True))
            case "bound":
                return bound[-1 - term.data][0]
            case "delta":
                i = term.args[0]
                size = bound[-1 - i.data][1] if i.op == "bound" else sort_of(i)
                return _delta(parts[0], parts[1], self.write(size))
            case "family":
                return self._entry(term.data, parts)
        return self._number(term, parts) if not parts else self._position(term, parts)

    def _number(self, term: Term, parts: list[Any]) -> Any:
        match term.op:
            case "number":
                return sympy.Rational(term.data.numerator, term.data.denominator)
            case "pi":
                return S.Pi
            case "infinity":
                return S.Infinity
            case "variable":
                return sympy.Symbol(term.data[0], **{term.data[1]: True})
            case "size":
                name, minimum = term.data
                general = sympy.Symbol(name, integer=True, **{"positive" if minimum else "nonnegative": True})
                return general if self.counts is None else sympy.Integer(self.counts[term])
        raise SympyFormError(f"{term!r}: no SymPy form for a node {term.op!r}")

    def _position(self, term: Term, parts: list[Any]) -> Any:
        """An index, as a whole number or an expression for one."""
        match term.op:
            case "value":
                return parts[0]
            case "literal":
                return sympy.Integer(term.data)
            case "index" if self.counts is None:
                return sympy.Symbol(term.data, **_NATURAL)
            case "index":
                return self._given(term, (), parts[0])
            case "map" if self.counts is None:
                return sympy.Function(term.data.name, **_NATURAL)(*parts)
            case "map":
                return self._given(term.data, parts, self.write(term.data.target))
            case "join":
                return parts[0] * parts[2] + parts[1]
            case "quotient":
                return sympy.floor(parts[0] / parts[1])
            case "remainder":
                return sympy.Mod(parts[0], parts[1])
        raise SympyFormError(f"{term!r}: no SymPy form for a node {term.op!r}")

    def _given(self, symbol: Any, arguments: Iterable[Any], size: Any) -> Any:
        """The value of an index, or of an index map at a place, in an instance."""
        value = self.values.get(symbol)
        try:
            for argument in arguments:
                value = value[argument]  # type: ignore[index]
        except (TypeError, LookupError):
            value = None
        if type(value) is not int or not 0 <= value < size:
            each = "a whole number" if isinstance(symbol, Term) else "at each place a whole number"
            found = self.values.get(symbol)
            raise SympyFormError(f"indices: {named([symbol])} is {found!r}; needed {each} below {size}")
        return sympy.Integer(value)

    def _entry(self, symbol: Family, parts: list[Any]) -> Any:
        """z[i]; a function of the real slots where there are any, and its derivative for the velocity of a curve."""
        moving = symbol.slots[-1:] == (ANY_REAL,) and symbol.derivative is None and symbol.name.startswith("d_")
        name, assumption = symbol.name.removeprefix("d_") if moving else symbol.name, {symbol.domain: True}
        reals = [p for p, s in zip(parts, symbol.slots, strict=True) if s.op == "domain"]
        if self.counts is not None and len(parts) > len(reals):
            places = [p for p, s in zip(parts, symbol.slots, strict=True) if s.op != "domain"]
            owner, name, parts = (name, *places), "_".join([name, *map(str, places)]), reals
            self._own(name, owner)
        if not parts:
            return sympy.Symbol(name, **assumption)
        if not reals:
            return sympy.IndexedBase(name, tuple(map(self.write, symbol.slots)), **assumption)[tuple(parts)]
        curve = sympy.Function(name, **assumption)
        if not moving:
            return curve(*parts)
        with self._fresh("t", real=True) as t:
            return sympy.Derivative(curve(*parts[:-1], t), t).subs(t, parts[-1])

    def _table(self, term: Term, bound: Bound) -> Any:
        """The sum of the entries, each times the delta of its place: a Piecewise under a Sum comes out with impossible cases."""
        indices, places = term.args[-len(term.data) :], product(*map(range, term.data))
        total = []
        for entry, at in zip(term.args, places, strict=False):
            here = [_delta(self.write(i, bound), k, n) for i, k, n in zip(indices, at, term.data, strict=True)]
            if S.Zero not in here:  # an entry elsewhere need not have a value
                total.append(sympy.Mul(self.write(entry, bound), *here))
        return sympy.Add(*total)

    def _binder(self, term: Term, bound: Bound) -> Any:
        first, hint = term.args[0], term.hints[0]
        if term.op == "expect":
            raise SympyFormError(f"an expectation over {first!r}: SymPy has random symbols of known distributions only")
        if term.op in ("sum", "forall"):
            return self._ranging(term.op, first, term.args[1], hint, bound)
        point = term.args[1]
        if term.op == "derivative" and point.op == "variable" and point.data[0] == hint and point not in free(first):
            t = self.write(point)
            return sympy.Derivative(self.write(first, (*bound, (t, ANY_REAL))), t)
        with self._fresh(hint, real=True) as t:
            body, at = self.write(first, (*bound, (t, ANY_REAL))), self.write(point, bound)
            if term.op == "derivative":
                return sympy.Subs(sympy.Derivative(body, t), t, at)
            limit = sympy.Limit(body, t, at, "-" if at == S.Infinity else "+-")
            return sympy.Eq(limit, self.write(term.args[2], bound), evaluate=False)

    def _ranging(self, op: str, range_: Term, body: Term, hint: str, bound: Bound) -> Any:
        """A sum, or a proposition for all of a range; written out in an instance."""
        if self.counts is not None and range_.op != "domain":
            parts = [self.write(body, (*bound, (sympy.Integer(k), range_))) for k in range(self.write(range_))]
            return sympy.Add(*parts) if op == "sum" else sympy.And(*parts)
        if op == "forall":
            raise SympyFormError(
                f"for all {hint}: SymPy has no quantifier, and only a range of known size is written out"
            )
        with self._fresh(hint, **_NATURAL) as i:
            return sympy.Sum(self.write(body, (*bound, (i, range_))), (i, 0, self.write(range_) - 1))

    def _own(self, name: str, owner: Any) -> None:
        if self._owners.setdefault(name, owner) != owner:
            raise SympyFormError(
                f"two things would be named {name} in SymPy, which could not tell them apart; rename one"
            )

    @contextmanager
    def _fresh(self, hint: str, **assumptions: bool) -> Iterator[Any]:
        """A symbol for a binder under a name that nothing else has here, since SymPy's own substitution captures."""
        while hint in self._owners:
            hint += "'"
        self._owners[hint] = hint
        yield sympy.Symbol(hint, **assumptions)
        del self._owners[hint]


def _delta(i: Any, j: Any, size: Any) -> Any:
    """Kronecker's delta together with its range, without which SymPy sums it to a Piecewise."""
    return sympy.KroneckerDelta(i, j, (0, size - 1))
