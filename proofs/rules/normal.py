"""TRUSTED. Normal forms: a real term becomes a polynomial in atoms, under the laws that a rule allows.

No law        + and *, whole powers; anything else is an atom whose parts are normal
"sums"        finite sums: linear; constant summand; delta; products of sums; exchange; permutation; c = minor * m + a;
              the last term of a sum over size + 1
"expectation" the same for expectations, which are integrals of mass 1: linear, exchanged with sums and with each other (so a
              product over different spaces factorises)
"trig"        sin and cos of sums; sin^2 + cos^2 = 1; exact values at multiples of pi/2
"exp"         exp of sums; log of products of positive terms; exp and log undo each other; real powers

Length: one class, whose methods call each other for the parts of a term.
Soundness: every law is an identity wherever both of its sides are defined. Two terms with one normal form are equal.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from math import lcm

from ..binders import substitute
from ..terms import ZERO, Term, free, key, number, sort_of
from . import sums
from .atoms import entry, exact, is_inverse, is_whole_number, undone
from .context import Context, Refused
from .elementary import exponential, logarithm, trigonometric
from .polynomial import (
    UNIT,
    Coefficient,
    Monomial,
    Polynomial,
    add,
    as_constant,
    as_product,
    as_sum,
    atom,
    constant,
    factors,
    reciprocal,
    scaled,
    times,
)


class Normal:
    """Normal forms in one context under some laws; `plain` keeps those under no law."""

    def __init__(self, laws: Iterable[str], context: Context):
        self.laws, self.context = frozenset(laws), context
        self.folded = {op for law, op in (("sums", "sum"), ("expectation", "expect")) if law in self.laws}
        self._doubtful: set[Term] = set()  # inverses that are known to exist where their monomial does not vanish
        self.units: dict[Term, int] = {}  # the denominator that the arguments of exp, sin, cos share, per monomial
        self._known: dict[tuple[Term, int], Polynomial] = {}

    def difference(self, left: Term, right: Term) -> Polynomial:
        """left - right, its inverses multiplied away: zero only if left = right."""
        while True:
            units = dict(self.units)
            result = self.cleared(add(self.polynomial(left, self.context), self.polynomial(right, self.context), -1))
            if units == self.units:
                return result
            self._known.clear()

    def polynomial(self, term: Term, at: Context) -> Polynomial:
        place = (term, at.depth)
        if place not in self._known:
            self._known[place] = self._polynomial(term, at)
        return self._known[place]

    def term(self, term: Term, at: Context) -> Term:
        """The normal term of any sort."""
        if sort_of(term) == "real":
            return as_sum(self.polynomial(term, at))
        return self._parts(term, at)

    def _polynomial(self, term: Term, at: Context) -> Polynomial:
        match term.op:
            case "number":
                return constant(term.data)
            case "add":
                total: Polynomial = {}
                for part in term.args:
                    total = add(total, self.polynomial(part, at))
                return total
            case "mul":
                product = constant(1)
                for part in term.args:
                    product = self.product(product, self.polynomial(part, at), at)
                return product
            case "power":
                return self._power(term, at)
            case "sum" | "expect":
                return sums.polynomial(self, term, at) if term.op in self.folded else self._plain_sum(term, at)
            case "delta":
                return self._delta(term.args[0], term.args[1], at)
            case "table":
                normal = self._parts(term, at)
                chosen = entry(normal)
                return atom(normal) if chosen is None else self.polynomial(chosen, at)
            case "when":
                return self._when(term, at)
            case "sin" | "cos" if "trig" in self.laws:
                return trigonometric(self, term, at)
            case "exp" if "exp" in self.laws:
                return exponential(self, self.polynomial(term.args[0], at), at)
            case "log" if "exp" in self.laws:
                return logarithm(self, self.polynomial(term.args[0], at), at)
            case "value" if term.args[0].op == "literal":
                return constant(term.args[0].data)
        parts = self._parts(term, at)
        value = exact(parts)
        if value is not None:
            return constant(value)
        if parts.op in ("erf", "tanh"):
            return self._odd(parts, at)
        return atom(parts)

    def _odd(self, term: Term, at: Context) -> Polynomial:
        """f(-u) = -f(u): of u and -u the one whose first monomial has a positive coefficient stands for both."""
        inside = self.polynomial(term.args[0], at)
        lead = inside[min(inside, key=lambda m: key(as_product(m)))]
        return atom(term) if lead > 0 else scaled(atom(Term(term.op, (as_sum(scaled(inside, -1)),))), -1)

    def _plain_sum(self, term: Term, at: Context) -> Polynomial:
        parts = self._parts(term, at)
        return {} if parts.args[1] == ZERO else atom(parts)

    def _parts(self, term: Term, at: Context) -> Term:
        """The same node with normal parts."""
        return undone(at.rebuilt(term, self.term))

    def product(self, p: Polynomial, q: Polynomial, at: Context) -> Polynomial:
        total: Polynomial = {}
        for a, c in p.items():
            for b, d in q.items():
                total = add(total, self.reduced(times(a, b), at), c * d)
        return total

    def power(self, p: Polynomial, exponent: int, at: Context) -> Polynomial:
        if exponent < 0:
            return self.power(self.inverse(p, at), -exponent, at)
        result = constant(1)
        for _ in range(exponent):
            result = self.product(result, p, at)
        return result

    def inverse(self, p: Polynomial, at: Context) -> Polynomial:
        """1/p: monomial by monomial where p is one, else an atom; p was checked not to vanish."""
        if len(p) == 1:
            ((monomial, c),) = p.items()
            result = constant(reciprocal(c))
            for term, e in monomial:
                undone = self.power(self.polynomial(term.args[0], at), e, at) if is_inverse(term) and e > 0 else None
                result = self.product(result, atom(term, -e) if undone is None else undone, at)
            return result
        if not p:
            raise Refused("a quotient by zero", number(0))
        lead = p[min(p, key=lambda m: key(as_product(m)))]
        return {frozenset({(Term("power", (as_sum(scaled(p, reciprocal(lead))), number(-1))), 1)}): reciprocal(lead)}

    def _power(self, term: Term, at: Context) -> Polynomial:
        exponent = self.polynomial(term.args[1], at)
        c = as_constant(exponent)
        if c is not None and c.denominator == 1 and -64 <= c <= 64:
            return self._whole_power(term.args[0], int(c), at)
        base = self.polynomial(term.args[0], at)
        if "exp" in self.laws:
            return exponential(self, self.product(exponent, logarithm(self, base, at), at), at)
        return atom(Term("power", (as_sum(base), as_sum(exponent))))

    def _whole_power(self, base: Term, exponent: int, at: Context) -> Polynomial:
        """The inverse of a product is the product of the inverses; its factors are not expanded first."""
        if exponent < 0 and base.op == "mul":
            result = constant(1)
            for factor in base.args:
                result = self.product(result, self._whole_power(factor, exponent, at), at)
            return result
        if exponent < 0 and base.op == "power" and is_whole_number(base.args[1]):
            return self._whole_power(base.args[0], exponent * int(base.args[1].data), at)
        return self.power(self.polynomial(base, at), exponent, at)

    def _delta(self, i: Term, j: Term, at: Context) -> Polynomial:
        i, j = sorted((self.term(i, at), self.term(j, at)), key=key)
        if i == j:
            return constant(1)
        if (i.op == j.op == "literal") or self.differ(i, j):
            return {}
        if i.op == j.op == "join" and i.args[2:] == j.args[2:]:
            major, minor = (self._delta(a, b, at) for a, b in zip(i.args[:2], j.args[:2], strict=True))
            return self.product(major, minor, at)
        return atom(Term("delta", (i, j)))

    def differ(self, i: Term, j: Term) -> bool:
        """Whether a guard says that two indices differ."""
        guards = (f.args for f in self.context.facts if f.op == "relation" and f.data == "ne")
        return any(pair in ((i, j), (j, i)) for pair in guards)

    def _when(self, term: Term, at: Context) -> Polynomial:
        condition, then, otherwise = term.args
        left, right = condition.args
        if isinstance(sort_of(left), Term):
            equal = as_constant(self._delta(left, right, at))
            if equal is not None:
                return self.polynomial(then if (equal == 1) == (condition.data == "eq") else otherwise, at)
        return atom(self._parts(term, at))

    def reduced(self, monomial: Monomial, at: Context) -> Polynomial:
        """A product of atoms, rewritten while a law applies to some factor."""
        for term, e in factors(monomial):
            rest = monomial - {(term, e)}
            if term.op == "delta" and e > 1:
                return self.reduced(rest | {(term, 1)}, at)
            if term.op == "delta" and e == 1 and "sums" in self.laws:
                for keep, replaced in (term.args, term.args[::-1]):
                    if (
                        replaced.op == "index"
                        and replaced not in free(keep)
                        and any(replaced in free(t) for t, _ in rest)
                    ):
                        moved = self.polynomial(substitute(as_product(rest), {replaced: keep}), at)
                        self.doubt({t for m in moved for t, _ in m} - {t for t, _ in rest})
                        return self.product(moved, {frozenset({(term, 1)}): 1}, at)
                    if replaced.op == "index":
                        break
            if term.op == "cos" and e >= 2 and "trig" in self.laws:
                sine = atom(Term("sin", term.args), 2)
                left = times(rest, frozenset({(term, e - 2)}) if e > 2 else UNIT)
                return self.product({left: 1}, add(constant(1), sine, -1), at)
            if term.op == "sqrt" and e not in (0, 1):
                inside = self.power(self.polynomial(term.args[0], at), e // 2, at)
                left = times(rest, frozenset({(term, 1)}) if e % 2 else UNIT)
                return self.product({left: 1}, inside, at)
        return {monomial: 1}

    def doubt(self, atoms: Iterable[Term]) -> None:
        """Notes inverses that a law moved to where their bases may vanish: beside a delta, or out of an empty sum."""
        self._doubtful.update(t for t in atoms if is_inverse(t))

    def _exists(self, inverse: Term) -> bool:
        from .sign import Sign  # which needs normal forms itself

        return inverse not in self._doubtful or Sign(self.context).nonzero(inverse.args[0])

    def cleared(self, p: Polynomial) -> Polynomial:
        """p times the bases of its inverse atoms, so that none is left but those whose bases may vanish."""
        while True:
            found = {t for m in p for t, e in m if is_inverse(t)}
            inverses = sorted(filter(self._exists, found), key=lambda t: -len(key(t)))
            if not inverses:
                return p
            target, base = inverses[0], self.polynomial(inverses[0].args[0], self.context)
            top = max(e for m in p for t, e in m if t == target)
            total: Polynomial = {}
            for m, c in p.items():
                e = dict(m).get(target, 0)
                left = {frozenset(f for f in m if f[0] != target): c}
                total = add(total, self.product(left, self.power(base, top - e, self.context), self.context))
            p = total

    def unit(self, monomial: Term, coefficient: Coefficient) -> int:
        """A denominator that serves every coefficient of this monomial in an argument of exp, sin or cos."""
        self.units[monomial] = lcm(self.units.get(monomial, 1), coefficient.denominator)
        return self.units[monomial]


@lru_cache(maxsize=256)
def plain(context: Context) -> Normal:
    """The normal forms under no law, which any step in this context shares."""
    return Normal((), context)
