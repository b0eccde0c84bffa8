"""Inductions that do not reach: from a wrong start, by a step that is too long, from more than is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from proofs.binders import forall, function, sum_
from proofs.kernel import ProofError, Script, Specialised, Statement, Theorem, check, prove
from proofs.notation import (
    choice,
    delta,
    eq,
    exp,
    family,
    implies,
    index,
    le,
    lt,
    ne,
    number,
    permutation,
    size,
    value_of,
    variable,
)
from proofs.rules.context import Refused
from proofs.terms import ANY_REAL, Term, TermError, relation

from .attempts import A, a, attempt, b, c, i, j, k, n, proved, refuse, t, x

L, K = size("L", 0), size("K")
place = index("h", L)
tau = variable("tau", "integer")
R, G = family("R", ANY_REAL), family("G", n, ANY_REAL)
total = sum_(place, value_of(place))


def by(conclusion: Term, write: Any, *given: Term, **options: Any) -> Theorem:
    """A theorem, by one rule or by a script; its near miss says one more on the right, or much less."""
    left, right = conclusion.args
    more = {"eq": right + 1, "ne": left + 0}.get(conclusion.data, right - 1000)
    script = write if callable(write) else lambda p: p.closes(write)
    return proved(conclusion, relation(conclusion.data, left, more), script, *given, **options)


def at(claim: Callable[[Any], Term], start: int = 0) -> Theorem:
    return by(claim(number(start)), "finite_sum")


def sums(claim: Callable[[Any], Term], new: Term, **options: Any) -> Theorem:
    """P(L) |- P(L + 1) for an equation of a sum over L, by its last term."""

    def write(p: Script) -> None:
        left, right = claim(L).args
        p.equals(left + new, "finite_sum")
        p.equals(right + new, "given")
        p.closes("ring")

    return by(claim(L + 1), write, claim(L), **options)


def gauss(value: Any) -> Term:
    return eq(2 * sum_(index("h", value), value_of(index("h", value))), value * (value - 1))


def test_the_honest_one() -> None:
    base, step = at(gauss), sums(gauss, 2 * L)
    attempt(gauss(L), "induction", on=L, base=base, step=step)
    refuse(eq(2 * total, L * (L + 1)), "induction", on=L, base=base, step=step)
    refuse(eq(2 * total, L * (L - 1) + value_of(i)), "induction", on=L, base=base, step=step)


# --- where it starts, and how far a step goes -------------------------------------------------------------------------


def test_a_step_without_its_base_proves_nothing() -> None:
    """What is off by a - b is off by as much at the next length; only where a = b is given does it hold."""
    off = lambda value: eq(gauss(value).args[0] + a, gauss(value).args[1] + b)
    base = by(
        off(number(0)),
        lambda p: (p.equals(a, "finite_sum"), p.equals(b, "given"), p.closes("finite_sum")),
        eq(a, b),
        witness={a: b},
    )
    step = sums(off, 2 * L, witness={a: b})
    attempt(off(L), "induction", eq(a, b), on=L, base=base, step=step)
    refuse(off(L), "induction", on=L, base=base, step=step, match="a hypothesis of here is not known")
    for other in (at(gauss), at(gauss, 1), step):
        refuse(off(L), "induction", on=L, base=other, step=step)


def test_a_base_at_one_is_none_for_zero() -> None:
    """0 < 1, and 0 < L |- 0 < L + 1; but L may be 0."""
    positive = lambda value: lt(0, value)
    first = by(positive(number(1)), "order")
    onward, later = (by(positive(s + 1), "order", positive(s)) for s in (L, K))
    refuse(positive(L), "induction", on=L, base=first, step=onward)
    refuse(positive(L), "induction", on=L, base=first, step=(later, {K: L}))
    refuse(positive(L), "induction", on=L, base=first, step=later)
    attempt(positive(K), "induction", on=K, base=first, step=later)


def test_a_size_keeps_its_own_minimum() -> None:
    """K = 1, 2, .. starts at 1, whatever a namesake starts at."""
    claim, other = lambda value: lt(2, value), size("K", 3)
    base, step = by(claim(number(3)), "order"), by(claim(K + 1), "order", claim(K))
    refuse(claim(K), "induction", on=K, base=base, step=step)
    with pytest.raises(TermError, match="the proof speaks of K"):
        attempt(claim(K), "induction", on=other, base=base, step=step)
    attempt(claim(other), "induction", on=other, base=base, step=(step, {K: other}))


def test_a_step_of_two_leaves_out_every_other_value() -> None:
    """P(L) |- P(L + 2) from P(0) says nothing about 1."""
    jumps, start, there = forall(tau, eq(R[tau + 2], R[tau]), where=[le(0, tau)]), eq(1, R[0]), {R: function(t, 1)}

    def two_more(p: Script) -> None:
        p.equals(R[L], "given", using=Specialised(jumps, (L,)))
        p.closes("given")

    base = by(eq(R[0], 1), "given", start, witness=there)
    step = by(eq(R[L + 2], 1), two_more, jumps, eq(R[L], 1), witness=there)
    for cited in (step, (step, {L: L}), base):
        refuse(eq(R[L], 1), "induction", jumps, start, on=L, base=base, step=cited)
    refuse(eq(R[2 * L], 1), "induction", jumps, start, on=L, base=base, step=step)


def test_a_step_from_a_later_value() -> None:
    """P(L + 1) |- P(L + 1) and P(L + 1) |- P(L) are no steps."""
    base = at(gauss)
    swapped = lambda value: eq(*gauss(value).args[::-1])
    ahead, back = by(gauss(L + 1), "given", swapped(L + 1)), by(gauss(L), "given", swapped(L))
    for step in (ahead, back, base):
        refuse(gauss(L), "induction", on=L, base=base, step=step)


# --- what the step assumes --------------------------------------------------------------------------------------------


def test_a_step_under_a_hypothesis_that_is_not_given() -> None:
    """R_{L+1} = R_L only where it is given, and then for every L that comes."""
    still, start, there = forall(tau, eq(R[tau + 1], R[tau]), where=[le(0, tau)]), eq(a, R[0]), {R: function(t, a)}

    def write(p: Script) -> None:
        p.equals(R[L], "given", using=Specialised(still, (L,)))
        p.closes("given")

    base = by(eq(R[0], a), "given", start, witness=there)
    cited = {"on": L, "base": base, "step": by(eq(R[L + 1], a), write, still, eq(R[L], a), witness=there)}
    attempt(eq(R[L], a), "induction", start, still, **cited)
    later = forall(tau, eq(R[tau + 1], R[tau]), where=[le(1, tau)])
    for given in ((start,), (still,), (start, later), (start, eq(R[1], R[0])), (still, eq(R[1], a))):
        refuse(eq(R[L], a), "induction", *given, **cited, match="a hypothesis of here")


def test_a_guard_of_the_step_that_is_dropped() -> None:
    """The rows other than k keep their values; of row k nothing is known."""
    still = forall(tau, forall(i, eq(G[i, tau + 1], G[i, tau]), where=[ne(i, k)]), where=[le(0, tau)])
    start, there = forall(i, eq(G[i, 0], a)), {G: function([i, t], a)}
    others = forall(i, eq(G[i, L], a), where=[ne(i, k)])

    def write(p: Script) -> None:
        p.equals(G[i, L], "given", using=Specialised(still, (L,)))
        p.closes("given")

    step = by(eq(G[i, L + 1], a), write, still, start, ne(i, k), others, witness=there)
    cited = {"on": L, "base": by(eq(G[i, 0], a), "given", start, witness=there), "step": (step, {k: k})}
    attempt(eq(G[i, L], a), "induction", still, start, ne(i, k), over=i, **cited)
    for claim, over in (
        (eq(G[i, L], a), i),
        (eq(G[i, L], a), ()),
        (eq(G[k, L], a), k),
        (eq(G[i, L] + x[k], a + x[k]), (i, k)),
    ):
        refuse(claim, "induction", still, start, over=over, **cited, match="a hypothesis of here")
    refuse(eq(G[i, L], a), "induction", still, start, ne(i, k), **cited, match="a hypothesis of here")


def test_a_step_that_needs_all_neighbours_where_one_is_known() -> None:
    """G_i(L + 1) = G_pi(i)(L): a claim about i alone is not carried."""
    pi = permutation("pi", n)
    moves = forall(tau, forall(i, eq(G[i, tau + 1], G[pi(i), tau])), where=[le(0, tau)])
    start, one, there = forall(i, eq(G[i, 0], a)), eq(G[i, L], a), {G: function([i, t], a)}

    def write(p: Script) -> None:
        p.equals(G[pi(i), L], "given", using=Specialised(moves, (L,)))
        p.closes("given")

    base = by(eq(G[i, 0], a), "given", start, witness=there)
    alone = by(eq(G[i, 0], a), "given", eq(a, G[i, 0]), witness=there)
    step = by(eq(G[i, L + 1], a), write, moves, forall(i, one), witness=there)
    attempt(one, "induction", moves, start, on=L, base=base, step=step, over=i)
    refuse(one, "induction", moves, start, on=L, base=base, step=step, match="a hypothesis of here")
    refuse(one, "induction", moves, eq(a, G[i, 0]), on=L, base=alone, step=step, over=i, match="a hypothesis of here")
    refuse(one, "induction", moves, eq(a, G[i, 0]), on=L, base=base, step=step, over=i, match="a hypothesis of here")


def test_a_fact_about_one_index_becomes_a_guard_and_no_fact_about_all() -> None:
    """From 0 < x_i for the one i at hand nothing follows about other rows, though the hypothesis is about all that are like it."""
    claim = lambda value: lt(0, value * 0 + x[i])
    base = by(claim(number(0)), "order", lt(0, x[i]))
    every = forall(j, lt(0, L * 0 + x[j]))
    step = by(lt(0, (L + 1) * 0 + x[k] + x[i]), "order", every, lt(0, x[i]))
    refuse(lt(0, L * 0 + x[k] + x[i]), "induction", lt(0, x[i]), on=L, base=base, step=step, over=i)
    refuse(lt(0, L * 0 + x[k] + x[i]), "induction", lt(0, x[i]), on=L, base=base, step=step, over=(i, k))


def test_nothing_is_generalised_over_numbers() -> None:
    """`over` are indices: a number may be spoken of by what is given in ways that no guard keeps."""
    more = a + x[i] + R[0] + value_of(choice("mu", n, target=n)(j))
    claim = eq(gauss(L).args[0] + more, gauss(L).args[1] + more)
    attempt(claim, "induction", on=L, base=at(gauss), step=sums(gauss, 2 * L))
    for over in (a, R, n, L, value_of(i), Term("literal", (n,), 0), ne(i, j), choice("mu", n, target=n)(i)):
        with pytest.raises(TermError):
            attempt(claim, "induction", on=L, base=at(gauss), step=sums(gauss, 2 * L), over=over)


# --- what the number stands in ----------------------------------------------------------------------------------------


def test_a_fact_that_speaks_of_the_number() -> None:
    """L <= 5 is not L + 1 <= 5."""
    short = lambda value: le(value, 5)
    step = by(le(L + 1 + a, 6 + a), "order", le(L, 5))
    base = by(le(number(0) + a, 6 + a), "order")
    refuse(
        le(L + a, 6 + a), "induction", short(L), on=L, base=base, step=step, match="what is given speaks of the number"
    )
    for fact in (implies(le(3, L), lt(a, 0)), forall(i, le(value_of(i) + L, a)), eq(total, 0), ne(L, 2)):
        refuse(gauss(L), "induction", fact, on=L, base=at(gauss), step=sums(gauss, 2 * L), match="what is given speaks")


def test_a_fact_in_use_that_speaks_of_the_number() -> None:
    helper = by(le(0, L * a**2), "order")
    refuse(gauss(L), "induction", on=L, base=at(gauss), step=sums(gauss, 2 * L), using=((helper, {a: number(1)}),),
           match="what is given speaks of the number")  # fmt: skip


def test_a_range_that_depends_on_the_number() -> None:
    """y on L places and y on L + 1 places are two families; so with indices, maps, and what a binder on the way ranges over."""
    y, e, mu = family("y", L), index("e", L), choice("mu", n, target=L)
    base, step = at(gauss), sums(gauss, 2 * L)
    left, right = gauss(L).args
    for more in (
        sum_(place, y[place]),
        value_of(e),
        value_of(mu(i)),
        sum_(place, value_of(permutation("pi", L)(place))),
    ):
        with pytest.raises(TermError, match="the range of a symbol depends on L"):
            attempt(eq(left + more, right + more), "induction", on=L, base=base, step=step)
    inside = lambda s: sum_(place, s + value_of(place))
    with pytest.raises(Refused, match="the range of a symbol depends on L"):
        attempt(
            eq(inside(left), inside(right)), "congruence", then="induction", inner={"on": L, "base": base, "step": step}
        )


def test_the_length_of_an_argument_may_change_and_a_family_of_that_length_not() -> None:
    """sum_{l < L} y_l = 0 holds for L = 0; it does not for longer y, although nothing in y changes."""
    y = family("y", L)
    said = eq(sum_(place, y[place]), 0)
    none_at_all = by(eq(sum_(index("h", 0), family("y", 0)[index("h", 0)]) + a, 0 + a), "finite_sum")
    with pytest.raises(TermError, match="the range of a symbol depends on L"):
        attempt(said, "induction", on=L, base=none_at_all, step=none_at_all)


# --- relations --------------------------------------------------------------------------------------------------------


def test_a_weak_step_carries_no_strict_claim() -> None:
    """-L < R_L at the start, and -L <= R_L |- -L - 1 <= R_{L+1}: in the end the two sides may be equal."""
    falls = forall(tau, le(R[tau] - 1, R[tau + 1]), where=[le(0, tau)])
    start, there = lt(0, 3 * R[0]), {R: function(t, 3)}
    strict, weak = lt(-L, R[L]), le(-L, R[L])

    def write(p: Script) -> None:
        p.at_most(R[L] - 1, "order")
        p.closes("order", using=Specialised(falls, (L,)))

    step = by(le(-(L + 1), R[L + 1]), write, falls, weak, witness=there)
    for said in (lt, le):
        first = by(said(0, R[0]), "order", start, witness=there)
        attempt(weak, "induction", start, falls, on=L, base=first, step=step)
        refuse(strict, "induction", start, falls, on=L, base=first, step=step, match="does not")


def test_an_inequality_is_no_equation() -> None:
    left, right = gauss(L).args
    low, high = le(left, right), le(right, left)
    base, step = at(gauss), sums(gauss, 2 * L)
    refuse(low, "induction", on=L, base=base, step=step, match="a hypothesis of here")
    refuse(high, "induction", on=L, base=base, step=step)

    def write(p: Script) -> None:
        p.equals(left + 2 * L, "finite_sum")
        p.closes("order")

    lower = by(le(*gauss(L + 1).args), write, low)
    attempt(low, "induction", on=L, base=base, step=lower)
    refuse(gauss(L), "induction", on=L, base=base, step=lower)
    refuse(gauss(L), "induction", on=L, base=lower, step=step)


def test_the_two_sides_may_not_be_exchanged_in_an_order() -> None:
    claim = lambda value: le(value, 2 * value + 0 * a)
    base = by(le(number(0) + a, 0 + a + a**2), "order")
    step = by(claim(L + 1), "order", claim(L))
    refuse(le(2 * L + 0 * a, L), "induction", on=L, base=base, step=step)


# --- what is cited ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["base", "step"])
def test_a_base_or_a_step_that_is_no_theorem(name: str) -> None:
    cited: dict[str, Any] = {"on": L, "base": at(gauss), "step": sums(gauss, 2 * L)}
    forged = object.__new__(Theorem)
    for slot in ("name", "hypotheses", "steps", "near_misses", "says", "source"):
        object.__setattr__(forged, slot, getattr(cited["step"], slot))
    object.__setattr__(forged, "conclusion", gauss(L + 1))
    given = forall(i, lt(0, x[i]))
    for other in (
        None,
        "ring",
        gauss(L),
        Statement(gauss(L)),
        forged,
        (forged, {}),
        Specialised(given, (i,)),
        (cited[name],),
        ({}, {}),
    ):
        with pytest.raises(ProofError, match="is no Theorem that this kernel proved"):
            attempt(gauss(L), "induction", given, **{**cited, name: other})
        with pytest.raises(ProofError, match="is no Theorem that this kernel proved"):
            attempt(
                eq(sum_(i, x[i] * total), sum_(i, x[i] * L)),
                "congruence",
                then="induction",
                inner={**cited, name: other},
            )
    with pytest.raises(TermError, match=f"needed the argument {name}="):
        attempt(gauss(L), "induction", **{key: value for key, value in cited.items() if key != name})


def test_values_that_were_changed_after_the_proof() -> None:
    values: dict[Any, Any] = {a: b}
    moved = lambda value: eq(gauss(value).args[0] + a, gauss(value).args[1] + a)
    base = by(moved(number(0)), "finite_sum")
    step = sums(moved, 2 * L)
    conclusion = eq(2 * total + b, L * (L - 1) + b)
    script = Script()
    script.closes("induction", on=L, base=(base, values), step=(step, values))
    theorem = prove("here", Statement(conclusion), lambda p: p.links.extend(script.links),
                    near_misses=[Statement(eq(2 * total + b, L * (L - 1)))])  # fmt: skip
    values[a] = c
    assert dict(theorem.steps[0].arguments["base"][1]) == {a: b}
    with pytest.raises((Refused, TermError)):
        check(Statement(conclusion), tuple(script.links))


def test_a_theorem_may_not_rest_on_a_claim_at_another_number() -> None:
    """The hypothesis P(M) of a step about M is met by what is known of M, not by the claim about L."""
    M = size("M", 0)
    base, step = at(gauss), sums(gauss, 2 * L)
    with pytest.raises((Refused, TermError)):
        attempt(eq(2 * total + 0 * M, L * (L - 1)), "induction", on=L, base=base, step=(step, {L: M}))
    with pytest.raises((Refused, TermError)):
        attempt(gauss(L), "induction", on=L, base=base, step=(step, {L: number(0)}))
    with pytest.raises((Refused, TermError)):
        attempt(gauss(L), "induction", on=L, base=(step, {L: number(0)}), step=step)


# --- under congruence -------------------------------------------------------------------------------------------------


def test_an_induction_inside_a_term() -> None:
    cited = {"on": L, "base": at(gauss), "step": sums(gauss, 2 * L)}
    left, right = gauss(L).args
    place_it = lambda side: sum_(i, exp(Term("add", (side, x[i]))) * x[i])
    attempt(eq(place_it(left), place_it(right)), "congruence", then="induction", inner=cited)
    refuse(eq(place_it(left), place_it(right + 1)), "congruence", then="induction", inner=cited)
    refuse(eq(place_it(left), place_it(right + value_of(j))), "congruence", then="induction", inner=cited)
    attempt(eq(exp(left) * delta(i, j), exp(right) * delta(i, j)), "cases", on=(i, j), then="congruence",
            inner={"then": "induction", "inner": cited})  # fmt: skip


def test_a_case_that_fixes_the_number_is_given() -> None:
    """In the case L <= 3 the next L may be 4."""
    refuse(gauss(L), "cases", on=le(L, 3), then="induction", inner={"on": L, "base": at(gauss), "step": sums(gauss, 2 * L)},
           match="what is given speaks of the number")  # fmt: skip


def test_an_index_that_a_binder_brings() -> None:
    """Under a sum over i the hypothesis may be about every i, too."""
    pi = permutation("pi", n)
    moves = forall(tau, forall(i, eq(G[i, tau + 1], G[pi(i), tau])), where=[le(0, tau)])
    start, there = forall(i, eq(G[i, 0], a)), {G: function([i, t], a)}

    def write(p: Script) -> None:
        p.equals(G[pi(i), L], "given", using=Specialised(moves, (L,)))
        p.closes("given")

    base = by(eq(G[i, 0], a), "given", start, witness=there)
    step = by(eq(G[i, L + 1], a), write, moves, forall(i, eq(G[i, L], a)), witness=there)
    claim = eq(sum_(i, G[i, L] * A[i, j]), sum_(i, a * A[i, j]))
    cited = {"on": L, "base": base, "step": step}
    attempt(claim, "congruence", moves, start, then="induction", inner={**cited, "over": i})
    refuse(claim, "congruence", moves, start, then="induction", inner=cited)
