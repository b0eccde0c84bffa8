"""Why a step holds, in words: the rule with its arguments, or the theorem with the values it is used at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ..definitions import Definition
from ..kernel import Specialised, Step, Theorem
from ..terms import Family, IndexMap, Term, as_term, relation
from .catalogues import ENGLISH, Catalogue
from .names import Notation, RenderError
from .parts import Formula, Part, Words
from .structure import Printer

Parts = tuple[Part, ...]


class _Voice(NamedTuple):
    """The signs and the words that a reason is said in."""

    printer: Printer
    catalogue: Catalogue

    def formula(self, value: Any) -> Formula:
        return Formula(_value(value, self.printer))


def reason(step: Step, printer: Printer, catalogue: Catalogue = ENGLISH) -> Parts:
    """The reason of a step; `printer` is the one that the step's terms are printed with."""
    terms, symbols = spoken_of([step])
    own = _Voice(printer.extended(*terms, symbols=symbols), catalogue)
    parts = _because(step.reason, dict(step.arguments), own)
    if not step.using:
        return parts
    facts = catalogue.joined("lists.and", [_use(use, own) for use in step.using])
    return catalogue.said("reasons.using", reason=parts, facts=facts)


def _because(cause: Any, arguments: dict[str, Any], voice: _Voice) -> Parts:
    if isinstance(cause, Theorem):
        return _by_theorem(cause, arguments, voice)
    if cause in ("cases", "congruence"):
        return _carried(cause, arguments, voice)
    said = voice.catalogue.said
    parts = said(f"rules.{cause}")
    if cause == "definition":
        names = [Formula(_definition_name(d, voice.printer)) for d in _as_tuple(arguments.pop("of"))]
        parts = said("reasons.definition", rule=parts, definitions=voice.catalogue.listed(names))
    if cause == "order" and "difference" in arguments:
        difference = voice.formula(arguments.pop("difference"))
        parts = said("reasons.difference", rule=parts, difference=difference)
    if cause == "squeeze":
        sides = {side: voice.formula(arguments.pop(side)) for side in ("lower", "upper")}
        parts = said("reasons.squeeze", **sides)
    if cause == "induction":
        parts = _induction(arguments, voice)
    return _whole(parts, arguments, cause)


def _induction(arguments: dict[str, Any], voice: _Voice) -> Parts:
    """What it runs over, for all of what, and the two theorems."""
    said: dict[str, Any] = {"rule": voice.catalogue.said("rules.induction"), "size": voice.formula(arguments.pop("on"))}
    over = [voice.formula(i) for i in _as_tuple(arguments.pop("over", ()))]
    said |= {k: _use(arguments.pop(k), voice) for k in ("base", "step")}
    if not over:
        return voice.catalogue.said("reasons.induction", **said)
    return voice.catalogue.said("reasons.induction_for_all", indices=voice.catalogue.listed(over), **said)


def _whole(parts: Parts, left: Mapping[str, Any], cause: str) -> Parts:
    if left:
        raise RenderError(f"no words for {', '.join(left)} in a step by {cause}")
    return parts


def _carried(cause: str, arguments: dict[str, Any], voice: _Voice) -> Parts:
    """A rule, or a theorem, that is applied at a place."""
    then, inner = arguments.pop("then"), arguments.pop("inner", {})
    said = {"rule": voice.catalogue.said(f"rules.{cause}")}
    if cause == "cases":
        said["case"] = _case(arguments.pop("on"), voice)
    said["reason"] = _because(then, {**arguments, **inner}, voice)
    return voice.catalogue.said(f"reasons.{cause}", **said)


def _case(on: Any, voice: _Voice) -> Parts:
    printer, said = voice.printer, voice.catalogue.said
    if isinstance(on, tuple):
        return said("reasons.or_not", condition=Formula(printer(relation("eq", *on))))
    if on.op == "relation":
        return said("reasons.or_not", condition=Formula(printer(on)))
    return said("reasons.value_of", index=Formula(printer(on)))


def _by_theorem(theorem: Theorem, arguments: dict[str, Any], voice: _Voice) -> Parts:
    parts = voice.catalogue.said("reasons.theorem", cited=_cited(theorem, arguments.pop("at", {}), voice))
    if arguments.pop("backwards", False):
        parts = voice.catalogue.said("reasons.backwards", reason=parts)
    return _whole(parts, arguments, theorem.name)


def _use(use: Any, voice: _Voice) -> Parts:
    """A theorem, at values or not, or a hypothesis at values."""
    if isinstance(use, Theorem):
        return _cited(use, {}, voice)
    if isinstance(use, Specialised):
        values = Formula(", ".join(_value(v, voice.printer) for v in use.values))
        return voice.catalogue.said("reasons.at", fact=Formula(voice.printer(use.hypothesis)), values=values)
    theorem, at = use
    return _cited(theorem, at, voice)


def _cited(theorem: Theorem, at: Mapping[Any, Any], voice: _Voice) -> Parts:
    name = Words(theorem.name)
    if not at:
        return (name,)
    theirs = type(voice.printer)(Notation.of(theorem.conclusion, *theorem.hypotheses))
    pairs = [Formula(f"{theirs.name(theirs.notation[s])} := {_value(v, voice.printer)}") for s, v in at.items()]
    return voice.catalogue.said("reasons.at", fact=name, values=voice.catalogue.joined("lists.comma", pairs))


def _value(value: Any, printer: Printer) -> str:
    if isinstance(value, Family | IndexMap):
        return printer.name(printer.notation[value])
    return printer(as_term(value))


def _definition_name(definition: Definition, printer: Printer) -> str:
    return printer.applied(printer.notation[definition], (), ())


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, tuple | list) else (value,)


def spoken_of(steps: Iterable[Step]) -> tuple[list[Term], list[Any]]:
    """The terms in the reasons of these steps, and the symbols and definitions that stand there by themselves."""
    return _spoken_of([part for step in steps for part in (dict(step.arguments), *step.using)])


def _spoken_of(values: Iterable[Any]) -> tuple[list[Term], list[Any]]:
    """The terms in some arguments, and what stands there by itself."""
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
