"""Indices: what stands in a subscript, in the slot of a map, on both sides of i = j.

Where counting starts at 1, position k is written k + 1, and arithmetic is about how many indices stand before one: 2 (m - 1) + a,
floor((c - 1) / 2) + 1, ((c - 1) mod 2) + 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...terms import Family, IndexMap, Term, TermError, extent
from . import reals
from .problems import Complaint
from .reading import Reading, Scope, is_index
from .tree import Ascribed, Bracket, Floor, Modulo, Node, Number, Product, Relation, Sum, Symbol

Reads = Callable[[Reading, Node, Term, Scope], Term]


def index(reading: Reading, node: Node, range_: Term, scope: Scope) -> Term:
    """The index into that range, which may be unknown as yet. Raises Complaint where a node is none."""
    match node:
        case Number():
            return _position(reading, node, node.value - reading.first, range_)
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
        case Floor() | Modulo() if not reading.first:
            return _part(reading, node, range_, scope)
        case Sum():
            return _computed(reading, node, range_, scope)
    raise Complaint("needed an index", node.at)


def offset(reading: Reading, node: Node, range_: Term, scope: Scope) -> Term:
    """The index that is told by how many stand before it, which is the index itself where counting starts at 0."""
    if not reading.first:
        return index(reading, node, range_, scope)
    match node:
        case Number():
            return _position(reading, node, node.value, range_)
        case Bracket(inside=Sum() | Modulo()):
            return offset(reading, node.inside, range_, scope)
        case Floor() | Modulo():
            return _part(reading, node, range_, scope)
        case Sum(parts=((False, Symbol() | Ascribed(position=Number()) as position), (True, Number(value=1)))):
            return index(reading, position, range_, scope)
        case Sum(parts=(first, (False, last))):
            return _join(reading, first, last, range_, scope, offset)
    raise Complaint("needed how many indices stand before one, such as i - 1", node.at)


def _position(reading: Reading, node: Number, position: int, range_: Term) -> Term:
    if position < 0:
        raise Complaint(f"the first index is {reading.first} here", node.at)
    return Term("literal", (range_,), position)


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
    position = offset(reading, node.position, whole, scope)
    if isinstance(node, Floor):
        reading.sizes.product(step, range_, whole, node.at)
        return Term("quotient", (position, step, range_))
    reading.sizes.same(step, range_, node.at)
    major = reading.sizes.fresh(node.at)
    reading.sizes.product(step, major, whole, node.at)
    return Term("remainder", (position, step, major))


def _computed(reading: Reading, node: Sum, range_: Term, scope: Scope) -> Term:
    """2 m + a; where counting starts at 1, all that ends in + 1 as well."""
    match node.parts:
        case ((False, Floor() | Bracket(inside=Modulo()) as part), (False, Number(value=1))) if reading.first:
            return offset(reading, part, range_, scope)
        case (first, (False, Floor() | Bracket(inside=Modulo()) as last), (False, Number(value=1))) if reading.first:
            return _join(reading, first, last, range_, scope, offset)
        case (first, (False, last)):
            return _join(reading, first, last, range_, scope, index)
    raise Complaint("needed an index, such as 2 m + a", node.at)


def _join(reading: Reading, first: tuple[bool, Node], last: Node, range_: Term, scope: Scope, read: Reads) -> Term:
    """2 m + a, of which `read` reads the last part."""
    match first:
        case (False, Product(at=at, factors=(step, position))):
            minor, major = size(reading, step), reading.sizes.fresh(at)
            high = offset(reading, position, major, scope)
            low = read(reading, last, minor, scope)
            reading.sizes.product(minor, major, range_, at)
            return Term("join", (high, low, minor, major))
    raise Complaint("needed an index, such as 2 m + a", first[1].at)


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
    """Whether a side can only be an index. As a number it would stand in square brackets, or less 1."""
    return node.sign in ("eq", "ne") and any(_is_plainly_one(reading, side, scope) for side in (node.left, node.right))


def compares_places(reading: Reading, node: Relation, scope: Scope) -> bool:
    """Whether both sides of i <= j are indices, where as a number each would be less 1."""
    named = all(is_named(reading, side, scope) for side in (node.left, node.right))
    return bool(reading.first) and node.sign in ("le", "lt") and named


def is_less_one(reading: Reading, node: Sum, scope: Scope) -> bool:
    """Whether this is i - 1, of an index."""
    match node.parts:
        case ((False, position), (True, Number(value=1))):
            return is_named(reading, position, scope)
    return False


def _is_plainly_one(reading: Reading, node: Node, scope: Scope) -> bool:
    match node:
        case Symbol():
            return is_named(reading, node, scope)
        case Floor() | Modulo():
            return not reading.first
        case Sum(parts=((False, Bracket(inside=Modulo())), (False, Number(value=1)))):
            return bool(reading.first)
    return isinstance(node, Ascribed)


def is_named(reading: Reading, node: Node, scope: Scope) -> bool:
    """Whether a node is an index by its name, or a position with its range."""
    if not isinstance(node, Symbol):
        return isinstance(node, Ascribed) and isinstance(node.position, Number)
    found = reading.bound(node.name, scope)
    if found is not None:
        return is_index(found[1])
    symbol = reading.table.get(node.name)
    return isinstance(symbol, IndexMap) or (isinstance(symbol, Term) and symbol.op == "index")
