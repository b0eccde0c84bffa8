"""TRUSTED. Which terms are positive, non-negative or non-zero, from their shape and from what is given.

The search is goal-directed and gives up rather than guess: False means "not known".
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

from ..binders import instantiate
from ..definitions import unfolded
from ..terms import ONE, ZERO, Term, number, sort_of
from .context import Context
from .normal import Normal
from .polynomial import Polynomial, add, as_constant, as_sum, atom, constant, times

_DEPTH = 2  # how deep guards of given facts may refer to other facts


class Sign:
    """Signs in one context."""

    def __init__(self, context: Context, depth: int = _DEPTH, normal: Normal | None = None):
        self.context, self.depth = context, depth
        self._normal = normal or Normal((), context)
        self._answers: dict[tuple[str, Term], bool] = {}
        self._next: Sign | None = None
        self._instantiated: dict[tuple[Term, ...], list[Term]] = {}

    def holds(self, proposition: Term) -> bool:
        """Whether a relation, or a universal or conditional one, is known."""
        if proposition in self.context.facts:
            return True
        match proposition.op:
            case "forall":
                _, body, inside = self.context.opened(proposition)
                return Sign(inside, self.depth).holds(body)
            case "implies":
                guard, body = proposition.args
                return Sign(self.context.given([guard]), self.depth).holds(body)
            case "relation":
                return self._relation(proposition)
        return any(f == proposition for f in self.context.facts)

    def _shallower(self) -> Sign:
        """The same, with one more fact used up."""
        if self._next is None:
            self._next = Sign(self.context, self.depth - 1, self._normal)
        return self._next

    def _relation(self, relation: Term) -> bool:
        left, right = relation.args
        if isinstance(sort_of(left), Term):
            return self._indices(relation.data, left, right)
        if any(f == relation for f in self.context.facts):
            return True
        match relation.data:
            case "eq":
                return not self._normal.difference(left, right) or self.equal(left, right)
            case "ne":
                return self.nonzero(right - left)
            case "le":
                return self.nonnegative(right - left) if left != ZERO else self.nonnegative(right)
        return self.positive(right - left) if left != ZERO else self.positive(right)

    def equal(self, left: Term, right: Term) -> bool:
        """Whether an equation of numbers is given."""
        return self._given("eq", right - left)

    def _indices(self, name: str, left: Term, right: Term) -> bool:
        normal = self._normal
        equal = as_constant(normal.polynomial(Term("delta", (left, right)), self.context))
        return equal == (1 if name == "eq" else 0)

    def positive(self, term: Term) -> bool:
        return self._known("positive", term)

    def nonnegative(self, term: Term) -> bool:
        return self._known("nonnegative", term)

    def nonzero(self, term: Term) -> bool:
        return self._known("nonzero", term)

    def _known(self, what: str, term: Term) -> bool:
        if (what, term) not in self._answers:
            self._answers[what, term] = False  # while it is looked for
            self._answers[what, term] = getattr(self, "_" + what)(term) or self._by_parts(what, term)
        return self._answers[what, term]

    def _positive(self, term: Term) -> bool:
        match term.op:
            case "number":
                return bool(term.data > 0)
            case "pi" | "exp":
                return True
            case "variable" | "family":
                domain = term.data[1] if term.op == "variable" else term.data.domain
                return domain == "positive" or self._given("positive", term)
            case "size":
                return bool(term.data[1] >= 1)
            case "add":
                signs = all(self.nonnegative(a) for a in term.args) and any(self.positive(a) for a in term.args)
                return signs or self._given("positive", term)
            case "mul":
                return self._product(term) == 1 or self._given("positive", term)
            case "power":
                return self._power_positive(term) or self._given("positive", term)
            case "sqrt":
                return self.positive(term.args[0])
            case "abs":
                return self.nonzero(term.args[0])
            case "max":
                return any(map(self.positive, term.args)) or self._given("positive", term)
            case "sum":
                return self._sum(term, "positive") or self._given("positive", term)
            case "when" | "table":
                return self._branches(term, "positive") or self._given("positive", term)
            case "apply":
                return self._given("positive", term) or self.positive(unfolded(term))
        return self._given("positive", term)

    def _nonnegative(self, term: Term) -> bool:
        if self.positive(term):
            return True
        match term.op:
            case "number":
                return bool(term.data >= 0)
            case "size" | "delta" | "sqrt" | "abs" | "value":
                return True
            case "variable" | "family":
                domain = term.data[1] if term.op == "variable" else term.data.domain
                return domain == "nonnegative" or self._given("nonnegative", term)
            case "add":
                return all(map(self.nonnegative, term.args)) or self._given("nonnegative", term)
            case "mul":
                return self._product(term) is not None or self._given("nonnegative", term)
            case "power":
                base, exponent = term.args
                even = exponent.op == "number" and exponent.data.denominator == 1 and exponent.data % 2 == 0
                return even or self.nonnegative(base) or self._given("nonnegative", term)
            case "max":
                return any(map(self.nonnegative, term.args))
            case "sum":
                return self._sum(term, "nonnegative") or self._given("nonnegative", term)
            case "when" | "table":
                return self._branches(term, "nonnegative") or self._given("nonnegative", term)
            case "apply":
                return self._given("nonnegative", term) or self.nonnegative(unfolded(term))
        return self._given("nonnegative", term)

    def _nonzero(self, term: Term) -> bool:
        match term.op:
            case "mul":
                return all(map(self.nonzero, term.args)) or self._given("nonzero", term)
            case "power":
                return self.nonzero(term.args[0]) or self._given("nonzero", term)
            case "number":
                return bool(term.data != 0)
        return (
            self.positive(term)
            or self._opposite("positive", term)
            or self._given("nonzero", term)
            or self._cleared_nonzero(term)
        )

    def _cleared_nonzero(self, term: Term) -> bool:
        cleared = self._cleared(term)
        return cleared != term and self._known("nonzero", cleared)

    def _cleared(self, term: Term) -> Term:
        """The term times the bases of its negative powers, which do not vanish where it is defined."""
        polynomial = self._normal.polynomial(term, self.context)
        lowest: dict[Term, int] = {}
        for t, e in (factor for m in polynomial for factor in m if factor[1] < 0):
            lowest[t] = min(lowest.get(t, 0), e)
        common = frozenset((t, -e) for t, e in lowest.items())
        return as_sum(self._normal.product(polynomial, {common: Fraction(1)}, self.context))

    def _by_parts(self, what: str, term: Term) -> bool:
        if what == "positive" and self._given("nonzero", term) and self._known("nonnegative", term):
            return True
        ways = (self._is_square, self._between_bounds, self._from_least_size, self._either_way, self._less_a_fact)
        return term.op == "add" and any(way(what, term) for way in ways)

    def _from_least_size(self, what: str, term: Term) -> bool:
        """With every size written as its minimum and a rest >= 0, as in n - 1 >= 0 for n >= 1."""
        normal = self._normal
        shifted: Polynomial = {}
        found = False
        for monomial, c in normal.polynomial(term, self.context).items():
            part: Polynomial = {frozenset((t, e) for t, e in monomial if not _is_large(t, e)): c}
            for t, e in monomial:
                if _is_large(t, e):
                    found = True
                    rest = Term("size", (), ("000" + t.data[0], 0))
                    whole = add(constant(t.data[1]), atom(rest))
                    part = normal.product(part, normal.power(whole, e, self.context), self.context)
            shifted = add(shifted, part)
        return found and self._known(what, as_sum(shifted))

    def _less_a_fact(self, what: str, term: Term) -> bool:
        """A given non-negative difference, and a rest that is shorter."""
        if self.depth <= 0 or what == "nonzero":
            return False
        normal = self._normal
        whole = normal.polynomial(term, self.context)
        for fact in self.facts_about(term):
            if fact.data == "ne":
                continue
            left, right = fact.args
            rest = add(whole, normal.polynomial(right - left, self.context), -1)
            strict = "nonnegative" if fact.data == "lt" else what
            if len(rest) < len(whole) and self._shallower()._known(strict, as_sum(rest)):
                return True
        return False

    def _between_bounds(self, what: str, term: Term) -> bool:
        """An expression of degree one in a sine, a cosine or a tanh, at both of its bounds -1 and 1."""
        if what == "nonzero":
            return False
        polynomial = self._normal.polynomial(term, self.context)
        exponents: dict[Term, set[int]] = {}
        for t, e in (factor for m in polynomial for factor in m):
            exponents.setdefault(t, set()).add(e)
        found = next((t for t, e in exponents.items() if t.op in ("sin", "cos", "tanh") and e == {1}), None)
        if found is None or any(found in _inside(t) for t in exponents):
            return False
        return all(
            self._known(what, as_sum(self._normal.polynomial(replaced(as_sum(polynomial), found, number(end)), self.context)))
            for end in (-1, 1)
        )

    def _is_square(self, what: str, term: Term) -> bool:
        """c (x + k y)^2, expanded."""
        polynomial = self._normal.polynomial(term, self.context)
        if what != "nonnegative" or len(polynomial) != 3:
            return False
        for cross, middle in polynomial.items():
            (a, c), (b, d) = ((m, e) for m, e in polynomial.items() if m != cross)
            halves = [frozenset((t, e // 2) for t, e in m) for m in (a, b)]
            even = all(e % 2 == 0 for m in (a, b) for _, e in m)
            if even and c > 0 and d > 0 and times(*halves) == cross and middle * middle == 4 * c * d:
                return True
        return False

    def _either_way(self, what: str, term: Term) -> bool:
        """For delta = 0 and for delta = 1; for every value of a map into a short literal range."""
        factors = [f for a in term.args for f in (a.args if a.op == "mul" else (a,))]
        found = next((f for f in factors if _values_of(f)), None)
        if found is None:
            return False
        polynomial = self._normal.polynomial
        return all(
            self._known(what, as_sum(polynomial(replaced(term, found, number(value)), self.context)))
            for value in range(_values_of(found))
        )

    def _opposite(self, what: str, term: Term) -> bool:
        """Whether minus the term is positive or non-negative."""
        if term.op == "number":
            return bool(term.data < 0 or (term.data == 0 and what == "nonnegative"))
        if term.op == "add":
            return self._known(what, Term("add", tuple(map(opposite, term.args))))
        return self._given(what, -term)

    def _product(self, term: Term) -> int | None:
        """1 for a positive product, 0 for a non-negative one, None where its sign is not known."""
        result, negative, left = 1, False, list(term.args)
        while left:
            factor = left.pop(0)
            if factor in left:  # a square
                left.remove(factor)
                result = min(result, 1 if self.nonzero(factor) else 0)
            elif self.nonnegative(factor):
                result = min(result, 1 if self.positive(factor) else 0)
            elif self._opposite("nonnegative", factor):
                negative = not negative
                result = min(result, 1 if self._opposite("positive", factor) else 0)
            else:
                return None
        return None if negative else result

    def _power_positive(self, term: Term) -> bool:
        base, exponent = term.args
        if self.positive(base):
            return True
        even = exponent.op == "number" and exponent.data.denominator == 1 and exponent.data % 2 == 0
        return even and self.nonzero(base)

    def _sum(self, term: Term, what: str) -> bool:
        _, body, inside = self.context.opened(term)
        nonempty = what == "nonnegative" or self.positive(term.args[0])
        return nonempty and getattr(Sign(inside, self.depth), what)(body)

    def _branches(self, term: Term, what: str) -> bool:
        if term.op == "table":
            return all(getattr(self, what)(a) for a in term.args[: -len(term.data)])
        condition, then, otherwise = term.args
        if isinstance(sort_of(condition.args[0]), Term):
            equal, differ = (self._indices(name, *condition.args) for name in ("eq", "ne"))
            if equal or differ:
                return bool(getattr(self, what)(then if equal == (condition.data == "eq") else otherwise))
        yes = Sign(self.context.given([condition]), self.depth)
        no = Sign(self.context.given([negated(condition)]), self.depth)
        return bool(getattr(yes, what)(then) and getattr(no, what)(otherwise))

    def _given(self, what: str, term: Term) -> bool:
        """Whether a given fact says so: its difference is a positive multiple of the term (any multiple for non-zero)."""
        if self.depth <= 0:
            return False
        normal = self._normal  # inverses are not multiplied away here: their sign would be lost
        goal = normal.polynomial(term, self.context)
        if not goal:
            return what in ("nonnegative", "eq")
        constant = as_constant(goal)
        if constant is not None:
            return {"positive": constant > 0, "nonnegative": constant > 0, "nonzero": True, "eq": False}[what]
        for fact in self.facts_about(term):
            left, right = fact.args
            difference = normal.polynomial(right - left, self.context)
            ratio = _ratio(goal, difference)
            if ratio is None:
                surplus = as_constant(add(goal, difference, -1))
                if surplus is not None and surplus > 0 and fact.data != "ne" and what in ("positive", "nonnegative"):
                    return True
                continue
            says = fact.data
            if what == "nonzero" and says in ("lt", "ne"):
                return True
            if what == "eq" and says == "eq":
                return True
            if ratio > 0 and (says == "lt" and what != "eq" or says == "le" and what == "nonnegative"):
                return True
            if says == "eq" and what == "nonnegative":
                return True
        return False

    def facts_about(self, term: Term) -> list[Term]:
        """The real relations that are given, universal ones at the indices that occur in the term."""
        candidates = tuple(_indices_in(term))
        if candidates not in self._instantiated:
            self._instantiated[candidates] = [f for g in self.context.facts for f in self._instances(g, candidates)]
        return self._instantiated[candidates]

    def _instances(self, fact: Term, candidates: tuple[Term, ...]) -> Iterator[Term]:
        layers, body = [], fact
        while body.op == "forall" and body.args[0].op != "domain":
            layers.append(body.args[0])
            body = body.args[1]
        choices = [[c for c in candidates if sort_of(c) == size] for size in layers]
        for values in product(*choices):
            found = instantiate(body, values)
            while found.op == "implies" and self._shallower().holds(found.args[0]):
                found = found.args[1]
            if found.op == "relation" and sort_of(found.args[0]) == "real":
                yield found
                if found.args[0].op == "abs":  # |u| <= c says u <= c and -u <= c
                    u, c = found.args[0].args[0], found.args[1]
                    yield from (Term("relation", (v, c), found.data) for v in (u, -u) if found.data in ("le", "lt"))


def _values_of(term: Term) -> int:
    """How many values 0, 1, .. a term can have: 2 for a delta, a short literal range for a mapped index, else 0."""
    if term.op == "delta":
        return 2
    if term.op == "value" and term.args[0].op == "map" and term.args[0].data.target.op == "number":
        extent = int(term.args[0].data.target.data)
        return extent if extent <= 4 else 0
    return 0


def _inside(term: Term) -> set[Term]:
    """The parts of a term, itself left out."""
    return set(term.args).union(*map(_inside, term.args))


def replaced(term: Term, old: Term, new: Term) -> Term:
    """The term with another value for a closed part."""
    return new if term == old else term.rebuilt(replaced(a, old, new) for a in term.args)


def _is_large(term: Term, exponent: int) -> bool:
    return bool(term.op == "size" and term.data[1] > 0 and exponent > 0)


def opposite(term: Term) -> Term:
    """Minus the term, its numerical factor absorbed."""
    if term.op == "mul" and term.args[0].op == "number":
        head = number(-term.args[0].data)
        return Term("mul", (head, *term.args[1:])) if head != ONE or len(term.args) == 1 else Term("mul", term.args[1:])
    return -term


def negated(relation: Term) -> Term:
    left, right = relation.args
    opposite = {"eq": ("ne", left, right), "ne": ("eq", left, right), "le": ("lt", right, left), "lt": ("le", right, left)}
    name, a, b = opposite[relation.data]
    return Term("relation", (a, b), name)


def _ratio(p: dict[Any, Any], q: dict[Any, Any]) -> Any:
    """The number c with p = c q, or None."""
    if p.keys() != q.keys() or not p:
        return None
    first = next(iter(p))
    ratio = p[first] / q[first]
    return ratio if all(p[m] == ratio * q[m] for m in p) else None


def _indices_in(term: Term) -> list[Term]:
    """The closed index terms that occur in a term, simplest first."""
    found: dict[Term, None] = {}

    def visit(t: Term) -> None:
        if not t.loose and isinstance(sort_of(t), Term):
            found[t] = None
        for a in t.args:
            visit(a)

    visit(term)
    return sorted(found, key=lambda t: len(repr(t)))

