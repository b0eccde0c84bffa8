"""Numbers: arithmetic with the author's order and brackets kept, and the names that stand for numbers."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction as Rational
from math import gcd
from typing import Any

from ...definitions import Definition
from ...terms import FUNCTIONS, PI, Family, IndexMap, Term, number
from . import applied, binders, indices
from .problems import Complaint
from .reading import Reading, Scope, is_index
from .tree import (
    Ascribed,
    Bracket,
    Call,
    Floor,
    Fraction,
    Matrix,
    Modulo,
    Name,
    Node,
    Number,
    Power,
    Product,
    Ratio,
    Squared,
    Sum,
    Symbol,
)

_PI, _DELTA = Name("π"), Name("δ")


def real(reading: Reading, node: Node, scope: Scope) -> Term:
    """The number that a node stands for. Raises Complaint for one that is no number."""
    known = _REALS.get(type(node)) or binders.BINDERS.get(type(node))
    if known is None:
        raise Complaint("needed a number", node.at)
    return known(reading, node, scope)


def _number(reading: Reading, node: Number, scope: Scope) -> Term:
    return number(node.value)


def _ratio(reading: Reading, node: Ratio, scope: Scope) -> Term:
    if node.denominator < 2 or gcd(node.numerator, node.denominator) != 1:
        raise Complaint("a small fraction is a number in lowest terms, and no whole one", node.at)
    return number(Rational(node.numerator, node.denominator))


def _bracket(reading: Reading, node: Bracket, scope: Scope) -> Term:
    return real(reading, node.inside, scope)


# --- sums and products


def _factors(reading: Reading, node: Node, scope: Scope) -> tuple[Term, ...]:
    match node:
        case Product():
            return tuple(f for part in node.factors for f in _factors(reading, part, scope))
        case Fraction():
            above = () if node.above is None else _factors(reading, node.above, scope)
            return (*above, Term("power", (real(reading, node.below, scope), number(-1))))
    return (real(reading, node, scope),)


def _product(reading: Reading, node: Product | Fraction, scope: Scope) -> Term:
    return _multiplied(reading, node, scope, first=True)


def _multiplied(reading: Reading, node: Product | Fraction, scope: Scope, first: bool) -> Term:
    found = _factors(reading, node, scope)
    if len(found) == 1:
        return found[0]
    head, follows = found[0], found[1].op == "number"
    if head.op == "number" and head.data < 0:
        minus_one = head.data == -1
        if not (follows and (first or len(found) == 2) if minus_one else not first):
            raise Complaint("this minus belongs before the product", node.at)
    return Term("mul", found)


def _sum(reading: Reading, node: Sum, scope: Scope) -> Term:
    if reading.first and indices.is_less_one(reading, node, scope):
        return _value(reading, node, scope)
    parts = []
    for k, (minus, part) in enumerate(node.parts):
        if minus:
            parts.append(_negative(reading, part, scope, first=k == 0))
        elif isinstance(part, Product | Fraction):
            parts.append(_multiplied(reading, part, scope, first=k == 0))
        else:
            parts.append(real(reading, part, scope))
    return parts[0] if len(parts) == 1 else Term("add", tuple(parts))


def _negative(reading: Reading, node: Node, scope: Scope, first: bool) -> Term:
    """What a minus stands before: a number; the factor -1; and where it comes first, a product that starts with a number."""
    if isinstance(node, Number | Ratio):
        value = real(reading, node, scope)
        if not value.data:
            raise Complaint("zero has no sign", node.at)
        return number(-value.data)
    found = _factors(reading, node, scope)
    head = found[0]
    if head.op == "number" and (first or len(found) == 1):
        if len(found) == 1 or head.data <= 0 or head.data == 1:
            raise Complaint("needed brackets around a factor -1 here", node.at)
        return Term("mul", (number(-head.data), *found[1:]))
    return Term("mul", (number(-1), *found))


def _power(reading: Reading, node: Power, scope: Scope) -> Term:
    base, exponent = real(reading, node.base, scope), real(reading, node.exponent, scope)
    if exponent == number(-1):
        raise Complaint("the power -1 is written with a bar", node.at)
    return Term("power", (base, exponent))


def _call(reading: Reading, node: Call, scope: Scope) -> Term:
    if node.op != "max" and (node.op not in FUNCTIONS or len(node.arguments) != 1):
        raise Complaint(f"{node.op} takes one argument, found {len(node.arguments)}", node.at)
    return Term(node.op, tuple(real(reading, a, scope) for a in node.arguments))


def _matrix(reading: Reading, node: Matrix, scope: Scope) -> Term:
    rows, columns = len(node.rows), len(node.rows[0])
    shape = (rows,) if len(node.subscripts) == 1 else (rows, columns)
    if any(len(row) != columns for row in node.rows) or len(node.subscripts) > 2 or (len(shape) == 1 and columns != 1):
        raise Complaint("a matrix has rows of one length and two subscripts, a vector one column and one", node.at)
    entries = tuple(real(reading, entry, scope) for row in node.rows for entry in row)
    given = zip(node.subscripts, shape, strict=True)
    return Term("table", (*entries, *(indices.index(reading, i, number(s), scope) for i, s in given)), shape)


# --- names, and indices as numbers


def _symbol(reading: Reading, node: Symbol, scope: Scope) -> Term:
    if node.name == _DELTA and node.subscripts is not None and len(node.subscripts) == 2:
        if node.arguments is not None:
            raise Complaint("Kronecker's delta takes no arguments", node.at)
        return Term("delta", indices.pair(reading, *node.subscripts, scope))
    found = reading.bound(node.name, scope)
    if found is not None:
        indices.plain(node)
        return _alone(reading, node, found[0]) if is_index(found[1]) else found[0]
    if node.name == _PI and node.arguments is None:
        indices.plain(node)
        return PI
    symbol = reading.free(node)
    match symbol:
        case Family():
            return _entry(reading, node, symbol, scope)
        case Definition():
            return applied.application(reading, node, symbol, scope)
        case IndexMap():
            return _alone(reading, node, indices.mapped(reading, node, symbol, scope))
    indices.plain(node)
    if symbol.op == "space":
        raise Complaint(f"{node.name} is a space, and no number", node.at)
    return _alone(reading, node, symbol) if symbol.op == "index" else symbol


def _entry(reading: Reading, node: Symbol, symbol: Family, scope: Scope) -> Term:
    """z_i, y_i(t): indices in subscripts, numbers in brackets."""
    if node.after is not None:
        raise Complaint(f"{node.name} has all its subscripts before its arguments", node.at)
    subscripts, arguments = iter(node.subscripts or ()), iter(node.arguments or ())
    along = sum(slot.op == "domain" for slot in symbol.slots)
    if len(node.arguments or ()) != along or len(node.subscripts or ()) != len(symbol.slots) - along:
        raise Complaint(f"{node.name} has {len(symbol.slots) - along} subscripts and {along} arguments", node.at)
    given = [next(arguments if slot.op == "domain" else subscripts) for slot in symbol.slots]
    return Term("family", indices.slotted(reading, node, symbol, given, scope), symbol)


def _alone(reading: Reading, node: Node, position: Term) -> Term:
    """An index that stands alone where a number is needed: the number of those before it."""
    if reading.first:
        raise Complaint("needed an index less 1, as a number", node.at)
    return Term("value", (position,))


def counted(reading: Reading, node: Node, scope: Scope) -> Term:
    """An index as a number, beside another one: i <= j says the same of how many stand before them."""
    return Term("value", (indices.index(reading, node, reading.sizes.fresh(node.at), scope),))


def _value(reading: Reading, node: Node, scope: Scope) -> Term:
    """An index that stands where a number is needed, told by how many stand before it."""
    return Term("value", (indices.offset(reading, node, reading.sizes.fresh(node.at), scope),))


def _squared(reading: Reading, node: Squared, scope: Scope) -> Term:
    if isinstance(node.inside, Sum | Modulo):
        found = _value(reading, node.inside, scope)
        if found.args[0].op in ("join", "remainder"):
            return found
    raise Complaint("needed brackets only around 2 m + a or c mod 2, or beside the sign of an equation", node.at)


def side(reading: Reading, node: Node, scope: Scope) -> Term:
    """One side of an equation between numbers, where an index as a number is [i] if counting starts at 0."""
    if isinstance(node, Squared) and not reading.first:
        return _value(reading, node.inside, scope)
    return real(reading, node, scope)


def _ascribed(reading: Reading, node: Ascribed, scope: Scope) -> Term:
    if not isinstance(node.position, Number):
        raise Complaint("needed square brackets around an index as a number", node.at)
    return _alone(reading, node, indices.index(reading, node, reading.sizes.fresh(node.at), scope))


_REALS: dict[type, Callable[[Reading, Any, Scope], Term]] = {
    Number: _number, Ratio: _ratio, Bracket: _bracket, Product: _product, Fraction: _product, Sum: _sum, Power: _power,
    Call: _call, Matrix: _matrix, Symbol: _symbol, Squared: _squared, Floor: _value, Ascribed: _ascribed,
}  # fmt: skip
