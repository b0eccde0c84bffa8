"""How tightly a node binds, without the brackets that it may stand in."""

from __future__ import annotations

from .tree import (
    Ascribed,
    Bracket,
    Call,
    Cases,
    Derivative,
    Floor,
    Fraction,
    Matrix,
    Mean,
    Node,
    Number,
    Power,
    Product,
    Ratio,
    Squared,
    Summation,
    Symbol,
    Total,
)

SUM, TERM, PREFIX, FACTOR, BASE = range(5)
_LEVELS: dict[type, int] = {
    Product: TERM, Summation: PREFIX, Total: PREFIX, Derivative: PREFIX, Power: FACTOR,
    **dict.fromkeys((Number, Symbol, Ascribed, Bracket, Squared, Mean, Matrix, Floor), BASE),
}  # fmt: skip


def level(node: Node) -> int:
    """From SUM to BASE."""
    match node:
        case Ratio() | Fraction(above=None):
            return TERM if node.slashed else FACTOR
        case Fraction():
            return TERM
        case Cases():
            return BASE if node.enclosed else SUM
        case Call():
            return FACTOR if node.op == "sqrt" or node.raised else BASE
    return _LEVELS.get(type(node), SUM)
