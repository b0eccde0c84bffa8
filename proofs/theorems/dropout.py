r"""Dropout, scaled while training: the mean over the masks is the input, and what the masks add is a variance.

Definitions   dropout(x, k, p, i)              k_i x_i / (1 - p), where k is the mask: 1 keeps an entry, 0 drops it
              k_i(u), p, E                     a random mask, the rate at which it drops, the mean over its outcomes u
Statements    rate_zero_is_identity            p = 0 and k = 1: dropout(x) = x
              expected_output_is_input         E dropout(x)_i = x_i where E k_i = 1 - p
              gradient_is_masked_cotangent     d(sum_i g_i dropout(x)_i)/dx_j = k_j g_j / (1 - p), whatever k is
              second_moment_of_output          E dropout(x)_i^2 = x_i^2 / (1 - p) where k_i^2 = k_i as well
              variance_of_output               E dropout(x)_i^2 - (E dropout(x)_i)^2 = x_i^2 p / (1 - p), likewise
              expected_squared_error           E (<w, dropout(x)> - b)^2 is (<w, x> - b)^2 plus the penalty
                                               p / (1 - p) sum_i w_i^2 x_i^2
Scope         Any n >= 1 and p < 1, any mask of mean 1 - p. Its entries need not be independent, but for the squared
              error, where E k_i k_j = (1 - p)^2 + delta_ij p (1 - p): each is 0 or 1, and no two are correlated.
Reference     Srivastava et al. 2014 (JMLR 15), section 10 for the scale while training, 9.1 for the squared error.
"""

from ..notation import (
    Definition,
    delta,
    derivative,
    eq,
    expectation,
    family,
    forall,
    function,
    i,
    index,
    j,
    l,
    literal,
    lt,
    n,
    number,
    outcome,
    rational,
    space,
    split,
    sum_,
    t,
    variable,
)
from ..registry import theorem

U = space("U")
u = outcome("u", U)
p, b = variable("p"), variable("b")
x, g, w, mask = family("x", n), family("g", n), family("w", n), family("k", n)
k = family("k", n, U)

dropout = Definition(
    "dropout",
    [x, mask, p, i],
    mask[i] * x[i] / (1 - p),
    requires=[lt(p, 1)],
    says="each entry dropped, or kept and scaled up",
)


@theorem(eq(dropout(x, function(l, 1), 0, i), x[i]), near_miss=0)
def rate_zero_is_identity(proof):
    "With the rate 0, and every entry kept, dropout changes nothing."
    proof.equals(1 * x[i] / (1 - 0), "definition", of=dropout)
    proof.closes("ring")


at_u = function(l, k[l, u])
y = dropout(x, at_u, p, i)
kept_often = forall(i, eq(expectation(u, k[i, u]), 1 - p))
zero_or_one = forall(i, forall(u, eq(k[i, u] ** 2, k[i, u])))
products = (1 - p) ** 2 + delta(i, j) * p * (1 - p)
uncorrelated = forall([i, j], eq(expectation(u, k[i, u] * k[j, u]), products))

# dropped in one outcome of four
of_four = index("u", 4)
quarter = {p: rational(1, 4), U: number(4), k: function([i, of_four], 1 - delta(of_four, literal(0, 4)))}


@theorem(
    eq(expectation(u, y), x[i]),
    given=[lt(p, 1), kept_often],
    near_miss=[(1 - p) * x[i], x[i] / (1 - p)],
    witness=quarter,
)
def expected_output_is_input(proof):
    "The mean of the output over the masks is the input."
    proof.equals(expectation(u, k[i, u] * x[i] / (1 - p)), "definition", of=dropout)
    proof.equals(expectation(u, k[i, u]) * x[i] / (1 - p), "expectation")
    proof.equals((1 - p) * x[i] / (1 - p), "congruence", then="given")
    proof.closes("field")


moved = function(l, x[l] + t * delta(l, j))


@theorem(
    eq(derivative(t, sum_(i, g[i] * dropout(moved, mask, p, i)), 0), mask[j] * g[j] / (1 - p)),
    given=[lt(p, 1)],
    near_miss=[g[j], mask[j] * g[j], mask[j] * x[j] / (1 - p)],
)
def gradient_is_masked_cotangent(proof):
    "The gradient of <g, dropout(x)> drops the entries that the input lost, and scales the others alike."
    scaled = lambda entry: mask[i] * entry / (1 - p)
    proof.equals(derivative(t, sum_(i, g[i] * scaled(x[i] + t * delta(i, j))), 0), "definition", of=dropout)
    proof.equals(sum_(i, g[i] * scaled(delta(i, j))), "derivative")
    proof.closes("finite_sum")


@theorem(
    eq(expectation(u, y**2), x[i] ** 2 / (1 - p)),
    given=[lt(p, 1), kept_often, zero_or_one],
    near_miss=[x[i] ** 2, x[i] ** 2 / (1 - p) ** 2],
    witness=quarter,
)
def second_moment_of_output(proof):
    "The mean square of the output is that of the input by 1 - p."
    proof.equals(expectation(u, (k[i, u] * x[i] / (1 - p)) ** 2), "definition", of=dropout)
    proof.equals(expectation(u, k[i, u] ** 2) * x[i] ** 2 / (1 - p) ** 2, "expectation")
    proof.equals(expectation(u, k[i, u]) * x[i] ** 2 / (1 - p) ** 2, "congruence", then="given")
    proof.equals((1 - p) * x[i] ** 2 / (1 - p) ** 2, "congruence", then="given")
    proof.closes("field")


@theorem(
    eq(expectation(u, y**2) - expectation(u, y) ** 2, x[i] ** 2 * p / (1 - p)),
    given=[lt(p, 1), kept_often, zero_or_one],
    near_miss=[x[i] ** 2 * p * (1 - p), x[i] ** 2 / (1 - p)],
    witness=quarter,
)
def variance_of_output(proof):
    "The variance of the output is the squared input times p / (1 - p)."
    proof.equals(x[i] ** 2 / (1 - p) - expectation(u, y) ** 2, second_moment_of_output)
    proof.equals(x[i] ** 2 / (1 - p) - x[i] ** 2, expected_output_is_input)
    proof.closes("field")


error = sum_(i, w[i] * y) - b
of_input = (sum_(i, w[i] * x[i]) - b) ** 2
penalty = sum_(i, w[i] ** 2 * x[i] ** 2)

# two entries, each dropped in one outcome of four, whatever becomes of the other
of_sixteen, of_two = index("u", 16), index("i", 2)
outcome_of_first, outcome_of_second = split(of_sixteen, 4)
lost = [delta(own, literal(0, 4)) for own in (outcome_of_first, outcome_of_second)]
lost_at = sum(delta(of_two, literal(which, 2)) * each for which, each in enumerate(lost))
pair = {n: number(2), p: rational(1, 4), U: number(16), k: function([of_two, of_sixteen], 1 - lost_at)}


@theorem(
    eq(expectation(u, error**2), of_input + p / (1 - p) * penalty),
    given=[lt(p, 1), kept_often, uncorrelated],
    near_miss=[of_input, of_input + p * (1 - p) * penalty, of_input + p / (1 - p) * sum_(i, w[i] * x[i]) ** 2],
    witness=pair,
)
def expected_squared_error(proof):
    "A linear model whose inputs are dropped has the squared error of its inputs, plus a penalty on its weights."
    weight = lambda l: w[l] * x[l] / (1 - p)
    both = lambda moment: sum_([i, j], weight(i) * weight(j) * moment)
    rest = lambda mean: b**2 - 2 * b * sum_(i, weight(i) * mean)
    masked = sum_(i, w[i] * (k[i, u] * x[i] / (1 - p))) - b
    proof.equals(expectation(u, masked**2), "definition", of=dropout)
    proof.equals(both(expectation(u, k[i, u] * k[j, u])) + rest(expectation(u, k[i, u])), "expectation")
    proof.equals(both(products) + rest(expectation(u, k[i, u])), "congruence", then="given")
    proof.equals(both(products) + rest(1 - p), "congruence", then="given")
    proof.closes("finite_sum")
