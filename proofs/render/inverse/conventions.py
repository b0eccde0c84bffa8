"""How a formula is written where it could be written in several ways; any other way is refused.

Brackets stand where they are needed and nowhere else. A bar takes the factors on its left, since the last bar or the start of
the product, except leading small fractions and a 1 that somebody wrote. In an exponent there are no bars: a slash takes the
product on its left and one factor on its right, and any other inverse is a factor.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .levels import BASE, FACTOR, PREFIX, TERM, level
from .problems import Complaint
from .tree import Bracket, Fraction, Node, Number, Power, Product, Ratio, Sum, Symbol


def require_level(node: Node, needed: int) -> None:
    """Raises Complaint unless a node stands in brackets just where its place binds more tightly than it does."""
    if isinstance(node, Bracket):
        if level(node.inside) >= needed:
            raise Complaint("nothing needs these brackets", node.at)
    elif level(node) < needed:
        raise Complaint("this needs brackets here", node.at)


def power(at: int, base: Node, exponent: Node, in_exponent: bool = False) -> Node:
    match base, exponent:
        case Number(), Sum(parts=((True, Number(value=1)),)) if in_exponent:
            return Fraction(at, None, base)
    inside = base.inside if isinstance(base, Bracket) else base
    if isinstance(inside, Symbol) and inside.name.primes and not inside.arguments and not inside.after:
        if inside is base:
            raise Complaint("a prime is a superscript too: this needs brackets here", at)
    else:
        require_level(base, BASE)
    return Power(at, base, exponent)


def sum_of(at: int, parts: Sequence[tuple[bool, Node]]) -> Node:
    if len(parts) == 1 and not parts[0][0]:
        return parts[0][1]
    for minus, part in parts:
        require_level(part, PREFIX if minus and isinstance(part, Bracket) else TERM)
        inside = part.inside if isinstance(part, Bracket) else part
        if not minus and isinstance(inside, Sum) and len(inside.parts) == 1:
            raise Complaint("this minus belongs before its part", part.at)
        if minus and inside is not part and _is_inverse(part):
            raise Complaint("nothing needs these brackets", part.at)
    return Sum(at, tuple(parts))


def product_of(at: int, factors: Sequence[Node]) -> Node:
    if len(factors) == 1:
        return factors[0]
    bars = [k for k, factor in enumerate(factors) if isinstance(factor, Fraction)]
    before = factors[: bars[-1]] if bars else ()
    for k, factor in enumerate(factors):
        if isinstance(factor, Fraction):
            continue
        if k < len(before) and not _stands_before_a_bar(factor):
            raise Complaint("this factor belongs above the bar that follows it", factor.at)
        require_level(factor, PREFIX if k == len(factors) - 1 else FACTOR)
    return Product(at, tuple(factors))


def slashed(at: int, factors: Sequence[Node], below: Node | None) -> Node:
    """A product in an exponent, with the factor that stands below a slash behind it, if one does."""
    if below is None:
        return _unslashed(at, factors)
    match factors, below:
        case [Number(value=above)], Number(value=under):
            return Ratio(at, above, under, slashed=True)
        case [Number(value=1)], _:
            return Fraction(at, None, below, slashed=True)
    for factor in factors:
        require_level(factor, FACTOR)
    return Fraction(at, Product(at, tuple(factors)) if len(factors) > 1 else factors[0], below, slashed=True)


def _unslashed(at: int, factors: Sequence[Node]) -> Node:
    if len(factors) == 1:
        return factors[0]
    for k, factor in enumerate(factors):
        require_level(factor, PREFIX if k == len(factors) - 1 else FACTOR)
    match factors:
        case [Number(value=1), _] | [Number(), Fraction()]:
            pass  # a slash would write an inverse, or a number
        case [*_, last] if _is_inverse(last):
            raise Complaint("this quotient is written with a slash", last.at)
    return Product(at, tuple(factors))


def _is_inverse(node: Node) -> bool:
    inside = node.inside if isinstance(node, Bracket) else node
    return isinstance(inside, Fraction) and inside.above is None


def above_bar(node: Node) -> Node | None:
    """What stands above a bar; None for a bare 1."""
    if isinstance(node, Number) and node.value == 1:
        return None
    first = node.factors[0] if isinstance(node, Product) else node
    if isinstance(first, Fraction) or (isinstance(node, Sum) and len(node.parts) == 1):
        raise Complaint("this needs brackets above a bar", node.at)
    if _stands_before_a_bar(first):
        raise Complaint("this number belongs before the bar", first.at)
    if isinstance(node, Bracket) and isinstance(node.inside, Sum) and len(node.inside.parts) > 1:
        raise Complaint("nothing needs these brackets", node.at)
    if not isinstance(node, Sum | Product):
        require_level(node, PREFIX)
    elif isinstance(node, Product) and any(isinstance(f, Fraction) for f in node.factors):
        raise Complaint("this needs brackets above a bar", node.at)
    return node


def _stands_before_a_bar(factor: Node) -> bool:
    match factor:
        case Ratio() | Number(value=1) | Bracket(inside=Sum(parts=((True, Ratio()),))):
            return True
    return False


def alike(one: Any, other: Any) -> bool:
    """Whether two nodes are the same, wherever they stand in the text."""
    if not isinstance(one, tuple):
        return bool(one == other)
    if type(one) is not type(other) or len(one) != len(other):
        return False
    start = 1 if getattr(one, "_fields", ())[:1] == ("at",) else 0
    return all(map(alike, one[start:], other[start:]))
