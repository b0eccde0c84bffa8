"""A theorem as a page: what it speaks of, what it says, why each step holds, and which false twins its proof refuses."""

from __future__ import annotations

from typing import NamedTuple

from ..definitions import Definition
from ..kernel import NearMiss, Statement, Step, Theorem
from ..terms import Term, number
from .catalogues import ENGLISH, Catalogue
from .declared import declarations, defined, definitions_used
from .names import Notation
from .parts import Declaration, Part
from .reasons import reason, spoken_of
from .structure import Printer
from .unicode import Unicode


class Line(NamedTuple):
    """One step: the sign, the term after it, and why."""

    relation: str
    term: str
    reason: tuple[Part, ...]


class Refusal(NamedTuple):
    """A false twin, and what its proof by the same steps leaves over; `symbols` and `definitions` are those it alone has."""

    symbols: tuple[Declaration, ...]
    definitions: tuple[tuple[Part, ...], ...]
    conclusion: str
    hypotheses: tuple[str, ...] | None  # None where they are the theorem's
    message: str
    residue: str


class Page(NamedTuple):
    name: str
    says: str
    symbols: tuple[Declaration, ...]
    definitions: tuple[tuple[Part, ...], ...]
    hypotheses: tuple[str, ...]
    conclusion: str
    met: tuple[Declaration, ...]  # the symbols that only the steps and their reasons speak of
    start: str | None  # the left side, from which the steps lead to the right one; None for an axiom
    lines: tuple[Line, ...]
    refusals: tuple[Refusal, ...]


def page(theorem: Theorem, printer: type[Printer], catalogue: Catalogue = ENGLISH) -> Page:
    """A theorem in the signs of a printer and the words of a catalogue; raises RenderError for anything that they lack."""
    said = Notation.of(theorem.conclusion, *theorem.hypotheses)
    stated = printer(said)
    steps = [t for s in theorem.steps for t in (s.before, s.after)]
    inside = printer(said.extended(*steps))
    terms, symbols = spoken_of(theorem.steps)
    named = [d(*d.parameters) for d in symbols if isinstance(d, Definition)]
    used = definitions_used([theorem.conclusion, *theorem.hypotheses, *steps, *terms, *named])
    whole = inside.notation.extended(*terms, symbols=(*symbols, *used))
    return Page(
        name=theorem.name,
        says=catalogue.theorem(theorem.name, theorem.says),
        symbols=tuple(declarations(said.symbols(), stated, catalogue)),
        definitions=tuple(defined(d, printer, whole, catalogue) for d in used),
        hypotheses=tuple(map(stated, theorem.hypotheses)),
        conclusion=stated(theorem.conclusion),
        met=tuple(_declared_beyond(said, printer(whole), catalogue)),
        start=inside(theorem.steps[0].before) if theorem.steps else None,
        lines=tuple(_line(s, inside, printer(whole), catalogue) for s in theorem.steps),
        refusals=tuple(
            _refusal(m, theorem, whole.only(said.symbols(), used), printer, catalogue) for m in theorem.near_misses
        ),
    )


def _declared_beyond(said: Notation, printer: Printer, catalogue: Catalogue) -> list[Declaration]:
    """What is still to be declared where the symbols of `said` are."""
    known = said.symbols()
    return declarations([s for s in printer.notation.symbols() if s not in known], printer, catalogue)


def _line(step: Step, printer: Printer, whole: Printer, catalogue: Catalogue) -> Line:
    sign = printer.sign(step.relation)
    return Line(sign, printer(step.after), reason(step, whole, catalogue))


def _refusal(miss: NearMiss, theorem: Theorem, said: Notation, printer: type[Printer], catalogue: Catalogue) -> Refusal:
    """`said` is the statement's table, with all definitions of the page."""
    residue = presentable(miss.residue)
    terms = (miss.conclusion, *miss.hypotheses, residue)
    own = [d for d in definitions_used(terms) if d not in said.symbols()]
    stated = printer(said.extended(*terms[:-1]))
    whole = printer(stated.notation.extended(residue, symbols=own))
    return Refusal(
        symbols=tuple(_declared_beyond(said, whole, catalogue)),
        definitions=tuple(defined(d, printer, whole.notation, catalogue) for d in own),
        conclusion=stated(miss.conclusion),
        hypotheses=None if miss.hypotheses == theorem.hypotheses else tuple(map(stated, miss.hypotheses)),
        message=catalogue.refusal(shortened(miss.message, miss.residue)),
        residue=whole(residue),
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
