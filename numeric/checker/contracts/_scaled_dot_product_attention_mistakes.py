"""What goes wrong in attention: formulas, each with what it breaks."""

from typing import Any

import numpy as np

from ...arithmetic import is_balls, matmul, midpoint
from ..mistake import Fit, Known, Mistake, Variant
from . import _attention_emulations as emulations
from . import _attention_gradient_mistakes as gradients
from ._attention_formulas import (
    exponentials,
    keep_of,
    masked_by,
    masked_to_zero,
    number,
    right_scale,
    root,
    scaled_by,
    scores,
    scores_shape,
    softmax,
    transposed,
    weighted_by,
    wide,
)
from ._masks import kept, lower_right_without_reference

DEFINITION = "attention.definition"
WEIGHTS = "attention.weights_sum_to_one"
VARIANCE = "attention_scores.scaled_variance_is_one"
MASKED = "masking.masked_equals_softmax_over_kept"
CAUSAL = "causal_masking.causal_output_ignores_future"


# Masks: which keys are kept instead


def _inverted(q: Any, k: Any, mask: Any, causal: bool) -> Any:
    return keep_of(q, k, None if mask is None else ~mask, causal)


def _over_queries(q: Any, k: Any, mask: Any, causal: bool) -> Any:
    square = mask is not None and q.shape[-2] == k.shape[-2]
    return keep_of(q, k, mask.swapaxes(-1, -2) if square else mask, causal)


def _of_first(q: Any, k: Any, mask: Any, causal: bool) -> Any:
    return keep_of(q, k, mask[0] if mask is not None and mask.ndim == 3 else mask, causal)


def _causal_by(below: int, above: bool = False) -> Any:
    """Keys up to i + below, or those above."""

    def keep(q: Any, k: Any, mask: Any, causal: bool) -> Any:
        if not causal:
            return keep_of(q, k, mask, causal)
        triangle = np.tri(q.shape[-2], k.shape[-2], below, dtype=np.bool_) ^ above
        return triangle if mask is None else kept(mask, False, scores_shape(q, k)) & triangle

    return keep


def _first_key_only(q: Any, k: Any, mask: Any, causal: bool) -> Any:
    keep = keep_of(q, k, mask, causal)
    return keep & (np.arange(k.shape[-2]) == 0) if causal else keep


def _lower_right(q: Any, k: Any, mask: Any, causal: bool) -> Any:
    return kept(mask, causal, scores_shape(q, k), lower_right=True)


def _lower_right_without_reference(q: Any, k: Any, v: Any, *, mask: Any, causal: bool) -> Any:
    return lower_right_without_reference((q, k, v), scores_shape(q, k), mask, causal)


# What stands in place of the softmax over the kept keys


def _multiplied(z: Any, keep: Any) -> Any:
    return softmax(masked_to_zero(z, keep))


def _added(z: Any, keep: Any) -> Any:
    return softmax(z if keep is None else z + np.where(keep, number(1, z), number(0, z)))


def _masked_afterwards(z: Any, keep: Any) -> Any:
    return masked_to_zero(softmax(z), keep)


def _along(axis: int) -> Any:
    def weigh(z: Any, keep: Any) -> Any:
        powers = masked_to_zero(np.exp(z), keep)
        return powers / powers.sum(axis if -z.ndim <= axis < z.ndim else -1, keepdims=True)

    return weigh


def _over_all(z: Any, keep: Any) -> Any:
    powers = masked_to_zero(np.exp(z), keep)
    return powers / powers.sum((-2, -1), keepdims=True)


def _scores_for_weights(z: Any, keep: Any) -> Any:
    return masked_to_zero(z, keep)


def _not_normalised(z: Any, keep: Any) -> Any:
    return exponentials(z, keep)[0]


def _one_more(z: Any, keep: Any) -> Any:
    powers, shift = exponentials(z, keep)
    return powers / (powers.sum(-1, keepdims=True) + np.exp(-shift))


def _base_two(z: Any, keep: Any) -> Any:
    return softmax(z * np.log(number(2, z)), keep)


def _of_minus(z: Any, keep: Any) -> Any:
    return softmax(-z, keep)


def _not_rescaled(z: Any, keep: Any) -> Any:
    """Under a running maximum, key by key, with sums that are not rescaled when it grows."""
    low = number(-(2.0**20), z)
    filled = z if keep is None else np.where(keep, z, low)
    running = np.maximum.accumulate(midpoint(filled) if is_balls(z) else filled, -1)
    powers = masked_to_zero(np.exp(filled - running), keep)
    total = powers.sum(-1, keepdims=True)
    return powers / (total if keep is None else np.where(keep.any(-1, keepdims=True), total, number(1, z)))


# Scales


def _no_scale(q: Any, k: Any, v: Any) -> Any:
    return number(1, q)


def _by_width(q: Any, k: Any, v: Any) -> Any:
    return 1 / number(q.shape[-1], q)


def _inverted_scale(q: Any, k: Any, v: Any) -> Any:
    return root(q.shape[-1], q)


def _by_width_of_values(q: Any, k: Any, v: Any) -> Any:
    return 1 / root(v.shape[-1], q)


def _by_length(q: Any, k: Any, v: Any) -> Any:
    return 1 / root(k.shape[-2], q)


def _scaled_afterwards(q: Any, k: Any, v: Any, *, mask: Any, causal: bool) -> Any:
    q, k, v = wide(q, k, v)
    p = softmax(matmul(q, transposed(k)), keep_of(q, k, mask, causal))
    return matmul(p, v) * right_scale(q, k, v)


# Keys and values


def _swapped(q: Any, k: Any, v: Any, *, mask: Any, causal: bool) -> Any:
    """Where their widths allow that; elsewhere it is right, or raises."""
    q, k, v = wide(q, k, v)
    keys, values = (v, k) if k.shape == v.shape else (k, v)
    return matmul(softmax(scores(q, keys, values), keep_of(q, keys, mask, causal)), values)


def _keys_taken_as_they_are(q: Any, k: Any, v: Any, *, mask: Any, causal: bool) -> Any:
    """q k instead of q k^T, where there are as many keys as columns; elsewhere it is right, or raises."""
    q, k, v = wide(q, k, v)
    square = k.shape[-2] == k.shape[-1]
    z = matmul(q, k if square else transposed(k)) * right_scale(q, k, v)
    return matmul(softmax(z, keep_of(q, k, mask, causal)), v)


def _keys_reshaped(q: Any, k: Any, v: Any, *, mask: Any, causal: bool) -> Any:
    q, k, v = wide(q, k, v)
    z = matmul(q, k.reshape(*k.shape[:-2], k.shape[-1], k.shape[-2])) * right_scale(q, k, v)
    return matmul(softmax(z, keep_of(q, k, mask, causal)), v)


ID = "scaled_dot_product_attention."
MISTAKES: tuple[Known, ...] = (
    Variant(ID + "lower_right", "aligns the causal mask lower right: key j for query i when j <= i + n_k - n_q", "causal_alignments.causal_alignments_differ", masked_by(_lower_right), without_reference=_lower_right_without_reference, converter="Pass np.tri(n_q, n_k, dtype=bool) as its mask in place of causal"),
    Mistake(ID + "mask_inverted", "masks the keys that are to be kept, and keeps the others", MASKED, masked_by(_inverted)),
    Mistake(ID + "mask_multiplies_scores", "multiplies the scores by the mask, so that a masked key has the score 0 and not -inf", "masking_leaks.multiplying_scores_leaks", weighted_by(_multiplied)),
    Mistake(ID + "mask_added_as_number", "adds the boolean mask to the scores, as 0 and 1", "finite_masks.finite_mask_leak", weighted_by(_added)),
    Mistake(ID + "mask_over_queries", "masks queries where it should mask keys: it has the mask transposed", "masking.zero_weight_on_masked", masked_by(_over_queries)),
    Mistake(ID + "mask_of_first", "takes the mask of the first in the batch for all of them", MASKED, masked_by(_of_first)),
    Mistake(ID + "mask_after_softmax", "masks the weights after the softmax, and does not normalise them again", "masking_leaks.multiplying_weights_leaks", weighted_by(_masked_afterwards)),
    Mistake(ID + "mask_ignored", "does not use the mask", "masking.zero_weight_on_masked", masked_by(lambda q, k, mask, causal: keep_of(q, k, None, causal))),
    Mistake(ID + "causal_ignored", "does not use causal", CAUSAL, masked_by(lambda q, k, mask, causal: keep_of(q, k, mask, False))),
    Mistake(ID + "causal_strict", "keeps only the keys j < i", "causal_masking.first_output_is_first_value", masked_by(_causal_by(-1))),
    Mistake(ID + "causal_one_ahead", "keeps the keys j <= i + 1, one of the future", CAUSAL, masked_by(_causal_by(1))),
    Mistake(ID + "causal_reversed", "keeps the keys j >= i, the future instead of the past", CAUSAL, masked_by(_causal_by(-1, above=True))),
    Mistake(ID + "causal_inverted", "keeps the keys j > i: the causal mask is inverted", CAUSAL, masked_by(_causal_by(0, above=True))),
    Mistake(ID + "causal_of_each_query", "aligns the causal mask upper left for each query by itself, as in decoding with a cache, so that each sees the first key only", "causal_alignments.causal_alignments_differ", masked_by(_first_key_only)),
    Mistake(ID + "scale_missing", "does not divide the scores by sqrt(d_k)", VARIANCE, scaled_by(_no_scale)),
    Mistake(ID + "scale_by_width", "divides the scores by d_k instead of sqrt(d_k)", VARIANCE, scaled_by(_by_width), twins=(ID + "scaled_twice",)),
    Mistake(ID + "scaled_twice", "divides by sqrt(d_k) twice, as where q is scaled before a function that scales the scores", VARIANCE, scaled_by(_by_width), twins=(ID + "scale_by_width",)),
    Mistake(ID + "scale_inverted", "multiplies the scores by sqrt(d_k)", VARIANCE, scaled_by(_inverted_scale)),
    Mistake(ID + "scale_of_values", "divides the scores by sqrt(d_v)", VARIANCE, scaled_by(_by_width_of_values)),
    Mistake(ID + "scale_by_length", "divides the scores by sqrt(n_k)", VARIANCE, scaled_by(_by_length)),
    Mistake(ID + "scale_after_softmax", "divides by sqrt(d_k) after the softmax", WEIGHTS, _scaled_afterwards),
    Mistake(ID + "softmax_over_queries", "takes the softmax over the queries", WEIGHTS, weighted_by(_along(-2))),
    Mistake(ID + "softmax_over_second_axis", "takes the softmax along axis 1, which with heads runs over the heads", WEIGHTS, weighted_by(_along(1))),
    Mistake(ID + "softmax_over_batch", "takes the softmax along axis 0, over the batch", WEIGHTS, weighted_by(_along(0))),
    Mistake(ID + "softmax_over_all", "takes the softmax over queries and keys together", WEIGHTS, weighted_by(_over_all)),
    Mistake(ID + "no_softmax", "takes the scores themselves for the weights", DEFINITION, weighted_by(_scores_for_weights)),
    Mistake(ID + "not_normalised", "does not divide by the sum of the exponentials", WEIGHTS, weighted_by(_not_normalised)),
    Mistake(ID + "one_more_in_sum", "has 1 + sum exp as the denominator of its softmax", WEIGHTS, weighted_by(_one_more)),
    Mistake(ID + "base_two", "takes powers of 2 instead of e", DEFINITION, weighted_by(_base_two)),
    Mistake(ID + "of_minus_scores", "has the scores with the other sign", DEFINITION, weighted_by(_of_minus)),
    Mistake(ID + "not_rescaled", "does not rescale what an online softmax has summed when the running maximum grows", "online_softmax.online_softmax_step", weighted_by(_not_rescaled)),
    Mistake(ID + "keys_and_values_swapped", "takes the keys for values and the values for keys", DEFINITION, _swapped),
    Mistake(ID + "keys_not_transposed", "multiplies by k where k^T belongs", DEFINITION, _keys_taken_as_they_are),
    Mistake(ID + "keys_reshaped", "reshapes k to (d_k, n_k) instead of transposing it", DEFINITION, _keys_reshaped),
    *gradients.MISTAKES,
    *emulations.of(ID),
)  # fmt: skip


def _with_factor(theta: Any, q: Any, k: Any, v: Any, *, mask: Any, causal: bool) -> Any:
    return scaled_by(lambda q, k, v: right_scale(q, k, v) * theta)(q, k, v, mask=mask, causal=causal)


def _with_scale(theta: Any, q: Any, k: Any, v: Any, *, mask: Any, causal: bool) -> Any:
    return scaled_by(lambda q, k, v: theta)(q, k, v, mask=mask, causal=causal)


FITS = (
    Fit("the scale times sqrt(d_k)", "1", VARIANCE, _with_factor, (1e-3, 1e3)),
    Fit("the scale", "1 / sqrt(d_k)", VARIANCE, _with_scale, (1e-3, 1e3)),
)
