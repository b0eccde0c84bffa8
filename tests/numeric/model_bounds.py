"""Rounding bounds for whole layers, whoever computes them, by running error analysis (numeric/checker/rounding.py).

Each function returns y and a pull: given the cotangent of y, it returns the gradients. A bound has to cover several
ways, since two implementations are to lie within it: sums are taken in any order, those of several products too; a
constant factor may be multiplied into either factor of a product or into the product; and where ways differ by more
than that, the largest bound counts.
"""

import numpy as np
from scipy import special

from numeric.checker.contracts._through import through
from numeric.checker.rounding import Rounded, any_of

from .layers import bounds
from .layers.bounds import moved, product, total, transposed

GAIN_AND_BIAS = ("gain", "bias")


def rounding_of(r, n=4):
    """What n roundings may do to numbers of this size."""
    slip = n * r.precision.stored.unit
    return slip / (1 - slip) * (np.abs(r.value) + 2 * r.worst)


def about(r, n=4):
    """With n further roundings: of a constant, of products with it."""
    return r.loosened(rounding_of(r, n))


def column(r):
    return moved(r, lambda x: x[..., None])


def terms(a, b):
    """The terms of a @ b along a last axis of their own."""
    return moved(a, lambda x: x[..., :, None, :]) * moved(b, lambda x: x.swapaxes(-1, -2)[..., None, :, :])


def summed(*groups):
    """The sum along the last axis of all of them together, in any order."""
    shape = np.broadcast_shapes(*(group.value.shape[:-1] for group in groups))
    wide = [moved(group, lambda x: np.broadcast_to(x, (*shape, x.shape[-1]))) for group in groups]
    parts = (np.concatenate([getattr(group, part) for group in wide], -1) for part in ("value", "worst", "square"))
    return moved(Rounded(*parts, groups[0].precision).sum(-1), lambda x: x[..., 0])


# Attention


def by_log_sum_exp(scores, keep):
    """exp(s - l), l = max s + log sum exp(s - max s), as attention by blocks recomputes its weights on the way back.

    A weight exp(s_j - max s) has the relative error expm1(e_j + u |s_j - max s|), then 8 u for exp (4 ulp), and their
    sum as much as the worst of them and gamma_n. It is off by at most that, d, so its logarithm by -log(1 - d), and 8 u
    of itself, where it is at most log n and the error of the maximum; the sum with the maximum then rounds once.
    """
    u, n = scores.precision.stored.unit, scores.value.shape[-1]
    keep = np.broadcast_to(keep, scores.value.shape)
    error = np.where(keep, scores.worst, 0.0)
    largest = error.max(-1, keepdims=True)
    top = np.where(keep, scores.value, -np.inf).max(-1, keepdims=True)
    below = np.where(keep, scores.value - top, 0.0)
    of_weights = np.exp(error + u * (np.abs(below) + 4 * largest)) * (1 + 8 * u) * (1 + n * u / (1 - n * u)) - 1
    of_total = of_weights.max(-1, keepdims=True)
    logarithm = np.log(np.where(keep, np.exp(below), 0.0).sum(-1, keepdims=True))
    worst = -np.log1p(-of_total)
    worst = worst + 8 * u * (np.log(n) + largest + worst)
    worst = worst + u * (np.abs(top + logarithm) + 2 * (largest + worst))
    log_sum = Rounded(top + logarithm, worst, worst**2, scores.precision)
    inside = Rounded(
        np.where(keep, scores.value, log_sum.value), error, np.where(keep, scores.square, 0.0), scores.precision
    )
    return (inside - log_sum).exp(ceiling=1.0) * Rounded.exact(keep, scores.precision)


def multi_head(x, m, weights, n_heads, keep=True):
    """The terms of y; the pull gives terms of dx and of dm, to be summed together if m = x, and the other gradients."""
    sources = {"q": x, "k": m, "v": m}

    def split(z):
        return moved(z, lambda x: bounds.heads_of(x, n_heads, 1))

    def joined(z):
        return moved(z, bounds.side_by_side)

    projected = {}
    for letter, tokens in sources.items():
        bias = [column(weights[f"b_{letter}"])] if f"b_{letter}" in weights else []
        projected[letter] = split(summed(terms(tokens, weights[f"w_{letter}"]), *bias))
    q, k, v = projected.values()
    root = bounds.root(q.value.shape[-1], q)
    keep = np.broadcast_to(keep, (*x.value.shape[:-1], m.value.shape[-2]))[..., None, None, :, :]
    scaled = about(q) / root
    scores = about(product(scaled, transposed(about(k))))
    p = about(any_of([bounds.kept_softmax(scores, keep), by_log_sum_exp(scores, keep)]))
    heads = about(product(p, v))
    y = [terms(joined(heads), weights["w_o"])] + ([column(weights["b_o"])] if "b_o" in weights else [])

    def back_to_projections(dy):
        dheads = split(product(dy, transposed(weights["w_o"])))
        dp = product(dheads, transposed(v))
        mean = any_of([(p * dp).sum(-1), (dheads * heads).sum(-1)])
        ds = about(p * (dp - mean))
        dq, dk = about(product(ds, about(k))) / root, about(product(transposed(ds), scaled))
        return joined(dq), joined(dk), joined(product(transposed(p), dheads))

    def pull(dy):
        back = dict(zip("qkv", through(back_to_projections, dy, 2), strict=True))
        gradients = {f"w_{letter}": bounds.of_weights(sources[letter], back[letter]) for letter in back}
        gradients["w_o"] = bounds.of_weights(joined(heads), dy)
        gradients |= {
            f"b_{letter}": total(each) for letter, each in {**back, "o": dy}.items() if f"b_{letter}" in weights
        }
        dx, *dm = (terms(each, transposed(weights[f"w_{letter}"])) for letter, each in back.items())
        return [dx], dm, gradients

    return y, pull


# Normalisation


def moments(x):
    """Mean and variance of the last axis, in two passes or merged from those of parts (Chan, Golub and LeVeque 1983).

    Merging a and b, of n_a and n_b numbers: with c = n_b / (n_a + n_b) the mean is a + c (b - a), the sum of squares
    grows by w (b - a)^2, w = n_a c. R is the range of the numbers, M their largest magnitude. A mean takes over errors
    in a convex combination, and adds 3 u R + u M at most: E = (d - 1) (3 u R + u M) / (1 - 8 d u) after d - 1 merges.
    Then b - a is off by h = 2 E + u (R + 2 E), a square by 2 |b - a| h + h^2 (Welford's product of two such differences
    too). The weights w, 1 at least, add up to W = d - 1 + d/2 log2 d at most, as w <= min(n_a, n_b), and all
    w (b - a)^2 to d v, v the variance: v is off by 2 h sqrt(v W / d) + h^2 W / d. Factors and sums of positive terms
    round by (d + 7) u of the result.
    """
    d, u = x.value.shape[-1], x.precision.stored.unit
    mean = x.sum(-1).over(d)
    centred = x - mean
    variance = (centred * centred).sum(-1).over(d)
    uncertain = x.worst.max(-1, keepdims=True)
    spread = np.ptp(x.value, axis=-1, keepdims=True) + 4 * uncertain
    largest = np.abs(x.value).max(-1, keepdims=True) + 2 * uncertain
    # what the errors of the numbers themselves do to the exact moments
    input_mean = x.worst.mean(-1, keepdims=True)
    moved_by = x.worst + input_mean
    exact_centred = np.abs(x.value - x.value.mean(-1, keepdims=True)) + moved_by
    input_square = (2 * exact_centred * moved_by + moved_by**2).mean(-1, keepdims=True)
    of_mean = (d - 1) * (3 * u * spread + u * largest) / (1 - 8 * d * u)
    shift = 2 * of_mean + u * (spread + 2 * of_mean)
    weight = (d - 1) / d + np.log2(d) / 2
    of_variance = 2 * shift * np.sqrt((variance.value + 2 * input_square) * weight) + shift**2 * weight + input_square
    of_variance = of_variance + (d + 7) * u / (1 - (d + 7) * u) * (variance.value + 2 * of_variance)
    merged = [(mean.value, input_mean + of_mean), (variance.value, of_variance)]
    return (
        any_of([way, Rounded(value, worst, worst**2, x.precision)])
        for way, (value, worst) in zip((mean, variance), merged, strict=True)
    )


def layer_norm(x, gain, bias, eps):
    """y; the pull gives dx, dgain and dbias.

    PyTorch takes a x - a mean for a (x - mean), a = 1 / r, with one and the same computed a and mean, so that only the
    roundings of the two products, of their size, come on top. On the way back it takes a g + b x - b mean - a mean(g)
    with b = (mean sum(g) - sum(g x)) a^3 / d for (g - mean(g) - x^ mean(g x^)) / r, where x^ = a (x - mean): likewise.
    """
    d, precision = x.value.shape[-1], x.precision
    mean, variance = moments(x)
    root = (variance + Rounded.given(eps, precision)) ** Rounded.exact(0.5, precision)
    scale = root.reciprocal()
    size = x.magnitude() + mean.magnitude()
    x_hat = about((x - mean) * scale).loosened(rounding_of(size * scale))

    def dx(dy):
        g = dy * gain
        overlap = (g * x_hat).sum(-1).over(d)
        # sum(g x) - mean sum(g), in any order, is wrong by the roundings of its terms
        overlap = about(overlap, 8).loosened(rounding_of((g.magnitude() * size * scale).sum(-1).over(d), d + 8))
        along = about(x_hat * overlap, 8).loosened(rounding_of(overlap.magnitude() * size * scale, 8))
        return (about(summed(*(column(about(each)) for each in (g, -g.sum(-1).over(d), -along))) * scale),)

    def pull(dy):
        return *through(dx, dy), total(dy * x_hat), total(dy)

    return x_hat * gain + bias, pull


# Feed-forward


def relu(a):
    """h and its slope. Whether a unit is active must be certain."""
    assert (np.abs(a.value) > 2 * a.worst).all(), "a unit may or may not be active; choose other inputs"
    active = Rounded.exact(a.value > 0, a.precision)
    return moved(a, lambda x: np.where(a.value > 0, x, 0.0)), active


def gelu(a):
    """a Phi(a), and Phi(a) + a phi(a).

    Phi by erf: its argument is off by 3 u, which does 3 u |a| phi(a) < u, erf may err by 4 ulp, 8 u, and 1 + erf rounds
    by 2 u, all halved. By erfc: (5 z^2 + 12) u Phi with z = max(0, -a / sqrt 2), by the conditions in
    layers/test_activations.py; below 12 u. Its slope is below 0.4.
    """
    u = a.precision.stored.unit
    worst = 0.4 * a.worst + 16 * u
    phi = Rounded(special.ndtr(a.value), worst, worst**2, a.precision)
    density = about(-(a * a)).over(2).exp(ceiling=1.0) * Rounded.given(float(1 / np.sqrt(2 * np.pi)), a.precision)
    return about(a * phi), phi + about(a * density)


ACTIVATIONS = {"relu": relu, "gelu": gelu}


def feed_forward(x, weights, activation):
    """The terms of y; the pull gives terms of dx, and the gradients of the weights."""
    W_1, b_1, W_2, b_2 = (weights[name] for name in ("W_1", "b_1", "W_2", "b_2"))
    h, slope = ACTIVATIONS[activation](summed(terms(x, W_1), column(b_1)))

    def back(dy):
        da = product(dy, transposed(W_2)) * slope
        return da, product(da, transposed(W_1))

    def pull(dy):
        da, dx = through(back, dy)
        gradients = {
            "W_1": bounds.of_weights(x, da),
            "b_1": total(da),
            "W_2": bounds.of_weights(h, dy),
            "b_2": total(dy),
        }
        return [column(dx)], gradients

    return [terms(h, W_2), column(b_2)], pull


# Layers


def residual(x, sublayer, norm, config):
    """LN(x + f(x)), or x + f(LN(x)); the pull gives dx, the gradients of the norm, and what else that of f gives."""
    if config.norm == "post":
        fx, pull_f = sublayer(x)
        y, pull_norm = layer_norm(summed(column(x), *fx), norm["gain"], norm["bias"], config.eps)

        def pull(dy):
            ds, *dnorm = pull_norm(dy)
            dx, *others = pull_f(ds)
            return summed(column(ds), *dx), dict(zip(GAIN_AND_BIAS, dnorm, strict=True)), *others

        return y, pull
    u, pull_norm = layer_norm(x, norm["gain"], norm["bias"], config.eps)
    fu, pull_f = sublayer(u)

    def pull(dy):
        du, *others = pull_f(dy)
        dx, *dnorm = pull_norm(summed(*du))
        return dy + dx, dict(zip(GAIN_AND_BIAS, dnorm, strict=True)), *others

    return summed(column(x), *fu), pull


def layer(x, params, config, keep=True, memory=None, memory_keep=True):
    """One layer of encoder or decoder: y; the pull gives dx, terms of dmemory, and the gradients of the parameters."""

    def own(u):
        terms_of_y, pull = multi_head(u, u, params["self_attention"], config.n_heads, keep)

        def back(dy):
            dx, dm, gradients = pull(dy)
            return [*dx, *dm], gradients

        return terms_of_y, back

    sublayers = {"self_attention": own}
    if memory is not None:
        sublayers["cross_attention"] = lambda u: multi_head(
            u, memory, params["cross_attention"], config.n_heads, memory_keep
        )
    sublayers["feed_forward"] = lambda u: feed_forward(u, params["feed_forward"], config.activation)
    pulls = {}
    for name, sublayer in sublayers.items():
        x, pulls[name] = residual(x, sublayer, params[f"{name}_norm"], config)

    def pull(dy):
        gradients, dmemory = {}, []
        for name in reversed(pulls):
            dy, gradients[f"{name}_norm"], *others, gradients[name] = pulls[name](dy)
            dmemory += [each for group in others for each in group]
        return dy, dmemory, gradients

    return x, pull


def stack(x, params, config, keep=True, memory=None, memory_keep=True):
    """Layers and the final norm, if there is one; the pull is as that of `layer`."""
    pulls = []
    for each in params["layers"]:
        x, pull = layer(x, each, config, keep, memory, memory_keep)
        pulls.append(pull)
    pull_norm = None
    if "norm" in params:
        x, pull_norm = layer_norm(x, params["norm"]["gain"], params["norm"]["bias"], config.eps)

    def pull(dy):
        gradients, dmemory = {"layers": []}, []
        if pull_norm:
            dy, *dnorm = pull_norm(dy)
            gradients["norm"] = dict(zip(GAIN_AND_BIAS, dnorm, strict=True))
        for back in reversed(pulls):
            dy, read, of_layer = back(dy)
            dmemory += read
            gradients["layers"].insert(0, of_layer)
        return dy, dmemory, gradients

    return x, pull


def transformer(src, tgt, params, config, src_keep=True, tgt_keep=True, memory_keep=True):
    """Encoder and decoder: y; the pull gives dsrc, dtgt and the gradients of the parameters."""
    memory, pull_encoder = stack(src, params["encoder"], config, src_keep)
    y, pull_decoder = stack(tgt, params["decoder"], config, tgt_keep, memory, memory_keep)

    def pull(dy):
        dtgt, dmemory, of_decoder = pull_decoder(dy)
        dsrc, _, of_encoder = pull_encoder(summed(*dmemory))
        return dsrc, dtgt, {"encoder": of_encoder, "decoder": of_decoder}

    return y, pull
