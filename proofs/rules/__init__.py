"""TRUSTED. The closed table of rules: the only justifications that a step can cite, beside an earlier theorem.

A rule is a function of (before, after, relation, context, arguments) that returns where the step holds and raises Refused,
with what is left over, where it is not known to hold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from ..definitions import Definition, unfolded
from ..terms import Term, TermError, kinds
from .branches import without_branches
from .context import Context, Refused
from .derivative import without_derivatives
from .induction import check_induction
from .normal import Normal, plain
from .order import check_order
from .places import check_cases, check_congruence
from .polynomial import as_sum
from .sign import Sign
from .substitution import Instance, check_substitution

Arguments = Mapping[str, Any]
Check = Callable[[Term, Term, str, Context, Arguments], None]


class Rule(NamedTuple):
    check: Check
    says: str
    arguments: tuple[str, ...] = ()


def _equal(before: Term, after: Term, laws: tuple[str, ...], context: Context, cleared: bool = True) -> None:
    normal = Normal(laws, context) if laws else plain(context)
    gap = normal.difference(before, after) if cleared else normal.polynomial(before - after, context)
    if gap:
        raise Refused("what is left over", as_sum(gap))


def _by_laws(*laws: str, cleared: bool = True) -> Check:
    def check(before: Term, after: Term, relation: str, context: Context, arguments: Arguments) -> None:
        _equal(before, after, laws, context, cleared)

    return check


def _definition(before: Term, after: Term, relation: str, context: Context, arguments: Arguments) -> None:
    names = arguments.get("of")
    chosen = names if isinstance(names, tuple | list) else (names,)
    if not chosen or not all(isinstance(d, Definition) for d in chosen):
        raise TermError("definition: say which, as of=softmax or of=(softmax, jacobian)")
    _equal(_unfold(before, chosen, context), _unfold(after, chosen, context), (), context)


def _unfold(term: Term, definitions: Any, context: Context) -> Term:
    if "apply" not in kinds(term):
        return term
    if term.op == "apply" and term.data in definitions:
        return _unfold(unfolded(term), definitions, context)
    return context.rebuilt(term, lambda part, inside: _unfold(part, definitions, inside))


def _derivative(before: Term, after: Term, relation: str, context: Context, arguments: Arguments) -> None:
    _equal(without_derivatives(before, context), without_derivatives(after, context), (), context)


def _order(before: Term, after: Term, relation: str, context: Context, arguments: Arguments) -> None:
    if relation == "ne":
        if not Sign(context).nonzero(after - before):
            raise Refused("not known to differ", after - before)
    elif relation == "eq":
        _equal(without_branches(before, context), without_branches(after, context), (), context)
    else:
        check_order(before, after, relation == "lt", context, arguments.get("difference"))


def _given(before: Term, after: Term, relation: str, context: Context, arguments: Arguments) -> None:
    """An equation that is given: its two sides exchanged, up to a factor."""
    if not Sign(context).equal(before, after):
        raise Refused("not given; what is left over", before - after)


def _induction(before: Term, after: Term, relation: str, context: Context, arguments: Arguments) -> None:
    missing = [k for k in ("on", "base", "step") if k not in arguments]
    if missing:
        raise TermError(f"induction: needed the argument {missing[0]}=...")
    check_induction(before, after, relation, context, **arguments)


def _carried(place: Callable[..., None], *own: str) -> Check:
    """A rule that applies another one, `then`, at a place; its other arguments are those of the inner rule."""

    def check(before: Term, after: Term, relation: str, context: Context, arguments: Arguments) -> None:
        then = arguments.get("then")
        missing = [k for k in own if k not in arguments]
        if missing:
            raise TermError(f"needed the argument {missing[0]}=...")
        if then is None or (isinstance(then, str) and then not in RULES):
            raise TermError(f"needed the rule to apply there, as then='field'; found {then!r}")
        inner = {k: v for k, v in arguments.items() if k not in (*own, "then")}
        nested = inner.pop("inner", {})
        inner = {**inner, **nested}

        def apply(a: Term, b: Term, inside: Context) -> None:
            if isinstance(then, str):
                check_rule(then, a, b, relation, inside, inner)
            else:
                check_theorem(then, a, b, relation, inside, inner)

        place(before, after, relation, context, *(arguments[k] for k in own), apply)

    return check


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "definition": Rule(_definition, "by definition", ("of",)),
        "ring": Rule(_by_laws(cleared=False), "by expanding and collecting"),
        "field": Rule(_by_laws(), "by clearing denominators"),
        "angles": Rule(_by_laws("trig"), "by the addition theorems and sin² + cos² = 1"),
        "exp_log": Rule(_by_laws("exp"), "by the laws of exp and log"),
        "finite_sum": Rule(_by_laws("sums"), "by the laws of finite sums"),
        "expectation": Rule(_by_laws("sums", "expectation"), "by the laws of expectation and of finite sums"),
        "derivative": Rule(_derivative, "by the rules of differentiation"),
        "given": Rule(_given, "as given"),
        "order": Rule(_order, "by order: signs, monotone functions, sums term by term", ("difference",)),
        "induction": Rule(_induction, "by induction", ("on", "base", "step", "over")),
        "cases": Rule(_carried(check_cases, "on"), "case by case", ("on", "then", "inner")),
        "congruence": Rule(_carried(check_congruence), "in each part", ("then", "inner")),
    }
)
LIMIT_RULES: Mapping[str, str] = MappingProxyType(
    {"limit": "by the laws of limits", "squeeze": "by squeezing between two bounds"}
)


def check_theorem(
    theorem: Any, before: Term, after: Term, relation: str, context: Context, arguments: Arguments
) -> None:
    """Raises Refused unless an earlier theorem, at the values that are stated, gives `before relation after`."""
    unknown = set(arguments) - {"at", "backwards"}
    if unknown:
        raise TermError(f"an earlier theorem takes at, backwards; found {', '.join(sorted(unknown))}")
    instance = Instance(theorem, arguments.get("at", {}), context)
    check_substitution(before, after, relation, context, instance, bool(arguments.get("backwards")))


def check_rule(name: str, before: Term, after: Term, relation: str, context: Context, arguments: Arguments) -> None:
    """Raises Refused unless the rule gives `before relation after` in this context."""
    rule = RULES[name]
    carried = "then" in rule.arguments
    unknown = set(arguments) - set(rule.arguments)
    if unknown and not carried:
        raise TermError(
            f"{name} takes {', '.join(rule.arguments) or 'no arguments'}; found {', '.join(sorted(unknown))}"
        )
    if relation != "eq" and not carried and name not in ("order", "induction"):
        raise TermError(f"{name} gives equations, not {relation}")
    rule.check(before, after, relation, context, arguments)
