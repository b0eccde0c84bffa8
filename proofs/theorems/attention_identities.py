r"""Identities of attention and of its gradients: what sums to 0, what balances, what equal keys or values do.

Definitions   query_gradient(Q, K, V, G, i, a)   dQ_ia = sum_j dS_ij K_ja / sqrt(d_k)
              key_gradient(Q, K, V, G, j, a)   dK_ja = sum_i dS_ij Q_ia / sqrt(d_k)
              value_gradient(Q, K, G, j, c)    dV_jc = sum_i P_ij G_ic
Statements    loss_moves_by_its_gradients      dL/dt = <dQ, Q'> + <dK, K'> + <dV, V'>, where ' is d/dt
              score_gradient_rows_sum_to_zero  sum_j dS_ij = 0
              flash_row_term                   sum_j P_ij dP_ij = sum_c G_ic O_ic
              value_gradient_mass              sum_l dV_lc = sum_i G_ic
              query_key_balance                sum_i Q_ia dQ_ie = sum_j dK_ja K_je, that is Q^T dQ = dK^T K
              key_shift_invariance             one vector added to all keys leaves the output as it is
              key_bias_has_zero_gradient       dL/dt = 0 along K_ja + t b_a, at every t
              identical_keys                   K_ja = k_a for all j gives dL/dQ = 0
              identical_keys_give_the_mean     K_ja = k_a for all j gives O_ic = sum_j V_jc / n_k
              identical_values                 V_jc = v_c for all j gives dS = 0
              attention_shift                  one vector added to all values is added to the output
Scope         Any n_q, n_k, d_k, d_v >= 1 and any G = dL/dO. That dQ, dK and dV are the gradients is the first theorem;
              the partial derivatives are in attention_gradients.
Reference     Dao et al. 2022 (arXiv:2205.14135), appendix B.2, for the backward pass and its row term.
"""

from ..notation import Definition, delta, derivative, eq, exp, family, function, sqrt, sum_, t
from ..registry import theorem
from .attention import K, O, P, Q, S, V, a, attention, c, d_k, d_v, e, i, j, l, m, n_k, weights_sum_to_one
from .attention_gradients import G, K_t, Q_t, V_t, dP, dS, gradient_of_queries, loss, loss_along_inputs, mean_of_dP
from .softmax import c as shift
from .softmax import n, shift_invariance, softmax, z

score_gradient = dS(Q, K, V, G, i, j)
dQ = Definition(
    "query_gradient",
    [Q, K, V, G, i, a],
    sum_(j, score_gradient * K[j, a]) / sqrt(d_k),
    says="dL/dQ, which is dS K / sqrt(d_k)",
)
dK = Definition(
    "key_gradient",
    [Q, K, V, G, j, a],
    sum_(i, score_gradient * Q[i, a]) / sqrt(d_k),
    says="dL/dK, which is dS^T Q / sqrt(d_k)",
)
dV = Definition("value_gradient", [Q, K, G, j, c], sum_(i, P(Q, K, i, j) * G[i, c]), says="dL/dV, which is P^T G")
D = sum_(j, P(Q, K, i, j) * dP(V, G, i, j))  # the row term of the backward pass

# --- what the definitions stand for -----------------------------------------------------------------------------------

at_t = function([i, a], Q_t[i, a, t]), function([j, a], K_t[j, a, t]), function([j, c], V_t[j, c, t])
query_part = sum_(i, sum_(a, dQ(*at_t, G, i, a) * Q_t.derivative[i, a, t]))
key_part = sum_(j, sum_(a, dK(*at_t, G, j, a) * K_t.derivative[j, a, t]))
value_part = sum_(j, sum_(c, dV(*at_t[:2], G, j, c) * V_t.derivative[j, c, t]))


@theorem(
    eq(derivative(t, loss(*at_t, G), t), query_part + key_part + value_part),
    near_miss=[query_part - key_part + value_part, query_part + key_part],
)
def loss_moves_by_its_gradients(proof):
    "Along any curves of queries, keys and values the loss moves by dQ, dK and dV times the velocities."
    scored = dS(*at_t, G, i, j)
    queries = sum_(i, sum_(a, sum_(j, scored * K_t[j, a, t]) / sqrt(d_k) * Q_t.derivative[i, a, t]))
    keys = sum_(j, sum_(a, sum_(i, scored * Q_t[i, a, t]) / sqrt(d_k) * K_t.derivative[j, a, t]))
    values = sum_(j, sum_(c, sum_(i, P(*at_t[:2], i, j) * G[i, c]) * V_t.derivative[j, c, t]))
    proof.equals(queries + keys + values, loss_along_inputs)
    proof.closes("definition", of=(dQ, dK, dV))


# --- sums and balances ------------------------------------------------------------------------------------------------


@theorem(eq(sum_(j, score_gradient), 0), near_miss=[eq(D, 0), sum_(l, dP(V, G, i, l))])
def score_gradient_rows_sum_to_zero(proof):
    "The score gradients of a query sum to 0."
    proof.equals(sum_(j, P(Q, K, i, j) * (dP(V, G, i, j) - mean_of_dP)), "definition", of=dS)
    proof.equals(D - D * sum_(j, P(Q, K, i, j)), "finite_sum")
    proof.equals(D - D * 1, weights_sum_to_one)
    proof.closes("ring")


@theorem(eq(D, sum_(c, G[i, c] * O)), near_miss=[sum_(c, G[i, c]) * sum_(c, O), sum_(c, O)])
def flash_row_term(proof):
    "The row term of the backward pass is the output row times its own gradient: the weights are not needed for it."
    proof.equals(sum_(j, P(Q, K, i, j) * sum_(c, G[i, c] * V[j, c])), "definition", of=dP)
    proof.equals(sum_(c, G[i, c] * sum_(j, P(Q, K, i, j) * V[j, c])), "finite_sum")
    proof.closes("definition", of=attention)


@theorem(
    eq(sum_(l, dV(Q, K, G, l, c)), sum_(i, G[i, c])),
    near_miss=[n_k * sum_(i, G[i, c]), sum_(i, G[i, c] * P(Q, K, i, j))],
)
def value_gradient_mass(proof):
    "The value gradients of a column sum to the output gradients of that column."
    proof.equals(sum_(l, sum_(i, P(Q, K, i, l) * G[i, c])), "definition", of=dV)
    proof.equals(sum_(i, G[i, c] * sum_(l, P(Q, K, i, l))), "finite_sum")
    proof.equals(sum_(i, G[i, c] * 1), weights_sum_to_one)
    proof.closes("ring")


@theorem(
    eq(sum_(i, Q[i, a] * dQ(Q, K, V, G, i, e)), sum_(j, dK(Q, K, V, G, j, a) * K[j, e])),
    near_miss=[sum_(j, dK(Q, K, V, G, j, e) * K[j, a]), -sum_(j, dK(Q, K, V, G, j, a) * K[j, e])],
)
def query_key_balance(proof):
    "Q^T dQ = dK^T K: scores depend on the product of queries and keys alone, and so the two gradients balance."
    proof.equals(sum_(i, Q[i, a] * (sum_(j, score_gradient * K[j, e]) / sqrt(d_k))), "definition", of=dQ)
    proof.equals(sum_(j, sum_(i, score_gradient * Q[i, a]) / sqrt(d_k) * K[j, e]), "finite_sum")
    proof.closes("definition", of=dK)


# --- one vector added to all keys -------------------------------------------------------------------------------------

bias = family("b", d_k)
biased_keys = function([j, a], K[j, a] + t * bias[a])
biased_queries = function([i, a], Q[i, a] + t * bias[a])
scaled_keys = function([j, a], K[j, a] + t * bias[a] * K[j, a])
along_bias = {
    Q_t: function([i, a, t], Q[i, a]),
    K_t: function([j, a, t], K[j, a] + t * bias[a]),
    V_t: function([j, c, t], V[j, c]),
}


@theorem(
    eq(attention(Q, function([j, a], K[j, a] + bias[a]), V, i, c), O),
    near_miss=[
        eq(attention(function([i, a], Q[i, a] + bias[a]), K, V, i, c), O),
        eq(attention(Q, function([j, a], K[j, a] * bias[a]), V, i, c), O),
    ],
)
def key_shift_invariance(proof):
    "One vector added to every key changes no output."
    score = lambda l: sum_(a, Q[i, a] * K[l, a]) / sqrt(d_k)
    added = sum_(a, Q[i, a] * bias[a]) / sqrt(d_k)
    shifted = function(l, sum_(a, Q[i, a] * (K[l, a] + bias[a])) / sqrt(d_k))
    mixed = lambda scores: sum_(j, softmax(scores, j) * V[j, c])
    proof.equals(mixed(shifted), "definition", of=(attention, P, S))
    proof.equals(mixed(function(l, score(l) + added)), "finite_sum")
    proof.equals(mixed(function(l, score(l))), shift_invariance, at={n: n_k, z: function(l, score(l)), shift: added})
    proof.closes("definition", of=(attention, P, S))


@theorem(
    eq(derivative(t, loss(Q, biased_keys, V, G), t), 0),
    near_miss=[
        eq(derivative(t, loss(biased_queries, K, V, G), t), 0),
        eq(derivative(t, loss(Q, scaled_keys, V, G), t), 0),
    ],
)
def key_bias_has_zero_gradient(proof):
    "A vector added to every key has gradient 0, at every multiple of it: so has a bias of the key projection."
    gradient = dS(Q, biased_keys, V, G, i, j)
    key_part = sum_(j, sum_(a, sum_(i, gradient * Q[i, a]) / sqrt(d_k) * bias[a]))
    proof.equals(key_part, loss_along_inputs, at=along_bias)
    by_rows = lambda row_sum: sum_(i, sum_(a, row_sum * Q[i, a] * bias[a])) / sqrt(d_k)
    proof.equals(by_rows(sum_(j, gradient)), "finite_sum")
    proof.equals(by_rows(0), score_gradient_rows_sum_to_zero, at={K: biased_keys})
    proof.closes("finite_sum")


# --- equal keys, equal values -----------------------------------------------------------------------------------------

key, value = family("k", d_k), family("v", d_v)
same_key, same_value = function([j, a], key[a]), function([j, c], value[c])
shifted_values = function([j, c], V[j, c] + value[c])
moved_queries = function([i, a], Q[i, a] + t * delta(i, m) * delta(a, e))


@theorem(
    eq(derivative(t, loss(moved_queries, same_key, V, G), 0), 0),
    near_miss=[
        eq(derivative(t, loss(moved_queries, function([j, a], key[a] * K[j, a]), V, G), 0), 0),
        sum_(j, P(Q, same_key, m, j) * dP(V, G, m, j)) * key[e] / sqrt(d_k),
    ],
)
def identical_keys(proof):
    "If all keys are equal, no query has a gradient."
    gradient = dS(Q, same_key, V, G, m, j)
    proof.equals(sum_(j, gradient * key[e]) / sqrt(d_k), gradient_of_queries, at={K: same_key})
    proof.equals(key[e] * sum_(j, gradient) / sqrt(d_k), "finite_sum")
    proof.equals(key[e] * 0 / sqrt(d_k), score_gradient_rows_sum_to_zero, at={K: same_key})
    proof.closes("ring")


@theorem(eq(attention(Q, same_key, V, i, c), sum_(j, V[j, c]) / n_k), near_miss=sum_(j, V[j, c]))
def identical_keys_give_the_mean(proof):
    "If all keys are equal, every output is the mean of the values."
    score = exp(sum_(a, Q[i, a] * key[a]) / sqrt(d_k))
    proof.equals(sum_(j, score / sum_(l, score) * V[j, c]), "definition", of=(attention, P, softmax, S))
    proof.closes("finite_sum")


@theorem(
    eq(dS(Q, K, same_value, G, i, j), 0),
    near_miss=[eq(P(Q, K, i, j) * dP(same_value, G, i, j), 0), eq(dS(Q, K, shifted_values, G, i, j), 0)],
)
def identical_values(proof):
    "If all values are equal, no score has a gradient."
    g = sum_(c, G[i, c] * value[c])
    proof.equals(P(Q, K, i, j) * (g - sum_(l, P(Q, K, i, l) * g)), "definition", of=(dS, dP))
    proof.equals(P(Q, K, i, j) * (g - g * sum_(l, P(Q, K, i, l))), "finite_sum")
    proof.equals(P(Q, K, i, j) * (g - g * 1), weights_sum_to_one)
    proof.closes("ring")


@theorem(eq(attention(Q, K, shifted_values, i, c), O + value[c]), near_miss=O + n_k * value[c])
def attention_shift(proof):
    "A vector added to every value is added to every output."
    proof.equals(sum_(j, P(Q, K, i, j) * (V[j, c] + value[c])), "definition", of=attention)
    proof.equals(sum_(j, P(Q, K, i, j) * V[j, c]) + value[c] * sum_(j, P(Q, K, i, j)), "finite_sum")
    proof.equals(sum_(j, P(Q, K, i, j) * V[j, c]) + value[c] * 1, weights_sum_to_one)
    proof.closes("definition", of=attention)
