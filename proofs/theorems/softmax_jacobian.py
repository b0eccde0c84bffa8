r"""The Jacobian of softmax and its products with vectors, from the definition.

Definitions   J(z, i, j)                       the derivative of softmax(z)_i along z_j
              mean(p, x)                       sum_l p_l x_l
Statements    jacobian                         J_ij = s_i (delta_ij - s_j)
              symmetric                        J_ij = J_ji
              equals_diagonal_minus_outer      J_ij = delta_ij s_i - s_i s_j, that is diag(s) - s s^T
              rows_sum_to_zero                 sum_j J_ij = 0
              trace                            sum_i J_ii = 1 - sum_i s_i^2
              instance_of_four                 n = 4, written out as a 4 x 4 matrix
              quadratic_form_is_variance       v^T J v = sum_i s_i (v_i - <s, v>)^2
              quadratic_form_is_nonnegative    0 <= v^T J v
              along_a_curve                    d/dt softmax(z(t))_i = sum_j J_ij dz_j/dt
              jvp                              d/dt softmax(z + t v)_i = s_i (v_i - <s, v>)
              gradient_is_jacobian_times_cotangent   d<g, s>/dz_j = sum_i J_ji g_i
              vjp                              d<g, s>/dz_j = s_j (g_j - <s, g>)
Scope         Any n >= 1, real logits; a partial derivative is the derivative along z_l + t delta_lj at t = 0.
Reference     Bridle 1990; Gao & Pavel 2017 (arXiv:1704.00805), Propositions 1 and 2; Vaswani et al. 2017, section 3.2.1.
"""

from ..notation import (
    Definition,
    curve,
    delta,
    derivative,
    eq,
    exp,
    family,
    function,
    i,
    index,
    j,
    l,
    le,
    literal,
    n,
    sum_,
    t,
    table,
    variable,
    z,
)
from ..registry import theorem
from .softmax import Z, positive, softmax, sums_to_one

J = Definition(
    "J", [z, i, j], derivative(t, softmax(function(l, z[l] + t * delta(l, j)), i), 0), says="the Jacobian of softmax"
)
p, x = family("p", n, domain="positive"), family("x", n)
mean = Definition("mean", [p, x], sum_(l, p[l] * x[l]), says="the mean of x under the weights p")
s = softmax
v, g = family("v", n), family("g", n)
b, u = variable("b"), variable("u")
weights = function(l, s(z, l))


def moved(logits, direction, step):
    """The logits after a step along one coordinate."""
    return function(l, logits[l] + step * delta(l, direction))


@theorem(
    eq(J(z, i, j), s(z, i) * (delta(i, j) - s(z, j))),
    near_miss=[s(z, i) * (delta(i, j) + s(z, j)), s(z, i) * delta(i, j), s(z, j) * (delta(i, j) - s(z, j))],
)
def jacobian(proof):
    "The Jacobian of softmax, derived from its definition."
    total = sum_(l, exp(z[l] + t * delta(l, j)))
    proof.equals(derivative(t, exp(z[i] + t * delta(i, j)) / total, 0), "definition", of=(J, softmax))
    proof.equals((delta(i, j) * exp(z[i]) * Z - exp(z[i]) * sum_(l, delta(l, j) * exp(z[l]))) / Z**2, "derivative")
    proof.equals(delta(i, j) * exp(z[i]) / Z - exp(z[i]) * exp(z[j]) / Z**2, "finite_sum")
    proof.closes("definition", of=softmax)


@theorem(eq(J(z, i, j), J(z, j, i)), near_miss=[-J(z, j, i), J(z, i, i)])
def symmetric(proof):
    "The Jacobian is symmetric."
    proof.equals(s(z, i) * (delta(i, j) - s(z, j)), jacobian)
    proof.equals(s(z, j) * (delta(j, i) - s(z, i)), "finite_sum")
    proof.closes(jacobian)


@theorem(
    eq(J(z, i, j), delta(i, j) * s(z, i) - s(z, i) * s(z, j)),
    near_miss=[delta(i, j) * s(z, i) - s(z, i) * s(z, i), delta(i, j) * s(z, i)],
)
def equals_diagonal_minus_outer(proof):
    "The Jacobian is diag(s) minus the outer product of s with itself."
    proof.equals(s(z, i) * (delta(i, j) - s(z, j)), jacobian)
    proof.closes("ring")


@theorem(eq(sum_(j, J(z, i, j)), 0), near_miss=[s(z, i), s(z, i) ** 2])
def rows_sum_to_zero(proof):
    "Each row of the Jacobian sums to 0."
    proof.equals(sum_(j, s(z, i) * (delta(i, j) - s(z, j))), jacobian)
    proof.equals(s(z, i) * (1 - sum_(j, s(z, j))), "finite_sum")
    proof.closes(sums_to_one)


@theorem(
    eq(sum_(i, J(z, i, i)), 1 - sum_(i, s(z, i) ** 2)), near_miss=[n - sum_(i, s(z, i) ** 2), 1 - sum_(i, s(z, i))]
)
def trace(proof):
    "The trace of the Jacobian is 1 minus the squared length of s."
    proof.equals(sum_(i, s(z, i) * (delta(i, i) - s(z, i))), jacobian)
    proof.equals(sum_(i, s(z, i)) - sum_(i, s(z, i) ** 2), "finite_sum")
    proof.closes(sums_to_one)


z4, a4, b4 = family("z", 4), index("a", 4), index("b", 4)
s4 = [s(z4, literal(k, 4)) for k in range(4)]
written_out = [[s4[a] * (1 - s4[a]) if a == b else -(s4[a] * s4[b]) for b in range(4)] for a in range(4)]
s4_at_a = s(z4, a4)
signs_lost = [[s4[a] * (1 - s4[a]) if a == b else s4[a] * s4[b] for b in range(4)] for a in range(4)]


@theorem(eq(J(z4, a4, b4), table(written_out, a4, b4)), near_miss=[table(signs_lost, a4, b4), s4_at_a * (1 - s4_at_a)])
def instance_of_four(proof):
    "The Jacobian for four classes, written out."
    proof.equals(s(z4, a4) * (delta(a4, b4) - s(z4, b4)), jacobian, at={n: 4, z: z4})
    proof.closes("cases", on=a4, then="cases", inner={"on": b4, "then": "ring"})


@theorem(eq(sum_(i, sum_(j, v[i] * J(z, i, j) * v[j])), sum_(i, s(z, i) * (v[i] - mean(weights, v)) ** 2)),
         near_miss=[sum_(i, s(z, i) * (v[i] + mean(weights, v)) ** 2), sum_(i, s(z, i) * v[i] ** 2)])  # fmt: skip
def quadratic_form_is_variance(proof):
    "The quadratic form of the Jacobian is the variance of v under the weights."
    m = sum_(l, s(z, l) * v[l])
    proof.equals(sum_(i, sum_(j, v[i] * (s(z, i) * (delta(i, j) - s(z, j))) * v[j])), jacobian)
    proof.equals(sum_(i, s(z, i) * v[i] ** 2) - 2 * m * m + m * m * 1, "finite_sum")
    proof.equals(sum_(i, s(z, i) * v[i] ** 2) - 2 * m * m + m * m * sum_(i, s(z, i)), sums_to_one)
    proof.equals(sum_(i, s(z, i) * (v[i] - m) ** 2), "finite_sum")
    proof.closes("definition", of=mean)


@theorem(le(0, sum_(i, sum_(j, v[i] * J(z, i, j) * v[j]))), near_miss=le(1, sum_(i, sum_(j, v[i] * J(z, i, j) * v[j]))))
def quadratic_form_is_nonnegative(proof):
    "The Jacobian is positive semidefinite."
    proof.at_most(sum_(i, s(z, i) * (v[i] - mean(weights, v)) ** 2), "order", using=positive)
    proof.closes(quadratic_form_is_variance)


path = curve("x", n)
at_t = function(l, path[l, t])


@theorem(
    eq(derivative(t, s(function(l, path[l, t]), i), t), sum_(j, J(at_t, i, j) * path.derivative[j, t])),
    near_miss=[sum_(j, J(at_t, i, j) * path[j, t]), J(at_t, i, i) * path.derivative[i, t]],
)
def along_a_curve(proof):
    "Along any differentiable curve of logits the weights move by the Jacobian times the velocity (the chain rule)."
    total, velocity = sum_(l, exp(path[l, t])), path.derivative
    weighted = sum_(l, velocity[l, t] * exp(path[l, t]))
    proof.equals(derivative(t, exp(path[i, t]) / total, t), "definition", of=softmax)
    proof.equals((velocity[i, t] * exp(path[i, t]) * total - exp(path[i, t]) * weighted) / total**2, "derivative")
    weight = lambda k: exp(path[k, t]) / total
    proof.equals(sum_(j, weight(i) * (delta(i, j) - weight(j)) * velocity[j, t]), "finite_sum")
    proof.equals(sum_(j, s(at_t, i) * (delta(i, j) - s(at_t, j)) * velocity[j, t]), "definition", of=softmax)
    proof.closes(jacobian, at={z: at_t})


@theorem(
    eq(derivative(t, s(function(l, z[l] + t * v[l]), i), 0), s(z, i) * (v[i] - mean(weights, v))),
    near_miss=[s(z, i) * (v[i] + mean(weights, v)), s(z, i) * v[i]],
)
def jvp(proof):
    "The Jacobian times a vector, without the matrix."
    line = function([l, t], z[l] + t * v[l])
    at_zero = function(l, z[l] + 0 * v[l])
    proof.equals(sum_(j, J(at_zero, i, j) * v[j]), along_a_curve, at={path: line, t: 0})
    proof.equals(sum_(j, J(z, i, j) * v[j]), "ring")
    proof.equals(sum_(j, s(z, i) * (delta(i, j) - s(z, j)) * v[j]), jacobian)
    proof.equals(s(z, i) * (v[i] - sum_(l, s(z, l) * v[l])), "finite_sum")
    proof.closes("definition", of=mean)


loss = sum_(i, g[i] * s(moved(z, j, t), i))


@theorem(
    eq(derivative(t, loss, 0), sum_(i, J(z, j, i) * g[i])), near_miss=[-sum_(i, J(z, j, i) * g[i]), J(z, j, j) * g[j]]
)
def gradient_is_jacobian_times_cotangent(proof):
    "The gradient of <g, s> is column j of J against g, and by symmetry J g."
    proof.equals(sum_(i, g[i] * derivative(t, s(moved(z, j, t), i), 0)), "derivative")
    proof.equals(sum_(i, g[i] * J(z, i, j)), "definition", of=J)
    proof.equals(sum_(i, g[i] * J(z, j, i)), "congruence", then=symmetric)
    proof.closes("ring")


@theorem(
    eq(derivative(t, loss, 0), s(z, j) * (g[j] - mean(weights, g))),
    near_miss=[s(z, j) * g[j], s(z, j) * (g[j] + mean(weights, g)), s(z, j) * (g[j] - mean(weights, z))],
)
def vjp(proof):
    "The gradient of <g, s> with respect to the logits, without the matrix."
    proof.equals(sum_(i, J(z, j, i) * g[i]), gradient_is_jacobian_times_cotangent)
    proof.equals(sum_(i, s(z, j) * (delta(j, i) - s(z, i)) * g[i]), jacobian)
    proof.equals(s(z, j) * (g[j] - sum_(l, s(z, l) * g[l])), "finite_sum")
    proof.closes("definition", of=mean)
