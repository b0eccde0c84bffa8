r"""With a strict maximum softmax saturates: the weights tend to one-hot, the Jacobian to 0.

Definitions   softmax and J, of softmax.py and softmax_jacobian.py
Statements    strict_maximum                   s_j(bz) <= e^(-bg), j != r, where z_r - z_j >= g
              strict_maximum_complement        1 - s_r(bz) <= (n - 1) e^(-bg)
              strict_maximum_jacobian          |J_ij(bz)| <= (n - 1) e^(-bg)
              strict_maximum_row_sum           sum_j |J_ij(bz)| <= 2 (n - 1) e^(-bg)
              strict_maximum_lower_bound       delta_ir - (n - 1) e^(-bg) <= s_i(bz)
              strict_maximum_upper_bound       s_i(bz) <= delta_ir + (n - 1) e^(-bg)
              weights_tend_to_one_hot          s_i(bz) -> delta_ir as b -> oo
              jacobian_vanishes                J_ij(bz) -> 0
              scaled_jacobian_vanishes         b J_ij(bz) -> 0
              maximum_weight_grows             0 <= b <= c gives s_r(bz) <= s_r(cz) for the largest logit z_r
              initial_slope                    d s_i(bz)/db at b = 0 is (z_i - mean z)/n
              middle_entry_rises_first         for z = (2, 3/2, 0) the middle weight has slope 1/9 at b = 0
Scope         Any n >= 1.
Reference     Vaswani et al. 2017, section 3.2.1 and footnote 4, which claim that large scores have small gradients.
"""

from ..notation import (
    INFINITY,
    absolute,
    delta,
    derivative,
    eq,
    exp,
    family,
    forall,
    function,
    i,
    index,
    j,
    l,
    le,
    literal,
    n,
    ne,
    number,
    r,
    rational,
    sum_,
    t,
    table,
    tends,
    variable,
    z,
)
from ..registry import theorem
from .softmax import at_most_one, pair_sum, positive, softmax, sums_to_one, zero_scale_is_uniform
from .softmax_bounds import absolute_row_sum, diagonal_at_most_complement, entries_at_most_diagonal
from .softmax_derivatives import b as any_scale
from .softmax_derivatives import scale_derivative
from .softmax_jacobian import J, mean

s = softmax
w = family("p", n)
gap, b, c = variable("g", "positive"), variable("b", "nonnegative"), variable("c", "nonnegative")
strict = forall(l, le(gap, z[r] - z[l]), where=[ne(l, r)])
bz = function(l, b * z[l])
decay = exp(-(b * gap))
hill = {z: function(l, -(gap + w[l] ** 2) * (1 - delta(l, r)))}  # every point of this form has its strict maximum at r


@theorem(le(s(bz, j), decay), given=[strict, ne(j, r)], near_miss=exp(-(2 * b * gap)), witness=hill)
def strict_maximum(proof):
    "A logit that is g below the maximum has a weight of at most e^(-bg)."
    proof.equals(exp(b * z[j]) / sum_(l, exp(b * z[l])), "definition", of=softmax)
    proof.at_most(exp(b * z[j]) / exp(b * z[r]), "order")
    proof.equals(exp(-(b * (z[r] - z[j]))), "exp_log")
    proof.closes("order")


@theorem(le(1 - s(bz, r), (n - 1) * decay), given=[strict], near_miss=(n - 2) * decay, witness=hill)
def strict_maximum_complement(proof):
    "The weight of the maximum differs from 1 by at most (n - 1) e^(-bg)."
    proof.equals(sum_(j, s(bz, j)) - s(bz, r), sums_to_one, at={z: bz})
    proof.equals(sum_(j, (1 - delta(j, r)) * s(bz, j)), "finite_sum")
    others = sum_(j, (1 - delta(j, r)) * decay)
    by_cases = {"on": (r, j), "then": "order"}
    proof.at_most(others, "congruence", then="cases", inner=by_cases, using=[(strict_maximum, {r: r})])
    proof.closes("finite_sum")


@theorem(le(absolute(J(bz, i, j)), (n - 1) * decay), given=[strict], near_miss=(n - 2) * decay, witness=hill)
def strict_maximum_jacobian(proof):
    "Every entry of the Jacobian is at most (n - 1) e^(-bg)."
    proof.at_most(s(bz, i) * (1 - s(bz, i)), entries_at_most_diagonal, at={z: bz})
    proof.at_most(1 - s(bz, r), diagonal_at_most_complement, at={z: bz, r: r})
    proof.closes(strict_maximum_complement, at={r: r})


@theorem(
    le(sum_(j, absolute(J(bz, i, j))), 2 * ((n - 1) * decay)), given=[strict], near_miss=(n - 2) * decay, witness=hill
)
def strict_maximum_row_sum(proof):
    "No row of the Jacobian has absolute entries that sum to more than 2 (n - 1) e^(-bg)."
    proof.equals(2 * (s(bz, i) * (1 - s(bz, i))), absolute_row_sum, at={z: bz})
    proof.at_most(2 * (1 - s(bz, r)), "order", using=[(diagonal_at_most_complement, {z: bz, r: r})])
    proof.closes("order", using=[(strict_maximum_complement, {r: r})])


@theorem(le(delta(i, r) - (n - 1) * decay, s(bz, i)), given=[strict], near_miss=le(delta(i, r) + (n - 1) * decay, s(bz, i)),
         witness=hill)  # fmt: skip
def strict_maximum_lower_bound(proof):
    "No weight falls short of the one-hot value by more than (n - 1) e^(-bg)."
    facts = [(positive, {z: bz}), (strict_maximum_complement, {r: r})]
    proof.closes("cases", on=(r, i), then="order", using=facts)


@theorem(
    le(s(bz, i), delta(i, r) + (n - 1) * decay), given=[strict], near_miss=delta(i, r) + (n - 2) * decay, witness=hill
)
def strict_maximum_upper_bound(proof):
    "No weight exceeds the one-hot value by more than (n - 1) e^(-bg)."
    facts = [(positive, {z: bz}), (at_most_one, {z: bz}), (pair_sum, {z: bz})]
    proof.at_most(delta(i, r) + 1 - s(bz, r), "cases", on=(r, i), then="order", using=facts)
    proof.closes("order", using=[(strict_maximum_complement, {r: r})])


beta = variable("b")  # the scale that grows
grown = function(l, beta * z[l])
at_scale = {b: beta, r: r}


small = (n - 1) * exp(-(beta * gap))


@theorem(tends(beta, s(grown, i), INFINITY, delta(i, r)), given=[strict], near_miss=1 - delta(i, r), witness=hill)
def weights_tend_to_one_hot(proof):
    "With a strict maximum the weights tend to a one-hot vector as the scale grows."
    facts = [(strict_maximum_lower_bound, at_scale), (strict_maximum_upper_bound, at_scale)]
    proof.closes("squeeze", lower=delta(i, r) - small, upper=delta(i, r) + small, using=facts)


@theorem(tends(beta, J(grown, i, j), INFINITY, 0), given=[strict], near_miss=delta(i, r), witness=hill)
def jacobian_vanishes(proof):
    "With a strict maximum every entry of the Jacobian tends to 0."
    proof.closes("squeeze", lower=-small, upper=small, using=[(strict_maximum_jacobian, at_scale)])


@theorem(tends(beta, beta * J(grown, i, j), INFINITY, 0), given=[strict], near_miss=delta(i, r), witness=hill)
def scaled_jacobian_vanishes(proof):
    "So does the scale times the Jacobian, the derivative with respect to the unscaled logits."
    proof.closes("squeeze", lower=-(beta * small), upper=beta * small, using=[(strict_maximum_jacobian, at_scale)])


largest = forall(l, le(z[l], z[r]))
peak = {z: function(l, w[r] - (1 - delta(l, r)) * w[l] ** 2), c: b + variable("a", "nonnegative")}


@theorem(
    le(s(bz, r), s(function(l, c * z[l]), r)),
    given=[largest, le(b, c)],
    near_miss=le(s(function(l, c * z[l]), r), s(bz, r)),
    witness=peak,
)
def maximum_weight_grows(proof):
    "The weight of the largest logit never falls as the scale grows."
    proof.equals(exp(b * z[r]) / sum_(l, exp(b * z[l])), "definition", of=softmax)
    proof.equals(1 / sum_(l, exp(b * z[l]) / exp(b * z[r])), "finite_sum")
    proof.equals(1 / sum_(l, exp(-(b * (z[r] - z[l])))), "exp_log")
    proof.at_most(1 / sum_(l, exp(-(c * (z[r] - z[l])))), "order")
    proof.equals(1 / sum_(l, exp(c * z[l]) / exp(c * z[r])), "exp_log")
    proof.equals(exp(c * z[r]) / sum_(l, exp(c * z[l])), "finite_sum")
    proof.closes("definition", of=softmax)


@theorem(
    eq(derivative(t, s(function(l, t * z[l]), i), 0), (z[i] - sum_(l, z[l]) / n) / n),
    near_miss=[(z[i] - sum_(l, z[l])) / n, z[i] / n],
)
def initial_slope(proof):
    "Near scale 0 every weight above the mean logit rises, not only the largest."
    flat = function(l, 0 * z[l])
    proof.equals(s(flat, i) * (z[i] - mean(function(l, s(flat, l)), z)), scale_derivative, at={any_scale: 0})
    proof.equals(s(flat, i) * (z[i] - sum_(l, s(flat, l) * z[l])), "definition", of=mean)
    proof.equals(1 / n * (z[i] - sum_(l, 1 / n * z[l])), zero_scale_is_uniform)
    proof.closes("finite_sum")


a = index("a", 3)
middle = literal(1, 3)


def middle_logit(position):
    """The logits 2, 3/2, 0."""
    return table([2, rational(3, 2), 0], position)


@theorem(
    eq(derivative(t, s(function(a, t * middle_logit(a)), middle), 0), rational(1, 9)),
    near_miss=[-rational(1, 9), 0],
)
def middle_entry_rises_first(proof):
    "For z = (2, 3/2, 0) the middle weight rises at first, though it tends to 0: only the largest entry is monotone."
    at = {n: number(3), z: function(a, middle_logit(a)), i: middle}
    proof.equals((middle_logit(middle) - sum_(a, middle_logit(a)) / 3) / 3, initial_slope, at=at)
    proof.closes("finite_sum")
