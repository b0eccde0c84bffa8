r"""Bounds on the Jacobian of softmax, and what a cotangent meets.

Definitions   Jw(p, i, j)                      p_i (delta_ij - p_j), the Jacobian as a function of the weights
              cotangent(z, r, i)               -delta_ir / s_i, the gradient of -log s_r with respect to s
Statements    absolute_row_sum                 sum_j |J_ij| = 2 s_i (1 - s_i)
              absolute_row_sum_is_at_most_half sum_j |J_ij| <= 1/2
              entries_at_most_diagonal         |J_ij| <= s_i (1 - s_i)
              spectral_norm                    v^T J v <= |v|^2 / 2
              vertex_has_zero_jacobian         at p = e_r the Jacobian is 0
              entries_near_vertex              |J_ij| <= eps (1 - eps), every s_i within eps <= 1/2 of 0 or 1
              bounded_cotangent_vanishes       |(J g)_i| <= 2 G s_i (1 - s_i), where |g| <= G
              cross_entropy_gradient_survives  J times the cotangent of cross-entropy is s - y
              diagonal_at_most_complement      s_i (1 - s_i) <= 1 - s_r
              uniform_entries                  at scale 0 every |J_ij| <= 1/n
              uniform_entries_vanish           1/n -> 0
Scope         Any n >= 1.
Reference     Vaswani et al. 2017, section 3.2.1 and footnote 4, which claim that large scores have small gradients.
"""

from ..notation import (
    INFINITY,
    Definition,
    absolute,
    delta,
    eq,
    family,
    forall,
    function,
    i,
    index,
    j,
    l,
    le,
    log,
    n,
    number,
    r,
    rational,
    sum_,
    tends,
    value_of,
    variable,
    z,
)
from ..registry import theorem
from .softmax import at_most_one, pair_sum, positive, softmax, sums_to_one, zero_scale_is_uniform
from .softmax_jacobian import J, jacobian

s = softmax
w, v, g = family("p", n), family("v", n), family("g", n)
Jw = Definition("Jw", [w, i, j], w[i] * (delta(i, j) - w[j]), says="the Jacobian as a function of the weights")
cotangent = Definition(
    "cotangent", [z, r, i], -delta(i, r) / s(z, i), says="the gradient of -log s_r with respect to s"
)
half = rational(1, 2)
eps, G, q, k = variable("epsilon"), variable("G"), variable("q", "positive"), index("k", 2)


def written(term_j):
    """s_i (delta_ij + s_j - 2 delta_ij s_j), which is |J_ij|."""
    return s(term_j, i) * (delta(i, j) + s(term_j, j) - 2 * delta(i, j) * s(term_j, j))


@theorem(
    eq(sum_(j, absolute(J(z, i, j))), 2 * (s(z, i) * (1 - s(z, i)))),
    near_miss=[s(z, i) * (1 - s(z, i)), 2 * s(z, i)],
)
def absolute_row_sum(proof):
    "The absolute entries of a row of the Jacobian."
    proof.equals(sum_(j, absolute(s(z, i) * (delta(i, j) - s(z, j)))), jacobian)
    by_cases = {"on": (i, j), "then": "order"}
    proof.equals(sum_(j, written(z)), "congruence", then="cases", inner=by_cases, using=[positive, at_most_one])
    proof.equals(s(z, i) + s(z, i) * sum_(j, s(z, j)) - 2 * s(z, i) ** 2, "finite_sum")
    proof.closes(sums_to_one)


@theorem(le(sum_(j, absolute(J(z, i, j))), half), near_miss=rational(1, 4))
def absolute_row_sum_is_at_most_half(proof):
    "No row of the Jacobian has absolute entries that sum to more than 1/2."
    proof.equals(2 * (s(z, i) * (1 - s(z, i))), absolute_row_sum)
    proof.closes("order", difference=2 * (s(z, i) - half) ** 2)


@theorem(le(absolute(J(z, i, j)), s(z, i) * (1 - s(z, i))), near_miss=s(z, j) * s(z, i))
def entries_at_most_diagonal(proof):
    "No entry of a row exceeds its diagonal one."
    proof.equals(absolute(s(z, i) * (delta(i, j) - s(z, j))), jacobian)
    proof.equals(written(z), "cases", on=(i, j), then="order", using=[positive, at_most_one])
    proof.closes("cases", on=(i, j), then="order", using=[positive, pair_sum])


@theorem(
    le(sum_(i, sum_(j, v[i] * J(z, i, j) * v[j])), half * sum_(i, v[i] ** 2)),
    near_miss=rational(1, 16) * sum_(i, v[i] ** 2),
)
def spectral_norm(proof):
    "The quadratic form of the Jacobian is at most half the squared length, so its spectral norm is at most 1/2."
    proof.equals(sum_(i, sum_(j, v[i] * (s(z, i) * (delta(i, j) - s(z, j))) * v[j])), jacobian)
    first, second = sum_(i, s(z, i) * v[i]), sum_(i, s(z, i) * v[i] ** 2)
    diagonal = sum_(i, s(z, i) ** 2 * v[i] ** 2)
    pairs = sum_(i, sum_(j, half * (1 - delta(i, j)) * s(z, i) * s(z, j) * (v[i] + v[j]) ** 2))
    proof.equals(2 * second - 2 * diagonal - (second * 1 + first**2 - 2 * diagonal), "finite_sum")
    proof.equals(2 * second - 2 * diagonal - (second * sum_(i, s(z, i)) + first**2 - 2 * diagonal), sums_to_one)
    proof.equals(2 * second - 2 * diagonal - pairs, "finite_sum")
    proof.at_most(2 * second - 2 * diagonal, "order", difference=pairs, using=positive)
    proof.equals(sum_(i, 2 * (s(z, i) * (1 - s(z, i))) * v[i] ** 2), "finite_sum")
    square = 2 * (s(z, i) - half) ** 2 * v[i] ** 2
    proof.at_most(sum_(i, half * v[i] ** 2), "congruence", then="order", difference=square)
    proof.closes("finite_sum")


@theorem(eq(Jw(function(l, delta(l, r)), i, j), 0), near_miss=delta(i, j))
def vertex_has_zero_jacobian(proof):
    "At a vertex of the simplex the Jacobian is 0."
    proof.equals(delta(i, r) * (delta(i, j) - delta(j, r)), "definition", of=Jw)
    proof.closes("cases", on=(i, r), then="cases", inner={"on": (j, r), "then": "ring"})


near = [le(0, eps), le(eps, half), forall(l, le(0, (s(z, l) - eps) * (s(z, l) - 1 + eps)))]


@theorem(
    le(absolute(J(z, i, j)), eps * (1 - eps)),
    given=near,
    near_miss=(eps * eps, {n: number(2), z: function(k, log(3) * value_of(k)), eps: rational(1, 4)}),
    witness={z: function(l, 30 * value_of(l)), eps: half * q / (1 + q)},
)
def entries_near_vertex(proof):
    "If every weight is within eps <= 1/2 of 0 or 1, every entry of the Jacobian is at most eps (1 - eps)."
    proof.at_most(s(z, i) * (1 - s(z, i)), entries_at_most_diagonal)
    proof.closes("order", difference=(s(z, i) - eps) * (s(z, i) - 1 + eps))


bounded = forall(l, le(absolute(g[l]), G))


@theorem(
    le(absolute(sum_(j, J(z, i, j) * g[j])), 2 * (s(z, i) * (1 - s(z, i))) * G),
    given=[bounded],
    near_miss=s(z, i) ** 2 * (1 - s(z, i)) * G,
)
def bounded_cotangent_vanishes(proof):
    "A bounded cotangent is damped by 2 s_i (1 - s_i)."
    proof.at_most(sum_(j, absolute(J(z, i, j)) * G), "order")
    proof.equals(sum_(j, absolute(J(z, i, j))) * G, "finite_sum")
    proof.closes(absolute_row_sum)


@theorem(
    eq(sum_(j, J(z, i, j) * cotangent(z, r, j)), s(z, i) - delta(i, r)),
    near_miss=[s(z, r) * (s(z, i) - delta(i, r)), delta(i, r) - s(z, i)],
)
def cross_entropy_gradient_survives(proof):
    "The cotangent of cross-entropy is unbounded, and the Jacobian takes it to s - y, however small the Jacobian is."
    proof.equals(sum_(j, s(z, i) * (delta(i, j) - s(z, j)) * cotangent(z, r, j)), jacobian)
    proof.equals(sum_(j, s(z, i) * (delta(i, j) - s(z, j)) * (-delta(j, r) / s(z, j))), "definition", of=cotangent)
    proof.closes("finite_sum")


@theorem(le(s(z, i) * (1 - s(z, i)), 1 - s(z, r)), near_miss=(1 - s(z, r)) * s(z, r))
def diagonal_at_most_complement(proof):
    "No diagonal entry of the Jacobian exceeds 1 minus any one weight."
    proof.closes("cases", on=(r, i), then="order", using=[positive, at_most_one, pair_sum])


@theorem(le(absolute(J(function(l, 0 * z[l]), i, j)), 1 / n), near_miss=1 / n**2)
def uniform_entries(proof):
    "At scale 0 no entry of the Jacobian exceeds 1/n."
    flat = function(l, 0 * z[l])
    proof.at_most(s(flat, i) * (1 - s(flat, i)), entries_at_most_diagonal, at={z: flat})
    proof.equals(1 / n * (1 - 1 / n), zero_scale_is_uniform)
    proof.closes("order", difference=1 / n**2)


many = variable("n")


@theorem(tends(many, 1 / many, INFINITY, 0), near_miss=1)
def uniform_entries_vanish(proof):
    "That bound tends to 0 as the number of classes grows."
    proof.closes("limit")
