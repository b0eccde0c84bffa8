"""TRUSTED. Derivatives along a real variable, with the conditions under which they exist.

A family z[j, t] declared as a curve has the derivative d_z[j, t]; a partial derivative is one along z_l + t delta_lj.
Every condition is an open one (u != 0, u > 0), so that it need hold at the point only.
"""

from __future__ import annotations

from ..binders import close, substitute
from ..definitions import unfolded
from ..terms import ONE, PI, ZERO, Term, free, kinds, number, relation, sort_of
from .context import Context, Refused
from .facts import negated
from .sign import Sign


def differentiated(term: Term, context: Context) -> Term:
    """The value of a derivative node; raises Refused where differentiability is not known."""
    (t,), body, inside = context.opened(term)
    result, conditions = differentiate(body, t, inside)
    at = {t: term.args[1]}
    for condition in conditions:
        if not Sign(context).holds(substitute(condition, at)):
            raise Refused("not known to be differentiable here", substitute(condition, at))
    return substitute(result, at)


def without_derivatives(term: Term, context: Context) -> Term:
    """The term with every derivative taken, innermost first, under binders too."""
    if "derivative" not in kinds(term):
        return term
    if term.op == "derivative":
        return without_derivatives(differentiated(term, context), context)
    return context.rebuilt(term, without_derivatives)


def differentiate(f: Term, t: Term, context: Context) -> tuple[Term, list[Term]]:
    """df/dt and the conditions of its existence."""
    if t not in free(f):
        return ZERO, []
    if f == t:
        return ONE, []
    match f.op:
        case "add":
            parts = [differentiate(a, t, context) for a in f.args]
            return _plus([d for d, _ in parts]), [c for _, cs in parts for c in cs]
        case "mul":
            return _product(f, t, context)
        case "power":
            return _power(f, t, context)
        case "sum":
            (i,), body, inside = context.opened(f)
            d, conditions = differentiate(body, t, inside)
            return f.rebuilt((f.args[0], close(d, (i,)))), [_everywhere(i, c) for c in conditions]
        case "derivative":
            return differentiate(differentiated(f, context), t, context)
        case "when":
            condition, then, otherwise = f.args
            (d, a), (e, b) = differentiate(then, t, context), differentiate(otherwise, t, context)
            there = [Term("implies", (condition, c)) for c in a]
            elsewhere = [Term("implies", (negated(condition), c)) for c in b]
            return Term("when", (condition, d, e)), [*_branching(condition, t, context), *there, *elsewhere]
        case "max" if len(f.args) == 2:
            u, v = f.args
            return differentiate(Term("when", (relation("lt", u, v), v, u)), t, context)
        case "table":
            count = len(f.data)
            if any(t in free(i) for i in f.args[-count:]):
                raise Refused("an entry chosen by a moving index has no derivative", f)
            parts = [differentiate(a, t, context) for a in f.args[:-count]]
            return Term("table", tuple(d for d, _ in parts) + f.args[-count:], f.data), [
                c for _, cs in parts for c in cs
            ]
        case "apply":
            return differentiate(unfolded(f), t, context)
        case "family":
            return _curve(f, t, context)
        case "exp" | "log" | "sqrt" | "sin" | "cos" | "tanh" | "erf" | "abs":
            return _function(f, t, context)
    raise Refused("no rule for the derivative of this (a kink has none)", f)


def _branching(condition: Term, t: Term, context: Context) -> list[Term]:
    """What keeps the branch the same near the point: the sides of a moving condition are continuous, and differ there."""
    if t not in free(condition):
        return []
    u, v = condition.args
    if sort_of(u) != "real":
        raise Refused("a condition on a moving index has no derivative", condition)
    needed = differentiate(u, t, context)[1] + differentiate(v, t, context)[1]
    return [relation("ne", u, v), *needed]


def _plus(parts: list[Term]) -> Term:
    kept = tuple(p for p in parts if p != ZERO) or (ZERO,)
    return kept[0] if len(kept) == 1 else Term("add", kept)


def _product(f: Term, t: Term, context: Context) -> tuple[Term, list[Term]]:
    parts, conditions = [], []
    for k, factor in enumerate(f.args):
        d, needed = differentiate(factor, t, context)
        conditions += needed
        if d != ZERO:
            parts.append(Term("mul", (*f.args[:k], d, *f.args[k + 1 :])))
    return _plus(parts), conditions


def _power(f: Term, t: Term, context: Context) -> tuple[Term, list[Term]]:
    base, exponent = f.args
    d, conditions = differentiate(base, t, context)
    if t not in free(exponent):
        whole = exponent.op == "number" and exponent.data.denominator == 1
        if not (whole and exponent.data > 0):
            conditions = [*conditions, relation("ne", ZERO, base) if whole else relation("lt", ZERO, base)]
        return exponent * base ** (exponent - 1 if not whole else number(exponent.data - 1)) * d, conditions
    e, needed = differentiate(exponent, t, context)
    inner = e * Term("log", (base,)) + exponent * d / base
    return f * inner, [*conditions, *needed, relation("lt", ZERO, base)]


def _curve(f: Term, t: Term, context: Context) -> tuple[Term, list[Term]]:
    *indices, at = f.args
    if f.data.derivative is None or sort_of(at) != "real" or any(t in free(i) for i in indices):
        raise Refused("not declared as a curve that is differentiable in this slot", f)
    d, conditions = differentiate(at, t, context)
    return Term("family", f.args, f.data.derivative) * d, conditions


def _function(f: Term, t: Term, context: Context) -> tuple[Term, list[Term]]:
    (u,) = f.args
    d, conditions = differentiate(u, t, context)
    match f.op:
        case "exp":
            return d * f, conditions
        case "sin":
            return d * Term("cos", (u,)), conditions
        case "cos":
            return -d * Term("sin", (u,)), conditions
        case "tanh":
            return d * (1 - f**2), conditions
        case "erf":
            return d * 2 / Term("sqrt", (PI,)) * Term("exp", (-(u**2),)), conditions
        case "log":
            return d / u, [*conditions, relation("lt", ZERO, u)]
        case "sqrt":
            return d / (2 * f), [*conditions, relation("lt", ZERO, u)]
    return d * u / f, [*conditions, relation("ne", ZERO, u)]


def _everywhere(i: Term, condition: Term) -> Term:
    return Term("forall", (i.args[0], close(condition, (i,))), None, (i.data[3:] or "j",))
