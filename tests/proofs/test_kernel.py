"""Theorems come out of checked proofs, with the record that is printed. The dangers are in soundness/."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import pytest

from proofs.axioms import AXIOMS
from proofs.binders import sum_, tends
from proofs.kernel import Link, NearMiss, ProofError, Script, Statement, Theorem, Twin, check, prove, require_theorem
from proofs.notation import INFINITY, delta, eq, exp, family, index, le, lt, ne, size, variable
from proofs.rules.context import Refused
from proofs.terms import Term, number

n = size("n")
i, j = index("i", n), index("j", n)
a, b, c, t = variable("a"), variable("b"), variable("c", "positive"), variable("t")
x = family("x", n)
SQUARE = Statement(eq((a + b) ** 2, a**2 + 2 * a * b + b**2))


def expand(p: Script) -> None:
    "the square of a sum"
    p.equals(a * (a + b) + b * (a + b), "ring")
    p.closes("ring")


def square(**options: Any) -> Theorem:
    options.setdefault("near_misses", [Statement(eq((a + b) ** 2, a**2 + b**2))])
    return prove("square", SQUARE, expand, **options)


def chain(conclusion: Term, *links: tuple[Any, ...], given: tuple[Term, ...] = ()) -> Any:
    found = tuple(Link(relation, after, reason, arguments, ()) for relation, after, reason, arguments in links)
    return check(Statement(conclusion, given), found)


def test_the_record_is_what_was_checked() -> None:
    theorem = square()
    assert (theorem.name, theorem.says) == ("square", "the square of a sum")
    assert theorem.statement == SQUARE and theorem.source is None and not theorem.is_axiom
    first, last = theorem.steps
    assert (first.before, first.relation, first.reason) == ((a + b) ** 2, "eq", "ring")
    assert first.after == last.before and last.after == SQUARE.conclusion.args[1]
    assert theorem.rules == ("ring",) and theorem.uses == ()


def test_a_near_miss_leaves_a_residue() -> None:
    (miss,) = square().near_misses
    assert isinstance(miss, NearMiss)
    assert miss.residue == number(2) * a * b and miss.message == "what is left over: mul(2, a, b)"


def test_what_a_theorem_uses() -> None:
    earlier = square()
    statement = Statement(eq((a + c) ** 2 * 2, (a**2 + 2 * a * c + c**2) * 2))
    twin = Statement(eq((a + c) ** 2 * 2, a**2))
    theorem = prove("twice", statement, lambda p: p.closes(earlier, at={b: c}), near_misses=[twin])
    assert theorem.uses == (earlier,) and theorem.rules == ()
    inside = prove(
        "inside",
        Statement(eq(sum_(i, (x[i] + b) ** 2), sum_(i, x[i] ** 2 + 2 * x[i] * b + b**2))),
        lambda p: p.closes("congruence", then=earlier, at={a: x[i]}),
        near_misses=[Statement(eq(sum_(i, (x[i] + b) ** 2), sum_(i, x[i] ** 2 + b**2)))],
    )
    assert inside.uses == (earlier,) and inside.rules == ("congruence",)


def test_a_theorem_holds_for_all_sizes_or_for_some() -> None:
    two = index("k", 2)
    z = family("z", 2)
    general = prove("g", Statement(eq(sum_(i, a + 0 * x[i]), n * a)), lambda p: p.closes("finite_sum"),
                    near_misses=[Statement(eq(sum_(i, a + 0 * x[i]), a + n))])  # fmt: skip
    instance = prove("i", Statement(eq(sum_(two, z[two]), z[0] + z[1])), lambda p: p.closes("finite_sum"),
                     near_misses=[Statement(eq(sum_(two, z[two]), z[0]))])  # fmt: skip
    assert general.is_general and not instance.is_general and square().is_general


def test_require_theorem_takes_what_was_proved_and_what_stands_for_it() -> None:
    theorem = square()

    class Claim:
        def __init__(self) -> None:
            self.theorem = theorem

    assert require_theorem(theorem) is require_theorem(Claim()) is theorem
    for other in (None, "square", SQUARE, object()):
        with pytest.raises(ProofError, match="is no Theorem that this kernel proved"):
            require_theorem(other)


def test_an_axiom_has_a_source_and_a_refuter() -> None:
    for axiom in AXIOMS:
        assert axiom.theorem.is_axiom and axiom.theorem.source and not axiom.theorem.steps
        assert axiom.refute() is None, axiom.theorem.name


@pytest.mark.parametrize(
    ("statement", "write", "message"),
    [
        (Statement(eq(a, b)), lambda p: p.closes("magic"), "'magic' is no rule; the table has definition, ring, field"),
        (SQUARE, lambda p: p.equals(a, "ring"), "what is left over"),
        (SQUARE, lambda p: None, "the proof is empty"),
        (SQUARE, lambda p: (p.closes("ring"), p.closes("ring")), "closes() is the last link"),
        (SQUARE, lambda p: p.equals(i, "ring"), "is not a real number"),
        (SQUARE, lambda p: p.equals(a / b, "ring"), "a denominator may vanish"),
        (SQUARE, lambda p: p.closes("ring", speed=a), "ring takes no arguments; found speed"),
        (SQUARE, lambda p: p.closes("definition"), "definition: say which, as of="),
        (Statement(le(a, b), (le(a, b), le(b, a))), lambda p: p.closes("ring"), "the conclusion is one of the hypotheses"),
        (Statement(lt(a, b), (le(a, b),)), lambda p: p.closes("order"), "not known to be positive"),
        (Statement(le(a, a + c)), lambda p: p.closes("ring"), "what is left over"),
        (Statement(ne(a, a + c)), lambda p: p.closes("ring"), "what is left over"),
        (Statement(eq(i, j)), lambda p: p.closes("ring"), "j is not a real number"),
        (Statement(a), lambda p: p.closes("ring"), "is no conclusion: needed an equation, an inequality or a limit"),
        (Statement(eq(a, b + 1), (a,)), lambda p: p.closes("ring"), "a is no hypothesis"),
        (Statement(tends(t, a / t, INFINITY, 0)), lambda p: p.closes("ring"), "a limit closes with limit or squeeze"),
        (Statement(tends(t, a / t, INFINITY, 0)), lambda p: (p.at_most(a / t), p.closes("limit")), "before the limit is taken"),
        (Statement(eq(a + b, b + a)), lambda p: p.closes("limit"), "'limit' is no rule"),
    ],
)  # fmt: skip
def test_errors_say_what_and_where(statement: Statement, write: Callable[[Script], Any], message: str) -> None:
    with pytest.raises(ProofError) as refusal:
        prove("here", statement, write, near_misses=[])
    assert str(refusal.value).startswith("here: ") and message in str(refusal.value)


def test_a_false_statement_is_seen_by_the_second_opinion() -> None:
    """Even if a rule were wrong: the statement is evaluated at random points that meet its hypotheses."""
    from proofs.kernel import _confirm

    with pytest.raises(ProofError, match="the statement is false at"):
        _confirm(Statement(eq(a, a + delta(i, j))), None)
    with pytest.raises(ProofError, match="the statement is false at"):
        _confirm(Statement(lt(0, size("none", 0))), None)
    _confirm(Statement(lt(0, n)), None)


def test_chains_of_mixed_relations() -> None:
    steps = chain(
        lt(a, b + c),
        ("eq", a + 0, "ring", {}),
        ("le", b, "order", {}),
        (None, None, "order", {}),
        given=(le(a, b),),
    )
    assert [s.relation for s in steps] == ["eq", "le", "lt"]
    steps = chain(ne(a, b), ("eq", a + 0, "ring", {}), (None, None, "order", {}), given=(lt(a, b),))
    assert [s.relation for s in steps] == ["eq", "ne"]
    steps = chain(lt(a, b + c), ("lt", a + c, "order", {}), (None, None, "order", {}), given=(le(a, b),))
    assert [s.relation for s in steps] == ["lt", "le"]
    with pytest.raises(ProofError, match="'gt' is no relation of a link"):
        chain(lt(a, b), ("gt", b, "order", {}))


def test_the_last_link_takes_its_right_side_from_the_statement() -> None:
    with pytest.raises(Refused):
        check(SQUARE._replace(conclusion=eq((a + b) ** 2, a**2 + b**2)), (Link(None, None, "ring", {}, ()),))
    with pytest.raises(Refused, match="stops short"):
        chain(SQUARE.conclusion, ("eq", a**2 + b**2 + 2 * a * b, "ring", {}))


def test_on_proved_is_called_between_the_proof_and_its_near_misses() -> None:
    seen: list[str] = []

    def twins() -> Any:
        seen.append("near misses")
        yield Twin(Statement(eq((a + b) ** 2, a**2 + b**2)))

    square(near_misses=twins(), on_proved=lambda: seen.append("proved"))
    assert seen == ["proved", "near misses"]


def test_proved_theorems_are_not_kept_alive() -> None:
    from proofs.kernel import _proved

    gc.collect()
    before = len(_proved)
    theorem = square()
    assert len(_proved) == before + 1
    del theorem
    gc.collect()
    assert len(_proved) == before


def test_witnesses_meet_the_hypotheses() -> None:
    statement = Statement(eq(exp(a), exp(b)), (eq(a, b), eq(b, 7)))
    twin = Twin(Statement(eq(exp(a), -exp(b)), (eq(a, b), eq(b, 7))))
    with pytest.raises(ProofError, match="random points meets the hypotheses; give a witness"):
        prove("w", statement, lambda p: p.closes("congruence", then="given"), near_misses=[twin])
    theorem = prove("w", statement, lambda p: p.closes("congruence", then="given"), near_misses=[twin], witness={a: 7, b: 7})  # fmt: skip
    assert theorem.hypotheses == (eq(a, b), eq(b, 7))
