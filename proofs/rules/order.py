"""TRUSTED. Inequalities: a <= b and a < b from shape, from given facts, and from signs.

Tried in this order: a fact; the sign of the difference; monotone functions; sums and products part by part; a sum term by
term; one term of a sum of non-negative terms; |u| <= b from u <= b and -u <= b. A product needs non-negative factors.
"""

from __future__ import annotations

from ..binders import instantiate
from ..terms import Term, sort_of
from .branches import without_branches
from .context import Context, Refused
from .defined import check_defined
from .facts import indices_in
from .normal import plain
from .polynomial import as_constant, as_product, as_sum, factors
from .sign import Sign


def check_order(before: Term, after: Term, strict: bool, context: Context, difference: Term | None = None) -> None:
    """Raises Refused unless before <= after (before < after). `difference` may spell after - before so that its sign shows."""
    before, after = without_branches(before, context), without_branches(after, context)
    if difference is not None:
        context.check_known(difference)
        check_defined(difference, context)
        difference = without_branches(difference, context)
        gap = plain(context).difference(after - before, difference)
        if gap:
            raise Refused("the difference is not as stated; what is left over", as_sum(gap))
        sign = Sign(context)
        if not (sign.positive(difference) if strict else sign.nonnegative(difference)):
            raise Refused(f"not known to be {'positive' if strict else 'non-negative'}", difference)
    elif not at_most(before, after, strict, context):
        raise Refused(f"not known to be {'positive' if strict else 'non-negative'}", after - before)


def at_most(a: Term, b: Term, strict: bool, context: Context, depth: int = 6) -> bool:
    """Whether a <= b (a < b) is known."""
    normal, sign = plain(context), Sign(context)
    gap = normal.polynomial(b - a, context)
    constant = as_constant(gap)
    if constant is not None:
        return constant > 0 or (constant == 0 and not strict)
    decide = sign.positive if strict else sign.nonnegative
    if decide(b - a) or decide(as_sum(gap)) or (_factored(a, b, strict, context)):
        return True
    return depth > 0 and (
        _same_shape(a, b, strict, context, depth - 1) or _other_shape(a, b, strict, context, depth - 1)
    )


def _factored(a: Term, b: Term, strict: bool, context: Context) -> bool:
    """b - a = c * (rest) with the common factor c of all monomials positive or non-negative."""
    gap = plain(context).polynomial(b - a, context)
    monomials = [dict(m) for m in gap]
    common = frozenset(
        (t, min(m.get(t, 0) for m in monomials)) for t in set(monomials[0]) if all(m.get(t, 0) > 0 for m in monomials)
    )
    if not common:
        return False
    rest = as_sum(
        {
            frozenset((t, e - dict(common).get(t, 0)) for t, e in m if e != dict(common).get(t, 0)): c
            for m, c in gap.items()
        }
    )
    sign = Sign(context)
    head = [as_product(frozenset({f})) for f in factors(common)]
    if strict:
        return all(map(sign.positive, head)) and sign.positive(rest)
    return all(map(sign.nonnegative, head)) and sign.nonnegative(rest)


def _same_shape(a: Term, b: Term, strict: bool, context: Context, depth: int) -> bool:
    """Both sides are built alike, and their parts compare."""
    if a.op != b.op:
        return False
    match a.op:
        case "exp" | "log" | "sqrt" | "tanh" | "erf":
            return at_most(a.args[0], b.args[0], strict, context, depth)
        case "power" if a.args[1] == b.args[1]:
            return _powers(a, b, strict, context, depth)
        case "add" if len(a.args) == len(b.args):
            pairs = list(zip(a.args, b.args, strict=True))
            weak = all(at_most(x, y, False, context, depth) for x, y in pairs)
            return weak and (not strict or any(at_most(x, y, True, context, depth) for x, y in pairs))
        case "mul" if len(a.args) == len(b.args):
            return _products(a, b, strict, context, depth)
        case "sum" | "expect" if a.args[0] == b.args[0]:
            symbols, body, inside = context.opened(a)
            other = instantiate(b.args[1], symbols)
            nonempty = not strict or a.op == "expect" or Sign(context).positive(a.args[0])
            return nonempty and at_most(body, other, strict, inside, depth)
    return False


def _powers(a: Term, b: Term, strict: bool, context: Context, depth: int) -> bool:
    (x, exponent), (y, _) = a.args, b.args
    if exponent.op != "number" or exponent.data.denominator != 1:
        return False
    sign = Sign(context)
    if exponent.data == 0:
        return not strict
    if exponent.data > 0:
        return sign.nonnegative(x) and at_most(x, y, strict, context, depth)
    return sign.positive(y) and at_most(y, x, strict, context, depth)


def _products(a: Term, b: Term, strict: bool, context: Context, depth: int) -> bool:
    """x1 x2 .. <= y1 y2 .. from 0 <= x <= y; strict from one strict pair while the other factors are positive."""
    sign = Sign(context)
    pairs = list(zip(a.args, b.args, strict=True))
    numbers = [(x, y) for x, y in pairs if x == y and x.op == "number" and x.data < 0]
    if len(numbers) == 1:  # a negative factor turns the order round
        left = [p for p in pairs if p != numbers[0]]
        x, y = left[0] if len(left) == 1 else (Term("mul", side) for side in zip(*left, strict=True))
        return at_most(y, x, strict, context, depth)
    if not all(sign.nonnegative(x) and at_most(x, y, False, context, depth) for x, y in pairs):
        return False
    if not strict:
        return True
    return any(
        at_most(x, y, True, context, depth) and all(sign.positive(z) for k, (z, _) in enumerate(pairs) if k != this)
        for this, (x, y) in enumerate(pairs)
    )


def _other_shape(a: Term, b: Term, strict: bool, context: Context, depth: int) -> bool:
    if a.op == "abs" and a.args[0].op == b.op == "sum" and a.args[0].args[0] == b.args[0] and not strict:
        symbols, body, inside = context.opened(a.args[0])
        small = without_branches(Term("abs", (body,)), inside)
        return at_most(small, instantiate(b.args[1], symbols), False, inside, depth)
    if a.op == "abs":
        return at_most(a.args[0], b, strict, context, depth) and at_most(-a.args[0], b, strict, context, depth)
    if b.op == "sum" and not strict and _one_term(a, b, context):
        return True
    if b.op == "max":
        return any(at_most(a, y, strict, context, depth) for y in b.args)
    return False


def _one_term(a: Term, b: Term, context: Context) -> bool:
    """a is the term at some index of a sum of non-negative terms."""
    _, body, inside = context.opened(b)
    if not Sign(inside).nonnegative(body):
        return False
    normal, places = plain(context), (i for i in indices_in(a) if sort_of(i) == b.args[0])
    return any(not normal.difference(a, instantiate(b.args[1], (i,))) for i in places)
