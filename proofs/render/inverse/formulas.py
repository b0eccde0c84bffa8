"""Texts as terms, with a table of symbols: the one way from what is printed to what is meant."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ...definitions import Definition
from ...terms import FUNCTION, Family, IndexMap, Term, TermError, extents, sort_of
from ...well_typed import check_entry
from . import applied, binders, indices, latex, propositions, reals
from .front_ends import Read, knowing
from .problems import Complaint, UnreadableError
from .reading import Reading
from .symbol_table import Table
from .tree import ForAll, Implies, Limit, Node, Relation, Symbol


def fragment(text: str, table: Table, read: Read = latex.read) -> Term:
    """The statement or the number that one formula is, well-typed. Raises UnreadableError with the place otherwise."""
    found = formula(text, table, read)
    try:
        check_entry(found)
    except TermError as problem:
        raise UnreadableError(str(problem), text, 0) from None
    return found


def formula(text: str, table: Table, read: Read = latex.read) -> Term:
    """The same, for what is then compared with a well-typed term: the names that rules make up are read as well."""
    tree = knowing(read, table.entries)(text, "statement")
    return _understood(text, table, lambda reading: _meaning(reading, tree))


def _meaning(reading: Reading, tree: Node) -> Term:
    states = isinstance(tree, Relation | ForAll | Implies | Limit)
    return (propositions.proposition if states else reals.real)(reading, tree, ())


def value(text: str, table: Table, symbol: Any, read: Read = latex.read) -> Any:
    """What stands for a symbol, or in the place of another value: a term of its sort, a function, an index map."""
    tree = knowing(read, table.entries)(text, "argument")
    return _understood(text, table, lambda reading: value_for(reading, tree, symbol))


def values(text: str, table: Table, symbols: Sequence[Any], read: Read = latex.read) -> tuple[Any, ...]:
    """Several values, one for each symbol, with commas between them."""
    trees = knowing(read, table.entries)(text, "listed")
    if len(trees) != len(symbols):
        raise UnreadableError(f"found {len(trees)} values, needed {len(symbols)}", text, 0)
    pairs = zip(trees, symbols, strict=True)
    return tuple(_understood(text, table, partial(value_for, tree=tree, symbol=symbol)) for tree, symbol in pairs)


def assigned(text: str, theirs: Table, table: Table, read: Read = latex.read) -> tuple[Any, Any]:
    """`name := value`: a symbol of the one table, and its value in the symbols of the other one."""
    tree = knowing(read, table.entries)(text, "assignment")
    symbol = theirs.get(tree.name)
    if symbol is None:
        raise UnreadableError(f"{tree.name} is no symbol of the theorem that is cited", text, tree.at)
    return symbol, _understood(text, table, lambda reading: value_for(reading, tree.value, symbol))


def definition(text: str, table: Table, read: Read = latex.read) -> Definition:
    """The definition that a name stands for."""
    tree = knowing(read, table.entries)(text, "symbol")
    found: Definition = _understood(text, table, lambda reading: _alone(reading, tree, Definition, "a definition"))
    return found


def _alone(reading: Reading, tree: Node, kind: type, needed: str) -> Any:
    """What a name stands for that has nothing with it."""
    if isinstance(tree, Symbol):
        indices.plain(tree)
        found = reading.free(tree)
        if isinstance(found, kind):
            return found
    raise Complaint(f"needed {needed}", tree.at)


def value_for(reading: Reading, tree: Node, symbol: Any) -> Any:
    sort = sort_of(symbol) if isinstance(symbol, Term) else None
    if isinstance(symbol, Family) or sort == FUNCTION:
        slots = [s if s.op == "domain" else reading.sizes.fresh(tree.at) for s in extents(symbol)]
        return applied.function(reading, tree, slots, ())
    if isinstance(symbol, IndexMap):
        return _alone(reading, tree, IndexMap, "an index map")
    if symbol.op == "space":
        return binders.space(reading, tree)
    if isinstance(sort, Term):
        return indices.index(reading, tree, reading.sizes.fresh(tree.at), ())
    return reals.real(reading, tree, ())


def _understood(text: str, table: Table, give: Callable[[Reading], Any]) -> Any:
    reading = Reading(table)
    try:
        found = give(reading)
        return reading.finished(found) if isinstance(found, Term) else found
    except Complaint as complaint:
        raise UnreadableError(complaint.problem, text, complaint.at) from None
