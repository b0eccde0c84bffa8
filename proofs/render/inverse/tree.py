"""What a formula looks like, before anything is known of its symbols: the raw tree that every notation is read into.

A front end has one tokenizer and one grammar, and knows no symbol; `terms_of` gives the tree a meaning with a table of
symbols. Names are kept as they look: an italic or upright base, an upright label, primes, a dot. Every node knows where it
stands in the text, for messages.
"""

from __future__ import annotations

from typing import NamedTuple


class Name(NamedTuple):
    """How a name looks: base ω, x or softmax; label k of d_k; primes; the dot of a derivative."""

    base: str
    label: str = ""
    primes: int = 0
    dotted: bool = False
    upright: bool = False

    def __str__(self) -> str:
        dot = "d/dt " if self.dotted else ""
        return dot + self.base + (f"_{self.label}" if self.label else "") + "'" * self.primes


class Number(NamedTuple):
    at: int
    value: int


class Ratio(NamedTuple):
    """A number such as one half, set small: not a quotient of two terms."""

    at: int
    numerator: int
    denominator: int


class Symbol(NamedTuple):
    """A name with all that hangs on it: x, z_i, y_i(t), softmax(z)_i. None is where nothing is written."""

    at: int
    name: Name
    subscripts: tuple[Node, ...] | None = None
    arguments: tuple[Node, ...] | None = None
    after: tuple[Node, ...] | None = None  # subscripts behind the arguments, or behind primes


class Ascribed(NamedTuple):
    """An index with the size of its range: position 0 of n, or (2 m + a) of 2 M."""

    at: int
    position: Node
    size: Node


class Bracket(NamedTuple):
    at: int
    inside: Node


class Squared(NamedTuple):
    """[2 m + a], an index as a number."""

    at: int
    inside: Node


class Call(NamedTuple):
    """A function of the language: exp, sqrt, abs, max, ..."""

    at: int
    op: str
    arguments: tuple[Node, ...]
    raised: bool = False  # written as a power of e


class Power(NamedTuple):
    at: int
    base: Node
    exponent: Node


class Fraction(NamedTuple):
    """A bar; `above` is None where a bare 1 stands above it."""

    at: int
    above: Node | None
    below: Node


class Product(NamedTuple):
    """At least two factors side by side; fraction bars are factors."""

    at: int
    factors: tuple[Node, ...]


class Sum(NamedTuple):
    """Parts with their signs, True for a minus; one part only with a minus."""

    at: int
    parts: tuple[tuple[bool, Node], ...]


class Modulo(NamedTuple):
    at: int
    position: Node
    step: Node


class Floor(NamedTuple):
    """The quotient of an index, rounded down."""

    at: int
    position: Node
    step: Node


class Summation(NamedTuple):
    """From 0 to `top`, which is the size of the range less one."""

    at: int
    name: Name
    top: Node
    body: Node


class Mean(NamedTuple):
    at: int
    name: Name
    space: Node
    body: Node


class Derivative(NamedTuple):
    """`point` is None for the derivative at the variable of that name itself."""

    at: int
    name: Name
    body: Node
    point: Node | None


class Matrix(NamedTuple):
    at: int
    rows: tuple[tuple[Node, ...], ...]
    subscripts: tuple[Node, ...]


class Cases(NamedTuple):
    at: int
    condition: Node
    then: Node
    otherwise: Node


class Domain(NamedTuple):
    at: int
    name: str  # as in proofs.terms.DOMAINS


class Infinity(NamedTuple):
    at: int


class Place(NamedTuple):
    """A bound variable where it is introduced: `below` a size, or in a domain or a space; None if that is not written."""

    at: int
    name: Name
    range: Node | None = None
    below: bool = False


class Function(NamedTuple):
    """j ↦ body."""

    at: int
    places: tuple[Place, ...]
    body: Node


class Relation(NamedTuple):
    at: int
    sign: str  # as in proofs.terms.RELATIONS
    left: Node
    right: Node


class Limit(NamedTuple):
    at: int
    name: Name
    target: Node
    body: Node
    value: Node


class Implies(NamedTuple):
    at: int
    guard: Node
    body: Node


class ForAll(NamedTuple):
    """`other` is the index that the bound one differs from, where that is written in one: ∀ j ≠ i."""

    at: int
    place: Place
    other: Node | None
    body: Node


class Members(NamedTuple):
    """What a declaration says: entries that are below a size, or in a domain or space."""

    at: int
    entries: tuple[Node, ...]
    below: bool
    range: Node


class Assignment(NamedTuple):
    at: int
    name: Name
    value: Node


Node = (
    Number | Ratio | Symbol | Ascribed | Bracket | Squared | Call | Power | Fraction | Product | Sum | Modulo | Floor
    | Summation | Mean | Derivative | Matrix | Cases | Domain | Infinity | Place | Function | Relation | Limit | Implies
    | ForAll | Members | Assignment
)  # fmt: skip

SUM, TERM, PREFIX, FACTOR, BASE = range(5)
_LEVELS: dict[type, int] = {
    Product: TERM, Summation: PREFIX, Derivative: PREFIX, Power: FACTOR, Ratio: FACTOR,
    **dict.fromkeys((Number, Symbol, Ascribed, Bracket, Squared, Mean, Matrix, Floor), BASE),
}  # fmt: skip


def level(node: Node) -> int:
    """How tightly a node binds, from SUM to BASE, without the brackets it may stand in."""
    if isinstance(node, Fraction):
        return FACTOR if node.above is None else TERM
    if isinstance(node, Call):
        return FACTOR if node.op == "sqrt" or node.raised else BASE
    return _LEVELS.get(type(node), SUM)
