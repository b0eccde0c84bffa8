r"""Causal self-attention: the output at token i depends on the tokens up to i alone.

Definitions   masked_attention, of masked_attention.py
Statements    past_projections_agree           (X W)_la = (X' W)_la for l <= i, where X and X' agree up to i
              causal_self_attention_ignores_future   O_ic = O'_ic for Q, K, V = X W_Q, X W_K, X W_V, the same with X'
Scope         Any number n of tokens, any d, d_k, d_v >= 1; one head. X and X' agree up to i: X_l = X'_l for all l <= i.
              The mask is one of non-negative weights with M_il = 0 for l > i, under which row i keeps a key.
Reference     Vaswani et al. 2017, section 3.2.3: leftward information flow is prevented in the decoder.
"""

from ..kernel import Statement
from ..notation import eq, exp, family, forall, function, index, le, lt, n, size, sum_, value_of, when
from ..registry import theorem
from .attention import K, Q, S, V, a, attention, c, d_k, d_v, n_k, n_q
from .causal_masking import causal_output_ignores_future, new_K, new_Q, new_V
from .masked_attention import M, masked_attention

d = size("d")
i, l, b = index("i", n), index("l", n), index("b", d)
X, new_X = family("X", n, d), family("X_new", n, d)
W, W_Q, W_K, W_V = family("W", d, d_k), family("W_Q", d, d_k), family("W_K", d, d_k), family("W_V", d, d_v)
mask = family("M", n, n, domain="nonnegative")
is_past = le(value_of(l), value_of(i))
causal = forall(l, eq(mask[i, l], 0), where=[lt(value_of(i), value_of(l))])
same_past = forall([l, b], eq(X[l, b], new_X[l, b]), where=[is_past])
changed_future = {
    new_X: function([l, b], when(is_past, X[l, b], new_X[l, b])),
    mask: function([i, l], when(is_past, mask[i, l] + 1, 0)),
}


def rows(tokens, matrix):
    """The tokens times a weight matrix."""
    column = index("a", matrix.slots[1])
    return function([l, column], sum_(b, tokens[l, b] * matrix[b, column]))


def projections(tokens):
    """The queries, keys and values of the tokens."""
    return [rows(tokens, matrix) for matrix in (W_Q, W_K, W_V)]


def keeps_a_key(tokens):
    """Row i keeps a key: the sum that its weights are divided by is positive."""
    queries, keys, _ = projections(tokens)
    return lt(0, sum_(l, mask[i, l] * exp(S(queries, keys, i, l))))


agree_at_l = eq(sum_(b, X[l, b] * W[b, a]), sum_(b, new_X[l, b] * W[b, a]))


@theorem(
    agree_at_l,
    given=[same_past, is_past],
    near_miss=Statement(agree_at_l, (same_past,)),
    witness=changed_future,
)
def past_projections_agree(proof):
    "Tokens that agree up to i have the same queries, keys and values there."
    proof.closes("congruence", then="given")


@theorem(
    eq(masked_attention(*projections(X), mask, i, c), masked_attention(*projections(new_X), mask, i, c)),
    given=[causal, same_past, keeps_a_key(X), keeps_a_key(new_X)],
    near_miss=eq(attention(*projections(X), i, c), attention(*projections(new_X), i, c)),
    witness=changed_future,
)
def causal_self_attention_ignores_future(proof):
    "In causal self-attention the tokens after i have no influence on the output at i."
    at = dict(zip((Q, K, V, new_Q, new_K, new_V), projections(X) + projections(new_X), strict=True))
    of = lambda matrix, width: (past_projections_agree, {i: i, W: matrix, d_k: width})
    facts = [of(W_Q, d_k), of(W_K, d_k), of(W_V, d_v)]
    proof.closes(causal_output_ignores_future, at={n_q: n, n_k: n, M: mask, **at}, using=facts)
