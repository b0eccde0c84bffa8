"""What goes wrong in multi-head attention: formulas, each with what it breaks."""

from typing import Any

import numpy as np

from ...arithmetic import matmul
from ..mistake import Fit, Mistake, Variant
from ._attention_formulas import masked_to_zero, number, right_scale, root, softmax, wide
from ._masks import kept
from ._multi_head_formulas import (
    Pass,
    Wiring,
    attention_of,
    backward,
    keep_of,
    merge,
    share,
    split,
    summed_over_groups,
    tokens,
    wired,
)

SPLIT, SUM = "multi_head.split_merge_is_identity", "multi_head.concat_then_project_is_sum_over_heads"
PROJECTED = "multi_head.one_projection_then_split"
WEIGHTS, VARIANCE = "attention.weights_sum_to_one", "attention_scores.scaled_variance_is_one"
GROUPS = "multi_head_groups.grouped_keys_gradient_sums_over_group"


# Heads


def _rows_as_heads(z: Any, count: int) -> Any:
    return z.reshape(z.shape[0], count, z.shape[1], -1)


def _heads_as_rows(h: Any) -> Any:
    return h.reshape(h.shape[0], h.shape[2], -1)


def _interleaved(z: Any, count: int) -> Any:
    """Column c to head c mod count."""
    return np.moveaxis(z.reshape(*z.shape[:-1], -1, count), -1, 1)


def _merge_interleaved(h: Any) -> Any:
    return np.moveaxis(h, 1, -1).reshape(h.shape[0], h.shape[2], -1)


def _batch_for_heads(h: Any) -> Any:
    """(H, B, n, w) is taken for (B, H, n, w), as after a split that puts the heads first."""
    return merge(h.swapaxes(0, 1).reshape(h.shape))


def _reversed(h: Any) -> Any:
    return merge(h[:, ::-1])


def _tiled(k: Any, heads: int) -> Any:
    """Head h has keys h mod groups."""
    return np.concatenate([k] * (heads // k.shape[1]), 1)


def _first_group(k: Any, heads: int) -> Any:
    return np.repeat(k[:, :1], heads, 1)


def _of_first_head(z: Any, keep: Any) -> Any:
    return softmax(np.repeat(z[:, :1], z.shape[1], 1), keep)


def _over_heads(z: Any, keep: Any) -> Any:
    powers = masked_to_zero(np.exp(z), keep)
    return powers / powers.sum(1, keepdims=True)


def _by_heads(q: Any, k: Any, v: Any) -> Any:
    return 1 / root(q.shape[-1] * q.shape[1], q)


# Projections


def _square(w: Any) -> Any:
    return w.T if w.shape[0] == w.shape[1] else w


def _transposed(x: Any, m: Any, w_q: Any, w_k: Any, w_v: Any) -> Any:
    return matmul(x, _square(w_q)), matmul(m, _square(w_k)), matmul(m, _square(w_v))


def _keys_for_queries(x: Any, m: Any, w_q: Any, w_k: Any, w_v: Any) -> Any:
    first, second = (w_k, w_q) if w_k.shape == w_q.shape else (w_q, w_k)
    return matmul(x, first), matmul(m, second), matmul(m, w_v)


def _one_for_keys_and_values(x: Any, m: Any, w_q: Any, w_k: Any, w_v: Any) -> Any:
    return matmul(x, w_q), matmul(m, w_k), matmul(m, w_k)


def _keys_and_values_swapped(x: Any, m: Any, w_q: Any, w_k: Any, w_v: Any) -> Any:
    return matmul(x, w_q), matmul(m, w_v), matmul(m, w_k)


def _queries_unprojected(x: Any, m: Any, w_q: Any, w_k: Any, w_v: Any) -> Any:
    return x, matmul(m, w_k), matmul(m, w_v)


def _queries_of_memory(x: Any, m: Any, w_q: Any, w_k: Any, w_v: Any) -> Any:
    return matmul(m if m.shape == x.shape else x, w_q), matmul(m, w_k), matmul(m, w_v)


def _self_for_cross(*arrays: Any, heads: int, kv_heads: int | None, mask: Any, causal: bool) -> Any:
    """Keys and values of x_q; where a mask does not fit those, of x_kv."""
    x, m, *weights = wide(*arrays)
    tokens_of_keys = m if mask is not None and x.shape != m.shape else x
    h = attention_of(Wiring(), (x, tokens_of_keys, *weights), heads, kv_heads or heads, mask, causal)
    return matmul(merge(h), weights[3])


# The output


def _unprojected(h: Any, w_o: Any, merge: Any) -> Any:
    return merge(h)


def _transposed_output(h: Any, w_o: Any, merge: Any) -> Any:
    return matmul(merge(h), w_o.T)


def _blocks_of_output(h: Any, w_o: Any, merge: Any) -> Any:
    """Each head through its own block on the diagonal of w_o, and then side by side."""
    heads, width = h.shape[1], h.shape[-1]
    blocks = [w_o[i : i + width, i : i + width] for i in range(0, heads * width, width)]
    return np.concatenate([matmul(h[:, i], block) for i, block in enumerate(blocks)], -1)


def _mean_of_heads(h: Any, w_o: Any, merge: Any) -> Any:
    parts = w_o.reshape(h.shape[1], h.shape[-1], -1)
    return matmul(h, parts).mean(1)


def _last_head_only(h: Any, w_o: Any, merge: Any) -> Any:
    return matmul(h[:, -1], w_o[-h.shape[-1] :])


def _all_transposed(*arrays: Any, heads: int, kv_heads: int | None, mask: Any, causal: bool) -> Any:
    wiring = wired(project=_transposed, finish=_transposed_output)
    return wiring(*arrays, heads=heads, kv_heads=kv_heads, mask=mask, causal=causal)


def _with_residual(*arrays: Any, **options: Any) -> Any:
    return wired()(*arrays, **options) + wide(arrays[0])[0]


# Masks


def _lower_right(q: Any, k: Any, mask: Any, causal: bool) -> Any:
    return kept(mask, causal, (*q.shape[:-1], k.shape[-2]), lower_right=True)


def _mask_tiled(q: Any, k: Any, mask: Any, causal: bool) -> Any:
    """Head h of sequence b has the mask of sequence (b H + h) mod B."""
    if mask is None or mask.ndim == 2:
        return keep_of(q, k, mask, causal)
    batch, heads = q.shape[:2]
    per_head = mask[np.arange(batch * heads) % batch].reshape(batch, heads, *mask.shape[1:])
    triangle = keep_of(q, k, None, causal)
    return per_head if triangle is None else per_head & triangle


def _inverted(q: Any, k: Any, mask: Any, causal: bool) -> Any:
    return keep_of(q, k, None if mask is None else ~mask, causal)


def _over_queries(q: Any, k: Any, mask: Any, causal: bool) -> Any:
    square = mask is not None and q.shape[-2] == k.shape[-2]
    return keep_of(q, k, mask.swapaxes(-1, -2) if square else mask, causal)


def _strict(q: Any, k: Any, mask: Any, causal: bool) -> Any:
    keep = keep_of(q, k, mask, False)
    if not causal:
        return keep
    triangle = np.tri(q.shape[-2], k.shape[-2], -1, dtype=np.bool_)
    return triangle if keep is None else keep & triangle


# Gradients


def _with_inner(change: Any) -> Any:
    return backward(lambda a: a.outer(*change(a)))


def _collected_by(collect: Any) -> Any:
    return backward(lambda a: a.outer(*a.inner(), collect))


def _mean_over_group(dk: Any, groups: int) -> Any:
    return dk.reshape(dk.shape[0], groups, -1, *dk.shape[2:]).mean(2)


def _first_of_group(dk: Any, groups: int) -> Any:
    return dk.reshape(dk.shape[0], groups, -1, *dk.shape[2:])[:, :, 0]


def _strided_groups(dk: Any, groups: int) -> Any:
    """Sums heads g, g + groups, ..., as if head h had the keys h mod groups."""
    return dk.reshape(dk.shape[0], -1, groups, *dk.shape[2:]).sum(1)


def _unscaled(a: Pass) -> Any:
    dq, dk, dv = a.inner()
    return dq / a.scale, dk / a.scale, dv


def _scaled_by_model(a: Pass) -> Any:
    dq, dk, dv = a.inner()
    factor = 1 / root(a.heads, a.q)
    return dq * factor, dk * factor, dv


def _projections(a: Pass) -> tuple[Any, Any, Any]:
    dq, dk, dv = a.inner()
    return merge(dq), *(merge(summed_over_groups(each, a.groups)) for each in (dk, dv))


def _only_keys(a: Pass) -> dict[str, Any]:
    return {"m": matmul(_projections(a)[1], a.w_k.T)}


def _only_values(a: Pass) -> dict[str, Any]:
    return {"m": matmul(_projections(a)[2], a.w_v.T)}


def _through_untransposed(a: Pass) -> dict[str, Any]:
    return {"x": matmul(_projections(a)[0], a.w_q)}


def _heads_as_rows_of_gradient(a: Pass) -> dict[str, Any]:
    return {"w_o": matmul(tokens(_heads_as_rows(a.h)).T, tokens(a.dy))}


def _transposed_gradient(a: Pass) -> dict[str, Any]:
    return {"w_o": matmul(tokens(a.dy).T, tokens(merge(a.h)))}


def _weights_of_output_transposed(a: Pass) -> Any:
    dh = split(matmul(a.dy, a.w_o), a.heads)
    dp = matmul(dh, a.v.swapaxes(-1, -2))
    return a.inner(a.p * (dp - (a.p * dp).sum(-1, keepdims=True)), dh)


def _mean_over_batch(a: Pass) -> dict[str, Any]:
    right = a.outer(*a.inner())
    return {name: right[name] / number(len(a.x), a.x) for name in ("w_q", "w_k", "w_v", "w_o")}


def _keys_and_values_exchanged(a: Pass) -> dict[str, Any]:
    right = a.outer(*a.inner())
    return {"w_k": right["w_v"], "w_v": right["w_k"]}


def _unmasked(part: str) -> Any:
    def formula(dy: Any, *arrays: Any, heads: int, kv_heads: int | None, mask: Any, causal: bool) -> Any:
        groups = kv_heads or heads
        a = Pass(dy, arrays, heads, groups, mask, causal)
        again = Pass(dy, arrays, heads, groups, None if part == "mask" else mask, False if part == "causal" else causal)
        ds = again.p * (again.dp - (a.dh * a.h).sum(-1, keepdims=True))
        right = matmul(tokens(merge(a.h)).T, tokens(a.dy))
        return tuple({**again.outer(*again.inner(ds)), "w_o": right}.values())

    return formula


ID = "multi_head_attention."
GRADIENT = "multi_head_gradients.gradient_of_"
MISTAKES = (
    Variant(ID + "interleaved_heads", "gives column c to head c mod heads, in w_q, w_k and w_v, and so it takes the rows of w_o", SPLIT, wired(split=_interleaved, merge=_merge_interleaved), converter="Reorder the columns of w_q, w_k, w_v and the rows of w_o: its column i heads + h is column h d / heads + i"),
    Variant(ID + "weights_transposed", "multiplies by the transposed weights, those of shape (out, in) that PyTorch's Linear keeps", PROJECTED, _all_transposed, converter="Pass it w_q.T, w_k.T, w_v.T and w_o.T"),
    Variant(ID + "lower_right", "aligns the causal mask lower right: key j for query i when j <= i + n_k - n_q", "causal_alignments.causal_alignments_differ", wired(keep=_lower_right), converter="Pass np.tri(n_q, n_k, dtype=bool) as its mask in place of causal"),
    Mistake(ID + "merged_without_transpose", "reshapes the heads (B, heads, n, d / heads) to (B, n, d) without bringing them behind the tokens first", SPLIT, wired(merge=_heads_as_rows)),
    Mistake(ID + "split_without_transpose", "reshapes (B, n, d) to (B, heads, n, d / heads) at once, so that a head has a part of the tokens", SPLIT, wired(split=_rows_as_heads)),
    Mistake(ID + "split_and_merged_without_transpose", "reshapes to (B, heads, n, d / heads) and back at once, so that a head attends within a part of the tokens", SPLIT, wired(split=_rows_as_heads, merge=_heads_as_rows)),
    Mistake(ID + "batch_for_heads", "takes the heads for the batch where it merges them: rows of different sequences mix", SPLIT, wired(merge=_batch_for_heads)),
    Mistake(ID + "split_interleaved", "gives column c to head c mod heads, but puts the heads side by side again", SPLIT, wired(split=_interleaved)),
    Mistake(ID + "merged_interleaved", "merges the heads column by column, though it split them block by block", SPLIT, wired(merge=_merge_interleaved)),
    Mistake(ID + "heads_reversed", "puts the heads side by side in the reverse order", SUM, wired(merge=_reversed)),
    Mistake(ID + "groups_by_remainder", "gives head h the keys and values h mod kv_heads, where h // (heads / kv_heads) is right", GROUPS, wired(share=_tiled)),
    Mistake(ID + "first_group_for_all", "gives every head the keys and values of the first group", GROUPS, wired(share=_first_group)),
    Mistake(ID + "weights_of_first_head", "takes the attention weights of the first head for all of them", SUM, wired(weigh=_of_first_head)),
    Mistake(ID + "softmax_over_heads", "takes the softmax over the heads", WEIGHTS, wired(weigh=_over_heads)),
    Mistake(ID + "scale_of_model", "divides the scores by sqrt(d) instead of sqrt(d / heads)", VARIANCE, wired(scale=_by_heads)),
    Mistake(ID + "scale_missing", "does not divide the scores by sqrt(d / heads)", VARIANCE, wired(scale=lambda q, k, v: number(1, q))),
    Mistake(ID + "scale_by_width", "divides the scores by d / heads instead of its root", VARIANCE, wired(scale=lambda q, k, v: 1 / number(q.shape[-1], q)), twins=(ID + "scaled_twice",)),
    Mistake(ID + "scaled_twice", "divides by sqrt(d / heads) twice", VARIANCE, wired(scale=lambda q, k, v: 1 / number(q.shape[-1], q)), twins=(ID + "scale_by_width",)),
    Mistake(ID + "projections_transposed", "multiplies queries, keys and values by the transposed weights, but the output by w_o", PROJECTED, wired(project=_transposed)),
    Mistake(ID + "w_q_and_w_k_exchanged", "takes w_k for queries and w_q for keys", PROJECTED, wired(project=_keys_for_queries)),
    Mistake(ID + "w_k_for_values", "takes w_k for the values too", PROJECTED, wired(project=_one_for_keys_and_values)),
    Mistake(ID + "w_k_and_w_v_exchanged", "takes w_v for keys and w_k for values", PROJECTED, wired(project=_keys_and_values_swapped)),
    Mistake(ID + "queries_not_projected", "does not use w_q", PROJECTED, wired(project=_queries_unprojected)),
    Mistake(ID + "queries_of_memory", "takes the queries of x_kv instead of x_q", "self_attention.self_attention_is_cross_attention_with_itself", wired(project=_queries_of_memory)),
    Mistake(ID + "self_for_cross", "takes keys and values of x_q instead of x_kv", "self_attention.self_attention_is_cross_attention_with_itself", _self_for_cross),
    Mistake(ID + "output_not_projected", "does not use w_o", SUM, wired(finish=_unprojected)),
    Mistake(ID + "output_transposed", "multiplies by w_o^T instead of w_o", SUM, wired(finish=_transposed_output)),
    Mistake(ID + "output_by_blocks", "multiplies each head by its own block of w_o before putting them side by side", SUM, wired(finish=_blocks_of_output)),
    Mistake(ID + "mean_of_heads", "takes the mean of what the heads give, not the sum", SUM, wired(finish=_mean_of_heads)),
    Mistake(ID + "last_head_only", "keeps the last head only", SUM, wired(finish=_last_head_only)),
    Mistake(ID + "residual_added", "adds x_q to the output", SUM, _with_residual),
    Mistake(ID + "mask_ignored", "does not use the mask", "masking.zero_weight_on_masked", wired(keep=lambda q, k, mask, causal: keep_of(q, k, None, causal))),
    Mistake(ID + "mask_inverted", "masks the keys that are to be kept, and keeps the others", "masking.masked_equals_softmax_over_kept", wired(keep=_inverted)),
    Mistake(ID + "mask_over_queries", "masks queries where it should mask keys: it has the mask transposed", "masking.zero_weight_on_masked", wired(keep=_over_queries)),
    Mistake(ID + "mask_tiled_over_heads", "repeats the masks of the batch in the wrong order for its heads: (b heads + h) mod B", "masking.masked_equals_softmax_over_kept", wired(keep=_mask_tiled)),
    Mistake(ID + "mask_multiplies_scores", "multiplies the scores by the mask, so that a masked key has the score 0 and not -inf", "masking_leaks.multiplying_scores_leaks", wired(weigh=lambda z, keep: softmax(masked_to_zero(z, keep)))),
    Mistake(ID + "mask_after_softmax", "masks the weights after the softmax, and does not normalise them again", "masking_leaks.multiplying_weights_leaks", wired(weigh=lambda z, keep: masked_to_zero(softmax(z), keep))),
    Mistake(ID + "causal_ignored", "does not use causal", "decoder_sublayers.causal_heads_ignore_future", wired(keep=lambda q, k, mask, causal: keep_of(q, k, mask, False))),
    Mistake(ID + "causal_strict", "keeps only the keys j < i", "causal_masking.first_output_is_first_value", wired(keep=_strict)),
    Mistake(ID + "gradient_group_averaged", "averages the gradients of keys and values over a group of heads instead of adding them up", GROUPS, _collected_by(_mean_over_group), "gradients"),
    Mistake(ID + "gradient_group_first", "takes the gradients of keys and values from the first head of a group only", GROUPS, _collected_by(_first_of_group), "gradients"),
    Mistake(ID + "gradient_group_by_remainder", "adds up the gradients of heads h, h + kv_heads, ... for a group, not those of neighbours", GROUPS, _collected_by(_strided_groups), "gradients"),
    Mistake(ID + "gradient_without_scale", "lacks the factor 1 / sqrt(d / heads) in queries and keys", GRADIENT + "query_projection", _with_inner(_unscaled), "gradients"),
    Mistake(ID + "gradient_scale_of_model", "has the factor 1 / sqrt(d) in queries and keys, where 1 / sqrt(d / heads) is right", GRADIENT + "query_projection", _with_inner(_scaled_by_model), "gradients"),
    Mistake(ID + "gradient_without_row_term", "leaves out the row term: ds = p dp", "attention_gradients.gradient_of_scores", _with_inner(lambda a: a.inner(a.p * a.dp)), "gradients"),
    Mistake(ID + "gradient_of_memory_by_keys_only", "has for x_kv what comes through the keys only", GRADIENT + "value_projection", backward(_only_keys), "gradients"),
    Mistake(ID + "gradient_of_memory_by_values_only", "has for x_kv what comes through the values only", GRADIENT + "key_projection", backward(_only_values), "gradients"),
    Mistake(ID + "gradient_through_w_q", "multiplies by w_q where w_q^T belongs, in dx_q", GRADIENT + "query_projection", backward(_through_untransposed), "gradients"),
    Mistake(ID + "gradient_through_w_o", "multiplies dy by w_o where w_o^T belongs", GRADIENT + "head_output", _with_inner(_weights_of_output_transposed), "gradients"),
    Mistake(ID + "gradient_w_o_of_unmerged_heads", "reshapes the heads without a transpose for dw_o", GRADIENT + "output_projection", backward(_heads_as_rows_of_gradient), "gradients"),
    Mistake(ID + "gradient_w_o_transposed", "has dw_o transposed", GRADIENT + "output_projection", backward(_transposed_gradient), "gradients"),
    Mistake(ID + "gradient_averaged_over_batch", "averages the gradients of the weights over the batch instead of adding them up", GRADIENT + "output_projection", backward(_mean_over_batch), "gradients"),
    Mistake(ID + "gradient_w_k_and_w_v_exchanged", "returns dw_v for w_k and dw_k for w_v", GRADIENT + "key_projection", backward(_keys_and_values_exchanged), "gradients"),
    Mistake(ID + "gradient_without_mask", "computes the weights once more without the mask", "masked_attention.gradient_at_one_key", _unmasked("mask"), "gradients"),
    Mistake(ID + "gradient_without_causal", "computes the weights once more without causal", "causal_masking.causal_gradient_ignores_future", _unmasked("causal"), "gradients"),
)  # fmt: skip


def _with_factor(theta: Any, *arrays: Any, **options: Any) -> Any:
    return wired(scale=lambda q, k, v: right_scale(q, k, v) * theta)(*arrays, **options)


FITS = (Fit("the scale times sqrt(d / heads)", "1", VARIANCE, _with_factor, (1e-3, 1e3)),)
