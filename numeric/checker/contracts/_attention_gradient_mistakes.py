"""What goes wrong in the gradients of attention: formulas, each with what it breaks."""

from typing import Any

from ...arithmetic import matmul
from ..mistake import Mistake
from ._attention_formulas import Pass, backward, masked_to_zero, root, transposed

ID = "scaled_dot_product_attention."
GRADIENT = "attention_gradients.gradient_of_"


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


def _scaled_by_values(a: Pass) -> Any:
    dq, dk, dv = a.gradients()
    factor = 1 / (a.scale * root(a.v.shape[-1], a.q))
    return dq * factor, dk * factor, dv


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


def _unmasked(part: str) -> Any:
    """All of it belongs to attention without a part of the mask."""

    def formula(dy: Any, q: Any, k: Any, v: Any, *, mask: Any, causal: bool) -> Any:
        return Pass(dy, q, k, v, None if part == "mask" else mask, False if part == "causal" else causal).gradients()

    return formula


def _masked_twice(dy: Any, q: Any, k: Any, v: Any, *, mask: Any, causal: bool) -> Any:
    """A softmax over all keys is differentiated, and masked only afterwards."""
    a, every = Pass(dy, q, k, v, mask, causal), Pass(dy, q, k, v, None, False)
    return a.gradients(masked_to_zero(every.ds, a.keep))


MISTAKES = (
    Mistake(ID + "gradient_dq_without_scale", "lacks the factor 1 / sqrt(d_k) in dq", GRADIENT + "queries", backward(_dq_without_scale), "gradients"),
    Mistake(ID + "gradient_dk_without_scale", "lacks the factor 1 / sqrt(d_k) in dk, which takes q before it was scaled", GRADIENT + "keys", backward(_dk_without_scale), "gradients"),
    Mistake(ID + "gradient_without_scale", "lacks the factor 1 / sqrt(d_k) in dq and in dk", GRADIENT + "queries", backward(_without_scale), "gradients"),
    Mistake(ID + "gradient_scaled_twice", "has the factor 1 / d_k in dq and in dk", GRADIENT + "queries", backward(_scaled_twice), "gradients"),
    Mistake(ID + "gradient_scale_of_values", "has the factor 1 / sqrt(d_v) in dq and in dk", GRADIENT + "queries", backward(_scaled_by_values), "gradients"),
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
    Mistake(ID + "gradient_of_unmasked", "is that of attention without the mask", "masked_attention.gradient_at_one_key", _unmasked("mask"), "gradients"),
    Mistake(ID + "gradient_of_not_causal", "is that of attention without causal", "causal_masking.causal_gradient_ignores_future", _unmasked("causal"), "gradients"),
    Mistake(ID + "gradient_masked_afterwards", "masks the gradient of a softmax over all keys, whose weights do not sum to 1 over those kept", "masked_attention.gradient_at_one_key", _masked_twice, "gradients"),
)  # fmt: skip
