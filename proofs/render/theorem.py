"""A theorem as a page: what it speaks of, what it says, why each step holds, and which false twins its proof refuses."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..definitions import Definition
from ..kernel import NearMiss, Statement, Step, Theorem
from ..terms import Term, number
from .catalogues import ENGLISH, Catalogue
from .declared import declarations, defined, definitions_used
from .names import Notation
from .parts import Declaration, Part, plain
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
    return _Written(theorem, printer).page(catalogue)


def pages(theorem: Theorem, printer: type[Printer], catalogues: Iterable[Catalogue]) -> list[Page]:
    """The page in the words of each catalogue; its formulas are printed once, since they are those of all."""
    return list(map(_Written(theorem, printer).page, catalogues))


class _Written:
    """The signs of a page: a printer for each part of it, which knows the symbols that are declared there."""

    def __init__(self, theorem: Theorem, printer: type[Printer]):
        self.theorem, self.printer = theorem, printer
        steps = [t for s in theorem.steps for t in (s.before, s.after)]
        terms, symbols = spoken_of(theorem.steps)
        named = [d(*d.parameters) for d in symbols if isinstance(d, Definition)]
        self.used = definitions_used([theorem.conclusion, *theorem.hypotheses, *steps, *terms, *named])
        self.stated = printer(Notation.of(theorem.conclusion, *theorem.hypotheses))
        self.inside = self.stated.extended(*steps)
        self.whole = self.inside.extended(*terms, symbols=(*symbols, *self.used))
        self.refused = [_Refused(miss, self) for miss in theorem.near_misses]

    def page(self, catalogue: Catalogue) -> Page:
        theorem, stated = self.theorem, self.stated
        return Page(
            name=theorem.name,
            says=catalogue.theorem(theorem.name, theorem.says),
            symbols=tuple(declarations(stated.notation.symbols(), stated, catalogue)),
            definitions=tuple(defined(d, self.printer, self.whole.notation, catalogue) for d in self.used),
            hypotheses=tuple(map(stated, theorem.hypotheses)),
            conclusion=stated(theorem.conclusion),
            met=tuple(_declared_beyond(stated.notation, self.whole, catalogue)),
            start=self.inside(theorem.steps[0].before) if theorem.steps else None,
            lines=tuple(self._line(step, catalogue) for step in theorem.steps),
            refusals=tuple(refused.refusal(catalogue) for refused in self.refused),
        )

    def _line(self, step: Step, catalogue: Catalogue) -> Line:
        return Line(self.inside.sign(step.relation), self.inside(step.after), reason(step, self.whole, catalogue))


class _Refused:
    """The signs of a near miss, which stands where the symbols of the statement and all definitions of the page are known."""

    def __init__(self, miss: NearMiss, around: _Written):
        self.miss, self.around = miss, around
        self.residue = presentable(miss.residue)
        self.known = around.whole.notation.only(around.stated.notation.symbols(), around.used)
        terms = (miss.conclusion, *miss.hypotheses)
        self.own = [d for d in definitions_used((*terms, self.residue)) if d not in self.known.symbols()]
        self.stated = around.printer(self.known.extended(*terms))
        self.whole = self.stated.extended(self.residue, symbols=self.own)

    def refusal(self, catalogue: Catalogue) -> Refusal:
        miss, stated, whole, printer = self.miss, self.stated, self.whole, self.around.printer
        theirs = miss.hypotheses == self.around.theorem.hypotheses
        return Refusal(
            symbols=tuple(_declared_beyond(self.known, whole, catalogue)),
            definitions=tuple(defined(d, printer, whole.notation, catalogue) for d in self.own),
            conclusion=stated(miss.conclusion),
            hypotheses=None if theirs else tuple(map(stated, miss.hypotheses)),
            message=catalogue.refusal(shortened(miss.message, miss.residue)),
            residue=whole(self.residue),
        )


def _declared_beyond(said: Notation, printer: Printer, catalogue: Catalogue) -> list[Declaration]:
    """What is still to be declared where the symbols of `said` are."""
    known = said.symbols()
    return declarations([s for s in printer.notation.symbols() if s not in known], printer, catalogue)


def one_line(statement: Statement, catalogue: Catalogue = ENGLISH) -> str:
    """A statement as plain text: the conclusion, then the hypotheses."""
    printer = Unicode(Notation.of(statement.conclusion, *statement.hypotheses))
    conclusion, given = printer(statement.conclusion), list(map(printer, statement.hypotheses))
    if not given:
        return conclusion
    hypotheses = plain(catalogue.joined("lists.and", given))
    return catalogue.text("headings.statement_if", conclusion=conclusion, hypotheses=hypotheses)


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
