"""A theorem as a page: what it speaks of, what it says, why each step holds, and which false twins its proof refuses."""

from __future__ import annotations

from typing import NamedTuple

from ..kernel import NearMiss, Statement, Step, Theorem
from ..terms import Term, number
from .declared import declarations, defined, definitions_used
from .names import Notation
from .parts import Part
from .reasons import reason
from .structure import Printer
from .unicode import Unicode


class Line(NamedTuple):
    """One step: the sign, the term after it, and why."""

    relation: str
    term: str
    reason: tuple[Part, ...]


class Refusal(NamedTuple):
    """A false twin, and what its proof by the same steps leaves over."""

    conclusion: str
    hypotheses: tuple[str, ...] | None  # None where they are the theorem's
    message: str
    residue: str


class Page(NamedTuple):
    name: str
    says: str
    symbols: tuple[tuple[Part, ...], ...]
    definitions: tuple[tuple[Part, ...], ...]
    hypotheses: tuple[str, ...]
    conclusion: str
    start: str | None  # the left side, from which the steps lead to the right one; None for an axiom
    lines: tuple[Line, ...]
    refusals: tuple[Refusal, ...]


def page(theorem: Theorem, printer: type[Printer]) -> Page:
    """A theorem in the signs of a printer; raises RenderError for anything that they have no words for."""
    said = Notation.of(theorem.conclusion, *theorem.hypotheses)
    stated = printer(said)
    steps = [t for s in theorem.steps for t in (s.before, s.after)]
    inside = printer(said.extended(*steps))
    used = definitions_used([theorem.conclusion, *theorem.hypotheses, *steps])
    return Page(
        name=theorem.name,
        says=theorem.says,
        symbols=tuple(declarations(said.symbols(), stated)),
        definitions=tuple(defined(d, printer) for d in used),
        hypotheses=tuple(map(stated, theorem.hypotheses)),
        conclusion=stated(theorem.conclusion),
        start=inside(theorem.steps[0].before) if theorem.steps else None,
        lines=tuple(_line(s, inside) for s in theorem.steps),
        refusals=tuple(_refusal(m, theorem, printer) for m in theorem.near_misses),
    )


def _line(step: Step, printer: Printer) -> Line:
    sign = printer.sign(step.relation)
    return Line(sign, printer(step.after), reason(step, printer))


def _refusal(miss: NearMiss, theorem: Theorem, printer: type[Printer]) -> Refusal:
    said = Notation.of(miss.conclusion, *miss.hypotheses)
    stated, residue = printer(said), presentable(miss.residue)
    return Refusal(
        conclusion=stated(miss.conclusion),
        hypotheses=None if miss.hypotheses == theorem.hypotheses else tuple(map(stated, miss.hypotheses)),
        message=shortened(miss.message, miss.residue),
        residue=printer(said.extended(residue))(residue),
    )


def one_line(statement: Statement) -> str:
    """A statement as plain text: the conclusion, then the hypotheses."""
    printer = Unicode(Notation.of(statement.conclusion, *statement.hypotheses))
    given = " and ".join(map(printer, statement.hypotheses))
    return printer(statement.conclusion) + (f" if {given}" if given else "")


def shortened(message: str, residue: Term) -> str:
    """A message of the kernel without the residue that it ends in, which is printed beside it."""
    return message.removesuffix(f": {residue!r}")


def presentable(residue: Term) -> Term:
    """An equal term that prints a + (-2) b as a - 2 b, and a sum or product of one part as that part.

    What is left over is no part of a proof, and comes out of a normal form; a statement or a step is never rewritten.
    """
    parts = tuple(map(presentable, residue.args))
    if residue.op not in ("add", "mul"):
        return residue.rebuilt(parts)
    if len(parts) == 1:
        return parts[0]
    return residue.rebuilt((*parts[:1], *map(_subtracted, parts[1:])) if residue.op == "add" else parts)


def _subtracted(term: Term) -> Term:
    if term.op != "mul" or term.args[0].op != "number" or term.args[0].data >= 0 or term.args[0].data == -1:
        return term
    return Term("mul", (number(-1), number(-term.args[0].data), *term.args[1:]))
