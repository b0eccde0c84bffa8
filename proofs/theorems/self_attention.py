r"""Self-attention and cross-attention: where queries, keys and values come from, and what the order of the tokens does.

Definitions   projected(X, W, i, a)            sum_b X_ib W_ba
              self_attention(X, W_Q, W_K, W_V, i, c)   attention(X W_Q, X W_K, X W_V)_ic
              cross_attention(X, Y, W_Q, W_K, W_V, i, c)   attention(X W_Q, Y W_K, Y W_V)_ic
Statements    self_attention_is_cross_attention_with_itself   self_attention(X) = cross_attention(X, X)
              permutation_equivariance         self_attention(X o pi)_i = self_attention(X)_pi(i)
              permutation_equivariance_with_positions   self_attention((X + E) o pi)_i = self_attention(X + E)_pi(i)
              without_positions_order_is_lost  the mean of the rows of self_attention(X o pi) is that for X
              decoder_permutation_equivariance   cross_attention(X o sigma, Y)_i = cross_attention(X, Y)_sigma(i)
              memory_permutation_invariance    cross_attention(X, Y o pi) = cross_attention(X, Y)
Scope         Any numbers n, n_q, n_k of tokens and any d, d_k, d_v >= 1; one head, no mask. E is any matrix of
              positions, whose rows move with those of X. Where they stay in place the order does matter: those are the
              near misses.
Reference     Vaswani et al. 2017, sections 3.2.3 and 3.5; Lee et al. 2019 (arXiv:1810.00825), section 3.1.
"""

from ..notation import Definition, eq, family, function, index, n, permutation, size, sum_
from ..registry import theorem
from .attention import (
    K,
    Q,
    V,
    attention,
    c,
    d_k,
    d_v,
    n_k,
    n_q,
    permutation_invariance,
    pi,
    query_permutation_equivariance,
    sigma,
)

d = size("d")
i, j = index("i", n), index("j", n)
i_q, j_k = index("i", n_q), index("j", n_k)
a, b = index("a", d_k), index("b", d)
X, Y, E = (family(name, n, d) for name in "XYE")
decoder, encoder, encoder_positions = family("X", n_q, d), family("Y", n_k, d), family("E", n_k, d)
W, W_Q, W_K, W_V = family("W", d, d_k), family("W_Q", d, d_k), family("W_K", d, d_k), family("W_V", d, d_v)
weights = W_Q, W_K, W_V

projected = Definition("projected", [X, W, i, a], sum_(b, X[i, b] * W[b, a]), says="a token times a weight matrix")


def product(tokens, matrix, *slots):
    """The tokens times a weight matrix, over these slots: row, column, and t for a curve."""
    return function(slots, projected(tokens, matrix, *slots[:2]))


own = product(X, W_Q, i, a), product(X, W_K, i, a), product(X, W_V, i, c)
both = product(decoder, W_Q, i_q, a), product(encoder, W_K, j_k, a), product(encoder, W_V, j_k, c)
self_attention = Definition(
    "self_attention", [X, *weights, i, c], attention(*own, i, c), says="queries, keys and values from X"
)
cross_attention = Definition(
    "cross_attention",
    [decoder, encoder, *weights, i_q, c],
    attention(*both, i_q, c),
    says="queries from X, keys and values from Y",
)


@theorem(
    eq(self_attention(X, *weights, i, c), cross_attention(X, X, *weights, i, c)),
    near_miss=[cross_attention(X, Y, *weights, i, c), cross_attention(Y, X, *weights, i, c)],
)
def self_attention_is_cross_attention_with_itself(proof):
    "Self-attention is cross-attention of the input with itself."
    proof.closes("definition", of=(self_attention, cross_attention))


# --- tokens in another order ------------------------------------------------------------------------------------------

order = permutation("pi", n)
permuted = function([i, b], X[order(i), b])
placed = function([i, b], X[i, b] + E[i, b])  # positions are added to the tokens
permuted_placed = function([i, b], X[order(i), b] + E[order(i), b])
placed_permuted = function([i, b], X[order(i), b] + E[i, b])  # the tokens are permuted first, the positions stay
values = {n_q: n, n_k: n, Q: own[0], K: own[1], V: own[2]}


def out(tokens, row):
    """The output of self-attention at a row."""
    return self_attention(tokens, *weights, row, c)


def mean(tokens):
    """The mean of the outputs of self-attention over the rows."""
    return sum_(i, out(tokens, i)) / n


@theorem(eq(out(permuted, i), out(X, order(i))), near_miss=out(X, i))
def permutation_equivariance(proof):
    "Tokens in another order have their outputs in that order."
    permuted_rows = lambda matrix, column: function([i, column], projected(X, matrix, order(i), column))
    query, key, value = permuted_rows(W_Q, a), permuted_rows(W_K, a), permuted_rows(W_V, c)
    at = {**values, K: key, V: value, sigma: order}
    proof.equals(attention(query, key, value, i, c), "definition", of=(self_attention, projected))
    proof.equals(attention(own[0], key, value, order(i), c), query_permutation_equivariance, at=at)
    proof.equals(attention(*own, order(i), c), permutation_invariance, at={**values, pi: order})
    proof.closes("definition", of=self_attention)


@theorem(
    eq(out(permuted_placed, i), out(placed, order(i))),
    near_miss=[out(placed, i), eq(out(placed_permuted, i), out(placed, order(i)))],
)
def permutation_equivariance_with_positions(proof):
    "Tokens in another order that keep the positions once added to them have their outputs in that order."
    proof.closes(permutation_equivariance, at={X: placed})


@theorem(eq(mean(permuted), mean(X)), near_miss=eq(mean(placed_permuted), mean(placed)))
def without_positions_order_is_lost(proof):
    "Without positions the mean of the outputs is the same for every order of the tokens."
    proof.equals(sum_(i, out(X, order(i))) / n, permutation_equivariance)
    proof.closes("finite_sum")


# --- cross-attention --------------------------------------------------------------------------------------------------

values_of_both = {Q: both[0], K: both[1], V: both[2]}
reordered_decoder = function([i_q, b], decoder[sigma(i_q), b])
reordered_encoder = function([j_k, b], encoder[pi(j_k), b])
placed_encoder = function([j_k, b], encoder[j_k, b] + encoder_positions[j_k, b])
placed_reordered_encoder = function([j_k, b], encoder[pi(j_k), b] + encoder_positions[j_k, b])


def across(queries, memory, row):
    """The output of cross-attention at a row."""
    return cross_attention(queries, memory, *weights, row, c)


@theorem(
    eq(across(reordered_decoder, encoder, i_q), across(decoder, encoder, sigma(i_q))),
    near_miss=across(decoder, encoder, i_q),
)
def decoder_permutation_equivariance(proof):
    "Decoder tokens in another order have their outputs in that order."
    query = function([i_q, a], projected(decoder, W_Q, sigma(i_q), a))
    proof.equals(attention(query, *both[1:], i_q, c), "definition", of=(cross_attention, projected))
    proof.equals(attention(*both, sigma(i_q), c), query_permutation_equivariance, at=values_of_both)
    proof.closes("definition", of=cross_attention)


@theorem(
    eq(across(decoder, reordered_encoder, i_q), across(decoder, encoder, i_q)),
    near_miss=eq(across(decoder, placed_reordered_encoder, i_q), across(decoder, placed_encoder, i_q)),
)
def memory_permutation_invariance(proof):
    "The order of the encoder's outputs makes no difference to the decoder."
    permuted_rows = lambda matrix, column: function([j_k, column], projected(encoder, matrix, pi(j_k), column))
    key, value = permuted_rows(W_K, a), permuted_rows(W_V, c)
    proof.equals(attention(both[0], key, value, i_q, c), "definition", of=(cross_attention, projected))
    proof.equals(attention(*both, i_q, c), permutation_invariance, at=values_of_both)
    proof.closes("definition", of=cross_attention)
