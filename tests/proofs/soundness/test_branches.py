"""Kinks and conditions: no derivative at a tie, and no branch resolved by what holds in another one."""

from __future__ import annotations

import pytest

from proofs.binders import derivative, forall, function, sum_
from proofs.kernel import Script, Statement, check
from proofs.notation import (
    Definition,
    absolute,
    choice,
    curve,
    delta,
    eq,
    exp,
    index,
    le,
    log,
    lt,
    maximum,
    ne,
    sqrt,
    tanh,
    when,
)
from proofs.rules.context import Refused
from proofs.terms import ANY_REAL, Term, family, number, value_of

from .attempts import A, a, attempt, b, c, i, j, k, n, proved, refuse, t, x, z

relu = Definition("relu", [a], maximum(a, 0))
step = Definition("step", [a], when(lt(0, a), 1, 0))


# --- derivatives ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "at"),
    [
        (maximum(t, 0), 0),
        (maximum(t, 0), a),
        (maximum(t, a), a),
        (maximum(t, a), b),
        (maximum(t, t), 1),
        (maximum(a, t**2) - maximum(t**2, a), b),
        (relu(t), 0),
        (relu(t) - relu(-t), 0),
        (step(t), 0),
        (step(t - a), a),
        (t * step(t), 0),
        (when(lt(0, t), 1, 0), 0),
        (when(le(t, a), t, a), a),
        (when(eq(t, a), t, t), a),
        (when(eq(t, 0), 1, 0), 0),
        (when(ne(t, b), 1, 0), a),
        (when(le(step(t), 0), 1, 2), 0),
        (when(lt(absolute(t), 1), 1, 0), 0),
        (sum_(i, maximum(t, x[i])), 0),
        (exp(maximum(x[i] + t * delta(i, j), 0)), 0),
        (maximum(t, 0) ** 2, 0),
        (absolute(maximum(t, -1)), 0),
    ],
    ids=repr,
)
def test_a_kink_has_no_derivative(body: Term, at: Term | int) -> None:
    node = derivative(t, body, at)
    for value in (0, 1, node + 0):
        refuse(eq(node, value), "derivative", match="not known to be differentiable|the same term")


def test_the_condition_of_a_branch_is_that_at_the_point() -> None:
    """At 1 the maximum of t and 0 is t; that is no statement about other points."""
    slope = lambda at: derivative(t, maximum(t, 0), at)
    attempt(eq(slope(1), when(lt(1, 0), 0, 1)), "derivative")
    refuse(eq(slope(1), 0), "derivative")
    refuse(eq(slope(-1), 1), "derivative")
    refuse(eq(slope(a), when(lt(a, 0), 0, 1)), "derivative", match="not known to be differentiable")
    attempt(eq(slope(a), when(lt(a, 0), 0, 1)), "derivative", ne(a, 0))
    refuse(eq(slope(a), when(lt(0, a), 0, 1)), "derivative", ne(a, 0))


def test_a_derivative_of_a_derivative_needs_it_near_the_point() -> None:
    """relu is not differentiable for all t, so that its derivative is no function that could be differentiated."""
    s = Term("variable", (), ("s", "real"))
    inner = derivative(s, maximum(s, 0), t)
    refuse(eq(derivative(t, inner, 1), 0), "derivative", match="not known to be differentiable")
    refuse(
        eq(derivative(t, when(lt(0, t), inner, 0), 1), 0), "derivative", match="not known to be differentiable|vanish"
    )


def test_a_branch_that_is_not_taken_may_have_no_derivative() -> None:
    refuse(
        eq(derivative(t, when(lt(t, 1), absolute(t), t), 0), 0), "derivative", match="not known to be differentiable"
    )
    refuse(eq(derivative(t, when(lt(t, 1), sqrt(t), t), 0), 0), "derivative", match="not known to be differentiable")
    refuse(eq(derivative(t, when(lt(1, t), t, log(t)), 0), 0), "derivative", match="not known|logarithm")


def test_a_side_of_a_condition_that_jumps() -> None:
    """The sides differ at the point; near it they need not, unless they are continuous."""
    y = choice("mu", ANY_REAL, target=2)
    rough = family("rough", ANY_REAL)
    for side in (rough[t], value_of(y(t)), step(t) + 3):
        refuse(
            eq(derivative(t, when(le(side, 9), t, 0), 0), 1),
            "derivative",
            le(rough[0], 8),
            match="derivative|curve|differentiable",
        )
    refuse(eq(derivative(t, when(eq(y(t), y(0)), t, 0), 0), 1), "derivative", match="a condition on a moving index")


def test_a_theorem_about_curves_at_a_kink() -> None:
    y = curve("y")
    theorem = proved(
        eq(derivative(t, y[t] ** 2, a), 2 * y[a] * y.derivative[a]),  # type: ignore[index]
        eq(derivative(t, y[t] ** 2, a), y.derivative[a]),  # type: ignore[index]
        lambda p: p.closes("derivative"),
    )
    square = derivative(t, maximum(t, 0) ** 2, 1)
    refuse(
        eq(square, 2 * maximum(number(1), 0) * when(lt(1, 0), 0, 1)),
        theorem,
        at={y: function(t, maximum(t, 0)), a: 1},
        match="differentiable",
    )
    slope = Definition("slope", [y, a], derivative(t, y[t], a))
    refuse(eq(slope(function(t, relu(t)), 1) * 0, 0), "ring", match="differentiable")


# --- order ------------------------------------------------------------------------------------------------------------


def test_a_fact_of_one_branch_is_none_of_the_other() -> None:
    """In the first branch 0 <= a, in the second a < 0."""
    refuse(eq(when(le(0, a), b, absolute(a)), when(le(0, a), b, a)), "order")
    refuse(eq(when(lt(a, b), maximum(a, b), maximum(a, b)), b), "order")
    refuse(eq(when(le(a, b), when(le(a, b), 1, 2), when(le(a, b), 3, 4)), when(le(a, b), 1, 3)), "order")
    attempt(eq(when(le(a, b), when(le(a, b), 1, 2), when(le(a, b), 3, 4)), when(le(a, b), 1, 4)), "order")


def test_a_fact_of_a_branch_stays_inside() -> None:
    refuse(eq(when(le(0, a), 1, 0) + absolute(a), when(le(0, a), 1, 0) + a), "order")
    refuse(eq(when(le(a, b), 1, 0) * maximum(a, b), when(le(a, b), 1, 0) * b), "order")
    refuse(eq(sum_(i, when(eq(i, j), absolute(x[i]), 0)), sum_(i, when(eq(i, j), x[i], 0))), "order", le(0, x[k]))


def test_a_condition_that_is_not_known_is_neither_true_nor_false() -> None:
    for condition in (le(a, b), lt(a, b), eq(a, b), ne(a, b), eq(i, j), ne(i, j)):
        for value in (1, 0):
            refuse(eq(when(condition, 1, 0), value), "order", match="left over")
            refuse(
                eq(when(condition, 1, 0), value),
                "order",
                le(a, b - 1) if condition.args[0] == i else le(0, a),
                match="left over",
            )


def test_a_weak_fact_decides_no_strict_condition() -> None:
    refuse(eq(when(lt(a, b), 1, 0), 1), "order", le(a, b))
    refuse(eq(when(eq(a, b), 1, 0), 0), "order", le(a, b))
    refuse(eq(when(lt(b, a), 1, 0), 1), "order", le(a, b))
    attempt(eq(when(lt(b, a), 1, 0), 0), "order", le(a, b))


def test_a_maximum_is_one_of_its_arguments() -> None:
    """Not the last one, not a smaller one, and each of two equal ones."""
    refuse(eq(maximum(a, b), a), "order", le(a, b))
    refuse(eq(maximum(a, b, c), c), "order", le(a, c))
    refuse(eq(maximum(a, b, c), b), "order", le(a, b), le(c, b + 1))
    refuse(eq(maximum(a, a), 0), "order")
    refuse(eq(maximum(a, b), b), "order", le(a, b + 1))
    attempt(eq(maximum(a, a), a), "order")
    attempt(eq(maximum(a, b, a, b) + c, b + c), "order", le(a, b))
    attempt(eq(maximum(a, b) + 0, b), "order", eq(a, b))
    refuse(lt(a, maximum(a, b)), "order", le(a, b))
    refuse(le(maximum(a, b), b), "order", le(b, a))


def test_a_maximum_of_sums_is_no_sum_of_maxima() -> None:
    refuse(eq(maximum(sum_(i, x[i]), sum_(i, z[i])), sum_(i, maximum(x[i], z[i]))), "order")
    refuse(eq(maximum(x[i], z[i]), z[i]), "order", le(x[j], z[j]))
    refuse(eq(maximum(sum_(i, x[i]), sum_(i, z[i])), sum_(i, z[i])), "order", le(x[j], z[j]))
    attempt(eq(sum_(i, maximum(x[i], z[i])), sum_(i, z[i])), "order", forall(i, le(x[i], z[i])))


def test_the_absolute_value_of_a_product_with_an_unknown_sign() -> None:
    refuse(eq(absolute(a * b), a * b), "order", le(0, a))
    refuse(eq(absolute(a * b), a * b), "order", le(a, 0), le(0, b))
    attempt(eq(absolute(a * b), -a * b), "order", le(a, 0), le(0, b))
    refuse(eq(absolute(A[i, j]), A[i, j]), "order", le(0, A[j, i]))


def test_a_spelled_difference_is_resolved_by_what_is_known_only() -> None:
    refuse(le(a, b), "order", difference=absolute(b - a))
    refuse(le(a, b), "order", difference=maximum(b - a, 0))
    refuse(le(a, b), "order", difference=when(le(a, b), b - a, 0))
    refuse(le(0, a), "order", le(b, a), difference=when(le(b, a), b, a))
    refuse(lt(0, tanh(a) + 2 - maximum(tanh(a), 1)), "order", difference=when(le(tanh(a), 1), tanh(a), 2))


def test_cases_close_a_step_in_both_branches() -> None:
    refuse(eq(maximum(a, b), when(lt(a, b), b, b)), "cases", on=le(a, b), then="order")
    refuse(eq(absolute(a), a), "cases", on=le(0, a), then="order")
    attempt(eq(maximum(a, b), when(lt(a, b), b, a)), "cases", on=lt(a, b), then="order")


def test_a_condition_on_indices_is_no_condition_on_their_numbers() -> None:
    h = index("h", n)
    refuse(eq(when(eq(i, h), 1, 0), 1), "order", eq(x[i], x[h]))
    refuse(eq(when(eq(i, h), 1, 0), 0), "order", ne(i, j), ne(j, h))
    attempt(eq(when(eq(i, h), 1, 0) + 0 * a, 0 * a), "order", ne(h, i))


def test_a_chain_through_an_unknown_branch() -> None:
    """a <= max(a, b) = b is no proof of a <= b."""
    script = Script()
    script.at_most(maximum(a, b), "order")
    script.closes("order")
    with pytest.raises(Refused, match="not known"):
        check(Statement(le(a, b)), tuple(script.links))
