"""What the formulas of a page have to say: read off a theorem, without a printer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ..binders import as_function
from ..definitions import Definition
from ..kernel import Specialised, Step, Theorem
from ..terms import Family, IndexMap, Term, as_term, free, kinds, relation, size_symbols


class Cited(NamedTuple):
    """The name of a theorem."""

    theorem: Theorem


class Named(NamedTuple):
    """The name of a definition."""

    definition: Definition


class States(NamedTuple):
    proposition: Term


class Values(NamedTuple):
    """Values with commas between them."""

    values: tuple[Any, ...]


class Assigned(NamedTuple):
    """A symbol of a theorem that is cited, with the value it is used at."""

    theorem: Theorem
    symbol: Any
    value: Any


Wanted = Cited | Named | States | Values | Assigned


def reason(step: Step) -> Iterator[Wanted]:
    """What stands in the reason of a step, in order."""
    yield from _because(step.reason, dict(step.arguments))
    for use in step.using:
        yield from _use(use)


def _because(cause: Any, arguments: Mapping[str, Any]) -> Iterator[Wanted]:
    if isinstance(cause, Theorem):
        yield from _cited(cause, arguments.get("at", {}))
        return
    match cause:
        case "definition":
            yield from map(Named, _as_tuple(arguments["of"]))
        case "order" if "difference" in arguments:
            yield Values((arguments["difference"],))
        case "squeeze":
            yield from (Values((arguments[side],)) for side in ("lower", "upper"))
        case "induction":
            yield from (Values((index,)) for index in (arguments["on"], *_as_tuple(arguments.get("over", ()))))
            yield from (found for part in ("base", "step") for found in _use(arguments[part]))
        case "cases" | "congruence":
            if cause == "cases":
                yield _case(arguments["on"])
            rest = {name: value for name, value in arguments.items() if name not in ("then", "inner", "on")}
            yield from _because(arguments["then"], {**rest, **arguments.get("inner", {})})


def _case(on: Any) -> Wanted:
    if isinstance(on, tuple):
        return States(relation("eq", *on))
    return States(on) if on.op == "relation" else Values((on,))


def _use(use: Any) -> Iterator[Wanted]:
    if isinstance(use, Theorem):
        yield Cited(use)
    elif isinstance(use, Specialised):
        yield States(use.hypothesis)
        yield Values(tuple(use.values))
    else:
        yield from _cited(*use)


def _cited(theorem: Theorem, at: Mapping[Any, Any]) -> Iterator[Wanted]:
    yield Cited(theorem)
    yield from (Assigned(theorem, symbol, value) for symbol, value in at.items())


def normal(value: Any) -> Any:
    """A value as a term: a family as the function that it is. An index map stays one."""
    if isinstance(value, IndexMap):
        return value
    return as_function(value) if isinstance(value, Family) else as_term(value)


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, tuple | list) else (value,)


# --- symbols and definitions


def spoken_of(steps: Iterable[Step]) -> tuple[set[Any], set[Definition]]:
    """The free symbols of some steps and their reasons, and the definitions that are used there."""
    parts: list[Any] = []
    for step in steps:
        parts += [step.before, step.after, *_parts((dict(step.arguments), step.using))]
    return symbols_of(parts), definitions_of(parts)


def _parts(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        value = tuple(value.values())
    if isinstance(value, tuple | list):
        for part in value:
            yield from _parts(part)
    elif isinstance(value, Term | Family | IndexMap | Definition):
        yield value


def symbols_of(parts: Iterable[Any]) -> set[Any]:
    found: set[Any] = set()
    for part in parts:
        if isinstance(part, Term):
            found |= free(part)
        elif isinstance(part, Family | IndexMap):
            found |= {part} | size_symbols(part)
    return found


def definitions_of(parts: Iterable[Any]) -> set[Definition]:
    """The definitions that these terms speak of, and those that these rest on."""
    found: set[Definition] = set()
    waiting = list(parts)
    while waiting:
        part = waiting.pop()
        if isinstance(part, Definition):
            waiting += [] if part in found else [part.body, *part.requires]
            found.add(part)
        elif isinstance(part, Term) and "apply" in kinds(part):
            waiting += (part.data, *part.args) if part.op == "apply" else part.args
    return found
