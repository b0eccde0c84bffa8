"""The lines that define names: softmax(z)_i = exp(z_i) / sum_l exp(z_l), where this is defined.

Such a line has symbols of its own: the parameters, which its left side names, and the sizes of their ranges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import count
from typing import Any

from ...definitions import Definition
from ...terms import Term
from . import latex
from .formulas import formula
from .front_ends import Read, knowing
from .problems import UnreadableError
from .symbol_table import DeclarationError, Table
from .symbols import defined_like, looks_like, name_of, written
from .tree import Name, Node, Relation, Symbol

_MOST_PRIMES = 9


def table_of(texts: Sequence[str], definitions: Iterable[Definition], table: Table, read: Read = latex.read) -> Table:
    """The table with the names that these lines define; raises DeclarationError unless just these definitions have lines."""
    waiting = sorted(definitions, key=repr)
    read = knowing(read, (name_of(d)._replace(primes=k) for d in waiting for k in range(_MOST_PRIMES)))
    found: dict[Name, Any] = {}
    for name in sorted((_left(text, read).name for text in texts), key=lambda n: n.primes):
        definition = next((d for d in waiting if defined_like(name, d)), None)
        if definition is None or name in found:
            raise DeclarationError(f"{name} is defined, and the theorem speaks of no such definition")
        waiting.remove(definition)
        found[name] = definition
    if waiting:
        raise DeclarationError(f"not defined: {', '.join(map(repr, waiting))}")
    return table.with_(found)


def defined_name(text: str, table: Table, read: Read = latex.read) -> Name:
    """The name that a line defines; `table` has what the page defines."""
    return _left(text, knowing(read, _defined(table))).name


def local_table(texts: Sequence[str], definition: Definition, table: Table, read: Read = latex.read) -> Table:
    """What the names in the line of a definition stand for: its equation, its conditions. `table` has what the page defines.

    Raises UnreadableError where its left side is not the definition at its parameters.
    """
    named = _defined(table)
    read = knowing(read, named)
    parameters = _parameters(texts[0], definition, read)
    upright = {name for name in _mentioned(texts, read) if name.upright}
    taken = {*parameters, *(written(name.base)._replace(primes=name.primes) for name in upright)}
    sizes = {_size_name(s, taken): s for s in definition.sizes if s not in parameters.values()}
    return table._replace(entries={**named, **parameters, **sizes})


def reader(
    texts: Sequence[str], definition: Definition, table: Table, read: Read = latex.read
) -> Callable[[str], Term]:
    """Reads a text that stands in the line of a definition, as `formula` does with `local_table`; raises what these raise.

    A line is read once, however many pages it stands on, as long as the names in it stand for the same definitions there.
    """
    defined = _defined(table)
    names = _mentioned(texts, knowing(read, defined))
    named = frozenset((n, d) for n, d in defined.items() if n in names)
    return _reader(tuple(texts), definition, named, table.first, read)


@lru_cache(maxsize=1024)
def _reader(
    texts: tuple[str, ...], definition: Definition, named: frozenset[tuple[Name, Definition]], first: int, read: Read
) -> Callable[[str], Term]:
    table = local_table(texts, definition, Table(dict(named), first), read)
    return lru_cache(maxsize=len(texts))(partial(formula, table=table, read=read))


@lru_cache(maxsize=1024)
def wanted(definition: Definition) -> tuple[Term, ...]:
    """What the line of a definition has to say: the equation, then the conditions under which it is defined."""
    left = definition(*definition.parameters)
    return (Term("relation", (left, definition.body), "eq"), *definition.requires)


def _defined(table: Table) -> dict[Name, Definition]:
    return {name: d for name, d in table.entries.items() if isinstance(d, Definition)}


def _left(text: str, read: Read) -> Symbol:
    tree = read(text, "statement")
    if not isinstance(tree, Relation) or tree.sign != "eq" or not isinstance(tree.left, Symbol):
        raise UnreadableError("needed a name at its parameters, and what it is equal to", text, 0)
    return tree.left


def _parameters(text: str, definition: Definition, read: Read) -> dict[Name, Any]:
    """The parameters, as the left side names them."""
    left = _left(text, read)
    subscripts = iter((left.after if left.arguments is not None or left.name.primes else left.subscripts) or ())
    arguments = iter(left.arguments or ())
    found: dict[Name, Any] = {}
    for parameter in definition.parameters:
        takes_index = isinstance(parameter, Term) and parameter.op == "index"
        node: Node | None = next(subscripts if takes_index else arguments, None)
        if not isinstance(node, Symbol) or not looks_like(node.name, parameter) or node.name in found:
            raise UnreadableError(f"needed the parameters of {definition.name} in their order", text, left.at)
        found[node.name] = parameter
    return found


def _size_name(size: Term, taken: set[Name]) -> Name:
    """The name of a size, which nothing declares here: its own, with as many primes as nothing else has; it is taken then."""
    name = written(size.data[0])
    found = next(primed for k in count() if (primed := name._replace(primes=k)) not in taken)
    taken.add(found)
    return found


def _mentioned(texts: Iterable[str], read: Read) -> set[Name]:
    return {name for text in texts for name in _names_in(text, read)}


@lru_cache(maxsize=4096)
def _names_in(text: str, read: Read) -> frozenset[Name]:
    return frozenset(_names(read(text, "statement")))


def _names(tree: Any) -> Iterator[Name]:
    if isinstance(tree, Name):
        yield tree
    elif isinstance(tree, tuple):
        for part in tree:
            yield from _names(part)
