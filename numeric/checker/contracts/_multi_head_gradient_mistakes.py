"""What goes wrong in the gradients of multi-head attention: formulas, each with what it breaks."""

from typing import Any

import numpy as np

from ...arithmetic import matmul
from ..mistake import Mistake
from ._attention_formulas import number, root
from ._multi_head_formulas import Pass, backward, heads_as_rows, merge, split, summed_over_groups, tokens

GROUPS = "multi_head_groups.grouped_keys_gradient_sums_over_group"

ID = "multi_head_attention."
GRADIENT = "multi_head_gradients.gradient_of_"


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


def _groups_by_count(dk: Any, groups: int) -> Any:
    """Sums heads h with the same h // groups, as if those had the same keys; the last group has what is left."""
    taken = np.minimum(np.arange(dk.shape[1]) // groups, groups - 1)
    return np.stack([dk[:, taken == group].sum(1) + 0 * dk[:, 0] for group in range(groups)], 1)


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
    return {"w_o": matmul(tokens(heads_as_rows(a.h)).T, tokens(a.dy))}


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


MISTAKES = (
    Mistake(ID + "gradient_group_averaged", "averages the gradients of keys and values over a group of heads instead of adding them up", GROUPS, _collected_by(_mean_over_group), "gradients"),
    Mistake(ID + "gradient_group_first", "takes the gradients of keys and values from the first head of a group only", GROUPS, _collected_by(_first_of_group), "gradients"),
    Mistake(ID + "gradient_group_by_count", "adds up the gradients of the heads h with the same h // kv_heads for a group, which is right where heads = kv_heads^2", GROUPS, _collected_by(_groups_by_count), "gradients"),
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
