"""TRUSTED. Which terms are positive, non-negative or non-zero, from their shape and from what is given.

The search is goal-directed and gives up rather than guess: False means "not known". One class, whose methods call each other.
"""

from __future__ import annotations

from ..definitions import unfolded
from ..terms import ZERO, Term, sort_of
from .context import Context
from .facts import indices_in, instances, negated, opposite, says
from .normal import Normal, plain
from .polynomial import Polynomial, as_constant, as_sum
from .sign_of_sums import WAYS

_DEPTH = 2  # how deep guards of given facts may refer to other facts


class Sign:
    """Signs in one context."""

    def __init__(self, context: Context, depth: int = _DEPTH, normal: Normal | None = None):
        self.context, self.depth = context, depth
        self.normal = normal or plain(context)
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

    def shallower(self) -> Sign:
        """The same, with one more fact used up."""
        if self._next is None:
            self._next = Sign(self.context, self.depth - 1, self.normal)
        return self._next

    def _relation(self, relation: Term) -> bool:
        left, right = relation.args
        if isinstance(sort_of(left), Term):
            return self._indices(relation.data, left, right)
        if any(f == relation for f in self.context.facts):
            return True
        match relation.data:
            case "eq":
                return not self.normal.difference(left, right) or self.equal(left, right)
            case "ne":
                return self.nonzero(right - left)
            case "le":
                return self.nonnegative(right - left) if left != ZERO else self.nonnegative(right)
        return self.positive(right - left) if left != ZERO else self.positive(right)

    def equal(self, left: Term, right: Term) -> bool:
        """Whether an equation of numbers is given."""
        return self._given("zero", right - left)

    def _indices(self, name: str, left: Term, right: Term) -> bool:
        equal = as_constant(self.polynomial(Term("delta", (left, right))))
        return equal == (1 if name == "eq" else 0)

    def positive(self, term: Term) -> bool:
        return self.known("positive", term)

    def nonnegative(self, term: Term) -> bool:
        return self.known("nonnegative", term)

    def nonzero(self, term: Term) -> bool:
        return self.known("nonzero", term)

    def polynomial(self, term: Term) -> Polynomial:
        """The normal form under no law; inverses are not multiplied away, since their sign would be lost."""
        return self.normal.polynomial(term, self.context)

    def known(self, what: str, term: Term) -> bool:
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
            case "sum" | "expect":
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
            case "sum" | "expect":
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
        return cleared != term and self.known("nonzero", cleared)

    def _cleared(self, term: Term) -> Term:
        """The term times the bases of its negative powers, which do not vanish where it is defined."""
        polynomial = self.polynomial(term)
        lowest: dict[Term, int] = {}
        for t, e in (factor for m in polynomial for factor in m if factor[1] < 0):
            lowest[t] = min(lowest.get(t, 0), e)
        common = frozenset((t, -e) for t, e in lowest.items())
        return as_sum(self.normal.product(polynomial, {common: 1}, self.context))

    def _by_parts(self, what: str, term: Term) -> bool:
        if what == "positive" and self._given("nonzero", term) and self.known("nonnegative", term):
            return True
        return term.op == "add" and any(way(self, what, term) for way in WAYS)

    def _opposite(self, what: str, term: Term) -> bool:
        """Whether minus the term is positive or non-negative."""
        if term.op == "number":
            return bool(term.data < 0 or (term.data == 0 and what == "nonnegative"))
        if term.op == "add":
            return self.known(what, Term("add", tuple(map(opposite, term.args))))
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
        nonempty = what == "nonnegative" or term.op == "expect" or self.positive(term.args[0])
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
        """Whether a given fact says so, or the term is a number that is so."""
        if self.depth <= 0:
            return False
        goal = self.polynomial(term)
        if not goal:
            return what in ("nonnegative", "zero")
        constant = as_constant(goal)
        if constant is not None:
            return {"positive": constant > 0, "nonnegative": constant > 0, "nonzero": True, "zero": False}[what]
        return any(says(what, goal, f.data, self.polynomial(f.args[1] - f.args[0])) for f in self.facts_about(term))

    def facts_about(self, term: Term) -> list[Term]:
        """The real relations that are given, universal ones at the indices that occur in the term."""
        candidates = indices_in(term)
        if candidates not in self._instantiated:
            holds = self.shallower().holds
            self._instantiated[candidates] = [f for g in self.context.facts for f in instances(g, candidates, holds)]
        return self._instantiated[candidates]
