"""The truth, enclosed: a computation on Arb balls repeated with more bits until its radius no longer matters.

    t = high + low + r,  |r| <= radius        high, low in float64, so about 32 digits
"""

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import NamedTuple

import numpy as np

from ..arithmetic import UndecidedComparison, precision, radius, to_balls, to_floats
from .formats import Format

FIRST_BITS, LAST_BITS = 128, 4096
NEGLIGIBLE = 2.0**-20  # of the allowance; it is counted in the implementation's favour all the same


class NoEnclosure(ArithmeticError):
    """The balls stayed too wide at the highest precision, so there is no reference to judge by."""


class Exact(NamedTuple):
    high: np.ndarray
    low: np.ndarray
    radius: np.ndarray


def enclose(compute: Callable[[], np.ndarray], allowance: np.ndarray) -> Exact:
    """`compute` returns balls; it is called at rising precision until each radius is negligible beside the allowance."""
    bits = FIRST_BITS
    while bits <= LAST_BITS:
        with precision(bits):
            try:
                exact = _split(compute())
            except UndecidedComparison:
                exact = None
        if exact is not None and bool((exact.radius <= NEGLIGIBLE * allowance).all()):
            return exact
        bits *= 2
    raise NoEnclosure(f"the exact value could not be enclosed with {LAST_BITS} bits to within the allowance")


def _split(balls: np.ndarray) -> Exact:
    high = to_floats(balls)
    rest = balls - to_balls(high)
    return Exact(high, to_floats(rest), radius(rest))


def deviation(found: np.ndarray, exact: Exact, allowance: np.ndarray, returned: Format) -> np.ndarray:
    """A lower bound on |found - truth|; inf where `found` is NaN, or infinite although rounding could not have overflowed."""
    finite = np.isfinite(found)
    with np.errstate(invalid="ignore", over="ignore"):
        distance = np.abs((np.where(finite, found, 0.0) - exact.high) - exact.low) - exact.radius
        # infinity stands for everything from the largest number on
        beyond = np.where(np.sign(found) * exact.high + allowance >= returned.largest, 0.0, np.inf)
    return np.where(finite, np.maximum(distance, 0.0), np.where(np.isnan(found), np.inf, beyond))


class References:
    """Enclosures already made in this process, so that the second subject at one probe costs nothing. The oldest go first."""

    def __init__(self, byte_limit: int = 2**28) -> None:
        self._byte_limit = byte_limit
        self._known: OrderedDict[Hashable, Exact] = OrderedDict()

    def __call__(self, key: Hashable, compute: Callable[[], np.ndarray], allowance: np.ndarray) -> Exact:
        known = self._known.get(key)
        if known is None or not bool((known.radius <= NEGLIGIBLE * allowance).all()):
            known = self._known[key] = enclose(compute, allowance)
            while sum(each.high.nbytes * 3 for each in self._known.values()) > self._byte_limit and len(self._known) > 1:
                self._known.popitem(last=False)
        return known


def fingerprint(values: tuple[object, ...]) -> str:
    """Equal for equal arrays and numbers, and for nothing else."""
    digest = hashlib.sha256()
    for value in values:
        array = np.asarray(value)
        digest.update(f"{array.dtype} {array.shape} ".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
