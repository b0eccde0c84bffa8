r"""What the Jacobian of normalisation loses, and what it keeps.

Definitions   J_norm(x, eps, i, j)             J_ij, the Jacobian of normalisation, of layer_norm_jacobian.py
Statements    null_space                       J 1 = 0
              normalised_direction             J x^ = eps / (v + eps)^(3/2) x^
              null_space_without_eps           eps = 0: J x^ = 0
              null_vectors                     J u = 0 gives u_i = mean(u) + x^_i mean(x^ u)
              null_vectors_are_orthogonal      J u = 0 and eps != 0 give <x^, u> = 0
              null_vectors_are_constant        J u = 0 and eps != 0 give u_i = average(u)
              spectrum                         <1, u> = <x^, u> = 0 gives J u = u / sqrt(v + eps)
Scope         Any d >= 1, and d >= 2 for null_space_without_eps; any real eps with v + eps > 0. So the eigenvalues of J
              are 0 along 1, eps / (v + eps)^(3/2) along x^, and 1 / sqrt(v + eps) on all that is orthogonal to both.
Reference     Xiong et al. 2020 (arXiv:2002.04745), appendix, for the Jacobian as a scaled projection.
"""

from ..notation import ZERO, eq, family, forall, function, index, ne, size, sum_
from ..registry import Statement, theorem
from .layer_norm import (
    a,
    average,
    d,
    eps,
    i,
    j,
    l,
    normalised,
    squared_length,
    sum_is_zero,
    v,
    varied,
    varies,
    x,
    x_hat,
)
from .layer_norm_jacobian import J, component, jacobian_times_vector, mean, overlap, projected, root, u

y = family("y", d)


def times(vector, i=i):
    """Component i of the Jacobian times a vector, given by its components."""
    return sum_(j, J(x, eps, i, j) * vector(j))


def at_vector(vector):
    """The value of u at which it is a vector given by its components."""
    return {u: function(l, vector(l))}


def one(feature):
    """A component of the constant vector."""
    return 1


@theorem(eq(sum_(j, J(x, eps, i, j)), 0), given=varied, near_miss=[x_hat(i), 1 / root])
def null_space(proof):
    "The Jacobian takes the constant vectors to 0."
    proof.equals(projected(one, x_hat) / root, jacobian_times_vector, at=at_vector(one))
    proof.equals(-(x_hat(i) * mean(x_hat)) / root, "finite_sum")
    proof.closes(sum_is_zero)


@theorem(eq(times(x_hat), eps / ((eps + v) * root) * x_hat(i)), given=varied, near_miss=[0, x_hat(i) / root])
def normalised_direction(proof):
    "The normalised features are an eigenvector of their own Jacobian, for the eigenvalue eps / (v + eps)^(3/2)."
    lengths = mean(lambda l: x_hat(l) ** 2)
    proof.equals(projected(x_hat, x_hat) / root, jacobian_times_vector, at=at_vector(x_hat))
    proof.equals((x_hat(i) - x_hat(i) * lengths) / root, sum_is_zero)
    proof.equals((x_hat(i) - x_hat(i) * (d * (v / (eps + v)) / d)) / root, squared_length)
    proof.closes("field")


D = size("d", 2)  # without eps one feature alone cannot be normalised: it is its own mean
i2, j2 = index("i", D), index("j", D)
x2 = family("x", D)


def times_itself(eps):
    """Component i of the Jacobian times the normalised features."""
    return sum_(j2, J(x2, eps, i2, j2) * normalised(x2, eps, j2))


@theorem(
    eq(times_itself(0), 0),
    given=[varies(x2, 0)],
    near_miss=[normalised(x2, 0, i2), Statement(eq(times_itself(eps), 0), (varies(x2, eps),))],
)
def null_space_without_eps(proof):
    "Without eps the Jacobian takes the normalised features to 0 too."
    proof.closes(normalised_direction, at={d: D, eps: 0})


lost = [*varied, forall(i, eq(times(component), 0))]
constant = {u: function(l, a)}
along_x = {eps: ZERO, u: x}


@theorem(
    eq(u[i], mean(component) + x_hat(i) * overlap),
    given=lost,
    near_miss=[(mean(component), along_x), (mean(component) - x_hat(i) * overlap, along_x)],
    witness=constant,
)
def null_vectors(proof):
    "What the Jacobian takes to 0 is a constant vector plus a multiple of the normalised features."
    kept = mean(component) + x_hat(i) * overlap
    proof.equals(kept + root * (projected(component, x_hat) / root), "field")
    proof.equals(kept + root * times(component), jacobian_times_vector)
    proof.equals(kept + root * 0, "congruence", then="given")
    proof.closes("ring")


product = sum_(l, x_hat(l) * u[l])


@theorem(
    eq(product, 0),
    given=[*lost, ne(eps, 0)],
    near_miss=[mean(component), (Statement(eq(product, 0), tuple(lost)), along_x)],
    witness=constant,
)
def null_vectors_are_orthogonal(proof):
    "With eps, what the Jacobian takes to 0 is orthogonal to the normalised features."
    scale, total, length = (eps + v) / eps, sum_(l, x_hat(l)), sum_(l, x_hat(l) ** 2)
    along = (u[l] - mean(component) - x_hat(l) * overlap) / root
    proof.equals(scale * (product - v / (eps + v) * product), "field")
    proof.equals(scale * (product - length / d * product), squared_length)
    proof.equals(scale * (product - total * mean(component) - length / d * product), sum_is_zero)
    proof.equals(scale * root * sum_(l, x_hat(l) * along), "finite_sum")
    proof.equals(scale * root * sum_(l, x_hat(l) * times(component, l)), jacobian_times_vector)
    proof.equals(scale * root * sum_(l, x_hat(l) * 0), "congruence", then="given")
    proof.closes("ring")


@theorem(
    eq(u[i], average(u)),
    given=[*lost, ne(eps, 0)],
    near_miss=[0, (Statement(eq(u[i], average(u)), tuple(lost)), along_x)],
    witness=constant,
)
def null_vectors_are_constant(proof):
    "With eps the Jacobian takes the constant vectors to 0 and nothing else."
    proof.equals(mean(component) + x_hat(i) * overlap, null_vectors)
    proof.equals(mean(component), null_vectors_are_orthogonal)
    proof.closes("definition", of=average)


slope = sum_(l, (x[l] - average(x)) * y[l])
orthogonal = {u: function(l, d * v * (y[l] - average(y)) - slope * (x[l] - average(x)))}


@theorem(
    eq(times(component), u[i] / root),
    given=[*varied, eq(sum_(l, u[l]), 0), eq(product, 0)],
    near_miss=[u[i], -u[i] / root],
    witness=orthogonal,
)
def spectrum(proof):
    "On vectors orthogonal to 1 and to x^ the Jacobian acts as the number 1 / sqrt(v + eps)."
    proof.equals(projected(component, x_hat) / root, jacobian_times_vector)
    proof.equals((u[i] - 0 / d - x_hat(i) * (0 / d)) / root, "congruence", then="given")
    proof.closes("ring")
