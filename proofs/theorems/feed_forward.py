r"""The position-wise feed-forward layer: two linear maps with a ReLU between them, the same at every position.

Definitions   preactivation(X, W_1, b_1, i, j) A_ij = sum_a X_ia W_1_aj + b_1_j
              hidden(X, W_1, b_1, i, j)        H_ij = relu(A_ij)
              feed_forward(X, W_1, b_1, W_2, b_2, i, k)   sum_j H_ij W_2_jk + b_2_k
Statements    position_wise                    inputs with the same row i have outputs with the same row i
              permutation_equivariance         feed_forward(X o pi)_i = feed_forward(X)_pi(i)
              parameter_count                  W_1, b_1, W_2 and b_2 have 2 d d_ff + d_ff + d entries
              hidden_unit_permutation          hidden units permuted jointly in W_1, b_1 and the rows of W_2: no change
              preactivation_of_multiple        A_ij of c_j W_1_aj and c_j b_1_j is c_j A_ij
              relu_rescaling                   c_j > 0: c_j W_1_aj, c_j b_1_j and W_2_jk / c_j give the same output
Scope         Any numbers n of positions, d of features and d_ff of hidden units, any weights and biases; no dropout.
Reference     Vaswani et al. 2017, section 3.3, equation 2, which has d = 512 and d_ff = 2048; Neyshabur et al. 2015
              (arXiv:1506.02617), for the rescaling.
"""

from ..notation import Definition, eq, family, forall, function, index, lt, n, ne, permutation, size, sum_
from ..registry import Statement, theorem
from .activations import c as factor
from .activations import relu, relu_is_positively_homogeneous, x

d, d_ff = size("d"), size("d_ff")
i, m = index("i", n), index("m", n)
a, k = index("a", d), index("k", d)
j = index("j", d_ff)
X, Y = family("X", n, d), family("Y", n, d)
W_1, b_1, W_2, b_2 = family("W_1", d, d_ff), family("b_1", d_ff), family("W_2", d_ff, d), family("b_2", d)
weights = W_1, b_1, W_2, b_2
c = family("c", d_ff)
pi, tau = permutation("pi", n), permutation("tau", d_ff)

preactivation = Definition(
    "preactivation", [X, W_1, b_1, i, j], sum_(a, X[i, a] * W_1[a, j]) + b_1[j], says="what hidden unit j receives"
)
A = preactivation(X, W_1, b_1, i, j)
hidden = Definition("hidden", [X, W_1, b_1, i, j], relu(A), says="hidden unit j at position i")
H = hidden(X, W_1, b_1, i, j)
feed_forward = Definition(
    "feed_forward", [X, *weights, i, k], sum_(j, H * W_2[j, k]) + b_2[k], says="the output at position i"
)
output = feed_forward(X, *weights, i, k)
layer = feed_forward, hidden, preactivation

# --- positions --------------------------------------------------------------------------------------------------------


def same(row):
    """X and Y agree at this position."""
    return forall(a, eq(X[row, a], Y[row, a]))


same_output = eq(output, feed_forward(Y, *weights, i, k))


@theorem(
    same_output,
    given=[same(i)],
    near_miss=(Statement(same_output, (same(m),)), {Y: function([i, a], X[m, a])}),
    witness={Y: X},
)
def position_wise(proof):
    "The output at a position depends on the input at that position only."
    at_i = lambda tokens: sum_(j, relu(sum_(a, tokens[i, a] * W_1[a, j]) + b_1[j]) * W_2[j, k]) + b_2[k]
    proof.equals(at_i(X), "definition", of=layer)
    proof.equals(at_i(Y), "congruence", then="given")
    proof.closes("definition", of=layer)


permuted = function([i, a], X[pi(i), a])


@theorem(eq(feed_forward(permuted, *weights, i, k), feed_forward(X, *weights, pi(i), k)), near_miss=output)
def permutation_equivariance(proof):
    "Positions in another order have their outputs in that order."
    proof.closes("definition", of=layer)


# --- hidden units -----------------------------------------------------------------------------------------------------


@theorem(
    eq(sum_((a, j), 1) + sum_(j, 1) + sum_((j, k), 1) + sum_(k, 1), 2 * d * d_ff + d_ff + d),
    near_miss=[2 * d * d_ff, 2 * d * d_ff + d_ff, d * d_ff + d_ff + d],
)
def parameter_count(proof):
    "The two matrices and the two biases have 2 d d_ff + d_ff + d entries."
    proof.closes("finite_sum")


reordered_first = function([a, j], W_1[a, tau(j)]), function([j], b_1[tau(j)])
reordered_W_2 = function([j, k], W_2[tau(j), k])


@theorem(
    eq(feed_forward(X, *reordered_first, reordered_W_2, b_2, i, k), output),
    near_miss=eq(feed_forward(X, *reordered_first, W_2, b_2, i, k), output),
)
def hidden_unit_permutation(proof):
    "Hidden units in another order, the same in both layers, change nothing."
    reordered = hidden(X, W_1, b_1, i, tau(j)) * W_2[tau(j), k]
    proof.equals(sum_(j, reordered) + b_2[k], "definition", of=layer)
    proof.equals(sum_(j, H * W_2[j, k]) + b_2[k], "finite_sum")
    proof.closes("definition", of=feed_forward)


scaled_first = function([a, j], c[j] * W_1[a, j]), function([j], c[j] * b_1[j])
scaled_W_2 = function([j, k], W_2[j, k] / c[j])


@theorem(
    eq(preactivation(X, *scaled_first, i, j), c[j] * A),
    near_miss=[A, eq(preactivation(X, scaled_first[0], b_1, i, j), c[j] * A)],
)
def preactivation_of_multiple(proof):
    "A hidden unit whose weights and bias are multiplied by a factor receives that multiple."
    proof.equals(sum_(a, X[i, a] * (c[j] * W_1[a, j])) + c[j] * b_1[j], "definition", of=preactivation)
    proof.equals(c[j] * (sum_(a, X[i, a] * W_1[a, j]) + b_1[j]), "finite_sum")
    proof.closes("definition", of=preactivation)


same_as_scaled = eq(feed_forward(X, *scaled_first, scaled_W_2, b_2, i, k), output)


@theorem(
    same_as_scaled,
    given=[forall(j, lt(0, c[j]))],
    witness={c: function([j], 1 + c[j] ** 2)},
    near_miss=[
        eq(feed_forward(X, *scaled_first, W_2, b_2, i, k), output),
        (Statement(same_as_scaled, (forall(j, ne(0, c[j])),)), {c: function([j], -1 - c[j] ** 2)}),
    ],
)
def relu_rescaling(proof):
    "Each hidden unit can be scaled by a positive factor of its own, if the second layer undoes it."
    outputs = lambda unit: sum_(j, unit * (W_2[j, k] / c[j])) + b_2[k]
    proof.equals(outputs(relu(preactivation(X, *scaled_first, i, j))), "definition", of=(feed_forward, hidden))
    proof.equals(outputs(relu(c[j] * A)), preactivation_of_multiple)
    at = {x: A, factor: c[j]}
    proof.equals(outputs(c[j] * relu(A)), "congruence", then=relu_is_positively_homogeneous, at=at)
    proof.equals(sum_(j, relu(A) * W_2[j, k]) + b_2[k], "field")
    proof.closes("definition", of=(feed_forward, hidden))
