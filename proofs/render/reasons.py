"""Why a step holds, in words: the rule with its arguments, or the theorem with the values it is used at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..definitions import Definition
from ..kernel import Specialised, Step, Theorem
from ..rules import LIMIT_RULES, RULES
from ..terms import Family, IndexMap, Term, as_term
from .names import Notation, RenderError
from .parts import Formula, Part, Words
from .structure import Printer

Parts = tuple[Part, ...]


def reason(step: Step, printer: Printer) -> Parts:
    """The reason of a step; `printer` is the one that the step's terms are printed with."""
    terms, symbols = _spoken_of([dict(step.arguments), *step.using])
    own = type(printer)(printer.notation.extended(*terms, symbols=symbols))
    parts = _because(step.reason, dict(step.arguments), own)
    for k, use in enumerate(step.using):
        parts += (Words(", using " if k == 0 else " and "), *_use(use, own))
    return parts


def _because(cause: Any, arguments: dict[str, Any], printer: Printer) -> Parts:
    if isinstance(cause, Theorem):
        return _by_theorem(cause, arguments, printer)
    if cause in ("cases", "congruence"):
        return _carried(cause, arguments, printer)
    says = RULES[cause].says if cause in RULES else LIMIT_RULES[cause]
    parts: Parts = (Words(says),)
    if cause == "definition":
        names = _as_tuple(arguments.pop("of"))
        parts += (Words(" of "), *_listed([(Formula(_definition_name(d, printer)),) for d in names]))
    if cause == "order" and "difference" in arguments:
        parts += (Words("; the difference is "), Formula(_value(arguments.pop("difference"), printer)))
    if cause == "squeeze":
        lower, upper = (Formula(_value(arguments.pop(side), printer)) for side in ("lower", "upper"))
        parts = (Words("by squeezing between "), lower, Words(" and "), upper)
    if cause == "induction":
        parts += _induction(arguments, printer)
    return _whole(parts, arguments, cause)


def _induction(arguments: dict[str, Any], printer: Printer) -> Parts:
    """What it runs over, for all of what, and the two theorems."""
    over: list[Parts] = [(Formula(_value(i, printer)),) for i in _as_tuple(arguments.pop("over", ()))]
    every = (Words(" for all "), *_listed(over)) if over else ()
    size = Formula(_value(arguments.pop("on"), printer))
    base, step = (_use(arguments.pop(k), printer) for k in ("base", "step"))
    return (Words(" over "), size, *every, Words(", from "), *base, Words(" by "), *step)


def _whole(parts: Parts, left: Mapping[str, Any], cause: str) -> Parts:
    if left:
        raise RenderError(f"no words for {', '.join(left)} in a step by {cause}")
    return parts


def _carried(cause: str, arguments: dict[str, Any], printer: Printer) -> Parts:
    """A rule, or a theorem, that is applied at a place."""
    then = arguments.pop("then")
    parts: Parts = (Words(f"{RULES[cause].says}: "),)
    if cause == "cases":
        parts = (Words("case by case, on "), *_case(arguments.pop("on"), printer), Words(": "))
    inner = arguments.pop("inner", {})
    return parts + _because(then, {**arguments, **inner}, printer)


def _case(on: Any, printer: Printer) -> Parts:
    if isinstance(on, tuple):
        i, j = (_value(part, printer) for part in on)
        return (Formula(f"{i} {printer.sign('eq')} {j}"), Words(" or not"))
    if on.op == "relation":
        return (Formula(printer(on)), Words(" or not"))
    return (Words("the value of "), Formula(printer(on)))


def _by_theorem(theorem: Theorem, arguments: dict[str, Any], printer: Printer) -> Parts:
    parts: Parts = (Words("by "), *_cited(theorem, arguments.pop("at", {}), printer))
    if arguments.pop("backwards", False):
        parts += (Words(", from right to left"),)
    return _whole(parts, arguments, theorem.name)


def _use(use: Any, printer: Printer) -> Parts:
    """A theorem, at values or not, or a hypothesis at values."""
    if isinstance(use, Theorem):
        return _cited(use, {}, printer)
    if isinstance(use, Specialised):
        values = ", ".join(_value(v, printer) for v in use.values)
        return (Formula(printer(use.hypothesis)), Words(" at "), Formula(values))
    theorem, at = use
    return _cited(theorem, at, printer)


def _cited(theorem: Theorem, at: Mapping[Any, Any], printer: Printer) -> Parts:
    name = Words(theorem.name)
    if not at:
        return (name,)
    theirs = type(printer)(Notation.of(theorem.conclusion, *theorem.hypotheses))
    pairs: list[Parts] = [
        (Formula(f"{theirs.name(theirs.notation[s])} := {_value(v, printer)}"),) for s, v in at.items()
    ]
    return (name, Words(" at "), *_listed(pairs, ", "))


def _value(value: Any, printer: Printer) -> str:
    if isinstance(value, Family | IndexMap):
        return printer.name(printer.notation[value])
    return printer(as_term(value))


def _definition_name(definition: Definition, printer: Printer) -> str:
    return printer.applied(printer.notation[definition], (), ())


def _listed(entries: list[Parts], last: str = " and ") -> Parts:
    parts: Parts = ()
    for k, entry in enumerate(entries):
        comma = () if k == 0 else (Words(last if k == len(entries) - 1 else ", "),)
        parts += (*comma, *entry)
    return parts


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, tuple | list) else (value,)


def _spoken_of(values: Iterable[Any]) -> tuple[list[Term], list[Any]]:
    """The terms in the arguments of a step, and the symbols and definitions that stand there by themselves."""
    terms: list[Term] = []
    symbols: list[Any] = []
    for value in values:
        if isinstance(value, Term):
            terms.append(value)
        elif isinstance(value, Family | IndexMap | Definition):
            symbols.append(value)
        elif isinstance(value, Mapping | list | tuple):
            inner = _spoken_of(value.values() if isinstance(value, Mapping) else value)
            terms += inner[0]
            symbols += inner[1]
    return terms, symbols
