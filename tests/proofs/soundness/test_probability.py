"""Random variables: what second moments do not give, and what is no number, no size and no case."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from proofs.binders import as_function, expectation, forall, function, sum_
from proofs.kernel import Script, Specialised, Statement, Theorem, check, prove
from proofs.notation import (
    Definition,
    absolute,
    choice,
    delta,
    derivative,
    eq,
    exp,
    family,
    index,
    join,
    le,
    log,
    lt,
    maximum,
    ne,
    outcome,
    permutation,
    rational,
    space,
    split,
    sqrt,
    table,
    value_of,
    variable,
    when,
)
from proofs.rules.context import Refused
from proofs.terms import Term, TermError, curve, extent, literal, number
from proofs.well_typed import check_entry

from .attempts import a, attempt, b, c, i, j, k, n, proved, refuse, t, x

U, W = space("U"), space("W")
u, v, w = outcome("u", U), outcome("v", U), outcome("w", W)
q, r, g, f = family("q", n, U), family("r", U), family("g", n, W), family("f", U, W)
s = family("s", U, U)
hi = choice("hi", U, target=n)


def E(body: Any, *outcomes: Term) -> Term:
    return expectation(outcomes or (u,), body)


# --- independence -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["expectation", "finite_sum", "ring"])
def test_variables_over_one_space_may_depend_on_each_other(rule: str) -> None:
    refuse(eq(E(q[i, u] * q[j, u]), E(q[i, u]) * E(q[j, u])), rule)
    refuse(eq(E(q[i, u] * q[i, u]), E(q[i, u]) ** 2), rule)
    refuse(eq(E(r[u] * x[hi(u)]), E(r[u]) * E(x[hi(u)])), rule)


def test_what_is_over_two_spaces_at_once_depends_on_both() -> None:
    refuse(eq(E(f[u, w] * r[u], u, w), E(f[u, w], u, w) * E(r[u])), "expectation")
    refuse(eq(E(f[u, w] * f[v, w], u, v, w), E(f[u, w], u, w) ** 2), "expectation")
    attempt(eq(E(r[u] * g[i, w], u, w), E(r[u]) * E(g[i, w], w)), "expectation")


def test_two_outcomes_of_one_space_are_two() -> None:
    """E s(u, v) over independent u and v is not E s(u, u), and s need not be symmetric."""
    refuse(eq(E(s[u, v], u, v), E(s[u, u])), "expectation")
    refuse(eq(E(s[u, v] * r[u], u, v), E(s[v, u] * r[u], u, v)), "expectation")
    attempt(eq(E(s[u, v], u, v), E(s[v, u], u, v)), "expectation")


def test_uncorrelated_is_not_independent() -> None:
    given = (eq(E(q[i, u] * r[u]), 0), eq(E(q[i, u]), 0), eq(E(r[u]), 0))
    refuse(eq(E(absolute(q[i, u]) * absolute(r[u])), E(absolute(q[i, u])) * E(absolute(r[u]))), "expectation", *given)
    refuse(eq(q[i, u] * r[u], 0), "given", *given)


# --- what has a mean --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "match"),
    [
        (r[u] ** 3, "a moment of order 3"),
        (r[u] ** 4, "a moment of order 4"),
        (r[u] * q[i, u] * q[j, u], "a moment of order 3"),
        (sum_(i, q[i, u] ** 2) ** 2, "a moment of order 4"),
        (r[u] ** 2 * E(s[u, v] ** 2, v), "a moment of order 4"),
        (maximum(r[u] ** 3, 0), "a moment of order 3"),
        (when(lt(r[u], a), r[u] ** 3, 0), "a moment of order 3"),
        (1 / r[u], "not known to be integrable"),
        (1 / (1 + r[u] ** 2), "not known to be integrable"),
        (r[u] ** 2 * r[u] ** -1, "not known to be integrable"),
        (exp(r[u]), "not known to be integrable"),
        (exp(-(r[u] ** 2)), "not known to be integrable"),
        (log(r[u]), "not known to be integrable"),
        (sqrt(r[u] ** 2), "not known to be integrable"),
        (r[u] ** rational(1, 2), "not known to be integrable"),
        (c ** r[u], "not known to be integrable"),
    ],
    ids=repr,
)
def test_a_mean_that_may_not_exist(body: Term, match: str) -> None:
    given = (forall(u, lt(0, r[u])),)
    refuse(eq(E(body), E(body + 0)), "ring", *given, match=match)
    refuse(eq(0 * E(body), 0), "expectation", *given, match=match)
    refuse(eq(E(E(body) * r[v], v), a), "expectation", *given, match=match)
    refuse(le(a, b), "order", *given, le(E(body), 0), match=match)
    refuse(eq(E(r[u] + a), a + E(r[u])), "expectation", forall(i, lt(0, E(body) * x[i])), *given, match=match)


def test_a_mean_that_may_not_exist_in_the_middle_of_a_proof() -> None:
    script = Script()
    script.equals(E(r[u]) + E(r[u] ** 4) - E(r[u] ** 4), "ring")
    script.closes("ring")
    with pytest.raises(Refused, match="a moment of order 4"):
        check(Statement(eq(E(r[u]), E(r[u]) + 0)), tuple(script.links))
    refuse(le(E(r[u]), 1 + E(r[u])), "order", match="a moment of order 4", difference=1 + 0 * E(r[u] ** 4))


T = variable("T", "positive")


def tail_of(y: Term) -> Term:
    """P(y >= T^2) >= c / (1 + T)^3 for every T: then y may have a mean, and has no second moment."""
    return forall(T, le(c / (1 + T) ** 3, E(when(le(T**2, y), 1, 0))))


def squares_bound_means() -> Theorem:
    """2 E r <= E r^2 + 1."""
    square = proved(
        le(2 * r[u], r[u] ** 2 + 1), le(2 * r[u], r[u] ** 2), lambda p: p.closes("order", difference=(r[u] - 1) ** 2)
    )

    def write(p: Script) -> None:
        p.equals(E(2 * r[u]), "expectation")
        p.at_most(E(r[u] ** 2 + 1), "congruence", then=square)
        p.closes("expectation")

    return proved(le(2 * E(r[u]), E(r[u] ** 2) + 1), le(2 * E(r[u]), E(r[u] ** 2)), write)


@pytest.mark.parametrize("value", [r[u] ** 2, exp(r[u]), r[u] * q[i, u]], ids=repr)
def test_a_theorem_about_random_variables_at_one_without_a_second_moment(value: Term) -> None:
    """The square of a random variable may have no second moment, so that nothing proved of such variables holds of it."""
    theorem = squares_bound_means()
    attempt(le(E(q[i, u]), E(q[i, u] ** 2) + 1 - E(q[i, u])), theorem, at={r: function(u, q[i, u])})
    mentioned = forall(u, eq(value, value))
    refuse(
        le(a, b),
        "order",
        le(a, b - 1),
        mentioned,
        match="moment|integrable",
        using=((theorem, {r: function(u, value)}),),
    )


def test_a_heavy_tail_has_no_second_moment() -> None:
    """If P(y >= T^2) >= c / (1 + T)^3 for all T, then E y^2 = oo: of such y anything follows, and y = r^2 may be one."""
    y = family("y", U, domain="nonnegative")
    heavy, there = tail_of(y[u]), {U: number(2), y: function(index("k", 2), 100), c: rational(1, 2)}
    event, V = when(le(T**2, y[u]), 1, 0), E(y[u] ** 2)
    above = when(le(T**2, y[u]), (y[u] - T**2) * (y[u] + T**2), y[u] ** 2)
    pointwise = _more(
        le(T**4 * event, y[u] ** 2), "cases", on=le(T**2, y[u]), then="order", inner={"difference": above}
    )

    def markov(p: Script) -> None:
        p.equals(E(T**4 * event), "expectation")
        p.closes("congruence", then=pointwise)

    tail = _more(le(T**4 * E(event), V), markov)

    def too_heavy(p: Script) -> None:
        p.equals(T**4 * (1 + T) ** 3 * (c / (1 + T) ** 3), "field")
        gap = T**4 * (1 + T) ** 3 * (E(event) - c / (1 + T) ** 3)
        p.at_most(T**4 * (1 + T) ** 3 * E(event), "order", using=Specialised(heavy, (T,)), difference=gap)
        p.closes("order", using=tail, difference=(1 + T) ** 3 * (V - T**4 * E(event)))

    bound = _more(le(c * T**4, (1 + T) ** 3 * V), too_heavy, heavy, witness=there)
    chance = lambda y: E(when(le(a, y), 1, 0))
    small, large = rational(1, 4), lambda y: chance(y) + when(eq(chance(y), 0), 1, 0)
    excess, far = absolute(small - large(y[u])), 8 * V / c

    def anything(p: Script) -> None:
        p.at_most(large(y[u]) + excess, "cases", on=le(small, large(y[u])), then="order")
        rest = c * (1 + far) ** 4 - 8 * (1 + far) ** 3 * V
        p.equals(large(y[u]) + excess / (c * (1 + far) ** 3) * rest, "field")
        gap = (2 + far) ** 3 * V - c * (1 + far) ** 4 + V * (12 * far + 18 * far**2 + 7 * far**3)
        p.closes("order", using=(bound, {T: 1 + far}), difference=excess / (c * (1 + far) ** 3) * gap)

    theorem = _more(le(small, large(y[u])), anything, heavy, witness=there)
    square = r[u] ** 2  # r has a second moment where P(|r| >= T) = c / (1 + T)^3, and then the conclusion is false
    refuse(le(small, large(square)), theorem, tail_of(square), at={y: function(u, square)}, match="moment")


def _more(
    conclusion: Term, write: Callable[[Script], None] | str, *given: Term, witness: Any = None, **options: Any
) -> Theorem:
    """A theorem whose near miss says much more on the left."""
    left, right = conclusion.args
    script = write if callable(write) else lambda p: p.closes(write, **options)
    return prove(
        "here",
        Statement(conclusion, given),
        script,
        near_misses=[Statement(le(left + 10**9, right), given)],
        witness=witness,
    )


# --- signs, variances -------------------------------------------------------------------------------------------------


def test_a_variance_of_zero_says_nothing_about_one_outcome() -> None:
    """Almost surely is not always."""
    centred = (eq(E((r[u] - E(r[v], v)) ** 2), 0),)
    for rule in ("given", "order", "expectation"):
        refuse(eq(r[u], E(r[v], v)), rule, *centred)
    refuse(eq(r[u], 0), "given", eq(E(r[v] ** 2, v), 0))
    refuse(ne(E(r[u] ** 2), 0), "order", forall(u, ne(r[u], a)))
    refuse(lt(0, E((r[u] - E(r[v], v)) ** 2)), "order")


def test_a_mean_of_what_is_not_negative_is_not_positive() -> None:
    refuse(lt(0, E(r[u] ** 2)), "order")
    refuse(lt(0, E(absolute(r[u]))), "order", ne(r[u], 0))
    refuse(lt(0, E(when(lt(a, r[u]), 1, 0))), "order", lt(a, r[u]))
    attempt(lt(0, E(absolute(r[u]))), "order", forall(u, ne(r[u], 0)))


def test_one_outcome_is_no_part_of_the_mean() -> None:
    """A sum has each of its terms; a mean has none of its own."""
    refuse(le(r[u] ** 2, E(r[v] ** 2, v)), "order")
    refuse(le(E(r[v] ** 2, v), r[u] ** 2), "order")
    refuse(lt(r[u], E(absolute(r[v]) + 1, v)), "order")


def test_the_wrong_way_of_jensen() -> None:
    for wrong in (
        le(E(r[u] ** 2), E(r[u]) ** 2),
        le(maximum(E(r[u]), 0), 0 * E(r[u])),
        le(E(absolute(r[u])), absolute(E(r[u]))),
    ):
        refuse(wrong, "order")


def test_what_is_said_of_one_outcome_is_not_said_of_all() -> None:
    refuse(le(E(r[u]), a), "order", le(r[u], a))
    refuse(le(E(r[u]), E(a + 0 * r[u])), "congruence", le(r[u], a), then="order")
    refuse(eq(E(r[u] * q[i, u]), E(a * q[i, u])), "congruence", eq(r[u], a), then="given")
    attempt(eq(E(r[u] * q[i, u]), E(a * q[i, u])), "congruence", forall(u, eq(r[u], a)), then="given")


# --- names ------------------------------------------------------------------------------------------------------------


def test_a_free_outcome_is_not_captured() -> None:
    """E_u (q_u b) = b E_u q_u at b = r_u, where u is another outcome."""
    pulled = proved(eq(E(q[i, u] * b), b * E(q[i, u])), eq(E(q[i, u] * b), b), lambda p: p.closes("expectation"))
    attempt(eq(E(q[i, v] * r[u], v), r[u] * E(q[i, v], v)), pulled, at={b: r[u]})
    refuse(eq(E(q[i, u] * r[u]), r[u] * E(q[i, u])), pulled, at={b: r[u]})
    with pytest.raises(TermError, match="the proof speaks of u"):
        attempt(eq(E(q[i, u] * r[u]), E(r[u]) * E(q[i, u])), pulled, at={b: r[u]})
    refuse(eq(E(r[u]), r[u]), "expectation")
    refuse(eq(E(r[v] * r[u], v), E(r[u] * r[u])), "expectation")


def test_an_outcome_in_the_value_of_a_family_is_not_captured() -> None:
    theorem = proved(eq(E(r[u] + a), E(r[u]) + a), eq(E(r[u] + a), a), lambda p: p.closes("expectation"))
    at = {r: function(u, s[u, v])}
    attempt(eq(E(s[u, v] + a), E(s[u, v]) + a), theorem, at=at)
    with pytest.raises(TermError, match="the proof speaks of v"):
        attempt(eq(E(s[u, u] + a), E(s[u, u]) + a), theorem, at=at)


def test_congruence_opens_an_expectation_without_meeting_a_free_outcome() -> None:
    refuse(eq(E(r[u]), E(0 * r[u])), "congruence", eq(r[u], 0), then="given")


# --- sorts ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [n, number(2), n * n, a, i, u], ids=repr)
def test_an_expectation_at_a_size(value: Term) -> None:
    """A space is no number of outcomes: E 1 = 1, and a sum over two places of 1 is 2."""
    theorem = proved(eq(E(a * b), a * b), eq(E(a * b), a), lambda p: p.closes("expectation"))
    with pytest.raises(TermError):
        attempt(
            eq(E(a * b), a * b + 0 * value if value.op in ("size", "number", "mul") else a * b), theorem, at={U: value}
        )


@pytest.mark.parametrize(
    "build",
    [
        lambda: sum_(u, r[u]),
        lambda: value_of(u),
        lambda: delta(u, v),
        lambda: eq(u, v),
        lambda: ne(u, v),
        lambda: when(eq(u, v), a, b),
        lambda: join(u, i),
        lambda: join(i, u),
        lambda: split(u, 2),
        lambda: literal(0, U),
        lambda: r[0],
        lambda: table([a, b], u),
        lambda: choice("new", n, target=U),
        lambda: permutation("new", U),
        lambda: index("u", U),
        lambda: extent(U),
        lambda: U + 1,
        lambda: le(U, 2),
        lambda: eq(U, U),
        lambda: curve("new", U),
        lambda: expectation(i, x[i]),
        lambda: expectation(t, t),
        lambda: derivative(u, r[u], 0),
        lambda: outcome("new", n),
        lambda: r[w],
        lambda: r[i],
        lambda: x[u],
        lambda: forall(U, eq(a, b)),
        lambda: expectation(u, eq(a, b)),
    ],
)
def test_an_outcome_is_no_index_and_a_space_is_no_size(build: Callable[[], Term]) -> None:
    with pytest.raises(TermError):
        build()


bound = Term("bound", (), 0)
FORGED = {
    "a sum over a space": Term("sum", (U, Term("family", (bound,), r)), None, ("u",)),
    "an expectation over a size": Term("expect", (n, Term("family", (bound,), x)), None, ("i",)),
    "an expectation over the reals": Term("expect", (Term("domain", (), "real"), bound), None, ("t",)),
    "an expectation without a name": Term("expect", (U, a)),
    "an expectation of an outcome": Term("expect", (U, bound), None, ("u",)),
    "an expectation of a proposition": Term("expect", (U, eq(a, b)), None, ("u",)),
    "an outcome as a number": Term("value", (u,)),
    "two outcomes that are equal": Term("delta", (u, v)),
    "one outcome that is equal to itself": Term("delta", (u, u)),
    "a condition on outcomes": Term("when", (Term("relation", (u, v), "eq"), a, b)),
    "a position in a space": Term("literal", (U,), 0),
    "a space as a number": Term("add", (U, number(1))),
    "a space times a size as a range": Term("sum", (Term("mul", (U, n)), a), None, ("i",)),
    "a space plus one as a range": Term("index", (Term("add", (U, number(1))),), "i"),
    "a space of another kind": Term("expect", (Term("space", (), ("U", 1)), a), None, ("u",)),
    "a space with a fresh name": Term("expect", (Term("space", (), ("000U",)), a), None, ("u",)),
    "a space with parts": Term("expect", (Term("space", (n,), ("U",)), a), None, ("u",)),
    "a join of outcomes": Term("join", (u, i, n, U)),
    "a quotient of an outcome": Term("quotient", (u, number(2), number(2))),
    "a table at an outcome": Term("table", (a, b, u), (2,)),
    "a map into a space": Term("family", (Term("map", (i,), type(hi)("to", (n,), U)),), r),
    "a permutation of a space": Term("family", (Term("map", (u,), type(hi)("pi", (U,), U, True)),), r),
    "a family at an outcome of another space": Term("family", (w,), r),
}


@pytest.mark.parametrize("term", FORGED.values(), ids=FORGED)
def test_what_is_built_node_by_node(term: Term) -> None:
    with pytest.raises(TermError):
        check_entry(term)
    with pytest.raises(TermError):
        attempt(eq(a, b + term), "ring")


def test_a_definition_does_not_hide_a_moment() -> None:
    """As it stands no definition can be about a random variable; one that could would have to look at its arguments."""
    second = Definition("second", [r], E(r[u] ** 2))
    with pytest.raises(TermError, match="no argument tells the size U"):
        second(r)
    hidden = Term("apply", (U, function(u, r[u] ** 2)), second)
    with pytest.raises(TermError):
        attempt(eq(hidden, E(r[u] ** 4)), "definition", of=second)
    with pytest.raises(TermError):
        Definition("mean", [a], E(a * r[u]))
    assert as_function(r).args[0] == U


def test_outcomes_are_no_cases() -> None:
    for on in ((u, v), (v, u), u):
        with pytest.raises(TermError):
            attempt(eq(r[u] * b, r[v] * b), "cases", on=on, then="ring")


def test_a_random_index_is_one_of_many() -> None:
    refuse(eq(E(x[hi(u)]), sum_(i, x[i]) / n), "expectation")
    refuse(eq(E(x[hi(u)]), x[i]), "expectation")
    refuse(eq(E(x[hi(u)] ** 2), E(x[hi(u)]) ** 2), "expectation")
    refuse(eq(sum_(i, q[hi(u), u] * x[i]), sum_(i, q[i, u] * x[i])), "expectation")
    refuse(eq(E(value_of(hi(u))), a), "expectation", match="not known to be integrable")
    refuse(eq(E(delta(hi(u), k) * x[k]), E(x[hi(u)])), "expectation", match="not known to be integrable")


def test_a_derivative_does_not_pass_into_an_expectation() -> None:
    refuse(eq(derivative(t, E(r[u] * t), a), E(r[u])), "derivative", match="no rule for the derivative")
    refuse(eq(derivative(t, E(when(le(r[u], t), 1, 0)), a), 0), "derivative", match="no rule for the derivative")
