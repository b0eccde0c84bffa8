"""TRUSTED. Whether a term is one that the constructors of `terms` and `binders` could have built.

A proof hands over terms that it built itself, perhaps node by node. They are checked once, where they enter: every argument
has its sort, every index its range, every binder its names, and nothing is of a class that could lie about being equal.
One file: the kinds of terms are checked side by side, so that none is forgotten.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import prod
from typing import Any

from .binders import substitute
from .definitions import Definition
from .terms import (
    ANY_REAL,
    DOMAINS,
    FUNCTION,
    FUNCTIONS,
    PROP,
    REAL,
    RELATIONS,
    Family,
    IndexMap,
    Term,
    TermError,
    checked_name,
    extent,
    found_sort,
    is_outcome,
    least,
    number,
    product_of_sizes,
)

Ranges = tuple[Term, ...]  # of the binders around a term, the innermost last
_PLAIN = (str, bool, int, Fraction, type(None))


def check_entry(value: Any) -> None:
    """Raises TermError unless a statement, an argument or a value, down to its parts, is well-typed."""
    if type(value) in (tuple, list):
        for part in value:
            check_entry(part)
    elif isinstance(value, Mapping):
        for pair in value.items():
            check_entry(pair)
    elif type(value) in (Family, IndexMap):
        _check_symbol(value)
    elif isinstance(value, Term) and value.op == "space":
        _check_range(value, spaces=True)
    elif isinstance(value, Term):
        _check_term(value)
    elif type(value) not in _PLAIN and type(value) is not Definition:
        raise TermError(f"{value!r} has no place in a proof: needed a term, a symbol, a definition or a name")


def _check_term(term: Term) -> None:
    try:
        sort(term)
    except TermError:
        raise
    except (TypeError, ValueError, IndexError, AttributeError) as problem:
        raise TermError(f"{term.op}: not built as this kind of term is ({problem})") from problem


def sort(term: Term, ranges: Ranges = ()) -> Any:
    """REAL, PROP or FUNCTION, or the size of the range of an index. Raises TermError for anything that is ill-typed."""
    if type(term) is not Term or type(term.args) is not tuple or type(term.hints) is not tuple:
        raise TermError(f"{term!r} is not a term, but {type(term).__name__}")
    if term._sort is not None:
        return term._sort
    bound = max(term.binders(), default=0)
    if len(term.hints) != bound or not all(type(h) is str and h.isidentifier() for h in term.hints):
        raise TermError(f"{term.op} binds {bound} variables, found the names {term.hints!r}")
    for k in term.size_places():
        _check_range(term.args[k], domains=term.op in ("function", "forall"), spaces=_spaces(term))
    known = _CONSTANT.get(term.op) or _INDEX.get(term.op) or _BINDER.get(term.op) or _COMPOUND.get(term.op)
    if known is None:
        raise TermError(f"{term.op!r} is no kind of term")
    found = known(term, ranges)
    if not term.loose:
        found_sort(term, found)
    return found


def _need(condition: bool, term: Term, needed: str) -> None:
    if not condition:
        raise TermError(f"{term!r} is ill-typed: {needed}")


def _spaces(term: Term) -> bool | None:
    """Whether the range of a node may be a space, and None where it has to be one."""
    return None if term.op == "expect" else term.op in ("index", "function", "forall")


def _check_range(size: Term, domains: bool = False, spaces: bool | None = False) -> None:
    if size.op == "space" and spaces is not False:
        _need(
            type(size) is Term and not size.args and type(size.data) is tuple and len(size.data) == 1, size, "no space"
        )
        checked_name(size.data[0])
        return
    _need(spaces is not None, size, "no space")
    if domains and size.op == "domain":
        _need(type(size) is Term and not size.args and size.data in DOMAINS, size, "no domain")
        return
    if sort(size) != REAL or extent(size) is not size:
        raise TermError(f"{size!r} is no size")


def _check_symbol(symbol: Any) -> None:
    checked_name(symbol.name)
    if type(symbol.slots) is not tuple or type(getattr(symbol, "domain", "real")) is not str:
        raise TermError(f"{symbol.name}: its slots are a tuple, its domain a word")
    for slot in symbol.slots:
        _check_range(slot, domains=slot == ANY_REAL, spaces=True)
    if type(symbol) is IndexMap:
        _check_range(symbol.target)
        if symbol.bijective and symbol.slots != (symbol.target,):
            raise TermError(f"{symbol.name}: a permutation maps a range to itself")
    elif symbol.domain not in DOMAINS or type(symbol) is not Family:
        raise TermError(f"{symbol!r} is no family")
    elif symbol.derivative is not None:
        _check_symbol(symbol.derivative)
        if symbol.derivative != Family("d_" + symbol.name, symbol.slots) or symbol.slots[-1:] != (ANY_REAL,):
            raise TermError(f"{symbol.name}: the derivative of a curve is d_{symbol.name}, along its last slot")


def _all(term: Term, needed: tuple[Any, ...], ranges: Ranges) -> None:
    """The arguments are of these sorts."""
    found = tuple(sort(a, ranges) for a in term.args)
    if found != needed:
        raise TermError(f"{term!r} is ill-typed: its parts are {found!r}, needed {needed!r}")


def _slots(slots: tuple[Term, ...]) -> tuple[Any, ...]:
    return tuple(REAL if s.op == "domain" else s for s in slots)


def _bare(term: Term, ranges: Ranges) -> Any:
    """A number or a symbol."""
    _need(not term.args, term, "it has no parts")
    match term.op:
        case "number":
            _need(type(term.data) is Fraction, term, "a number is a fraction")
        case "pi":
            _need(term.data is None, term, "it has no data")
        case _:
            _need(type(term.data) is tuple and len(term.data) == 2, term, "no name and assumption")
            name, assumption = term.data
            checked_name(name)
            good = (
                type(assumption) is str and assumption in DOMAINS
                if term.op == "variable"
                else type(assumption) is int and assumption >= 0
            )
            _need(good, term, "no such assumption")
    return REAL


def _bound(term: Term, ranges: Ranges) -> Any:
    _need(not term.args and type(term.data) is int and 0 <= term.data < len(ranges), term, "no binder is there")
    found = ranges[-1 - term.data]
    return REAL if found.op == "domain" else found


def _family(term: Term, ranges: Ranges) -> Any:
    _need(type(term.data) is Family, term, "no family")
    _check_symbol(term.data)
    _all(term, _slots(term.data.slots), ranges)
    return REAL


def _index(term: Term, ranges: Ranges) -> Any:
    """A symbol, a literal or a map."""
    if term.op == "map":
        _need(type(term.data) is IndexMap, term, "no index map")
        _check_symbol(term.data)
        _all(term, _slots(term.data.slots), ranges)
        return term.data.target
    _need(len(term.args) == 1, term, "an index has one range")
    if term.op == "index":
        checked_name(term.data)
    else:
        _need(type(term.data) is int and 0 <= term.data < least(term.args[0]), term, "not known to be in the range")
    return term.args[0]


def _radix(term: Term, ranges: Ranges) -> Any:
    """A join, a quotient or a remainder."""
    minor, major = term.args[-2:]
    if term.op == "join":
        _all(term, (major, minor, REAL, REAL), ranges)
        return product_of_sizes(minor, major)
    _all(term, (product_of_sizes(minor, major), REAL, REAL), ranges)
    return major if term.op == "quotient" else minor


def _binder(term: Term, ranges: Ranges) -> Any:
    body, *others = (term.args[-1],) if term.op in ("sum", "expect", "forall", "function") else term.args
    bound = (ANY_REAL,) if term.op in ("derivative", "tends") else term.args[:-1]
    found = sort(body, (*ranges, *bound))
    _need(found == (PROP if term.op == "forall" else REAL), body, "it is of another sort")
    for k, other in enumerate(others):
        infinite = term.op == "tends" and k == 0 and other == Term("infinity")
        _need(type(other) is Term and (infinite or sort(other, ranges) == REAL), other, "no real number")
    sizes = {"sum": 2, "expect": 2, "forall": 2, "derivative": 2, "tends": 3}
    _need(len(term.args) == sizes.get(term.op, len(term.args)), term, "too few or too many parts")
    return {"forall": PROP, "tends": PROP, "function": FUNCTION}.get(term.op, REAL)


def _compound(term: Term, ranges: Ranges) -> Any:
    args, count = term.args, len(term.args)
    match term.op:
        case "value" | "delta" | "relation":
            found = [sort(a, ranges) for a in args]
            _need(term.op != "relation" or type(term.data) is str, term, "no relation")
            real = found == [REAL, REAL] and term.op == "relation" and term.data in RELATIONS
            indices = (
                isinstance(found[0], Term)
                and not is_outcome(found[0])
                and found == [found[0]] * (1 if term.op == "value" else 2)
            )
            _need(real or (indices and (term.op != "relation" or term.data in ("eq", "ne"))), term, "other sorts")
            return PROP if term.op == "relation" else REAL
        case "implies":
            _all(term, (PROP, PROP), ranges)
            return PROP
        case "when":
            _need(args[0].op == "relation", term, "no relation")
            _all(term, (PROP, REAL, REAL), ranges)
        case "table":
            axes = tuple(number(s) for s in term.data)
            _all(term, (REAL,) * prod(term.data) + axes, ranges)
            _need(1 <= len(axes) <= 2, term, "a vector or a matrix")
        case "apply":
            _apply(term, ranges)
        case _:
            least_parts = 1 if term.op == "max" else 2
            fixed = 2 if term.op == "power" else 1 if term.op in FUNCTIONS else max(count, least_parts)
            _all(term, (REAL,) * fixed, ranges)
    return REAL


def _apply(term: Term, ranges: Ranges) -> None:
    definition = term.data
    _need(type(definition) is Definition, term, "no definition")
    sizes = dict(zip(definition.sizes, term.args, strict=False))
    needed: list[Any] = [REAL] * len(definition.sizes)
    for p in definition.parameters:
        if isinstance(p, Family):
            needed.append((FUNCTION, tuple(substitute(s, sizes) for s in p.slots)))
        else:
            needed.append(substitute(p.args[0], sizes) if p.op == "index" else REAL)
    found = [(FUNCTION, a.args[:-1]) if sort(a, ranges) == FUNCTION else sort(a, ranges) for a in term.args]
    if found != needed:
        raise TermError(f"{term!r} is ill-typed: its parts are {found!r}, needed {needed!r}")


_CONSTANT = dict.fromkeys(("number", "pi", "variable", "size"), _bare) | {"bound": _bound, "family": _family}
_INDEX = dict.fromkeys(("index", "literal", "map"), _index) | dict.fromkeys(("join", "quotient", "remainder"), _radix)
_BINDER = dict.fromkeys(("sum", "expect", "derivative", "function", "forall", "tends"), _binder)
_COMPOUND = dict.fromkeys(
    ("add", "mul", "power", "max", "value", "delta", "relation", "implies", "when", "table", "apply", *FUNCTIONS),
    _compound,
)
