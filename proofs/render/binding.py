"""Binders and propositions: sums, derivatives, cases, relations, limits, quantifiers."""

from __future__ import annotations

from ..terms import Term, number
from .indices import index, pair
from .names import RenderError, stem
from .places import bound_names, place
from .ranges import is_pair, occurs, tells_range
from .structure import BASE, SUM, TERM, Layout, Piece, Printer, Scope

_OPPOSITE = {"eq": "ne", "ne": "eq", "le": "gt", "lt": "ge"}


def _sum(printer: Printer, term: Term, scope: Scope) -> Piece:
    size, body = term.args
    names = bound_names(printer, term.hints, scope)
    summand = printer.at(printer.piece(body, (*scope, *names)), TERM)
    size_text = printer.piece(size, scope).text
    last = size_text if printer.first else printer.piece(_last_index(size), scope).text
    return printer.summed(printer.name(names[0]), size_text, last, tells_range(body), summand)


def _last_index(size: Term) -> Term:
    """The size less one: n - 1, and n of n + 1, n + 1 of n + 2; that of n + 2 + 1 is n + 2 + 1 - 1, since n + 2 is another's."""
    if size.op == "number":
        return number(size.data - 1)
    *before, last = size.args if size.op == "add" else (size,)
    if before and last.op == "number" and last.data > 1:
        return Term("add", (*before, number(last.data - 1)))
    if before and last == number(1) and before[-1].op != "number" and (len(before) > 1 or before[0].op != "add"):
        return before[0] if len(before) == 1 else Term("add", tuple(before))
    return Term("add", (*before, last, number(-1)))


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
    """Each branch with its condition, the second one with the opposite of the first, so that no language is needed."""
    condition, *branches = term.args
    if condition.op != "relation" or condition.data not in _OPPOSITE:
        raise RenderError(f"no opposite of the condition {condition!r}; needed =, !=, <= or <")
    then, otherwise = (printer.piece(branch, scope).text for branch in branches)
    left, right = _sides(printer, condition, scope)
    holds, fails = (f"{left} {printer.sign(sign)} {right}" for sign in (condition.data, _OPPOSITE[condition.data]))
    return printer.cases((then, holds), (otherwise, fails))


def _relation(printer: Printer, term: Term, scope: Scope) -> Piece:
    left, right = _sides(printer, term, scope)
    return Piece(f"{left} {printer.sign(term.data)} {right}", SUM)


def _sides(printer: Printer, term: Term, scope: Scope) -> tuple[str, str]:
    if is_pair(term):
        return pair(printer, term, scope)
    if printer.first and term.data in ("le", "lt") and all(map(_is_named, term.args)):
        return index(printer, term.args[0].args[0], scope).text, index(printer, term.args[1].args[0], scope).text
    return _side(printer, term, term.args[0], scope), _side(printer, term, term.args[1], scope)


def _is_named(side: Term) -> bool:
    """Whether this is an index as a number, and the index has a name, or is a position that is printed with its range."""
    return side.op == "value" and side.args[0].op in ("index", "bound", "literal", "map")


def _side(printer: Printer, term: Term, side: Term, scope: Scope) -> str:
    """One side; an index as a number shows that it is one, where indices could be compared as well."""
    text = printer.piece(side, scope).text
    bare = not printer.first and (_is_named(side) or (side.op == "value" and side.args[0].op == "quotient"))
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
