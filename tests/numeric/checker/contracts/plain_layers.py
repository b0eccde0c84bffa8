"""Layers of a Transformer in plain NumPy, in several right orders of evaluation; each step is stored in the dtype, sums are taken in
float32 at least: the default precision model."""

import numpy as np
from scipy import special


def wide(x):
    return np.float32 if x.dtype.itemsize == 2 else x.dtype


def product(a, b):
    return (a.astype(wide(a)) @ b.astype(wide(b))).astype(a.dtype)


def total(x, axis=-1):
    return x.sum(axis, keepdims=True, dtype=wide(x)).astype(x.dtype)


# Norms


def norm(x, gain, bias, eps):
    c = x - total(x) / x.dtype.type(x.shape[-1])
    v = total(c * c) / x.dtype.type(x.shape[-1])
    return c / np.sqrt(v + x.dtype.type(eps)) * gain + bias


def fused_norm(x, gain, bias, eps):
    """In float32 at least; x (gain / r) + (bias - m gain / r)."""
    w, scale, shift = (each.astype(wide(x)) for each in (x, gain, bias))
    m = w.mean(-1, keepdims=True)
    scale = scale / np.sqrt(((w - m) * (w - m)).mean(-1, keepdims=True) + w.dtype.type(eps))
    return (w * scale + (shift - m * scale)).astype(x.dtype)


# Attention; the mask is boolean, (n, m) or (B, n, m), or None


def split(z, heads):
    return z.reshape(*z.shape[:-1], heads, -1).swapaxes(1, 2)


def merge(h):
    return h.swapaxes(1, 2).reshape(h.shape[0], h.shape[2], -1)


def over_heads(mask):
    return mask if mask is None or mask.ndim == 2 else mask[:, None]


def weights_of(scores, mask):
    s = scores if mask is None else np.where(mask, scores, scores.dtype.type(-np.inf))
    p = np.exp(s - s.max(-1, keepdims=True))
    return p / total(p)


def attend(x, m, weights, heads, mask):
    w_q, w_k, w_v, w_o = weights
    q, k, v = (split(product(*each), heads) for each in ((x, w_q), (m, w_k), (m, w_v)))
    scores = product(q, k.swapaxes(-1, -2)) / np.sqrt(x.dtype.type(q.shape[-1]))
    return product(merge(product(weights_of(scores, over_heads(mask)), v)), w_o)


def head_by_head(x, m, weights, heads, mask):
    """The scale on the queries; what each head gives through its own rows of w_o is added up."""
    w_q, w_k, w_v, w_o = weights
    width = w_q.shape[1] // heads
    y = np.zeros_like(x)
    for head in range(heads):
        part = slice(head * width, (head + 1) * width)
        q = product(x, w_q[:, part]) * x.dtype.type(width**-0.5)
        p = weights_of(product(q, product(m, w_k[:, part]).swapaxes(-1, -2)), mask)
        y = y + product(product(p, product(m, w_v[:, part])), w_o[part])
    return y


def filled_and_normalised_last(x, m, weights, heads, mask):
    """A large negative number in the place of masked scores; divided by the sums at the end."""
    w_q, w_k, w_v, w_o = weights
    q, k, v = (split(product(*each), heads) for each in ((x, w_q), (m, w_k), (m, w_v)))
    scores = product(q, k.swapaxes(-1, -2)) * x.dtype.type(q.shape[-1] ** -0.5)
    if mask is not None:
        scores = np.where(over_heads(mask), scores, scores.dtype.type(-3e4))
    p = np.exp(scores - scores.max(-1, keepdims=True))
    return product(merge(product(p, v) / total(p)), w_o)


def side_by_side(x, m, weights, heads, mask):
    """One product for keys and values, and for queries too where they are of the same tokens; by einsum."""
    w_q, w_k, w_v, w_o = weights
    if x is m:
        q, k, v = np.split(product(x, np.concatenate([w_q, w_k, w_v], -1)), 3, -1)
    else:
        q, (k, v) = product(x, w_q), np.split(product(m, np.concatenate([w_k, w_v], -1)), 2, -1)
    q, k, v = (each.reshape(*each.shape[:-1], heads, -1).astype(wide(x)) for each in (q, k, v))
    scores = np.einsum("bihc,bjhc->bhij", q, k).astype(x.dtype) / np.sqrt(x.dtype.type(q.shape[-1]))
    p = weights_of(scores, over_heads(mask)).astype(wide(x))
    h = np.einsum("bhij,bjhc->bihc", p, v).astype(x.dtype)
    return product(h.reshape(*x.shape[:-1], -1), w_o)


# The feed-forward layer


def activated(a, activation):
    if activation == "relu":
        return np.maximum(a, 0)
    z = a.astype(np.float64) / np.sqrt(2)
    return (a.astype(np.float64) * special.erfc(-z) / 2).astype(a.dtype)


def feed(x, w1, b1, w2, b2, activation):
    return product(activated(product(x, w1) + b1, activation), w2) + b2


def feed_in_two(x, w1, b1, w2, b2, activation):
    """The hidden units in two parts, the bias first."""
    half = len(b1) // 2 or 1
    y = np.broadcast_to(b2, x.shape).astype(x.dtype)
    for part in (slice(half), slice(half, None)):
        if b1[part].size:
            y = y + product(activated(product(x, w1[:, part]) + b1[part], activation), w2[part])
    return y


# Put together


def around(x, f, normalise, order):
    return normalise(x + f(x)) if order == "post" else x + f(normalise(x))


class Parts:
    """An attention, a norm and a feed-forward layer."""

    def __init__(self, attend=attend, norm=norm, feed=feed, dtype=None):
        self.attend, self.norm, self.feed, self.dtype = attend, norm, feed, dtype

    def encoder_layer(
        self,
        x,
        w_q,
        w_k,
        w_v,
        w_o,
        gain1,
        bias1,
        w1,
        b1,
        w2,
        b2,
        gain2,
        bias2,
        heads=2,
        mask=None,
        activation="relu",
        order="post",
        eps=1e-5,
    ):
        arrays = [x, w_q, w_k, w_v, w_o, gain1, bias1, w1, b1, w2, b2, gain2, bias2]
        if self.dtype:
            arrays = [each.astype(self.dtype) for each in arrays]
        u, *weights = arrays[:5]
        gain1, bias1, w1, b1, w2, b2, gain2, bias2 = arrays[5:]
        x1 = around(
            u, lambda z: self.attend(z, z, weights, heads, mask), lambda z: self.norm(z, gain1, bias1, eps), order
        )
        y = around(
            x1, lambda z: self.feed(z, w1, b1, w2, b2, activation), lambda z: self.norm(z, gain2, bias2, eps), order
        )
        return y.astype(x.dtype)

    def decoder_layer(
        self,
        x,
        memory,
        own,
        across,
        gain1,
        bias1,
        gain2,
        bias2,
        w1,
        b1,
        w2,
        b2,
        gain3,
        bias3,
        heads=2,
        mask=None,
        memory_mask=None,
        activation="relu",
        order="post",
        eps=1e-5,
    ):
        arrays = [x, memory, *own, *across, gain1, bias1, gain2, bias2, w1, b1, w2, b2, gain3, bias3]
        if self.dtype:
            arrays = [each.astype(self.dtype) for each in arrays]
        y, m, own, across, rest = arrays[0], arrays[1], arrays[2:6], arrays[6:10], arrays[10:]
        triangle = np.tri(x.shape[-2], dtype=bool)
        keep = triangle if mask is None else mask & triangle
        steps = [
            (lambda z: self.attend(z, z, own, heads, keep), rest[:2]),
            (lambda z: self.attend(z, m, across, heads, memory_mask), rest[2:4]),
            (lambda z: self.feed(z, *rest[4:8], activation), rest[8:]),
        ]
        for f, parameters in steps:
            y = around(y, f, lambda z, parameters=parameters: self.norm(z, *parameters, eps), order)
        return y.astype(x.dtype)

    def transformer(self, src, tgt, params, heads=2, src_mask=None, order="post", eps=1e-5):
        dtype = params["embedding.table"].dtype
        p = {name: each.astype(self.dtype) for name, each in params.items()} if self.dtype else params
        table = p["embedding.table"]
        keep = None if src_mask is None else np.broadcast_to(src_mask[:, None], (len(src), src.shape[1], src.shape[1]))
        across = (
            None if src_mask is None else np.broadcast_to(src_mask[:, None], (len(src), tgt.shape[1], src.shape[1]))
        )
        options = {"heads": heads, "order": order, "eps": eps}

        def named(place, *names):
            return [p[f"{place}.{name}"] for name in names]

        def attention(place, which):
            return named(f"{place}.{which}", "w_q", "w_k", "w_v", "w_o")

        def norm_of(place):
            return named(place, "gain", "bias")

        def fed(place):
            return named(f"{place}.feed_forward", "W_1", "b_1", "W_2", "b_2")

        def last(stack, z):
            return self.norm(z, *norm_of(f"{stack}.norm"), eps) if f"{stack}.norm.gain" in p else z

        memory = embedded(src, table)
        for number in range(2):
            place = f"encoder.layers.{number}"
            norms = [norm_of(f"{place}.{name}_norm") for name in ("self_attention", "feed_forward")]
            memory = self.encoder_layer(
                memory, *attention(place, "self_attention"), *norms[0], *fed(place), *norms[1], mask=keep, **options
            )
        memory, y = last("encoder", memory), embedded(tgt, table)
        for number in range(2):
            place = f"decoder.layers.{number}"
            norms = [norm_of(f"{place}.{name}_norm") for name in ("self_attention", "cross_attention", "feed_forward")]
            attentions = [attention(place, f"{name}_attention") for name in ("self", "cross")]
            y = self.decoder_layer(
                y, memory, *attentions, *norms[0], *norms[1], *fed(place), *norms[2], memory_mask=across, **options
            )
        return product(last("decoder", y), table.T).astype(dtype)


def embedded(ids, table):
    d = table.shape[1]
    angles = np.arange(ids.shape[1])[:, None] / 10000.0 ** (np.arange(0, d, 2) / d)
    code = np.stack([np.sin(angles), np.cos(angles)], -1).reshape(-1, d).astype(table.dtype)
    return table[ids] * table.dtype.type(np.sqrt(d)) + code


RIGHT = {
    "plain": Parts(),
    "head_by_head": Parts(head_by_head),
    "normalised_last": Parts(filled_and_normalised_last, fused_norm),
    "side_by_side": Parts(side_by_side, norm, feed_in_two),
    "fused_norm": Parts(head_by_head, fused_norm, feed_in_two),
    "in_float64": Parts(dtype=np.float64),
}
