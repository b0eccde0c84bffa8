"""Dropout, scaled while training; forward and backward side by side.

    y = keep * x / (1 - rate)        dx = keep * dy / (1 - rate)

Shapes: x, y, dx, dy alike; keep is boolean, True where an entry is kept, and broadcasts to x; a number 0 <= rate < 1.
`draw` makes the random choice, so that the layer is a function of its arguments. Over masks that keep each entry with
probability 1 - rate the expectation of y is x, and its variance x^2 rate / (1 - rate), entry by entry. So the scale
stands here, and nothing is left to do at evaluation: Srivastava et al. 2014 (JMLR 15), section 10.
Proved in proofs/theorems/dropout.py: expected_output_is_input, gradient_is_masked_cotangent, variance_of_output.
"""

import math
import operator
from typing import NamedTuple

import numpy as np
from flint import arb

from ..arithmetic import BALL, convert, greater, is_balls, round_to, widen
from ._arguments import all_finite, cotangent_operand, number_operand, require_keep, require_operand

LAYER = "dropout"


class Cache(NamedTuple):
    keep: np.ndarray  # shares the memory of the argument                   like x
    share: np.ndarray  # 1 - rate, in working precision                     ()


def forward(x: np.ndarray, keep: np.ndarray, rate: float | arb) -> tuple[np.ndarray, Cache]:
    """y and what `backward` needs.

    Raises TypeError or ValueError unless x is real, keep boolean, of a shape that fits, and 0 <= rate < 1;
    UndecidedComparison for a rate whose ball leaves that open. An infinite or NaN entry that is dropped is NaN.
    """
    require_operand(LAYER, "x", x)
    require_keep(LAYER, keep, x.shape, "an entry")
    work = widen(x)
    share = convert(1 - _rate(rate, work.dtype), work.dtype)
    keep = np.broadcast_to(keep, x.shape)
    return round_to(_kept(work, keep, share), x.dtype), Cache(keep, share)


def backward(dy: np.ndarray, cache: Cache) -> np.ndarray:
    """The gradient of <dy, y> with respect to x."""
    keep, share = cache
    g = cotangent_operand(LAYER, "dy", dy, share, keep.shape)
    # forward: each entry was scaled by a number of its own, 0 or 1 / (1 - rate); so now its cotangent is scaled by it
    return round_to(_kept(g, keep, share), dy.dtype)


def draw(shape: tuple[int, ...], rate: float, rng: np.random.Generator) -> np.ndarray:
    """A mask of this shape whose entries are independent, each True with probability 1 - rate; all True for rate 0.

    Exactly 1 - rate where rate is 0 or at least 1/256, else to within 2^-61, given that all bits of `rng` are fair.
    Raises TypeError or ValueError unless shape holds integers of at least 0, 0 <= rate < 1 and rng is a Generator.
    """
    if not isinstance(rng, np.random.Generator):
        raise TypeError(f"{LAYER}: rng is a {type(rng).__name__}, needed what numpy.random.default_rng(seed) makes")
    shape = _shape(shape)
    # one octet an entry decides all but a 256th of them, for a quarter of the random bits of a float32 each
    whole, part = divmod(256 * float(_rate(rate, np.dtype(np.float64))), 1)
    count = math.prod(shape)
    words = rng.integers(0, 2**64 - 1, -(-count // 8), np.uint64, endpoint=True)
    octets = words.astype("<u8", copy=False).view(np.uint8)[:count]
    keep = octets > int(whole)
    tied = np.flatnonzero(octets == int(whole))
    keep[tied] = rng.random(tied.size) >= part
    return keep.reshape(shape)


def _kept(array: np.ndarray, keep: np.ndarray, share: np.ndarray) -> np.ndarray:
    # in this order, since a dropped entry might overflow in the quotient, and inf * 0 is NaN
    kept = array * (keep.astype(int) if is_balls(array) else keep)  # a jet takes no bool
    kept /= share
    return kept


def _rate(rate: float | arb, dtype: np.dtype) -> np.ndarray:
    """The rate in float64, where 1 - rate hardly rounds, or in balls. Raises TypeError or ValueError."""
    operand = number_operand(LAYER, "rate", rate, BALL if dtype == BALL else np.dtype(np.float64))
    if not all_finite(operand) or greater(convert(0, operand.dtype), operand) or not greater(1 - operand, 0):
        raise ValueError(f"{LAYER}: rate is {rate}, needed 0 <= rate < 1")
    return operand


def _shape(shape: tuple[int, ...]) -> tuple[int, ...]:
    try:
        sizes = tuple(map(operator.index, shape))
    except TypeError:
        raise TypeError(f"{LAYER}: shape is {shape!r}, needed a tuple of integers") from None
    if any(size < 0 for size in sizes):
        raise ValueError(f"{LAYER}: shape is {shape}, needed integers of at least 0")
    return sizes
