"""What the grammars of all notations share: lists with commas, places, and the texts that stand alone."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

from . import conventions
from .problems import Complaint, UnreadableError
from .stream import Stream, Token
from .tree import Assignment, Name, Node, Place, Relation, Symbol

FORMS = ("statement", "argument", "symbol", "listed", "members", "places", "assignment")
T = TypeVar("T")


class Forms(Stream):
    bounds: ClassVar[Mapping[str, str]]  # signs between an index and the size of its range
    conditions: ClassVar[Mapping[str, str]]  # signs between the sides of a condition
    slash: ClassVar[str]  # in the place of a bar in an exponent

    def __init__(self, tokens: list[Token]):
        super().__init__(tokens)
        self._raised = 0  # how many exponents are open

    @abstractmethod
    def statement(self) -> Node: ...

    @abstractmethod
    def whole(self) -> Node:
        """A term with no brackets around it."""

    @abstractmethod
    def tight(self) -> Node:
        """A factor, in brackets where it needs them."""

    @abstractmethod
    def argument(self) -> Node:
        """A term or a function."""

    @abstractmethod
    def symbol(self) -> Symbol: ...

    @abstractmethod
    def members(self) -> Node:
        """Symbols, and where they are."""

    @abstractmethod
    def as_name(self, node: Node) -> Name:
        """What a symbol with nothing behind it is; raises Complaint for anything else."""

    @abstractmethod
    def place_of(self, name: Name, at: int) -> Place:
        """A bound variable whose name has been read, with its range if that is told."""

    def bare_name(self) -> Name:
        return self.as_name(self.symbol())

    def place(self) -> Place:
        """A bound variable where it is introduced."""
        at = self.at
        return self.place_of(self.bare_name(), at)

    def bound(self) -> str:
        """The sign between an index and the size of its range, which is taken; nothing where none is next."""
        return next((sign for text, sign in self.bounds.items() if self.takes(text)), "")

    def condition(self) -> Node:
        """A relation, or the opposite of one."""
        at, left, sign = self.at, self.whole(), self.peek()
        if sign.kind != "sign" or sign.text not in self.conditions:
            self.fail("a sign of a relation")
        self.take()
        return Relation(at, self.conditions[sign.text], left, self.whole())

    def first_index(self) -> int:
        """What a sum starts at."""
        if self.sees_word("digits", "1"):
            return int(self.take().text)
        self.need_word("digits", "0")
        return 0

    def separated(self, entry: Callable[[], T]) -> tuple[T, ...]:
        """One or more, with commas between them."""
        found = [entry()]
        while self.takes(","):
            found.append(entry())
        return tuple(found)

    def power(self, at: int, base: Node, exponent: Callable[[], Node]) -> Node:
        """A base that has been read, to the power of what is read next."""
        self._raised += 1
        found = exponent()
        self._raised -= 1
        return conventions.power(at, base, found, in_exponent=self._raised > 0)

    def multiplied(self, at: int, factors: Sequence[Node]) -> Node:
        """The product of factors that have been read; in an exponent, with what a slash behind them takes."""
        if not self._raised:
            return conventions.product_of(at, factors)
        return conventions.slashed(at, factors, self.tight() if self.takes(self.slash) else None)

    def need_a_line(self, at: int) -> None:
        """Raises Complaint in an exponent, where there are no bars."""
        if self._raised:
            raise Complaint("a bar in an exponent is written as a slash", at)

    def listed(self) -> tuple[Node, ...]:
        return self.separated(self.argument)

    def places(self) -> tuple[Place, ...]:
        return self.separated(self.place)

    def group(self) -> tuple[Place, ...]:
        """Two places or more, in brackets."""
        self.need("(")
        first = self.place()
        self.need(",")
        rest = self.places()
        self.need(")")
        return (first, *rest)

    def assignment(self) -> Node:
        at, name = self.at, self.bare_name()
        self.need(":=")
        return Assignment(at, name, self.argument())

    def letters_ahead(self, most: int | None = None) -> int:
        """How many of the next tokens are letters, `most` of them, with their primes."""
        ahead = letters = 0
        while (letter := self.peek(ahead).kind == "letter") or (ahead and self.peek(ahead).text == "'"):
            letters += letter
            if most is not None and letters > most:
                break
            ahead += 1
        return ahead


def tree_of(grammar: Callable[[str], Forms], text: str, form: str) -> Any:
    """The raw tree of a whole text of one of FORMS. Raises UnreadableError with the place."""
    try:
        reading = grammar(text)
        found = getattr(reading, form)()
        if reading.peek().kind != "end":
            reading.fail("the end")
        return found
    except Complaint as complaint:
        raise UnreadableError(complaint.problem, text, complaint.at) from None
    except RecursionError:
        raise UnreadableError("too deep to be read", text, 0) from None
