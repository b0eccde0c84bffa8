"""What goes wrong in a layer of the encoder: other wirings of its parts, each with what it breaks.

A is attention, F the feed-forward layer, LN1 and LN2 the norms; x1 is what the first sublayer gives.
"""

from ..mistake import Fit, Instability, Mistake, Of, Variant
from . import _encoder_layer_wirings as w
from ._attention_formulas import root
from ._layer_faults import (
    averaged,
    exchanged,
    normalised_otherwise,
    over_axes,
    past_norm,
    relu,
    scaled,
    summed_narrowly,
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
from ._layer_wiring import EncoderLayer
from ._norm_formulas import mean, rooted
from ._tape import Node, detached

SKIP, CURVE = "residual.residual_jacobian", "residual_norm.post_norm_along_a_curve"
PRE, POST = "residual_norm.pre_norm_without_branch", "residual_norm.post_norm_without_branch"
MASK, SCORES = "masked_attention.extra_padding_changes_nothing", "attention_scores.scaled_variance_is_one"
FED, WHOLE = "feed_forward.position_wise", "encoder.encoder_layer_is_equivariant"
PARAMETERS = "multi_head_gradients.gradient_of_query_projection"

ID = "encoder_layer."
G: Of = "gradients"
MISTAKES = (
    Variant(ID + "pre_norm", "is pre-norm, x + f(LN(x)), whatever order says", PRE, w.output(w.of_order("pre")), converter='Check it with options={"order": "pre"}, if that is what is meant'),
    Variant(ID + "post_norm", "is post-norm, LN(x + f(x)), whatever order says", POST, w.output(w.of_order("post")), converter='Check it with options={"order": "post"}, if that is what is meant'),
    Variant(ID + "both_norms", "normalises before each sublayer and after each sum, LN(x + f(LN(x)))", POST, w.output(w.both_norms), converter="Only weights trained so can be used with it: leave out one of the two"),
    Variant(ID + "norm_of_sublayers", "normalises what a sublayer returns, x + LN(f(x)), as Swin Transformer V2", POST, w.output(w.norm_of_sublayers), converter="Only weights trained so can be used with it: take LN around the sum, or in front of f"),
    Variant(ID + "parallel_sublayers", "has both sublayers side by side, x + A(LN1(x)) + F(LN2(x)), as GPT-J", WHOLE, w.output(w.parallel), converter="Only weights trained so can be used with it: let the feed-forward layer read x1"),
    Variant(ID + "gelu_tanh", "has the tanh approximation of gelu", "activations.gelu_derivative", w.output(w.second(lambda l: lambda u: l.fed(u, "gelu_tanh" if l.activation == "gelu" else None))), converter='Take the gelu with erf: approximate="none" in PyTorch, approximate=False in JAX'),
    Variant(ID + "weights_transposed", "multiplies by the transposed matrices of the attention, those of shape (out, in) that PyTorch's Linear keeps", "multi_head.one_projection_then_split", w.output(w.first(lambda l: with_weights(l, lambda w: tuple(each.transposed for each in w)))), converter="Pass it w_q.T, w_k.T, w_v.T and w_o.T"),
    Mistake(ID + "order_swapped", 'takes "pre" for "post" and "post" for "pre"', PRE, w.output(w.other_order)),
    Mistake(ID + "first_norm_for_both", "takes gain1 and bias1 for the second norm too", CURVE, w.output(w.norms(1, 1))),
    Mistake(ID + "second_norm_for_both", "takes gain2 and bias2 for the first norm too", CURVE, w.output(w.norms(2, 2))),
    Mistake(ID + "norms_exchanged", "takes gain2 and bias2 for the first norm, gain1 and bias1 for the second", CURVE, w.output(w.norms(2, 1))),
    Mistake(ID + "gains_for_biases", "takes the biases of the norms for gains and the gains for biases", "layer_norm_jacobian.jacobian_with_gain", w.output(lambda l: with_norms(l, lambda gain, bias: (bias, gain)).output())),
    Mistake(ID + "gains_missing", "does not multiply by the gains of the norms", "layer_norm_jacobian.jacobian_with_gain", w.output(lambda l: with_norms(l, lambda gain, bias: (Node(0 * gain.value + 1), bias)).output())),
    Mistake(ID + "first_norm_missing", "leaves out the first norm", CURVE, w.output(lambda l: without_norms(l, (1,)).output())),
    Mistake(ID + "second_norm_missing", "leaves out the second norm", CURVE, w.output(lambda l: without_norms(l, (2,)).output())),
    Mistake(ID + "norms_missing", "leaves out both norms", CURVE, w.output(lambda l: without_norms(l, (1, 2)).output())),
    Mistake(ID + "second_skip_from_input", "adds x, the input of the layer, to the feed-forward layer, not x1", "residual.stack_unrolls", w.output(lambda l: l.around(2, l.fed, l.first(l.x), skip=l.x))),
    Mistake(ID + "second_skip_before_norm", "adds what stood before the first norm to the feed-forward layer of post-norm, not x1", CURVE, w.output(w.skip_past_norm)),
    Mistake(ID + "first_skip_missing", "leaves out the skip path around the attention", SKIP, w.output(lambda l: l.second(l.alone(1, l.attend, l.x)))),
    Mistake(ID + "second_skip_missing", "leaves out the skip path around the feed-forward layer", SKIP, w.output(lambda l: l.alone(2, l.fed, l.first(l.x)))),
    Mistake(ID + "skips_missing", "leaves out both skip paths", SKIP, w.output(lambda l: l.alone(2, l.fed, l.alone(1, l.attend, l.x)))),
    Mistake(ID + "skips_normalised", "takes LN(x) for the skip paths of pre-norm: LN(x) + f(LN(x))", PRE, w.output(w.skip_normalised)),
    Mistake(ID + "attention_missing", "leaves out the attention", WHOLE, w.output(lambda l: l.second(l.norm(1, l.x) if l.post else l.x))),
    Mistake(ID + "feed_forward_missing", "leaves out the feed-forward layer", FED, w.output(lambda l: l.norm(2, l.first(l.x)) if l.post else l.first(l.x))),
    Mistake(ID + "feed_forward_first", "has the feed-forward layer first and the attention second", WHOLE, w.output(w.fed_first)),
    Mistake(ID + "feed_forward_reads_input", "gives x, the input of the layer, to the feed-forward layer", CURVE, w.output(lambda l: (lambda x1: l.norm(2, x1 + l.fed(l.x)) if l.post else x1 + l.fed(l.norm(2, l.x)))(l.first(l.x)))),
    Mistake(ID + "feed_forward_unnormalised", "gives x1 before its norm to the feed-forward layer", CURVE, w.output(w.fed_unnormalised)),
    Mistake(ID + "attention_unnormalised", "gives x, not LN1(x), to the attention of pre-norm", PRE, w.output(w.attended_unnormalised)),
    Mistake(ID + "keys_and_values_unnormalised", "normalises the queries of pre-norm only, and takes keys and values of x", PRE, w.output(w.keys_unnormalised)),
    Mistake(ID + "values_unnormalised", "takes the values of x in pre-norm, queries and keys of LN1(x)", PRE, w.output(w.values_unnormalised)),
    Mistake(ID + "activation_missing", "has no activation in the feed-forward layer", FED, w.output(w.second(lambda l: l.linear))),
    Mistake(ID + "final_relu", "applies relu to the output", CURVE, w.output(lambda l: relu(l.output()))),
    Mistake(ID + "relu_after_feed_forward", "applies relu to what the feed-forward layer gives, too", FED, w.output(w.second(lambda l: lambda u: relu(l.fed(u))))),
    Mistake(ID + "always_relu", "has relu, whatever activation says", FED, w.output(w.second(lambda l: lambda u: l.fed(u, "relu")))),
    Mistake(ID + "gelu_for_relu", "has gelu, whatever activation says", FED, w.output(w.second(lambda l: lambda u: l.fed(u, "gelu")))),
    Mistake(ID + "first_bias_missing", "leaves out b1", FED, w.output(lambda l: with_biases(l, 1).output())),
    Mistake(ID + "second_bias_missing", "leaves out b2", FED, w.output(lambda l: with_biases(l, 3).output())),
    Mistake(ID + "output_normalised", "normalises the output once more, with gain2 and bias2", POST, w.output(lambda l: l.norm(2, l.output()))),
    Mistake(ID + "mask_ignored", "does not use the mask", MASK, w.output(w.masked_by(lambda keep, n: None))),
    Mistake(ID + "mask_inverted", "masks the tokens that are to be kept, and keeps the others", "masking.masked_equals_softmax_over_kept", w.output(w.masked_by(lambda keep, n: None if keep is None else ~keep))),
    Mistake(ID + "mask_over_queries", "masks queries where it should mask keys: it has the mask transposed", "masking.zero_weight_on_masked", w.output(w.masked_by(lambda keep, n: None if keep is None else keep.swapaxes(-1, -2)))),
    Mistake(ID + "causal", "masks later tokens too, as a layer of the decoder", WHOLE, w.output(w.masked_by(w.with_triangle))),
    Mistake(ID + "heads_ignored", "has one head, whatever heads says", SCORES, w.output(w.first(lambda l: lambda u: l.attend(u, heads=1)))),
    Mistake(ID + "scale_missing", "does not divide the scores by sqrt(d / heads)", SCORES, w.output(w.first(lambda l: scaled(l.attend, l.weights, root(l.width, l.x.value))))),
    Mistake(ID + "scale_of_model", "divides the scores by sqrt(d) instead of sqrt(d / heads)", SCORES, w.output(w.first(lambda l: scaled(l.attend, l.weights, 1 / root(l.heads, l.x.value))))),
    Mistake(ID + "w_q_and_w_k_exchanged", "takes w_k for queries and w_q for keys", PARAMETERS, w.output(w.first(lambda l: with_weights(l, exchanged(0, 1))))),
    Mistake(ID + "w_k_and_w_v_exchanged", "takes w_v for keys and w_k for values", PARAMETERS, w.output(w.first(lambda l: with_weights(l, exchanged(1, 2))))),
    Mistake(ID + "w_v_and_w_o_exchanged", "takes w_o for values and w_v for the output", PARAMETERS, w.output(w.first(lambda l: with_weights(l, exchanged(2, 3))))),
    Mistake(ID + "eps_ignored", "has eps 1e-5, whatever eps says", "layer_norm.variance", w.output(lambda l: with_eps(l, 1e-5).output())),
    Mistake(ID + "unbiased_variance", "divides the variances by d - 1", "layer_norm.variance", w.output(lambda l: normalised_otherwise(l, unbiased).output())),
    Mistake(ID + "mean_not_subtracted", "does not subtract the mean: RMS normalisation", "layer_norm.shift_invariance", w.output(lambda l: normalised_otherwise(l, lambda z, eps: z / rooted(mean(z * z), eps)).output())),
    Mistake(ID + "normalised_over_tokens", "normalises over the tokens, not over the columns", "layer_norm.acts_per_token", w.output(lambda l: normalised_otherwise(l, over_axes(-2)).output())),
    Mistake(ID + "normalised_over_all", "normalises over tokens and columns together", "layer_norm.acts_per_token", w.output(lambda l: normalised_otherwise(l, over_axes((-2, -1))).output())),
    Mistake(ID + "gradient_order_swapped", 'is that of "pre" for "post", and that of "post" for "pre"', CURVE, w.backward(w.other_order), G),
    Mistake(ID + "gradient_without_first_skip", "leaves out the way back along the skip path around the attention", SKIP, w.backward(lambda l: l.second(l.around(1, l.attend, l.x, skip=detached(l.x)))), G),
    Mistake(ID + "gradient_without_second_skip", "leaves out the way back along the skip path around the feed-forward layer", SKIP, w.backward(lambda l: (lambda x1: l.around(2, l.fed, x1, skip=detached(x1)))(l.first(l.x))), G),
    Mistake(ID + "gradient_past_attention", "leaves out the way back to x through the attention", WHOLE, w.backward(w.detached_attention("queries", "keys", "values")), G),
    Mistake(ID + "gradient_past_feed_forward", "leaves out the way back to x1 through the feed-forward layer", FED, w.backward(w.second(lambda l: lambda u: l.fed(detached(u)))), G),
    Mistake(ID + "gradient_through_queries_only", "has for x what comes through the queries only", "self_attention_gradients.encoder_input_gradient", w.backward(w.detached_attention("keys", "values")), G),
    Mistake(ID + "gradient_without_queries", "leaves out what comes to x through the queries", "self_attention_gradients.encoder_input_gradient", w.backward(w.detached_attention("queries")), G),
    Mistake(ID + "gradient_without_keys", "leaves out what comes to x through the keys", "self_attention_gradients.encoder_input_gradient", w.backward(w.detached_attention("keys")), G),
    Mistake(ID + "gradient_without_values", "leaves out what comes to x through the values", "self_attention_gradients.encoder_input_gradient", w.backward(w.detached_attention("values")), G),
    Mistake(ID + "gradient_weights_constant", "takes the weights of the attention for constants", "attention_gradients.gradient_of_scores", w.backward(w.first(w.weights_constant)), G),
    Mistake(ID + "gradient_without_mask", "goes back through attention without the mask", "masked_attention.gradient_at_one_key", w.backward(w.first(w.unmasked)), G),
    Mistake(ID + "gradient_past_first_norm", "passes the cotangent by the first norm, as it is", CURVE, w.backward(lambda l: past_norm(l, (1,)).output()), G),
    Mistake(ID + "gradient_past_second_norm", "passes the cotangent by the second norm, as it is", CURVE, w.backward(lambda l: past_norm(l, (2,)).output()), G),
    Mistake(ID + "gradient_past_norms", "passes the cotangent by both norms, as it is", CURVE, w.backward(lambda l: past_norm(l, (1, 2)).output()), G),
    Mistake(ID + "gradient_norm_without_mean", "leaves out the mean of g in the norms", "layer_norm_gradients.gradient_sums_to_zero", w.backward(lambda l: through_norm(l, lambda p: p.after(p.x_hat * p.overlap)).output()), G),
    Mistake(ID + "gradient_norm_without_x_hat", "leaves out the share along x^ in the norms", "layer_norm_gradients.euler_identity", w.backward(lambda l: through_norm(l, lambda p: p.after(mean(p.g))).output()), G),
    Mistake(ID + "gradient_without_slope", "leaves out the derivative of the activation", "feed_forward_gradients.gradient_of_input", w.backward(w.second(without_slope)), G),
    Mistake(ID + "gradient_averaged_over_batch", "averages the gradients of the parameters over the batch instead of adding them up", PARAMETERS, w.backward(EncoderLayer.output, averaged(1)), G),
    Mistake(ID + "gradient_of_last_of_batch", "has for the parameters what comes from the last of the batch only", PARAMETERS, w.of_last, G),
    Mistake(ID + "gradient_norms_exchanged", "returns the gradients of one norm's parameters for those of the other", "layer_norm_gradients.gain_gradient", w.backward(EncoderLayer.output, swapped((5, 11), (6, 12))), G),
    Mistake(ID + "gradient_gains_for_biases", "returns the gradients of the biases for the gains, and the other way round", "layer_norm_gradients.gain_gradient", w.backward(EncoderLayer.output, swapped((5, 6), (11, 12))), G),
    Mistake(ID + "gradient_w_q_and_w_k_exchanged", "returns dw_k for w_q and dw_q for w_k", PARAMETERS, w.backward(EncoderLayer.output, swapped((1, 2))), G),
    Mistake(ID + "gradient_w_k_and_w_v_exchanged", "returns dw_v for w_k and dw_k for w_v", PARAMETERS, w.backward(EncoderLayer.output, swapped((2, 3))), G),
    Instability(ID + "gradient_narrow_sums", "adds up the gradients of gains and biases in 16 bits", "layer_norm_gradients.gain_gradient", w.backward(lambda l: summed_narrowly(l).output()), G, ("float16",), narrow_sums=True),
)  # fmt: skip

FITS = (
    Fit("eps", "the option's value", "layer_norm.variance", w.fitted(lambda l, theta: with_eps(l, theta).output()), (1e-14, 1.0)),
    Fit("factor of the scores", "1 / sqrt(d / heads)", SCORES, w.fitted(lambda l, theta: l.second(l.around(1, scaled(l.attend, l.weights, theta * root(l.width, l.x.value)), l.x))), (1e-3, 1e3)),
    Fit("factor of x in the sums", "1", SKIP, w.fitted(lambda l, theta: (lambda x1: l.around(2, l.fed, x1, skip=x1.times(theta)))(l.around(1, l.attend, l.x, skip=l.x.times(theta)))), (1e-3, 1e3)),
)  # fmt: skip
