"""What goes wrong in a Transformer around its layers: other wirings, each with what it breaks."""

import numpy as np

from ...arithmetic import convert
from ..mistake import Fit, Mistake, Of, Variant
from . import _transformer_wirings as w
from ._attention_formulas import root, softmax
from ._layer_faults import past_norm, without_norms
from ._tape import Node, on_the_way_back
from ._transformer_inputs import divided, halves, last_position, over_batch, positions_scaled, scaled_twice, shifted
from ._transformer_wiring import Transformer

SCALE, TIED = "embedding.scaled_embedding_norm", "embedding.tied_weights_add_gradients"
POSITIONS, COLUMNS = "self_attention.without_positions_order_is_lost", "positional_encoding.even_columns_are_sines"
ENCODER, DECODER = "encoder.encoder_stack_is_equivariant", "decoder.decoder_stack_is_causal"
MASK, CROSS = "masked_attention.extra_padding_changes_nothing", "decoder_sublayers.cross_sublayer_acts_per_token"
PRE, STACK = "residual_norm.pre_norm_stack_without_branches", "residual.stack_unrolls"
SCATTER, FACTOR = "embedding.gradient_scatters_and_adds", "embedding.scaled_embedding_gradient"
LOGITS = "embedding.output_gradient"

ID = "transformer."
G: Of = "gradients"
MISTAKES = (
    Variant(ID + "pre_norm", "is pre-norm, x + f(LN(x)), whatever order says", PRE, w.output(w.of_order("pre")), converter='Check it with options={"order": "pre"}, if that is what is meant'),
    Variant(ID + "post_norm", "is post-norm, LN(x + f(x)), without norms after the last layers, whatever order says", PRE, w.output(w.of_order("post")), converter='Check it with options={"order": "post"}, if that is what is meant'),
    Variant(ID + "norms_after_post", "normalises what the last layers of post-norm give once more, with gain 1 and bias 0, as a new nn.Transformer", PRE, w.output(w.norms_after_post), converter="Leave these norms out: in nn.Transformer set encoder.norm and decoder.norm to None"),
    Variant(ID + "log_probabilities", "returns the logarithms of the probabilities, log_softmax of the logits", "softmax.shift_invariance", w.output(w.replaced(logits=lambda t, h: w.log_softmax(t.read(h)))), converter="Return the logits; a cross-entropy of logits takes the logarithm itself"),
    Variant(ID + "embedding_unscaled", "does not multiply the embeddings by sqrt(d)", SCALE, w.output(w.on_both(lambda t, ids: t.embed(ids, scaled=False))), converter="Multiply the rows of the table by sqrt(d), or keep two tables: this one for the logits, and one sqrt(d) as large for the inputs"),
    Variant(ID + "positions_in_halves", "has all sines first and then all cosines in the positional encoding", COLUMNS, w.output(w.on_both(halves)), converter="Interleave the columns: sines at 2i, cosines at 2i + 1"),
    Variant(ID + "positions_from_one", "counts positions from 1", "positional_encoding.shift_is_rotation", w.output(w.on_both(lambda t, ids: t.embed(ids, start=1))), converter="Count positions from 0"),
    Mistake(ID + "source_unscaled", "does not multiply the embeddings of the source by sqrt(d)", SCALE, w.output(w.replaced(lambda t: t.embed(t.src, scaled=False)))),
    Mistake(ID + "target_unscaled", "does not multiply the embeddings of the target by sqrt(d)", SCALE, w.output(w.replaced(target=lambda t: t.embed(t.tgt, scaled=False)))),
    Mistake(ID + "embedding_scaled_twice", "multiplies the embeddings by d instead of sqrt(d)", SCALE, w.output(w.on_both(scaled_twice))),
    Mistake(ID + "embedding_divided", "divides the embeddings by sqrt(d)", SCALE, w.output(w.on_both(divided))),
    Mistake(ID + "positions_scaled", "multiplies the positional encoding by sqrt(d) too", SCALE, w.output(w.on_both(positions_scaled))),
    Mistake(ID + "positions_missing", "has no positional encoding", POSITIONS, w.output(w.on_both(lambda t, ids: t.look_up(ids)))),
    Mistake(ID + "positions_of_target_only", "has no positional encoding in the source", POSITIONS, w.output(w.replaced(lambda t: t.look_up(t.src)))),
    Mistake(ID + "positions_of_source_only", "has no positional encoding in the target", POSITIONS, w.output(w.replaced(target=lambda t: t.look_up(t.tgt)))),
    Mistake(ID + "positions_over_batch", "takes the place in the batch for the position", POSITIONS, w.output(w.on_both(over_batch))),
    Mistake(ID + "positions_all_the_last", "adds the encoding of the length to every token", POSITIONS, w.output(w.on_both(last_position))),
    Mistake(ID + "positions_in_every_layer", "adds the positional encoding again before the second layer of the encoder", POSITIONS, w.output(w.replaced(memory=w.positions_in_every_layer))),
    Mistake(ID + "target_positions_go_on", "lets the positions of the target go on where the source ends", POSITIONS, w.output(w.replaced(target=lambda t: t.embed(t.tgt, start=t.src.shape[1])))),
    Mistake(ID + "logits_scaled", "multiplies the logits by sqrt(d)", LOGITS, w.output(lambda t: t.logits().times(root(t.width, t.table.value)))),
    Mistake(ID + "logits_divided", "divides the logits by sqrt(d)", LOGITS, w.output(lambda t: t.logits().times(1 / root(t.width, t.table.value)))),
    Mistake(ID + "probabilities", "returns the probabilities, softmax of the logits", LOGITS, w.output(lambda t: Node(softmax(t.logits().value)))),
    Mistake(ID + "target_shifted", "shifts the target to the right, the token 0 first, though tgt is what the decoder reads", DECODER, w.output(w.replaced(target=lambda t: t.embed(shifted(t.tgt))))),
    Mistake(ID + "logits_shifted", "returns for a position the logits of the one before it", DECODER, w.output(lambda t: Node(np.roll(t.logits().value, 1, 1)))),
    Mistake(ID + "last_encoder_layer_missing", "takes for the memory what goes into the last layer of the encoder", STACK, w.output(w.replaced(memory=lambda t, x: t.encode(x, (0,))))),
    Mistake(ID + "first_encoder_layer_twice", "has the parameters of the first layer of the encoder in all of them", STACK, w.output(w.replaced(memory=lambda t, x: t.encode(x, (0, 0))))),
    Mistake(ID + "first_decoder_layer_twice", "has the parameters of the first layer of the decoder in all of them", STACK, w.output(w.replaced(hidden=lambda t, y, m: t.decode(y, m, (0, 0))))),
    Mistake(ID + "last_decoder_layer_missing", "leaves out the last layer of the decoder", STACK, w.output(w.replaced(hidden=lambda t, y, m: t.decode(y, m, (0,))))),
    Mistake(ID + "layers_reversed", "has the layers of both stacks in the reverse order", STACK, w.output(w.replaced(memory=lambda t, x: t.encode(x, (1, 0)), hidden=lambda t, y, m: t.decode(y, m, (1, 0))))),
    Mistake(ID + "memory_layer_by_layer", "lets each layer of the decoder read the layer of the encoder with its number, not the last one", CROSS, w.output(w.replaced(hidden=w.layer_by_layer))),
    Mistake(ID + "memory_not_encoded", "lets the decoder read the embeddings of the source, without the encoder", CROSS, w.output(w.replaced(memory=lambda t, x: x))),
    Mistake(ID + "memory_of_first_layer_only", "lets the first layer of the decoder alone read the memory", CROSS, w.output(w.replaced(hidden=lambda t, y, m: w.first_reads(t, y, m)))),
    Mistake(ID + "encoder_skipped_over", "adds the embeddings of the source to what the encoder gives", STACK, w.output(w.replaced(memory=lambda t, x: t.encode(x) + x))),
    Mistake(ID + "src_mask_ignored", "does not use src_mask", MASK, w.output(w.changed(src_keep=None, memory_keep=None))),
    Mistake(ID + "src_mask_not_in_encoder", "does not use src_mask in the encoder", MASK, w.output(w.changed(src_keep=None))),
    Mistake(ID + "src_mask_not_in_decoder", "does not use src_mask where the decoder reads the memory", MASK, w.output(w.changed(memory_keep=None))),
    Mistake(ID + "src_mask_inverted", "masks the tokens of the source that are to be kept, and keeps the others", "masking.masked_equals_softmax_over_kept", w.output(lambda t: w.inverted(t).logits())),
    Mistake(ID + "not_causal", "lets the target attend to later tokens", DECODER, w.output(w.layers_changed(w.without_mask))),
    Mistake(ID + "encoder_causal", "lets a token of the source attend to those before it only", ENCODER, w.output(lambda t: w.causal_encoder(t).logits())),
    Mistake(ID + "memory_causal", "lets a token of the target read the memory up to its own position only", CROSS, w.output(lambda t: w.causal_memory(t).logits())),
    Mistake(ID + "final_norms_missing", "leaves out the norms after the last layers of pre-norm", PRE, w.output(lambda t: t.read(t.decode(t.target, t.encode(t.source, final=False), final=False)))),
    Mistake(ID + "encoder_norm_missing", "leaves out the norm after the last layer of the encoder", PRE, w.output(w.replaced(memory=lambda t, x: t.encode(x, final=False)))),
    Mistake(ID + "decoder_norm_missing", "leaves out the norm after the last layer of the decoder", PRE, w.output(w.replaced(hidden=lambda t, y, m: t.decode(y, m, final=False)))),
    Mistake(ID + "final_norms_exchanged", "takes the last norm of either stack for the other", PRE, w.output(w.norms_exchanged)),
    Mistake(ID + "norms_missing", "leaves out the norms of all sublayers", PRE, w.output(w.layers_changed(lambda layer: without_norms(layer, (1, 2, 3))))),
    Mistake(ID + "heads_ignored", "has one head, whatever heads says", "attention_scores.scaled_variance_is_one", w.output(w.changed(heads=1))),
    Mistake(ID + "scale_missing", "does not divide the scores by sqrt(d / heads)", "attention_scores.scaled_variance_is_one", w.output(w.layers_changed(w.unscaled))),
    Mistake(ID + "activation_missing", "has no activation in the feed-forward layers", "feed_forward.position_wise", w.output(w.layers_changed(w.linear))),
    Mistake(ID + "gelu_for_relu", "has gelu for relu", "feed_forward.position_wise", w.output(w.layers_changed(w.activated("gelu")))),
    Mistake(ID + "eps_ignored", "has eps 1e-5, whatever eps says", "layer_norm.variance", w.output(w.changed(eps=1e-5))),
    Mistake(ID + "gradient_of_logits_only", "has for the table what comes from the logits only", TIED, w.backward(w.back_at(False, False, True)), G),
    Mistake(ID + "gradient_without_logits", "leaves out what the logits bring to the table", TIED, w.backward(w.back_at(True, True, False)), G),
    Mistake(ID + "gradient_without_source", "leaves out what the source brings to the table", TIED, w.backward(w.back_at(False, True, True)), G),
    Mistake(ID + "gradient_without_target", "leaves out what the target brings to the table", TIED, w.backward(w.back_at(True, False, True)), G),
    Mistake(ID + "gradient_unscaled", "leaves out sqrt(d) on the way back to the table", FACTOR, w.backward(w.on_both(w.unscaled_back)), G),
    Mistake(ID + "gradient_of_last_occurrence", "lets a token's last position overwrite what its others bring to the table", SCATTER, w.backward(w.on_both(w.last_occurrence)), G),
    Mistake(ID + "gradient_without_memory", "has no way back from the decoder to the encoder", CROSS, w.backward(w.replaced(hidden=w.memory_for(()))), G),
    Mistake(ID + "gradient_of_last_reader", "takes the way back to the encoder from the last layer of the decoder only", CROSS, w.backward(w.replaced(hidden=w.memory_for((1,)))), G),
    Mistake(ID + "gradient_of_first_reader", "takes the way back to the encoder from the first layer of the decoder only", CROSS, w.backward(w.replaced(hidden=w.memory_for((0,)))), G),
    Mistake(ID + "gradient_past_norms", "passes the cotangent by the norms of all sublayers, as it is", "residual_norm.post_norm_along_a_curve", w.backward(w.layers_changed(lambda layer: past_norm(layer, (1, 2, 3)))), G),
    Mistake(ID + "gradient_layers_exchanged", "returns the gradients of one layer's parameters for those of the other", STACK, w.backward(Transformer.logits, w.layers_exchanged), G),
    Mistake(ID + "gradient_of_half_batch", "has the gradients of the first half of the batch only", TIED, w.backward(lambda t: w.first_half(t.logits())), G),
    Mistake(ID + "gradient_averaged_over_batch", "averages the gradients over the batch instead of adding them up", TIED, w.backward(lambda t: on_the_way_back(t.logits(), lambda dz: dz / convert(len(dz), dz.dtype)[()])), G),
)  # fmt: skip

FITS = (
    Fit("factor of the embeddings", "sqrt(d)", SCALE, w.fitted(w.embedding_scaled), (1e-3, 1e3)),
    Fit("eps", "the option's value", "layer_norm.variance", w.fitted(w.with_eps), (1e-14, 1.0)),
)  # fmt: skip
