r"""When softmax saturates: the Jacobian's limits as the logits grow, and what does not vanish.

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
              strict_maximum                   s_j(bz) <= e^(-bg), j != r, where z_r - z_j >= g
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
              tied_weights                     s_i(bz) -> tied_i / m where m logits share the maximum
              tie_does_not_vanish              J_ij(bz) -> tied_i (delta_ij - tied_j / m) / m
              tied_limit_is_positive           for m >= 2 the limit of J_ii at a tied i is positive
              tie_of_two                       n = 2, equal logits: J_00 = 1/4 at every scale
              uniform_entries                  at scale 0 every |J_ij| <= 1/n
              uniform_entries_vanish           1/n -> 0
Scope         Any n >= 1. A tied maximum is written as z_j = c - (1 - tied_j) g_j with tied_j in {0, 1} and g_j > 0.
Reference     Vaswani et al. 2017, section 3.2.1 and footnote 4, which claim that large scores have small gradients.
"""

from ..notation import (
    INFINITY, Definition, absolute, choice, delta, derivative, eq, exp, family, forall, function, i, index, j, l, le, literal,
    log, lt, n, ne, number, r, rational, sum_, t, table, tends, value_of, variable, z,
)  # fmt: skip
from ..registry import theorem
from .softmax import Z, at_most_one, pair_sum, positive, softmax, sums_to_one, zero_scale_is_uniform
from .softmax_jacobian import J, jacobian, mean, scale_derivative
from .softmax_jacobian import b as b_any

s = softmax
w, v, g = family("p", n), family("v", n), family("g", n)
Jw = Definition("Jw", [w, i, j], w[i] * (delta(i, j) - w[j]), says="the Jacobian as a function of the weights")
cotangent = Definition("cotangent", [z, r, i], -delta(i, r) / s(z, i), says="the gradient of -log s_r with respect to s")
half = rational(1, 2)
eps, G, q, k = variable("epsilon"), variable("G"), variable("q", "positive"), index("k", 2)


def written(term_j):
    """s_i (delta_ij + s_j - 2 delta_ij s_j), which is |J_ij|."""
    return s(term_j, i) * (delta(i, j) + s(term_j, j) - 2 * delta(i, j) * s(term_j, j))


@theorem(
    eq(sum_(j, absolute(J(z, i, j))), 2 * (s(z, i) * (1 - s(z, i)))),
    near_miss=s(z, i) * (1 - s(z, i)),
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
    near_miss=s(z, r) * (s(z, i) - delta(i, r)),
)
def cross_entropy_gradient_survives(proof):
    "The cotangent of cross-entropy is unbounded, and the Jacobian takes it to s - y, however small the Jacobian is."
    proof.equals(sum_(j, s(z, i) * (delta(i, j) - s(z, j)) * cotangent(z, r, j)), jacobian)
    proof.equals(sum_(j, s(z, i) * (delta(i, j) - s(z, j)) * (-delta(j, r) / s(z, j))), "definition", of=cotangent)
    proof.closes("finite_sum")


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


@theorem(le(s(z, i) * (1 - s(z, i)), 1 - s(z, r)), near_miss=(1 - s(z, r)) * s(z, r))
def diagonal_at_most_complement(proof):
    "No diagonal entry of the Jacobian exceeds 1 minus any one weight."
    proof.closes("cases", on=(r, i), then="order", using=[positive, at_most_one, pair_sum])


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


@theorem(le(s(bz, i), delta(i, r) + (n - 1) * decay), given=[strict], near_miss=delta(i, r) + (n - 2) * decay, witness=hill)
def strict_maximum_upper_bound(proof):
    "No weight exceeds the one-hot value by more than (n - 1) e^(-bg)."
    facts = [(positive, {z: bz}), (at_most_one, {z: bz}), (pair_sum, {z: bz})]
    proof.at_most(delta(i, r) + 1 - s(bz, r), "cases", on=(r, i), then="order", using=facts)
    proof.closes("order", using=[(strict_maximum_complement, {r: r})])


beta = variable("b")  # the scale that grows
grown = function(l, beta * z[l])
at_scale = {b: beta, r: r}


def bound(factor):
    """A multiple of (n - 1) e^(-bg)."""
    return factor * ((n - 1) * exp(-(beta * gap)))


@theorem(tends(beta, s(grown, i), INFINITY, delta(i, r)), given=[strict], near_miss=1 - delta(i, r), witness=hill)
def weights_tend_to_one_hot(proof):
    "With a strict maximum the weights tend to a one-hot vector as the scale grows."
    facts = [(strict_maximum_lower_bound, at_scale), (strict_maximum_upper_bound, at_scale)]
    proof.closes("squeeze", lower=delta(i, r) - bound(1), upper=delta(i, r) + bound(1), using=facts)


@theorem(tends(beta, J(grown, i, j), INFINITY, 0), given=[strict], near_miss=delta(i, r), witness=hill)
def jacobian_vanishes(proof):
    "With a strict maximum every entry of the Jacobian tends to 0."
    proof.closes("squeeze", lower=-bound(1), upper=bound(1), using=[(strict_maximum_jacobian, at_scale)])


@theorem(tends(beta, beta * J(grown, i, j), INFINITY, 0), given=[strict], near_miss=delta(i, r), witness=hill)
def scaled_jacobian_vanishes(proof):
    "So does the scale times the Jacobian, the derivative with respect to the unscaled logits."
    proof.closes("squeeze", lower=-bound(beta), upper=bound(beta), using=[(strict_maximum_jacobian, at_scale)])


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
    difference = (c - b) * (z[r] - z[l])
    proof.at_most(1 / sum_(l, exp(-(c * (z[r] - z[l])))), "order")
    proof.equals(1 / sum_(l, exp(c * z[l]) / exp(c * z[r])), "exp_log")
    proof.equals(exp(c * z[r]) / sum_(l, exp(c * z[l])), "finite_sum")
    proof.closes("definition", of=softmax)


@theorem(
    eq(derivative(t, s(function(l, t * z[l]), i), 0), (z[i] - sum_(l, z[l]) / n) / n),
    near_miss=(z[i] - sum_(l, z[l])) / n,
)
def initial_slope(proof):
    "Near scale 0 every weight above the mean logit rises, not only the largest."
    flat = function(l, 0 * z[l])
    proof.equals(s(flat, i) * (z[i] - mean(function(l, s(flat, l)), z)), scale_derivative, at={b_any: 0})
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
    near_miss=-rational(1, 9),
)
def middle_entry_rises_first(proof):
    "For z = (2, 3/2, 0) the middle weight rises at first, though it tends to 0: only the largest entry is monotone."
    at = {n: number(3), z: function(a, middle_logit(a)), i: middle}
    proof.equals((middle_logit(middle) - sum_(a, middle_logit(a)) / 3) / 3, initial_slope, at=at)
    proof.closes("finite_sum")


tied = choice("tied", n, target=2)
top, below = variable("c_max"), family("g", n, domain="positive")


def tie(position):
    """1 where the logit is one of the maxima, else 0."""
    return value_of(tied(position))


ridge = function(l, beta * (top - (1 - tie(l)) * below[l]))
share = tie(i) / sum_(l, tie(l))
shared = [lt(0, sum_(l, tie(l)))]


@theorem(tends(beta, s(ridge, i), INFINITY, share), given=shared, near_miss=tie(i) / n)
def tied_weights(proof):
    "Logits that share the maximum share the weight equally in the limit, and the others lose theirs."
    def fallen(k):
        return exp(-(beta * ((1 - tie(k)) * below[k])))

    def split_up(k):
        return tie(k) + (1 - tie(k)) * exp(-(beta * below[k]))

    raw = beta * (top - (1 - tie(l)) * below[l])
    proof.equals(exp(beta * (top - (1 - tie(i)) * below[i])) / sum_(l, exp(raw)), "definition", of=softmax)
    proof.equals(exp(beta * top) * fallen(i) / sum_(l, exp(beta * top) * fallen(l)), "exp_log")
    proof.equals(fallen(i) / sum_(l, fallen(l)), "finite_sum")
    proof.equals(split_up(i) / sum_(l, fallen(l)), "cases", on=tied(i), then="ring")
    proof.equals(split_up(i) / sum_(l, split_up(l)), "congruence", then="cases", inner={"on": tied(l), "then": "ring"})
    proof.closes("limit")


@theorem(
    tends(beta, J(ridge, i, j), INFINITY, share * (delta(i, j) - tie(j) / sum_(l, tie(l)))),
    given=shared,
    near_miss=share * (1 - tie(j) / sum_(l, tie(l))),
)
def tie_does_not_vanish(proof):
    "With m tied maxima the Jacobian tends to (I - 11^T/m)/m on the tied block, and to 0 elsewhere."
    proof.equals(s(ridge, i) * (delta(i, j) - s(ridge, j)), jacobian, at={z: ridge})
    proof.closes("limit", using=tied_weights)


@theorem(
    lt(0, tie(i) / sum_(l, tie(l)) * (1 - tie(i) / sum_(l, tie(l)))),
    given=[eq(tie(i), 1), le(2, sum_(l, tie(l)))],
    near_miss=lt(half, tie(i) / sum_(l, tie(l)) * (1 - tie(i) / sum_(l, tie(l)))),
)
def tied_limit_is_positive(proof):
    "For m >= 2 tied maxima that limit is positive on the diagonal of the block: the gradient does not vanish."
    m = sum_(l, tie(l))
    proof.less_than((m - 1) / m**2, "order")
    proof.equals(1 / m * (1 - 1 / m), "field")
    proof.closes("cases", on=tied(i), then="ring")


pair = function(k, beta * top)


@theorem(
    eq(J(pair, literal(0, 2), literal(0, 2)), rational(1, 4)),
    near_miss=rational(1, 2),
)
def tie_of_two(proof):
    "Two equal logits: at every scale the diagonal entry is 1/4."
    first = literal(0, 2)
    proof.equals(s(pair, first) * (delta(first, first) - s(pair, first)), jacobian, at={n: number(2), z: pair, i: first, j: first})
    share_of_two = exp(beta * top) / sum_(k, exp(beta * top))
    proof.equals(share_of_two * (1 - share_of_two), "definition", of=softmax)
    proof.closes("finite_sum")


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
