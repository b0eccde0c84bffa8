"""Proof code that reaches for the chain, the rules, or a theorem of its own."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import proofs
from proofs.binders import derivative, function, sum_
from proofs.kernel import ProofError, Script, Statement, Theorem, Twin, check, prove
from proofs.notation import (
    absolute,
    curve,
    eq,
    exp,
    lt,
)  # fmt: skip
from proofs.rules.context import Refused
from proofs.terms import ANY_REAL, Family, Term, TermError, number
from proofs.well_typed import check_entry

from .attempts import a, attempt, b, c, i, l, n, proved, refuse, softmax, t, z


def test_a_proof_cannot_set_the_term_of_the_chain() -> None:
    script = Script()
    assert {name for name in dir(script) if not name.startswith("_")} == {
        "at_most",
        "closes",
        "equals",
        "less_than",
        "links",
    }
    script.closes("ring")
    script.links[0] = script.links[0]._replace(after=a)  # the last link with a right side of its own
    with pytest.raises(Refused, match=r"what is left over|stops short"):
        check(Statement(eq(a + b, 2 * a)), tuple(script.links))


def test_a_proof_cannot_bring_its_own_rule() -> None:
    for reason in (lambda *whatever: None, "my_rule", object()):
        with pytest.raises(ProofError, match=r"is no rule|is no Theorem"):
            attempt(eq(a, b), reason)
    with pytest.raises(TypeError):
        proofs.rules.RULES["mine"] = None  # type: ignore[index]


def test_a_theorem_cannot_be_made_changed_copied_or_pickled() -> None:
    theorem = proved(eq(a + b, b + a), eq(a + b, b - a), lambda p: p.closes("ring"))
    with pytest.raises(TypeError, match="comes out of a checked proof"):
        Theorem(object(), conclusion=eq(a, b))
    with pytest.raises(AttributeError, match="cannot be changed"):
        theorem.conclusion = eq(a, b)
    for imitation in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="cannot be copied or pickled"):
            imitation(theorem)
    with pytest.raises(TypeError, match="no class can be made of it"):
        type("Mine", (Theorem,), {})


def test_a_forged_theorem_proves_nothing() -> None:
    theorem = proved(eq(a + b, b + a), eq(a + b, b - a), lambda p: p.closes("ring"))
    forged = object.__new__(Theorem)
    for slot in ("name", "hypotheses", "steps", "near_misses", "says", "source"):
        object.__setattr__(forged, slot, getattr(theorem, slot))
    object.__setattr__(forged, "conclusion", eq(a, b))

    class Liar:
        """Equal to the real theorem wherever it is asked, and pointing to it."""

        name, hypotheses, conclusion = "liar", (), eq(a, b)

        def __init__(self) -> None:
            self.theorem = theorem

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return hash(theorem)

    with pytest.raises(ProofError, match="is no Theorem that this kernel proved"):
        attempt(eq(a, b), forged)
    refuse(eq(a, b), Liar(), match="left side of here|not closed by here")
    refuse(eq(a, b), "order", using=(Liar(),))


def test_a_theorem_that_was_changed_under_the_seal_proves_nothing() -> None:
    theorem = proved(eq(a + b, b + a), eq(a + b, b - a), lambda p: p.closes("ring"))
    object.__setattr__(theorem, "conclusion", eq(a, b))
    with pytest.raises(ProofError, match="is no Theorem that this kernel proved"):
        attempt(eq(a, b), theorem)


def test_terms_that_lie_about_being_equal() -> None:
    class Equal(Term):
        __slots__ = ()

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return Term.__hash__(self)

    liar = Equal("variable", (), ("a", "real"))
    script = Script()
    script.equals(liar, "congruence", then="ring")
    script.closes("congruence", then="ring")
    with pytest.raises(TermError, match="is not a term, but Equal"):
        check(Statement(eq(a, a + 1)), tuple(script.links))
    with pytest.raises(TermError, match="is not a term, but Equal"):
        attempt(eq(liar + 1, a), "ring")


class Lying(tuple):  # type: ignore[type-arg]
    """A tuple that is equal to everything, with the hash of another one."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return hash(("b", "real"))


class LyingName(str):
    """A word that is equal to everything."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return str.__hash__(self)


LIARS = {
    "a variable": Term("variable", (), Lying(("a", "real"))),
    "a space": Term("expect", (Term("space", (), Lying(("U",))), a), None, ("u",)),
    "a space that is named by no tuple": Term("expect", (Term("space", (), "U"), a), None, ("u",)),
    "a family over a range": Term("family", (i,), Family("x", Lying((n,)))),
    "a family with a domain": Term("family", (i,), Family("x", (n,), LyingName("real"))),
    "a relation": Term("when", (Term("relation", (a, b), LyingName("le")), a, b)),
}


@pytest.mark.parametrize("term", LIARS.values(), ids=LIARS)
def test_data_that_lie_about_being_equal(term: Term) -> None:
    with pytest.raises(TermError):
        check_entry(term)


def test_a_variable_that_lies_about_its_name() -> None:
    """It is b for every comparison, and is printed as a."""
    with pytest.raises(TermError):
        attempt(eq(LIARS["a variable"] + 0, b), "ring")


def test_terms_and_definitions_cannot_be_changed() -> None:
    term = a + b
    with pytest.raises(AttributeError, match="a term cannot be changed"):
        term.op = "mul"
    term.__init__("number", (), 5)  # type: ignore[misc]
    assert (term.op, term.args, term.data) == ("add", (a, b), None)  # it was made by __new__, once
    for change in (lambda: setattr(softmax, "body", a), lambda: softmax.__init__("softmax", [z, i], z[i])):  # type: ignore[misc]
        with pytest.raises(AttributeError, match="cannot be changed"):
            change()


def test_what_was_proved_does_not_change_with_the_script() -> None:
    """Lists and dictionaries that a proof hands over are copied, or not taken."""
    at: dict[Any, Any] = {a: b}
    square = proved(
        eq((a + c) ** 2, a**2 + 2 * a * c + c**2), eq((a + c) ** 2, a**2 + c**2), lambda p: p.closes("ring")
    )
    theorem = proved(
        eq((b + c) ** 2 * 3, (b**2 + 2 * b * c + c**2) * 3),
        eq((b + c) ** 2 * 3, b**2),
        lambda p: p.closes(square, at=at),
    )
    at[a] = c
    assert dict(theorem.steps[0].arguments["at"]) == {a: b}
    chosen = [softmax]
    folded = proved(eq(softmax(z, i), exp(z[i]) / sum_(l, exp(z[l]))), eq(softmax(z, i), 1), lambda p: p.closes("definition", of=chosen))  # fmt: skip
    chosen.clear()
    assert folded.steps[0].arguments["of"] == (softmax,)
    hypotheses = [lt(0, a)]
    with pytest.raises(ProofError, match="not a Statement with a tuple of hypotheses"):
        prove("here", Statement(eq(absolute(a), a), hypotheses), lambda p: p.closes("order"), near_misses=[])  # type: ignore[arg-type]


def test_a_curve_brings_its_own_derivative() -> None:
    """The slope of a curve is that of its declaration, and no other."""
    y = Family("y", (ANY_REAL,), "real", Family("slope", (ANY_REAL,)))
    with pytest.raises(TermError, match="the derivative of a curve is d_y"):
        attempt(eq(derivative(t, y[t], a), y.derivative[a]), "derivative")  # type: ignore[index]
    y = curve("y")
    theorem = proved(eq(derivative(t, y[t], a), y.derivative[a]), eq(derivative(t, y[t], a), -y.derivative[a]), lambda p: p.closes("derivative"))  # type: ignore[index]  # fmt: skip
    right = eq(derivative(t, t**2, a), 2 * a)
    attempt(right, theorem, at={y: function(t, t**2)})
    refuse(right, theorem, at={y: function(t, t**2), y.derivative: function(t, t)}, match="is not the derivative")
    with pytest.raises(TermError, match="d_y cannot be replaced without y"):
        attempt(right, theorem, at={y.derivative: function(t, t)})


def test_optimised_python_refuses_too() -> None:
    """`python -O` deletes assert statements; nothing rests on one."""
    program = (
        "from proofs.kernel import *; from proofs.terms import *\n"
        "a, b = variable('a'), variable('b')\n"
        "try: prove('false', Statement(relation('eq', (a + b) ** 2, a**2 + b**2)), lambda p: p.closes('ring'), near_misses=[])\n"
        "except ProofError as refusal: print('refused:', refusal)\n"
        "print(prove('true', Statement(relation('eq', a + b, b + a)), lambda p: p.closes('ring'),"
        " near_misses=[Statement(relation('eq', a + b, b))]).name)\n"
    )
    root = Path(proofs.__file__).parents[1]
    found = subprocess.run([sys.executable, "-O", "-c", program], capture_output=True, text=True, cwd=root, check=True)
    assert found.stdout.splitlines() == ["refused: false: what is left over: mul(2, a, b)", "true"]


def test_twins_are_falsified_where_they_say() -> None:
    at = Twin(Statement(eq(absolute(a), -a), (lt(0, a),)), {a: number(3)})
    theorem = prove("here", Statement(eq(absolute(a), a), (lt(0, a),)), lambda p: p.closes("order"), near_misses=[at])
    assert theorem.near_misses[0].residue is not None
