"""Numbers, sums, products and powers."""

from __future__ import annotations

from collections.abc import Sequence

from ..terms import FUNCTIONS, Term, number
from .names import RenderError, Spelling
from .structure import BASE, PREFIX, SUM, TERM, Factor, Layout, Piece, Printer, Scope


def _number(printer: Printer, term: Term, scope: Scope) -> Piece:
    if term.data < 0:
        return Piece(printer.minus + _number(printer, number(-term.data), scope).text, SUM)
    if term.data.denominator == 1:
        return Piece(str(term.data.numerator), BASE)
    return printer.rational(term.data.numerator, term.data.denominator)


def _pi(printer: Printer, term: Term, scope: Scope) -> Piece:
    return Piece(printer.name(Spelling("π")), BASE)


def _add(printer: Printer, term: Term, scope: Scope) -> Piece:
    _require_parts(term)
    text = ""
    for part in term.args:
        negative, piece = _signed(printer, part, scope, first=not text)
        if text:
            text += f" {printer.minus} " if negative else " + "
        elif negative:
            text = printer.minus
        text += printer.at(piece, TERM)
    return Piece(text, SUM)


def _mul(printer: Printer, term: Term, scope: Scope) -> Piece:
    _require_parts(term)
    negative, piece = _signed(printer, term, scope, first=True)
    return Piece(printer.minus + piece.text, SUM) if negative else piece


def _require_parts(term: Term) -> None:
    if len(term.args) < 2:
        raise RenderError(f"{term!r} has {len(term.args)} parts; a sum or a product has at least two")


def _signed(printer: Printer, term: Term, scope: Scope, first: bool) -> tuple[bool, Piece]:
    """Whether a minus stands in front, and what it stands in front of.

    The product (-2) x is -2 x, and a + (-2) x; the product (-1) 2 x is (-1) 2 x, and a - 2 x: each as it is mostly written.
    """
    if term.op == "number":
        return term.data < 0, _number(printer, number(abs(term.data)), scope)
    if term.op != "mul":
        return False, printer.piece(term, scope)
    head, *rest = term.args
    if head.op == "number" and head.data < 0:
        if head.data != -1 and first:
            return True, printer.product(factors(printer, (number(-head.data), *rest), scope))
        if head.data == -1 and len(rest) == 1 and rest[0].op != "number":
            whole = printer.piece(rest[0], scope)
            return True, whole if _is_inverse(rest[0]) else Piece(printer.at(whole, PREFIX), TERM)
        if head.data == -1 and len(rest) > 1 and not (first and rest[0].op == "number"):
            return True, printer.product(factors(printer, rest, scope))
    return False, printer.product(factors(printer, term.args, scope))


def factors(printer: Printer, terms: Sequence[Term], scope: Scope) -> list[Factor]:
    return [_factor(printer, t, scope) for t in terms]


def _factor(printer: Printer, term: Term, scope: Scope) -> Factor:
    if not _is_inverse(term):
        return Factor(term, printer.piece(term, scope), None)
    under = printer.piece(term.args[0], scope)
    return Factor(term, printer.inverse(under), under)


def _is_inverse(term: Term) -> bool:
    return bool(term.op == "power" and term.args[1].op == "number" and term.args[1].data == -1)


def _power(printer: Printer, term: Term, scope: Scope) -> Piece:
    base = printer.piece(term.args[0], scope)
    if _is_inverse(term):
        return printer.inverse(base)
    text = printer.at(base, BASE)
    if text.endswith("'"):  # a prime is a superscript too
        text = printer.bracketed(text)
    return printer.raised(text, term.args[1], printer.exponent(term.args[1], scope))


def _max(printer: Printer, term: Term, scope: Scope) -> Piece:
    return printer.elementary("max", Piece(", ".join(printer.piece(a, scope).text for a in term.args), SUM))


def _elementary(printer: Printer, term: Term, scope: Scope) -> Piece:
    return printer.elementary(term.op, printer.piece(term.args[0], scope))


LAYOUT: dict[str, Layout] = {
    "number": _number, "pi": _pi, "add": _add, "mul": _mul, "power": _power, "max": _max, **dict.fromkeys(FUNCTIONS, _elementary),
}  # fmt: skip
