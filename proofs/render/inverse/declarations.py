"""What a page declares, read back: sizes, spaces, indices and variables, families, curves, maps.

`kind` says what the words of a declaration say, in any language; the formulas say the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ...terms import Family, IndexMap, Term
from . import binders, indices, latex
from .front_ends import Read, knowing
from .problems import Complaint, UnreadableError
from .reading import Reading
from .symbol_table import DeclarationError, Table
from .symbols import Declared, matched
from .tree import Domain, Members, Name, Node, Number, Place, Relation, Symbol


def introduced(kind: str, texts: Sequence[str], table: Table, read: Read = latex.read) -> list[Declared]:
    """The names that one declaration introduces, with what they stand for; `table` has the sizes and spaces it speaks of.

    Raises UnreadableError where the formulas are no declaration of that kind.
    """
    forms, give = _KINDS.get(kind, ((), None))
    if give is None or len(texts) != len(forms):
        raise UnreadableError(f"{len(texts)} formulas are no declaration of the kind {kind!r}", "; ".join(texts), 0)
    pairs = list(zip(texts, forms, strict=True))
    places = [place.name for text, form in pairs if form == "places" for place in read(text, form)]
    trees = [knowing(read, places)(text, form) for text, form in pairs]
    try:
        return list(give(Reading(table), *trees))
    except Complaint as complaint:
        raise UnreadableError(complaint.problem, texts[0], complaint.at) from None


def table_of(
    entries: Sequence[tuple[str, Sequence[str]]], symbols: Iterable[Any], table: Table, read: Read = latex.read
) -> Table:
    """The table with the symbols that these declarations, each a kind and its formulas, give names to.

    Raises UnreadableError for a declaration that is none, DeclarationError unless just these symbols are declared.
    """
    ranges = {s for s in symbols if isinstance(s, Term) and s.op in ("size", "space")}
    for group, own in ((("size", "space"), ranges), (_LATER, set(symbols) - ranges)):
        names = [d for kind, texts in entries if kind in group for d in introduced(kind, texts, table, read)]
        table = table.with_(matched(names, own))
    if unknown := [kind for kind, _ in entries if kind not in _KINDS]:
        raise DeclarationError(f"no such kinds of declarations: {', '.join(unknown)}")
    return table


def _size(reading: Reading, tree: Node) -> list[Declared]:
    match tree:
        case Relation(sign="le", left=Number(value=least), right=Symbol() as symbol):
            return [Declared(_bare(symbol), Term("size", (), ("", least)))]
    raise Complaint("needed the least value of a size, as in 1 <= n", tree.at)


def _space(reading: Reading, tree: Node) -> list[Declared]:
    return [Declared(_bare(tree), Term("space", (), ("",)))]


def _members(reading: Reading, tree: Members) -> list[Declared]:
    kind = _member(reading, tree)
    return [Declared(_bare(entry), kind) for entry in tree.entries]


def _member(reading: Reading, tree: Members) -> Term:
    """An index or a variable of the range that is written."""
    if isinstance(tree.range, Domain):
        return Term("variable", (), ("", tree.range.name))
    return Term("index", (binders.ranged(reading, tree.sign, tree.range),), "")


def _families(reading: Reading, tree: Members, places: Sequence[Place]) -> list[Declared]:
    return _listed(reading, tree, places, random=False)


def _random(reading: Reading, tree: Members, places: Sequence[Place]) -> list[Declared]:
    return _listed(reading, tree, places, random=True)


def _listed(reading: Reading, tree: Members, places: Sequence[Place], random: bool) -> list[Declared]:
    slots = _slots(reading, places)
    if any(slot.op == "space" for slot in slots) != random:
        raise Complaint("just a random variable has an outcome among its slots", tree.at)
    if not isinstance(tree.range, Domain):
        raise Complaint("needed the domain of the entries", tree.at)
    return [Declared(_entry(entry, places, slots), Family("", slots, tree.range.name)) for entry in tree.entries]


def _curve(reading: Reading, tree: Members, places: Sequence[Place], along: Node, derivative: Node) -> list[Declared]:
    (found,) = _listed(reading, tree, places, random=False) if len(tree.entries) == 1 else [None]
    if found is None or found.symbol.domain != "real" or found.symbol.slots[-1].op != "domain":
        raise Complaint("needed one curve along a real variable", tree.at)
    if _bare(along) != places[-1].name:
        raise Complaint(f"needed the variable {places[-1].name} of the curve", along.at)
    velocity = Declared(_bare(derivative), Family("", found.symbol.slots))
    return [Declared(found.name, Family("", found.symbol.slots, "real", velocity.symbol)), velocity]


def _map(reading: Reading, tree: Members, places: Sequence[Place]) -> list[Declared]:
    slots = _slots(reading, places)
    if len(tree.entries) != 1 or tree.sign == "in":
        raise Complaint("needed one map into a range", tree.at)
    target = binders.ranged(reading, tree.sign, tree.range)
    return [Declared(_mapped(tree.entries[0], places), IndexMap("", slots, target))]


def _mapped(entry: Node, places: Sequence[Place]) -> Name:
    """The name of a map that stands at its places."""
    match entry:
        case Symbol(subscripts=None, arguments=tuple() as given, after=None):
            if [_bare(a) for a in given] == [p.name for p in places]:
                return entry.name
    raise Complaint("needed a map at its places", entry.at)


def _permutation(reading: Reading, tree: Members, places: Sequence[Place]) -> list[Declared]:
    ((name, found),) = _map(reading, tree, places)
    if found.slots != (found.target,):
        raise Complaint("needed a map of a range to itself", tree.at)
    return [Declared(name, IndexMap("", found.slots, found.target, bijective=True))]


def _slots(reading: Reading, places: Sequence[Place]) -> tuple[Term, ...]:
    names = [place.name for place in places]
    for place in places:
        if names.count(place.name) > 1 or reading.table.get(place.name) is not None:
            raise Complaint(f"{place.name} stands for something else already", place.at)
        if place.range is None:
            raise Complaint(f"needed the range of {place.name}", place.at)
    return tuple(binders.range_of(reading, place) for place in places)


def _entry(entry: Node, places: Sequence[Place], slots: Sequence[Term]) -> Name:
    """The name of a family that stands at its places: indices in subscripts, numbers in brackets."""
    pairs = list(zip(places, slots, strict=True))
    wanted = [tuple(p.name for p, s in pairs if (s.op == "domain") is along) for along in (False, True)]
    if not isinstance(entry, Symbol) or entry.after:
        raise Complaint("needed a family at its places", entry.at)
    found = [tuple(map(_bare, given or ())) for given in (entry.subscripts, entry.arguments)]
    if found != wanted:
        raise Complaint("needed a family at its places", entry.at)
    return entry.name


def _bare(node: Node) -> Name:
    if not isinstance(node, Symbol):
        raise Complaint("needed a name", node.at)
    indices.plain(node)
    return node.name


_KINDS: dict[str, tuple[tuple[str, ...], Callable[..., list[Declared]] | None]] = {
    "size": (("statement",), _size),
    "space": (("symbol",), _space),
    "members": (("members",), _members),
    "families": (("members", "places"), _families),
    "random": (("members", "places"), _random),
    "curve": (("members", "places", "symbol", "symbol"), _curve),
    "map": (("members", "places"), _map),
    "permutation": (("members", "places"), _permutation),
}
DECLARED = tuple(_KINDS)
_LATER = tuple(kind for kind in DECLARED if kind not in ("size", "space"))
