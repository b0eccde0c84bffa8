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
    """A number such as one half, set small, or with a slash: not a quotient of two terms."""

    at: int
    numerator: int
    denominator: int
    slashed: bool = False


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
    """A bar, or a slash; `above` is None where a bare 1 stands above it, or before it."""

    at: int
    above: Node | None
    below: Node
    slashed: bool = False


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
    """From the first index of a range to the last one."""

    at: int
    name: Name
    first: int
    top: Node
    body: Node


class Total(NamedTuple):
    """A sum over the indices of a place, in a notation that does not write the first and the last one."""

    at: int
    place: Place
    body: Node


class Mean(NamedTuple):
    at: int
    name: Name
    space: Node | None  # None if it is not written
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
    """Two branches, each with the condition under which it holds."""

    at: int
    then: Node
    holds: Node
    otherwise: Node
    fails: Node
    enclosed: bool = False  # between two brackets, not behind one


class Domain(NamedTuple):
    at: int
    name: str  # as in proofs.terms.DOMAINS


class Infinity(NamedTuple):
    at: int


class Place(NamedTuple):
    """A bound variable where it is introduced: `sign` is lt or le before a size, in before a domain or a space."""

    at: int
    name: Name
    range: Node | None = None  # None if it is not written
    sign: str = ""


class Function(NamedTuple):
    """j ↦ body."""

    at: int
    places: tuple[Place, ...]
    body: Node


class Relation(NamedTuple):
    at: int
    sign: str  # as in proofs.terms.RELATIONS; in a condition also ge, gt
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
    """What a declaration says: entries, and a sign and a range as in a Place."""

    at: int
    entries: tuple[Node, ...]
    sign: str
    range: Node


class Assignment(NamedTuple):
    at: int
    name: Name
    value: Node


Node = (
    Number | Ratio | Symbol | Ascribed | Bracket | Squared | Call | Power | Fraction | Product | Sum | Modulo | Floor
    | Summation | Total | Mean | Derivative | Matrix | Cases | Domain | Infinity | Place | Function | Relation | Limit | Implies
    | ForAll | Members | Assignment
)  # fmt: skip
