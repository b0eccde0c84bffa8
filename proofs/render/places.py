"""Names, and what stands at an index: families, definitions, index maps, explicit tables, functions as arguments."""

from __future__ import annotations

from collections.abc import Sequence

from ..terms import Term, sort_of
from .arithmetic import factors
from .names import RenderError, Spelling
from .ranges import is_evident, occurs, tells_parameter, tells_range
from .structure import BASE, SUM, TERM, Factor, Layout, Piece, Printer, Scope


def _symbol(printer: Printer, term: Term, scope: Scope) -> Piece:
    return Piece(printer.name(printer.notation[term]), BASE)


def _bound(printer: Printer, term: Term, scope: Scope) -> Piece:
    if term.data >= len(scope):
        raise RenderError(f"{term!r} is bound by nothing here")
    return Piece(printer.name(scope[-1 - term.data]), BASE)


def index(printer: Printer, term: Term, scope: Scope, known: bool = False) -> Piece:
    """An index; `known` is whether its place tells the range that it belongs to."""
    match term.op:
        case "literal":
            text = str(term.data)
            return Piece(text if known else printer.ascribed(text, printer.piece(term.args[0], scope).text), BASE)
        case "map":
            called = printer.called(printer.name(printer.notation[term.data]), _slot_texts(printer, term, scope))
            return Piece(called, BASE)
        case "join":
            major, minor, step = term.args[0], term.args[1], term.args[2]
            parts = [*factors(printer, [step], scope), Factor(major, index(printer, major, scope, known), None)]
            last = printer.at(index(printer, minor, scope, known=True), TERM)
            return Piece(f"{printer.product(parts).text} + {last}", SUM)
        case "quotient":
            return printer.floored(index(printer, term.args[0], scope, known), printer.piece(term.args[1], scope))
        case "remainder":
            return printer.modulo(index(printer, term.args[0], scope), printer.piece(term.args[1], scope))
    return printer.piece(term, scope)


def _slot_texts(printer: Printer, term: Term, scope: Scope) -> list[str]:
    return [
        (printer.piece(a, scope) if slot.op == "domain" else index(printer, a, scope, known=True)).text
        for a, slot in zip(term.args, term.data.slots, strict=True)
    ]


def _family(printer: Printer, term: Term, scope: Scope) -> Piece:
    pairs = list(zip(_slot_texts(printer, term, scope), term.data.slots, strict=True))
    text = printer.indexed(printer.notation[term.data], [t for t, slot in pairs if slot.op != "domain"])
    along = [t for t, slot in pairs if slot.op == "domain"]
    return Piece(printer.called(text, along) if along else text, BASE)


def _apply(printer: Printer, term: Term, scope: Scope) -> Piece:
    return Piece(_application(printer, term, term.args[len(term.data.sizes) :], scope), BASE)


def _application(printer: Printer, term: Term, given: Sequence[Term], scope: Scope) -> str:
    """A definition at its arguments, or at fewer of them where it stands for a function of the last indices."""
    subscripts, others = [], []
    for a, p in zip(given, term.data.parameters, strict=False):
        if _takes_index(p):
            subscripts.append(index(printer, a, scope, tells_parameter(term.data, p)).text)
        else:
            others.append(printer.piece(a, scope).text)
    return printer.applied(printer.notation[term.data], others, subscripts)


def _takes_index(parameter: object) -> bool:
    return isinstance(parameter, Term) and parameter.op == "index"


def _value(printer: Printer, term: Term, scope: Scope) -> Piece:
    position = index(printer, term.args[0], scope)
    return Piece(printer.squared(position.text), BASE) if position.level < BASE else position


def pair(printer: Printer, term: Term, scope: Scope) -> tuple[str, str]:
    """Two indices of one range; where neither tells it, the first one is made to.

    So is it in a relation whose sides could both be numbers: (2 m + a)_(2 M) = 2 k + b, 0_8 = 2 m + a.
    """
    left, right = term.args
    could_be_numbers = term.op == "relation" and all(side.op in ("join", "literal") for side in term.args)
    text = index(printer, left, scope, is_evident(right) and not could_be_numbers).text
    if could_be_numbers and left.op == "join":
        text = printer.ascribed(printer.bracketed(text), printer.piece(sort_of(left), scope).text)
    return text, index(printer, right, scope, known=True).text


def _delta(printer: Printer, term: Term, scope: Scope) -> Piece:
    return Piece(printer.indexed(Spelling("δ"), pair(printer, term, scope)), BASE)


def _table(printer: Printer, term: Term, scope: Scope) -> Piece:
    count, columns = len(term.data), term.data[1] if len(term.data) == 2 else 1
    entries = [printer.piece(a, scope).text for a in term.args[:-count]]
    rows = [entries[k : k + columns] for k in range(0, len(entries), columns)]
    return Piece(printer.table(rows, [index(printer, a, scope, known=True).text for a in term.args[-count:]]), BASE)


def _function(printer: Printer, term: Term, scope: Scope) -> Piece:
    """A function: a family, or a definition, that lacks its last indices; else j ↦ z_j + c."""
    *ranges, body = term.args
    if _is_eta(ranges, body):
        hidden = (*scope, *(Spelling("") for _ in ranges))
        kept = body.args[: -len(ranges)]
        if body.op == "apply":
            return Piece(_application(printer, body, kept[len(body.data.sizes) :], hidden), BASE)
        subscripts = [index(printer, a, hidden, known=True).text for a in kept]
        return Piece(printer.indexed(printer.notation[body.data], subscripts), BASE)
    names = bound_names(printer, term.hints, scope)
    spots = [
        place(printer, name, r, tells_range(body, len(ranges) - 1 - k), scope)
        for k, (name, r) in enumerate(zip(names, ranges, strict=True))
    ]
    return Piece(printer.mapped(spots, printer.piece(body, (*scope, *names)).text), SUM)


def _is_eta(ranges: list[Term], body: Term) -> bool:
    """Whether the last slots of a family or a definition are just the bound variables, which occur nowhere else.

    The slots also have to tell their ranges, which are not printed then.
    """
    if body.op == "family":
        slots = list(body.data.slots)
    elif body.op == "apply":
        slots = [p.args[0] if _takes_index(p) and tells_parameter(body.data, p) else None for p in body.data.parameters]
    else:
        return False
    count = len(ranges)
    if len(slots) < count or any(
        s is None or (s.op == "domain" and s != r) for s, r in zip(slots[-count:], ranges, strict=True)
    ):
        return False
    kept, last = body.args[:-count], body.args[-count:]
    if body.op == "family" and any(s.op == "domain" for s in slots[:-count]):
        return False
    in_order = [t.data if t.op == "bound" else None for t in last] == list(range(count - 1, -1, -1))
    return in_order and not any(occurs(t, level) for t in kept for level in range(count))


def bound_names(printer: Printer, hints: Sequence[str], scope: Scope) -> Scope:
    names: Scope = ()
    for hint in hints:
        names = (*names, printer.notation.bound(hint, (*scope, *names)))
    return names


def place(printer: Printer, name: Spelling, range_: Term, told: bool, scope: Scope) -> str:
    """A bound variable where it is introduced, with its range unless that is told elsewhere."""
    text = printer.name(name)
    if range_.op == "domain":
        return printer.member(text, range_, None)
    return text if told else printer.member(text, range_, printer.piece(range_, scope).text)


def _position(printer: Printer, term: Term, scope: Scope) -> Piece:
    return index(printer, term, scope)


LAYOUT: dict[str, Layout] = {
    "variable": _symbol, "size": _symbol, "space": _symbol, "index": _symbol, "bound": _bound, "family": _family, "apply": _apply,
    "value": _value, "delta": _delta, "table": _table, "function": _function,
    "literal": _position, "map": _position, "join": _position, "quotient": _position, "remainder": _position,
}  # fmt: skip
