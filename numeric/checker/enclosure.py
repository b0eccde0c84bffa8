"""The truth, enclosed: a computation on Arb balls repeated with more bits until its radius no longer matters.

t = high + low + r,  |r| <= radius        high, low in float64, so about 32 digits
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from operator import sub
from typing import NamedTuple

import numpy as np
from flint import arb

from ..arithmetic import UndecidedComparison, precision
from .contract import Contract, Inputs, Options, Pullback
from .formats import Format
from .memo import Memo, fingerprint

PRECISIONS = (112, 256, 512, 1024, 2048, 4096)  # bits. The first is a little more than `high` and `low` hold, 2 x 53
FIRST_BITS = PRECISIONS[0]
NEGLIGIBLE = 2.0**-20  # of the allowance; it is counted in the implementation's favour all the same
LEAST = 2.0**-1074


class NoEnclosure(ArithmeticError):
    """The balls stayed too wide at the highest precision, so there is no reference to judge by."""


class Exact(NamedTuple):
    high: np.ndarray
    low: np.ndarray
    radius: np.ndarray

    def serves(self, allowance: np.ndarray) -> bool:
        return bool((self.radius <= NEGLIGIBLE * allowance).all())


def enclose(compute: Callable[[int], Iterable[np.ndarray]], allowances: Sequence[np.ndarray]) -> tuple[Exact, ...]:
    """Calls `compute(bits)` for balls, at rising precision, until each radius is negligible beside its allowance.

    Raises NoEnclosure at the end of the precisions.
    """
    for bits in PRECISIONS:
        with precision(bits):
            try:
                exact = tuple(_split(balls) for balls in compute(bits))
            except UndecidedComparison:
                exact = ()
        if exact and all(each.serves(allowed) for each, allowed in zip(exact, allowances, strict=True)):
            return exact
    raise NoEnclosure(f"the exact value could not be enclosed with {PRECISIONS[-1]} bits to within the allowance")


def _split(balls: np.ndarray) -> Exact:
    every = list(balls.flat)
    high = list(map(float, every))  # the midpoints, rounded
    rest = list(map(sub, every, high))  # a ball minus a float is exact but for the ball's own radius
    nearest = _floats(map(arb.rad, rest), balls.shape)
    radius = np.where(np.isnan(nearest), np.inf, nearest * (1 + 2.0**-50) + LEAST)  # float() rounded to nearest
    return Exact(_floats(high, balls.shape), _floats(rest, balls.shape), radius)


def _floats(numbers: Iterable[arb | float], shape: tuple[int, ...]) -> np.ndarray:
    return np.fromiter(map(float, numbers), dtype=np.float64).reshape(shape)


def deviation(found: np.ndarray, exact: Exact, allowance: np.ndarray, returned: Format) -> np.ndarray:
    """A lower bound on |found - truth|; inf where `found` is NaN, or infinite although rounding could not have overflowed."""
    finite = np.isfinite(found)
    with np.errstate(invalid="ignore", over="ignore"):
        distance = np.abs((np.where(finite, found, 0.0) - exact.high) - exact.low) - exact.radius
        # infinity stands for everything from the largest number on
        beyond = np.where(np.sign(found) * exact.high + allowance >= returned.largest, 0.0, np.inf)
    return np.where(finite, np.maximum(distance, 0.0), np.where(np.isnan(found), np.inf, beyond))


class References:
    """Enclosures of a contract's values and gradients. The balls of the last forward pass are kept, for gradients at the same probe."""

    def __init__(self, byte_limit: int = 2**28) -> None:
        self._memo = Memo(byte_limit)
        self._latest: tuple[Hashable, Pullback | None] = (None, None)

    def value(self, contract: Contract, inputs: Inputs, options: Options, allowance: np.ndarray) -> Exact:
        """Raises NoEnclosure."""
        key = (contract.name, fingerprint((*inputs, *sorted(options.items()))))

        def compute(bits: int) -> Iterable[np.ndarray]:
            output, pullback = contract.exact(*inputs, **options)
            self._latest = ((key, bits), pullback)
            return (output,)

        return self._recalled(key, compute, (allowance,))[0]

    def gradients(
        self, contract: Contract, dy: np.ndarray, inputs: Inputs, options: Options, allowances: Sequence[np.ndarray]
    ) -> tuple[Exact, ...]:
        """Raises NoEnclosure."""
        key = (contract.name, fingerprint((*inputs, *sorted(options.items()))))

        def compute(bits: int) -> Iterable[np.ndarray]:
            if self._latest[0] != (key, bits):
                self._latest = ((key, bits), contract.exact(*inputs, **options)[1])
            pullback = self._latest[1]
            return pullback(dy) if pullback else ()

        return self._recalled((*key, fingerprint((dy,))), compute, allowances)

    def _recalled(
        self, key: Hashable, compute: Callable[[int], Iterable[np.ndarray]], allowances: Sequence[np.ndarray]
    ) -> tuple[Exact, ...]:
        return self._memo.recall(
            key,
            lambda: enclose(compute, allowances),
            size=lambda exact: sum(3 * each.high.nbytes for each in exact),
            good=lambda exact: all(each.serves(allowed) for each, allowed in zip(exact, allowances, strict=True)),
        )
