"""Induction over a size: what it takes, from where to where it goes, and for all of what it holds."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from proofs.binders import expectation, forall, function, substitute, sum_
from proofs.kernel import Link, ProofError, Script, Specialised, Statement, Step, Theorem, check, prove
from proofs.notation import choice, delta, eq, family, index, le, lt, ne, number, size, value_of
from proofs.rules.context import Refused
from proofs.terms import ANY_REAL, Term, TermError, permutation, relation

from .inductive import RECURRENCES, G, K, L, at, induction, mixes, place, t, tau, theorems
from .probability import Y, o
from .vocabulary import INDICES, A, a, b, c, n, x

i, j, k = INDICES


def by(conclusion: Term, write: Any, *given: Term, twin: Term | None = None, **options: Any) -> Theorem:
    """A theorem; its near miss says one more on the right."""
    left, right = conclusion.args
    wrong = relation(conclusion.data, left, right + (1 if conclusion.data == "eq" else -1000)) if twin is None else twin
    script = write if callable(write) else lambda p: p.closes(write)
    return prove("it", Statement(conclusion, given), script, near_misses=[Statement(wrong, given)], **options)


def closes(conclusion: Term, *given: Term, rule: str = "induction", **arguments: Any) -> tuple[Step, ...]:
    return check(Statement(conclusion, given), (Link(None, None, rule, arguments, ()),))


def pair(name: str) -> dict[str, Any]:
    base, step, _ = theorems(name)
    return {"on": RECURRENCES[name].size, "base": base, "step": step}


@pytest.mark.parametrize("name", RECURRENCES)
def test_every_length(name: str) -> None:
    one = RECURRENCES[name]
    *_, whole = theorems(name)
    assert whole.statement == Statement(one.claim, one.given) and whole.rules == ("induction",)
    assert whole.uses == theorems(name)[:2]


@pytest.mark.parametrize("name", RECURRENCES)
def test_neither_theorem_is_enough_alone(name: str) -> None:
    one, (base, step, _) = RECURRENCES[name], theorems(name)
    for wrong in ({"base": step, "step": step}, {"base": base, "step": base}, {"base": step, "step": base}):
        with pytest.raises(Refused):
            closes(one.claim, *one.given, on=one.size, over=one.over, **wrong)


@pytest.mark.parametrize("name", ["line", "squares", "geometric", "telescoping"])
def test_a_base_is_at_the_least_value(name: str) -> None:
    """From 1 on the base at 0 is none; and from 0 on the base at 1 is none."""
    one, (base, step, _) = RECURRENCES[name], theorems(name)
    from_one = size("L", 1)
    claim, moved = substitute(one.claim, {L: from_one}), (step, {L: from_one})
    later = by(one.at(number(1)), "finite_sum")
    closes(claim, on=from_one, base=later, step=moved)
    for wrong in ({"on": from_one, "base": base, "step": moved}, {"on": L, "base": later, "step": step}):
        with pytest.raises(Refused):
            closes(claim if wrong["on"] == from_one else one.claim, **wrong)


def test_a_theorem_at_the_values_of_its_symbols() -> None:
    base, step, whole = theorems("line")
    claim = substitute(RECURRENCES["line"].claim, {a: x[i], b: c})
    closes(claim, on=L, base=(base, {a: x[i], b: c}), step=(step, {a: x[i], b: c}))
    with pytest.raises((Refused, TermError)):
        closes(claim, on=L, base=(base, {a: x[i], b: c}), step=(step, {a: x[i], b: a}))
    with pytest.raises(Refused):
        closes(claim, on=L, base=(base, {a: x[i], b: c}), step=(step, {a: c, b: c}))
    closes(claim, rule="congruence", then="induction", inner={"on": L, "base": (base, {a: x[i], b: c}), "step": (step, {a: x[i], b: c})})  # fmt: skip
    assert whole.is_general


def test_the_record_names_both_theorems() -> None:
    (step,) = closes(RECURRENCES["squares"].claim, **pair("squares"))
    assert step.reason == "induction" and step.arguments["on"] == L
    assert [theorem.name for theorem, _ in (step.arguments["base"], step.arguments["step"])] == [
        "squares_base",
        "squares_step",
    ]
    with pytest.raises(TypeError):
        step.arguments["base"][1][a] = b


def test_a_claim_that_is_moved_or_multiplied() -> None:
    claim = RECURRENCES["squares"].claim
    left, right = claim.args
    closes(eq(right, left), **pair("squares"))
    closes(eq(Term("add", (x[i], left)), Term("add", (x[i], right))), **pair("squares"))
    with pytest.raises(Refused):
        closes(eq(left + x[i], right + x[j]), **pair("squares"))
    with pytest.raises(Refused):
        closes(le(left, right + 1), **pair("squares"))


def test_weaker_relations() -> None:
    """An equation, or a strict order, gives a weak one; the hypothesis is then weak too, and has to be enough."""
    left, right = RECURRENCES["squares"].claim.args
    with pytest.raises(Refused, match="a hypothesis of squares_step is not known"):
        closes(le(left, right), **pair("squares"))
    left, right = RECURRENCES["growth"].claim.args
    with pytest.raises(Refused, match="a hypothesis of growth_step is not known"):
        closes(le(left, right), **pair("growth"))
    for name in ("lt", "eq", "ne"):
        with pytest.raises(Refused):
            closes(relation(name, *RECURRENCES["bernoulli"].claim.args), **pair("bernoulli"))


def test_two_sides_that_always_differ() -> None:
    claim = lambda s: ne(sum_(index("h", s), 2 * value_of(index("h", s)) + c), -1)
    above = lambda s: lt(-1, sum_(index("h", s), 2 * value_of(index("h", s)) + c))
    base = by(claim(number(0)), "order", twin=ne(sum_(index("h", 0), c), 0))
    step = by(claim(L + 1), "order", claim(L), twin=ne(sum_(place, 0 * c), 0))
    closes(claim(L), on=L, base=base, step=step)
    assert above(L).data == "lt"


# --- for all of what --------------------------------------------------------------------------------------------------


def test_the_hypothesis_holds_for_all_values_of_an_index() -> None:
    one = RECURRENCES["mixed"]
    given = one.given
    for over in (i, (i,), [i], (i, k)):
        closes(Term("relation", (one.claim.args[0] + x[k], a + x[k]), "eq"), *given, **pair("mixed"), over=over)
    with pytest.raises(Refused, match="a hypothesis of mixed_step is not known"):
        closes(one.claim, *given, **pair("mixed"))
    with pytest.raises(Refused, match="a hypothesis of mixed_step is not known"):
        closes(eq(one.claim.args[0] + x[k], a + x[k]), *given, **pair("mixed"), over=k)


def test_what_is_given_of_an_index_is_a_guard() -> None:
    """Rows other than k stay at a if no row but k looks at k: the hypothesis is about the others, and that is enough."""
    apart = ne(i, k)
    closed = forall(i, eq(A[i, k], 0), where=[ne(i, k)])
    begins = forall(i, eq(G[i, 0], a), where=[ne(i, k)])
    alone = forall(i, eq(sum_(j, A[i, j] * (1 - delta(j, k))), 1), where=[ne(i, k)])
    hypothesis = forall(i, eq(G[i, L], a), where=[ne(i, k)])
    given = (mixes, closed, begins, alone, apart)
    example = {A: function([i, j], delta(i, j)), G: function([i, t], a)}

    def step(p: Script) -> None:
        others = lambda entry: sum_(j, when_apart(entry))
        p.equals(sum_(j, A[i, j] * G[j, L]), "given", using=Specialised(mixes, (L,)))
        p.equals(A[i, k] * G[k, L] + others(A[i, j] * G[j, L]), "finite_sum")
        p.equals(0 * G[k, L] + others(A[i, j] * G[j, L]), "congruence", then="given")
        p.equals(others(A[i, j] * G[j, L]), "ring")
        p.equals(
            others(A[i, j] * a),
            "congruence",
            then="cases",
            on=(k, j),
            inner={"then": "congruence", "inner": {"then": "given"}},
        )
        p.equals(sum_(j, A[i, j] * (1 - delta(j, k))) * a, "finite_sum")
        p.equals(Term("mul", (number(1), a)), "congruence", then="given")
        p.closes("ring")

    when_apart = lambda entry: (1 - delta(j, k)) * entry
    base = by(eq(G[i, 0], a), "given", *given, witness=example)
    following = by(eq(G[i, L + 1], a), step, *given, hypothesis, witness=example)
    cited = {"on": L, "base": (base, {k: k}), "step": (following, {k: k})}
    closes(eq(G[i, L], a), *given, **cited, over=i)
    with pytest.raises(Refused):  # of i alone, which is not enough for its neighbours
        closes(eq(G[i, L], a), *given, **cited)
    with pytest.raises(Refused):  # for k as well, of which nothing is known
        closes(eq(G[k, L] + x[i], a + x[i]), *given, **cited, over=(i, k))
    with pytest.raises(Refused):
        closes(eq(G[k, L], a), *given, **cited, over=k)


def test_of_every_outcome() -> None:
    """A random sequence whose steps have a mean; the hypothesis may be about all outcomes."""
    M = family("M", Y.slots[0], ANY_REAL)
    steps = forall(tau, forall(o, eq(M[o, tau + 1], M[o, tau] + Y[o])), where=[le(0, tau)])
    start = forall(o, eq(M[o, 0], 0))
    claim = lambda value: eq(M[o, value], value * Y[o])
    example = {M: function([o, t], t * Y[o])}

    def one_more(p: Script) -> None:
        p.equals(M[o, L] + Y[o], "given", using=Specialised(steps, (L,)))
        p.equals(L * Y[o] + Y[o], "given")
        p.closes("ring")

    def begin(p: Script) -> None:
        p.equals(number(0), "given")
        p.closes("ring")

    base = by(eq(M[o, 0], number(0) * Y[o]), begin, steps, start, witness=example)
    step = by(claim(L + 1), one_more, steps, start, claim(L), witness=example)
    closes(claim(L), steps, start, on=L, base=base, step=step)
    closes(claim(L), steps, start, on=L, base=base, step=step, over=o)
    closes(eq(expectation(o, M[o, L]), expectation(o, L * Y[o])), steps, start, rule="congruence",
           then="induction", inner={"on": L, "base": base, "step": step})  # fmt: skip


# --- mistakes ---------------------------------------------------------------------------------------------------------


def _without(name: str, **more: Any) -> dict[str, Any]:
    return {key: value for key, value in {**pair("squares"), **more}.items() if key != name}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (_without("on"), "induction: needed the argument on="),
        (_without("base"), "induction: needed the argument base="),
        (_without("step"), "induction: needed the argument step="),
        ({**pair("squares"), "speed": a}, "induction takes on, base, step, over; found speed"),
        ({**pair("squares"), "on": a}, "induction: a is not a size"),
        ({**pair("squares"), "on": L + 1}, "induction: add(L, 1) is not a size"),
        ({**pair("squares"), "on": 3}, "induction: 3 is not a size"),
        ({**pair("squares"), "on": K}, "the proof speaks of K, and the statement does not"),
        ({**pair("squares"), "over": a}, "induction: a is not an index"),
        ({**pair("squares"), "over": i}, "the proof speaks of i"),
        ({**pair("squares"), "over": n}, "induction: n is not an index"),
        ({**pair("squares"), "over": None}, "is not an index"),
        ({**pair("squares"), "base": (theorems("squares")[0], {L: 0})}, "squares_base does not speak of L"),
    ],
    ids=repr,
)
def test_mistakes(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(TermError) as refusal:
        closes(RECURRENCES["squares"].claim, **arguments)
    assert message in str(refusal.value)


@pytest.mark.parametrize("other", [None, "squares_base", RECURRENCES["squares"].claim, lambda p: p.closes("ring")])
def test_a_base_and_a_step_are_theorems(other: Any) -> None:
    for name in ("base", "step"):
        with pytest.raises(ProofError, match="is no Theorem that this kernel proved"):
            closes(RECURRENCES["squares"].claim, **{**pair("squares"), name: other})


def test_no_index_may_range_over_it() -> None:
    """A family on L places is another one on L + 1: nothing connects the two."""
    y, e, pi, hi = family("y", L), index("e", L), permutation("pi", L), choice("hi", n, target=L)
    line = RECURRENCES["squares"].claim
    for more in (sum_(place, y[place]), value_of(e), sum_(place, value_of(pi(place))), value_of(hi(i))):
        with pytest.raises(TermError, match="the range of a symbol depends on L"):
            closes(eq(line.args[0] + more, line.args[1] + more), **pair("squares"))


def test_nothing_given_may_speak_of_it() -> None:
    for fact in (le(L, 5), eq(sum_(place, at), a), forall(i, lt(x[i], L))):
        with pytest.raises(Refused, match="what is given speaks of the number that the induction runs over"):
            closes(RECURRENCES["squares"].claim, fact, **pair("squares"))


def test_random_inductions_are_of_every_kind() -> None:
    rng = Random(2)
    seen = {induction(rng, 2).arguments["step"][0].name for _ in range(80)}
    assert seen == {f"{name}_step" for name in RECURRENCES}
