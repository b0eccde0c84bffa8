"""Indices, as they are counted and as numbers.

Arithmetic is about how many indices stand before one, its offset. Where counting starts at 0 the two are the same; where it starts
at 1, column m of step 2 and a is 2 (m - 1) + a, a quotient floor((c - 1) / 2) + 1, a remainder ((c - 1) mod 2) + 1.
"""

from __future__ import annotations

from collections.abc import Callable

from ..terms import Term, sort_of
from .arithmetic import factors
from .names import Spelling
from .ranges import is_evident
from .structure import BASE, SUM, TERM, Factor, Layout, Piece, Printer, Scope


def index(printer: Printer, term: Term, scope: Scope, known: bool = False) -> Piece:
    """An index as it is counted; `known` is whether its place tells the range that it belongs to."""
    match term.op:
        case "literal":
            text = str(term.data + printer.first)
            return Piece(text if known else printer.ascribed(text, printer.piece(term.args[0], scope).text), BASE)
        case "map":
            called = printer.called(printer.name(printer.notation[term.data]), slot_texts(printer, term, scope))
            return Piece(called, BASE)
        case "join":
            return _join(printer, term, scope, known, index)
        case "quotient" | "remainder":
            before = offset(printer, term, scope, known)
            return Piece(f"{printer.at(before, TERM)} + 1", SUM) if printer.first else before
    return printer.piece(term, scope)


def offset(printer: Printer, term: Term, scope: Scope, known: bool = False) -> Piece:
    """How many indices stand before this one."""
    match term.op:
        case "literal" if known:
            return Piece(str(term.data), BASE)
        case "join":
            return _join(printer, term, scope, known, offset)
        case "quotient":
            return printer.floored(offset(printer, term.args[0], scope, known), printer.piece(term.args[1], scope))
        case "remainder":
            return printer.modulo(offset(printer, term.args[0], scope), printer.piece(term.args[1], scope))
    counted = index(printer, term, scope, known)
    return Piece(f"{counted.text} {printer.minus} 1", SUM) if printer.first else counted


def _join(printer: Printer, term: Term, scope: Scope, known: bool, last: Callable[..., Piece]) -> Piece:
    major, minor, step = term.args[0], term.args[1], term.args[2]
    parts = [*factors(printer, [step], scope), Factor(major, offset(printer, major, scope, known), None)]
    piece = last(printer, minor, scope, known=True)
    adds_one = printer.first and last is index and minor.op in ("quotient", "remainder")
    return Piece(f"{printer.product(parts).text} + {piece.text if adds_one else printer.at(piece, TERM)}", SUM)


def slot_texts(printer: Printer, term: Term, scope: Scope) -> list[str]:
    """What fills the slots of a family or an index map."""
    return [
        (printer.piece(a, scope) if slot.op == "domain" else index(printer, a, scope, known=True)).text
        for a, slot in zip(term.args, term.data.slots, strict=True)
    ]


def pair(printer: Printer, term: Term, scope: Scope) -> tuple[str, str]:
    """Two indices of one range; where neither tells it, the first one is made to.

    So is it in a relation whose sides could both be numbers: (2 m + a)_(2 M) = 2 k + b, 0_8 = 2 m + a.
    """
    left, right = term.args
    like_numbers = ("join", "literal", "quotient") if printer.first else ("join", "literal")
    could_be_numbers = term.op == "relation" and all(side.op in like_numbers for side in term.args)
    text = index(printer, left, scope, is_evident(right) and not could_be_numbers).text
    if could_be_numbers and left.op != "literal":
        text = printer.ascribed(printer.bracketed(text), printer.piece(sort_of(left), scope).text)
    return text, index(printer, right, scope, known=True).text


def _delta(printer: Printer, term: Term, scope: Scope) -> Piece:
    return Piece(printer.indexed(Spelling("δ"), pair(printer, term, scope)), BASE)


def _value(printer: Printer, term: Term, scope: Scope) -> Piece:
    """An index as a number: the number of those before it."""
    number = offset(printer, term.args[0], scope)
    return Piece(printer.squared(number.text), BASE) if term.args[0].op in ("join", "remainder") else number


def _index(printer: Printer, term: Term, scope: Scope) -> Piece:
    return index(printer, term, scope)


LAYOUT: dict[str, Layout] = {
    "value": _value, "delta": _delta, **dict.fromkeys(("literal", "map", "join", "quotient", "remainder"), _index),
}  # fmt: skip
