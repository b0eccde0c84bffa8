"""All the ways in which a term can be read through the layers.

Softmax may be differentiated by jvp, by backward or by its jacobian; an encoding read whole or pair by pair. Each such question is an axis,
and what it may be answered is asked where it comes up: `Choices.choose(axis, options)`. `every_reading` goes through all answers.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")


class Choices:
    """Answers given so far; a question that was not foreseen gets its first option, and is remembered with the others."""

    def __init__(self, given: dict[str, str]):
        self.taken = dict(given)
        self.open: list[dict[str, str]] = []

    def choose(self, axis: str, options: Sequence[str]) -> str:
        if axis not in self.taken:
            self.open += [{**self.taken, axis: other} for other in options[1:]]
            self.taken[axis] = options[0]
        return self.taken[axis]


def every_reading(read: Callable[[Choices], T]) -> Iterator[tuple[str, T]]:
    """The results of `read` for all combinations of answers, each with a label such as "derivative: jvp"."""
    pending: list[dict[str, str]] = [{}]
    while pending:
        choices = Choices(pending.pop())
        value = read(choices)
        pending += choices.open
        yield ", ".join(f"{axis}: {option}" for axis, option in choices.taken.items()), value
