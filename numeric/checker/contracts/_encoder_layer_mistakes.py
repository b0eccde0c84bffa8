"""What goes wrong in a layer of the encoder: other wirings of its parts, each with what it breaks.

A is attention, F the feed-forward layer, LN1 and LN2 the norms; x1 is what the first sublayer gives.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..mistake import Fit, Mistake, Variant
from ._attention_formulas import root
from ._layer_faults import (
    averaged,
    back_as,
    exchanged,
    normalised_otherwise,
    over_axes,
    past_norm,
    relu,
    scaled,
    swapped,
    through_norm,
    unbiased,
    with_biases,
    with_eps,
    with_norms,
    with_weights,
    without_norms,
    without_slope,
)
from ._layer_wiring import EncoderLayer, gradients_of, output_of
from ._norm_formulas import mean, rooted
from ._tape import Node, detached

Wire = Callable[[EncoderLayer], Node]

SKIP, CURVE = "residual.residual_jacobian", "residual_norm.post_norm_along_a_curve"
PRE, POST = "residual_norm.pre_norm_without_branch", "residual_norm.post_norm_without_branch"
MASK, SCORES = "masked_attention.extra_padding_changes_nothing", "attention_scores.scaled_variance_is_one"
FED, WHOLE = "feed_forward.position_wise", "encoder.encoder_layer_is_equivariant"
PARAMETERS = "multi_head_gradients.gradient_of_query_projection"


def _first(attend: Callable[[EncoderLayer], Any]) -> Wire:
    """With another attention."""
    return lambda l: l.second(l.around(1, attend(l), l.x))


def _second(feed: Callable[[EncoderLayer], Any]) -> Wire:
    """With another feed-forward layer."""
    return lambda l: l.around(2, feed(l), l.first(l.x))


def _of_order(order: str) -> Wire:
    return lambda l: l.around(2, l.fed, l.around(1, l.attend, l.x, order=order), order=order)


def _other_order(l: EncoderLayer) -> Node:
    return _of_order("pre" if l.post else "post")(l)


def _both_norms(l: EncoderLayer) -> Node:
    x1 = l.norm(1, l.x + l.attend(l.norm(1, l.x)))
    return l.norm(2, x1 + l.fed(l.norm(2, x1)))


def _norm_of_sublayers(l: EncoderLayer) -> Node:
    x1 = l.x + l.norm(1, l.attend(l.x))
    return x1 + l.norm(2, l.fed(x1))


def _norms(first: int, second: int) -> Wire:
    return lambda l: l.around(second, l.fed, l.around(first, l.attend, l.x))


def _fed_unnormalised(l: EncoderLayer) -> Node:
    if not l.post:
        x1 = l.first(l.x)
        return x1 + l.fed(x1)
    total = l.x + l.attend(l.x)
    return l.norm(2, l.norm(1, total) + l.fed(total))


def _attended_unnormalised(l: EncoderLayer) -> Node:
    return l.second(l.first(l.x) if l.post else l.x + l.attend(l.x))


def _keys_unnormalised(l: EncoderLayer) -> Node:
    return l.second(l.first(l.x) if l.post else l.x + l.attend(l.norm(1, l.x), l.x, l.x))


def _values_unnormalised(l: EncoderLayer) -> Node:
    if l.post:
        return l.output()
    u = l.norm(1, l.x)
    return l.second(l.x + l.attend(u, u, l.x))


def _skip_normalised(l: EncoderLayer) -> Node:
    if l.post:
        return l.output()
    u = l.norm(1, l.x)
    x1 = u + l.attend(u)
    v = l.norm(2, x1)
    return v + l.fed(v)


def _skip_past_norm(l: EncoderLayer) -> Node:
    """Post-norm whose second sum takes x1 before its norm."""
    if not l.post:
        return l.output()
    total = l.x + l.attend(l.x)
    return l.norm(2, total + l.fed(l.norm(1, total)))


def _parallel(l: EncoderLayer) -> Node:
    if l.post:
        return l.norm(2, l.x + l.attend(l.x) + l.fed(l.x))
    return l.x + l.attend(l.norm(1, l.x)) + l.fed(l.norm(2, l.x))


def _fed_first(l: EncoderLayer) -> Node:
    return l.around(1, l.attend, l.around(2, l.fed, l.x))


def _masked_by(keep: Callable[[Any, int], Any]) -> Wire:
    def attend(l: EncoderLayer) -> Any:
        return lambda u: l.attend(u, keep=keep(l.keep, u.value.shape[-2]))

    return _first(attend)


def _with_triangle(keep: Any, n: int) -> Any:
    triangle = np.tri(n, dtype=np.bool_)
    return triangle if keep is None else triangle & keep


# Gradients


def _detached_attention(*which: str) -> Wire:
    """Without the ways back to x through queries, keys or values."""

    def attend(l: EncoderLayer) -> Any:
        def part(u: Node) -> Node:
            return l.attend(*(detached(u) if each in which else u for each in ("queries", "keys", "values")))

        return part

    return _first(attend)


def _weights_constant(l: EncoderLayer) -> Any:
    w_q, w_k, w_v, w_o = l.weights
    held = (detached(w_q), detached(w_k), w_v, w_o)
    return lambda u: l.attend(detached(u), detached(u), u, weights=held)


def _unmasked(l: EncoderLayer) -> Any:
    return lambda u: back_as(l.attend(u), l.attend(u, keep=None))


def _of_last(dy: Any, *inputs: Any, **options: Any) -> Any:
    """The parameters' gradients come from the last of the batch only."""
    right = gradients_of(EncoderLayer, EncoderLayer.output)
    mask = options["mask"]
    last = {**options, "mask": mask[-1:] if mask is not None and mask.ndim == 3 else mask}
    return (right(dy, *inputs, **options)[0], *right(dy[-1:], inputs[0][-1:], *inputs[1:], **last)[1:])


def _o(wire: Wire) -> Any:
    return output_of(EncoderLayer, wire)


def _g(wire: Wire, change: Any = None) -> Any:
    return gradients_of(EncoderLayer, wire, change)


ID, G = "encoder_layer.", "gradients"
MISTAKES = (
    Variant(ID + "pre_norm", "is pre-norm, x + f(LN(x)), whatever order says", PRE, _o(_of_order("pre")), converter='Check it with options={"order": "pre"}, if that is what is meant'),
    Variant(ID + "post_norm", "is post-norm, LN(x + f(x)), whatever order says", POST, _o(_of_order("post")), converter='Check it with options={"order": "post"}, if that is what is meant'),
    Variant(ID + "both_norms", "normalises before each sublayer and after each sum, LN(x + f(LN(x)))", POST, _o(_both_norms), converter="Only weights trained so can be used with it: leave out one of the two"),
    Variant(ID + "norm_of_sublayers", "normalises what a sublayer returns, x + LN(f(x)), as Swin Transformer V2", POST, _o(_norm_of_sublayers), converter="Only weights trained so can be used with it: take LN around the sum, or in front of f"),
    Variant(ID + "parallel_sublayers", "has both sublayers side by side, x + A(LN1(x)) + F(LN2(x)), as GPT-J", WHOLE, _o(_parallel), converter="Only weights trained so can be used with it: let the feed-forward layer read x1"),
    Variant(ID + "gelu_tanh", "has the tanh approximation of gelu", "activations.gelu_derivative", _o(_second(lambda l: lambda u: l.fed(u, "gelu_tanh" if l.activation == "gelu" else None))), converter='Take the gelu with erf: approximate="none" in PyTorch, approximate=False in JAX'),
    Variant(ID + "weights_transposed", "multiplies by the transposed matrices of the attention, those of shape (out, in) that PyTorch's Linear keeps", "multi_head.one_projection_then_split", _o(_first(lambda l: with_weights(l, lambda w: tuple(each.transposed for each in w)))), converter="Pass it w_q.T, w_k.T, w_v.T and w_o.T"),
    Mistake(ID + "order_swapped", 'takes "pre" for "post" and "post" for "pre"', PRE, _o(_other_order)),
    Mistake(ID + "first_norm_for_both", "takes gain1 and bias1 for the second norm too", CURVE, _o(_norms(1, 1))),
    Mistake(ID + "second_norm_for_both", "takes gain2 and bias2 for the first norm too", CURVE, _o(_norms(2, 2))),
    Mistake(ID + "norms_exchanged", "takes gain2 and bias2 for the first norm, gain1 and bias1 for the second", CURVE, _o(_norms(2, 1))),
    Mistake(ID + "gains_for_biases", "takes the biases of the norms for gains and the gains for biases", "layer_norm_jacobian.jacobian_with_gain", _o(lambda l: with_norms(l, lambda gain, bias: (bias, gain)).output())),
    Mistake(ID + "gains_missing", "does not multiply by the gains of the norms", "layer_norm_jacobian.jacobian_with_gain", _o(lambda l: with_norms(l, lambda gain, bias: (Node(0 * gain.value + 1), bias)).output())),
    Mistake(ID + "first_norm_missing", "leaves out the first norm", CURVE, _o(lambda l: without_norms(l, (1,)).output())),
    Mistake(ID + "second_norm_missing", "leaves out the second norm", CURVE, _o(lambda l: without_norms(l, (2,)).output())),
    Mistake(ID + "norms_missing", "leaves out both norms", CURVE, _o(lambda l: without_norms(l, (1, 2)).output())),
    Mistake(ID + "second_skip_from_input", "adds x, the input of the layer, to the feed-forward layer, not x1", "residual.stack_unrolls", _o(lambda l: l.around(2, l.fed, l.first(l.x), skip=l.x))),
    Mistake(ID + "second_skip_before_norm", "adds what stood before the first norm to the feed-forward layer of post-norm, not x1", CURVE, _o(_skip_past_norm)),
    Mistake(ID + "first_skip_missing", "leaves out the skip path around the attention", SKIP, _o(lambda l: l.second(l.alone(1, l.attend, l.x)))),
    Mistake(ID + "second_skip_missing", "leaves out the skip path around the feed-forward layer", SKIP, _o(lambda l: l.alone(2, l.fed, l.first(l.x)))),
    Mistake(ID + "skips_missing", "leaves out both skip paths", SKIP, _o(lambda l: l.alone(2, l.fed, l.alone(1, l.attend, l.x)))),
    Mistake(ID + "skips_normalised", "takes LN(x) for the skip paths of pre-norm: LN(x) + f(LN(x))", PRE, _o(_skip_normalised)),
    Mistake(ID + "attention_missing", "leaves out the attention", WHOLE, _o(lambda l: l.second(l.norm(1, l.x) if l.post else l.x))),
    Mistake(ID + "feed_forward_missing", "leaves out the feed-forward layer", FED, _o(lambda l: l.norm(2, l.first(l.x)) if l.post else l.first(l.x))),
    Mistake(ID + "feed_forward_first", "has the feed-forward layer first and the attention second", WHOLE, _o(_fed_first)),
    Mistake(ID + "feed_forward_reads_input", "gives x, the input of the layer, to the feed-forward layer", CURVE, _o(lambda l: (lambda x1: l.norm(2, x1 + l.fed(l.x)) if l.post else x1 + l.fed(l.norm(2, l.x)))(l.first(l.x)))),
    Mistake(ID + "feed_forward_unnormalised", "gives x1 before its norm to the feed-forward layer", CURVE, _o(_fed_unnormalised)),
    Mistake(ID + "attention_unnormalised", "gives x, not LN1(x), to the attention of pre-norm", PRE, _o(_attended_unnormalised)),
    Mistake(ID + "keys_and_values_unnormalised", "normalises the queries of pre-norm only, and takes keys and values of x", PRE, _o(_keys_unnormalised)),
    Mistake(ID + "values_unnormalised", "takes the values of x in pre-norm, queries and keys of LN1(x)", PRE, _o(_values_unnormalised)),
    Mistake(ID + "activation_missing", "has no activation in the feed-forward layer", FED, _o(_second(lambda l: l.linear))),
    Mistake(ID + "final_relu", "applies relu to the output", CURVE, _o(lambda l: relu(l.output()))),
    Mistake(ID + "relu_after_feed_forward", "applies relu to what the feed-forward layer gives, too", FED, _o(_second(lambda l: lambda u: relu(l.fed(u))))),
    Mistake(ID + "always_relu", "has relu, whatever activation says", FED, _o(_second(lambda l: lambda u: l.fed(u, "relu")))),
    Mistake(ID + "gelu_for_relu", "has gelu, whatever activation says", FED, _o(_second(lambda l: lambda u: l.fed(u, "gelu")))),
    Mistake(ID + "first_bias_missing", "leaves out b1", FED, _o(lambda l: with_biases(l, 1).output())),
    Mistake(ID + "second_bias_missing", "leaves out b2", FED, _o(lambda l: with_biases(l, 3).output())),
    Mistake(ID + "output_normalised", "normalises the output once more, with gain2 and bias2", POST, _o(lambda l: l.norm(2, l.output()))),
    Mistake(ID + "mask_ignored", "does not use the mask", MASK, _o(_masked_by(lambda keep, n: None))),
    Mistake(ID + "mask_inverted", "masks the tokens that are to be kept, and keeps the others", "masking.masked_equals_softmax_over_kept", _o(_masked_by(lambda keep, n: None if keep is None else ~keep))),
    Mistake(ID + "mask_over_queries", "masks queries where it should mask keys: it has the mask transposed", "masking.zero_weight_on_masked", _o(_masked_by(lambda keep, n: None if keep is None else keep.swapaxes(-1, -2)))),
    Mistake(ID + "causal", "masks later tokens too, as a layer of the decoder", WHOLE, _o(_masked_by(_with_triangle))),
    Mistake(ID + "heads_ignored", "has one head, whatever heads says", SCORES, _o(_first(lambda l: lambda u: l.attend(u, heads=1)))),
    Mistake(ID + "scale_missing", "does not divide the scores by sqrt(d / heads)", SCORES, _o(_first(lambda l: scaled(l.attend, l.weights, root(l.width, l.x.value))))),
    Mistake(ID + "scale_of_model", "divides the scores by sqrt(d) instead of sqrt(d / heads)", SCORES, _o(_first(lambda l: scaled(l.attend, l.weights, 1 / root(l.heads, l.x.value))))),
    Mistake(ID + "w_q_and_w_k_exchanged", "takes w_k for queries and w_q for keys", PARAMETERS, _o(_first(lambda l: with_weights(l, exchanged(0, 1))))),
    Mistake(ID + "w_k_and_w_v_exchanged", "takes w_v for keys and w_k for values", PARAMETERS, _o(_first(lambda l: with_weights(l, exchanged(1, 2))))),
    Mistake(ID + "w_v_and_w_o_exchanged", "takes w_o for values and w_v for the output", PARAMETERS, _o(_first(lambda l: with_weights(l, exchanged(2, 3))))),
    Mistake(ID + "eps_ignored", "has eps 1e-5, whatever eps says", "layer_norm.variance", _o(lambda l: with_eps(l, 1e-5).output())),
    Mistake(ID + "unbiased_variance", "divides the variances by d - 1", "layer_norm.variance", _o(lambda l: normalised_otherwise(l, unbiased).output())),
    Mistake(ID + "mean_not_subtracted", "does not subtract the mean: RMS normalisation", "layer_norm.shift_invariance", _o(lambda l: normalised_otherwise(l, lambda z, eps: z / rooted(mean(z * z), eps)).output())),
    Mistake(ID + "normalised_over_tokens", "normalises over the tokens, not over the columns", "layer_norm.acts_per_token", _o(lambda l: normalised_otherwise(l, over_axes(-2)).output())),
    Mistake(ID + "normalised_over_all", "normalises over tokens and columns together", "layer_norm.acts_per_token", _o(lambda l: normalised_otherwise(l, over_axes((-2, -1))).output())),
    Mistake(ID + "gradient_order_swapped", 'is that of "pre" for "post", and that of "post" for "pre"', CURVE, _g(_other_order), G),
    Mistake(ID + "gradient_without_first_skip", "leaves out the way back along the skip path around the attention", SKIP, _g(lambda l: l.second(l.around(1, l.attend, l.x, skip=detached(l.x)))), G),
    Mistake(ID + "gradient_without_second_skip", "leaves out the way back along the skip path around the feed-forward layer", SKIP, _g(lambda l: (lambda x1: l.around(2, l.fed, x1, skip=detached(x1)))(l.first(l.x))), G),
    Mistake(ID + "gradient_past_attention", "leaves out the way back to x through the attention", WHOLE, _g(_detached_attention("queries", "keys", "values")), G),
    Mistake(ID + "gradient_past_feed_forward", "leaves out the way back to x1 through the feed-forward layer", FED, _g(_second(lambda l: lambda u: l.fed(detached(u)))), G),
    Mistake(ID + "gradient_through_queries_only", "has for x what comes through the queries only", "self_attention_gradients.encoder_input_gradient", _g(_detached_attention("keys", "values")), G),
    Mistake(ID + "gradient_without_queries", "leaves out what comes to x through the queries", "self_attention_gradients.encoder_input_gradient", _g(_detached_attention("queries")), G),
    Mistake(ID + "gradient_without_keys", "leaves out what comes to x through the keys", "self_attention_gradients.encoder_input_gradient", _g(_detached_attention("keys")), G),
    Mistake(ID + "gradient_without_values", "leaves out what comes to x through the values", "self_attention_gradients.encoder_input_gradient", _g(_detached_attention("values")), G),
    Mistake(ID + "gradient_weights_constant", "takes the weights of the attention for constants", "attention_gradients.gradient_of_scores", _g(_first(_weights_constant)), G),
    Mistake(ID + "gradient_without_mask", "goes back through attention without the mask", "masked_attention.gradient_at_one_key", _g(_first(_unmasked)), G),
    Mistake(ID + "gradient_past_first_norm", "passes the cotangent by the first norm, as it is", CURVE, _g(lambda l: past_norm(l, (1,)).output()), G),
    Mistake(ID + "gradient_past_second_norm", "passes the cotangent by the second norm, as it is", CURVE, _g(lambda l: past_norm(l, (2,)).output()), G),
    Mistake(ID + "gradient_past_norms", "passes the cotangent by both norms, as it is", CURVE, _g(lambda l: past_norm(l, (1, 2)).output()), G),
    Mistake(ID + "gradient_norm_without_mean", "leaves out the mean of g in the norms", "layer_norm_gradients.gradient_sums_to_zero", _g(lambda l: through_norm(l, lambda p: p.after(p.x_hat * p.overlap)).output()), G),
    Mistake(ID + "gradient_norm_without_x_hat", "leaves out the share along x^ in the norms", "layer_norm_gradients.euler_identity", _g(lambda l: through_norm(l, lambda p: p.after(mean(p.g))).output()), G),
    Mistake(ID + "gradient_without_slope", "leaves out the derivative of the activation", "feed_forward_gradients.gradient_of_input", _g(_second(without_slope)), G),
    Mistake(ID + "gradient_averaged_over_batch", "averages the gradients of the parameters over the batch instead of adding them up", PARAMETERS, _g(EncoderLayer.output, averaged(1)), G),
    Mistake(ID + "gradient_of_last_of_batch", "has for the parameters what comes from the last of the batch only", PARAMETERS, _of_last, G),
    Mistake(ID + "gradient_norms_exchanged", "returns the gradients of one norm's parameters for those of the other", "layer_norm_gradients.gain_gradient", _g(EncoderLayer.output, swapped((5, 11), (6, 12))), G),
    Mistake(ID + "gradient_gains_for_biases", "returns the gradients of the biases for the gains, and the other way round", "layer_norm_gradients.gain_gradient", _g(EncoderLayer.output, swapped((5, 6), (11, 12))), G),
    Mistake(ID + "gradient_w_q_and_w_k_exchanged", "returns dw_k for w_q and dw_q for w_k", PARAMETERS, _g(EncoderLayer.output, swapped((1, 2))), G),
    Mistake(ID + "gradient_w_k_and_w_v_exchanged", "returns dw_v for w_k and dw_k for w_v", PARAMETERS, _g(EncoderLayer.output, swapped((2, 3))), G),
)  # fmt: skip


def _with(change: Callable[[EncoderLayer, Any], Node]) -> Any:
    def formula(theta: Any, *inputs: Any, **options: Any) -> Any:
        return change(EncoderLayer(list(map(Node, inputs)), **options), theta).value

    return formula


FITS = (
    Fit("eps", "the option's value", "layer_norm.variance", _with(lambda l, theta: with_eps(l, theta).output()), (1e-14, 1.0)),
    Fit("factor of the scores", "1 / sqrt(d / heads)", SCORES, _with(lambda l, theta: l.second(l.around(1, scaled(l.attend, l.weights, theta * root(l.width, l.x.value)), l.x))), (1e-3, 1e3)),
    Fit("factor of x in the sums", "1", SKIP, _with(lambda l, theta: (lambda x1: l.around(2, l.fed, x1, skip=x1.times(theta)))(l.around(1, l.attend, l.x, skip=l.x.times(theta)))), (1e-3, 1e3)),
)  # fmt: skip
