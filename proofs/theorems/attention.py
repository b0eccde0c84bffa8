r"""Scaled dot-product attention: what it computes, and what leaves it alone.

Definitions   scores(Q, K, i, j)               sum_a Q_ia K_ja / sqrt(d_k)
              weights(Q, K, i, j)              softmax(scores of row i)_j
              attention(Q, K, V, i, c)         sum_j weights_ij V_jc
Statements    definition                       O_ic = sum_j e^S_ij V_jc / sum_j e^S_ij, V outside the softmax
              weight_is_positive               0 < P_ij
              weights_sum_to_one               sum_j P_ij = 1
              output_is_convex_combination     V_jc <= hi for all j gives O_ic <= hi
              output_is_at_least               lo <= V_jc for all j gives lo <= O_ic
              single_query_is_recurrent_attention   n_q = 1: the context is sum_j softmax(<q, k_j> / sqrt(d_k))_j v_j
              permutation_invariance           keys and values permuted jointly change nothing
              query_permutation_equivariance   permuted queries have permuted outputs
              softmax_inside_sums_to_one       softmax over d_v of V-mixed scores: rows sum to 1 there, as worded in C9
              own_query_suffices               equal query rows have equal outputs, whatever the other queries are
Scope         Any n_q, n_k, d_k, d_v >= 1, no mask.
Reference     Vaswani et al. 2017, section 3.2.1, equation 1; Bahdanau et al. 2015 for a single query.
"""

from ..notation import (
    Definition,
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
    permutation,
    size,
    sqrt,
    sum_,
    variable,
    when,
    z,
)
from ..registry import Statement, theorem
from . import softmax as softmax_theorems
from .softmax import i as k
from .softmax import softmax

n_q, n_k, d_k, d_v = (size(name) for name in ("n_q", "n_k", "d_k", "d_v"))
i, m = index("i", n_q), index("m", n_q)
j, l = index("j", n_k), index("l", n_k)
a, e = index("a", d_k), index("e", d_k)
c = index("c", d_v)
Q, K, V = family("Q", n_q, d_k), family("K", n_k, d_k), family("V", n_k, d_v)
S = Definition(
    "scores", [Q, K, i, j], sum_(a, Q[i, a] * K[j, a]) / sqrt(d_k), says="the scaled score of query i, key j"
)
P = Definition(
    "weights", [Q, K, i, j], softmax(function(l, S(Q, K, i, l)), j), says="how much query i attends to key j"
)
attention = Definition("attention", [Q, K, V, i, c], sum_(j, P(Q, K, i, j) * V[j, c]), says="the output at query i")

O = attention(Q, K, V, i, c)
row = function(l, S(Q, K, i, l))
lo, hi = variable("lo"), variable("hi")
pi, sigma = permutation("pi", n_k), permutation("sigma", n_q)
i1 = index("i", 1)


def exp_mix(order):
    """The output with the keys and the values taken in an order."""
    score = lambda k: exp(sum_(a, Q[i, a] * K[order(k), a]) / sqrt(d_k))
    return sum_(j, score(j) / sum_(l, score(l)) * V[order(j), c])


@theorem(
    eq(O, sum_(j, exp(S(Q, K, i, j)) * V[j, c]) / sum_(j, exp(S(Q, K, i, j)))),
    near_miss=sum_(j, exp(S(Q, K, i, j) * V[j, c])) / sum_(j, exp(S(Q, K, i, j))),
)
def definition(proof):
    "The output is a weighted mean of the values, which stand outside the softmax."
    proof.equals(
        sum_(j, exp(S(Q, K, i, j)) / sum_(l, exp(S(Q, K, i, l))) * V[j, c]), "definition", of=(attention, P, softmax)
    )
    proof.closes("finite_sum")


@theorem(lt(0, P(Q, K, i, j)), near_miss=lt(1, P(Q, K, i, j)))
def weight_is_positive(proof):
    "Every key has some weight."
    proof.less_than(softmax(row, j), softmax_theorems.positive, at={n: n_k, z: row, k: j})
    proof.closes("definition", of=P)


@theorem(eq(sum_(j, P(Q, K, i, j)), 1), near_miss=n_k)
def weights_sum_to_one(proof):
    "The weights of a query sum to 1."
    proof.equals(sum_(j, softmax(row, j)), "definition", of=P)
    proof.closes(softmax_theorems.sums_to_one, at={n: n_k, z: row})


@theorem(le(O, hi), given=[forall(j, le(V[j, c], hi))], near_miss=hi - 1,
         witness={hi: sum_(j, V[j, c] ** 2) + 1})  # fmt: skip
def output_is_convex_combination(proof):
    "No output exceeds the largest value in its column."
    proof.equals(sum_(j, P(Q, K, i, j) * V[j, c]), "definition", of=attention)
    proof.at_most(sum_(j, P(Q, K, i, j) * hi), "order", using=weight_is_positive)
    proof.equals(hi * sum_(j, P(Q, K, i, j)), "finite_sum")
    proof.closes(weights_sum_to_one)


@theorem(le(lo, O), given=[forall(j, le(lo, V[j, c]))], near_miss=(le(lo + 1, O), {V: function([j, c], hi), lo: hi}),
         witness={lo: -sum_(j, V[j, c] ** 2) - 1})  # fmt: skip
def output_is_at_least(proof):
    "No output falls below the least value in its column."
    proof.equals(lo * sum_(j, P(Q, K, i, j)), weights_sum_to_one)
    proof.equals(sum_(j, P(Q, K, i, j) * lo), "finite_sum")
    proof.at_most(sum_(j, P(Q, K, i, j) * V[j, c]), "order", using=weight_is_positive)
    proof.closes("definition", of=attention)


query, hidden = family("q", d_k), family("H", n_k, d_k)
state = function([i1, a], query[a])
similarity = function(l, sum_(a, query[a] * hidden[l, a]) / sqrt(d_k))


@theorem(
    eq(attention(state, hidden, V, literal(0, 1), c), sum_(j, softmax(similarity, j) * V[j, c])),
    near_miss=sum_(j, softmax(similarity, j)) * sum_(j, V[j, c]),
)
def single_query_is_recurrent_attention(proof):
    "One decoder state as the query, all encoder states as keys and values: attention of a recurrent network."
    proof.closes("definition", of=(attention, P, S))


@theorem(
    eq(attention(Q, function([j, a], K[pi(j), a]), function([j, c], V[pi(j), c]), i, c), O),
    near_miss=eq(attention(Q, function([j, a], K[pi(j), a]), V, i, c), O),
)
def permutation_invariance(proof):
    "Keys and values in another order, the same for both, change nothing."
    proof.equals(exp_mix(lambda k: pi(k)), "definition", of=(attention, P, softmax, S))
    proof.equals(exp_mix(lambda k: k), "finite_sum")
    proof.closes("definition", of=(attention, P, softmax, S))


@theorem(
    eq(attention(function([i, a], Q[sigma(i), a]), K, V, i, c), attention(Q, K, V, sigma(i), c)),
    near_miss=attention(Q, K, V, i, c),
)
def query_permutation_equivariance(proof):
    "Queries in another order have their outputs in that order."
    proof.closes("definition", of=(attention, P, S))


mixed = function(c, sum_(j, S(Q, K, i, j) * V[j, c]))


@theorem(eq(sum_(c, softmax(mixed, c)), 1), near_miss=d_v)
def softmax_inside_sums_to_one(proof):
    "With V inside the softmax, as the formula is typeset, it is the d_v features of a row that sum to 1, and not the keys."
    proof.closes(softmax_theorems.sums_to_one, at={n: d_v, z: mixed})


new_Q = family("Q_new", n_q, d_k)
some_query = index("l", n_q)
same_query = lambda row: forall(a, eq(Q[row, a], new_Q[row, a]))
from_query = lambda row: {new_Q: function([some_query, a], when(eq(some_query, row), Q[row, a], new_Q[some_query, a]))}


@theorem(
    eq(O, attention(new_Q, K, V, i, c)),
    given=[same_query(i)],
    near_miss=(Statement(eq(O, attention(new_Q, K, V, i, c)), (same_query(m),)), from_query(m)),
    witness=from_query(i),
)
def own_query_suffices(proof):
    "The output at a query depends on no other query."
    scores = lambda Q: function(l, sum_(a, Q[i, a] * K[l, a]) / sqrt(d_k))
    output = lambda Q: sum_(j, softmax(scores(Q), j) * V[j, c])
    proof.equals(output(Q), "definition", of=(attention, P, S))
    proof.equals(output(new_Q), "congruence", then="given")
    proof.closes("definition", of=(attention, P, S))
