"""Random points of short binary fractions that meet a statement's hypotheses.

Such numbers are exact in float64, and so are their sums: a hypothesis z_j <= z_i + D that holds as an equation does so exactly.
What decides what a statement says at a point is gone through rather than drawn: sizes (1 comes last, since for one class softmax is
1 whatever the layer does), and whether the indices into one range are distinct or equal.
"""

import random
from collections.abc import Iterator
from typing import Any

from proofs.evaluate import NoSample, Point, evaluate, mp
from proofs.kernel import Statement
from proofs.terms import Term

ATTEMPTS = 2000
SIZES = (5, 2, 4, 3, 1)  # in turn
PARTS = 128  # of one; numbers lie between -2 and 2


class ExactPoint(Point):
    """Values of free symbols, drawn when first asked for. `sizes` are those that were asked for so far."""

    def __init__(self, seed: int, attempt: int = 0):
        super().__init__(seed * ATTEMPTS + attempt)
        self.sizes: dict[str, int] = {}
        self.places: dict[Term, dict[Term, int]] = {}  # of the indices into each range
        self._turn = seed + attempt
        self._stride = 1 + attempt // len(SIZES)  # so that sizes which must be equal come to be
        self._draw = random.Random(seed * ATTEMPTS + attempt)

    def number(self, domain: str) -> Any:
        if domain == "integer":
            return mp.mpf(self._draw.randint(-5, 5))
        low = {"real": -2 * PARTS, "nonnegative": 0, "positive": 1}[domain]
        return mp.mpf(self._draw.randint(low, 2 * PARTS)) / PARTS

    def size(self, term: Term) -> int:
        name, minimum = term.data
        if name not in self.sizes:
            self.sizes[name] = max(minimum, SIZES[(self._turn + self._stride * len(self.sizes)) % len(SIZES)])
        return self.sizes[name]

    def index(self, term: Term) -> int:
        """Indices into the first range are distinct at turns 0, 2, ..., those into the second at turns 0, 1, 4, 5, ..."""
        range_ = term.args[0]
        before = self.places.setdefault(range_, {})
        if term not in before:
            extent = int(evaluate(range_, self))
            distinct = not self._turn >> list(self.places).index(range_) & 1
            first = next(iter(before.values()), None)
            start = self._draw.randrange(extent) if first is None else first
            before[term] = (start + distinct * len(before)) % extent
        return before[term]

    def __repr__(self) -> str:
        places = {repr(i): place for into in self.places.values() for i, place in into.items()}
        own = ", ".join(f"{name} = {value}" for name, value in (self.sizes | places).items())
        return ", ".join(part for part in (own, super().__repr__()) if part)


def points(statement: Statement, seeds: int) -> Iterator[ExactPoint]:
    """One for each seed. Raises NoSample where none of many meets the hypotheses."""
    for seed in range(seeds):
        yield _point(statement, seed)


def _point(statement: Statement, seed: int) -> ExactPoint:
    for attempt in range(ATTEMPTS):
        point = ExactPoint(seed, attempt)
        try:
            if all(evaluate(h, point) for h in statement.hypotheses):
                return point
        except ZeroDivisionError:
            continue
    raise NoSample(f"none of {ATTEMPTS} random points meets the hypotheses; give a witness if they can be met at all")
