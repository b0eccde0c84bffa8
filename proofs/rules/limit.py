"""TRUSTED. Limits: continuity, sums, products, quotients, exponential decay, and squeezing between two functions.

Decay       b^m exp(-c b) -> 0 as b -> oo, for every m, when c > 0;  b^(-m) -> 0 when m > 0
"""

from __future__ import annotations

from ..binders import close, instantiate
from ..terms import INFINITY, Term, free, sort_of
from .context import Context, Refused
from .facts import indices_in
from .normal import Normal, plain
from .order import at_most
from .polynomial import Monomial, Polynomial, add, as_sum, constant, scaled
from .sign import Sign


def check_limit(body: Term, variable: Term, target: Term, value: Term, context: Context) -> None:
    """Raises Refused unless the body is known to tend to the value."""
    found = limit_of(body, variable, target, context)
    gap = Normal(("sums",), context).difference(found, value)
    if gap:
        raise Refused("the limit is another one; what is left over", as_sum(gap))


def check_squeeze(
    body: Term, variable: Term, target: Term, value: Term, context: Context, lower: Term, upper: Term
) -> None:
    """Raises Refused unless lower <= body <= upper near the target, and both bounds tend to the value."""
    for small, large in ((lower, body), (body, upper)):
        if not at_most(small, large, False, context):
            raise Refused("a bound of the squeeze is not known to hold", large - small)
    for bound in (lower, upper):
        check_limit(bound, variable, target, value, context)


def limit_of(f: Term, b: Term, target: Term, context: Context) -> Term:
    """The limit of f; raises Refused where it is not known."""
    if b not in free(f):
        return f
    if f == b and target != INFINITY:
        return target
    for fact in _limits_given(f, b, target, context):
        return fact
    if target == INFINITY:
        vanishing = _decayed(f, b, context)
        if vanishing is not None:
            return vanishing
    match f.op:
        case "add" | "mul" | "exp" | "sin" | "cos" | "tanh" | "erf" | "abs":
            return f.rebuilt(limit_of(a, b, target, context) for a in f.args)
        case "sum":
            symbols, body, inside = context.opened(f)
            return f.rebuilt((f.args[0], close(limit_of(body, b, target, inside), symbols)))
        case "power":
            return _power(f, b, target, context)
        case "log" | "sqrt":
            inner = limit_of(f.args[0], b, target, context)
            if not (Sign(context).positive(inner) or (f.op == "sqrt" and Sign(context).nonnegative(inner))):
                raise Refused("a limit inside a root or a logarithm is not known to be positive", inner)
            return f.rebuilt((inner,))
        case "table" if not any(b in free(a) for a in f.args[-len(f.data) :]):
            return f.rebuilt(a if sort_of(a) != "real" else limit_of(a, b, target, context) for a in f.args)
        case "when" if b not in free(f.args[0]):
            return f.rebuilt((f.args[0], *(limit_of(a, b, target, context) for a in f.args[1:])))
    raise Refused("no rule for the limit of this", f)


def _power(f: Term, b: Term, target: Term, context: Context) -> Term:
    base, exponent = f.args
    if exponent.op != "number" or exponent.data.denominator != 1:
        raise Refused("no rule for the limit of a real power", f)
    inner = limit_of(base, b, target, context)
    if exponent.data < 0 and not Sign(context).nonzero(inner):
        raise Refused("the limit of a denominator may vanish", inner)
    return f.rebuilt((inner, exponent))


def _limits_given(f: Term, b: Term, target: Term, context: Context) -> list[Term]:
    """The values that given limits assign to f."""
    found = []
    for fact in context.facts:
        for tends in _at_indices(fact, f):
            body, to, value = tends.args
            if to == target and not plain(context).difference(instantiate(body, (b,)), f):
                found.append(value)
    return found


def _at_indices(fact: Term, f: Term) -> list[Term]:
    if fact.op == "tends":
        return [fact]
    if fact.op != "forall" or fact.args[0].op == "domain":
        return []
    places = (i for i in indices_in(f) if sort_of(i) == fact.args[0])
    return [t for i in places for t in _at_indices(instantiate(fact.args[1], (i,)), f)]


def _decayed(f: Term, b: Term, context: Context) -> Term | None:
    """The limit for b -> oo of a sum of decaying and of constant terms; None if some term is neither."""
    normal = Normal(("exp",), context)
    total: Polynomial = {}
    for monomial, c in normal.polynomial(f, context).items():
        moving = frozenset((t, e) for t, e in monomial if b in free(t))
        if not moving:
            total = add(total, {monomial: 1}, c)
        elif not _vanishes(moving, b, normal, context):
            return None
    return as_sum(total)


def _vanishes(moving: Monomial, b: Term, normal: Normal, context: Context) -> bool:
    """Whether a product of powers of b and exponentials tends to 0."""
    degree, argument = 0, constant(0)
    for t, e in moving:
        if t == b:
            degree = e
        elif t.op == "exp":
            argument = add(argument, normal.polynomial(t.args[0], context), e)
        else:
            return False
    rate: Polynomial = {}
    for monomial, c in argument.items():
        if not any(b in free(t) for t, _ in monomial):
            continue
        rest = monomial - {(b, 1)}
        if (b, 1) not in monomial or any(b in free(t) for t, _ in rest):
            return False
        rate = add(rate, {rest: c})
    if not rate:
        return degree < 0
    return Sign(context).positive(as_sum(scaled(rate, -1)))
