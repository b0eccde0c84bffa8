"""Scales, heads and gradients of attention, and its dropout, as people got them wrong."""

import numpy as np

from .case import Judged, Numbers

NAME, HEADS = "scaled_dot_product_attention", "multi_head_attention"


def kept(mask, causal, q, k):
    keep = np.ones((q.shape[-2], k.shape[-2]), bool) if mask is None else mask
    return np.tril(keep) if causal else keep


def scores(q, k, scale=1.0):
    return q @ k.swapaxes(-1, -2) * (scale / np.sqrt(q.shape[-1]))


def weights(s, keep=True):
    s = np.where(keep, s, -np.inf)
    p = np.exp(s - s.max(-1, keepdims=True))
    return p / p.sum(-1, keepdims=True)


def attention(q, k, v, mask=None, causal=False):
    return weights(scores(q, k), kept(mask, causal, q, k)) @ v


# Scales


def with_scale(factor_of):
    def forward(q, k, v, mask=None, causal=False):
        return weights(scores(q, k, factor_of(q.shape[-1])), kept(mask, causal, q, k)) @ v

    return forward


def scaled_queries(q, k, v, mask=None, causal=False):
    return weights((q / np.sqrt(q.shape[-1])) @ k.swapaxes(-1, -2), kept(mask, causal, q, k)) @ v


def scaled_queries_first(q, k, v, mask=None, causal=False):
    """For a function that scales the scores itself."""
    return attention(q / np.sqrt(q.shape[-1]), k, v, mask, causal)


of_model, by_width, unscaled = (
    with_scale(lambda d: 2**-0.5),
    with_scale(lambda d: d**-0.5),
    with_scale(lambda d: d**0.5),
)
FOUR = (np.array([[2.0, 0, 0, 0]]), 2 * np.eye(2, 4), np.eye(2))


def scale(implementation, digits):
    return Numbers(NAME, FOUR, ".8808 .1192", ((implementation, digits),))


# Heads


def side_by_side(y):
    return y.swapaxes(1, 2).reshape(y.shape[0], y.shape[2], -1)


def neighbours(h, heads, groups):
    return h // (heads // groups)


def multi_head(merge=side_by_side, group_of=neighbours, factor_of=lambda heads: 1.0):
    def forward(x_q, x_kv, w_q, w_k, w_v, w_o, heads=2, kv_heads=None, mask=None, causal=False):
        groups = kv_heads or heads
        q, k, v = (
            (x @ w).reshape(*x.shape[:2], n, -1).swapaxes(1, 2)
            for x, w, n in ((x_q, w_q, heads), (x_kv, w_k, groups), (x_kv, w_v, groups))
        )
        group = group_of(np.arange(heads), heads, groups)
        keep = kept(mask, causal, q, k)
        p = weights(scores(q, k[:, group], factor_of(heads)), keep[:, None] if keep.ndim == 3 else keep)
        return merge(p @ v[:, group]) @ w_o

    return forward


def without_transpose(y):
    return y.reshape(y.shape[0], y.shape[2], -1)


def heads_for_batch(y):
    """Heads and batch exchanged where they come apart again: rows of different sequences mix."""
    return side_by_side(y.swapaxes(0, 1).reshape(y.shape))


def letters():
    heads = np.array([["ab", "cd"], ["ef", "gh"]])[None, ..., None]
    assert side_by_side(heads).tolist() == [[["ab", "ef"], ["cd", "gh"]]]
    assert without_transpose(heads).tolist() == [[["ab", "cd"], ["ef", "gh"]]]


def by_remainder(h, heads, groups):
    return h % groups


def maps_of_groups():
    h = np.arange(4)
    assert neighbours(h, 4, 2).tolist() == [0, 0, 1, 1] and by_remainder(h, 4, 2).tolist() == [0, 1, 0, 1]
    for groups in (1, 4):  # where the fault hides
        assert (neighbours(h, 4, groups) == by_remainder(h, 4, groups)).all()


# Gradients


def finite_attention(q, k, v, mask=None, causal=False):
    """A fully masked row gives the mean of v, so that no NaN comes back from it."""
    return weights(np.where(kept(mask, causal, q, k), scores(q, k), -1e300)) @ v


def attention_backward(scale_of=lambda q, v: q.shape[-1] ** -0.5, causal_too=True):
    def backward(dy, q, k, v, mask=None, causal=False):
        p = weights(np.where(kept(mask, causal and causal_too, q, k), scores(q, k), -1e300))
        dp = dy @ v.swapaxes(-1, -2)
        ds = p * (dp - (p * dp).sum(-1, keepdims=True)) * scale_of(q, v)
        return ds @ k, ds.swapaxes(-1, -2) @ q, p.swapaxes(-1, -2) @ dy

    return backward


def multi_head_backward(group_of):
    """With groups added up as `group_of` has them, while the forward pass is right."""

    def backward(dy, x_q, x_kv, w_q, w_k, w_v, w_o, heads=2, kv_heads=None, mask=None, causal=False):
        groups = kv_heads or heads
        right, taken = (of(np.arange(heads), heads, groups) for of in (neighbours, group_of))
        q, k, v = (
            (x @ w).reshape(*x.shape[:2], n, -1).swapaxes(1, 2)
            for x, w, n in ((x_q, w_q, heads), (x_kv, w_k, groups), (x_kv, w_v, groups))
        )
        keep = kept(mask, causal, q, k)
        keep = keep[:, None] if keep.ndim == 3 else keep
        p = weights(np.where(keep, scores(q, k[:, right]), -1e300))
        d_merged = (dy @ w_o.T).reshape(*x_q.shape[:2], heads, -1).swapaxes(1, 2)
        dp = d_merged @ v[:, right].swapaxes(-1, -2)
        ds = p * (dp - (p * dp).sum(-1, keepdims=True)) / np.sqrt(q.shape[-1])
        into = (np.arange(groups)[:, None] == taken).astype(float)  # (groups, heads)
        dk = np.einsum("gh,bhkd->bgkd", into, ds.swapaxes(-1, -2) @ q)
        dv = np.einsum("gh,bhkd->bgkd", into, p.swapaxes(-1, -2) @ d_merged)
        dq, dk, dv = (side_by_side(each) for each in (ds @ k[:, right], dk, dv))
        d_w_q, d_w_k, d_w_v, d_w_o = (
            np.einsum("bni,bnj->ij", x, d)
            for x, d in ((x_q, dq), (x_kv, dk), (x_kv, dv), (side_by_side(p @ v[:, right]), dy))
        )
        return dq @ w_q.T, dk @ w_k.T + dv @ w_v.T, d_w_q, d_w_k, d_w_v, d_w_o

    return backward


def heads_over_groups(h, heads, groups):
    """h // G for h // (H/G): the same where H = G^2."""
    return np.minimum(h // groups, groups - 1)


def hidden_where_heads_are_groups_squared():
    h = np.arange(4)
    assert (heads_over_groups(h, 4, 2) == neighbours(h, 4, 2)).all()
    assert (heads_over_groups(h, 4, 4) != neighbours(h, 4, 4)).any()
    hidden = {"heads": 4, "kv_heads": 2}
    Judged(HEADS, finite_heads, "pass", backward=multi_head_backward(heads_over_groups), options=hidden).require()


def finite_heads(x_q, x_kv, w_q, w_k, w_v, w_o, heads=2, kv_heads=None, mask=None, causal=False):
    mask = kept(mask, causal, x_q, x_kv)
    mask = np.where(mask.any(-1, keepdims=True), mask, True)
    return multi_head()(x_q, x_kv, w_q, w_k, w_v, w_o, heads, kv_heads, mask)


def mask_of_the_forward_pass():
    """With V = I the output shows the mask; the gradient's support must be within it."""
    rng = np.random.default_rng(0)
    q, k, dy = rng.standard_normal((3, 4, 4))
    mask = attention(q, k, np.eye(4), causal=True) != 0
    assert (mask == np.tri(4, dtype=bool)).all()
    for causal_too, inside in ((True, True), (False, False)):
        only_first = dy * (np.arange(4) == 0)[:, None]  # so key 1 and the later ones get nothing
        dk = attention_backward(causal_too=causal_too)(only_first, q, k, np.eye(4), causal=True)[1]
        assert (not dk[1:].any()) == inside


CASES = {
    "SC1": [
        Judged(HEADS, multi_head(factor_of=lambda heads: heads**-0.5), "fail", ("scale_of_model",)),
        Judged(HEADS, multi_head(factor_of=lambda heads: heads**-0.5), "pass", options={"heads": 1}),  # where it hides
        Judged(NAME, of_model, "fail", says=("it is what the scale times sqrt(d_k) = 0.7071067812 gives, where 1 is right",)),
        scale(of_model, ".8044 .1956"),
    ],
    "SC3": [Judged(NAME, by_width, "fail", ("scale_by_width", "scaled_twice")), scale(by_width, ".7311 .2689")],
    "SC4": [Judged(NAME, unscaled, "fail", ("scale_missing",)), scale(unscaled, ".9820 .0180")],
    "SC5": [Judged(NAME, scaled_queries_first, "fail", ("scaled_twice", "scale_by_width")), scale(scaled_queries_first, ".7311 .2689")],
    "SC8": [Judged(NAME, scaled_queries, "pass"), scale(scaled_queries, ".8808 .1192")],
    "MH2": [Judged(HEADS, multi_head(without_transpose), "fail", ("merged_without_transpose",), fails=("causality",)), letters],
    "MH3": [Judged(HEADS, multi_head(heads_for_batch), "fail", ("batch_for_heads",), fails=("batch independence",))],
    "MH5": [
        Judged(HEADS, multi_head(group_of=by_remainder), "fail", ("groups_by_remainder",)),
        Judged(HEADS, multi_head(group_of=by_remainder), "pass", options={"kv_heads": 1}),
        maps_of_groups,
    ],
    "GR4": [
        Judged(NAME, finite_attention, "fail", ("gradient_scale_of_values",), backward=attention_backward(lambda q, v: v.shape[-1] ** -0.5)),
        Judged(HEADS, finite_heads, "pass", backward=multi_head_backward(neighbours)),
        Judged(HEADS, finite_heads, "fail", ("gradient_group_by_count",), backward=multi_head_backward(heads_over_groups)),
        hidden_where_heads_are_groups_squared,
    ],
    "GR8": [  # the row term of the right weights, or of the wrong ones
        Judged(NAME, finite_attention, "pass", backward=attention_backward()),
        Judged(NAME, finite_attention, "fail", ("gradient_of_not_causal",), fails=("causality of gradients",), backward=attention_backward(causal_too=False)),
        mask_of_the_forward_pass,
    ],
}  # fmt: skip
