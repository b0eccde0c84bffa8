"""Random points that meet the hypotheses of a statement, with a witness where random values would not.

Nothing here makes a theorem; a mistake here can only refuse one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .binders import as_function, check_replacement, substitute
from .evaluate import NoSample, Point, evaluate
from .terms import Family, IndexMap, Term, as_term, free

_ATTEMPTS = 400


def _chosen(symbol: Any, value: Any) -> Any:
    if isinstance(symbol, Family):
        return as_function(value)
    return value if isinstance(symbol, IndexMap) else as_term(value)


class Sampler:
    """Random points that meet the hypotheses of a statement, some symbols replaced by a witness.

    The witness of a probability space is a number or a size: so many outcomes of one probability.
    A size that may be 0 is drawn as 0 too, unless an index or a map needs a value in that range.
    """

    def __init__(self, statement: Any, witness: Mapping[Any, Any]):
        symbols = statement.symbols()
        chosen = {s: _chosen(s, v) for s, v in witness.items() if s in symbols}
        check_replacement(chosen, "witness", spaces=("space", "number", "size", "mul"))
        free_indices = (s for s in symbols if isinstance(s, Term) and s.op == "index" and s not in chosen)
        maps = (s.target for s in symbols if isinstance(s, IndexMap) and s not in chosen)
        self._nonempty = [substitute(s, chosen) for s in (*(i.args[0] for i in free_indices), *maps)]
        self._hypotheses = [substitute(h, chosen) for h in statement.hypotheses]
        self._chosen = chosen
        self._moved: dict[Term, Term] = {}

    def point(self, seed: int) -> PointWith:
        """Raises NoSample where none is found."""
        for attempt in range(_ATTEMPTS):
            smallest = seed == 0 and attempt == 0  # where most goes wrong that goes wrong at all
            point = PointWith(seed * _ATTEMPTS + attempt, self._chosen, self._moved, smallest)
            try:
                inhabited = all(evaluate(s, point) >= 1 for s in self._nonempty)
                if inhabited and all(evaluate(h, point) for h in self._hypotheses):
                    return point
            except ZeroDivisionError:
                continue
        raise NoSample(
            f"none of {_ATTEMPTS} random points meets the hypotheses; give a witness if they can be met at all"
        )


class PointWith(Point):
    """A point together with the symbols that a witness replaces."""

    def __init__(
        self, seed: int, chosen: Mapping[Any, Any], moved: dict[Term, Term] | None = None, smallest: bool = False
    ):
        super().__init__(seed, smallest)
        self._chosen, self._moved = chosen, {} if moved is None else moved

    def moved(self, term: Term) -> Term:
        """The term with the witness in it, which the points of one sampler share."""
        if term not in self._moved:
            relevant = {s: v for s, v in self._chosen.items() if s in free(term)}
            self._moved[term] = substitute(term, relevant)
        return self._moved[term]


def holds_at(conclusion: Term, point: PointWith) -> bool:
    """Whether a proposition about the symbols of the sampler's statement is true at this point."""
    return bool(evaluate(point.moved(conclusion), point))
