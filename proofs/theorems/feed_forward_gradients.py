r"""The gradients of the feed-forward layer, derived from L = sum_ik G_ik feed_forward_ik.

Definitions   feed_forward_loss(X, W_1, b_1, W_2, b_2, G)   sum_ik G_ik feed_forward_ik, a loss with dL/d(output) = G
              active(X, W_1, b_1, i, j)        1 where A_ij > 0, else 0
              preactivation_gradient(X, W_1, b_1, W_2, G, i, j)   dA_ij = sum_k G_ik W_2_jk active_ij
Statements    hidden_unit_along_curves         A_ij != 0: H'_ij = active_ij A'_ij, with ' for d/dt
              loss_along_curves                L' = sum dA_ij A'_ij + sum H_ij G_ik W_2'_jk + sum G_ik b_2'_k
              gradient_of_second_weights       dL/dW_2 = H^T G
              gradient_of_second_bias          dL/db_2_k = sum_i G_ik
              gradient_of_first_weights        dL/dW_1 = X^T dA, where dA = (G W_2^T) * 1{A > 0}
              gradient_of_first_bias           dL/db_1_j = sum_i dA_ij
              gradient_of_input                dL/dX = dA W_1^T
Scope         Any n, d, d_ff >= 1, any G. No pre-activation is 0, except for the gradients of W_2 and b_2, which exist
              everywhere. A partial derivative is the derivative along the line that moves one entry, at t = 0.
Reference     Vaswani et al. 2017, equation 2, for the layer; Rumelhart, Hinton & Williams 1986, for back-propagation.
"""

from ..notation import (
    Definition,
    curve,
    delta,
    derivative,
    eq,
    family,
    forall,
    function,
    index,
    lt,
    n,
    ne,
    sum_,
    t,
    when,
)
from ..registry import theorem
from .feed_forward import (
    W_1,
    W_2,
    A,
    H,
    X,
    a,
    b_1,
    b_2,
    d,
    d_ff,
    feed_forward,
    hidden,
    i,
    j,
    k,
    m,
    preactivation,
    weights,
)

G = family("G", n, d)
e, u, l = index("e", d), index("u", d), index("l", d_ff)
first = X, W_1, b_1

loss = Definition(
    "feed_forward_loss",
    [X, *weights, G],
    sum_(i, sum_(k, G[i, k] * feed_forward(X, *weights, i, k))),
    says="a loss with dL/d(output) = G",
)
active = Definition("active", [*first, i, j], when(lt(0, A), 1, 0), says="whether hidden unit j is on")
dA = Definition(
    "preactivation_gradient",
    [*first, W_2, G, i, j],
    sum_(k, G[i, k] * W_2[j, k]) * active(*first, i, j),
    says="the cotangent of a pre-activation",
)


def off_kinks(*first):
    """No pre-activation is 0."""
    return forall((i, j), ne(0, preactivation(*first, i, j)))


def against_G(part):
    """The loss of an output at (i, k)."""
    return sum_(i, sum_(k, G[i, k] * part))


# --- along curves -----------------------------------------------------------------------------------------------------

X_t, W_1t, b_1t = curve("X_t", n, d), curve("W_1t", d, d_ff), curve("b_1t", d_ff)
W_2t, b_2t = curve("W_2t", d_ff, d), curve("b_2t", d)
first_t = function([i, a], X_t[i, a, t]), function([a, j], W_1t[a, j, t]), function([j], b_1t[j, t])
second_t = function([j, k], W_2t[j, k, t]), function([k], b_2t[k, t])
A_t, H_t, active_t = (f(*first_t, i, j) for f in (preactivation, hidden, active))
product_rate = X_t.derivative[i, a, t] * W_1t[a, j, t] + X_t[i, a, t] * W_1t.derivative[a, j, t]
rate = sum_(a, product_rate) + b_1t.derivative[j, t]


@theorem(eq(derivative(t, H_t, t), active_t * rate), given=[ne(0, A_t)], near_miss=[rate, (1 - active_t) * rate])
def hidden_unit_along_curves(proof):
    "Along any curves a hidden unit moves with its pre-activation where it is on, and rests where it is off."
    proof.equals(when(lt(0, A_t), rate, 0), "derivative")
    proof.equals(when(lt(0, A_t), 1, 0) * rate, "cases", on=lt(0, A_t), then="order")
    proof.closes("definition", of=active)


first_part = sum_((i, j), dA(*first_t, second_t[0], G, i, j) * rate)
part_of_W_2 = sum_((j, k), sum_(i, H_t * G[i, k]) * W_2t.derivative[j, k, t])
second_part = part_of_W_2 + sum_(k, sum_(i, G[i, k]) * b_2t.derivative[k, t])


@theorem(
    eq(derivative(t, loss(*first_t, *second_t, G), t), first_part + second_part),
    given=[off_kinks(*first_t)],
    near_miss=[second_part, first_part - second_part],
)
def loss_along_curves(proof):
    "Along any curves of inputs, weights and biases the loss moves by their gradients times their velocities."
    moved = lambda turn: sum_(j, turn * W_2t[j, k, t] + H_t * W_2t.derivative[j, k, t]) + b_2t.derivative[k, t]
    proof.equals(against_G(moved(derivative(t, H_t, t))), "derivative")
    proof.equals(against_G(moved(active_t * rate)), hidden_unit_along_curves)
    proof.equals(sum_((i, j), sum_(k, G[i, k] * W_2t[j, k, t]) * active_t * rate) + second_part, "finite_sum")
    proof.closes("definition", of=dA)


# --- the second layer -------------------------------------------------------------------------------------------------


def gradient(X=X, W_1=W_1, b_1=b_1, W_2=W_2, b_2=b_2):
    """The derivative of the loss at t = 0, where one of these moves with t."""
    return derivative(t, loss(X, W_1, b_1, W_2, b_2, G), 0)


step_W_2 = delta(j, l) * delta(k, u)
by_W_2 = gradient(W_2=function([j, k], W_2[j, k] + t * step_W_2))
A_il, H_il, dA_il = preactivation(*first, i, l), hidden(*first, i, l), dA(*first, W_2, G, i, l)
dW_2 = sum_(i, H_il * G[i, u])


@theorem(eq(by_W_2, dW_2), near_miss=[sum_(i, A_il * G[i, u]), sum_(i, H_il) * sum_(i, G[i, u])])
def gradient_of_second_weights(proof):
    "The gradient with respect to W_2 is H^T G."
    proof.equals(against_G(sum_(j, H * step_W_2)), "derivative")
    proof.closes("finite_sum")


by_b_2 = gradient(b_2=function([k], b_2[k] + t * delta(k, u)))


@theorem(eq(by_b_2, sum_(i, G[i, u])), near_miss=[sum_((i, k), G[i, k]), sum_(i, G[i, u]) * b_2[u]])
def gradient_of_second_bias(proof):
    "The gradient with respect to b_2 sums G over the positions."
    proof.equals(against_G(delta(k, u)), "derivative")
    proof.closes("finite_sum")


# --- the first layer --------------------------------------------------------------------------------------------------

kinks = [off_kinks(*first)]
held = {
    X_t: function([i, a, t], X[i, a]),
    W_1t: function([a, j, t], W_1[a, j]),
    b_1t: function([j, t], b_1[j]),
    W_2t: function([j, k, t], W_2[j, k]),
    b_2t: function([k, t], b_2[k]),
    t: 0,
}
ungated = lambda i, j: sum_(k, G[i, k] * W_2[j, k])  # G W_2^T, without the indicator

step_W_1 = delta(a, e) * delta(j, l)
moved_W_1 = lambda t: function([a, j], W_1[a, j] + t * step_W_1)
by_W_1, dW_1 = gradient(W_1=moved_W_1(t)), sum_(i, X[i, e] * dA_il)


@theorem(
    eq(by_W_1, dW_1),
    given=kinks,
    near_miss=[sum_(i, X[i, e] * ungated(i, l)), sum_(i, X[i, e]) * sum_(i, dA_il)],
)
def gradient_of_first_weights(proof):
    "The gradient with respect to W_1 is X^T dA."
    at = {**held, W_1t: function([a, j, t], W_1[a, j] + t * step_W_1)}
    change = sum_(a, X[i, a] * step_W_1)
    proof.equals(sum_((i, j), dA(X, moved_W_1(0), b_1, W_2, G, i, j) * change), loss_along_curves, at=at)
    proof.closes("finite_sum")


moved_b_1 = lambda t: function([j], b_1[j] + t * delta(j, l))
by_b_1, db_1 = gradient(b_1=moved_b_1(t)), sum_(i, dA_il)


@theorem(eq(by_b_1, db_1), given=kinks, near_miss=[sum_(i, ungated(i, l)), sum_((i, j), dA(*first, W_2, G, i, j))])
def gradient_of_first_bias(proof):
    "The gradient with respect to b_1 sums dA over the positions."
    at = {**held, b_1t: function([j, t], b_1[j] + t * delta(j, l))}
    proof.equals(sum_((i, j), dA(X, W_1, moved_b_1(0), W_2, G, i, j) * delta(j, l)), loss_along_curves, at=at)
    proof.closes("finite_sum")


step_X = delta(i, m) * delta(a, e)
moved_X = lambda t: function([i, a], X[i, a] + t * step_X)
dA_mj = dA(*first, W_2, G, m, j)


@theorem(
    eq(gradient(X=moved_X(t)), sum_(j, dA_mj * W_1[e, j])),
    given=kinks,
    near_miss=[sum_(j, ungated(m, j) * W_1[e, j]), sum_(j, dA_mj) * sum_(j, W_1[e, j])],
)
def gradient_of_input(proof):
    "The gradient with respect to the input is dA W_1^T."
    at = {**held, X_t: function([i, a, t], X[i, a] + t * step_X)}
    change = sum_(a, step_X * W_1[a, j])
    proof.equals(sum_((i, j), dA(moved_X(0), W_1, b_1, W_2, G, i, j) * change), loss_along_curves, at=at)
    proof.closes("finite_sum")
