"""Softmax over the keys that a mask keeps, forward and backward side by side; and the masks themselves.

    p_j = keep_j exp(z_j) / sum keep_l exp(z_l)        dz = p * (dp - sum(p * dp))

Shapes: z, p, dp, dz (..., n) alike, the sums run along the last axis; keep is boolean and broadcasts to z.
True is a key that is kept. A masked score is not computed with, whatever stands there, infinities and NaN too: no -inf is
added to anything, p is exactly 0 there, and so is dz. A row that keeps no key has p = 0 throughout, and dz = 0.
Proved in proofs/theorems/masking.py: masked_weights_sum_to_one, zero_weight_on_masked, masked_equals_softmax_over_kept.
"""

from typing import Any, NamedTuple

import numpy as np

from ..arithmetic import WORKING_DTYPE, convert, is_balls, midpoint, round_to
from ._arguments import (
    cotangent_operand,
    require_booleans,
    require_integers,
    require_keep,
    require_not_empty,
    require_operand,
    require_size,
)

LAYER = "masking"


class Cache(NamedTuple):
    p: np.ndarray  # before its last rounding; may share the output's memory  like z


def forward(z: np.ndarray, keep: np.ndarray) -> tuple[np.ndarray, Cache]:
    """p and what `backward` needs. Raises TypeError or ValueError unless z is real and keep boolean, of a shape that fits.

    A row whose kept scores are all -inf has no softmax: its kept entries are NaN.
    """
    require_operand(LAYER, "z", z)
    require_not_empty(LAYER, "z", z, 1)
    require_keep(LAYER, keep, z.shape)
    p = scores_to_weights(z.astype(WORKING_DTYPE[z.dtype]), keep)
    return round_to(p, z.dtype), Cache(p)


def backward(dp: np.ndarray, cache: Cache) -> np.ndarray:
    """The gradient of <dp, p> with respect to z."""
    (p,) = cache
    g = cotangent_operand(LAYER, "dp", dp, p)
    # forward: a softmax whose sums left out the masked keys; their p is 0, so the same formula leaves them out again
    return round_to(p * (g - (p * g).sum(-1, keepdims=True)), dp.dtype)


def scores_to_weights(scores: np.ndarray, keep: np.ndarray | None = None) -> np.ndarray:
    """The weights p of widened scores, written over them; without a mask every key is kept. Arguments are not checked."""
    take_exponentials(scores, largest_kept(scores, keep), keep)
    total = scores.sum(-1, keepdims=True)
    if keep is not None:
        total = np.where(keep.any(-1, keepdims=True), total, convert(1, scores.dtype))
    scores /= total
    return scores


def largest_kept(scores: np.ndarray, keep: np.ndarray | None = None) -> np.ndarray:
    """What to subtract from each row of widened scores before exp: (..., 1), finite also where no key is kept."""
    least = np.finfo(np.float64 if is_balls(scores) else scores.dtype).min
    lowest: Any = convert(least, scores.real.dtype)[()]
    # as in stable_shift, any shift is right for balls
    finite = midpoint(scores) if is_balls(scores) else scores.real
    return finite.max(-1, keepdims=True, where=True if keep is None else keep, initial=lowest)


def take_exponentials(scores: np.ndarray, shift: np.ndarray, keep: np.ndarray | None = None) -> None:
    """keep * exp(scores - shift), written over the scores; the masked ones are not computed with."""
    kept = True if keep is None else np.broadcast_to(keep, scores.shape)
    np.subtract(scores, shift, out=scores, where=kept)
    np.exp(scores, out=scores, where=kept)
    if keep is not None:
        np.copyto(scores, convert(0, scores.dtype), where=~kept)


# Masks


def causal(n_q: int, n_k: int | None = None, lower_right: bool = False) -> np.ndarray:
    """Query i keeps the keys j <= i, as an (n_q, n_k) array; n_k is n_q unless given.

    With `lower_right` the last query stands at the last key, j <= i + n_k - n_q, as in decoding with cached keys;
    for n_q > n_k the first n_q - n_k rows then keep no key. The two differ unless n_q = n_k.
    """
    n_q = require_size(LAYER, "n_q", n_q)
    n_k = n_q if n_k is None else require_size(LAYER, "n_k", n_k)
    return np.tri(n_q, n_k, n_k - n_q if lower_right else 0, dtype=np.bool_)


def padding(tokens: np.ndarray, pad: int) -> np.ndarray:
    """Every query keeps the keys whose token is not `pad`: tokens (..., n_k) give (..., 1, n_k)."""
    require_integers(LAYER, "tokens", tokens)
    if tokens.ndim == 0:
        raise ValueError(f"{LAYER}: tokens has shape (), needed (..., n_k)")
    return (tokens != pad)[..., None, :]


def both(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Keeps the keys that both masks keep, in the shape that they broadcast to."""
    for name, mask in (("one", one), ("other", other)):
        require_booleans(LAYER, name, mask)
    try:
        return one & other
    except ValueError:
        raise ValueError(
            f"{LAYER}: one has shape {one.shape} and other {other.shape}, needed shapes that broadcast together"
        ) from None
