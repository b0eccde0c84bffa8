"""What goes wrong in attention: formulas, each with what it breaks."""

from typing import Any

import numpy as np

from ...arithmetic import is_balls, matmul, midpoint
from ..mistake import Fit, Mistake, Variant
from . import _attention_emulations as emulations
from ._attention_formulas import (
    Pass,
    backward,
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
from ._masks import kept

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


def _causal_by(below: int, reverse: bool = False) -> Any:
    def keep(q: Any, k: Any, mask: Any, causal: bool) -> Any:
        if not causal:
            return keep_of(q, k, mask, causal)
        triangle = np.tri(q.shape[-2], k.shape[-2], below, dtype=np.bool_)
        triangle = ~np.tri(q.shape[-2], k.shape[-2], -1, dtype=np.bool_) if reverse else triangle
        return triangle if mask is None else kept(mask, False, scores_shape(q, k)) & triangle

    return keep


def _lower_right(q: Any, k: Any, mask: Any, causal: bool) -> Any:
    return kept(mask, causal, scores_shape(q, k), lower_right=True)


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


# Gradients


def _dq_without_scale(a: Pass) -> Any:
    dq, dk, dv = a.gradients()
    return dq / a.scale, dk, dv


def _dk_without_scale(a: Pass) -> Any:
    dq, dk, dv = a.gradients()
    return dq, dk / a.scale, dv


def _without_scale(a: Pass) -> Any:
    dq, dk, dv = a.gradients()
    return dq / a.scale, dk / a.scale, dv


def _scaled_twice(a: Pass) -> Any:
    dq, dk, dv = a.gradients()
    return dq * a.scale, dk * a.scale, dv


def _weights_as_they_are(a: Pass) -> Any:
    """dv = p dy instead of p^T dy, where p is square; elsewhere it is right, or raises."""
    square = a.p.shape[-2] == a.p.shape[-1]
    return a.gradients(p=transposed(a.p) if square else a.p)


def _weights_reshaped(a: Pass) -> Any:
    return (*a.gradients()[:2], matmul(a.p.reshape(transposed(a.p).shape), a.dy))


def _of_dv_from_scores(a: Pass) -> Any:
    return a.gradients(p=a.ds)


def _without_row_term(a: Pass) -> Any:
    return a.gradients(a.p * a.dp)


def _row_term_added(a: Pass) -> Any:
    return a.gradients(a.p * (a.dp + a.term))


def _row_term_over_queries(a: Pass) -> Any:
    return a.gradients(a.p * (a.dp - (a.p * a.dp).sum(-2, keepdims=True)))


def _row_term_unweighted(a: Pass) -> Any:
    return a.gradients(a.p * (a.dp - a.dp.sum(-1, keepdims=True)))


def _row_term_is_mean(a: Pass) -> Any:
    return a.gradients(a.p * (a.dp - (a.p * a.dp).mean(-1, keepdims=True)))


def _without_weights(a: Pass) -> Any:
    return a.gradients(masked_to_zero(a.dp - a.term, a.keep))


def _diagonal(a: Pass) -> Any:
    return a.gradients(a.p * (1 - a.p) * a.dp)


def _linear_weights(a: Pass) -> Any:
    return a.gradients(masked_to_zero(a.dp, a.keep))


def _swapped_gradients(a: Pass) -> Any:
    dq, dk, dv = a.gradients()
    return (dk, dq, dv) if dq.shape == dk.shape else (dq, dk, dv)


def _negative(a: Pass) -> Any:
    dq, dk, dv = a.gradients()
    return -dq, -dk, dv


def _through_values_only(a: Pass) -> Any:
    dq, dk, dv = a.gradients()
    return 0 * dq, 0 * dk, dv


def _keys_detached(a: Pass) -> Any:
    dq, dk, dv = a.gradients()
    return dq, 0 * dk, dv


def _remasked(part: str) -> Any:
    """The weights are computed once more, without a part of the mask."""

    def formula(dy: Any, q: Any, k: Any, v: Any, *, mask: Any, causal: bool) -> Any:
        again = Pass(dy, q, k, v, None if part == "mask" else mask, False if part == "causal" else causal)
        y = matmul(Pass(dy, q, k, v, mask, causal).p, again.v)
        return again.gradients(again.p * (again.dp - (again.dy * y).sum(-1, keepdims=True)))

    return formula


def _masked_twice(dy: Any, q: Any, k: Any, v: Any, *, mask: Any, causal: bool) -> Any:
    """A softmax over all keys is differentiated, and masked only afterwards."""
    a, every = Pass(dy, q, k, v, mask, causal), Pass(dy, q, k, v, None, False)
    return a.gradients(masked_to_zero(every.ds, a.keep))


ID = "scaled_dot_product_attention."
GRADIENT = "attention_gradients.gradient_of_"
MISTAKES = (
    Variant(ID + "lower_right", "aligns the causal mask lower right: key j for query i when j <= i + n_k - n_q", "causal_alignments.causal_alignments_differ", masked_by(_lower_right), converter="Pass np.tri(n_q, n_k, dtype=bool) as its mask in place of causal"),
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
    Mistake(ID + "causal_reversed", "keeps the keys j >= i, the future instead of the past", CAUSAL, masked_by(_causal_by(0, reverse=True))),
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
    Mistake(ID + "gradient_dq_without_scale", "lacks the factor 1 / sqrt(d_k) in dq", GRADIENT + "queries", backward(_dq_without_scale), "gradients"),
    Mistake(ID + "gradient_dk_without_scale", "lacks the factor 1 / sqrt(d_k) in dk, which takes q before it was scaled", GRADIENT + "keys", backward(_dk_without_scale), "gradients"),
    Mistake(ID + "gradient_without_scale", "lacks the factor 1 / sqrt(d_k) in dq and in dk", GRADIENT + "queries", backward(_without_scale), "gradients"),
    Mistake(ID + "gradient_scaled_twice", "has the factor 1 / d_k in dq and in dk", GRADIENT + "queries", backward(_scaled_twice), "gradients"),
    Mistake(ID + "gradient_weights_not_transposed", "has dv = p dy instead of p^T dy", GRADIENT + "values", backward(_weights_as_they_are), "gradients"),
    Mistake(ID + "gradient_weights_reshaped", "reshapes p instead of transposing it in dv = p^T dy", GRADIENT + "values", backward(_weights_reshaped), "gradients"),
    Mistake(ID + "gradient_dv_of_scores", "has dv = ds^T dy instead of p^T dy", GRADIENT + "values", backward(_of_dv_from_scores), "gradients"),
    Mistake(ID + "gradient_without_row_term", "leaves out the row term: ds = p dp", GRADIENT + "scores", backward(_without_row_term), "gradients"),
    Mistake(ID + "gradient_row_term_added", "adds the row term instead of subtracting it", GRADIENT + "scores", backward(_row_term_added), "gradients"),
    Mistake(ID + "gradient_row_term_over_queries", "sums the row term over the queries, not over the keys", GRADIENT + "scores", backward(_row_term_over_queries), "gradients"),
    Mistake(ID + "gradient_row_term_unweighted", "subtracts the sum of dp, not weighted by p", GRADIENT + "scores", backward(_row_term_unweighted), "gradients"),
    Mistake(ID + "gradient_row_term_mean", "takes the mean of p dp for its sum", GRADIENT + "scores", backward(_row_term_is_mean), "gradients"),
    Mistake(ID + "gradient_without_weights", "leaves out the factor p: ds = dp - row term", GRADIENT + "scores", backward(_without_weights), "gradients"),
    Mistake(ID + "gradient_diagonal", "has only the diagonal of the softmax's Jacobian: ds = p (1 - p) dp", GRADIENT + "scores", backward(_diagonal), "gradients"),
    Mistake(ID + "gradient_without_softmax", "passes dp by the softmax: ds = dp", GRADIENT + "scores", backward(_linear_weights), "gradients"),
    Mistake(ID + "gradient_swapped", "returns dk for dq and dq for dk", GRADIENT + "queries", backward(_swapped_gradients), "gradients"),
    Mistake(ID + "gradient_negative", "has dq and dk with the other sign", GRADIENT + "queries", backward(_negative), "gradients"),
    Mistake(ID + "gradient_through_values_only", "takes the weights for constants: dq = dk = 0", GRADIENT + "queries", backward(_through_values_only), "gradients"),
    Mistake(ID + "gradient_keys_detached", "has dk = 0", GRADIENT + "keys", backward(_keys_detached), "gradients"),
    Mistake(ID + "gradient_without_mask", "computes the weights once more without the mask", "masked_attention.gradient_at_one_key", _remasked("mask"), "gradients"),
    Mistake(ID + "gradient_without_causal", "computes the weights once more without causal", "causal_masking.causal_gradient_ignores_future", _remasked("causal"), "gradients"),
    Mistake(ID + "gradient_masked_afterwards", "masks the gradient of a softmax over all keys, whose weights do not sum to 1 over those kept", "masked_attention.gradient_at_one_key", _masked_twice, "gradients"),
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
