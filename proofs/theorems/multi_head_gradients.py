r"""The gradients of multi-head attention, derived from L = sum_ib dY_ib multi_head_ib.

Definitions   multi_head_loss(X, Y, W_Q, W_K, W_V, W_O, dY)   sum_ib dY_ib multi_head_ib, a loss with dL/d(output) = dY
              head_cotangent(W_O, dY, g, i, c)                dH_gic = sum_b dY_ib W_O_(g,c),b
              output_projection_gradient(..., o, b)           dW_O = concat(heads)^T dY
              value_projection_gradient(..., g, r, c)         dW_V of head g = Y^T P^T dH, P the weights of the head
Statements    gradient_of_head_output          dL/d(head g) = dH_g: dY times the transposed rows of W_O of head g
              gradient_of_output_projection    dL/dW_O = concat(heads)^T dY
              loss_is_sum_over_heads           L = sum_g loss(X W_Q, Y W_K, Y W_V, dH) of head g
              gradient_of_query_projection     dL/dW_Q = X^T dQ per head, dQ = dS K / sqrt(d_k), dS with G = dH
              gradient_of_key_projection       dL/dW_K = Y^T dK per head, dK = dS^T Q / sqrt(d_k)
              gradient_of_value_projection     dL/dW_V = Y^T P^T dH per head
              value_output_balance             W_V^T dW_V = dW_O W_O^T per head
Scope         Any h, n_q, n_k, d, d_k, d_v >= 1; X and Y are fixed, and Y = X for self-attention; dY is any matrix.
Reference     Vaswani et al. 2017, section 3.2.2, for the forward pass; attention_gradients for one head.
"""

from ..notation import Definition, delta, derivative, eq, family, function, index, join, sqrt, sum_, t
from ..registry import theorem
from .attention import P, a, attention, c, d_k, d_v, e, i, j, m, n_q
from .attention_gradients import G, K_t, Q_t, V_t, dS, loss, loss_along_inputs, u
from .multi_head import (
    W_K,
    W_O,
    W_Q,
    W_V,
    H,
    X,
    Y,
    b,
    concat,
    concat_then_project_is_sum_over_heads,
    d,
    feature,
    g,
    h,
    head,
    heads,
    inputs,
    multi_head,
    o,
    of_head,
    output,
    projected,
    r,
    summed,
    tau,
    weights,
)

dY = family("dY", n_q, d)
f, s, v, q = index("f", h), index("s", d), index("v", d), index("q", d_v * h)
multi_head_loss = Definition(
    "multi_head_loss", [X, Y, *weights, W_O, dY], sum_(i, sum_(b, dY[i, b] * output)), says="a loss with cotangent dY"
)
dH = Definition("head_cotangent", [W_O, dY, g, i, c], sum_(b, dY[i, b] * W_O[join(g, c), b]), says="dL/d(head g)")
dV = sum_(i, P(*inputs(g)[:2], i, j) * dH(W_O, dY, g, i, c))  # the cotangent of value j of head g, at c
dW_O = Definition(
    "output_projection_gradient", [X, Y, *weights, dY, o, b], sum_(i, concat(heads, i, o) * dY[i, b]), says="dL/dW_O"
)
dW_V = Definition(
    "value_projection_gradient", [X, Y, W_Q, W_K, W_O, dY, g, r, c], sum_(j, Y[j, r] * dV), says="dL/dW_V of head g"
)


def against_dY(part):
    """The loss of an output at (i, b)."""
    return sum_(i, sum_(b, dY[i, b] * part))


moved_heads = function([g, i, c], H[g, i, c] + t * delta(g, f) * delta(i, m) * delta(c, u))


@theorem(
    eq(derivative(t, against_dY(sum_(o, concat(moved_heads, i, o) * W_O[o, b])), 0), dH(W_O, dY, f, m, u)),
    near_miss=[sum_(b, dY[m, b] * W_O[join(f, u), b] * H[f, m, u]), sum_(b, dY[m, b]) * sum_(b, W_O[join(f, u), b])],
)
def gradient_of_head_output(proof):
    "The gradient with respect to the output of a head is dY times the transposed rows of W_O of that head."
    step = delta(of_head, f) * delta(i, m) * delta(feature, u)
    moved = sum_(o, (H[of_head, i, feature] + t * step) * W_O[o, b])
    proof.equals(derivative(t, against_dY(moved), 0), "definition", of=concat)
    proof.equals(against_dY(sum_(o, step * W_O[o, b])), "derivative")
    proof.equals(sum_(b, dY[m, b] * W_O[join(f, u), b]), "finite_sum")
    proof.closes("definition", of=dH)


moved_W_O = function([o, b], W_O[o, b] + t * delta(o, q) * delta(b, v))


@theorem(
    eq(derivative(t, multi_head_loss(X, Y, *weights, moved_W_O, dY), 0), dW_O(X, Y, *weights, dY, q, v)),
    near_miss=[
        sum_(i, concat(heads, i, q)) * sum_(i, dY[i, v]),
        sum_(i, concat(heads, i, q) * dY[i, v] * W_O[q, v]),
    ],
)
def gradient_of_output_projection(proof):
    "The gradient with respect to W_O is the transposed concatenation times dY."
    step = delta(o, q) * delta(b, v)
    moved = sum_(o, concat(heads, i, o) * (W_O[o, b] + t * step))
    proof.equals(derivative(t, against_dY(moved), 0), "definition", of=(multi_head_loss, multi_head))
    proof.equals(against_dY(sum_(o, concat(heads, i, o) * step)), "derivative")
    proof.equals(sum_(i, concat(heads, i, q) * dY[i, v]), "finite_sum")
    proof.closes("definition", of=dW_O)


# --- the projections of a head ----------------------------------------------------------------------------------------


def cotangent(g):
    """dH of head g, as a matrix."""
    return function([i, c], dH(W_O, dY, g, i, c))


@theorem(
    eq(multi_head_loss(X, Y, *weights, W_O, dY), sum_(g, loss(*inputs(g), cotangent(g)))),
    near_miss=sum_(g, loss(*inputs(g), cotangent(tau(g)))),
)
def loss_is_sum_over_heads(proof):
    "The loss is the sum, over the heads, of the loss of attention whose cotangent is dH."
    proof.equals(against_dY(output), "definition", of=multi_head_loss)
    proof.equals(against_dY(summed), concat_then_project_is_sum_over_heads)
    row = sum_(b, dY[i, b] * W_O[join(g, c), b])
    proof.equals(sum_(g, sum_(i, sum_(c, row * head(X, Y, *weights, g, i, c)))), "finite_sum")
    proof.closes("definition", of=(loss, dH, head))


def entry(x, y):
    """1 at the entry (s, y) of the matrix of head f, else 0."""
    return delta(g, f) * delta(r, s) * delta(x, y)


def moved(W, x, y, by=t):
    """The matrices W after a step along that entry."""
    return function([g, r, x], W[g, r, x] + by * entry(x, y))


def dQ(g, a, W=W_Q):
    """The cotangent of query i of head g, with W for W_Q."""
    return sum_(j, dS(*inputs(g, W_Q=W), cotangent(g), i, j) * projected(Y, W_K, g, j, a)) / sqrt(d_k)


def dK(g, a, W=W_K):
    """The cotangent of key j of head g, with W for W_K."""
    return sum_(i, dS(*inputs(g, W_K=W), cotangent(g), i, j) * projected(X, W_Q, g, i, a)) / sqrt(d_k)


def step_heads(proof, matrices, move):
    """The loss along moving W_Q, W_K, W_V is differentiated head by head; that of head g moves by `move`."""
    W_q, W_k, W_v = matrices
    queries, keys = function([i, a, t], projected(X, W_q, g, i, a)), function([j, a, t], projected(Y, W_k, g, j, a))
    at = {Q_t: queries, K_t: keys, V_t: function([j, c, t], projected(Y, W_v, g, j, c)), G: cotangent(g), t: 0}
    of_head = loss(*inputs(g, X, Y, *matrices), cotangent(g))
    proof.equals(derivative(t, sum_(g, of_head), 0), "congruence", then=loss_is_sum_over_heads,
                 at=dict(zip(weights, matrices, strict=True)))  # fmt: skip
    proof.equals(sum_(g, derivative(t, of_head, 0)), "derivative")
    proof.equals(sum_(g, move), "congruence", then=loss_along_inputs, at=at)


@theorem(
    eq(derivative(t, multi_head_loss(X, Y, moved(W_Q, a, e), W_K, W_V, W_O, dY), 0), sum_(i, X[i, s] * dQ(f, e))),
    near_miss=[sum_(i, X[i, s] * dQ(f, e)) * sqrt(d_k), -sum_(i, X[i, s] * dQ(f, e))],
)
def gradient_of_query_projection(proof):
    "The gradient with respect to W_Q of a head is X^T dQ, where dQ is that of attention with the cotangent dH."
    rate = sum_(r, X[i, r] * entry(a, e))
    step_heads(proof, (moved(W_Q, a, e), W_K, W_V), sum_((i, a), dQ(g, a, moved(W_Q, a, e, by=0)) * rate))
    proof.equals(sum_((g, i, a), dQ(g, a) * rate), "ring")
    proof.closes("finite_sum")


@theorem(
    eq(derivative(t, multi_head_loss(X, Y, W_Q, moved(W_K, a, e), W_V, W_O, dY), 0), sum_(j, Y[j, s] * dK(f, e))),
    near_miss=[sum_(j, Y[j, s] * dK(f, e)) * sqrt(d_k), -sum_(j, Y[j, s] * dK(f, e))],
)
def gradient_of_key_projection(proof):
    "The gradient with respect to W_K of a head is Y^T dK, where dK is that of attention with the cotangent dH."
    rate = sum_(r, Y[j, r] * entry(a, e))
    step_heads(proof, (W_Q, moved(W_K, a, e), W_V), sum_((j, a), dK(g, a, moved(W_K, a, e, by=0)) * rate))
    proof.equals(sum_((g, j, a), dK(g, a) * rate), "ring")
    proof.closes("finite_sum")


P_f = P(*inputs(f)[:2], i, j)
dH_f = dH(W_O, dY, f, i, u)


@theorem(
    eq(
        derivative(t, multi_head_loss(X, Y, W_Q, W_K, moved(W_V, c, u), W_O, dY), 0),
        dW_V(X, Y, W_Q, W_K, W_O, dY, f, s, u),
    ),
    near_miss=[sum_(j, Y[j, s]) * sum_(i, dH_f), sum_(j, Y[j, s] * sum_(i, P_f)) * sum_(i, dH_f)],
)
def gradient_of_value_projection(proof):
    "The gradient with respect to W_V of a head is Y^T P^T dH."
    step_heads(proof, (W_Q, W_K, moved(W_V, c, u)), sum_((j, c), dV * sum_(r, Y[j, r] * entry(c, u))))
    proof.equals(sum_(j, Y[j, s] * sum_(i, P_f * dH_f)), "finite_sum")
    proof.closes("definition", of=dW_V)


def by_head(c, u):
    """Entry (c, u) of dW_O W_O^T, for the rows of head f."""
    return sum_(b, dW_O(X, Y, *weights, dY, join(f, c), b) * W_O[join(f, u), b])


@theorem(
    eq(sum_(s, W_V[f, s, c] * dW_V(X, Y, W_Q, W_K, W_O, dY, f, s, u)), by_head(c, u)),
    near_miss=[by_head(u, c), -by_head(c, u)],
)
def value_output_balance(proof):
    "For each head W_V^T dW_V = dW_O W_O^T, entry by entry."
    head_f, row = head(X, Y, *weights, f, i, c), sum_(b, dY[i, b] * W_O[join(f, u), b])
    mixed = sum_(j, P_f * sum_(s, Y[j, s] * W_V[f, s, c]))
    proof.equals(sum_(s, W_V[f, s, c] * sum_(j, Y[j, s] * sum_(i, P_f * dH_f))), "definition", of=dW_V)
    proof.equals(sum_(i, mixed * dH_f), "finite_sum")
    proof.equals(sum_(i, head_f * row), "definition", of=(head, attention, projected, dH))
    proof.equals(sum_(b, sum_(i, head_f * dY[i, b]) * W_O[join(f, u), b]), "finite_sum")
    proof.closes("definition", of=(dW_O, concat))
