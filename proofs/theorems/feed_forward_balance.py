r"""What the gradients say of one hidden unit: its two layers balance, and a dead one is not trained.

Definitions   active, preactivation_gradient and feed_forward_loss, of feed_forward_gradients.py
Statements    hidden_unit_is_gated             H_ij = active_ij A_ij
              relu_balance                     sum_e W_1_el dL/dW_1_el + b_1_l dL/db_1_l = sum_u W_2_lu dL/dW_2_lu
              dead_unit_keeps_its_weights      A_il < 0 for all i: dL/dW_1_el = 0
              dead_unit_keeps_its_bias         A_il < 0 for all i: dL/db_1_l = 0
              dead_unit_keeps_its_output_weights   A_il <= 0 for all i: dL/dW_2_lu = 0
Scope         Any n, d, d_ff >= 1, any G, one hidden unit l; L = sum_ik G_ik feed_forward_ik. No pre-activation is 0
              where derivatives with respect to W_1 and b_1 are taken.
Reference     Du, Hu & Lee 2018 (arXiv:1806.00900), for the balance.
"""

from ..notation import delta, eq, forall, function, le, lt, maximum, sum_, when
from ..registry import Statement, theorem
from .activations import relu
from .feed_forward import W_1, W_2, A, H, X, a, b_1, hidden, i, j, preactivation
from .feed_forward_gradients import (
    A_il,
    G,
    active,
    by_b_1,
    by_W_1,
    by_W_2,
    dA,
    dA_il,
    db_1,
    dW_1,
    dW_2,
    e,
    first,
    gradient_of_first_bias,
    gradient_of_first_weights,
    gradient_of_second_weights,
    kinks,
    l,
    u,
    ungated,
)

active_ij, active_il = active(*first, i, j), active(*first, i, l)


@theorem(eq(H, active_ij * A), near_miss=[A, active_ij])
def hidden_unit_is_gated(proof):
    "A hidden unit passes its pre-activation on where it is on, and 0 elsewhere."
    proof.equals(maximum(0, A), "definition", of=(hidden, relu))
    proof.equals(when(lt(0, A), 1, 0) * A, "cases", on=lt(0, A), then="order")
    proof.closes("definition", of=active)


by_weights = sum_(e, W_1[e, l] * by_W_1)
outgoing = sum_(u, W_2[l, u] * by_W_2)


@theorem(
    eq(by_weights + b_1[l] * by_b_1, outgoing),
    given=kinks,
    near_miss=[eq(by_weights, outgoing), -outgoing],
)
def relu_balance(proof):
    "What enters a hidden unit and what leaves it have equal products with their gradients."
    proof.equals(sum_(e, W_1[e, l] * dW_1) + b_1[l] * by_b_1, gradient_of_first_weights)
    proof.equals(sum_(e, W_1[e, l] * dW_1) + b_1[l] * db_1, gradient_of_first_bias)
    proof.equals(sum_(i, (sum_(a, X[i, a] * W_1[a, l]) + b_1[l]) * dA_il), "finite_sum")
    proof.equals(sum_(i, A_il * (ungated(i, l) * active_il)), "definition", of=(preactivation, dA))
    proof.equals(sum_(u, W_2[l, u] * sum_(i, active_il * A_il * G[i, u])), "finite_sum")
    proof.equals(sum_(u, W_2[l, u] * dW_2), hidden_unit_is_gated)
    proof.closes(gradient_of_second_weights)


dead, alive = forall(i, lt(A_il, 0)), forall(i, lt(0, A_il))


def biases(sign):
    """Biases that outweigh the inputs: unit l has this sign at every position, the others are on."""
    large = 1 + sum_(i, sum_(a, X[i, a] * W_1[a, j]) ** 2)
    return {b_1: function([j], (1 + (sign - 1) * delta(j, l)) * large)}


def only_if_dead(by):
    """The twins of a gradient that is 0 for a dead unit: of any unit, and of one that is on everywhere."""
    return [(Statement(eq(by, 0), given), biases(1)) for given in (tuple(kinks), (*kinks, alive))]


@theorem(eq(by_W_1, 0), given=[*kinks, dead], near_miss=only_if_dead(by_W_1), witness=biases(-1))
def dead_unit_keeps_its_weights(proof):
    "A hidden unit that is off at every position sends no gradient to its weights."
    proof.equals(dW_1, gradient_of_first_weights)
    proof.equals(sum_(i, X[i, e] * (ungated(i, l) * when(lt(0, A_il), 1, 0))), "definition", of=(dA, active))
    proof.equals(sum_(i, X[i, e] * (ungated(i, l) * 0)), "order")
    proof.closes("finite_sum")


@theorem(eq(by_b_1, 0), given=[*kinks, dead], near_miss=only_if_dead(by_b_1), witness=biases(-1))
def dead_unit_keeps_its_bias(proof):
    "A hidden unit that is off at every position sends no gradient to its bias."
    proof.equals(db_1, gradient_of_first_bias)
    proof.equals(sum_(i, ungated(i, l) * when(lt(0, A_il), 1, 0)), "definition", of=(dA, active))
    proof.equals(sum_(i, ungated(i, l) * 0), "order")
    proof.closes("finite_sum")


@theorem(
    eq(by_W_2, 0),
    given=[forall(i, le(A_il, 0))],
    near_miss=[(Statement(eq(by_W_2, 0)), biases(1)), (Statement(eq(by_W_2, 0), (alive,)), biases(1))],
    witness=biases(-1),
)
def dead_unit_keeps_its_output_weights(proof):
    "A hidden unit that is 0 at every position sends no gradient to its output weights."
    proof.equals(dW_2, gradient_of_second_weights)
    proof.equals(sum_(i, maximum(0, A_il) * G[i, u]), "definition", of=(hidden, relu))
    proof.equals(sum_(i, 0 * G[i, u]), "order")
    proof.closes("finite_sum")
