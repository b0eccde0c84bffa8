"""Random points of short binary fractions that meet a statement's hypotheses.

Such numbers are exact in float64, and so are their sums: a hypothesis z_j <= z_i + D that holds as an equation does so exactly. Sizes
are at least 2, since for one class softmax is 1 whatever the layer does.
"""

from collections.abc import Iterator
from typing import Any

from proofs.evaluate import NoSample, Point, evaluate, mp
from proofs.kernel import Statement
from proofs.terms import IndexMap, Term

ATTEMPTS = 2000
SIZES = (5, 2, 4, 3)  # in turn, so that successive points differ in every size
PARTS = 128  # of one; numbers lie between -2 and 2


class ExactPoint(Point):
    """Values of free symbols, drawn when first asked for. `sizes` are those that were drawn so far."""

    def __init__(self, seed: int, attempt: int = 0):
        super().__init__(seed * ATTEMPTS + attempt)
        self.sizes: dict[str, int] = {}
        self._turn = seed + attempt

    def number(self, domain: str) -> Any:
        if domain == "integer":
            return mp.mpf(self._random.randint(-5, 5))
        low = {"real": -2 * PARTS, "nonnegative": 0, "positive": 1}[domain]
        return mp.mpf(self._random.randint(low, 2 * PARTS)) / PARTS

    def size(self, term: Term) -> int:
        name, minimum = term.data
        if name not in self.sizes:
            self.sizes[name] = max(minimum, SIZES[(self._turn + len(self.sizes)) % len(SIZES)])
        return self.sizes[name]


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
