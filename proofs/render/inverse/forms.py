"""What the grammars of all notations share: lists with commas, places, and the texts that stand alone."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, TypeVar

from .problems import Complaint, UnreadableError
from .stream import Stream
from .tree import Assignment, Name, Node, Place, Symbol

FORMS = ("statement", "argument", "symbol", "listed", "members", "places", "assignment")
T = TypeVar("T")


class Forms(Stream):
    @abstractmethod
    def statement(self) -> Node: ...

    @abstractmethod
    def whole(self) -> Node:
        """A term with no brackets around it."""

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

    def separated(self, entry: Callable[[], T]) -> tuple[T, ...]:
        """One or more, with commas between them."""
        found = [entry()]
        while self.takes(","):
            found.append(entry())
        return tuple(found)

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
