"""How a formula is written where it could be written in several ways; any other way is refused.

Brackets stand where they are needed and nowhere else. A bar takes the factors on its left, since the last bar or the start of
the product, except leading small fractions and a 1 that somebody wrote.
"""

from __future__ import annotations

from collections.abc import Sequence

from .problems import Complaint
from .tree import BASE, FACTOR, PREFIX, TERM, Bracket, Fraction, Node, Number, Power, Product, Ratio, Sum, Symbol, level


def require_level(node: Node, needed: int) -> None:
    """Raises Complaint unless a node stands in brackets just where its place binds more tightly than it does."""
    if isinstance(node, Bracket):
        if level(node.inside) >= needed:
            raise Complaint("nothing needs these brackets", node.at)
    elif level(node) < needed:
        raise Complaint("this needs brackets here", node.at)


def power(at: int, base: Node, exponent: Node) -> Node:
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
