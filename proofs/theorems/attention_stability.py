r"""How far apart two outputs of attention can be, and how fast an output of self-attention can change.

Definitions   total_variation(Q, K, i, m)      sum_j |P_ij - P_mj| / 2
Statements    total_variation_is_below_one     total_variation(Q, K, i, m) < 1
              outputs_differ_by_total_variation   |O_ic - O_mc| <= total_variation(Q, K, i, m) (hi - lo)
              oscillation_contracts            |O_ic - O_mc| < hi - lo, where lo < hi
              root_of_one                      sqrt 1 = 1
              slope_at_a_zero_token            x_m = 0: dO_m/dx_m = 1/n + sum_j x_j^2 / n - (sum_j x_j / n)^2
              not_lipschitz                    x_m = 0, the other tokens n sqrt(C): C < dO_m/dx_m, for every C >= 0
Scope         Any n_q, n_k, d_k, d_v >= 1; lo and hi bound column c of the values: lo <= V_jc <= hi for all j. The
              slopes are those of self-attention with one feature and weights 1, over n >= 1 tokens; n >= 2 in the last
              theorem.
Reference     Kim, Papamakarios & Mnih 2021 (arXiv:2006.04710), section 3, for the slope that no constant bounds.
"""

from ..notation import (
    Definition,
    absolute,
    delta,
    derivative,
    eq,
    exp,
    family,
    forall,
    function,
    index,
    le,
    literal,
    lt,
    n,
    number,
    rational,
    size,
    sqrt,
    sum_,
    t,
    value_of,
    variable,
)
from ..registry import Statement, theorem
from .attention import (
    K,
    O,
    P,
    Q,
    S,
    V,
    a,
    attention,
    c,
    hi,
    i,
    j,
    lo,
    m,
    n_k,
    weight_is_positive,
    weights_sum_to_one,
)
from .self_attention import projected, self_attention
from .softmax import softmax

gap = P(Q, K, i, j) - P(Q, K, m, j)
total_variation = Definition(
    "total_variation", [Q, K, i, m], sum_(j, absolute(gap)) / 2, says="how much the weights of two queries differ"
)
TV, O_m = total_variation(Q, K, i, m), attention(Q, K, V, m, c)
half = rational(1, 2)

# --- outputs of two queries -------------------------------------------------------------------------------------------

far_apart = {Q: function([i, a], 40 * value_of(i) - 20), K: function([j, a], value_of(j))}


@theorem(lt(TV, 1), near_miss=(half, far_apart))
def total_variation_is_below_one(proof):
    "The weights of two queries overlap."
    proof.equals(sum_(j, absolute(gap)) / 2, "definition", of=total_variation)
    proof.less_than(sum_(j, P(Q, K, i, j) + P(Q, K, m, j)) / 2, "order", using=weight_is_positive)
    proof.equals((sum_(j, P(Q, K, i, j)) + sum_(j, P(Q, K, m, j))) / 2, "finite_sum")
    proof.equals((1 + 1) * half, weights_sum_to_one)
    proof.closes("ring")


bounded = [forall(j, le(V[j, c], hi)), forall(j, le(lo, V[j, c]))]
wide = {lo: -sum_(j, V[j, c] ** 2) - 1, hi: sum_(j, V[j, c] ** 2) + 1}
k = index("k", 2)
two_values = {n_k: number(2), V: function([k, c], value_of(k)), lo: number(0), hi: number(1)}


@theorem(
    le(absolute(O - O_m), TV * (hi - lo)),
    given=bounded,
    witness=wide,
    near_miss=(half * TV * (hi - lo), two_values),
)
def outputs_differ_by_total_variation(proof):
    "Two outputs differ by at most the spread of the values, times the total variation of the weights."
    centre, width = half * (hi + lo), half * hi - half * lo
    mixed = lambda i: sum_(j, P(Q, K, i, j) * V[j, c])
    mass = lambda i: sum_(j, P(Q, K, i, j))
    proof.equals(absolute(mixed(i) - mixed(m)), "definition", of=attention)
    proof.equals(absolute(mixed(i) - mixed(m) - centre * (1 - 1)), "ring")
    proof.equals(absolute(mixed(i) - mixed(m) - centre * (mass(i) - mass(m))), weights_sum_to_one)
    proof.equals(absolute(sum_(j, gap * (V[j, c] - centre))), "finite_sum")
    proof.at_most(sum_(j, absolute(gap) * width), "order")
    proof.equals(sum_(j, absolute(gap)) / 2 * (hi - lo), "finite_sum")
    proof.closes("definition", of=total_variation)


@theorem(
    lt(absolute(O - O_m), hi - lo),
    given=[lt(lo, hi), *bounded],
    witness=wide,
    near_miss=(
        Statement(lt(absolute(O - O_m), hi - lo), (le(lo, hi), *bounded)),
        {V: function([j, c], 0), lo: number(0), hi: number(0)},
    ),
)
def oscillation_contracts(proof):
    "Any two outputs are closer to each other than two different bounds of the values."
    proof.at_most(TV * (hi - lo), outputs_differ_by_total_variation)
    rest = (1 - TV) * (hi - lo)
    proof.less_than(hi - lo, "order", difference=rest, using=total_variation_is_below_one)
    proof.closes("ring")


# --- one token of self-attention that moves ---------------------------------------------------------------------------

x = family("x", n)
r, l, m_x, feature = index("i", n), index("l", n), index("m", n), index("b", 1)
one = function([index("b", 1), index("a", 1)], 1)


def other(r):
    """Every token but token m, which is 0."""
    return (1 - delta(r, m_x)) * x[r]


def moved(r):
    """The tokens, where token m is t."""
    return other(r) + t * delta(r, m_x)


tokens = function([r, feature], moved(r))
output = self_attention(tokens, one, one, one, m_x, literal(0, 1))
first, second = sum_(r, other(r)) / n, sum_(r, other(r) ** 2) / n


def weighted(score, value):
    """The mean of the values under the softmax of the scores."""
    return sum_(r, exp(score(r)) / sum_(l, exp(score(l))) * value(r))


@theorem(eq(sqrt(1), 1), near_miss=2)
def root_of_one(proof):
    "The root of 1 is 1: the scores of a head with one feature are not scaled."
    proof.equals((1 + sqrt(1)) / (sqrt(1) + 1), "field")
    proof.closes("field")


@theorem(
    eq(derivative(t, output, 0), 1 / n + second - first**2),
    near_miss=[second - first**2, 1 / n + second + first**2],
)
def slope_at_a_zero_token(proof):
    "The output at a token that is 0 moves with this token at the rate 1/n plus the variance of the tokens."
    row = lambda r: sum_(feature, moved(r) * 1)
    score = lambda r: sum_(feature, row(m_x) * row(r)) / sqrt(1)
    unfold = (self_attention, attention, P, S, softmax, projected)
    proof.equals(derivative(t, weighted(score, row), 0), "definition", of=unfold)
    proof.equals(derivative(t, weighted(lambda r: t * moved(r) / sqrt(1), moved), 0), "finite_sum")
    proof.equals(derivative(t, weighted(lambda r: t * moved(r) / 1, moved), 0), root_of_one)
    count = sum_(l, number(1))  # the sum of all exp(0)
    rate = lambda r: (other(r) ** 2 + delta(r, m_x)) / count - sum_(l, other(l)) * other(r) / count**2
    proof.equals(sum_(r, rate(r)), "derivative")
    proof.closes("finite_sum")


several, C = size("n", minimum=2), variable("C", "nonnegative")
q, at_q = index("i", several), index("m", several)
height = sqrt(several**2 * C)
still = lambda q: (1 - delta(q, at_q)) * height
one_moved = function([q, feature], still(q) + t * delta(q, at_q))
slope = derivative(t, self_attention(one_moved, one, one, one, at_q, literal(0, 1)), 0)


@theorem(lt(C, slope), near_miss=[lt(C + half, slope), lt(several * C, slope)])
def not_lipschitz(proof):
    "At a token 0 among tokens n sqrt(C) the slope of the output exceeds C: no constant bounds it."
    variance = sum_(q, still(q) ** 2) / several - (sum_(q, still(q)) / several) ** 2
    proof.less_than(1 / several + (several - 1) * C, "order", difference=1 / several + (several - 2) * C)
    proof.equals(1 / several + variance, "finite_sum")
    proof.closes(slope_at_a_zero_token, at={n: several, m_x: at_q, x: function(q, height)})
