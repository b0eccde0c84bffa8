"""TRUSTED. Runs a script against a statement: every link by its rule, or by an earlier theorem at stated values.

A chain for `=` has equations only; one for `<=` or `<` may mix them; one for `!=` ends with the one link that tells its
sides apart. A limit has equations that hold near the target, and then one rule for limits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from .binders import substitute
from .definitions import Definition
from .rules import LIMIT_RULES, RULES, check_rule, check_theorem
from .rules.context import Context, Refused
from .rules.defined import check_defined, opened_limit
from .rules.limit import check_limit, check_squeeze
from .rules.substitution import Instance, specialised
from .scripts import Link, ProofError, Specialised, Statement, Step
from .terms import PROP, Family, IndexMap, Term, TermError, as_term, free, sort_of
from .well_typed import check_entry


def check_statement(statement: Statement) -> Context:
    """Raises unless a statement is well-typed, defined under its hypotheses and not empty; gives its context."""
    if type(statement) is not Statement or type(statement.hypotheses) is not tuple:
        raise TermError(f"{statement!r} is not a Statement with a tuple of hypotheses")
    check_entry(tuple(statement))
    conclusion = statement.conclusion
    names: dict[str, Any] = {}
    for symbol in statement.symbols():
        spelled = symbol.name if isinstance(symbol, Family | IndexMap) else _name(symbol)
        if names.setdefault(spelled, symbol) != symbol:
            raise TermError(f"{spelled} stands for two symbols: with different assumptions, or over different ranges")
    for definition in set().union(*map(_definitions, (conclusion, *statement.hypotheses))):
        if names.setdefault(definition.name, definition) is not definition:
            raise TermError(
                f"{definition.name} stands for two things: for a definition, and for another one or a symbol"
            )
    context = Context().knowing(statement.symbols())
    for hypothesis in statement.hypotheses:
        if sort_of(hypothesis) != PROP or hypothesis.loose:
            raise TermError(f"{hypothesis!r} is no hypothesis")
        check_defined(hypothesis, context)
        context = context.given([hypothesis])
    if conclusion.op not in ("relation", "tends") or conclusion.loose:
        raise TermError(f"{conclusion!r} is no conclusion: needed an equation, an inequality or a limit")
    check_defined(conclusion, context)
    left, right = conclusion.args[0], conclusion.args[-1]
    if left == right:
        raise ProofError("both sides are the same term, so nothing is said; keep definitions folded", left)
    if conclusion in statement.hypotheses:
        raise ProofError("the conclusion is one of the hypotheses", conclusion)
    return context


def _name(symbol: Term) -> str:
    return str(symbol.data) if symbol.op == "index" else str(symbol.data[0])


def _definitions(term: Term) -> set[Definition]:
    own = {term.data} if term.op == "apply" else set()
    return own.union(*map(_definitions, term.args))


Checked = dict[Any, Step]  # by its place, its sides, its relation and all that may be used there


def check_links(statement: Statement, links: tuple[Link, ...], checked: Checked) -> tuple[Step, ...]:
    """The steps of a script that proves the statement; raises Refused, or another error, where it does not.

    `checked` keeps the steps that hold, for a run of the same links against another statement: a near miss, whose first
    steps are mostly the same.
    """
    context = check_statement(statement)
    if not links:
        raise ProofError("the proof is empty")
    if statement.conclusion.op == "tends":
        return _check_limit(statement.conclusion, links, context)
    left, right = statement.conclusion.args
    name = statement.conclusion.data
    return tuple(_check_chain(left, right, name, links, context, checked))


def _check_chain(
    left: Term, right: Term, name: str, links: tuple[Link, ...], context: Context, checked: Checked
) -> Iterable[Step]:
    """The links of a chain from left to right, which together give the relation."""
    term, strict = left, False
    steps = []
    for k, link in enumerate(links):
        if link.relation is None and k != len(links) - 1:
            raise ProofError("closes() is the last link")
        if link.relation not in (None, "eq", "le", "lt"):
            raise ProofError(f"{link.relation!r} is no relation of a link")
        after = right if link.after is None else link.after
        step_relation = link.relation or _closing(link, name, strict)
        if not _may_use(step_relation, name):
            raise ProofError(f"a step {step_relation!r} has no place in a proof of {name!r}")
        place = (k, term, after, step_relation, context)
        if place not in checked:
            checked[place] = _check_link(term, after, step_relation, link, context)
        steps.append(checked[place])
        term, strict = after, strict or step_relation in ("lt", "ne")
    if links[-1].relation is not None and term != right:
        raise Refused("the chain stops short of the right side", term - right)
    if name in ("lt", "ne") and not strict:
        raise ProofError("the chain proves ≤, where < (or ≠) is claimed")
    return steps


def _closing(link: Link, name: str, strict: bool) -> str:
    """The relation of the last link: as weak as suffices."""
    reason, arguments = link.reason, link.arguments
    while reason in ("cases", "congruence") and "then" in arguments:
        reason, arguments = arguments["then"], arguments.get("inner", {})
    gives_order = reason in ("order", "induction") if isinstance(reason, str) else reason.conclusion.data != "eq"
    if name == "eq" or not gives_order:
        return "eq"
    return "le" if name == "lt" and strict else name


def _may_use(step: str, name: str) -> bool:
    return step in {"eq": ("eq",), "le": ("eq", "le", "lt"), "lt": ("eq", "le", "lt"), "ne": ("eq", "ne")}[name]


def _check_link(before: Term, after: Term, name: str, link: Link, context: Context) -> Step:
    if sort_of(after) != "real" or after.loose:
        raise TermError(f"{after!r} is not a real number")
    inside = _with_facts(link, context)
    context.check_known(after)
    check_defined(after, inside)
    arguments, reason = link.arguments, link.reason
    if isinstance(reason, str):
        if reason not in RULES:
            raise ProofError(f"{reason!r} is no rule; the table has {', '.join(RULES)}")
        check_rule(reason, before, after, name, inside, arguments)
    else:
        check_theorem(reason, before, after, name, inside, arguments)
    return Step(before, name, after, reason, MappingProxyType(dict(arguments)), link.using)


def _with_facts(link: Link, context: Context) -> Context:
    """The context with the conclusions of the cited theorems, whose hypotheses must hold here."""
    for citation in link.using:
        if isinstance(citation, Specialised):
            fact = specialised(citation.hypothesis, citation.values, context)
        else:
            theorem, at = citation
            fact = Instance(theorem, at, context).fact()
        context = context.given([fact])
    return context


def _check_limit(conclusion: Term, links: tuple[Link, ...], context: Context) -> tuple[Step, ...]:
    """Equations that hold near the target, then one rule for limits."""
    variable, body, inside = opened_limit(conclusion, context)
    written = Term("variable", (), (conclusion.hints[0], "real"))
    if written in free(conclusion).union(*map(free, context.facts)):
        raise TermError(f"{written!r} is bound by the limit, and free elsewhere in the statement")
    here = {written: variable}
    *equations, last = links
    steps = []
    for link in equations:
        if link.relation != "eq" or link.after is None:
            raise ProofError("before the limit is taken, only equations")
        moved = _moved(link, here)
        _check_link(body, moved.after, "eq", moved, inside)
        steps.append(_as_written(body, "eq", moved.after, link, {variable: written}))
        body = moved.after
    if last.reason not in LIMIT_RULES or last.after is not None:
        raise ProofError(f"a limit closes with {' or '.join(LIMIT_RULES)}, found {last.reason!r}")
    target, value = conclusion.args[1:]
    near = _with_facts(_moved(last, here), inside)
    arguments = {k: substitute(as_term(v), here) for k, v in last.arguments.items()}
    needed = {"limit": set(), "squeeze": {"lower", "upper"}}[last.reason]
    if set(arguments) != needed:
        raise TermError(
            f"{last.reason} takes {', '.join(sorted(needed)) or 'no arguments'}; found {', '.join(arguments)}"
        )
    if last.reason == "limit":
        check_limit(body, variable, target, value, near)
    else:
        for bound in arguments.values():
            near.check_known(bound)
            check_defined(bound, near)
        check_squeeze(body, variable, target, value, near, arguments["lower"], arguments["upper"])
    steps.append(_as_written(body, "tends", value, last, {variable: written}))
    return tuple(steps)


def _moved(value: Any, here: Mapping[Term, Term]) -> Any:
    """A link, or a part of one, with the written variable of a limit replaced."""
    if isinstance(value, Term):
        return substitute(value, here)
    if isinstance(value, Mapping):
        return {k: _moved(v, here) for k, v in value.items()}
    if isinstance(value, Link | Specialised):
        return type(value)(*(_moved(part, here) for part in value))
    return tuple(_moved(part, here) for part in value) if isinstance(value, tuple) else value


def _as_written(before: Term, relation: str, after: Term, link: Link, back: Mapping[Term, Term]) -> Step:
    """The step over the variable that the limit binds, as its author wrote it."""
    sides = substitute(before, back), substitute(after, back)
    return Step(sides[0], relation, sides[1], link.reason, link.arguments, link.using)
