"""What stands before a statement: the symbols that it holds for, with their ranges, and the definitions that it speaks of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..terms import Family, IndexMap, Term
from .names import Notation, definitions_in
from .parts import Formula, Part, Words
from .places import place
from .structure import Printer, Scope

_INDEX_LETTERS, _REAL_LETTERS = "ijklmabcdefgh", "tusvwxy"


def declarations(symbols: Iterable[Any], printer: Printer) -> list[tuple[Part, ...]]:
    """One entry per symbol, or per group of symbols of one kind: 1 ≤ n; i, j < n; z_i ∈ ℝ for i < n."""
    wanted = [s for s in symbols if isinstance(s, Term | Family | IndexMap)]
    velocities = {s.derivative for s in wanted if isinstance(s, Family) and s.derivative is not None}
    found: list[tuple[Part, ...]] = []
    for s in wanted:
        if isinstance(s, Term) and s.op == "size":
            found.append((Formula(f"{s.data[1]} {printer.sign('le')} {_name(s, printer)}"),))
        if isinstance(s, Term) and s.op == "space":
            found.append((Formula(_name(s, printer)), Words(" a probability space")))
    groups: dict[Term, list[str]] = {}
    for s in wanted:
        if isinstance(s, Term) and s.op not in ("size", "space"):
            range_ = s.args[0] if s.op == "index" else Term("domain", (), s.data[1])
            groups.setdefault(range_, []).append(_name(s, printer))
    found += [(Formula(_member(", ".join(names), range_, printer)),) for range_, names in groups.items()]
    found += _families([s for s in wanted if isinstance(s, Family) and s not in velocities], printer)
    found += [_map(s, printer) for s in wanted if isinstance(s, IndexMap)]
    return found


def _name(symbol: Any, printer: Printer) -> str:
    return printer.name(printer.notation[symbol])


def _member(name: str, range_: Term, printer: Printer) -> str:
    return printer.member(name, range_, None if range_.op == "domain" else printer(range_))


def _families(symbols: list[Family], printer: Printer) -> list[tuple[Part, ...]]:
    groups: dict[Any, list[Family]] = {}
    for symbol in symbols:
        groups.setdefault((symbol.slots, symbol.domain, symbol.derivative and symbol.name), []).append(symbol)
    return [_alike(group, printer) for group in groups.values()]


def _alike(symbols: list[Family], printer: Printer) -> tuple[Part, ...]:
    """Families of one kind, or one curve with its derivative."""
    slots, domain, derivative = symbols[0].slots, symbols[0].domain, symbols[0].derivative
    names, ranges = _slots(slots, printer)
    indices, along = (
        [n for n, s in zip(names, slots, strict=True) if (s.op == "domain") is real] for real in (False, True)
    )
    entries = [printer.indexed(printer.notation[s], indices) for s in symbols]
    entries = [printer.called(e, along) if along else e for e in entries]
    told = Formula(_member(", ".join(entries), Term("domain", (), domain), printer))
    parts: tuple[Part, ...] = (told, Words(" for "), Formula(ranges))
    if any(s.op == "space" for s in slots):
        return (*parts, Words(", with a finite second moment"))
    if derivative is None:
        return parts
    velocity = printer.name(printer.notation.extended(symbols=[derivative])[derivative])
    return (*parts, Words(", differentiable in "), Formula(along[-1]), Words(" with derivative "), Formula(velocity))


def _map(symbol: IndexMap, printer: Printer) -> tuple[Part, ...]:
    names, ranges = _slots(symbol.slots, printer)
    entry = _member(printer.called(_name(symbol, printer), names), symbol.target, printer)
    parts: tuple[Part, ...] = (Formula(entry), Words(" for "), Formula(ranges))
    return (*parts, Words(", one to one")) if symbol.bijective else parts


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
            waiting += definitions_in(definition.body)
    return list(found)


def defined(definition: Any, printer: type[Printer]) -> tuple[Part, ...]:
    """softmax(z)_i = exp(z_i) / Σ_l exp(z_l), where this is defined."""
    left = definition(*definition.parameters)
    own = printer(Notation.of(left, definition.body, *definition.requires))
    parts = (Formula(f"{own(left)} {own.sign('eq')} {own(definition.body)}"),)
    where = tuple(part for c in definition.requires for part in (Words(" and "), Formula(own(c))))
    return (*parts, Words(", where "), *where[1:]) if where else parts
