"""Terms to numbers of 50 digits, at random points: the second opinion on every theorem.

Nothing here makes a theorem; a mistake here can only refuse one. An equation holds at a point when both sides agree to 20
digits: 50 are carried, and a numerical derivative (mpmath's `diff`, which raises its precision itself) keeps over 25.
"""

from __future__ import annotations

import random
from typing import Any

from .programs import compare, drawn, mp, program
from .terms import Family, IndexMap, Term

__all__ = ["NoSample", "Point", "compare", "evaluate", "mp"]

_LARGEST_SIZE = 3


class NoSample(Exception):
    """No random point met the hypotheses: they may contradict each other, or need a `witness`."""


class Point:
    """Values of free symbols, drawn when first asked for."""

    def __init__(self, seed: int, smallest: bool = False):
        """`smallest`: every size is the least that it may be."""
        self._random, self._smallest = random.Random(seed), smallest
        self._values: dict[Any, Any] = {}
        self.known: dict[Any, Any] = {}  # what was computed here

    def number(self, domain: str) -> Any:
        return drawn(self._random, domain)

    def size(self, term: Term) -> int:
        if term not in self._values:
            low = term.data[1]
            high = low if self._smallest else max(_LARGEST_SIZE, low + 1)
            self._values[term] = self._random.randint(low, high)
        return int(self._values[term])

    def outcomes(self, term: Term) -> int:
        """A space is drawn as a few outcomes of one probability."""
        if term not in self._values:
            self._values[term] = self._random.randint(2, 3)
        return int(self._values[term])

    def variable(self, term: Term) -> Any:
        if term not in self._values:
            self._values[term] = self.number(term.data[1])
        return self._values[term]

    def index(self, term: Term) -> int:
        if term not in self._values:
            extent = int(evaluate(term.args[0], self))
            if extent < 1:
                raise NoSample(f"{term!r} is an index into an empty range")
            self._values[term] = self._random.randrange(extent)
        return int(self._values[term])

    def family(self, symbol: Family, arguments: list[Any]) -> Any:
        """A random value per tuple of indices; along a real slot a smooth function, with its derivative."""
        reals = [a for a, s in zip(arguments, symbol.slots, strict=True) if s.op == "domain"]
        indices = tuple(a for a, s in zip(arguments, symbol.slots, strict=True) if s.op != "domain")
        if not reals:
            return self._drawn((symbol.name, indices), symbol.domain)
        if symbol.derivative is None and symbol.name.startswith("d_"):
            a, b = (self._drawn((symbol.name[2:], indices, k), "real") for k in "ab")
            return sum(a * mp.cos(x + b) for x in reals)
        a, b = (self._drawn((symbol.name, indices, k), "real") for k in "ab")
        value = sum(a * mp.sin(x + b) for x in reals)
        return value if symbol.domain == "real" else mp.exp(value)

    def map(self, symbol: IndexMap, arguments: list[Any]) -> int:
        extent = int(evaluate(symbol.target, self))
        if symbol.bijective:
            place: Any = (symbol.name, "permutation")
            if place not in self._values:
                self._values[place] = self._random.sample(range(extent), extent)
            return int(self._values[place][int(arguments[0])])
        place = (symbol.name, tuple(mp.nstr(a, 15) for a in arguments))
        if place not in self._values:
            self._values[place] = self._random.randrange(extent)
        return int(self._values[place])

    def _drawn(self, place: Any, domain: str) -> Any:
        if place not in self._values:
            self._values[place] = self.number(domain)
        return self._values[place]

    def __repr__(self) -> str:
        shown = {k if isinstance(k, Term) else f"{k[0]}{k[1]}": v for k, v in self._values.items()}
        return ", ".join(f"{k} = {mp.nstr(v, 6) if isinstance(v, mp.mpf) else v}" for k, v in shown.items())


def evaluate(term: Term, point: Point, bound: tuple[Any, ...] = ()) -> Any:
    """The value of a term: an mpf, an int for an index, a bool for a proposition. bound[-1] is the innermost binder's."""
    return program(term)(point, bound)
