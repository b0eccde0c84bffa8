r"""The Jacobian of RMS normalisation, from the definition, and the gradients through it.

Definitions   J_rms(x, eps, i, j)              J_ij, the derivative of y_i = rms_normalised(x, eps, i) along x_j
Statements    along_a_curve                    dy_i/dt = (dx_i - y_i mean(y dx)) / sqrt(m + eps)
              jacobian                         J_ij = (delta_ij - y_i y_j / d) / sqrt(m + eps)
              symmetric                        J_ij = J_ji
              own_direction                    J y = eps / (m + eps)^(3/2) y
              vjp                              d<g, rms_norm(x)>/dx_j = (g^_j - y_j mean(g^ y)) / sqrt(m + eps)
              euler_identity                   sum_j x_j d<g, rms_norm(x)>/dx_j = eps / (m + eps) <g^, y>
              gain_gradient                    d(sum_p <G_p, rms_norm(X_p)>)/dgain_j = sum_p G_pj Y_pj
Scope         Any d, n >= 1 and any real eps with m + eps > 0, m the mean square, in every row. Here g^_i = gain_i g_i,
              and Y is X with every row normalised. A partial derivative is the derivative along x_l + t delta_lj at
              t = 0; mean(f) is sum_l f_l / d, and dx is short for dx/dt.
Reference     Zhang & Sennrich 2019 (arXiv:1910.07467), section 4, where eps is left out.
"""

from ..notation import Definition, delta, derivative, eq, forall, function, n, sum_, t
from ..registry import theorem
from .layer_norm import d, eps, gain, i, j, l, p, row, x
from .layer_norm_gradients import G, g, scaled
from .layer_norm_jacobian import at_t, mean, moved, path, rate
from .rms_norm import enough, large, m, mean_square, rms_norm, rms_normalised, root, root_of, share, value, y, y_of


def projected(vector, y):
    """What is left of component i without the share along the normalised features."""
    return vector(i) - y(i) * mean(lambda l: y(l) * vector(l))


y_at_t, root_at_t = y_of(at_t), root_of(at_t)


@theorem(
    eq(derivative(t, y_at_t(i), t), projected(rate, y_at_t) / root_at_t),
    given=[large(at_t, eps)],
    near_miss=[
        rate(i) / root_at_t,
        (rate(i) - mean(rate) - y_at_t(i) * mean(lambda l: y_at_t(l) * rate(l))) / root_at_t,
        (rate(i) + y_at_t(i) * mean(lambda l: y_at_t(l) * rate(l))) / root_at_t,
    ],
)
def along_a_curve(proof):
    "Along any differentiable curve y moves by the velocity over the root, less its share along y."
    square_rate = mean(lambda l: 2 * path[l, t] * rate(l))
    change = rate(i) / root_at_t - path[i, t] / root_at_t * square_rate / (2 * root_at_t**2)
    proof.equals(change, "derivative")
    proof.equals(projected(rate, lambda k: path[k, t] / root_at_t) / root_at_t, "finite_sum")
    proof.closes("definition", of=rms_normalised)


J = Definition(
    "J_rms",
    [x, eps, i, j],
    derivative(t, rms_normalised(moved(x, j, t), eps, i), 0),
    requires=[large(x, eps)],
    says="the Jacobian of RMS normalisation",
)
written = (delta(i, j) - y(i) * y(j) / d) / root


@theorem(
    eq(J(x, eps, i, j), written),
    given=enough,
    near_miss=[delta(i, j) / root, (delta(i, j) - 1 / d - y(i) * y(j) / d) / root, (delta(i, j) - y(i) * y(j)) / root],
)
def jacobian(proof):
    "The Jacobian of RMS normalisation, derived from its definition: exact for every eps."
    line, start = function([l, t], x[l] + t * delta(l, j)), moved(x, j, 0)
    step = lambda k: delta(k, j)
    proof.equals(derivative(t, y_of(moved(x, j, t))(i), 0), "definition", of=J)
    proof.equals(projected(step, y_of(start)) / root_of(start), along_a_curve, at={path: line, t: 0})
    proof.closes("finite_sum")


@theorem(eq(J(x, eps, i, j), J(x, eps, j, i)), given=enough, near_miss=[-J(x, eps, j, i), J(x, eps, i, i)])
def symmetric(proof):
    "The Jacobian of RMS normalisation is symmetric."
    proof.equals(written, jacobian)
    proof.equals((delta(j, i) - y(j) * y(i) / d) / root, "ring")
    proof.closes(jacobian)


squares, of_y = mean(lambda l: y(l) ** 2), mean_square(function(l, y(l)))


@theorem(eq(sum_(j, J(x, eps, i, j) * y(j)), eps / ((eps + m) * root) * y(i)), given=enough, near_miss=[0, y(i) / root])
def own_direction(proof):
    "The normalised features are an eigenvector of their own Jacobian, for the eigenvalue eps / (m + eps)^(3/2)."
    proof.equals(sum_(j, written * y(j)), jacobian)
    proof.equals((y(i) - y(i) * squares) / root, "finite_sum")
    proof.equals((y(i) - y(i) * of_y) / root, "definition", of=mean_square)
    proof.equals((y(i) - y(i) * share) / root, value)
    proof.closes("field")


output = sum_(i, g[i] * rms_norm(moved(x, j, t), gain, eps, i))
gradient = derivative(t, output, 0)
overlap = mean(lambda l: scaled(l) * y(l))
formula = (scaled(j) - y(j) * overlap) / root


@theorem(
    eq(gradient, formula),
    given=enough,
    near_miss=[scaled(j) / root, (scaled(j) - mean(scaled) - y(j) * overlap) / root, (g[j] - y(j) * overlap) / root],
)
def vjp(proof):
    "The gradient of <g, rms_norm(x)> with respect to x, without the Jacobian matrix."
    partial = derivative(t, rms_normalised(moved(x, j, t), eps, i), 0)
    proof.equals(sum_(i, g[i] * (gain[i] * partial)), "derivative")
    proof.equals(sum_(i, g[i] * (gain[i] * J(x, eps, i, j))), "definition", of=J)
    proof.equals(sum_(i, g[i] * (gain[i] * written)), jacobian)
    proof.closes("finite_sum")


product = sum_(l, scaled(l) * y(l))


@theorem(eq(sum_(j, x[j] * gradient), eps / (eps + m) * product), given=enough, near_miss=[0, m / (eps + m) * product])
def euler_identity(proof):
    "The product of x and its gradient is eps / (m + eps) times that of y and gain g, and so 0 without eps."
    proof.equals(sum_(j, root * y(j) * gradient), "congruence", then="definition", of=rms_normalised)
    proof.equals(sum_(j, root * y(j) * formula), vjp)
    proof.equals(product - squares * product, "finite_sum")
    proof.equals(product - of_y * product, "definition", of=mean_square)
    proof.equals(product - share * product, value)
    proof.closes("field")


of_all_tokens = sum_((p, i), G[p, i] * rms_norm(row, moved(gain, j, t), eps, i))
gain_sum = sum_(p, G[p, j] * y_of(row)(j))


@theorem(
    eq(derivative(t, of_all_tokens, 0), gain_sum),
    given=[forall(p, large(row, eps))],
    near_miss=[sum_(p, G[p, j]), gain_sum / n, gain[j] * gain_sum],
)
def gain_gradient(proof):
    "The gradient of a gain sums over the tokens its cotangents times its normalised features."
    proof.equals(sum_((p, i), G[p, i] * (delta(i, j) * y_of(row)(i))), "derivative")
    proof.closes("finite_sum")
