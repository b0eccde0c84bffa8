r"""The Jacobian of normalisation, from the definition.

Definitions   J_norm(x, eps, i, j)             J_ij, the derivative of x^_i = normalised(x, eps, i) along x_j
Statements    variance_along_a_curve           dv/dt = (2/d) sum_l (x_l - average(x)) dx_l/dt
              along_a_curve                    dx^_i/dt = (dx_i - mean(dx) - x^_i mean(x^ dx)) / sqrt(v + eps)
              jacobian                         J_ij = (delta_ij - 1/d - x^_i x^_j / d) / sqrt(v + eps)
              symmetric                        J_ij = J_ji
              jacobian_times_vector            (J u)_i = (u_i - mean(u) - x^_i mean(x^ u)) / sqrt(v + eps)
              jacobian_with_gain               d layer_norm(x)_i / dx_j = gain_i J_ij
              asymmetry_with_gain              its entries (i, j) and (j, i) differ by (gain_i - gain_j) J_ij
Scope         Any d >= 1 and any real eps with v + eps > 0, where v is the biased variance. A partial derivative is the
              derivative along x_l + t delta_lj at t = 0; mean(f) is sum_l f_l / d, and dx is short for dx/dt.
Reference     Ba, Kiros & Hinton 2016 (arXiv:1607.06450), section 3, for what is differentiated.
"""

from ..notation import Definition, curve, delta, derivative, eq, family, function, sqrt, sum_, t
from ..registry import theorem
from .layer_norm import (
    average,
    bias,
    biased_variance,
    d,
    eps,
    gain,
    i,
    j,
    l,
    layer_norm,
    normalised,
    varied,
    varies,
    x,
    x_hat,
)


def moved(vector, direction, step):
    """The features after a step along one of them."""
    return function(l, vector[l] + step * delta(l, direction))


def mean(component):
    """The mean of the components of a vector, each given by its feature."""
    return sum_(l, component(l)) / d


def projected(vector, hat):
    """What is left of component i without the mean, and without the share along the normalised features."""
    return vector(i) - mean(vector) - hat(i) * mean(lambda l: hat(l) * vector(l))


J = Definition(
    "J_norm",
    [x, eps, i, j],
    derivative(t, normalised(moved(x, j, t), eps, i), 0),
    requires=[varies(x, eps)],
    says="the Jacobian of normalisation",
)


def root_of(vector):
    """What a vector is divided by."""
    return sqrt(eps + biased_variance(vector))


def hat_of(vector):
    """The normalised features of a vector, as a function of the feature."""
    return lambda feature: normalised(vector, eps, feature)


def written(vector):
    """The entry (i, j) of the Jacobian, written out."""
    hat = hat_of(vector)
    return (delta(i, j) - 1 / d - hat(i) * hat(j) / d) / root_of(vector)


root = root_of(x)
path = curve("x", d)
at_t = function(l, path[l, t])
root_at_t, hat_at_t = root_of(at_t), hat_of(at_t)


def rate(feature):
    """How fast a feature moves along the path."""
    return path.derivative[feature, t]


def centred(feature):
    """A feature along the path, less the mean."""
    return path[feature, t] - average(at_t)


covariance = mean(lambda l: centred(l) * rate(l))


@theorem(eq(derivative(t, biased_variance(at_t), t), 2 * covariance), near_miss=[covariance, -2 * covariance])
def variance_along_a_curve(proof):
    "Along any differentiable curve the variance moves by twice the mean product of deviation and velocity."
    deviations = mean(lambda l: path[l, t]) - average(at_t)
    proof.equals(mean(lambda l: 2 * centred(l) * (rate(l) - mean(rate))), "derivative")
    proof.equals(2 * covariance - 2 * deviations * mean(rate), "finite_sum")
    proof.closes("definition", of=average)


@theorem(
    eq(derivative(t, hat_at_t(i), t), projected(rate, hat_at_t) / root_at_t),
    given=[varies(at_t, eps)],
    near_miss=[
        (rate(i) - mean(rate)) / root_at_t,
        (rate(i) - hat_at_t(i) * mean(lambda l: hat_at_t(l) * rate(l))) / root_at_t,
        (rate(i) - mean(rate) + hat_at_t(i) * mean(lambda l: hat_at_t(l) * rate(l))) / root_at_t,
    ],
)
def along_a_curve(proof):
    "Along any differentiable curve x^ moves by the velocity over the root, less its mean and its share along x^."

    def quotient(variance_rate):
        return (rate(i) - mean(rate)) / root_at_t - centred(i) / root_at_t * variance_rate / (2 * root_at_t**2)

    proof.equals(quotient(derivative(t, biased_variance(at_t), t)), "derivative")
    proof.equals(quotient(2 * covariance), variance_along_a_curve)
    proof.equals(projected(rate, lambda k: centred(k) / root_at_t) / root_at_t, "finite_sum")
    proof.closes("definition", of=normalised)


@theorem(
    eq(J(x, eps, i, j), written(x)),
    given=varied,
    near_miss=[
        (delta(i, j) - x_hat(i) * x_hat(j) / d) / root,
        (delta(i, j) - 1 / d) / root,
        (delta(i, j) - 1 / d + x_hat(i) * x_hat(j) / d) / root,
    ],
)
def jacobian(proof):
    "The Jacobian of normalisation, derived from its definition: exact for every eps."
    line, start = function([l, t], x[l] + t * delta(l, j)), moved(x, j, 0)
    step = lambda k: delta(k, j)
    proof.equals(derivative(t, normalised(moved(x, j, t), eps, i), 0), "definition", of=J)
    proof.equals(projected(step, hat_of(start)) / root_of(start), along_a_curve, at={path: line, t: 0})
    proof.closes("finite_sum")


@theorem(eq(J(x, eps, i, j), J(x, eps, j, i)), given=varied, near_miss=[-J(x, eps, j, i), J(x, eps, i, i)])
def symmetric(proof):
    "The Jacobian of normalisation is symmetric."
    proof.equals(written(x), jacobian)
    proof.equals((delta(j, i) - 1 / d - x_hat(j) * x_hat(i) / d) / root, "ring")
    proof.closes(jacobian)


u = family("u", d)


def component(feature):
    """A component of an arbitrary vector."""
    return u[feature]


overlap = mean(lambda l: x_hat(l) * u[l])


@theorem(
    eq(sum_(j, J(x, eps, i, j) * u[j]), projected(component, x_hat) / root),
    given=varied,
    near_miss=[(u[i] - mean(component)) / root, (u[i] - x_hat(i) * overlap) / root],
)
def jacobian_times_vector(proof):
    "The Jacobian times a vector, without the matrix."
    proof.equals(sum_(j, written(x) * u[j]), jacobian)
    proof.closes("finite_sum")


def with_gain(i, j):
    """The partial derivative of output i along feature j."""
    return derivative(t, layer_norm(moved(x, j, t), gain, bias, eps, i), 0)


@theorem(
    eq(with_gain(i, j), gain[i] * J(x, eps, i, j)),
    given=varied,
    near_miss=[gain[j] * J(x, eps, i, j), gain[i] * J(x, eps, i, j) + bias[i], J(x, eps, i, j)],
)
def jacobian_with_gain(proof):
    "With a gain the Jacobian is diag(gain) J: the gain scales its rows."
    proof.equals(gain[i] * derivative(t, normalised(moved(x, j, t), eps, i), 0), "derivative")
    proof.closes("definition", of=J)


@theorem(
    eq(with_gain(i, j) - with_gain(j, i), (gain[i] - gain[j]) * J(x, eps, i, j)),
    given=varied,
    near_miss=[0, (gain[j] - gain[i]) * J(x, eps, i, j)],
)
def asymmetry_with_gain(proof):
    "With unequal gains the Jacobian is not symmetric: opposite entries differ by (gain_i - gain_j) J_ij."
    proof.equals(gain[i] * J(x, eps, i, j) - gain[j] * J(x, eps, j, i), jacobian_with_gain)
    proof.equals(gain[i] * J(x, eps, i, j) - gain[j] * J(x, eps, i, j), "congruence", then=symmetric)
    proof.closes("ring")
