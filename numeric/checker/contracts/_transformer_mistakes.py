"""What goes wrong in a Transformer around its layers: other wirings, each with what it breaks."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...arithmetic import convert, widen
from ...layers import positional_encoding
from ..mistake import Fit, Mistake, Variant
from ._attention_formulas import root, softmax
from ._layer_faults import back_as, past_norm, scaled, without_norms
from ._layer_wiring import EncoderLayer
from ._tape import Node, detached, embedded, on_the_way_back
from ._transformer_wiring import Transformer, Wire, gradients_of, output_of, plain_norm

SCALE, TIED = "embedding.scaled_embedding_norm", "embedding.tied_weights_add_gradients"
POSITIONS, COLUMNS = "self_attention.without_positions_order_is_lost", "positional_encoding.even_columns_are_sines"
ENCODER, DECODER = "encoder.encoder_stack_is_equivariant", "decoder.decoder_stack_is_causal"
MASK, CROSS = "masked_attention.extra_padding_changes_nothing", "decoder_sublayers.cross_sublayer_acts_per_token"
PRE, STACK = "residual_norm.pre_norm_stack_without_branches", "residual.stack_unrolls"
SCATTER, FACTOR = "embedding.gradient_scatters_and_adds", "embedding.scaled_embedding_gradient"
LOGITS = "embedding.output_gradient"


def _with(source: Any = None, target: Any = None, memory: Any = None, hidden: Any = None, logits: Any = None) -> Wire:
    """With one step or another replaced: each is a function of the Transformer and, but for the first two, of what came before."""

    def wire(t: Transformer) -> Node:
        x = source(t) if source else t.source
        m = memory(t, x) if memory else t.encode(x)
        y = target(t) if target else t.target
        h = hidden(t, y, m) if hidden else t.decode(y, m)
        return logits(t, h) if logits else t.read(h)

    return wire


def _on_both(embed: Callable[[Transformer, np.ndarray], Node]) -> Wire:
    return _with(lambda t: embed(t, t.src), lambda t: embed(t, t.tgt))


def _changed(**attributes: Any) -> Wire:
    def wire(t: Transformer) -> Node:
        for name, value in attributes.items():
            setattr(t, name, value)
        return t.logits()

    return wire


def _layers_changed(change: Callable[[Any], Any]) -> Wire:
    return _changed(change=change)


def _of_order(order: str) -> Wire:
    """With the norms after the last layers where there are some, for pre-norm only."""

    def wire(t: Transformer) -> Node:
        t.order = order
        final = order == "pre"
        return t.read(t.decode(t.target, t.encode(t.source, final=final), final=final))

    return wire


def _norms_after_post(t: Transformer) -> Node:
    if not t.post:
        return t.logits()
    memory = plain_norm(t.encode(t.source), t.eps)
    return t.read(plain_norm(t.decode(t.target, memory), t.eps))


def _norms_exchanged(t: Transformer) -> Node:
    x, y = (t.encode(t.source, final=False), t.target)
    return t.read(t.last_norm("encoder", t.decode(y, t.last_norm("decoder", x), final=False)))


def _encoding(t: Transformer, positions: np.ndarray) -> Any:
    return positional_encoding.encode(positions, t.width, dtype=widen(t.table.value).dtype)


def _plus(x: Node, encoding: Any) -> Node:
    return x + Node(np.broadcast_to(encoding, x.value.shape))


def _halves(t: Transformer, ids: np.ndarray) -> Node:
    encoding = _encoding(t, np.arange(ids.shape[1]))
    return _plus(t.look_up(ids), np.concatenate([encoding[:, 0::2], encoding[:, 1::2]], -1))


def _over_batch(t: Transformer, ids: np.ndarray) -> Node:
    return _plus(t.look_up(ids), _encoding(t, np.arange(len(ids)))[:, None])


def _last_position(t: Transformer, ids: np.ndarray) -> Node:
    return _plus(t.look_up(ids), _encoding(t, np.array([ids.shape[1]])))


def _positions_scaled(t: Transformer, ids: np.ndarray) -> Node:
    return t.embed(ids, scaled=False).times(root(t.width, t.table.value))


def _scaled_twice(t: Transformer, ids: np.ndarray) -> Node:
    return _plus(t.look_up(ids).times(root(t.width, t.table.value)), _encoding(t, np.arange(ids.shape[1])))


def _divided(t: Transformer, ids: np.ndarray) -> Node:
    factor = 1 / root(t.width, t.table.value)
    return _plus(t.look_up(ids, scaled=False).times(factor), _encoding(t, np.arange(ids.shape[1])))


def _shifted(ids: np.ndarray) -> np.ndarray:
    """To the right, the token 0 first."""
    return np.concatenate([np.zeros((len(ids), 1), ids.dtype), ids[:, :-1]], 1)


def _layer_by_layer(t: Transformer, y: Node, m: Node) -> Node:
    """Each layer of the decoder reads that of the encoder with its number."""
    x = t.source
    for number in range(2):
        x = t.encoder_layer(number, x).output()
        y = t.decoder_layer(number, y, t.last_norm("encoder", x) if number else x).output()
    return t.last_norm("decoder", y)


def _positions_in_every_layer(t: Transformer, x: Node) -> Node:
    for number in range(2):
        x = t.encoder_layer(number, x if number == 0 else _plus(x, _encoding(t, np.arange(t.src.shape[1])))).output()
    return t.last_norm("encoder", x)


def _log_softmax(z: Node) -> Node:
    work = widen(z.value)
    shifted = work - work.mean(-1, keepdims=True)
    return Node(shifted - np.log(np.exp(shifted).sum(-1, keepdims=True)))


def _without_mask(layer: Any) -> Any:
    """Of the decoder, that is."""
    if not isinstance(layer, EncoderLayer):
        layer.keep = None
    return layer


def _unscaled(layer: Any) -> Any:
    number = root(layer.width, layer.x.value)
    attend = layer.attend
    layer.attend = lambda u: scaled(attend, layer.weights, number)(u)
    if not isinstance(layer, EncoderLayer):
        cross = layer.cross
        layer.cross = lambda u: scaled(cross, layer.across, number)(u)
    return layer


def _activated(activation: str) -> Callable[[Any], Any]:
    def change(layer: Any) -> Any:
        layer.activation = activation
        return layer

    return change


def _linear(layer: Any) -> Any:
    layer.fed = layer.linear
    return layer


# Gradients


def _back_at(source: bool, target: bool, logits: bool) -> Wire:
    """With these ways back to the table."""

    def table(t: Transformer, kept: bool) -> Node:
        return t.table if kept else detached(t.table)

    def wire(t: Transformer) -> Node:
        memory = t.encode(t.embed(t.src, table=table(t, source)))
        y = t.decode(t.embed(t.tgt, table=table(t, target)), memory)
        return t.read(y) if logits else back_as(t.read(y), Node(0, (y,), lambda dz: (dz @ t.table.value,)))

    return wire


def _unscaled_back(t: Transformer, ids: np.ndarray) -> Node:
    return back_as(t.embed(ids), t.embed(ids, scaled=False))


def _last_occurrence(t: Transformer, ids: np.ndarray) -> Node:
    """A row takes the cotangent of one position, where it should add up those of all."""
    y = t.look_up(ids)
    _, back = np.unique(ids.ravel()[::-1], return_index=True)
    last = np.zeros(ids.size, np.bool_)
    last[ids.size - 1 - back] = True
    kept = last.reshape(*ids.shape, 1)
    return _plus(on_the_way_back(y, lambda dy: np.where(kept, dy, 0 * dy)), _encoding(t, np.arange(ids.shape[1])))


def _memory_for(numbers: tuple[int, ...]) -> Any:
    """The ways back to the encoder, of these layers of the decoder only."""

    def hidden(t: Transformer, y: Node, m: Node) -> Node:
        for number in range(2):
            y = t.decoder_layer(number, y, m if number in numbers else detached(m)).output()
        return t.last_norm("decoder", y)

    return hidden




def _layers_exchanged(found: dict[str, Any]) -> None:
    for name in list(found):
        if ".layers.0." in name:
            other = name.replace(".layers.0.", ".layers.1.")
            found[name], found[other] = found[other], found[name]


def _stacks_exchanged(found: dict[str, Any]) -> None:
    for name in list(found):
        other = name.replace("encoder.", "decoder.", 1)
        if name.startswith("encoder.layers."):
            found[name], found[other] = found[other], found[name]


def _o(wire: Wire) -> Any:
    return output_of(wire)


def _g(wire: Wire, change: Any = None) -> Any:
    return gradients_of(wire, change)


ID, G = "transformer.", "gradients"
MISTAKES = (
    Variant(ID + "pre_norm", "is pre-norm, x + f(LN(x)), whatever order says", PRE, _o(_of_order("pre")), converter='Check it with options={"order": "pre"}, if that is what is meant'),
    Variant(ID + "post_norm", "is post-norm, LN(x + f(x)), without norms after the last layers, whatever order says", PRE, _o(_of_order("post")), converter='Check it with options={"order": "post"}, if that is what is meant'),
    Variant(ID + "norms_after_post", "normalises what the last layers of post-norm give once more, with gain 1 and bias 0, as a new nn.Transformer", PRE, _o(_norms_after_post), converter="Leave these norms out: in nn.Transformer set encoder.norm and decoder.norm to None"),
    Variant(ID + "log_probabilities", "returns the logarithms of the probabilities, log_softmax of the logits", "softmax.shift_invariance", _o(_with(logits=lambda t, h: _log_softmax(t.read(h)))), converter="Return the logits; a cross-entropy of logits takes the logarithm itself"),
    Variant(ID + "embedding_unscaled", "does not multiply the embeddings by sqrt(d)", SCALE, _o(_on_both(lambda t, ids: t.embed(ids, scaled=False))), converter="Multiply the rows of the table by sqrt(d), or keep two tables: this one for the logits, and one sqrt(d) as large for the inputs"),
    Variant(ID + "positions_in_halves", "has all sines first and then all cosines in the positional encoding", COLUMNS, _o(_on_both(_halves)), converter="Interleave the columns: sines at 2i, cosines at 2i + 1"),
    Variant(ID + "positions_from_one", "counts positions from 1", "positional_encoding.shift_is_rotation", _o(_on_both(lambda t, ids: t.embed(ids, start=1))), converter="Count positions from 0"),
    Mistake(ID + "source_unscaled", "does not multiply the embeddings of the source by sqrt(d)", SCALE, _o(_with(lambda t: t.embed(t.src, scaled=False)))),
    Mistake(ID + "target_unscaled", "does not multiply the embeddings of the target by sqrt(d)", SCALE, _o(_with(target=lambda t: t.embed(t.tgt, scaled=False)))),
    Mistake(ID + "embedding_scaled_twice", "multiplies the embeddings by d instead of sqrt(d)", SCALE, _o(_on_both(_scaled_twice))),
    Mistake(ID + "embedding_divided", "divides the embeddings by sqrt(d)", SCALE, _o(_on_both(_divided))),
    Mistake(ID + "positions_scaled", "multiplies the positional encoding by sqrt(d) too", SCALE, _o(_on_both(_positions_scaled))),
    Mistake(ID + "positions_missing", "has no positional encoding", POSITIONS, _o(_on_both(lambda t, ids: t.look_up(ids)))),
    Mistake(ID + "positions_of_target_only", "has no positional encoding in the source", POSITIONS, _o(_with(lambda t: t.look_up(t.src)))),
    Mistake(ID + "positions_of_source_only", "has no positional encoding in the target", POSITIONS, _o(_with(target=lambda t: t.look_up(t.tgt)))),
    Mistake(ID + "positions_over_batch", "takes the place in the batch for the position", POSITIONS, _o(_on_both(_over_batch))),
    Mistake(ID + "positions_all_the_last", "adds the encoding of the length to every token", POSITIONS, _o(_on_both(_last_position))),
    Mistake(ID + "positions_in_every_layer", "adds the positional encoding again before the second layer of the encoder", POSITIONS, _o(_with(memory=_positions_in_every_layer))),
    Mistake(ID + "target_positions_go_on", "lets the positions of the target go on where the source ends", POSITIONS, _o(_with(target=lambda t: t.embed(t.tgt, start=t.src.shape[1])))),
    Mistake(ID + "logits_scaled", "multiplies the logits by sqrt(d)", LOGITS, _o(lambda t: t.logits().times(root(t.width, t.table.value)))),
    Mistake(ID + "logits_divided", "divides the logits by sqrt(d)", LOGITS, _o(lambda t: t.logits().times(1 / root(t.width, t.table.value)))),
    Mistake(ID + "probabilities", "returns the probabilities, softmax of the logits", LOGITS, _o(lambda t: Node(softmax(t.logits().value)))),
    Mistake(ID + "target_shifted", "shifts the target to the right, the token 0 first, though tgt is what the decoder reads", DECODER, _o(_with(target=lambda t: t.embed(_shifted(t.tgt))))),
    Mistake(ID + "logits_shifted", "returns for a position the logits of the one before it", DECODER, _o(lambda t: Node(np.roll(t.logits().value, 1, 1)))),
    Mistake(ID + "last_encoder_layer_missing", "takes for the memory what goes into the last layer of the encoder", STACK, _o(_with(memory=lambda t, x: t.encode(x, (0,))))),
    Mistake(ID + "first_encoder_layer_twice", "has the parameters of the first layer of the encoder in all of them", STACK, _o(_with(memory=lambda t, x: t.encode(x, (0, 0))))),
    Mistake(ID + "first_decoder_layer_twice", "has the parameters of the first layer of the decoder in all of them", STACK, _o(_with(hidden=lambda t, y, m: t.decode(y, m, (0, 0))))),
    Mistake(ID + "last_decoder_layer_missing", "leaves out the last layer of the decoder", STACK, _o(_with(hidden=lambda t, y, m: t.decode(y, m, (0,))))),
    Mistake(ID + "layers_reversed", "has the layers of both stacks in the reverse order", STACK, _o(_with(memory=lambda t, x: t.encode(x, (1, 0)), hidden=lambda t, y, m: t.decode(y, m, (1, 0))))),
    Mistake(ID + "memory_layer_by_layer", "lets each layer of the decoder read the layer of the encoder with its number, not the last one", CROSS, _o(_with(hidden=_layer_by_layer))),
    Mistake(ID + "memory_not_encoded", "lets the decoder read the embeddings of the source, without the encoder", CROSS, _o(_with(memory=lambda t, x: x))),
    Mistake(ID + "memory_of_first_layer_only", "lets the first layer of the decoder alone read the memory", CROSS, _o(_with(hidden=lambda t, y, m: _first_reads(t, y, m)))),
    Mistake(ID + "encoder_skipped_over", "adds the embeddings of the source to what the encoder gives", STACK, _o(_with(memory=lambda t, x: t.encode(x) + x))),
    Mistake(ID + "src_mask_ignored", "does not use src_mask", MASK, _o(_changed(src_keep=None, memory_keep=None))),
    Mistake(ID + "src_mask_not_in_encoder", "does not use src_mask in the encoder", MASK, _o(_changed(src_keep=None))),
    Mistake(ID + "src_mask_not_in_decoder", "does not use src_mask where the decoder reads the memory", MASK, _o(_changed(memory_keep=None))),
    Mistake(ID + "src_mask_inverted", "masks the tokens of the source that are to be kept, and keeps the others", "masking.masked_equals_softmax_over_kept", _o(lambda t: _inverted(t).logits())),
    Mistake(ID + "not_causal", "lets the target attend to later tokens", DECODER, _o(_layers_changed(_without_mask))),
    Mistake(ID + "encoder_causal", "lets a token of the source attend to those before it only", ENCODER, _o(lambda t: _causal_encoder(t).logits())),
    Mistake(ID + "memory_causal", "lets a token of the target read the memory up to its own position only", CROSS, _o(lambda t: _causal_memory(t).logits())),
    Mistake(ID + "final_norms_missing", "leaves out the norms after the last layers of pre-norm", PRE, _o(lambda t: t.read(t.decode(t.target, t.encode(t.source, final=False), final=False)))),
    Mistake(ID + "encoder_norm_missing", "leaves out the norm after the last layer of the encoder", PRE, _o(_with(memory=lambda t, x: t.encode(x, final=False)))),
    Mistake(ID + "decoder_norm_missing", "leaves out the norm after the last layer of the decoder", PRE, _o(_with(hidden=lambda t, y, m: t.decode(y, m, final=False)))),
    Mistake(ID + "final_norms_exchanged", "takes the last norm of either stack for the other", PRE, _o(_norms_exchanged)),
    Mistake(ID + "norms_missing", "leaves out the norms of all sublayers", PRE, _o(_layers_changed(lambda layer: without_norms(layer, (1, 2, 3))))),
    Mistake(ID + "heads_ignored", "has one head, whatever heads says", "attention_scores.scaled_variance_is_one", _o(_changed(heads=1))),
    Mistake(ID + "scale_missing", "does not divide the scores by sqrt(d / heads)", "attention_scores.scaled_variance_is_one", _o(_layers_changed(_unscaled))),
    Mistake(ID + "activation_missing", "has no activation in the feed-forward layers", "feed_forward.position_wise", _o(_layers_changed(_linear))),
    Mistake(ID + "gelu_for_relu", "has gelu for relu", "feed_forward.position_wise", _o(_layers_changed(_activated("gelu")))),
    Mistake(ID + "eps_ignored", "has eps 1e-5, whatever eps says", "layer_norm.variance", _o(_changed(eps=1e-5))),
    Mistake(ID + "gradient_of_logits_only", "has for the table what comes from the logits only", TIED, _g(_back_at(False, False, True)), G),
    Mistake(ID + "gradient_without_logits", "leaves out what the logits bring to the table", TIED, _g(_back_at(True, True, False)), G),
    Mistake(ID + "gradient_without_source", "leaves out what the source brings to the table", TIED, _g(_back_at(False, True, True)), G),
    Mistake(ID + "gradient_without_target", "leaves out what the target brings to the table", TIED, _g(_back_at(True, False, True)), G),
    Mistake(ID + "gradient_unscaled", "leaves out sqrt(d) on the way back to the table", FACTOR, _g(_on_both(_unscaled_back)), G),
    Mistake(ID + "gradient_of_last_occurrence", "lets a token's last position overwrite what its others bring to the table", SCATTER, _g(_on_both(_last_occurrence)), G),
    Mistake(ID + "gradient_without_memory", "has no way back from the decoder to the encoder", CROSS, _g(_with(hidden=_memory_for(()))), G),
    Mistake(ID + "gradient_of_last_reader", "takes the way back to the encoder from the last layer of the decoder only", CROSS, _g(_with(hidden=_memory_for((1,)))), G),
    Mistake(ID + "gradient_of_first_reader", "takes the way back to the encoder from the first layer of the decoder only", CROSS, _g(_with(hidden=_memory_for((0,)))), G),
    Mistake(ID + "gradient_past_norms", "passes the cotangent by the norms of all sublayers, as it is", "residual_norm.post_norm_along_a_curve", _g(_layers_changed(lambda layer: past_norm(layer, (1, 2, 3)))), G),
    Mistake(ID + "gradient_layers_exchanged", "returns the gradients of one layer's parameters for those of the other", STACK, _g(Transformer.logits, _layers_exchanged), G),
    Mistake(ID + "gradient_of_half_batch", "has the gradients of the first half of the batch only", TIED, _g(lambda t: _first_half(t.logits())), G),
    Mistake(ID + "gradient_averaged_over_batch", "averages the gradients over the batch instead of adding them up", TIED, _g(lambda t: on_the_way_back(t.logits(), lambda dz: dz / convert(len(dz), dz.dtype)[()])), G),
)  # fmt: skip


def _first_reads(t: Transformer, y: Node, m: Node) -> Node:
    y = t.decoder_layer(0, y, m).output()
    second = t.decoder_layer(1, y, m)
    return t.last_norm("decoder", second.third(second.first(y)))


def _inverted(t: Transformer) -> Transformer:
    if t.src_keep is not None:
        t.src_keep = t.memory_keep = ~t.src_keep
    return t


def _triangle(keep: Any, n: int, m: int) -> Any:
    triangle = np.tri(n, m, dtype=np.bool_)
    return triangle if keep is None else keep & triangle


def _causal_encoder(t: Transformer) -> Transformer:
    n = t.src.shape[1]
    t.src_keep = _triangle(t.src_keep, n, n)
    return t


def _causal_memory(t: Transformer) -> Transformer:
    t.memory_keep = _triangle(t.memory_keep, t.tgt.shape[1], t.src.shape[1])
    return t


def _first_half(z: Node) -> Node:
    first = np.arange(len(z.value))[:, None, None] < (len(z.value) + 1) // 2
    return on_the_way_back(z, lambda dz: np.where(first, dz, 0 * dz))


def _fitted(change: Callable[[Transformer, Any], Node]) -> Any:
    def formula(theta: Any, src: Any, tgt: Any, *params: Any, **options: Any) -> Any:
        return change(Transformer(src, tgt, list(map(Node, params)), **options), theta).value

    return formula


def _embedding_scaled(t: Transformer, theta: Any) -> Node:
    factor = theta / root(t.width, t.table.value)
    tables = [Node(embedded(t.table, ids).value * factor) for ids in (t.src, t.tgt)]
    x, y = (_plus(each, _encoding(t, np.arange(each.value.shape[1]))) for each in tables)
    return t.read(t.decode(y, t.encode(x)))


def _with_eps(t: Transformer, theta: Any) -> Node:
    t.eps = theta
    return t.logits()


FITS = (
    Fit("factor of the embeddings", "sqrt(d)", SCALE, _fitted(_embedding_scaled), (1e-3, 1e3)),
    Fit("eps", "the option's value", "layer_norm.variance", _fitted(_with_eps), (1e-14, 1.0)),
)  # fmt: skip
