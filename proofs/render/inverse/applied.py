"""Definitions at their arguments, and functions as arguments: j ↦ z_j + c, or a name that lacks its last indices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...binders import substitute
from ...definitions import Definition
from ...terms import Family, Term
from . import binders, indices, reals
from .problems import Complaint
from .reading import NAMELESS, Bound, Reading, Scope, hint
from .tree import Function, Node, Symbol


def application(reading: Reading, node: Symbol, definition: Definition, scope: Scope) -> Term:
    return _applied(reading, node, definition, scope, ())


def function(reading: Reading, node: Node, slots: Sequence[Term], scope: Scope) -> Term:
    """A function of these slots, whose ranges may be unknown as yet. Raises Complaint for anything else."""
    if isinstance(node, Function):
        return _mapped(reading, node, slots, scope)
    if not isinstance(node, Symbol) or reading.bound(node.name, scope) is not None:
        raise Complaint("needed a function", node.at)
    symbol = reading.free(node)
    hidden = (*scope, *(Bound(NAMELESS, slot) for slot in slots))
    last = tuple(Term("bound", (), len(slots) - 1 - k) for k in range(len(slots)))
    if isinstance(symbol, Definition):
        body = _applied(reading, node, symbol, hidden, tuple(zip(last, slots, strict=True)))
    elif isinstance(symbol, Family):
        body = _lacking(reading, node, symbol, hidden, tuple(zip(last, slots, strict=True)))
    else:
        raise Complaint(f"{node.name} is no function", node.at)
    return Term("function", (*slots, body), None, tuple("ijkl"[k % 4] for k in range(len(slots))))


def _mapped(reading: Reading, node: Function, slots: Sequence[Term], scope: Scope) -> Term:
    if len(node.places) != len(slots):
        raise Complaint(f"needed a function of {len(slots)} arguments, found {len(node.places)}", node.at)
    inside = scope
    for place, slot in zip(node.places, slots, strict=True):
        range_ = binders.range_of(reading, place)
        _same(reading, range_, slot, place.at)
        inside = reading.bind(inside, place.name, range_, place.at)
    body = reals.real(reading, node.body, inside)
    return Term("function", (*slots, body), None, tuple(hint(p.name) for p in node.places))


def _same(reading: Reading, found: Term, needed: Term, at: int) -> None:
    """Two slots are of one range, or both real."""
    if "domain" not in (found.op, needed.op):
        reading.sizes.same(found, needed, at)
    elif found != needed:
        raise Complaint("a function of numbers and one of indices are not alike", at)


Last = tuple[tuple[Term, Term], ...]  # bound variables of a function that is written without them, with their slots


def _lacking(reading: Reading, node: Symbol, symbol: Family, scope: Scope, last: Last) -> Term:
    kept = symbol.slots[: len(symbol.slots) - len(last)]
    given = node.subscripts or ()
    if node.arguments is not None or node.after is not None or len(given) != len(kept) or len(last) > len(symbol.slots):
        raise Complaint(f"{node.name} needs {len(kept)} subscripts to be a function of {len(last)} arguments", node.at)
    if any(slot.op == "domain" for slot in kept):
        raise Complaint(f"{node.name} is no function of its last {len(last)} slots", node.at)
    for (_, slot), own in zip(last, symbol.slots[len(kept) :], strict=True):
        _same(reading, own, slot, node.at)
    found = tuple(indices.index(reading, part, slot, scope) for part, slot in zip(given, kept, strict=True))
    return Term("family", (*found, *(bound for bound, _ in last)), symbol)


def _applied(reading: Reading, node: Symbol, definition: Definition, scope: Scope, last: Last) -> Term:
    """The definition at what is written, and then at the bound variables of a function that is written without them."""
    sizes = {s: reading.sizes.fresh(node.at) for s in definition.sizes}
    subscripts, arguments = list(_subscripts(node)), list(node.arguments or ())
    found: list[Term] = []
    kept = len(definition.parameters) - len(last)
    for k, parameter in enumerate(definition.parameters):
        takes_index = isinstance(parameter, Term) and parameter.op == "index"
        if k >= kept:
            if not takes_index:
                raise Complaint(f"{node.name} is no function of its last {len(last)} parameters", node.at)
            bound, slot = last[k - kept]
            _same(reading, substitute(parameter.args[0], sizes), slot, node.at)
            found.append(bound)
            continue
        waiting = subscripts if takes_index else arguments
        if not waiting:
            raise Complaint(f"{node.name} takes {_arity(definition, len(last))}", node.at)
        found.append(_given(reading, waiting.pop(0), parameter, sizes, scope))
    if subscripts or arguments or kept < 0:
        raise Complaint(f"{node.name} takes {_arity(definition, len(last))}", node.at)
    return Term("apply", (*sizes.values(), *found), definition)


def _given(reading: Reading, node: Node, parameter: Any, sizes: dict[Term, Term], scope: Scope) -> Term:
    if isinstance(parameter, Family):
        return function(reading, node, [substitute(slot, sizes) for slot in parameter.slots], scope)
    if parameter.op == "index":
        return indices.index(reading, node, substitute(parameter.args[0], sizes), scope)
    found = reals.real(reading, node, scope)
    if parameter.op == "size":
        reading.sizes.same(sizes[parameter], found, node.at)
    return found


def _subscripts(node: Symbol) -> tuple[Node, ...]:
    """The subscripts of a definition, which stand behind its primes and its arguments."""
    if node.arguments is not None or node.name.primes:
        if node.subscripts is not None:
            raise Complaint(f"the subscripts of {node.name} stand behind its arguments", node.at)
        return node.after or ()
    return node.subscripts or ()


def _arity(definition: Definition, lacking: int) -> str:
    subscripts = sum(isinstance(p, Term) and p.op == "index" for p in definition.parameters)
    arguments = len(definition.parameters) - subscripts
    return f"{arguments} arguments and {max(0, subscripts - lacking)} subscripts here"
