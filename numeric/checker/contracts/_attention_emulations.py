"""Right formulas of attention that lose their digits, or all of them, in the dtype that is checked."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..mistake import Instability
from ._attention_formulas import keep_of, transposed

MASK = -1e4


def _wide(x: Any) -> Any:
    return np.float32 if x.dtype.itemsize == 2 else x.dtype


def product(a: Any, b: Any) -> Any:
    """Accumulated in float32 at least, and stored."""
    return (a.astype(_wide(a)) @ b.astype(_wide(b))).astype(a.dtype)


def total(x: Any) -> Any:
    return x.sum(-1, keepdims=True, dtype=_wide(x)).astype(x.dtype)


def scores(q: Any, k: Any) -> Any:
    return product(q, transposed(k)) * q.dtype.type(q.shape[-1] ** -0.5)


def kept_powers(z: Any, keep: Any, shift: Any) -> Any:
    powers = np.exp(z - shift)
    return powers if keep is None else np.where(keep, powers, z.dtype.type(0))


def largest(z: Any, keep: Any) -> Any:
    return (z if keep is None else np.where(keep, z, z.dtype.type(-np.inf))).max(-1, keepdims=True)


def _unshifted(z: Any, keep: Any) -> Any:
    powers = kept_powers(z, keep, z.dtype.type(0))
    return powers / total(powers)


def _from_zero(z: Any, keep: Any) -> Any:
    powers = kept_powers(z, keep, np.maximum(largest(z, keep), z.dtype.type(0)))
    return powers / total(powers)


def _zero_after_masked_tile(z: Any, keep: Any) -> Any:
    """Of rows of which the first tile is masked, the running maximum is at least 0; that tile holds key 0."""
    peak = largest(z, keep)
    if keep is not None:
        peak = np.where(keep[..., :1], peak, np.maximum(peak, z.dtype.type(0)))
    powers = kept_powers(z, keep, peak)
    return powers / total(powers)


def _shifted_by_all(z: Any, keep: Any) -> Any:
    powers = kept_powers(z, keep, z.max())
    return powers / total(powers)


def _finite(fill: bool) -> Any:
    def weigh(z: Any, keep: Any) -> Any:
        low = z.dtype.type(MASK)
        masked = z if keep is None else np.where(keep, z, low if fill else z + low)
        powers = np.exp(masked - masked.max(-1, keepdims=True))
        return powers / total(powers)

    return weigh


def _renormalised(z: Any, keep: Any) -> Any:
    powers = kept_powers(z, None, largest(z, None))
    p = powers / total(powers)
    chosen = p if keep is None else np.where(keep, p, z.dtype.type(0))
    return chosen / total(chosen)


def forward(weigh: Callable[[Any, Any], Any]) -> Any:
    def emulated(q: Any, k: Any, v: Any, *, mask: Any = None, causal: bool = False) -> Any:
        return product(weigh(scores(q, k), keep_of(q, k, mask, causal)), v)

    return emulated


def _through_nan(dy: Any, q: Any, k: Any, v: Any, *, mask: Any = None, causal: bool = False) -> Any:
    """-inf at masked scores: a row without keys is 0 / 0, and p^T dy multiplies that by 0."""
    keep, z = keep_of(q, k, mask, causal), scores(q, k)
    powers = kept_powers(z, keep, largest(z, keep))
    p, dp = powers / total(powers), product(dy, transposed(v))
    scaled = p * (dp - total(p * dp)) * q.dtype.type(q.shape[-1] ** -0.5)
    return product(scaled, k), product(transposed(scaled), q), product(transposed(p), dy)


def of(prefix: str) -> tuple[Instability, ...]:
    """The unstable formulas of attention, their ids with this prefix."""
    digits = ("float64", "float32")
    return (
        Instability(prefix + "unshifted", "takes exp of the scores without subtracting the largest, which overflows", "online_softmax.reference_is_free", forward(_unshifted)),
        Instability(prefix + "maximum_from_zero", "starts the running maximum at 0 instead of -inf, so that very negative scores vanish", "online_softmax.reference_is_free", forward(_from_zero)),
        Instability(prefix + "masked_tile_sets_maximum", "sets the running maximum to 0 after a tile of masked keys, so that very negative scores behind it vanish", "online_softmax.reference_is_free", forward(_zero_after_masked_tile)),
        Instability(prefix + "shifted_by_all", "subtracts the largest of all scores, masked or of other queries, so that rows far below it vanish", "online_softmax.reference_is_free", forward(_shifted_by_all)),
        Instability(prefix + "mask_of_minus_10000_added", "adds -10000 to masked scores, which leaks where kept ones are lower still", "finite_masks.finite_mask_leak", forward(_finite(False)), dtypes=digits),
        Instability(prefix + "mask_of_minus_10000", "fills in -10000 for masked scores, which leaks where kept ones are lower still", "finite_masks.replace_mask_leak", forward(_finite(True)), dtypes=digits),
        Instability(prefix + "mask_then_renormalise", "masks the weights of all keys and divides by what is left, which is nothing where a masked score is far above the kept ones", "masking.multiply_then_renormalise_is_equal", forward(_renormalised)),
        Instability(prefix + "gradient_nan_of_masked_row", "has NaN for a fully masked row, which reaches every dk and dv through 0 * NaN", "masking.fully_masked_row_has_no_limit", _through_nan, "gradients"),
    )  # fmt: skip
