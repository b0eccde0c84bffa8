"""Every formula of a page, with what it has to say and how it is read."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

from ..definitions import Definition
from ..kernel import Step, Theorem
from ..terms import Term
from . import proved
from .declared import declarations
from .inverse import definitions, formulas, latex, typst, unicode
from .inverse.declarations import introduced, table_of
from .inverse.front_ends import Read
from .inverse.problems import UnreadableError
from .inverse.symbol_table import DeclarationError, Table
from .inverse.symbols import with_derivatives
from .latex import Latex, LatexFromOne
from .names import Notation
from .parts import Declaration, Formula, Part, Words
from .structure import Printer
from .theorem import Line, Page, Refusal, presentable
from .typst import Typst, TypstFromOne
from .unicode import Unicode, UnicodeFromOne


class GateError(ValueError):
    """A page that does not say what was proved."""


class Inverse(NamedTuple):
    """How the signs of a printer are read."""

    read: Read
    signs: Mapping[str, str]  # of the steps of a proof
    first: int  # how the first index of a range is written


INVERSES: dict[type[Printer], Inverse] = {
    Latex: Inverse(latex.read, latex.SIGNS, 0),
    LatexFromOne: Inverse(latex.read, latex.SIGNS, 1),
    Typst: Inverse(typst.read, typst.SIGNS, 0),
    TypstFromOne: Inverse(typst.read, typst.SIGNS, 1),
    Unicode: Inverse(unicode.read, unicode.SIGNS, 0),
    UnicodeFromOne: Inverse(unicode.read, unicode.SIGNS, 1),
}


class Item(NamedTuple):
    """One formula of a page. `read` reads a text that stands in its place; it raises GateError, or gives what is not needed."""

    where: str
    text: str
    needed: Any
    read: Callable[[str], Any]


def items(found: Page, theorem: Theorem, printer: type[Printer] = Latex) -> Iterator[Item]:
    """Every formula of a page. Raises GateError where it has other parts than the theorem, or declares other symbols."""
    return _Gate(theorem, printer).page(found)


class Tables(NamedTuple):
    """The symbols and definitions that the parts of a page are written with."""

    statement: Table
    proof: Table
    near_misses: tuple[Table, ...]


def tables(found: Page, theorem: Theorem, printer: type[Printer] = Latex) -> Tables:
    """What the formulas of a page can be read with, as `inverse.fragment` does. Raises GateError as `items` does."""
    gate = _Gate(theorem, printer)
    for _ in gate.page(found):
        pass
    return Tables(gate.tables[0], gate.tables[1], tuple(gate.tables[2:]))


@lru_cache(maxsize=1024)
def declared_table(theorem: Theorem, printer: type[Printer] = Latex) -> Table:
    """The symbols that the page of a theorem declares before its statement."""
    statement = (theorem.conclusion, *theorem.hypotheses)
    notation = Notation.of(*statement)
    entries = [(d.kind, _texts(d.parts)) for d in declarations(notation.symbols(), printer(notation))]
    inverse = INVERSES[printer]
    return table_of(entries, proved.symbols_of(statement), Table({}, inverse.first), inverse.read)


class _Gate:
    """The formulas of one page, and the tables that they are read with."""

    def __init__(self, theorem: Theorem, printer: type[Printer]):
        if printer not in INVERSES:
            raise GateError(f"{theorem.name}: nothing reads what {printer.__name__} prints; add it to INVERSES")
        self.theorem, self.printer = theorem, printer
        self.read, self.signs, self.first = INVERSES[printer]
        self.tables: list[Table] = []  # of the statement, of the proof, of each near miss

    def page(self, found: Page) -> Iterator[Item]:
        theorem = self.theorem
        self._same("its name", found.name, theorem.name)
        statement = (theorem.conclusion, *theorem.hypotheses)
        said = proved.symbols_of(statement)
        met, used = proved.spoken_of(theorem.steps)
        used |= proved.definitions_of(statement)
        table = yield from self._defined("where", found.definitions, used, Table({}, self.first))
        table = yield from self._declared("for all", found.symbols, said, table)
        yield from self._terms("if", found.hypotheses, theorem.hypotheses, table)
        yield self._term("then", found.conclusion, theorem.conclusion, table)
        inside = yield from self._declared("besides", found.met, met - with_derivatives(said), table)
        self.tables += [table, inside]
        yield from self._steps(found, inside)
        self._same("the number of near misses", len(found.refusals), len(theorem.near_misses))
        for k in range(len(found.refusals)):
            yield from self._refusal(found.refusals[k], k, with_derivatives(said), used, table)

    # --- the parts of a page

    def _steps(self, found: Page, table: Table) -> Iterator[Item]:
        steps = self.theorem.steps
        self._same("the number of steps", len(found.lines), len(steps))
        self._same("whether there is a left side", found.start is not None, bool(steps))
        if found.start is not None:
            yield self._term("left side", found.start, steps[0].before, table)
        for k, (line, step) in enumerate(zip(found.lines, steps, strict=True), 1):
            yield from self._step(f"step {k}", line, step, table)

    def _step(self, where: str, line: Line, step: Step, table: Table) -> Iterator[Item]:
        self._same(f"{where}, its sign", self.signs.get(line.relation, line.relation), step.relation)
        yield self._term(where, line.term, step.after, table)
        needed = list(proved.reason(step))
        cited = {want.theorem.name for want in needed if isinstance(want, proved.Cited)}
        parts = [p for p in line.reason if isinstance(p, Formula) or p.text in cited or _names_a_theorem(p.text)]
        where = f"{where}, its reason"
        self._same(f"{where}, the number of formulas and theorems", len(parts), len(needed))
        for part, want in zip(parts, needed, strict=True):
            if isinstance(want, proved.Cited):
                self._same(where, part, Words(want.theorem.name))
            else:
                self._same(where, type(part), Formula)
                yield self._reason(where, part.text, want, table)

    def _reason(self, where: str, text: str, want: proved.Wanted, table: Table) -> Item:
        match want:
            case proved.States(proposition):
                return self._term(where, text, proposition, table)
            case proved.Named(definition):
                return self._item(where, text, definition, lambda t: formulas.definition(t, table, self.read))
            case proved.Values(values):
                needed = tuple(map(proved.normal, values))
                return self._item(where, text, needed, lambda t: formulas.values(t, table, needed, self.read))
            case proved.Assigned(theorem, symbol, value):
                theirs, pair = declared_table(theorem, self.printer), (symbol, proved.normal(value))
                return self._item(where, text, pair, lambda t: formulas.assigned(t, theirs, table, self.read))
        raise GateError(f"{self.theorem.name}, {where}: {want!r} is no formula")

    def _refusal(self, found: Refusal, k: int, said: set[Any], used: set[Definition], table: Table) -> Iterator[Item]:
        where, miss = f"near miss {k + 1}", self.theorem.near_misses[k]
        residue = presentable(miss.residue)
        parts = (miss.conclusion, *miss.hypotheses, residue)
        own = proved.definitions_of(parts) - used
        table = yield from self._defined(f"{where}, where", found.definitions, own, table)
        beyond = proved.symbols_of(parts) - said
        table = yield from self._declared(f"{where}, besides", found.symbols, beyond, table)
        self.tables.append(table)
        yield self._term(where, found.conclusion, miss.conclusion, table)
        if found.hypotheses is None:
            self._same(f"{where}, its hypotheses", miss.hypotheses, self.theorem.hypotheses)
        else:
            yield from self._terms(f"{where}, if", found.hypotheses, miss.hypotheses, table)
        yield self._term(f"{where}, what is left over", found.residue, residue, table)

    # --- symbols and definitions

    def _declared(
        self, where: str, found: Sequence[Declaration], symbols: Iterable[Any], table: Table
    ) -> Generator[Item, None, Table]:
        entries = [(entry.kind, _texts(entry.parts)) for entry in found]
        whole = self._tried(where, lambda: table_of(entries, set(symbols), table, self.read))
        for kind, texts in entries:
            yield from self._entry(where, kind, texts, whole)
        return whole

    def _entry(self, where: str, kind: str, texts: Sequence[str], whole: Table) -> Iterator[Item]:
        """The formulas of one declaration: any of them exchanged, it would introduce something else."""

        def with_it(k: int, text: str) -> Any:
            exchanged = text != texts[k]
            return introduced(kind, [*texts[:k], text, *texts[k + 1 :]], whole, self.read) if exchanged else needed

        needed = self._tried(where, lambda: introduced(kind, texts, whole, self.read))
        for k, text in enumerate(texts):
            yield self._item(where, text, needed, partial(with_it, k))

    def _defined(
        self, where: str, found: Sequence[tuple[Part, ...]], used: set[Definition], table: Table
    ) -> Generator[Item, None, Table]:
        lines = list(map(_texts, found))
        self._same(f"{where}, whether each line has a formula", all(lines), True)
        whole = self._tried(where, lambda: definitions.table_of([line[0] for line in lines], used, table, self.read))
        for line in lines:
            definition = whole.get(definitions.defined_name(line[0], whole, self.read))
            read = self._tried(where, partial(definitions.reader, line, definition, whole, self.read))
            yield from self._alike(where, line, definitions.wanted(definition), read)
        return whole

    # --- formulas

    def _terms(self, where: str, texts: Sequence[str], needed: Sequence[Term], table: Table) -> Iterator[Item]:
        return self._alike(where, texts, needed, partial(formulas.formula, table=table, read=self.read))

    def _term(self, where: str, text: str, needed: Term, table: Table) -> Item:
        return self._item(where, text, needed, partial(formulas.formula, table=table, read=self.read))

    def _alike(
        self, where: str, texts: Sequence[str], needed: Sequence[Term], read: Callable[[str], Term]
    ) -> Iterator[Item]:
        self._same(f"{where}, the number of formulas", len(texts), len(needed))
        for text, term in zip(texts, needed, strict=True):
            yield self._item(where, text, term, read)

    def _item(self, where: str, text: str, needed: Any, read: Callable[[str], Any]) -> Item:
        return Item(f"{self.theorem.name}, {where}", text, needed, lambda t: self._tried(where, lambda: read(t)))

    def _tried(self, where: str, read: Callable[[], Any]) -> Any:
        try:
            return read()
        except (UnreadableError, DeclarationError) as problem:
            raise GateError(f"{self.theorem.name}, {where}: {problem}") from None

    def _same(self, what: str, found: Any, needed: Any) -> None:
        if found != needed:
            raise GateError(f"{self.theorem.name}, {what}: found {found!r}, needed {needed!r}")


def _names_a_theorem(words: str) -> bool:
    """Whether words are family.theorem."""
    return words.count(".") == 1 and all(part.isidentifier() for part in words.split("."))


def _texts(parts: Sequence[Part]) -> list[str]:
    return [part.text for part in parts if isinstance(part, Formula)]
