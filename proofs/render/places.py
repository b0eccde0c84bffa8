"""Names, and what has indices: families, definitions, explicit tables, functions as arguments."""

from __future__ import annotations

from collections.abc import Sequence

from ..terms import Term
from .indices import index, slot_texts
from .names import RenderError, Spelling
from .ranges import occurs, tells_parameter, tells_range
from .structure import BASE, SUM, Layout, Piece, Printer, Scope


def _symbol(printer: Printer, term: Term, scope: Scope) -> Piece:
    return Piece(printer.name(printer.notation[term]), BASE)


def _bound(printer: Printer, term: Term, scope: Scope) -> Piece:
    if term.data >= len(scope):
        raise RenderError(f"{term!r} is bound by nothing here")
    return Piece(printer.name(scope[-1 - term.data]), BASE)


def _family(printer: Printer, term: Term, scope: Scope) -> Piece:
    pairs = list(zip(slot_texts(printer, term, scope), term.data.slots, strict=True))
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


LAYOUT: dict[str, Layout] = {
    "variable": _symbol, "size": _symbol, "space": _symbol, "index": _symbol, "bound": _bound, "family": _family, "apply": _apply,
    "table": _table, "function": _function,
}  # fmt: skip
