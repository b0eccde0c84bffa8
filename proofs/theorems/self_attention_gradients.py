r"""Gradients of cross-attention and of self-attention with respect to their inputs and their weights.

Definitions   self_loss(X, W_Q, W_K, W_V, G)   sum_ic G_ic self_attention(X, W_Q, W_K, W_V)_ic
              cross_loss(X, Y, W_Q, W_K, W_V, G)   sum_ic G_ic cross_attention(X, Y, W_Q, W_K, W_V)_ic
Statements    decoder_input_gradient           cross-attention: dL/dX_mf = sum_a dQ_ma W_Q,fa
              encoder_input_gradient           cross-attention: dL/dY_lf = sum_a dK_la W_K,fa + sum_c dV_lc W_V,fc
              self_attention_input_gradient    dL/dX_mf = sum_a dQ_ma W_Q,fa + sum_a dK_ma W_K,fa + sum_c dV_mc W_V,fc
              gradient_of_query_projection     self-attention: dL/dW_Q = X^T dQ
              gradient_of_key_projection       self-attention: dL/dW_K = X^T dK
              gradient_of_value_projection     self-attention: dL/dW_V = X^T dV
Scope         Any numbers n, n_q, n_k of tokens and any d, d_k, d_v >= 1; G = dL/dO is any matrix. dQ, dK and dV
              are the gradients of attention_identities at the projected queries, keys and values. A partial derivative
              is the derivative at t = 0 along the matrix with t added to one entry.
Reference     Vaswani et al. 2017, section 3.2.3, for the architecture; Dao et al. 2022 (arXiv:2205.14135), appendix
              B.2, for dQ, dK and dV.
"""

from ..notation import Definition, delta, derivative, eq, family, function, index, n, sum_, t
from ..registry import theorem
from .attention import c, d_v, e, n_k, n_q
from .attention_gradients import G, K_t, Q_t, V_t, loss, u
from .attention_identities import dK, dQ, dV, loss_moves_by_its_gradients
from .self_attention import (
    W_K,
    W_Q,
    W_V,
    X,
    a,
    b,
    both,
    cross_attention,
    d,
    decoder,
    encoder,
    i,
    i_q,
    j_k,
    own,
    product,
    self_attention,
    weights,
)

G_own = family("G", n, d_v)
m, m_q, l_k, f = index("m", n), index("m", n_q), index("l", n_k), index("f", d)
self_loss = Definition(
    "self_loss",
    [X, *weights, G_own],
    sum_(i, sum_(c, G_own[i, c] * self_attention(X, *weights, i, c))),
    says="dL/dO = G",
)
cross_loss = Definition(
    "cross_loss",
    [decoder, encoder, *weights, G],
    sum_(i_q, sum_(c, G[i_q, c] * cross_attention(decoder, encoder, *weights, i_q, c))),
    says="dL/dO = G",
)
held = {
    Q_t: product(decoder, W_Q, i_q, a, t),
    K_t: product(encoder, W_K, j_k, a, t),
    V_t: product(encoder, W_V, j_k, c, t),
    t: 0,
}


def stepped(matrix, row, column, at_row, at_column):
    """A matrix with one entry moved by t."""
    return function([row, column], matrix[row, column] + t * delta(row, at_row) * delta(column, at_column))


def rate(row, at_row, matrix, column):
    """How fast a projected token moves with the feature f of one token."""
    return sum_(b, delta(row, at_row) * delta(b, f) * matrix[b, column])


# --- inputs of cross-attention ----------------------------------------------------------------------------------------

dQ_m, dK_l, dV_l = dQ(*both, G, m_q, a), dK(*both, G, l_k, a), dV(*both[:2], G, l_k, c)
moved_decoder, moved_encoder = stepped(decoder, i_q, b, m_q, f), stepped(encoder, j_k, b, l_k, f)


@theorem(
    eq(derivative(t, cross_loss(moved_decoder, encoder, *weights, G), 0), sum_(a, dQ_m * W_Q[f, a])),
    near_miss=[-sum_(a, dQ_m * W_Q[f, a]), sum_(a, dQ_m) * sum_(a, W_Q[f, a])],
)
def decoder_input_gradient(proof):
    "The gradient with respect to a decoder token is that of its query, through W_Q."
    moved = product(moved_decoder, W_Q, i_q, a)
    proof.equals(derivative(t, loss(moved, *both[1:], G), 0), "definition", of=(cross_loss, cross_attention, loss))
    queries = sum_(i_q, sum_(a, dQ(*both, G, i_q, a) * rate(i_q, m_q, W_Q, a)))
    proof.equals(queries, loss_moves_by_its_gradients, at={**held, Q_t: product(moved_decoder, W_Q, i_q, a, t)})
    proof.closes("finite_sum")


@theorem(
    eq(
        derivative(t, cross_loss(decoder, moved_encoder, *weights, G), 0),
        sum_(a, dK_l * W_K[f, a]) + sum_(c, dV_l * W_V[f, c]),
    ),
    near_miss=[sum_(c, dV_l * W_V[f, c]), sum_(a, dK_l * W_K[f, a]) - sum_(c, dV_l * W_V[f, c])],
)
def encoder_input_gradient(proof):
    "The gradient with respect to an encoder token is that of its key, through W_K, and that of its value, through W_V."
    moved = product(moved_encoder, W_K, j_k, a), product(moved_encoder, W_V, j_k, c)
    proof.equals(derivative(t, loss(both[0], *moved, G), 0), "definition", of=(cross_loss, cross_attention, loss))
    keys = sum_(j_k, sum_(a, dK(*both, G, j_k, a) * rate(j_k, l_k, W_K, a)))
    values = sum_(j_k, sum_(c, dV(*both[:2], G, j_k, c) * rate(j_k, l_k, W_V, c)))
    at = {**held, K_t: product(moved_encoder, W_K, j_k, a, t), V_t: product(moved_encoder, W_V, j_k, c, t)}
    proof.equals(keys + values, loss_moves_by_its_gradients, at=at)
    proof.closes("finite_sum")


# --- the input of self-attention --------------------------------------------------------------------------------------

moving = {
    Q_t: product(X, W_Q, i, a, t),
    K_t: product(X, W_K, i, a, t),
    V_t: product(X, W_V, i, c, t),
}
held_own = {n_q: n, n_k: n, G: G_own, **moving, t: 0}
moved_input = stepped(X, i, b, m, f)
by_query = sum_(a, dQ(*own, G_own, m, a) * W_Q[f, a])
by_key = sum_(a, dK(*own, G_own, m, a) * W_K[f, a])
by_value = sum_(c, dV(*own[:2], G_own, m, c) * W_V[f, c])


@theorem(
    eq(derivative(t, self_loss(moved_input, *weights, G_own), 0), by_query + by_key + by_value),
    near_miss=[by_query + by_value, by_query - by_key + by_value],
)
def self_attention_input_gradient(proof):
    "The gradient with respect to a token comes along three paths: as a query, as a key and as a value."
    paths = list(zip(moving, weights, (a, a, c), strict=True))
    moved = [product(moved_input, matrix, i, column) for _, matrix, column in paths]
    proof.equals(derivative(t, loss(*moved, G_own), 0), "definition", of=(self_loss, self_attention, loss))
    queries = sum_(i, sum_(a, dQ(*own, G_own, i, a) * rate(i, m, W_Q, a)))
    keys = sum_(i, sum_(a, dK(*own, G_own, i, a) * rate(i, m, W_K, a)))
    values = sum_(i, sum_(c, dV(*own[:2], G_own, i, c) * rate(i, m, W_V, c)))
    curves = {moves: product(moved_input, matrix, i, column, t) for moves, matrix, column in paths}
    proof.equals(queries + keys + values, loss_moves_by_its_gradients, at={**held_own, **curves})
    proof.closes("finite_sum")


# --- the weights of self-attention ------------------------------------------------------------------------------------

W_Q_t, W_K_t, W_V_t = stepped(W_Q, b, a, f, e), stepped(W_K, b, a, f, e), stepped(W_V, b, c, f, u)
dQ_own, dK_own, dV_own = dQ(*own, G_own, i, e), dK(*own, G_own, i, e), dV(*own[:2], G_own, i, u)


def turn(column, at_column):
    """How fast a projected token moves with one weight."""
    return sum_(b, X[i, b] * (delta(b, f) * delta(column, at_column)))


@theorem(
    eq(derivative(t, self_loss(X, W_Q_t, W_K, W_V, G_own), 0), sum_(i, X[i, f] * dQ_own)),
    near_miss=[sum_(i, X[i, f]) * sum_(i, dQ_own), sum_(i, X[i, f] * dK_own)],
)
def gradient_of_query_projection(proof):
    "The gradient with respect to W_Q is X^T dQ."
    moved = product(X, W_Q_t, i, a)
    proof.equals(derivative(t, loss(moved, *own[1:], G_own), 0), "definition", of=(self_loss, self_attention, loss))
    queries = sum_(i, sum_(a, dQ(*own, G_own, i, a) * turn(a, e)))
    proof.equals(queries, loss_moves_by_its_gradients, at={**held_own, Q_t: product(X, W_Q_t, i, a, t)})
    proof.closes("finite_sum")


@theorem(
    eq(derivative(t, self_loss(X, W_Q, W_K_t, W_V, G_own), 0), sum_(i, X[i, f] * dK_own)),
    near_miss=[sum_(i, X[i, f]) * sum_(i, dK_own), sum_(i, X[i, f] * dQ_own)],
)
def gradient_of_key_projection(proof):
    "The gradient with respect to W_K is X^T dK."
    moved = own[0], product(X, W_K_t, i, a), own[2]
    proof.equals(derivative(t, loss(*moved, G_own), 0), "definition", of=(self_loss, self_attention, loss))
    keys = sum_(i, sum_(a, dK(*own, G_own, i, a) * turn(a, e)))
    proof.equals(keys, loss_moves_by_its_gradients, at={**held_own, K_t: product(X, W_K_t, i, a, t)})
    proof.closes("finite_sum")


@theorem(
    eq(derivative(t, self_loss(X, W_Q, W_K, W_V_t, G_own), 0), sum_(i, X[i, f] * dV_own)),
    near_miss=[sum_(i, X[i, f]) * sum_(i, dV_own), sum_(i, X[i, f] * G_own[i, u])],
)
def gradient_of_value_projection(proof):
    "The gradient with respect to W_V is X^T dV."
    moved = product(X, W_V_t, i, c)
    proof.equals(derivative(t, loss(*own[:2], moved, G_own), 0), "definition", of=(self_loss, self_attention, loss))
    values = sum_(i, sum_(c, dV(*own[:2], G_own, i, c) * turn(c, u)))
    proof.equals(values, loss_moves_by_its_gradients, at={**held_own, V_t: product(X, W_V_t, i, c, t)})
    proof.closes("finite_sum")
