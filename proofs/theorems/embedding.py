r"""The embedding: lookup is a product with one-hot rows, its gradient scatters, and the gradients of a tied table add.

Definitions   mean_square(x)                   sum_a x_a^2 / d
Statements    lookup_is_one_hot_product        E[tok(i), a] = sum_v delta(tok(i), v) E[v, a]
              gradient_scatters_and_adds       d(sum_ia G_ia E[tok(i), a])/dE_vb = sum_i delta(tok(i), v) G_ib
              input_gradient                   dL(., F)/dE_vb = sum_k delta(tok(k), v) sum_iu A_ik D_iu F_ub at F = E
              output_gradient                  dL(E, .)/dF_vb = sum_i D_iv H_ib at F = E
              tied_weights_add_gradients       dL(E, E)/dE_vb is the sum of the two derivatives
              tied_gradient                    that sum, written out
              scaled_embedding_gradient        the gradient with sqrt(d) E for E: sqrt(d) sum_i delta(tok(i), v) G_ib
              scaled_embedding_norm            sum_a (sqrt(d) E_va)^2 = d sum_a E_va^2
              scaled_embedding_has_norm_of_d   mean_square(E_v) = 1/d: sum_a (sqrt(d) E_va)^2 = d
Scope         Any numbers of positions, tokens and features, any table E, any map tok of positions to tokens. A partial
              derivative is one along E + t e_v e_b^T. L(E, F) = sum_iu D_iu <H_i, F_u>, where E is the table at the
              input, F that at the output, the hidden states H_i = sum_k A_ik E[tok(k)] mix the embedded tokens by any
              weights A, and D is any gradient of the logits.
Reference     Vaswani et al. 2017, section 3.4; Press & Wolf 2017 (arXiv:1608.05859) for tied tables.
"""

from ..notation import (
    Definition,
    choice,
    delta,
    derivative,
    eq,
    family,
    function,
    i,
    index,
    n,
    size,
    sqrt,
    sum_,
    t,
)
from ..registry import theorem

V, d = size("V"), size("d")
u, v = index("u", V), index("v", V)
a, b = index("a", d), index("b", d)
k = index("k", n)
E, G = family("E", V, d), family("G", n, d)
A, D = family("A", n, n), family("D", n, V)
tok = choice("tok", n, target=V)


@theorem(eq(E[tok(i), a], sum_(v, delta(tok(i), v) * E[v, a])), near_miss=sum_(v, E[v, a]))
def lookup_is_one_hot_product(proof):
    "Looking a token up is multiplying its one-hot row with the table."
    proof.closes("finite_sum")


def fixed(row, column):
    """The table."""
    return E[row, column]


def moved(row, column):
    """The table after a step along E_vb."""
    return E[row, column] + t * (delta(row, v) * delta(column, b))


scattered = sum_(i, delta(tok(i), v) * G[i, b])
looked_up = derivative(t, sum_((i, a), G[i, a] * moved(tok(i), a)), 0)


@theorem(
    eq(looked_up, scattered),
    near_miss=[sum_(i, G[i, b]), scattered / n, sum_((i, a), delta(tok(i), v) * G[i, a])],
)
def gradient_scatters_and_adds(proof):
    "Each position adds its gradient to the row of its token."
    proof.equals(sum_((i, a), G[i, a] * (delta(tok(i), v) * delta(a, b))), "derivative")
    proof.closes("finite_sum")


def loss(inputs, outputs):
    """The loss with one table at the input and one at the output."""
    hidden = sum_(k, A[i, k] * inputs(tok(k), a))
    return sum_((i, u), D[i, u] * sum_(a, hidden * outputs(u, a)))


def gradient(inputs, outputs):
    """The derivative of the loss along E_vb, where some of the tables move."""
    return derivative(t, loss(inputs, outputs), 0)


hidden = sum_(k, A[i, k] * E[tok(k), b])
from_input = sum_(k, delta(tok(k), v) * sum_((i, u), A[i, k] * D[i, u] * E[u, b]))
from_output = sum_(i, D[i, v] * hidden)


@theorem(
    eq(gradient(moved, fixed), from_input),
    near_miss=[from_output, sum_((k, i, u), A[i, k] * D[i, u] * E[u, b])],
)
def input_gradient(proof):
    "The table at the input gets what reaches the embedded tokens, scattered over their rows."
    step = sum_(k, A[i, k] * (delta(tok(k), v) * delta(a, b)))
    proof.equals(sum_((i, u), D[i, u] * sum_(a, step * E[u, a])), "derivative")
    proof.closes("finite_sum")


@theorem(eq(gradient(fixed, moved), from_output), near_miss=[from_input, sum_((i, u), D[i, u] * hidden)])
def output_gradient(proof):
    "The table at the output gets the hidden states, weighted by the gradient of the logits."
    state = sum_(k, A[i, k] * E[tok(k), a])
    proof.equals(sum_((i, u), D[i, u] * sum_(a, state * (delta(u, v) * delta(a, b)))), "derivative")
    proof.closes("finite_sum")


@theorem(
    eq(gradient(moved, moved), gradient(moved, fixed) + gradient(fixed, moved)),
    near_miss=[gradient(moved, fixed), gradient(fixed, moved), gradient(moved, fixed) - gradient(fixed, moved)],
)
def tied_weights_add_gradients(proof):
    "The gradient of a table that serves at the input and at the output is the sum of the two gradients."
    state = sum_(k, A[i, k] * E[tok(k), a])
    step = sum_(k, A[i, k] * (delta(tok(k), v) * delta(a, b)))
    product_rule = step * E[u, a] + state * (delta(u, v) * delta(a, b))
    proof.equals(sum_((i, u), D[i, u] * sum_(a, product_rule)), "derivative")
    proof.equals(from_input + from_output, "finite_sum")
    proof.equals(gradient(moved, fixed) + from_output, input_gradient)
    proof.closes(output_gradient)


@theorem(
    eq(gradient(moved, moved), from_input + from_output),
    near_miss=[from_input, from_output, from_input - from_output],
)
def tied_gradient(proof):
    "A tied table gets what the input scatters over its rows, and the gradient of the logits times the hidden states."
    proof.equals(gradient(moved, fixed) + gradient(fixed, moved), tied_weights_add_gradients)
    proof.equals(from_input + gradient(fixed, moved), input_gradient)
    proof.closes(output_gradient)


scale = sqrt(d)
squares = sum_(a, E[v, a] ** 2)
scaled_squares = sum_(a, (scale * E[v, a]) ** 2)


@theorem(
    eq(derivative(t, sum_((i, a), G[i, a] * (scale * moved(tok(i), a))), 0), scale * scattered),
    near_miss=[scattered, d * scattered, scattered / scale],
)
def scaled_embedding_gradient(proof):
    "The gradient of a table that is scaled by sqrt(d) at the lookup is scaled by sqrt(d) too."
    proof.equals(derivative(t, scale * sum_((i, a), G[i, a] * moved(tok(i), a)), 0), "congruence", then="finite_sum")
    proof.equals(scale * looked_up, "derivative")
    proof.closes(gradient_scatters_and_adds)


@theorem(eq(scaled_squares, d * squares), near_miss=[squares, scale * squares])
def scaled_embedding_norm(proof):
    "Scaling by sqrt(d) multiplies the squared length of a row by d."
    proof.closes("finite_sum")


row = family("x", d)
mean_square = Definition("mean_square", [row], sum_(a, row[a] ** 2) / d, says="the mean square of the entries")
row_v = function(a, E[v, a])


@theorem(
    eq(scaled_squares, d),
    given=[eq(mean_square(row_v), 1 / d)],
    witness={E: function([v, a], 1 / sqrt(d))},
    near_miss=[1, d**2],
)
def scaled_embedding_has_norm_of_d(proof):
    "A row whose entries have the mean square 1/d has the squared length d once it is scaled."
    proof.equals(d**2 * (squares / d), "finite_sum")
    proof.equals(d**2 * mean_square(row_v), "definition", of=mean_square)
    proof.equals(d**2 * (1 / d), "congruence", then="given")
    proof.closes("field")
