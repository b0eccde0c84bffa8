"""What goes wrong in a layer of the decoder: other wirings of its parts, each with what it breaks.

A is self-attention, C attention to the memory, F the feed-forward layer, LN1, LN2 and LN3 their norms; x1 and x2 are what
the first two sublayers give.
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
from ._layer_wiring import DecoderLayer, gradients_of, output_of
from ._norm_formulas import mean, rooted
from ._tape import Node, detached

Wire = Callable[[DecoderLayer], Node]

SKIP, CURVE = "residual.residual_jacobian", "residual_norm.post_norm_along_a_curve"
PRE, POST = "residual_norm.pre_norm_without_branch", "residual_norm.post_norm_without_branch"
MASK, SCORES = "masked_attention.extra_padding_changes_nothing", "attention_scores.scaled_variance_is_one"
FED, WHOLE = "feed_forward.position_wise", "decoder.decoder_layer_is_causal"
CROSS, MEMORY = "decoder_sublayers.cross_sublayer_acts_per_token", "self_attention.memory_permutation_invariance"
PARAMETERS, INPUT = "multi_head_gradients.gradient_of_query_projection", "self_attention_gradients.decoder_input_gradient"
KEYS, VALUES = "multi_head_gradients.gradient_of_key_projection", "multi_head_gradients.gradient_of_value_projection"


def _first(attend: Callable[[DecoderLayer], Any]) -> Wire:
    """With another self-attention."""
    return lambda l: l.third(l.second(l.around(1, attend(l), l.x)))


def _second(cross: Callable[[DecoderLayer], Any]) -> Wire:
    """With another attention to the memory."""
    return lambda l: l.third(l.around(2, cross(l), l.first(l.x)))


def _third(feed: Callable[[DecoderLayer], Any]) -> Wire:
    """With another feed-forward layer."""
    return lambda l: l.around(3, feed(l), l.second(l.first(l.x)))


def _parts(l: DecoderLayer) -> dict[int, Any]:
    return {1: l.attend, 2: l.cross, 3: l.fed}


def _arranged(order: tuple[int, ...], norms: tuple[int, ...] = (), without_skip: tuple[int, ...] = ()) -> Wire:
    """The sublayers in this order, with these norms, some without a skip path."""

    def wire(l: DecoderLayer) -> Node:
        x = l.x
        for number, norm in zip(order, norms or order, strict=True):
            x = (l.alone if number in without_skip else l.around)(norm, _parts(l)[number], x)
        return x

    return wire


def _of_order(order: str) -> Wire:
    def wire(l: DecoderLayer) -> Node:
        x = l.x
        for number, part in _parts(l).items():
            x = l.around(number, part, x, order=order)
        return x

    return wire


def _other_order(l: DecoderLayer) -> Node:
    return _of_order("pre" if l.post else "post")(l)


def _both_norms(l: DecoderLayer) -> Node:
    x = l.x
    for number, part in _parts(l).items():
        x = l.norm(number, x + part(l.norm(number, x)))
    return x


def _norm_of_sublayers(l: DecoderLayer) -> Node:
    x = l.x
    for number, part in _parts(l).items():
        x = x + l.norm(number, part(x))
    return x


def _skip_normalised(l: DecoderLayer) -> Node:
    if l.post:
        return l.output()
    x = l.x
    for number, part in _parts(l).items():
        u = l.norm(number, x)
        x = u + part(u)
    return x


def _second_skip_from_input(l: DecoderLayer) -> Node:
    return l.third(l.around(2, l.cross, l.first(l.x), skip=l.x))


def _third_skip_from_first(l: DecoderLayer) -> Node:
    x1 = l.first(l.x)
    return l.around(3, l.fed, l.second(x1), skip=x1)


def _third_skip_from_input(l: DecoderLayer) -> Node:
    return l.around(3, l.fed, l.second(l.first(l.x)), skip=l.x)


def _attentions_side_by_side(l: DecoderLayer) -> Node:
    if l.post:
        return l.third(l.norm(2, l.x + l.attend(l.x) + l.cross(l.x)))
    return l.third(l.x + l.attend(l.norm(1, l.x)) + l.cross(l.norm(2, l.x)))


def _queries_of_input(l: DecoderLayer) -> Node:
    """The attention to the memory asks for x, not for x1."""
    x1 = l.first(l.x)
    return l.third(l.norm(2, x1 + l.cross(l.x)) if l.post else x1 + l.cross(l.norm(2, l.x)))


def _fed_unnormalised(l: DecoderLayer) -> Node:
    x1 = l.first(l.x)
    if not l.post:
        x2 = l.second(x1)
        return x2 + l.fed(x2)
    total = x1 + l.cross(x1)
    return l.norm(3, l.norm(2, total) + l.fed(total))


def _queries_unnormalised(l: DecoderLayer) -> Node:
    x1 = l.first(l.x)
    return l.third(l.second(x1) if l.post else x1 + l.cross(x1))


def _keys_and_values_unnormalised(l: DecoderLayer) -> Node:
    if l.post:
        return l.output()
    return l.third(l.second(l.x + l.attend(l.norm(1, l.x), l.x, l.x)))


def _memory_normalised(l: DecoderLayer) -> Any:
    memory = l.norm(2, l.memory)
    return lambda u: l.cross(u, memory, memory)


def _self_for_cross(l: DecoderLayer) -> Any:
    return lambda u: l.attend(u, weights=l.across, keep=None)


def _values_of_itself(l: DecoderLayer) -> Any:
    """Keys of the memory, values of the tokens; where there are as many of them, else as it should be."""
    return lambda u: l.cross(u, None, u) if u.value.shape == l.memory.value.shape else l.cross(u)


def _memory_masked_by(keep: Callable[[DecoderLayer, int, int], Any]) -> Wire:
    def cross(l: DecoderLayer) -> Any:
        return lambda u: l.cross(u, keep=keep(l, u.value.shape[-2], l.memory.value.shape[-2]))

    return _second(cross)


def _masked_by(keep: Callable[[DecoderLayer, int], Any]) -> Wire:
    def attend(l: DecoderLayer) -> Any:
        return lambda u: l.attend(u, keep=keep(l, u.value.shape[-2]))

    return _first(attend)


def _both(keep: Any, other: Any) -> Any:
    return other if keep is None else keep & other


def _either(l: DecoderLayer, n: int) -> Any:
    return np.tri(n, dtype=np.bool_) if l.mask is None else l.mask | np.tri(n, dtype=np.bool_)


# Gradients


def _detached_tokens(*which: str) -> Wire:
    """Without the ways back through queries, keys or values of the self-attention."""

    def attend(l: DecoderLayer) -> Any:
        def part(u: Node) -> Node:
            return l.attend(*(detached(u) if each in which else u for each in ("queries", "keys", "values")))

        return part

    return _first(attend)


def _detached_memory(keys: bool, values: bool) -> Wire:
    def cross(l: DecoderLayer) -> Any:
        given = [detached(l.memory) if each else l.memory for each in (keys, values)]
        return lambda u: l.cross(u, *given)

    return _second(cross)


def _detached_skip(number: int) -> Wire:
    def wire(l: DecoderLayer) -> Node:
        x = l.x
        for each, part in _parts(l).items():
            x = l.around(each, part, x, skip=detached(x) if each == number else None)
        return x

    return wire


def _past(number: int) -> Wire:
    """Without the way back through a sublayer to the tokens that it reads."""

    def wire(l: DecoderLayer) -> Node:
        x = l.x
        for each, part in _parts(l).items():
            x = l.around(each, (lambda u, part=part: part(detached(u))) if each == number else part, x)
        return x

    return wire


def _weights_constant(l: DecoderLayer) -> Any:
    w_q, w_k, w_v, w_o = l.across
    held = (detached(w_q), detached(w_k), w_v, w_o)
    return lambda u: l.cross(detached(u), detached(l.memory), l.memory, weights=held)


def _without_triangle(l: DecoderLayer) -> Any:
    return lambda u: back_as(l.attend(u), l.attend(u, keep=l.mask))


def _without_memory_mask(l: DecoderLayer) -> Any:
    return lambda u: back_as(l.cross(u), l.cross(u, keep=None))


def _o(wire: Wire) -> Any:
    return output_of(DecoderLayer, wire)


def _g(wire: Wire, change: Any = None) -> Any:
    return gradients_of(DecoderLayer, wire, change)


ID, G, RIGHT = "decoder_layer.", "gradients", DecoderLayer.output
MISTAKES = (
    Variant(ID + "pre_norm", "is pre-norm, x + f(LN(x)), whatever order says", PRE, _o(_of_order("pre")), converter='Check it with options={"order": "pre"}, if that is what is meant'),
    Variant(ID + "post_norm", "is post-norm, LN(x + f(x)), whatever order says", POST, _o(_of_order("post")), converter='Check it with options={"order": "post"}, if that is what is meant'),
    Variant(ID + "not_causal", "attends to later tokens, unless the mask leaves them out, as PyTorch's layer", WHOLE, _o(_masked_by(lambda l, n: l.mask)), converter="Give it the triangle with the mask: np.tri(n, dtype=bool), or mask & np.tri(n, dtype=bool)"),
    Variant(ID + "both_norms", "normalises before each sublayer and after each sum, LN(x + f(LN(x)))", POST, _o(_both_norms), converter="Only weights trained so can be used with it: leave out one of the two"),
    Variant(ID + "norm_of_sublayers", "normalises what a sublayer returns, x + LN(f(x)), as Swin Transformer V2", POST, _o(_norm_of_sublayers), converter="Only weights trained so can be used with it: take LN around the sum, or in front of f"),
    Variant(ID + "gelu_tanh", "has the tanh approximation of gelu", "activations.gelu_derivative", _o(_third(lambda l: lambda u: l.fed(u, "gelu_tanh" if l.activation == "gelu" else None))), converter='Take the gelu with erf: approximate="none" in PyTorch, approximate=False in JAX'),
    Variant(ID + "weights_transposed", "multiplies by the transposed matrices of both attentions, those of shape (out, in) that PyTorch's Linear keeps", "multi_head.one_projection_then_split", _o(lambda l: l.third(l.around(2, lambda u: l.cross(u, weights=_transposed(l.across)), l.around(1, lambda u: l.attend(u, weights=_transposed(l.weights)), l.x)))), converter="Pass it the transposes of all eight matrices"),
    Mistake(ID + "order_swapped", 'takes "pre" for "post" and "post" for "pre"', PRE, _o(_other_order)),
    Mistake(ID + "one_norm_for_all", "takes gain1 and bias1 for all norms", CURVE, _o(_arranged((1, 2, 3), (1, 1, 1)))),
    Mistake(ID + "first_norm_for_memory", "takes gain1 and bias1 for the norm of the attention to the memory too", CURVE, _o(_arranged((1, 2, 3), (1, 1, 3)))),
    Mistake(ID + "second_norm_for_last", "takes gain2 and bias2 for the last norm too", CURVE, _o(_arranged((1, 2, 3), (1, 2, 2)))),
    Mistake(ID + "last_norms_exchanged", "takes gain3 and bias3 for the second norm, gain2 and bias2 for the last", CURVE, _o(_arranged((1, 2, 3), (1, 3, 2)))),
    Mistake(ID + "first_norms_exchanged", "takes gain2 and bias2 for the first norm, gain1 and bias1 for the second", CURVE, _o(_arranged((1, 2, 3), (2, 1, 3)))),
    Mistake(ID + "gains_for_biases", "takes the biases of the norms for gains and the gains for biases", "layer_norm_jacobian.jacobian_with_gain", _o(lambda l: with_norms(l, lambda gain, bias: (bias, gain)).output())),
    Mistake(ID + "first_norm_missing", "leaves out the norm of the self-attention", CURVE, _o(lambda l: without_norms(l, (1,)).output())),
    Mistake(ID + "second_norm_missing", "leaves out the norm of the attention to the memory", CURVE, _o(lambda l: without_norms(l, (2,)).output())),
    Mistake(ID + "third_norm_missing", "leaves out the norm of the feed-forward layer", CURVE, _o(lambda l: without_norms(l, (3,)).output())),
    Mistake(ID + "norms_missing", "leaves out all norms", CURVE, _o(lambda l: without_norms(l, (1, 2, 3)).output())),
    Mistake(ID + "second_skip_from_input", "adds x, the input of the layer, to the attention to the memory, not x1", "residual.stack_unrolls", _o(_second_skip_from_input)),
    Mistake(ID + "third_skip_from_first", "adds x1 to the feed-forward layer, not x2", "residual.stack_unrolls", _o(_third_skip_from_first)),
    Mistake(ID + "third_skip_from_input", "adds x, the input of the layer, to the feed-forward layer, not x2", "residual.stack_unrolls", _o(_third_skip_from_input)),
    Mistake(ID + "first_skip_missing", "leaves out the skip path around the self-attention", SKIP, _o(_arranged((1, 2, 3), without_skip=(1,)))),
    Mistake(ID + "second_skip_missing", "leaves out the skip path around the attention to the memory", SKIP, _o(_arranged((1, 2, 3), without_skip=(2,)))),
    Mistake(ID + "third_skip_missing", "leaves out the skip path around the feed-forward layer", SKIP, _o(_arranged((1, 2, 3), without_skip=(3,)))),
    Mistake(ID + "skips_missing", "leaves out all skip paths", SKIP, _o(_arranged((1, 2, 3), without_skip=(1, 2, 3)))),
    Mistake(ID + "skips_normalised", "takes LN(x) for the skip paths of pre-norm: LN(x) + f(LN(x))", PRE, _o(_skip_normalised)),
    Mistake(ID + "self_attention_missing", "leaves out the self-attention, with its norm", WHOLE, _o(_arranged((2, 3)))),
    Mistake(ID + "memory_not_read", "leaves out the attention to the memory, with its norm", CROSS, _o(_arranged((1, 3)))),
    Mistake(ID + "feed_forward_missing", "leaves out the feed-forward layer, with its norm", FED, _o(_arranged((1, 2)))),
    Mistake(ID + "memory_first", "attends to the memory before it attends to the tokens", CROSS, _o(_arranged((2, 1, 3)))),
    Mistake(ID + "feed_forward_before_memory", "has the feed-forward layer before the attention to the memory", CROSS, _o(_arranged((1, 3, 2)))),
    Mistake(ID + "attentions_side_by_side", "lets both attentions read x and adds up what they give", CROSS, _o(_attentions_side_by_side)),
    Mistake(ID + "queries_of_input", "takes the queries to the memory of x, the input of the layer, not of x1", CROSS, _o(_queries_of_input)),
    Mistake(ID + "feed_forward_unnormalised", "gives x2 before its norm to the feed-forward layer", CURVE, _o(_fed_unnormalised)),
    Mistake(ID + "queries_unnormalised", "takes the queries to the memory of x1, not of LN2(x1), in pre-norm", PRE, _o(_queries_unnormalised)),
    Mistake(ID + "keys_and_values_unnormalised", "normalises the queries of the self-attention of pre-norm only", PRE, _o(_keys_and_values_unnormalised)),
    Mistake(ID + "memory_normalised", "normalises the memory once more, with gain2 and bias2", CROSS, _o(_second(_memory_normalised))),
    Mistake(ID + "self_for_memory", "attends to the tokens once more, and not to the memory", MEMORY, _o(_second(_self_for_cross))),
    Mistake(ID + "values_of_tokens", "takes the values of the tokens, where there are as many as in the memory, and only the keys of it", MEMORY, _o(_second(_values_of_itself))),
    Mistake(ID + "self_weights_for_memory", "takes the matrices of the self-attention for the memory too", CROSS, _o(_second(lambda l: lambda u: l.cross(u, weights=l.weights)))),
    Mistake(ID + "memory_weights_for_self", "takes the matrices of the attention to the memory for the self-attention too", CROSS, _o(_first(lambda l: lambda u: l.attend(u, weights=l.across)))),
    Mistake(ID + "attention_weights_exchanged", "takes the matrices of either attention for the other", CROSS, _o(lambda l: l.third(l.around(2, lambda u: l.cross(u, weights=l.weights), l.around(1, lambda u: l.attend(u, weights=l.across), l.x))))),
    Mistake(ID + "w_q_and_w_k_exchanged", "takes w_k for queries and w_q for keys in the self-attention", PARAMETERS, _o(_first(lambda l: with_weights(l, exchanged(0, 1))))),
    Mistake(ID + "memory_w_q_and_w_k_exchanged", "takes w_k for queries and w_q for keys in the attention to the memory", PARAMETERS, _o(_second(lambda l: lambda u: l.cross(u, weights=exchanged(0, 1)(l.across))))),
    Mistake(ID + "memory_w_k_and_w_v_exchanged", "takes w_v for keys and w_k for values in the attention to the memory", PARAMETERS, _o(_second(lambda l: lambda u: l.cross(u, weights=exchanged(1, 2)(l.across))))),
    Mistake(ID + "activation_missing", "has no activation in the feed-forward layer", FED, _o(_third(lambda l: l.linear))),
    Mistake(ID + "final_relu", "applies relu to the output", CURVE, _o(lambda l: relu(l.output()))),
    Mistake(ID + "always_relu", "has relu, whatever activation says", FED, _o(_third(lambda l: lambda u: l.fed(u, "relu")))),
    Mistake(ID + "gelu_for_relu", "has gelu, whatever activation says", FED, _o(_third(lambda l: lambda u: l.fed(u, "gelu")))),
    Mistake(ID + "first_bias_missing", "leaves out b1", FED, _o(lambda l: with_biases(l, 1).output())),
    Mistake(ID + "second_bias_missing", "leaves out b2", FED, _o(lambda l: with_biases(l, 3).output())),
    Mistake(ID + "output_normalised", "normalises the output once more, with gain3 and bias3", POST, _o(lambda l: l.norm(3, l.output()))),
    Mistake(ID + "mask_ignored", "does not use the mask, only the triangle", MASK, _o(_masked_by(lambda l, n: np.tri(n, dtype=np.bool_)))),
    Mistake(ID + "masks_ignored", "uses neither the mask nor the triangle", WHOLE, _o(_masked_by(lambda l, n: None))),
    Mistake(ID + "mask_or_triangle", "lets a token attend where the mask or the triangle allows it, not both", WHOLE, _o(_masked_by(_either))),
    Mistake(ID + "causal_upside_down", "attends to the tokens j >= i", WHOLE, _o(_masked_by(lambda l, n: _both(l.mask, np.tri(n, dtype=np.bool_).T)))),
    Mistake(ID + "causal_one_too_far", "attends to the tokens j <= i + 1", WHOLE, _o(_masked_by(lambda l, n: _both(l.mask, np.tri(n, n, 1, dtype=np.bool_))))),
    Mistake(ID + "memory_mask_ignored", "does not use memory_mask", MASK, _o(_memory_masked_by(lambda l, n, m: None))),
    Mistake(ID + "memory_mask_inverted", "masks the tokens of the memory that are to be kept, and keeps the others", "masking.masked_equals_softmax_over_kept", _o(_memory_masked_by(lambda l, n, m: None if l.memory_keep is None else ~l.memory_keep))),
    Mistake(ID + "memory_causal", "attends to the tokens j <= i of the memory only", CROSS, _o(_memory_masked_by(lambda l, n, m: _both(l.memory_keep, np.tri(n, m, dtype=np.bool_))))),
    Mistake(ID + "heads_ignored", "has one head, whatever heads says", SCORES, _o(lambda l: l.third(l.around(2, lambda u: l.cross(u, heads=1), l.around(1, lambda u: l.attend(u, heads=1), l.x))))),
    Mistake(ID + "scale_missing", "does not divide the scores of the self-attention by sqrt(d / heads)", SCORES, _o(_first(lambda l: scaled(l.attend, l.weights, root(l.width, l.x.value))))),
    Mistake(ID + "memory_scale_missing", "does not divide the scores of the attention to the memory by sqrt(d / heads)", SCORES, _o(_second(lambda l: scaled(l.cross, l.across, root(l.width, l.x.value))))),
    Mistake(ID + "eps_ignored", "has eps 1e-5, whatever eps says", "layer_norm.variance", _o(lambda l: with_eps(l, 1e-5).output())),
    Mistake(ID + "unbiased_variance", "divides the variances by d - 1", "layer_norm.variance", _o(lambda l: normalised_otherwise(l, unbiased).output())),
    Mistake(ID + "mean_not_subtracted", "does not subtract the mean: RMS normalisation", "layer_norm.shift_invariance", _o(lambda l: normalised_otherwise(l, lambda z, eps: z / rooted(mean(z * z), eps)).output())),
    Mistake(ID + "normalised_over_tokens", "normalises over the tokens, not over the columns", "layer_norm.acts_per_token", _o(lambda l: normalised_otherwise(l, over_axes(-2)).output())),
    Mistake(ID + "gradient_order_swapped", 'is that of "pre" for "post", and that of "post" for "pre"', CURVE, _g(_other_order), G),
    Mistake(ID + "gradient_without_first_skip", "leaves out the way back along the skip path around the self-attention", SKIP, _g(_detached_skip(1)), G),
    Mistake(ID + "gradient_without_second_skip", "leaves out the way back along the skip path around the attention to the memory", SKIP, _g(_detached_skip(2)), G),
    Mistake(ID + "gradient_without_third_skip", "leaves out the way back along the skip path around the feed-forward layer", SKIP, _g(_detached_skip(3)), G),
    Mistake(ID + "gradient_past_self_attention", "leaves out the way back to x through the self-attention", INPUT, _g(_past(1)), G),
    Mistake(ID + "gradient_past_queries_to_memory", "leaves out the way back to x1 through the queries to the memory", INPUT, _g(_past(2)), G),
    Mistake(ID + "gradient_past_feed_forward", "leaves out the way back to x2 through the feed-forward layer", FED, _g(_past(3)), G),
    Mistake(ID + "gradient_of_memory_by_keys_only", "has for the memory what comes through the keys only", VALUES, _g(_detached_memory(False, True)), G),
    Mistake(ID + "gradient_of_memory_by_values_only", "has for the memory what comes through the values only", KEYS, _g(_detached_memory(True, False)), G),
    Mistake(ID + "gradient_of_memory_missing", "has no gradient for the memory", KEYS, _g(_detached_memory(True, True)), G),
    Mistake(ID + "gradient_through_queries_only", "has for x what comes through the queries of the self-attention only", INPUT, _g(_detached_tokens("keys", "values")), G),
    Mistake(ID + "gradient_without_queries", "leaves out what comes to x through the queries of the self-attention", INPUT, _g(_detached_tokens("queries")), G),
    Mistake(ID + "gradient_without_values", "leaves out what comes to x through the values of the self-attention", INPUT, _g(_detached_tokens("values")), G),
    Mistake(ID + "gradient_memory_weights_constant", "takes the weights of the attention to the memory for constants", "attention_gradients.gradient_of_scores", _g(_second(_weights_constant)), G),
    Mistake(ID + "gradient_without_triangle", "goes back through the self-attention without the triangle", "causal_masking.causal_gradient_ignores_future", _g(_first(_without_triangle)), G),
    Mistake(ID + "gradient_without_memory_mask", "goes back through the attention to the memory without its mask", "masked_attention.gradient_at_one_key", _g(_second(_without_memory_mask)), G),
    Mistake(ID + "gradient_past_norms", "passes the cotangent by all norms, as it is", CURVE, _g(lambda l: past_norm(l, (1, 2, 3)).output()), G),
    Mistake(ID + "gradient_past_second_norm", "passes the cotangent by the norm of the attention to the memory, as it is", CURVE, _g(lambda l: past_norm(l, (2,)).output()), G),
    Mistake(ID + "gradient_norm_without_mean", "leaves out the mean of g in the norms", "layer_norm_gradients.gradient_sums_to_zero", _g(lambda l: through_norm(l, lambda p: p.after(p.x_hat * p.overlap)).output()), G),
    Mistake(ID + "gradient_norm_without_x_hat", "leaves out the share along x^ in the norms", "layer_norm_gradients.euler_identity", _g(lambda l: through_norm(l, lambda p: p.after(mean(p.g))).output()), G),
    Mistake(ID + "gradient_without_slope", "leaves out the derivative of the activation", "feed_forward_gradients.gradient_of_input", _g(_third(without_slope)), G),
    Mistake(ID + "gradient_averaged_over_batch", "averages the gradients of the parameters over the batch instead of adding them up", PARAMETERS, _g(RIGHT, averaged(2)), G),
    Mistake(ID + "gradient_attentions_exchanged", "returns the gradients of one attention's matrices for those of the other", PARAMETERS, _g(RIGHT, swapped((2, 6), (3, 7), (4, 8), (5, 9))), G),
    Mistake(ID + "gradient_norms_exchanged", "returns the gradients of the first norm's parameters for those of the second, and the other way round", "layer_norm_gradients.gain_gradient", _g(RIGHT, swapped((10, 12), (11, 13))), G),
    Mistake(ID + "gradient_w_k_and_w_v_exchanged", "returns dw_v for w_k and dw_k for w_v in the attention to the memory", PARAMETERS, _g(RIGHT, swapped((7, 8))), G),
)  # fmt: skip


def _transposed(weights: Any) -> Any:
    return tuple(each.transposed for each in weights)


def _with(change: Callable[[DecoderLayer, Any], Node]) -> Any:
    def formula(theta: Any, *inputs: Any, **options: Any) -> Any:
        return change(DecoderLayer(list(map(Node, inputs)), **options), theta).value

    return formula


FITS = (
    Fit("eps", "the option's value", "layer_norm.variance", _with(lambda l, theta: with_eps(l, theta).output()), (1e-14, 1.0)),
    Fit("factor of the scores of the memory", "1 / sqrt(d / heads)", SCORES, _with(lambda l, theta: l.third(l.around(2, scaled(l.cross, l.across, theta * root(l.width, l.x.value)), l.first(l.x)))), (1e-3, 1e3)),
)  # fmt: skip
