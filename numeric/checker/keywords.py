"""Which keywords an implementation takes, by its signature, or by trying where that does not tell."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any

from .adapter import Adapter
from .watch import BrokenCall, OutOfTime


def required(function: Callable[..., Any] | None) -> frozenset[str]:
    """The parameters that have no default, as far as a signature tells."""
    try:
        parameters = inspect.signature(function).parameters.values() if function else []
    except (TypeError, ValueError):
        parameters = []
    return frozenset(each.name for each in parameters if each.default is each.empty)


def keywords_taken(
    function: Callable[..., Any],
    names: list[str],
    adapter: Adapter,
    positional: int,
    trial: Callable[[Mapping[str, str]], Any],
) -> Mapping[str, str]:
    """Which options `function` takes, each with the keyword that it takes it by."""
    candidates = {name: (name, *adapter.synonyms.get(name, ())) for name in names}
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = None  # built in: no signature to read
    if parameters is not None and not any(each.kind is each.VAR_KEYWORD for each in parameters):
        first = [each.name for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)][
            :positional
        ]
        free = {each.name for each in parameters if each.kind in (each.KEYWORD_ONLY, each.POSITIONAL_OR_KEYWORD)} - set(
            first
        )
        found = {name: [each for each in keywords if each in free] for name, keywords in candidates.items()}
        return {name: keywords[0] for name, keywords in found.items() if keywords}
    for chosen in _choices(candidates):
        try:
            trial(chosen)
        except OutOfTime:
            raise
        except BrokenCall as broken:
            if isinstance(broken.__cause__, TypeError):
                continue
        return chosen
    return {}


def _choices(candidates: Mapping[str, tuple[str, ...]]) -> Iterator[dict[str, str]]:
    """All ways to pass some of the options, those that pass most first."""
    every = product(*[(*keywords, None) for keywords in candidates.values()])
    ways = [{name: word for name, word in zip(candidates, words, strict=True) if word is not None} for words in every]
    yield from sorted(ways, key=len, reverse=True)
