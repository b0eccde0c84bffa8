"""The figures that there are, in the order in which a reader meets them."""

from collections.abc import Iterable, Sequence

from ..checker.usage import unknown
from . import (
    attention_masks,
    error_allowances,
    position_similarity,
    positional_encoding,
    score_variance,
    softmax_saturation,
    softmax_temperature,
)
from .figure import Figure

FIGURES: tuple[Figure, ...] = (
    positional_encoding.FIGURE,
    position_similarity.FIGURE,
    softmax_temperature.FIGURE,
    softmax_saturation.FIGURE,
    score_variance.FIGURE,
    attention_masks.FIGURE,
    error_allowances.FIGURE,
)


def names() -> list[str]:
    return [figure.name for figure in FIGURES]


def chosen(wanted: Iterable[str]) -> Sequence[Figure]:
    """The figures of these names, in their own order; all for no names. Raises UsageError for a name of none."""
    wanted = set(wanted)
    for name in sorted(wanted - set(names())):
        raise unknown("figure", name, names())
    return [figure for figure in FIGURES if figure.name in wanted or not wanted]
