"""Binders and propositions: sums, derivatives, cases, relations, limits, quantifiers."""

from __future__ import annotations

from ..terms import Term
from .names import stem
from .places import bound_names, pair, place
from .ranges import is_pair, occurs, tells_range
from .structure import BASE, SUM, TERM, Layout, Piece, Printer, Scope


def _sum(printer: Printer, term: Term, scope: Scope) -> Piece:
    size, body = term.args
    names = bound_names(printer, term.hints, scope)
    summand = printer.at(printer.piece(body, (*scope, *names)), TERM)
    size_text = printer.piece(size, scope).text
    return printer.summed(printer.name(names[0]), size, size_text, tells_range(body), summand)


def _expect(printer: Printer, term: Term, scope: Scope) -> Piece:
    space, body = term.args
    names = bound_names(printer, term.hints, scope)
    over = printer.piece(space, scope).text
    told = tells_range(body)
    return printer.expected(printer.name(names[0]), over, told, printer.piece(body, (*scope, *names)).text)


def _derivative(printer: Printer, term: Term, scope: Scope) -> Piece:
    body, point = term.args
    names = bound_names(printer, term.hints, scope)
    at: str | None = printer.piece(point, scope).text
    if point.op in ("variable", "bound") and not _meets(body, point):
        own = printer.notation[point] if point.op == "variable" else scope[-1 - point.data]
        if own.stem == stem(term.hints[0]):  # d/dt f(t) at t, as it is usually written
            names, at = (own,), None
    return printer.differentiated(printer.name(names[0]), printer.piece(body, (*scope, *names)).text, at)


def _meets(body: Term, point: Term) -> bool:
    """Whether the point of a derivative also occurs under it, beside the variable that is moved."""
    if point.op == "bound":
        return occurs(body, point.data + 1)
    return body == point or any(_meets(a, point) for a in body.args)


def _when(printer: Printer, term: Term, scope: Scope) -> Piece:
    condition, then, otherwise = (printer.piece(a, scope).text for a in term.args)
    return printer.cases(condition, then, otherwise)


def _relation(printer: Printer, term: Term, scope: Scope) -> Piece:
    if is_pair(term):
        sides = pair(printer, term, scope)
    else:
        sides = _side(printer, term, term.args[0], scope), _side(printer, term, term.args[1], scope)
    return Piece(f"{sides[0]} {printer.sign(term.data)} {sides[1]}", SUM)


def _side(printer: Printer, term: Term, side: Term, scope: Scope) -> str:
    """One side; an index as a number shows that it is one, where indices could be compared as well."""
    text = printer.piece(side, scope).text
    bare = side.op == "value" and side.args[0].op in ("index", "bound", "literal", "map", "quotient")
    return printer.squared(text) if bare and term.data in ("eq", "ne") else text


def _implies(printer: Printer, term: Term, scope: Scope) -> Piece:
    guard, body = (printer.piece(a, scope).text for a in term.args)
    if term.args[0].op != "relation":
        guard = printer.bracketed(guard)
    return Piece(printer.implied(guard, body), SUM)


def _forall(printer: Printer, term: Term, scope: Scope) -> Piece:
    range_, body = term.args
    names = bound_names(printer, term.hints, scope)
    inside = (*scope, *names)
    spot = place(printer, names[0], range_, tells_range(body), scope)
    if body.op == "implies" and _excludes(body.args[0]) and spot == printer.name(names[0]):
        _, other = pair(printer, body.args[0], inside)
        return Piece(
            printer.forall(f"{spot} {printer.sign('ne')} {other}", printer.piece(body.args[1], inside).text), SUM
        )
    return Piece(printer.forall(spot, printer.piece(body, inside).text), SUM)


def _excludes(guard: Term) -> bool:
    """Whether a guard says that the bound index, on the left, is another than some index outside."""
    if guard.op != "relation" or guard.data != "ne" or not is_pair(guard):
        return False
    left, right = guard.args
    return left.op == "bound" and left.data == 0 and not occurs(right, 0)


def _tends(printer: Printer, term: Term, scope: Scope) -> Piece:
    body, target, value = term.args
    names = bound_names(printer, term.hints, scope)
    texts = printer.piece(target, scope).text, printer.piece(value, scope).text
    moving = printer.piece(body, (*scope, *names))
    return Piece(printer.limit(printer.name(names[0]), texts[0], moving, texts[1]), SUM)


def _infinity(printer: Printer, term: Term, scope: Scope) -> Piece:
    return Piece(printer.infinity(), BASE)


def _domain(printer: Printer, term: Term, scope: Scope) -> Piece:
    return Piece(printer.domain(term.data), BASE)


LAYOUT: dict[str, Layout] = {
    "sum": _sum, "expect": _expect, "derivative": _derivative, "when": _when, "relation": _relation, "implies": _implies,
    "forall": _forall, "tends": _tends, "infinity": _infinity, "domain": _domain,
}  # fmt: skip
