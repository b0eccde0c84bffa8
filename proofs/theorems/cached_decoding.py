r"""Decoding with cached keys and values gives what self-attention over all tokens gives.

Definitions   None of its own: projected and self_attention are those of self_attention.
Statements    last_row_is_past_and_new         O_p = (sum_(j < p) e^s_j v_j + e^s_p v_p) / (sum_(j < p) e^s_j + e^s_p)
              cached_decoding_equals_full      the same, with k_j and v_j for j < p computed from the first p tokens
Scope         Tokens 0, .., p for any p >= 1; s_j is the score of the query of token p with the key k_j. Token p is the
              last one and sees all of them, with a causal mask as without one.
Reference     Vaswani et al. 2017, section 3.2.3; Shazeer 2019 (arXiv:1911.02150), section 2.4, for incremental
              decoding.
"""

from ..notation import ANY_REAL, eq, exp, family, forall, function, index, size, sqrt, sum_, value_of
from ..registry import Statement, theorem
from .attention import P, S, a, attention, c, d_k, d_v
from .self_attention import W_K, W_Q, W_V, b, d, projected, self_attention, weights
from .softmax import softmax

n_past = size("n_past")
past, token, last = index("j", n_past), index("i", n_past + 1), index("r", n_past + 1)
X = family("X", ANY_REAL, d)  # by position
all_tokens = function([token, b], X[value_of(token), b])
past_tokens = function([past, b], X[value_of(past), b])
K_cache, V_cache = family("K", n_past, d_k), family("V", n_past, d_v)


def project(position, matrix, column):
    """The token at a position times a weight matrix."""
    return sum_(b, X[position, b] * matrix[b, column])


def exp_score(query_at, key):
    """The exponential of the score of the query at a position with a key."""
    return exp(sum_(a, project(query_at, W_Q, a) * key(a)) / sqrt(d_k))


def decoded(key, value):
    """The output at the last token, from the keys and values of the earlier ones and its own."""
    of_past, new = exp_score(n_past, key), exp_score(n_past, lambda a: project(n_past, W_K, a))
    top = sum_(past, of_past * value(c)) + new * project(n_past, W_V, c)
    return top / (sum_(past, of_past) + new)


def full(query_at):
    """The output for the query at a position, over all tokens."""
    of = lambda token: exp_score(query_at, lambda a: project(value_of(token), W_K, a))
    return sum_(token, of(token) / sum_(token, of(token)) * project(value_of(token), W_V, c))


at_past = lambda matrix: lambda column: project(value_of(past), matrix, column)
computed_before = lambda matrix: lambda column: projected(past_tokens, matrix, past, column)
from_cache = (lambda a: K_cache[past, a]), (lambda c: V_cache[past, c])
output = self_attention(all_tokens, *weights, last, c)
is_last = eq(value_of(last), n_past)
only_past = sum_(past, exp_score(n_past, from_cache[0]) * V_cache[past, c]) / sum_(
    past, exp_score(n_past, from_cache[0])
)
is_cached = [
    forall([past, a], eq(K_cache[past, a], projected(past_tokens, W_K, past, a))),
    forall([past, c], eq(V_cache[past, c], projected(past_tokens, W_V, past, c))),
]
cache = {
    K_cache: function([past, a], projected(past_tokens, W_K, past, a)),
    V_cache: function([past, c], projected(past_tokens, W_V, past, c)),
}


@theorem(
    eq(output, decoded(at_past(W_K), at_past(W_V))),
    given=[is_last],
    near_miss=Statement(eq(output, decoded(at_past(W_K), at_past(W_V)))),
)
def last_row_is_past_and_new(proof):
    "The output at the last token is a weighted mean of the values of the earlier tokens and of its own."
    unfold = (self_attention, attention, P, S, softmax, projected)
    proof.equals(full(value_of(last)), "definition", of=unfold)
    proof.equals(full(n_past), "congruence", then="given")
    proof.closes("finite_sum")


@theorem(
    eq(output, decoded(*from_cache)),
    given=[is_last, *is_cached],
    witness=cache,
    near_miss=[only_past, Statement(eq(output, decoded(*from_cache)), tuple(is_cached))],
)
def cached_decoding_equals_full(proof):
    "Keys and values computed before the last token was there give the output of self-attention over all tokens."
    proof.equals(decoded(at_past(W_K), at_past(W_V)), last_row_is_past_and_new)
    proof.equals(decoded(computed_before(W_K), computed_before(W_V)), "definition", of=projected)
    proof.closes("congruence", then="given")
