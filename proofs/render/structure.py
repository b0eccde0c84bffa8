"""How a term is laid out, whatever the signs: levels of precedence, and what a printer has to supply.

A printer is closed: it has words for every node of the language, and raises RenderError for anything else. With one symbol
table, two different terms never print alike; so the order of factors and of summands is the author's, and a product inside
a product, or a sum inside a sum, keeps its brackets. Levels, from loose to tight:

    SUM      a + b, a - b, -a, a index 2 m + a
    TERM     a product a b, a b / c; in plain text also 1 / c and the fraction 1/2
    PREFIX   sum_l a, d/dt [a]: reaches to the end of its product, so only a last factor goes without brackets
    FACTOR   a^b, sqrt(a), a fraction with a bar
    BASE     names, numbers, f(x), z_i, anything with brackets of its own

    sum      ::= [-] product {(+ | -) product}     a leading minus is the factor -1, or the sign of a number that comes first
    product  ::= factor {factor} {/ factor}        / c is the factor c^-1; a first factor 1 is never a numerator
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Self

from ..terms import Same, Term
from .names import Notation, RenderError, Spelling

SUM, TERM, PREFIX, FACTOR, BASE = range(5)
Scope = tuple[Spelling, ...]  # the names of the binders around a place; scope[-1] is the innermost


class Piece(NamedTuple):
    text: str
    level: int


class Factor(NamedTuple):
    """One factor of a product; `under` is what it divides by, where it is an inverse."""

    term: Term
    piece: Piece
    under: Piece | None


Layout = Callable[["Printer", Term, Scope], Piece]


class Printer(ABC):
    """The layout of terms; a subclass has the signs, and says how the first index of a range is written: as 0 or as 1."""

    first: ClassVar[int] = 0
    minus: ClassVar[str]
    relations: ClassVar[dict[str, str]]
    layouts: ClassVar[Mapping[str, Layout]]

    def __init__(self, notation: Notation):
        self.notation = notation
        self._printed: dict[Same, str] = {}  # the same page in another language has the same formulas

    def __call__(self, term: Term) -> str:
        """The term as text; raises RenderError where there are no words for it."""
        same = Same(term)
        if same not in self._printed:
            self._printed[same] = self.piece(term, ()).text
        return self._printed[same]

    def extended(self, *terms: Term, symbols: Iterable[Any] = ()) -> Self:
        """A printer that has the symbols of more terms, and more symbols, and prints all else as this one does."""
        notation = self.notation.extended(*terms, symbols=symbols)
        return self if notation is self.notation else type(self)(notation)

    def piece(self, term: Term, scope: Scope) -> Piece:
        """The term at a place inside these binders, with its level."""
        if term.op not in self.layouts:
            raise RenderError(f"{term!r}: no words for a node {term.op!r}")
        return self.layouts[term.op](self, term, scope)

    def exponent(self, term: Term, scope: Scope) -> Piece:
        """The same in an exponent, where a printer may write it in another way."""
        return self.piece(term, scope)

    def sign(self, relation: str) -> str:
        if relation not in self.relations:
            raise RenderError(f"no sign for the relation {relation!r}")
        return self.relations[relation]

    @property
    def bound(self) -> str:
        """The sign between an index and the size of its range."""
        return self.sign("le" if self.first else "lt")

    def at(self, piece: Piece, level: int) -> str:
        """The text, in brackets where it binds less tightly than the place needs."""
        return piece.text if piece.level >= level else self.bracketed(piece.text)

    @abstractmethod
    def bracketed(self, text: str) -> str: ...

    @abstractmethod
    def squared(self, text: str) -> str:
        """A compound index as a number."""

    # --- names

    @abstractmethod
    def name(self, spelling: Spelling) -> str: ...

    @abstractmethod
    def indexed(self, spelling: Spelling, subscripts: Sequence[str]) -> str:
        """A family, or Kronecker's delta, at indices."""

    @abstractmethod
    def applied(self, spelling: Spelling, arguments: Sequence[str], subscripts: Sequence[str]) -> str:
        """A definition at arguments and indices."""

    @abstractmethod
    def called(self, name: str, arguments: Sequence[str]) -> str: ...

    @abstractmethod
    def ascribed(self, position: str, size: str) -> str:
        """A position of a range that its place does not tell."""

    @abstractmethod
    def floored(self, position: Piece, step: Piece) -> Piece: ...

    @abstractmethod
    def modulo(self, position: Piece, step: Piece) -> Piece: ...

    # --- arithmetic

    @abstractmethod
    def rational(self, numerator: int, denominator: int) -> Piece: ...

    @abstractmethod
    def product(self, factors: Sequence[Factor]) -> Piece: ...

    @abstractmethod
    def inverse(self, base: Piece) -> Piece: ...

    @abstractmethod
    def raised(self, base: str, exponent: Term, piece: Piece) -> Piece: ...

    @abstractmethod
    def elementary(self, op: str, argument: Piece) -> Piece: ...

    @abstractmethod
    def table(self, rows: Sequence[Sequence[str]], subscripts: Sequence[str]) -> str: ...

    @abstractmethod
    def cases(self, first: tuple[str, str], second: tuple[str, str]) -> Piece:
        """Two branches, each a value and its condition."""

    # --- binders and propositions

    @abstractmethod
    def member(self, name: str, range_: Term, size: str | None) -> str:
        """A bound variable together with its range: an index below a size, or a number of a domain."""

    @abstractmethod
    def mapped(self, places: Sequence[str], body: str) -> str: ...

    @abstractmethod
    def summed(self, name: str, size: str, last: str, told: bool, body: str) -> Piece:
        """`last` is the last index of the range; `told` is whether the body tells the range."""

    @abstractmethod
    def expected(self, name: str, space: str, told: bool, body: str) -> Piece:
        """`told` is whether the body tells the space."""

    @abstractmethod
    def differentiated(self, name: str, body: str, point: str | None) -> Piece:
        """`point` is None where the variable of that name is the point."""

    @abstractmethod
    def limit(self, name: str, target: str, body: Piece, value: str) -> str: ...

    @abstractmethod
    def forall(self, place: str, body: str) -> str: ...

    @abstractmethod
    def implied(self, guard: str, body: str) -> str: ...

    @abstractmethod
    def infinity(self) -> str: ...

    @abstractmethod
    def domain(self, name: str) -> str: ...
