"""What stands before a statement: the symbols that it holds for, with their ranges, and the definitions that it speaks of."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from ..terms import Family, IndexMap, Term
from .catalogues import ENGLISH, Catalogue
from .names import Notation, definitions_in
from .parts import Declaration, Formula, Part
from .places import place
from .structure import Printer, Scope

_INDEX_LETTERS, _REAL_LETTERS = "ijklmabcdefgh", "tusvwxy"


def declarations(symbols: Iterable[Any], printer: Printer, catalogue: Catalogue = ENGLISH) -> list[Declaration]:
    """One entry per symbol, or per group of symbols of one kind: 1 ≤ n; i, j < n; z_i ∈ ℝ for i < n."""
    wanted = [s for s in symbols if isinstance(s, Term | Family | IndexMap)]
    velocities = {s.derivative for s in wanted if isinstance(s, Family) and s.derivative is not None}
    found: list[Declaration] = []
    for s in wanted:
        if isinstance(s, Term) and s.op == "size":
            text = f"{s.data[1]} {printer.sign('le')} {_name(s, printer)}"
            found.append(_declared(catalogue, "size", size=Formula(text)))
        if isinstance(s, Term) and s.op == "space":
            found.append(_declared(catalogue, "space", space=Formula(_name(s, printer))))
    groups: dict[Term, list[str]] = {}
    for s in wanted:
        if isinstance(s, Term) and s.op not in ("size", "space"):
            range_ = s.args[0] if s.op == "index" else Term("domain", (), s.data[1])
            groups.setdefault(range_, []).append(_name(s, printer))
    found += [
        _declared(catalogue, "members", members=Formula(_member(", ".join(names), range_, printer)))
        for range_, names in groups.items()
    ]
    found += _families([s for s in wanted if isinstance(s, Family) and s not in velocities], printer, catalogue)
    found += [_map(s, printer, catalogue) for s in wanted if isinstance(s, IndexMap)]
    return found


def besides(found: Iterable[Declaration], catalogue: Catalogue) -> tuple[Part, ...]:
    """What is declared late, as one line: besides, r < n; b ∈ ℝ. Nothing where nothing is."""
    symbols = catalogue.joined("lists.semicolon", [d.parts for d in found])
    return catalogue.said("declarations.besides", symbols=symbols) if symbols else ()


def _declared(catalogue: Catalogue, kind: str, **formulas: Formula) -> Declaration:
    return Declaration(kind, catalogue.said(f"declarations.{kind}", **formulas))


def _name(symbol: Any, printer: Printer) -> str:
    return printer.name(printer.notation[symbol])


def _member(name: str, range_: Term, printer: Printer) -> str:
    return printer.member(name, range_, None if range_.op == "domain" else printer(range_))


def _families(symbols: list[Family], printer: Printer, catalogue: Catalogue) -> list[Declaration]:
    groups: dict[Any, list[Family]] = {}
    for symbol in symbols:
        groups.setdefault((symbol.slots, symbol.domain, symbol.derivative and symbol.name), []).append(symbol)
    return [_alike(group, printer, catalogue) for group in groups.values()]


def _alike(symbols: list[Family], printer: Printer, catalogue: Catalogue) -> Declaration:
    """Families of one kind, or one curve with its derivative."""
    slots, domain, derivative = symbols[0].slots, symbols[0].domain, symbols[0].derivative
    names, ranges = _slots(slots, printer)
    indices, along = (
        [n for n, s in zip(names, slots, strict=True) if (s.op == "domain") is real] for real in (False, True)
    )
    entries = [printer.indexed(printer.notation[s], indices) for s in symbols]
    entries = [printer.called(e, along) if along else e for e in entries]
    told = Formula(_member(", ".join(entries), Term("domain", (), domain), printer))
    places = Formula(ranges)
    if any(s.op == "space" for s in slots):
        return _declared(catalogue, "random", entries=told, places=places)
    if derivative is None:
        return _declared(catalogue, "families", entries=told, places=places)
    velocity = Formula(_name(derivative, printer))
    return _declared(catalogue, "curve", entries=told, places=places, along=Formula(along[-1]), derivative=velocity)


def _map(symbol: IndexMap, printer: Printer, catalogue: Catalogue) -> Declaration:
    names, ranges = _slots(symbol.slots, printer)
    entry = _member(printer.called(_name(symbol, printer), names), symbol.target, printer)
    kind = "permutation" if symbol.bijective else "map"
    return _declared(catalogue, kind, entry=Formula(entry), places=Formula(ranges))


def _slots(slots: tuple[Term, ...], printer: Printer) -> tuple[list[str], str]:
    """Names for the arguments, and where they range."""
    scope: Scope = ()
    for slot in slots:
        letters = _REAL_LETTERS if slot.op == "domain" else _INDEX_LETTERS
        names = [printer.notation.bound(letter, scope) for letter in letters]
        scope = (*scope, min(names, key=lambda name: name.primes))
    places = [place(printer, s, slot, False, ()) for s, slot in zip(scope, slots, strict=True)]
    return [printer.name(s) for s in scope], ", ".join(places)


def definitions_used(terms: Iterable[Term]) -> list[Any]:
    """The definitions that terms speak of, and those that these rest on."""
    found: dict[Any, None] = {}
    waiting = [d for t in terms for d in definitions_in(t)]
    while waiting:
        definition = waiting.pop(0)
        if definition not in found:
            found[definition] = None
            waiting += _beneath(definition)
    return list(found)


def defined(
    definition: Any, printer: type[Printer], page: Notation, catalogue: Catalogue = ENGLISH
) -> tuple[Part, ...]:
    """softmax(z)_i = exp(z_i) / Σ_l exp(z_l), where this is defined. Definitions are named as on the page."""
    equation, conditions = _defining(definition, printer, page.only((definition, *_beneath(definition))))
    where = catalogue.joined("lists.and", map(Formula, conditions))
    if not where:
        return catalogue.said("declarations.definition", equation=Formula(equation))
    return catalogue.said("declarations.definition_where", equation=Formula(equation), conditions=where)


def _beneath(definition: Any) -> list[Any]:
    """The definitions that one speaks of."""
    return [d for t in (definition.body, *definition.requires) for d in definitions_in(t)]


@lru_cache(maxsize=1024)  # it stands on many pages, where it is mostly named alike
def _defining(definition: Any, printer: type[Printer], named: Notation) -> tuple[str, tuple[str, ...]]:
    """The equation of a definition, and where it is defined; `named` has the names of definitions."""
    left = definition(*definition.parameters)
    own = printer(named.extended(left, definition.body, *definition.requires))
    return f"{own(left)} {own.sign('eq')} {own(definition.body)}", tuple(map(own, definition.requires))
