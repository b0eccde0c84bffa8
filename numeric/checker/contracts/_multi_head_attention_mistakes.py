"""What goes wrong in multi-head attention: formulas, each with what it breaks."""

from typing import Any

import numpy as np

from ...arithmetic import matmul
from ..mistake import Fit, Mistake, Variant
from . import _multi_head_gradient_mistakes as gradients
from ._attention_formulas import masked_to_zero, number, right_scale, root, softmax, wide
from ._masks import kept, lower_right_without_reference
from ._multi_head_formulas import (
    Wiring,
    attention_of,
    heads_as_rows,
    keep_of,
    merge,
    wired,
)

SPLIT, SUM = "multi_head.split_merge_is_identity", "multi_head.concat_then_project_is_sum_over_heads"
PROJECTED = "multi_head.one_projection_then_split"
WEIGHTS, VARIANCE = "attention.weights_sum_to_one", "attention_scores.scaled_variance_is_one"
GROUPS = "multi_head_groups.grouped_keys_gradient_sums_over_group"


# Heads


def _rows_as_heads(z: Any, count: int) -> Any:
    return z.reshape(z.shape[0], count, z.shape[1], -1)


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


def _by_count(k: Any, heads: int) -> Any:
    """Head h has keys h // groups, the last ones where there are none."""
    return k[:, np.minimum(np.arange(heads) // k.shape[1], k.shape[1] - 1)]


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


def _lower_right_without_reference(x: Any, m: Any, *weights: Any, mask: Any, causal: bool, **_: Any) -> Any:
    return lower_right_without_reference((x, m, *weights), (*x.shape[:-1], m.shape[-2]), mask, causal)


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


ID = "multi_head_attention."
MISTAKES = (
    Variant(ID + "interleaved_heads", "gives column c to head c mod heads, in w_q, w_k and w_v, and so it takes the rows of w_o", SPLIT, wired(split=_interleaved, merge=_merge_interleaved), converter="Reorder the columns of w_q, w_k, w_v and the rows of w_o: its column i heads + h is column h d / heads + i"),
    Variant(ID + "weights_transposed", "multiplies by the transposed weights, those of shape (out, in) that PyTorch's Linear keeps", PROJECTED, _all_transposed, converter="Pass it w_q.T, w_k.T, w_v.T and w_o.T"),
    Variant(ID + "lower_right", "aligns the causal mask lower right: key j for query i when j <= i + n_k - n_q", "causal_alignments.causal_alignments_differ", wired(keep=_lower_right), without_reference=_lower_right_without_reference, converter="Pass np.tri(n_q, n_k, dtype=bool) as its mask in place of causal"),
    Mistake(ID + "merged_without_transpose", "reshapes the heads (B, heads, n, d / heads) to (B, n, d) without bringing them behind the tokens first", SPLIT, wired(merge=heads_as_rows)),
    Mistake(ID + "split_without_transpose", "reshapes (B, n, d) to (B, heads, n, d / heads) at once, so that a head has a part of the tokens", SPLIT, wired(split=_rows_as_heads)),
    Mistake(ID + "split_and_merged_without_transpose", "reshapes to (B, heads, n, d / heads) and back at once, so that a head attends within a part of the tokens", SPLIT, wired(split=_rows_as_heads, merge=heads_as_rows)),
    Mistake(ID + "batch_for_heads", "takes the heads for the batch where it merges them: rows of different sequences mix", SPLIT, wired(merge=_batch_for_heads)),
    Mistake(ID + "split_interleaved", "gives column c to head c mod heads, but puts the heads side by side again", SPLIT, wired(split=_interleaved)),
    Mistake(ID + "merged_interleaved", "merges the heads column by column, though it split them block by block", SPLIT, wired(merge=_merge_interleaved)),
    Mistake(ID + "heads_reversed", "puts the heads side by side in the reverse order", SUM, wired(merge=_reversed)),
    Mistake(ID + "groups_by_remainder", "gives head h the keys and values h mod kv_heads, where h // (heads / kv_heads) is right", GROUPS, wired(share=_tiled)),
    Mistake(ID + "groups_by_count", "gives head h the keys and values h // kv_heads, where h // (heads / kv_heads) is right", GROUPS, wired(share=_by_count)),
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
    *gradients.MISTAKES,
)  # fmt: skip


def _with_factor(theta: Any, *arrays: Any, **options: Any) -> Any:
    return wired(scale=lambda q, k, v: right_scale(q, k, v) * theta)(*arrays, **options)


FITS = (Fit("the scale times sqrt(d / heads)", "1", VARIANCE, _with_factor, (1e-3, 1e3)),)
