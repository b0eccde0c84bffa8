"""Fresh names, facts, and the symbols that may be spoken of."""

from __future__ import annotations

import pytest

from proofs.binders import sum_
from proofs.notation import eq, lt
from proofs.rules.context import Context, Refused
from proofs.terms import TermError, index

from .vocabulary import INDICES, A, a, b, g, n, x

i, j, _ = INDICES


def test_each_depth_has_names_of_its_own() -> None:
    total = sum_(i, sum_(i, A[i, i]) * x[i])
    (outer,), body, inside = Context().opened(total)
    (inner,), _, _ = inside.opened(next(t for t in body.args if t.op == "sum"))
    assert outer.data == "000i" and inner.data == "001i"
    with pytest.raises(TermError, match="is not a name"):
        index(outer.data, n)


def test_binders_add_what_may_be_spoken_of() -> None:
    context = Context().knowing([a, x, n])
    context.check_known(a + 1, x)
    with pytest.raises(TermError, match="the proof speaks of b, and the statement does not"):
        context.check_known(a, b)
    with pytest.raises(TermError, match="speaks of i"):
        context.check_known(x[i])
    (symbol,), _, inside = context.opened(sum_(i, x[i]))
    inside.check_known(x[symbol])


def test_a_curve_brings_its_derivative_and_not_the_reverse() -> None:
    assert g.derivative is not None
    Context().knowing([g]).check_known(g.derivative)
    with pytest.raises(TermError, match="speaks of g"):
        Context().knowing([g.derivative]).check_known(g)


def test_facts_add_up_and_contexts_do_not_change() -> None:
    first = Context()
    second = first.given([lt(a, b)]).given([eq(a, 0)])
    assert first.facts == () and second.facts == (lt(a, b), eq(a, 0))
    assert second.deeper(3).depth == 3 and second.depth == 0


def test_a_refusal_says_what_is_left() -> None:
    refusal = Refused("what is left over", a + b)
    assert str(refusal) == "what is left over: add(a, b)" and refusal.residue == a + b
