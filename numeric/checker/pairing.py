"""Fewer settings of several options than all of them: so many that any two values of two options still meet."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

Settings = Mapping[str, Any]


def pairwise(settings: Sequence[Settings]) -> list[Settings]:
    """A part of the settings, in their order, that has every pair of values which they have.

    Greedy: next comes the one with the most pairs that are new, the first of those. Values are told apart by their repr.
    """
    missing = {pair for each in settings for pair in _pairs(each)}
    chosen: list[int] = []
    while missing:
        best = max(range(len(settings)), key=lambda place: (len(missing & _pairs(settings[place])), -place))
        chosen.append(best)
        missing -= _pairs(settings[best])
    return [settings[place] for place in sorted(chosen)] if chosen else list(settings)


def _pairs(one: Settings) -> set[tuple[str, str, str, str]]:
    named = [(name, repr(value)) for name, value in one.items()]
    return {(*first, *second) for first, second in combinations(named, 2)}
