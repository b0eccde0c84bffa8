"""What goes wrong in a layer of the decoder: other wirings of its parts, each with what it breaks.

A is self-attention, C attention to the memory, F the feed-forward layer, LN1, LN2 and LN3 their norms; x1 and x2 are what
the first two sublayers give.
"""

import numpy as np

from ..mistake import Fit, Instability, Mistake, Of, Variant
from . import _decoder_layer_wirings as w
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
from ._layer_wiring import DecoderLayer
from ._norm_formulas import mean, rooted

SKIP, CURVE = "residual.residual_jacobian", "residual_norm.post_norm_along_a_curve"
PRE, POST = "residual_norm.pre_norm_without_branch", "residual_norm.post_norm_without_branch"
MASK, SCORES = "masked_attention.extra_padding_changes_nothing", "attention_scores.scaled_variance_is_one"
FED, WHOLE = "feed_forward.position_wise", "decoder.decoder_layer_is_causal"
CROSS, MEMORY = "decoder_sublayers.cross_sublayer_acts_per_token", "self_attention.memory_permutation_invariance"
PARAMETERS, INPUT = (
    "multi_head_gradients.gradient_of_query_projection",
    "self_attention_gradients.decoder_input_gradient",
)
KEYS, VALUES = "multi_head_gradients.gradient_of_key_projection", "multi_head_gradients.gradient_of_value_projection"

ID, RIGHT = "decoder_layer.", DecoderLayer.output
G: Of = "gradients"
MISTAKES = (
    Variant(ID + "pre_norm", "is pre-norm, x + f(LN(x)), whatever order says", PRE, w.output(w.of_order("pre")), converter='Check it with options={"order": "pre"}, if that is what is meant'),
    Variant(ID + "post_norm", "is post-norm, LN(x + f(x)), whatever order says", POST, w.output(w.of_order("post")), converter='Check it with options={"order": "post"}, if that is what is meant'),
    Variant(ID + "not_causal", "attends to later tokens, unless the mask leaves them out, as PyTorch's layer", WHOLE, w.output(w.masked_by(lambda l, n: l.mask)), converter="Give it the triangle with the mask: np.tri(n, dtype=bool), or mask & np.tri(n, dtype=bool)"),
    Variant(ID + "both_norms", "normalises before each sublayer and after each sum, LN(x + f(LN(x)))", POST, w.output(w.both_norms), converter="Only weights trained so can be used with it: leave out one of the two"),
    Variant(ID + "norm_of_sublayers", "normalises what a sublayer returns, x + LN(f(x)), as Swin Transformer V2", POST, w.output(w.norm_of_sublayers), converter="Only weights trained so can be used with it: take LN around the sum, or in front of f"),
    Variant(ID + "gelu_tanh", "has the tanh approximation of gelu", "activations.gelu_derivative", w.output(w.third(lambda l: lambda u: l.fed(u, "gelu_tanh" if l.activation == "gelu" else None))), converter='Take the gelu with erf: approximate="none" in PyTorch, approximate=False in JAX'),
    Variant(ID + "weights_transposed", "multiplies by the transposed matrices of both attentions, those of shape (out, in) that PyTorch's Linear keeps", "multi_head.one_projection_then_split", w.output(lambda l: l.third(l.around(2, lambda u: l.cross(u, weights=w.transposed(l.across)), l.around(1, lambda u: l.attend(u, weights=w.transposed(l.weights)), l.x)))), converter="Pass it the transposes of all eight matrices"),
    Mistake(ID + "order_swapped", 'takes "pre" for "post" and "post" for "pre"', PRE, w.output(w.other_order)),
    Mistake(ID + "one_norm_for_all", "takes gain1 and bias1 for all norms", CURVE, w.output(w.arranged((1, 2, 3), (1, 1, 1)))),
    Mistake(ID + "first_norm_for_memory", "takes gain1 and bias1 for the norm of the attention to the memory too", CURVE, w.output(w.arranged((1, 2, 3), (1, 1, 3)))),
    Mistake(ID + "second_norm_for_last", "takes gain2 and bias2 for the last norm too", CURVE, w.output(w.arranged((1, 2, 3), (1, 2, 2)))),
    Mistake(ID + "last_norms_exchanged", "takes gain3 and bias3 for the second norm, gain2 and bias2 for the last", CURVE, w.output(w.arranged((1, 2, 3), (1, 3, 2)))),
    Mistake(ID + "first_norms_exchanged", "takes gain2 and bias2 for the first norm, gain1 and bias1 for the second", CURVE, w.output(w.arranged((1, 2, 3), (2, 1, 3)))),
    Mistake(ID + "gains_for_biases", "takes the biases of the norms for gains and the gains for biases", "layer_norm_jacobian.jacobian_with_gain", w.output(lambda l: with_norms(l, lambda gain, bias: (bias, gain)).output())),
    Mistake(ID + "first_norm_missing", "leaves out the norm of the self-attention", CURVE, w.output(lambda l: without_norms(l, (1,)).output())),
    Mistake(ID + "second_norm_missing", "leaves out the norm of the attention to the memory", CURVE, w.output(lambda l: without_norms(l, (2,)).output())),
    Mistake(ID + "third_norm_missing", "leaves out the norm of the feed-forward layer", CURVE, w.output(lambda l: without_norms(l, (3,)).output())),
    Mistake(ID + "norms_missing", "leaves out all norms", CURVE, w.output(lambda l: without_norms(l, (1, 2, 3)).output())),
    Mistake(ID + "second_skip_from_input", "adds x, the input of the layer, to the attention to the memory, not x1", "residual.stack_unrolls", w.output(w.second_skip_from_input)),
    Mistake(ID + "third_skip_from_first", "adds x1 to the feed-forward layer, not x2", "residual.stack_unrolls", w.output(w.third_skip_from_first)),
    Mistake(ID + "third_skip_from_input", "adds x, the input of the layer, to the feed-forward layer, not x2", "residual.stack_unrolls", w.output(w.third_skip_from_input)),
    Mistake(ID + "first_skip_missing", "leaves out the skip path around the self-attention", SKIP, w.output(w.arranged((1, 2, 3), without_skip=(1,)))),
    Mistake(ID + "second_skip_missing", "leaves out the skip path around the attention to the memory", SKIP, w.output(w.arranged((1, 2, 3), without_skip=(2,)))),
    Mistake(ID + "third_skip_missing", "leaves out the skip path around the feed-forward layer", SKIP, w.output(w.arranged((1, 2, 3), without_skip=(3,)))),
    Mistake(ID + "skips_missing", "leaves out all skip paths", SKIP, w.output(w.arranged((1, 2, 3), without_skip=(1, 2, 3)))),
    Mistake(ID + "skips_normalised", "takes LN(x) for the skip paths of pre-norm: LN(x) + f(LN(x))", PRE, w.output(w.skip_normalised)),
    Mistake(ID + "self_attention_missing", "leaves out the self-attention, with its norm", WHOLE, w.output(w.arranged((2, 3)))),
    Mistake(ID + "memory_not_read", "leaves out the attention to the memory, with its norm", CROSS, w.output(w.arranged((1, 3)))),
    Mistake(ID + "feed_forward_missing", "leaves out the feed-forward layer, with its norm", FED, w.output(w.arranged((1, 2)))),
    Mistake(ID + "memory_first", "attends to the memory before it attends to the tokens", CROSS, w.output(w.arranged((2, 1, 3)))),
    Mistake(ID + "feed_forward_before_memory", "has the feed-forward layer before the attention to the memory", CROSS, w.output(w.arranged((1, 3, 2)))),
    Mistake(ID + "attentions_side_by_side", "lets both attentions read x and adds up what they give", CROSS, w.output(w.attentions_side_by_side)),
    Mistake(ID + "queries_of_input", "takes the queries to the memory of x, the input of the layer, not of x1", CROSS, w.output(w.queries_of_input)),
    Mistake(ID + "feed_forward_unnormalised", "gives x2 before its norm to the feed-forward layer", CURVE, w.output(w.fed_unnormalised)),
    Mistake(ID + "queries_unnormalised", "takes the queries to the memory of x1, not of LN2(x1), in pre-norm", PRE, w.output(w.queries_unnormalised)),
    Mistake(ID + "keys_and_values_unnormalised", "normalises the queries of the self-attention of pre-norm only", PRE, w.output(w.keys_and_values_unnormalised)),
    Mistake(ID + "memory_normalised", "normalises the memory once more, with gain2 and bias2", CROSS, w.output(w.second(w.memory_normalised))),
    Mistake(ID + "self_for_memory", "attends to the tokens once more, and not to the memory", MEMORY, w.output(w.second(w.self_for_cross))),
    Mistake(ID + "values_of_tokens", "takes the values of the tokens, where there are as many as in the memory, and only the keys of it", MEMORY, w.output(w.second(w.values_of_itself))),
    Mistake(ID + "self_weights_for_memory", "takes the matrices of the self-attention for the memory too", CROSS, w.output(w.second(lambda l: lambda u: l.cross(u, weights=l.weights)))),
    Mistake(ID + "memory_weights_for_self", "takes the matrices of the attention to the memory for the self-attention too", CROSS, w.output(w.first(lambda l: lambda u: l.attend(u, weights=l.across)))),
    Mistake(ID + "attention_weights_exchanged", "takes the matrices of either attention for the other", CROSS, w.output(lambda l: l.third(l.around(2, lambda u: l.cross(u, weights=l.weights), l.around(1, lambda u: l.attend(u, weights=l.across), l.x))))),
    Mistake(ID + "w_q_and_w_k_exchanged", "takes w_k for queries and w_q for keys in the self-attention", PARAMETERS, w.output(w.first(lambda l: with_weights(l, exchanged(0, 1))))),
    Mistake(ID + "memory_w_q_and_w_k_exchanged", "takes w_k for queries and w_q for keys in the attention to the memory", PARAMETERS, w.output(w.second(lambda l: lambda u: l.cross(u, weights=exchanged(0, 1)(l.across))))),
    Mistake(ID + "memory_w_k_and_w_v_exchanged", "takes w_v for keys and w_k for values in the attention to the memory", PARAMETERS, w.output(w.second(lambda l: lambda u: l.cross(u, weights=exchanged(1, 2)(l.across))))),
    Mistake(ID + "activation_missing", "has no activation in the feed-forward layer", FED, w.output(w.third(lambda l: l.linear))),
    Mistake(ID + "final_relu", "applies relu to the output", CURVE, w.output(lambda l: relu(l.output()))),
    Mistake(ID + "always_relu", "has relu, whatever activation says", FED, w.output(w.third(lambda l: lambda u: l.fed(u, "relu")))),
    Mistake(ID + "gelu_for_relu", "has gelu, whatever activation says", FED, w.output(w.third(lambda l: lambda u: l.fed(u, "gelu")))),
    Mistake(ID + "first_bias_missing", "leaves out b1", FED, w.output(lambda l: with_biases(l, 1).output())),
    Mistake(ID + "second_bias_missing", "leaves out b2", FED, w.output(lambda l: with_biases(l, 3).output())),
    Mistake(ID + "output_normalised", "normalises the output once more, with gain3 and bias3", POST, w.output(lambda l: l.norm(3, l.output()))),
    Mistake(ID + "mask_ignored", "does not use the mask, only the triangle", MASK, w.output(w.masked_by(lambda l, n: np.tri(n, dtype=np.bool_)))),
    Mistake(ID + "masks_ignored", "uses neither the mask nor the triangle", WHOLE, w.output(w.masked_by(lambda l, n: None))),
    Mistake(ID + "mask_or_triangle", "lets a token attend where the mask or the triangle allows it, not both", WHOLE, w.output(w.masked_by(w.either))),
    Mistake(ID + "causal_upside_down", "attends to the tokens j >= i", WHOLE, w.output(w.masked_by(lambda l, n: w.both(l.mask, np.tri(n, dtype=np.bool_).T)))),
    Mistake(ID + "causal_one_too_far", "attends to the tokens j <= i + 1", WHOLE, w.output(w.masked_by(lambda l, n: w.both(l.mask, np.tri(n, n, 1, dtype=np.bool_))))),
    Mistake(ID + "memory_mask_ignored", "does not use memory_mask", MASK, w.output(w.memory_masked_by(lambda l, n, m: None))),
    Mistake(ID + "memory_mask_inverted", "masks the tokens of the memory that are to be kept, and keeps the others", "masking.masked_equals_softmax_over_kept", w.output(w.memory_masked_by(lambda l, n, m: None if l.memory_keep is None else ~l.memory_keep))),
    Mistake(ID + "memory_causal", "attends to the tokens j <= i of the memory only", CROSS, w.output(w.memory_masked_by(lambda l, n, m: w.both(l.memory_keep, np.tri(n, m, dtype=np.bool_))))),
    Mistake(ID + "heads_ignored", "has one head, whatever heads says", SCORES, w.output(lambda l: l.third(l.around(2, lambda u: l.cross(u, heads=1), l.around(1, lambda u: l.attend(u, heads=1), l.x))))),
    Mistake(ID + "scale_missing", "does not divide the scores of the self-attention by sqrt(d / heads)", SCORES, w.output(w.first(lambda l: scaled(l.attend, l.weights, root(l.width, l.x.value))))),
    Mistake(ID + "memory_scale_missing", "does not divide the scores of the attention to the memory by sqrt(d / heads)", SCORES, w.output(w.second(lambda l: scaled(l.cross, l.across, root(l.width, l.x.value))))),
    Mistake(ID + "eps_ignored", "has eps 1e-5, whatever eps says", "layer_norm.variance", w.output(lambda l: with_eps(l, 1e-5).output())),
    Mistake(ID + "unbiased_variance", "divides the variances by d - 1", "layer_norm.variance", w.output(lambda l: normalised_otherwise(l, unbiased).output())),
    Mistake(ID + "mean_not_subtracted", "does not subtract the mean: RMS normalisation", "layer_norm.shift_invariance", w.output(lambda l: normalised_otherwise(l, lambda z, eps: z / rooted(mean(z * z), eps)).output())),
    Mistake(ID + "normalised_over_tokens", "normalises over the tokens, not over the columns", "layer_norm.acts_per_token", w.output(lambda l: normalised_otherwise(l, over_axes(-2)).output())),
    Mistake(ID + "gradient_order_swapped", 'is that of "pre" for "post", and that of "post" for "pre"', CURVE, w.backward(w.other_order), G),
    Mistake(ID + "gradient_without_first_skip", "leaves out the way back along the skip path around the self-attention", SKIP, w.backward(w.detached_skip(1)), G),
    Mistake(ID + "gradient_without_second_skip", "leaves out the way back along the skip path around the attention to the memory", SKIP, w.backward(w.detached_skip(2)), G),
    Mistake(ID + "gradient_without_third_skip", "leaves out the way back along the skip path around the feed-forward layer", SKIP, w.backward(w.detached_skip(3)), G),
    Mistake(ID + "gradient_past_self_attention", "leaves out the way back to x through the self-attention", INPUT, w.backward(w.past(1)), G),
    Mistake(ID + "gradient_past_queries_to_memory", "leaves out the way back to x1 through the queries to the memory", INPUT, w.backward(w.past(2)), G),
    Mistake(ID + "gradient_past_feed_forward", "leaves out the way back to x2 through the feed-forward layer", FED, w.backward(w.past(3)), G),
    Mistake(ID + "gradient_of_memory_by_keys_only", "has for the memory what comes through the keys only", VALUES, w.backward(w.detached_memory(False, True)), G),
    Mistake(ID + "gradient_of_memory_by_values_only", "has for the memory what comes through the values only", KEYS, w.backward(w.detached_memory(True, False)), G),
    Mistake(ID + "gradient_of_memory_missing", "has no gradient for the memory", KEYS, w.backward(w.detached_memory(True, True)), G),
    Mistake(ID + "gradient_through_queries_only", "has for x what comes through the queries of the self-attention only", INPUT, w.backward(w.detached_tokens("keys", "values")), G),
    Mistake(ID + "gradient_without_queries", "leaves out what comes to x through the queries of the self-attention", INPUT, w.backward(w.detached_tokens("queries")), G),
    Mistake(ID + "gradient_without_values", "leaves out what comes to x through the values of the self-attention", INPUT, w.backward(w.detached_tokens("values")), G),
    Mistake(ID + "gradient_memory_weights_constant", "takes the weights of the attention to the memory for constants", "attention_gradients.gradient_of_scores", w.backward(w.second(w.weights_constant)), G),
    Mistake(ID + "gradient_without_triangle", "goes back through the self-attention without the triangle", "causal_masking.causal_gradient_ignores_future", w.backward(w.first(w.without_triangle)), G),
    Mistake(ID + "gradient_without_memory_mask", "goes back through the attention to the memory without its mask", "masked_attention.gradient_at_one_key", w.backward(w.second(w.without_memory_mask)), G),
    Mistake(ID + "gradient_past_norms", "passes the cotangent by all norms, as it is", CURVE, w.backward(lambda l: past_norm(l, (1, 2, 3)).output()), G),
    Mistake(ID + "gradient_past_second_norm", "passes the cotangent by the norm of the attention to the memory, as it is", CURVE, w.backward(lambda l: past_norm(l, (2,)).output()), G),
    Mistake(ID + "gradient_norm_without_mean", "leaves out the mean of g in the norms", "layer_norm_gradients.gradient_sums_to_zero", w.backward(lambda l: through_norm(l, lambda p: p.after(p.x_hat * p.overlap)).output()), G),
    Mistake(ID + "gradient_norm_without_x_hat", "leaves out the share along x^ in the norms", "layer_norm_gradients.euler_identity", w.backward(lambda l: through_norm(l, lambda p: p.after(mean(p.g))).output()), G),
    Mistake(ID + "gradient_without_slope", "leaves out the derivative of the activation", "feed_forward_gradients.gradient_of_input", w.backward(w.third(without_slope)), G),
    Mistake(ID + "gradient_averaged_over_batch", "averages the gradients of the parameters over the batch instead of adding them up", PARAMETERS, w.backward(RIGHT, averaged(2)), G),
    Mistake(ID + "gradient_attentions_exchanged", "returns the gradients of one attention's matrices for those of the other", PARAMETERS, w.backward(RIGHT, swapped((2, 6), (3, 7), (4, 8), (5, 9))), G),
    Mistake(ID + "gradient_norms_exchanged", "returns the gradients of the first norm's parameters for those of the second, and the other way round", "layer_norm_gradients.gain_gradient", w.backward(RIGHT, swapped((10, 12), (11, 13))), G),
    Mistake(ID + "gradient_w_k_and_w_v_exchanged", "returns dw_v for w_k and dw_k for w_v in the attention to the memory", PARAMETERS, w.backward(RIGHT, swapped((7, 8))), G),
    Instability(ID + "gradient_narrow_sums", "adds up the gradients of gains and biases in 16 bits", "layer_norm_gradients.gain_gradient", w.backward(lambda l: summed_narrowly(l).output()), G, ("float16",), narrow_sums=True),
)  # fmt: skip

FITS = (
    Fit("eps", "the option's value", "layer_norm.variance", w.fitted(lambda l, theta: with_eps(l, theta).output()), (1e-14, 1.0)),
    Fit("factor of the scores of the memory", "1 / sqrt(d / heads)", SCORES, w.fitted(lambda l, theta: l.third(l.around(2, scaled(l.cross, l.across, theta * root(l.width, l.x.value)), l.first(l.x)))), (1e-3, 1e3)),
)  # fmt: skip
