"""Mistakes in the text of a layer, one each, with a theorem that sees it."""

import inspect
from typing import Any, NamedTuple

import numpy as np

from numeric import decoder, encoder, optimizer
from numeric.layers import (
    activations,
    attention,
    blocked_attention,
    cross_entropy,
    dropout,
    embedding,
    feed_forward,
    layer_norm,
    linear,
    masking,
    multi_head,
    residual,
    rms_norm,
    unembedding,
)


class LayerMutant(NamedTuple):
    name: str
    layer: Any
    right: str  # stands once in the text of the layer
    wrong: str
    seen_by: str  # a theorem

    def plant(self, monkeypatch):
        text = inspect.getsource(self.layer)
        assert text.count(self.right) == 1, f"{self.name}: {text.count(self.right)} such places"
        planted = dict(vars(self.layer))
        exec(compile(text.replace(self.right, self.wrong), self.layer.__file__, "exec"), planted)
        for name, value in vars(self.layer).items():
            if inspect.isclass(value):
                planted[name] = value  # so that what others made is still an instance of it
            elif inspect.isfunction(value) and value.__module__ == self.layer.__name__:
                monkeypatch.setattr(self.layer, name, planted[name])


class Coarse(NamedTuple):
    """What every function of a layer gives in float64, rounded to float32."""

    layer: Any

    def plant(self, monkeypatch):
        for name, value in list(vars(self.layer).items()):
            if inspect.isfunction(value) and value.__module__ == self.layer.__name__ and not name.startswith("_"):
                monkeypatch.setattr(self.layer, name, _rounded(value))


def _rounded(function):
    def coarse(*arguments, **options):
        found = function(*arguments, **options)
        return type(found)(map(_in_float32, found)) if type(found) is tuple else _in_float32(found)

    return coarse


def _in_float32(value):
    if isinstance(value, float):
        return float(np.float32(value))
    return value.astype(np.float32).astype(float) if getattr(value, "dtype", None) == np.float64 else value


def of(layer, *mutants):
    name = layer.__name__.rpartition(".")[2]
    return [LayerMutant(f"{name}: {each[0]}", layer, *each[1:]) for each in mutants]


MUTANTS = [
    *of(
        linear,
        ("bias subtracted", "y += b", "y -= b", "feed_forward_gradients.gradient_of_first_bias"),
        ("one too much", "y += b", "y += b + 1", "feed_forward.preactivation_of_multiple"),
        ("no bias", "    y += b\n", "", "feed_forward_gradients.gradient_of_first_bias"),
        ("one row for all", "y = matmul(rows_of(work), W)", "y = matmul(rows_of(work)[::-1], W)", "self_attention_gradients.gradient_of_value_projection"),
        ("doubled", "y = matmul(rows_of(work), W)", "y = 2 * matmul(rows_of(work), W)", "self_attention_gradients.gradient_of_value_projection"),
        ("dx doubled", "dx = matmul(g, W.T)", "dx = 2 * matmul(g, W.T)", "self_attention_gradients.self_attention_input_gradient"),
        ("dW of the other sign", "dW = matmul(rows.T, g)", "dW = -matmul(rows.T, g)", "self_attention_gradients.gradient_of_query_projection"),
    ),
    *of(
        activations,
        ("relu keeps the negative part", "np.where(greater(zero, x), zero, x), x", "np.where(greater(x, zero), zero, x), x", "activations.relu_derivative"),
        ("relu squared", "np.where(greater(zero, x), zero, x), x", "np.where(greater(zero, x), zero, x * x), x", "activations.odd_part"),
        ("relu below 0", "np.where(greater(zero, x), zero, x), x", "np.where(greater(zero, x), zero, x) - 3, x", "activation_bounds.relu_is_nonnegative"),
        ("relu passes every cotangent", "active = greater(x, 0)", "active = greater(x, 0) | True", "activations.relu_derivative_of_negative"),
        ("silu's sigmoid mirrored", "1 / (1 + np.exp(-x))", "1 / (1 + np.exp(x))", "activations.silu_derivative"),
        ("silu's slope without x", "s * (1 + x * (1 - s))", "s * (1 + (1 - s))", "activations.silu_derivative"),
        ("swiglu's gate for its value", "g * (a * s)", "g * (b * s)", "activations.swiglu_derivative_in_value"),
        ("gelu without the root of 2", "x / -np.sqrt(convert(2, x.dtype))", "x / -convert(2, x.dtype)", "activations.gelu_derivative"),
        ("gelu's slope without its density", "(below + x * density)", "(below + density)", "activations.gelu_derivative"),
        ("gelu_tanh with another cubic", "convert(44715, dtype)", "convert(44714, dtype)", "activations.gelu_tanh_derivative"),
        ("gelu_tanh's slope without the 3", "(1 + 3 * _cubic", "(1 + 2 * _cubic", "activations.gelu_tanh_derivative"),
    ),
    *of(
        feed_forward,
        ("no second bias", "linear.forward(h, W_2, b_2)", "linear.forward(h, W_2, 0 * b_2)", "feed_forward_gradients.gradient_of_second_bias"),
        ("first bias ignored", "linear.forward(work, W_1, b_1)", "linear.forward(work, W_1, 0 * b_1)", "feed_forward_gradients.gradient_of_first_bias"),
        ("rows see all rows", "linear.forward(work, W_1, b_1)", "linear.forward(work + 4 * work.sum(0), W_1, b_1)", "feed_forward_gradients.gradient_of_first_weights"),
        ("rows weighed by their place", "linear.forward(work, W_1, b_1)", "linear.forward(work * [[k + 1] for k in range(len(work))], W_1, b_1)", "feed_forward.permutation_equivariance"),
        ("hidden units weighed by their place", "linear.forward(work, W_1, b_1)", "linear.forward(work, W_1 * [k + 1 for k in range(hidden)], b_1)", "feed_forward.hidden_unit_permutation"),
        ("another activation", "activations.forward(activation, a)", 'activations.forward("silu", a)', "feed_forward.relu_rescaling"),
        ("activation passed over on the way back", "(da,) = activations.backward(dh, cache.hidden)", "da = dh", "feed_forward_gradients.gradient_of_first_weights"),
        ("no bias gradient", "round_to(db_2, dy.dtype)", "round_to(0 * db_2, dy.dtype)", "feed_forward_gradients.gradient_of_second_bias"),
    ),
    *of(
        layer_norm,
        ("not centred", "x_hat = work - work.mean(-1, keepdims=True)", "x_hat = +work", "layer_norm.sum_is_zero"),
        ("variance divided by d - 1", "(x_hat * x_hat).mean(-1, keepdims=True) +", "(x_hat * x_hat).sum(-1, keepdims=True) / max(x.shape[-1] - 1, 1) +", "layer_norm.variance"),
        ("eps outside the root", "root = np.sqrt(radicand)", "root = np.sqrt(radicand) + eps", "layer_norm.squared_length"),
        ("normalised over the tokens", "x_hat = work - work.mean(-1, keepdims=True)", "x_hat = work - work.mean(0, keepdims=True)", "layer_norm.acts_per_token"),
        ("bias subtracted", "y += bias", "y -= bias", "layer_norm_gradients.bias_gradient"),
        ("dx keeps its mean", "    dx -= dx.mean(-1, keepdims=True)\n", "", "layer_norm_gradients.gradient_sums_to_zero"),
        ("dx keeps its share along x^", "    dx -= x_hat * overlap\n", "", "layer_norm_gradients.vjp"),
        ("gain left out on the way back", "dx = dbias * gain", "dx = dbias * 1", "layer_norm_gradients.vjp"),
        ("dgain without x^", "dgain = dbias * x_hat", "dgain = dbias * 1", "layer_norm_gradients.gain_gradient"),
    ),
    *of(
        rms_norm,
        ("sum for mean", "radicand = (work * work).mean(-1", "radicand = (work * work).sum(-1", "rms_norm.value"),
        ("no gain", "round_to(x_hat * gain, x.dtype)", "round_to(x_hat * 1, x.dtype)", "rms_norm_gradients.gain_gradient"),
        ("centred", "x_hat = work / root", "x_hat = (work - work.mean(-1, keepdims=True)) / root", "rms_norm.value"),
        ("dx keeps its share along x^", "dx -= x_hat *", "dx -= 0 * x_hat *", "rms_norm_gradients.vjp"),
        ("dx not divided", "    dx /= root\n", "", "rms_norm_gradients.vjp"),
    ),
    *of(
        masking,
        ("masked keys weigh", "np.copyto(scores, convert(0, scores.dtype), where=~kept)", "np.copyto(scores, convert(1, scores.dtype), where=~kept)", "masking.zero_weight_on_masked"),
        ("not normalised", "    scores /= total\n", "    scores /= 2 * total\n", "masking.masked_weights_sum_to_one"),
        ("dp without its sum", "p * (g - (p * g).sum(-1, keepdims=True))", "p * g", "masked_attention.gradient_at_one_key"),
        ("causal mask strict", "n_k - n_q if lower_right else 0,", "n_k - n_q if lower_right else -1,", "causal_attention.is_masked_attention"),
        ("aligned too early", "n_k - n_q if lower_right else 0,", "n_k - n_q - 9 if lower_right else 0,", "causal_alignments.lower_right_keeps_the_first_key"),
        ("aligned first for last", "n_k - n_q if lower_right else 0,", "0 if lower_right else 0,", "causal_alignments.causal_alignments_differ"),
    ),
    *of(
        attention,
        ("not scaled", "scaled = widen(q) / root_of_width(keys)", "scaled = widen(q) / 1", "attention.definition"),
        ("scaled by d_k", "scaled = widen(q) / root_of_width(keys)", "scaled = widen(q) / root_of_width(keys) ** 2", "attention.definition"),
        ("the mask ignored", "keys.swapaxes(-1, -2)), keep)", "keys.swapaxes(-1, -2)), None)", "masked_attention.masked_output"),
        ("dv of the other sign", "dv = matmul(", "dv = -matmul(", "attention_gradients.gradient_of_values"),
        ("ds keeps its mean", "    ds -= (g * y).sum(-1, keepdims=True)\n", "", "attention_gradients.gradient_of_keys"),
        ("dq not scaled", "dq = matmul(ds, k) / root_of_width(k)", "dq = matmul(ds, k)", "attention_gradients.gradient_of_queries"),
        ("dk scaled twice", "dk = matmul(ds.swapaxes(-1, -2), q)", "dk = matmul(ds.swapaxes(-1, -2), q) / root_of_width(k)", "attention_gradients.gradient_of_keys"),
        ("queries and keys exchanged on the way back", "dq, dk, dv = (round_to", "dk, dq, dv = (round_to", "attention_identities.query_key_balance"),
    ),
    *of(
        blocked_attention,
        ("sums not rescaled", "        l *= factor\n", "", "attention.definition"),
        ("outputs not rescaled", "        o *= factor\n", "", "attention.definition"),
        ("not divided", "    y /= total\n", "", "attention_identities.attention_shift"),
        ("ds keeps its mean", "        ds -= row_term[..., rows, :]\n", "", "attention_identities.query_key_balance"),
        ("dq not scaled", "    dq /= root_of_width(k)\n", "", "attention_identities.query_key_balance"),
    ),
    *of(
        multi_head,
        ("heads mixed up", "np.moveaxis(h, -2, -4)", "np.moveaxis(h, -2, -4)[..., ::-1, :, :]", "multi_head.concat_then_project_is_sum_over_heads"),
        ("values projected as keys", "_projected(m, weights.w_k, weights.b_k), _projected(m, weights.w_v, weights.b_v)", "_projected(2 * m, weights.w_k, weights.b_k), _projected(m, weights.w_v, weights.b_v)", "multi_head.one_head_is_plain_attention"),
        ("the mask ignored", "attention.forward(q, k, v, keep)", "attention.forward(q, k, v, None)", "decoder_sublayers.causal_sublayer_ignores_future"),
        ("dm without the keys", "dm = matmul(dk, weights.w_k.T)", "dm = 0 * matmul(dk, weights.w_k.T)", "self_attention_gradients.self_attention_input_gradient"),
        ("dw_q and dw_o exchanged", "dw_q, dw_k, dw_v, dw_o = map", "dw_o, dw_k, dw_v, dw_q = map", "multi_head_gradients.gradient_of_output_projection"),
        ("dw_v doubled", "(x, m, m, heads), (dq, dk, dv, g))", "(x, m, m, heads), (dq, dk, 2 * dv, g))", "multi_head_gradients.gradient_of_value_projection"),
        ("kept values doubled", "return _split(k, n_groups, 1), _split(v, n_groups, 1)", "return _split(k, n_groups, 1), _split(2 * v, n_groups, 1)", "cached_decoding.cached_decoding_equals_full"),
    ),
    *of(
        cross_entropy,
        ("of the other sign", "losses = -(1 - e) * z[", "losses = (1 - e) * z[", "loss.hard_label_loss"),
        ("sum for mean", "(np.log(total[:, 0]) + losses).sum() / t.size", "(np.log(total[:, 0]) + losses).sum()", "loss_rows.valid_row_gradient"),
        ("smoothing over all but one class", "losses - e * z.sum(-1) / classes", "losses - e * z.sum(-1) / (classes + 1)", "loss.smoothed_loss"),
        ("ignored rows count", "counted = targets != ignore_index", "counted = targets != ignore_index\n    targets = np.where(counted, targets, 0)\n    counted = targets >= 0", "loss_ignored_rows.ignored_row_has_zero_gradient"),
        ("gradient without the targets", "rows[np.arange(targets.size), targets] -= 1 - e", "rows[np.arange(targets.size), targets] -= 0", "loss.cross_entropy_gradient"),
        ("gradient of the sum", "rows *= g / targets.size", "rows *= g", "loss_rows.valid_row_gradient"),
    ),
    *of(
        embedding,
        ("tokens in reverse", "y = table[tokens]", "y = table[::-1][tokens]", "embedding.lookup_is_one_hot_product"),
        ("scaled by d", "np.sqrt(convert(rows.shape[-1], rows.dtype))", "convert(rows.shape[-1], rows.dtype)", "embedding.scaled_embedding_norm"),
        ("a token keeps its last cotangent", "dtable[named] = sums * _root(sums) if scaled else sums", "dtable[named] = g.reshape(-1, g.shape[-1])[order][np.append(starts[1:], len(order)) - 1]", "embedding.gradient_scatters_and_adds"),
        ("not scaled on the way back", "dtable[named] = sums * _root(sums) if scaled else sums", "dtable[named] = sums", "embedding.scaled_embedding_gradient"),
    ),
    *of(
        unembedding,
        ("hidden states in reverse", "rows_of(work)", "rows_of(work)[::-1]", "embedding.input_gradient"),
        ("doubled", "matmul(rows_of(work), table.T)", "2 * matmul(rows_of(work), table.T)", "embedding.output_gradient"),
        ("dy of the other sign", "dy = matmul(", "dy = -matmul(", "embedding.input_gradient"),
        ("dtable of the other sign", "dtable = matmul(", "dtable = -matmul(", "embedding.tied_gradient"),
    ),
    *of(
        residual,
        ("no identity path", "return work + f, inner, None", "return 0 * work + f, inner, None", "residual_norm.pre_norm_without_branch"),
        ("norm before for norm after", 'if placement == "post":\n        total,', 'if placement != "post":\n        total,', "residual_norm.post_norm_without_branch"),
        ("identity lost on the way back", "dx = ds + du", "dx = 0 * ds + du", "residual_norm.post_norm_along_a_curve"),
        ("pre-norm identity lost on the way back", "        dx += g\n", "", "residual_norm.pre_norm_keeps_the_mean_direction"),
        ("branch subtracted", "return work + f, inner, None", "return work - f, inner, None", "residual_norm.pre_norm_along_a_curve"),
    ),
    *of(
        dropout,
        ("not scaled", "    kept /= share\n", "", "dropout.expected_output_is_input"),
        ("scaled by the rate", "convert(1 - _rate(rate, work.dtype), work.dtype)", "convert(1 + _rate(rate, work.dtype), work.dtype)", "dropout.variance_of_output"),
        ("nothing dropped", "keep = np.broadcast_to(keep, x.shape)", "keep = np.broadcast_to(keep | True, x.shape)", "dropout.expected_squared_error"),
        ("dropped entries kept instead", "keep = np.broadcast_to(keep, x.shape)", "keep = np.broadcast_to(~keep, x.shape)", "dropout.rate_zero_is_identity"),
        ("scaled twice on the way back", "return round_to(_kept(g,", "return 2 * round_to(_kept(g,", "dropout.gradient_is_masked_cotangent"),
    ),
    *of(
        encoder,
        ("no feed-forward", "sublayers.connect(x, transformation,", "sublayers.connect(0 * x, transformation,", "encoder.encoder_layer_is_equivariant"),
        ("norms exchanged", 'params["self_attention_norm"], config', 'params["feed_forward_norm"], config', "encoder.encoder_layer_is_equivariant"),
        ("layer left out", "x, cache = layer_forward(x, layer, config, keep, rng)", "_, cache = layer_forward(x, layer, config, keep, rng)", "encoder.encoder_layer_is_equivariant"),
        ("later tokens weighed more", "    y, norm = sublayers.final_norm(x, params, config)", "    x = x * (1 + 1 + np.arange(len(x)))[:, None]\n    y, norm = sublayers.final_norm(x, params, config)", "encoder.encoder_layer_is_equivariant"),
    ),
    *of(
        decoder,
        ("no mask", 'sublayers.self_attention(layer["self_attention"], config, keep)', 'sublayers.self_attention(layer["self_attention"], config, None)', "decoder.decoder_layer_is_causal"),
        ("memory ignored", "across = sublayers.cross_attention(memory,", "across = sublayers.cross_attention(0 * memory,", "decoder.decoder_layer_is_causal"),
        ("cross-attention masked", "config, memory_keep)", "config, np.arange(len(memory)) == 0)", "decoder.decoder_layer_is_causal"),
        ("norms exchanged", 'params["cross_attention_norm"], config', 'params["self_attention_norm"], config', "decoder.decoder_layer_is_causal"),
    ),
    *of(
        optimizer,
        ("decays exchanged", "moment + _rest_of_one(beta, moment.dtype) * (gradient - moment)", "gradient + _rest_of_one(beta, moment.dtype) * (moment - gradient)", "training.first_step"),
        ("moments not corrected", "moment / _rest_of_one(power, moment.dtype)", "moment / 1", "training.bias_correction_is_exact_for_constant_gradient"),
        ("eps under the root", "(np.sqrt(v) + convert(eps, m.dtype))", "np.sqrt(v + convert(eps, m.dtype))", "training.constant_gradient_step"),
        ("a step uphill", "-convert(rate, m.dtype) * m", "convert(rate, m.dtype) * m", "training.constant_gradient_step"),
        ("no warm-up", "s / (w * np.sqrt(w))", "s / (w * w)", "training_schedule.schedule_rises"),
        ("the larger branch", "return arb.min(arb(x), arb(y))", "return arb.max(arb(x), arb(y))", "training_schedule.lower_branch_at_most_peak"),
    ),
]  # fmt: skip
