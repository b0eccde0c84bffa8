r"""The variance argument for the factor 1/sqrt(d_k): what moments give, and what they do not.

Definitions   q_a(u), K_ja(w)                  a random query and n_k random keys, on two probability spaces: independent
              E                                the expectation; white: E q_a q_e = delta_ae, E K_ja K_le = delta_jl delta_ae
Statements    score_mean_is_zero               E <q, k> = 0 when the query has mean 0
              score_second_moment              E <q, k>^2 = d_k
              score_variance_is_d_k            E <q, k>^2 - (E <q, k>)^2 = d_k when the query has mean 0 as well
              scaled_variance_is_one           E (<q, k> / sqrt(d_k))^2 = 1
              expected_squared_gap             E (<q, k_j> - <q, k_l>)^2 = 2 d_k (1 - delta_jl)
              scaled_squared_gap               E (S_j - S_l)^2 = 2 (1 - delta_jl) for the scaled scores
              gap_is_one_of_the_pairs          2 (z_i - z_j)^2 <= sum_lm (z_l - z_m)^2
              spread_is_at_most_pairs          (S_hi - S_lo)^2 <= sum_jl (S_j - S_l)^2 / 2 for any random keys hi, lo
              tail_is_at_most_pairs            1{S_hi - S_lo >= c} <= sum_jl (S_j - S_l)^2 / (2 c^2)
              scaled_spread_is_bounded         P(S_hi - S_lo >= c) <= n_k (n_k - 1) / c^2 for any random keys hi, lo
              gap_bounds_the_jacobian          max z - min z <= D bounds J_ii from below: no saturation
Scope         Any d_k, n_k >= 1; second moments only, no distribution is assumed. The query need not be Gaussian, nor its
              entries independent of each other.
Reference     Vaswani et al. 2017, section 3.2.1, footnote 4.
"""

from ..notation import (
    choice,
    delta,
    eq,
    exp,
    expectation,
    family,
    forall,
    function,
    index,
    le,
    literal,
    n,
    number,
    outcome,
    space,
    split,
    sqrt,
    sum_,
    value_of,
    variable,
    when,
    z,
)
from ..registry import theorem
from . import softmax as of_softmax
from .attention import a, d_k, e, j, l, n_k
from .softmax import D, i
from .softmax import j as other
from .softmax_bounds import half
from .softmax_jacobian import J, jacobian

U, W = space("U"), space("W")
u, w = outcome("u", U), outcome("w", W)
q, K = family("q", d_k, U), family("K", n_k, d_k, W)
k, m = index("k", n), index("m", n)


def score(j):
    """The unscaled score of key j."""
    return sum_(a, q[a, u] * K[j, a, w])


def scaled(j):
    return score(j) / sqrt(d_k)


centred = forall(a, eq(expectation(u, q[a, u]), 0))
white_query = forall(a, forall(e, eq(expectation(u, q[a, u] * q[e, u]), delta(a, e))))
white_keys = forall([j, l], forall([a, e], eq(expectation(w, K[j, a, w] * K[l, e, w]), delta(j, l) * delta(a, e))))
white = [white_query, white_keys]

# a vector along a random axis has these moments: sqrt(d_k) times an axis, here for two keys in two dimensions
axis, two_axes, of_two, feature = index("u", 2), index("w", 4), index("j", 2), index("a", 2)
other_axis, key = split(two_axes, 2)
along_axes = {
    n_k: number(2),
    d_k: number(2),
    U: number(2),
    W: number(4),
    q: function([feature, axis], sqrt(2) * delta(feature, axis)),
    K: function([of_two, feature, two_axes], 2 * delta(of_two, key) * delta(feature, other_axis)),
}
signed = index("u", 4)
own_axis, sign = split(signed, 2)
either_sign = {
    **along_axes,
    U: number(4),
    q: function([feature, signed], sqrt(2) * delta(feature, own_axis) * (1 - 2 * value_of(sign))),
}


@theorem(eq(expectation([u, w], score(j)), 0), given=[centred], near_miss=d_k, witness=either_sign)
def score_mean_is_zero(proof):
    "A score has mean 0 if the query has."
    proof.equals(sum_(a, expectation(u, q[a, u]) * expectation(w, K[j, a, w])), "expectation")
    proof.equals(sum_(a, 0 * expectation(w, K[j, a, w])), "congruence", then="given")
    proof.closes("finite_sum")


@theorem(eq(expectation([u, w], score(j) ** 2), d_k), given=white, near_miss=[d_k**2, 1], witness=along_axes)
def score_second_moment(proof):
    "The second moment of a score is d_k."
    moments = expectation(u, q[a, u] * q[e, u]) * expectation(w, K[j, a, w] * K[j, e, w])
    proof.equals(sum_(a, sum_(e, moments)), "expectation")
    proof.equals(sum_(a, sum_(e, delta(a, e) * delta(a, e))), "congruence", then="given")
    proof.closes("finite_sum")


variance = expectation([u, w], score(j) ** 2) - expectation([u, w], score(j)) ** 2


@theorem(eq(variance, d_k), given=[centred, *white], near_miss=[d_k**2, 0], witness=either_sign)
def score_variance_is_d_k(proof):
    "The variance of a score is d_k, if the query has mean 0."
    proof.equals(d_k - expectation([u, w], score(j)) ** 2, score_second_moment)
    proof.equals(d_k - number(0) ** 2, score_mean_is_zero)
    proof.closes("ring")


@theorem(eq(expectation([u, w], scaled(j) ** 2), 1), given=white, near_miss=[d_k, 1 / d_k], witness=along_axes)
def scaled_variance_is_one(proof):
    "Divided by sqrt(d_k) a score has the second moment 1."
    proof.equals(expectation([u, w], score(j) ** 2) / d_k, "expectation")
    proof.equals(d_k / d_k, score_second_moment)
    proof.closes("field")


@theorem(
    eq(expectation([u, w], (score(j) - score(l)) ** 2), 2 * d_k * (1 - delta(j, l))),
    given=white,
    near_miss=[2 * d_k, d_k * (1 - delta(j, l))],
    witness=along_axes,
)
def expected_squared_gap(proof):
    "Two scores of one query differ by 2 d_k in mean square."
    in_all = lambda pair: pair(j, j) - 2 * pair(j, l) + pair(l, l)
    of_keys = lambda j, l, e: expectation(w, K[j, a, w] * K[l, e, w])
    of_query = expectation(u, q[a, u] * q[e, u])
    proof.equals(in_all(lambda j, l: sum_(a, sum_(e, of_query * of_keys(j, l, e)))), "expectation")
    proof.equals(in_all(lambda j, l: sum_(a, sum_(e, delta(a, e) * of_keys(j, l, e)))), "congruence", then="given")
    proof.equals(in_all(lambda j, l: sum_(a, of_keys(j, l, a))), "finite_sum")
    proof.equals(in_all(lambda j, l: sum_(a, delta(j, l))), "congruence", then="given")
    proof.closes("finite_sum")


@theorem(
    eq(expectation([u, w], (scaled(j) - scaled(l)) ** 2), 2 * (1 - delta(j, l))),
    given=white,
    near_miss=[2 * d_k * (1 - delta(j, l)), 2],
    witness=along_axes,
)
def scaled_squared_gap(proof):
    "Two scaled scores of one query differ by 2 in mean square, whatever d_k is."
    proof.equals(expectation([u, w], (score(j) - score(l)) ** 2) / d_k, "expectation")
    proof.equals(2 * d_k * (1 - delta(j, l)) / d_k, expected_squared_gap)
    proof.closes("field")


two_logits = {n: number(2), i: literal(0, 2), other: literal(1, 2)}


@theorem(
    le(2 * (z[i] - z[other]) ** 2, sum_([k, m], (z[k] - z[m]) ** 2)),
    near_miss=(le(3 * (z[i] - z[other]) ** 2, sum_([k, m], (z[k] - z[m]) ** 2)), two_logits),
)
def gap_is_one_of_the_pairs(proof):
    "Twice a squared gap is at most the sum over all ordered pairs, which has it twice."
    rest = (1 - delta(i, k) * delta(other, m)) * (1 - delta(i, m) * delta(other, k)) * (z[k] - z[m]) ** 2
    proof.equals(sum_([k, m], (z[k] - z[m]) ** 2) - sum_([k, m], rest), "finite_sum")
    proof.closes("order", difference=sum_([k, m], rest))


c = variable("c", "positive")
hi, lo = choice("hi", U, W, target=n_k), choice("lo", U, W, target=n_k)
spread = scaled(hi(u, w)) - scaled(lo(u, w))
pairs = sum_([j, l], half * (scaled(j) - scaled(l)) ** 2)


few = {n_k: number(2), d_k: number(1), c: half}


@theorem(le(spread**2, pairs), near_miss=(le(2 * spread**2, pairs), {n_k: number(2)}))
def spread_is_at_most_pairs(proof):
    "The squared gap of any two keys, even chosen at random, is at most half the sum over all ordered pairs."
    at = {n: n_k, z: function(j, scaled(j)), i: hi(u, w), other: lo(u, w)}
    proof.equals(half * (2 * spread**2), "ring")
    proof.at_most(half * sum_([j, l], (scaled(j) - scaled(l)) ** 2), "order", using=[(gap_is_one_of_the_pairs, at)])
    proof.closes("finite_sum")


@theorem(le(when(le(c, spread), 1, 0), pairs / c**2), near_miss=(pairs / (4 * c) ** 2, few))
def tail_is_at_most_pairs(proof):
    "The indicator of two keys being c apart is at most half the squared gaps of all pairs by c^2."
    excess = when(le(c, spread), (spread - c) * (spread + c) / c**2, spread**2 / c**2)
    proof.at_most(spread**2 / c**2, "cases", on=le(c, spread), then="order", inner={"difference": excess})
    proof.closes("order", difference=(pairs - spread**2) / c**2, using=spread_is_at_most_pairs)


@theorem(
    le(expectation([u, w], when(le(c, spread), 1, 0)), n_k * (n_k - 1) / c**2),
    given=white,
    near_miss=(n_k * (n_k - 1) / (4 * c) ** 2, {c: number(2)}),
    witness=along_axes,
)
def scaled_spread_is_bounded(proof):
    "Two scaled scores of a query, the largest and the least, say, are c apart with a probability of at most n_k (n_k - 1) / c^2."
    proof.at_most(expectation([u, w], pairs / c**2), "congruence", then=tail_is_at_most_pairs)
    proof.equals(sum_([j, l], half * expectation([u, w], (scaled(j) - scaled(l)) ** 2)) / c**2, "expectation")
    proof.equals(sum_([j, l], half * (2 * (1 - delta(j, l)))) / c**2, scaled_squared_gap)
    proof.closes("finite_sum")


others = (n - 1) * exp(-D)


@theorem(
    le(1 / (1 + (n - 1) * exp(D)) * (1 - 1 / (1 + others)), J(z, i, i)),
    given=[of_softmax.spread],
    near_miss=le(1 / (1 + (n - 1) * exp(D)), J(z, i, i)),
    witness=of_softmax.within_spread,
)
def gap_bounds_the_jacobian(proof):
    "Scores that are no further apart than D keep the diagonal of the Jacobian away from 0."
    s = of_softmax.softmax(z, i)
    proof.equals(1 / (1 + (n - 1) * exp(D)) * (others / (1 + others)), "field")
    proof.at_most(s * (others / (1 + others)), "order", using=of_softmax.dispersion_lower_bound)
    proof.equals(s * (1 - 1 / (1 + others)), "field")
    proof.at_most(s * (1 - s), "order", using=[of_softmax.dispersion_bounds, of_softmax.positive])
    proof.equals(s * (delta(i, i) - s), "ring")
    proof.closes(jacobian)
