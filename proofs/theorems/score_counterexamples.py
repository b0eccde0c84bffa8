"""What the moments of the scores do not give: two counterexamples with finitely many outcomes.

Definitions   sign(b)                          1 - 2 b for b in {0, 1}, so +1 or -1
Statements    products_have_mean_zero          q = (s, t), k = (r, s t r) for independent signs: E q_a k_e = 0 for all a, e
              pairwise_independence_is_not_enough   and yet E <q, k>^2 = 4, not d_k = 2
              sparse_vectors_are_white         q = sqrt(d_k) s e_A, A uniform: E q_a q_e = delta_ae
              sparse_score                     <q, k> = d_k s t delta_AB for two such vectors
              sparse_scores_are_mostly_zero    it differs from 0 with probability 1/d_k only: no saturation
Scope         Any d_k >= 1 for the sparse vectors; an expectation over finitely many outcomes is written as their mean.
Reference     Vaswani et al. 2017, section 3.2.1 and footnote 4, where unscaled scores are said to saturate the softmax.
"""

from ..notation import delta, eq, index, rational, sqrt, sum_, table, value_of
from ..registry import theorem
from .attention import a, d_k, e

one, two, three = (index(name, 2) for name in "stu")
x, y = index("x", 2), index("y", 2)


def sign(b):
    """+1 or -1."""
    return 1 - 2 * value_of(b)


def mean(body):
    """The mean over three independent signs."""
    return rational(1, 8) * sum_([one, two, three], body)


query = [sign(one), sign(two)]
key = [sign(three), sign(one) * sign(three) * sign(two)]
dot = query[0] * key[0] + query[1] * key[1]


@theorem(eq(mean(table(query, x) * table(key, y)), 0), near_miss=1)
def products_have_mean_zero(proof):
    "Every entry of the query is uncorrelated with every entry of the key; as signs, they are independent."
    proof.closes("cases", on=x, then="cases", inner={"on": y, "then": "finite_sum"})


@theorem(eq(mean(dot**2), 4), near_miss=2)
def pairwise_independence_is_not_enough(proof):
    "Entries that are independent in pairs across query and key do not give the variance d_k = 2: the vectors have to be."
    proof.closes("finite_sum")


A, B, s, t = index("A", d_k), index("B", d_k), index("s", 2), index("t", 2)


def sparse(a, axis, b):
    """sqrt(d_k) times a signed axis."""
    return sqrt(d_k) * sign(b) * delta(a, axis)


@theorem(
    eq(sum_([A, s], sparse(a, A, s) * sparse(e, A, s)) / (2 * d_k), delta(a, e)),
    near_miss=delta(a, e) / d_k,
)
def sparse_vectors_are_white(proof):
    "A vector along a random signed axis has uncorrelated entries of variance 1."
    proof.closes("finite_sum")


@theorem(
    eq(sum_(a, sparse(a, A, s) * sparse(a, B, t)), d_k * sign(s) * sign(t) * delta(A, B)),
    near_miss=d_k * sign(s) * sign(t),
)
def sparse_score(proof):
    "The score of two such vectors is +-d_k if they share the axis, else 0."
    proof.closes("finite_sum")


@theorem(eq(sum_([A, B], delta(A, B)) / d_k**2, 1 / d_k), near_miss=1)
def sparse_scores_are_mostly_zero(proof):
    "Two random axes agree with probability 1/d_k, so nearly all scores tie at 0, though their variance is d_k."
    proof.closes("finite_sum")
