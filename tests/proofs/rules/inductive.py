"""True statements about every length, each with the two theorems that an induction rests on, at random values."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any, NamedTuple

from proofs.binders import forall, function, substitute, sum_
from proofs.kernel import Script, Specialised, Statement, Theorem, prove
from proofs.notation import eq, family, index, le, lt, number, size, value_of, variable
from proofs.terms import ANY_REAL, ONE, Term, free, relation

from .vocabulary import INDICES, A, Case, a, b, c, leaf, n, positive, turned, x

L, K = size("L", 0), size("K")  # from 0 on, and from 1 on
place, later = index("h", L), index("h", K)
tau, at = variable("tau", "integer"), value_of(place)
i, j, _ = INDICES
t = variable("t")
R, G = family("R", ANY_REAL), family("G", n, ANY_REAL)  # R(0), R(1), .. is a sequence, and so is each row of G


class Recurrence(NamedTuple):
    """A statement about every value of a size, what is given for it, and how its two theorems are proved."""

    size: Term
    claim: Term
    base: Callable[[Script], None]
    step: Callable[[Script], None]
    given: tuple[Term, ...] = ()
    over: tuple[Term, ...] = ()
    witness: dict[Any, Any] = {}

    def at(self, value: Any) -> Term:
        return substitute(self.claim, {self.size: value})


def _theorem(name: str, conclusion: Term, given: tuple[Term, ...], write: Any, witness: dict[Any, Any]) -> Theorem:
    """The near miss is one more, or one less, on the right."""
    left, right = conclusion.args
    twin = relation(conclusion.data, left, right + 10 if conclusion.data == "eq" else right - 1000)
    return prove(name, Statement(conclusion, given), write, near_misses=[Statement(twin, given)], witness=witness)


@cache
def theorems(name: str) -> tuple[Theorem, Theorem, Theorem]:
    """The base, the step, and what follows from both."""
    one = RECURRENCES[name]
    hypothesis = forall(one.over, one.claim) if one.over else one.claim
    witness = {**one.witness, **({one.size: number(2)} if one.claim.data != "eq" else {})}
    base = _theorem(f"{name}_base", one.at(number(one.size.data[1])), one.given, one.base, one.witness)
    step = _theorem(f"{name}_step", one.at(one.size + 1), (*one.given, hypothesis), one.step, witness)
    cited = {"on": one.size, "base": base, "step": step, "over": one.over}
    whole = _theorem(name, one.claim, one.given, lambda p: p.closes("induction", **cited), one.witness)
    return base, step, whole


# --- the recurrences --------------------------------------------------------------------------------------------------


def _closes(rule: str) -> Callable[[Script], None]:
    return lambda p: p.closes(rule)


def _summed(before: Term, new: Term) -> Callable[[Script], None]:
    """The sum over L + 1 is that over L, whose value is given, and one more."""

    def write(p: Script) -> None:
        p.equals(before.args[0] + new, "finite_sum")
        p.equals(before.args[1] + new, "given")
        p.closes("exp_log")

    return write


line = eq(2 * sum_(place, a + b * at), 2 * a * L + b * L * (L - 1))
odd = eq(sum_(later, 2 * value_of(later) + 1) * a, a * K**2)
squares = eq(6 * sum_(place, at**2 + a), L * (L - 1) * (2 * L - 1) + 6 * a * L)
geometric = eq((c - 1) * sum_(place, c**at), c**L - 1)
telescoping = eq(sum_(place, R[at + 1] - R[at]), R[L] - R[0])
orbit = eq(R[L], c**L * R[0])
moves = forall(tau, eq(R[tau + 1], c * R[tau]), where=[le(0, tau)])
bernoulli = le(1 + c * L, (1 + c) ** L)
growth = lt(c * L, (1 + c) ** L)
rows = forall(i, eq(sum_(j, A[i, j]), 1))
mixes = forall(tau, forall(i, eq(G[i, tau + 1], sum_(j, A[i, j] * G[j, tau]))), where=[le(0, tau)])
starts = forall(i, eq(G[i, 0], a))


def _orbit(p: Script) -> None:
    p.equals(c * R[L], "given", using=Specialised(moves, (L,)))
    p.equals(Term("mul", (c, c**L * R[0])), "congruence", then="given")
    p.closes("exp_log")


def _bernoulli(p: Script) -> None:
    p.at_most((1 + c) * (1 + c * L), "order", difference=c * c * L)
    p.at_most((1 + c) * (1 + c) ** L, "order", difference=(1 + c) * ((1 + c) ** L - (1 + c * L)))
    p.closes("exp_log")


def _grows(p: Script) -> None:
    p.equals(c * L + c, "ring")
    p.less_than((1 + c) ** L + c, "order")
    p.at_most((1 + c) ** L * (1 + c), "order", using=theorems("bernoulli")[2], difference=c * ((1 + c) ** L - 1))
    p.closes("exp_log")


def _mixed(p: Script) -> None:
    p.equals(sum_(j, A[i, j] * G[j, L]), "given", using=Specialised(mixes, (L,)))
    p.equals(sum_(j, A[i, j] * a), "congruence", then="given")
    p.equals(a * sum_(j, A[i, j]), "finite_sum")
    p.equals(a * ONE, "congruence", then="given")
    p.closes("ring")


RECURRENCES = {
    "line": Recurrence(L, line, _closes("finite_sum"), _summed(line, 2 * (a + b * L))),
    "odd": Recurrence(K, odd, _closes("finite_sum"), _summed(odd, a * (2 * K + 1))),
    "squares": Recurrence(L, squares, _closes("finite_sum"), _summed(squares, 6 * (L**2 + a))),
    "geometric": Recurrence(L, geometric, _closes("finite_sum"), _summed(geometric, (c - 1) * c**L)),
    "telescoping": Recurrence(L, telescoping, _closes("finite_sum"), _summed(telescoping, R[L + 1] - R[L])),
    "orbit": Recurrence(L, orbit, _closes("ring"), _orbit, (moves,), witness={R: function(t, c**t * b)}),
    "bernoulli": Recurrence(L, bernoulli, _closes("order"), _bernoulli),
    "growth": Recurrence(L, growth, _closes("order"), _grows),
    "mixed": Recurrence(
        L, eq(G[i, L], a), _closes("given"), _mixed, (rows, mixes, starts), (i,),
        {A: function([i, j], 1 / n), G: function([i, t], a)},
    ),
}  # fmt: skip


def induction(rng: Random, depth: int) -> Case:
    name = rng.choice(sorted(RECURRENCES))
    one, (base, step, _) = RECURRENCES[name], theorems(name)
    values = {p: v for p, v in ((a, _leaf(rng)), (b, _leaf(rng)), (c, positive(rng))) if p in free(one.claim)}
    left, right = substitute(one.claim, values).args
    more = _leaf(rng) * x[i]
    places = [lambda s: s, lambda s: Term("add", (s, more)), lambda s: Term("add", (more, s))]
    if one.claim.data == "eq":
        places.append(lambda s: Term("mul", (number(-3), s)))
    put = rng.choice(places if not one.over else places[1:3])  # so that the index stays known after an edit
    sides = (put(left), put(right))
    return Case(
        relation(one.claim.data, *(turned(rng, sides) if one.claim.data == "eq" else sides)),
        "induction",
        {"on": one.size, "base": (base, values), "step": (step, values), "over": one.over},
        hypotheses=tuple(substitute(f, values) for f in one.given),
        witness={f: substitute(v, values) for f, v in one.witness.items()},
    )


def _leaf(rng: Random) -> Term:
    return next(v for _ in range(99) if i not in free(v := leaf(rng)))
