"""Which symbol a declared name stands for: one of the same kind, range and domain, whose own name looks like it.

Two symbols whose names look alike, such as `omega` and `ω`, have different primes on a page; so primes tell symbols apart and
are no part of a name. A name that starts with a digit was made up by a rule, and may look like any letter.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ...terms import Family, IndexMap, Term, named
from .symbol_table import DeclarationError
from .tree import Name

_LETTERS = dict(zip(
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi omega".split(),
    "αβγδεζηθικλμνξπρστυφχψω", strict=True,
)) | dict(zip("Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega".split(), "ΓΔΘΛΞΠΣΥΦΨΩ", strict=True))  # fmt: skip


class Declared(NamedTuple):
    """A name on a page, and a symbol of its kind without a name."""

    name: Name
    symbol: Any


def matched(declared: Sequence[Declared], symbols: Iterable[Any]) -> Mapping[Name, Any]:
    """The symbol of each declared name. Raises DeclarationError unless each has one, and each symbol has one name."""
    waiting = sorted(with_derivatives(symbols), key=lambda s: (named([s]), repr(s)))
    found: dict[Name, Any] = {}
    for name, kind in sorted(declared, key=lambda d: d.name.primes):
        symbol = next((s for s in waiting if nameless(s) == kind and looks_like(name, s)), None)
        if symbol is None or name in found:
            raise DeclarationError(f"{name} is declared as {_said(kind)}, and the theorem has no such symbol")
        waiting.remove(symbol)
        found[name] = symbol
    if waiting:
        raise DeclarationError(f"not declared: {', '.join(f'{named([s])} ({_said(nameless(s))})' for s in waiting)}")
    return found


def with_derivatives(symbols: Iterable[Any]) -> set[Any]:
    """Symbols, and the derivatives of the curves among them, which a page declares with these."""
    found = set(symbols)
    return found | {s.derivative for s in found if isinstance(s, Family) and s.derivative is not None}


def nameless(symbol: Any) -> Any:
    """A symbol as its declaration tells it, its name left out."""
    match symbol:
        case Family(derivative=Family() as velocity):
            return replace(symbol, name="", derivative=replace(velocity, name=""))
        case Family() | IndexMap():
            return replace(symbol, name="")
        case Term(op="index"):
            return Term("index", symbol.args, "")
    return Term(symbol.op, (), ("", *symbol.data[1:]))


def looks_like(name: Name, symbol: Any) -> bool:
    """Whether a name on the page, apart from its primes, is how the name of this symbol is written."""
    own = symbol.name if not isinstance(symbol, Term) else symbol.data if symbol.op == "index" else symbol.data[0]
    if own[0].isdigit():
        return not name.label and not name.dotted
    along_real = isinstance(symbol, Family) and symbol.slots[-1:] and symbol.slots[-1].op == "domain"
    dotted = bool(along_real) and own.startswith("d_") and len(own) > 2
    return written(own[2:] if dotted else own)._replace(dotted=dotted) == name._replace(primes=0)


def defined_like(name: Name, definition: Any) -> bool:
    """The same for the name of a definition, which is upright and keeps its label in one word."""
    return name._replace(primes=0) == name_of(definition)


def name_of(definition: Any) -> Name:
    """How the name of a definition is written, without primes."""
    letter = _LETTERS.get(definition.name, definition.name)
    return Name(letter, upright=letter == definition.name and definition.name not in _LETTERS.values())


def written(own: str) -> Name:
    """How a symbol of that name is written, without primes."""
    base, _, label = own.partition("_")
    return Name(_LETTERS.get(base, base) or own, label if base else "")


def _said(kind: Any) -> str:
    match kind:
        case Family():
            curve = ", differentiable" if kind.derivative else ""
            return f"a family over {', '.join(map(repr, kind.slots))} in the domain {kind.domain}{curve}"
        case IndexMap():
            return f"a map of {', '.join(map(repr, kind.slots))} into {kind.target!r}{' one to one' * kind.bijective}"
        case Term(op="index"):
            return f"an index below {kind.args[0]!r}"
        case Term(op="size"):
            return f"a size of at least {kind.data[1]}"
        case Term(op="space"):
            return "a probability space"
    return f"a variable in the domain {kind.data[1]}"
