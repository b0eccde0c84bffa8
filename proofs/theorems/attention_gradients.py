r"""The gradients of scaled dot-product attention, derived from L = sum_ic G_ic O_ic.

Definitions   loss(Q, K, V, G)                 sum_ic G_ic attention(Q, K, V)_ic
              weight_gradient(V, G, i, j)      dP_ij = sum_c G_ic V_jc
              score_gradient(Q, K, V, G, i, j) dS_ij = P_ij (dP_ij - sum_l P_il dP_il)
Statements    weights_along_curves             d/dt P_ij = P_ij (dS_ij/dt - sum_l P_il dS_il/dt)
              loss_along_curves                dL/dt = sum dS_ij dS_ij(t)/dt + sum P_ij G_ic dV_jc/dt
              loss_along_inputs                dL/dt = sum dQ dQ/dt + sum dK dK/dt + sum dV dV/dt
              gradient_of_values               dL/dV = P^T G
              gradient_of_weights              d(sum G (P V))/dP = G V^T
              gradient_of_scores               dL/dS = P * (dP - rowsum(dP * P))
              gradient_of_queries              dL/dQ = dS K / sqrt(d_k)
              gradient_of_keys                 dL/dK = dS^T Q / sqrt(d_k)
Scope         Any n_q, n_k, d_k, d_v >= 1; G = dL/dO is any matrix.
Reference     Vaswani et al. 2017, equation 1; Dao et al. 2022 (arXiv:2205.14135), appendix B.2, for the backward pass.
"""

from ..notation import (
    Definition,
    curve,
    delta,
    derivative,
    eq,
    family,
    function,
    index,
    n,
    sqrt,
    sum_,
    t,
    z,
)
from ..registry import theorem
from . import softmax_jacobian
from .attention import K, P, Q, S, V, a, attention, c, d_k, d_v, e, i, j, l, m, n_k, n_q
from .softmax import i as k
from .softmax import softmax
from .softmax_jacobian import path

G = family("G", n_q, d_v)
W = family("W", n_q, n_k)  # weights as free variables
u, r = index("u", d_v), index("r", n_k)
dP = Definition("weight_gradient", [V, G, i, j], sum_(c, G[i, c] * V[j, c]), says="the cotangent of a weight")
mean_of_dP = sum_(l, P(Q, K, i, l) * dP(V, G, i, l))
dS = Definition(
    "score_gradient", [Q, K, V, G, i, j], P(Q, K, i, j) * (dP(V, G, i, j) - mean_of_dP), says="the cotangent of a score"
)
loss = Definition(
    "loss", [Q, K, V, G], sum_(i, sum_(c, G[i, c] * attention(Q, K, V, i, c))), says="a loss with dL/dO = G"
)

# --- along curves -----------------------------------------------------------------------------------------------------

X = family("S", n_q, n_k)  # any scores
scores_t, values_t = curve("S_t", n_q, n_k), curve("V_t", n_k, d_v)
scores_row = function(l, scores_t[i, l, t])
w = lambda i, j: softmax(function(l, scores_t[i, l, t]), j)
dS_t, dV_t = scores_t.derivative, values_t.derivative
rate = sum_(l, w(i, l) * dS_t[i, l, t])


@theorem(
    eq(derivative(t, w(i, j), t), w(i, j) * (dS_t[i, j, t] - rate)),
    near_miss=[w(i, j) * dS_t[i, j, t], w(i, j) * (dS_t[i, j, t] + rate)],
)
def weights_along_curves(proof):
    "Along any differentiable curve of scores a weight moves with its score, less the mean move."
    at = {n: n_k, path: function([l, t], scores_t[i, l, t]), k: j}
    proof.equals(sum_(l, softmax_jacobian.J(scores_row, j, l) * dS_t[i, l, t]), softmax_jacobian.along_a_curve, at=at)
    proof.equals(sum_(l, w(i, j) * (delta(j, l) - w(i, l)) * dS_t[i, l, t]), softmax_jacobian.jacobian,
                 at={n: n_k, z: scores_row})  # fmt: skip
    proof.closes("finite_sum")


dP_t = lambda i, j: sum_(c, G[i, c] * values_t[j, c, t])
dS_along = lambda i, j: w(i, j) * (dP_t(i, j) - sum_(l, w(i, l) * dP_t(i, l)))
L_t = sum_(i, sum_(c, G[i, c] * sum_(j, w(i, j) * values_t[j, c, t])))
value_part = sum_(j, sum_(c, sum_(i, w(i, j) * G[i, c]) * dV_t[j, c, t]))


@theorem(
    eq(derivative(t, L_t, t), sum_(i, sum_(j, dS_along(i, j) * dS_t[i, j, t])) + value_part),
    near_miss=[
        sum_(i, sum_(j, w(i, j) * dP_t(i, j) * dS_t[i, j, t])) + value_part,
        sum_(i, sum_(j, dS_along(i, j) * dS_t[i, j, t])),
    ],
)
def loss_along_curves(proof):
    "Along any curves of scores and values the loss moves by their cotangents times their velocities."
    dw = lambda i, j: derivative(t, w(i, j), t)
    moving = lambda j, c: dw(i, j) * values_t[j, c, t] + w(i, j) * dV_t[j, c, t]
    proof.equals(sum_(i, sum_(c, G[i, c] * sum_(j, moving(j, c)))), "derivative")
    weight_part = sum_(i, sum_(j, dP_t(i, j) * dw(i, j)))
    proof.equals(weight_part + value_part, "finite_sum")
    proof.equals(sum_(i, sum_(j, dP_t(i, j) * (w(i, j) * (dS_t[i, j, t] - rate)))) + value_part, weights_along_curves)
    proof.closes("finite_sum")


# --- queries, keys and values that move ---

Q_t, K_t, V_t = curve("Q_t", n_q, d_k), curve("K_t", n_k, d_k), values_t
at_t = [function([i, a], Q_t[i, a, t]), function([j, a], K_t[j, a, t]), function([j, c], V_t[j, c, t])]
dS_at = lambda i, j: dS(*at_t, G, i, j)
dQ_at = sum_(j, dS_at(i, j) * K_t[j, a, t]) / sqrt(d_k)
dK_at = sum_(i, dS_at(i, j) * Q_t[i, a, t]) / sqrt(d_k)
dV_at = sum_(i, P(*at_t[:2], i, j) * G[i, c])
query_part = sum_(i, sum_(a, dQ_at * Q_t.derivative[i, a, t]))
key_part = sum_(j, sum_(a, dK_at * K_t.derivative[j, a, t]))
value_move = sum_(j, sum_(c, dV_at * V_t.derivative[j, c, t]))


@theorem(
    eq(derivative(t, loss(*at_t, G), t), query_part + key_part + value_move),
    near_miss=[query_part + value_move, query_part - key_part + value_move],
)
def loss_along_inputs(proof):
    "Along any curves of queries, keys and values the loss moves by the three gradients times the velocities."
    score = lambda i, j: sum_(a, Q_t[i, a, t] * K_t[j, a, t]) / sqrt(d_k)
    w = lambda i, j: softmax(function(l, score(i, l)), j)
    cotangent = lambda i, j: w(i, j) * (dP_t(i, j) - sum_(l, w(i, l) * dP_t(i, l)))
    moving = sum_(i, sum_(c, G[i, c] * sum_(j, w(i, j) * V_t[j, c, t])))
    proof.equals(derivative(t, moving, t), "definition", of=(loss, attention, P, S))
    values = sum_(j, sum_(c, sum_(i, w(i, j) * G[i, c]) * V_t.derivative[j, c, t]))
    rate = sum_(a, Q_t.derivative[i, a, t] * K_t[j, a, t] + Q_t[i, a, t] * K_t.derivative[j, a, t]) / sqrt(d_k)
    at = {scores_t: function([i, j, t], score(i, j))}
    proof.equals(sum_(i, sum_(j, cotangent(i, j) * rate)) + values, loss_along_curves, at=at)
    proof.equals(sum_(i, sum_(j, dS_at(i, j) * rate)) + value_move, "definition", of=(dS, dP, P, S))
    proof.closes("finite_sum")


# --- partial derivatives ----------------------------------------------------------------------------------------------

moved_values = function([j, c], V[j, c] + t * delta(j, l) * delta(c, u))


@theorem(
    eq(derivative(t, loss(Q, K, moved_values, G), 0), sum_(i, P(Q, K, i, l) * G[i, u])),
    near_miss=[sum_(i, P(Q, K, i, l)) * sum_(i, G[i, u]), sum_(i, P(Q, K, i, l) * G[i, u] * V[l, u])],
)
def gradient_of_values(proof):
    "The gradient with respect to the values is P^T G."
    moving = sum_(j, P(Q, K, i, j) * (V[j, c] + t * delta(j, l) * delta(c, u)))
    proof.equals(derivative(t, sum_(i, sum_(c, G[i, c] * moving)), 0), "definition", of=(loss, attention))
    proof.equals(sum_(i, sum_(c, G[i, c] * sum_(j, P(Q, K, i, j) * delta(j, l) * delta(c, u)))), "derivative")
    proof.closes("finite_sum")


@theorem(
    eq(
        derivative(t, sum_(i, sum_(c, G[i, c] * sum_(j, (W[i, j] + t * delta(i, m) * delta(j, l)) * V[j, c]))), 0),
        dP(V, G, m, l),
    ),
    near_miss=[sum_(c, G[m, c] * V[l, c] * W[m, l]), sum_(c, G[m, c]) * sum_(c, V[l, c])],
)
def gradient_of_weights(proof):
    "The gradient with respect to the weights, taken as independent of each other, is G V^T."
    proof.equals(sum_(i, sum_(c, G[i, c] * sum_(j, delta(i, m) * delta(j, l) * V[j, c]))), "derivative")
    proof.equals(sum_(c, G[m, c] * V[l, c]), "finite_sum")
    proof.closes("definition", of=dP)


stepped = function([i, j, t], X[i, j] + t * delta(i, m) * delta(j, l))
fixed_values = function([j, c, t], V[j, c])
p = lambda i, j: softmax(function(l, X[i, l]), j)


@theorem(
    eq(
        derivative(
            t,
            sum_(
                i,
                sum_(c, G[i, c] * sum_(j, softmax(function(l, X[i, l] + t * delta(i, m) * delta(l, r)), j) * V[j, c])),
            ),
            0,
        ),
        p(m, r) * (dP(V, G, m, r) - sum_(j, p(m, j) * dP(V, G, m, j))),
    ),
    near_miss=[p(m, r) * dP(V, G, m, r), p(m, r) * (dP(V, G, m, r) + sum_(j, p(m, j) * dP(V, G, m, j)))],
)
def gradient_of_scores(proof):
    "The gradient with respect to the scores is P * (dP - rowsum(dP * P))."
    at = {scores_t: function([i, j, t], X[i, j] + t * delta(i, m) * delta(j, r)), values_t: fixed_values, t: 0}
    q = lambda i, j: softmax(function(l, X[i, l] + 0 * delta(i, m) * delta(l, r)), j)
    g = lambda i, j: sum_(c, G[i, c] * V[j, c])
    cotangent = lambda i, j: q(i, j) * (g(i, j) - sum_(l, q(i, l) * g(i, l)))
    proof.equals(sum_(i, sum_(j, cotangent(i, j) * (delta(i, m) * delta(j, r)))), loss_along_curves, at=at)
    proof.equals(cotangent(m, r), "finite_sum")
    proof.equals(p(m, r) * (g(m, r) - sum_(j, p(m, j) * g(m, j))), "ring")
    proof.closes("definition", of=dP)


held = {Q_t: function([i, a, t], Q[i, a]), K_t: function([j, a, t], K[j, a]), V_t: fixed_values, t: 0}


@theorem(
    eq(
        derivative(t, loss(function([i, a], Q[i, a] + t * delta(i, m) * delta(a, e)), K, V, G), 0),
        sum_(j, dS(Q, K, V, G, m, j) * K[j, e]) / sqrt(d_k),
    ),
    near_miss=[
        sum_(j, dS(Q, K, V, G, m, j) * K[j, e]),
        sum_(j, dS(Q, K, V, G, m, j)) * sum_(j, K[j, e]) / sqrt(d_k),
    ],
)
def gradient_of_queries(proof):
    "The gradient with respect to the queries is dS K / sqrt(d_k)."
    step = function([i, a, t], Q[i, a] + t * delta(i, m) * delta(a, e))
    moved = function([i, a], Q[i, a] + 0 * delta(i, m) * delta(a, e))
    row_part = sum_(j, dS(moved, K, V, G, i, j) * K[j, a]) / sqrt(d_k)
    proof.equals(sum_(i, sum_(a, row_part * (delta(i, m) * delta(a, e)))), loss_along_inputs, at={**held, Q_t: step})
    proof.equals(
        sum_(i, sum_(a, delta(i, m) * delta(a, e) * (sum_(j, dS(Q, K, V, G, i, j) * K[j, a]) / sqrt(d_k)))), "ring"
    )
    proof.closes("finite_sum")


@theorem(
    eq(
        derivative(t, loss(Q, function([j, a], K[j, a] + t * delta(j, l) * delta(a, e)), V, G), 0),
        sum_(i, dS(Q, K, V, G, i, l) * Q[i, e]) / sqrt(d_k),
    ),
    near_miss=[
        sum_(i, dS(Q, K, V, G, i, l) * Q[i, e]),
        sum_(i, dS(Q, K, V, G, i, l)) * sum_(i, Q[i, e]) / sqrt(d_k),
    ],
)
def gradient_of_keys(proof):
    "The gradient with respect to the keys is dS^T Q / sqrt(d_k)."
    step = function([j, a, t], K[j, a] + t * delta(j, l) * delta(a, e))
    moved = function([j, a], K[j, a] + 0 * delta(j, l) * delta(a, e))
    row_part = sum_(i, dS(Q, moved, V, G, i, j) * Q[i, a]) / sqrt(d_k)
    proof.equals(sum_(j, sum_(a, row_part * (delta(j, l) * delta(a, e)))), loss_along_inputs, at={**held, K_t: step})
    proof.equals(
        sum_(j, sum_(a, delta(j, l) * delta(a, e) * (sum_(i, dS(Q, K, V, G, i, j) * Q[i, a]) / sqrt(d_k)))), "ring"
    )
    proof.closes("finite_sum")
