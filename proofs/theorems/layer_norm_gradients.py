r"""Gradients through layer normalisation: of one token, and of all tokens together.

Definitions   layer_norm(x, gain, bias, eps, i)      gain_i x^_i + bias_i, of layer_norm.py
              of_tokens(X, gain, bias, eps, p, i)    layer normalisation of row p of X, of layer_norm.py
Statements    vjp                              d<g, y>/dx_j = (g^_j - mean(g^) - x^_j mean(g^ x^)) / sqrt(v + eps)
              gradient_sums_to_zero            sum_j d<g, y>/dx_j = 0
              euler_identity                   sum_j x_j d<g, y>/dx_j = eps / (v + eps) <g^, x^>
              jacobian_of_tokens               dY_pi/dX_qj = delta_pq gain_i J_ij, J that of row p
              vjp_of_tokens                    d<G, Y>/dX_qj is the vjp of row q of X and row q of G
              gain_gradient                    d<G, Y>/dgain_j = sum_p G_pj X^_pj
              bias_gradient                    d<G, Y>/dbias_j = sum_p G_pj
Scope         Any d, n >= 1 and any real eps with v + eps > 0, in every row. Here y = layer_norm(x), Y = of_tokens(X),
              g^_i = gain_i g_i, and X^ is X with every row normalised; mean(f) is sum_l f_l / d.
Reference     Ba, Kiros & Hinton 2016 (arXiv:1607.06450), section 3, for what is differentiated.
"""

from ..notation import delta, derivative, eq, family, forall, function, n, sum_, t
from ..registry import theorem
from .layer_norm import (
    X,
    average,
    bias,
    d,
    eps,
    gain,
    i,
    j,
    l,
    layer_norm,
    normalised,
    of_tokens,
    p,
    q,
    row,
    row_of,
    squared_length,
    sum_is_zero,
    v,
    varied,
    varies,
    x,
    x_hat,
)
from .layer_norm_jacobian import (
    J,
    along_a_curve,
    hat_of,
    jacobian,
    jacobian_with_gain,
    mean,
    moved,
    path,
    projected,
    root,
    root_of,
    with_gain,
    written,
)

g, G = family("g", d), family("G", n, d)


def scaled(feature):
    """The cotangent of a feature times its gain."""
    return gain[feature] * g[feature]


output = sum_(i, g[i] * layer_norm(moved(x, j, t), gain, bias, eps, i))
gradient = derivative(t, output, 0)
overlap = mean(lambda l: scaled(l) * x_hat(l))
formula = (scaled(j) - mean(scaled) - x_hat(j) * overlap) / root


@theorem(
    eq(gradient, formula),
    given=varied,
    near_miss=[
        (scaled(j) - x_hat(j) * overlap) / root,
        (scaled(j) - mean(scaled)) / root,
        (scaled(j) - mean(scaled) + x_hat(j) * overlap) / root,
    ],
)
def vjp(proof):
    "The gradient of <g, layer_norm(x)> with respect to x, without the Jacobian matrix."
    proof.equals(sum_(i, g[i] * with_gain(i, j)), "derivative")
    proof.equals(sum_(i, g[i] * (gain[i] * J(x, eps, i, j))), jacobian_with_gain)
    proof.equals(sum_(i, g[i] * (gain[i] * written(x))), jacobian)
    proof.closes("finite_sum")


@theorem(eq(sum_(j, gradient), 0), given=varied, near_miss=[mean(scaled) / root, -overlap / root])
def gradient_sums_to_zero(proof):
    "The gradient is orthogonal to the constant vectors, as the output does not change along them."
    proof.equals(sum_(j, formula), vjp)
    proof.equals(-(sum_(j, x_hat(j)) * overlap) / root, "finite_sum")
    proof.closes(sum_is_zero)


product = sum_(l, scaled(l) * x_hat(l))


@theorem(
    eq(sum_(j, x[j] * gradient), eps / (eps + v) * product),
    given=varied,
    near_miss=[0, v / (eps + v) * product],
)
def euler_identity(proof):
    "The product of x and its gradient is eps / (v + eps) times that of x^ and gain g, and so 0 without eps."
    total, length = sum_(j, x_hat(j)), sum_(j, x_hat(j) ** 2)
    proof.equals(sum_(j, (root * x_hat(j) + average(x)) * gradient), "congruence", then="definition", of=normalised)
    proof.equals(root * sum_(j, x_hat(j) * gradient) + average(x) * sum_(j, gradient), "finite_sum")
    proof.equals(root * sum_(j, x_hat(j) * gradient), gradient_sums_to_zero)
    proof.equals(root * sum_(j, x_hat(j) * formula), vjp)
    proof.equals(product - total * mean(scaled) - length / d * product, "finite_sum")
    proof.equals(product - length / d * product, sum_is_zero)
    proof.equals(product - d * (v / (eps + v)) / d * product, squared_length)
    proof.closes("field")


changed = function((p, l), X[p, l] + t * delta(p, q) * delta(l, j))
partial = derivative(t, of_tokens(changed, gain, bias, eps, p, i), 0)


@theorem(
    eq(partial, delta(p, q) * gain[i] * J(row, eps, i, j)),
    given=[varies(row, eps)],
    near_miss=[gain[i] * J(row, eps, i, j), delta(p, q) * gain[j] * J(row, eps, i, j)],
)
def jacobian_of_tokens(proof):
    "The Jacobian for all tokens is block diagonal, with one block per token: tokens do not mix."
    step = lambda k: delta(p, q) * delta(k, j)
    line, start = function((l, t), X[p, l] + t * step(l)), function(l, X[p, l] + 0 * step(l))
    moved_row = function(l, X[p, l] + t * step(l))
    proof.equals(gain[i] * derivative(t, normalised(moved_row, eps, i), 0), "derivative")
    at = {path: line, t: 0}
    proof.equals(gain[i] * projected(step, hat_of(start)) / root_of(start), along_a_curve, at=at)
    proof.equals(delta(p, q) * gain[i] * written(row), "finite_sum")
    proof.closes(jacobian, at={x: row})


every_row_varies = [forall(p, varies(row, eps))]
row_q = row_of(X, q)


def own(feature):
    """The cotangent of a feature of token q times its gain."""
    return gain[feature] * G[q, feature]


along_row = hat_of(row_q)(j) * mean(lambda l: own(l) * hat_of(row_q)(l))


def against_G(gain, bias, tokens):
    """The output at all tokens against G."""
    return sum_((p, i), G[p, i] * of_tokens(tokens, gain, bias, eps, p, i))


@theorem(
    eq(derivative(t, against_G(gain, bias, changed), 0), (own(j) - mean(own) - along_row) / root_of(row_q)),
    given=every_row_varies,
    near_miss=[(own(j) - mean(own)) / root_of(row_q), (own(j) - along_row) / root_of(row_q)],
)
def vjp_of_tokens(proof):
    "The gradient with respect to a token comes from its own output alone, by the formula for one token."
    proof.equals(sum_((p, i), G[p, i] * partial), "derivative")
    proof.equals(sum_((p, i), G[p, i] * (delta(p, q) * gain[i] * J(row, eps, i, j))), jacobian_of_tokens)
    proof.equals(sum_(i, own(i) * J(row_q, eps, i, j)), "finite_sum")
    proof.equals(sum_(i, own(i) * written(row_q)), jacobian, at={x: row_q})
    proof.closes("finite_sum")


gain_sum = sum_(p, G[p, j] * normalised(row, eps, j))


@theorem(
    eq(derivative(t, against_G(moved(gain, j, t), bias, X), 0), gain_sum),
    given=every_row_varies,
    near_miss=[sum_(p, G[p, j]), gain_sum / n, gain[j] * gain_sum],
)
def gain_gradient(proof):
    "The gradient of a gain sums over the tokens its cotangents times its normalised features."
    proof.equals(sum_((p, i), G[p, i] * (delta(i, j) * normalised(row, eps, i))), "derivative")
    proof.closes("finite_sum")


@theorem(
    eq(derivative(t, against_G(gain, moved(bias, j, t), X), 0), sum_(p, G[p, j])),
    given=every_row_varies,
    near_miss=[gain_sum, sum_(p, G[p, j]) / n],
)
def bias_gradient(proof):
    "The gradient of a bias sums its cotangents over the tokens."
    proof.equals(sum_((p, i), G[p, i] * delta(i, j)), "derivative")
    proof.closes("finite_sum")
