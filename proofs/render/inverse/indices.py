"""Indices: what stands in a subscript, in the slot of a map, on both sides of i = j."""

from __future__ import annotations

from collections.abc import Sequence

from ...terms import Family, IndexMap, Term, TermError, extent
from . import reals
from .problems import Complaint
from .reading import Reading, Scope, is_index
from .tree import Ascribed, Bracket, Floor, Modulo, Node, Number, Product, Relation, Sum, Symbol


def index(reading: Reading, node: Node, range_: Term, scope: Scope) -> Term:
    """The index into that range, which may be unknown as yet. Raises Complaint where a node is none."""
    match node:
        case Number():
            return Term("literal", (range_,), node.value)
        case Ascribed():
            inside = node.position.inside if isinstance(node.position, Bracket) else node.position
            if not isinstance(inside, Number | Sum):
                raise Complaint("only a number or 2 m + a is written with its range", node.at)
            reading.sizes.same(size(reading, node.size), range_, node.at)
            return index(reading, inside, range_, scope)
        case Symbol():
            return _named(reading, node, range_, scope)
        case Bracket(inside=Sum() | Modulo()):
            return index(reading, node.inside, range_, scope)
        case Floor() | Modulo():
            return _part(reading, node, range_, scope)
        case Sum():
            return _join(reading, node, range_, scope)
    raise Complaint("needed an index", node.at)


def _named(reading: Reading, node: Symbol, range_: Term, scope: Scope) -> Term:
    found = reading.bound(node.name, scope)
    if found is not None:
        term, own = found
        if not is_index(own):
            raise Complaint(f"{node.name} is a number, and no index", node.at)
        plain(node)
    else:
        symbol = reading.free(node)
        if isinstance(symbol, IndexMap):
            term, own = mapped(reading, node, symbol, scope), symbol.target
        elif isinstance(symbol, Term) and symbol.op == "index":
            term, own = symbol, symbol.args[0]
            plain(node)
        else:
            raise Complaint(f"{node.name} is no index", node.at)
    reading.sizes.same(own, range_, node.at)
    return term


def plain(node: Symbol) -> None:
    """Raises Complaint where something hangs on a name that takes nothing."""
    if node.subscripts is not None or node.arguments is not None or node.after is not None:
        raise Complaint(f"{node.name} takes neither indices nor arguments", node.at)


def mapped(reading: Reading, node: Symbol, symbol: IndexMap, scope: Scope) -> Term:
    if node.subscripts is not None or node.after is not None:
        raise Complaint(f"the map {node.name} takes no subscripts", node.at)
    return Term("map", slotted(reading, node, symbol, node.arguments or (), scope), symbol)


def slotted(
    reading: Reading, node: Symbol, symbol: Family | IndexMap, given: Sequence[Node], scope: Scope
) -> tuple[Term, ...]:
    """What fills the slots of a symbol, in their order."""
    if len(given) != len(symbol.slots):
        raise Complaint(f"{node.name} has {len(symbol.slots)} slots, found {len(given)}", node.at)
    return tuple(
        reals.real(reading, part, scope) if slot.op == "domain" else index(reading, part, slot, scope)
        for part, slot in zip(given, symbol.slots, strict=True)
    )


def _part(reading: Reading, node: Floor | Modulo, range_: Term, scope: Scope) -> Term:
    """Quotient or remainder of an index into a range of step times another size."""
    whole, step = reading.sizes.fresh(node.at), size(reading, node.step)
    position = index(reading, node.position, whole, scope)
    if isinstance(node, Floor):
        reading.sizes.product(step, range_, whole, node.at)
        return Term("quotient", (position, step, range_))
    reading.sizes.same(step, range_, node.at)
    major = reading.sizes.fresh(node.at)
    reading.sizes.product(step, major, whole, node.at)
    return Term("remainder", (position, step, major))


def _join(reading: Reading, node: Sum, range_: Term, scope: Scope) -> Term:
    """2 m + a."""
    match node.parts:
        case ((False, Product(factors=(step, position))), (False, last)):
            minor, major = size(reading, step), reading.sizes.fresh(node.at)
            high = index(reading, position, major, scope)
            low = index(reading, last, minor, scope)
            reading.sizes.product(minor, major, range_, node.at)
            return Term("join", (high, low, minor, major))
    raise Complaint("needed an index, such as 2 m + a", node.at)


def size(reading: Reading, node: Node) -> Term:
    """A size: a whole number, a size symbol, or a sum or product of them."""
    found = reals.real(reading, node, ())
    try:
        return extent(found)
    except TermError as problem:
        raise Complaint(str(problem), node.at) from None


def pair(reading: Reading, left: Node, right: Node, scope: Scope) -> tuple[Term, Term]:
    """Two indices of one range."""
    range_ = reading.sizes.fresh(left.at)
    return index(reading, left, range_, scope), index(reading, right, range_, scope)


def compares_indices(reading: Reading, node: Relation, scope: Scope) -> bool:
    """Whether a side can only be an index. As a number it would stand in square brackets."""
    return node.sign in ("eq", "ne") and any(_is_plainly_one(reading, side, scope) for side in (node.left, node.right))


def _is_plainly_one(reading: Reading, node: Node, scope: Scope) -> bool:
    if not isinstance(node, Symbol):
        return isinstance(node, Floor | Modulo | Ascribed)
    found = reading.bound(node.name, scope)
    if found is not None:
        return is_index(found[1])
    symbol = reading.table.get(node.name)
    return isinstance(symbol, IndexMap) or (isinstance(symbol, Term) and symbol.op == "index")
