r"""Attention over keys in parts: blocks that are merged by their log-sum-exps, and two parts of any sizes.

Definitions   weighted(z, v)                   sum_i softmax(z)_i v_i, the softmax-weighted value
Statements    logsumexp_of_blocks              logsumexp(z) = logsumexp(L), where L_b = logsumexp(block b of z)
              block_merge                      weighted(z, v) = sum_b e^(L_b - L) weighted(block b of z, block b of v)
              attention_in_blocks              O_ic = sum_b e^(L_ib - L_i) attention(Q, block b of K, block b of V)_ic
              parts_merge                      (o e^(m_1 - m) + o' e^(m_2 - m)) / (l e^(m_1 - m) + l' e^(m_2 - m))
                                               = weighted(z, v), where o, l are the sums of e^(z - m_1) v and
                                               e^(z - m_1) over one part, o', l' those over the other with m_2
Scope         B blocks of T keys, any B, T >= 1, one block behind the other. Two parts of any sizes; the
              references m are any numbers.
Reference     Dao et al. 2022 (arXiv:2205.14135), section 3.1; Milakov & Gimelshein 2018 (arXiv:1805.02867), section
              3.1.
"""

from ..notation import (
    ANY_REAL,
    Definition,
    eq,
    exp,
    family,
    function,
    i,
    index,
    join,
    log,
    n,
    size,
    split,
    sum_,
    value_of,
    variable,
    z,
)
from ..registry import theorem
from .attention import P, Q, S, a, attention, c, d_k, d_v
from .attention import i as query
from .softmax import softmax
from .softmax_derivatives import logsumexp

v = family("v", n)
weighted = Definition("weighted", [z, v], sum_(i, softmax(z, i) * v[i]), says="the softmax-weighted value")

# --- blocks of keys ---------------------------------------------------------------------------------------------------

T, B = size("T"), size("B")
b, u, x = index("b", B), index("u", T), index("x", T * B)
row, column = split(x, T)
scores, values = family("z", T * B), family("v", T * B)
block, block_values = function(u, scores[join(b, u)]), function(u, values[join(b, u)])
of_blocks = logsumexp(function(b, logsumexp(block)))


def mass(b):
    """The sum of the exponentials of the scores in a block."""
    return sum_(u, exp(scores[join(b, u)]))


def merged(total):
    """The outputs of the blocks, weighted by their log-sum-exps."""
    return sum_(b, exp(logsumexp(block) - total) * weighted(block, block_values))


@theorem(eq(logsumexp(scores), of_blocks), near_miss=sum_(b, logsumexp(block)))
def logsumexp_of_blocks(proof):
    "The log-sum-exp of all scores is that of the log-sum-exps of the blocks."
    proof.equals(log(sum_(x, exp(scores[x]))), "definition", of=logsumexp)
    proof.equals(log(sum_(x, exp(scores[join(row, column)]))), "ring")
    proof.equals(log(sum_(b, mass(b))), "finite_sum")
    proof.equals(log(sum_(b, exp(log(mass(b))))), "exp_log")
    proof.closes("definition", of=logsumexp)


@theorem(
    eq(weighted(scores, values), merged(of_blocks)),
    near_miss=[sum_(b, weighted(block, block_values)) / B, merged(0)],
)
def block_merge(proof):
    "The outputs of the blocks, weighted by the exponentials of their log-sum-exps, give the output over all keys."
    over_all = lambda k: sum_(x, exp(scores[k]) / sum_(x, exp(scores[k])) * values[k])
    inside = lambda b: sum_(u, exp(scores[join(b, u)]) / mass(b) * values[join(b, u)])
    proof.equals(over_all(x), "definition", of=(weighted, softmax))
    proof.equals(over_all(join(row, column)), "ring")
    proof.equals(sum_(b, mass(b) / sum_(b, mass(b)) * inside(b)), "finite_sum")
    total = log(sum_(b, exp(log(mass(b)))))
    proof.equals(sum_(b, exp(log(mass(b)) - total) * inside(b)), "exp_log")
    proof.closes("definition", of=(weighted, softmax, logsumexp))


keys, all_values = family("K", T * B, d_k), family("V", T * B, d_v)
in_block = function([u, a], keys[join(b, u), a]), function([u, c], all_values[join(b, u), c])
L_b = logsumexp(function(u, S(Q, in_block[0], query, u)))
L = logsumexp(function(b, L_b))
O_b = attention(Q, *in_block, query, c)


@theorem(
    eq(attention(Q, keys, all_values, query, c), sum_(b, exp(L_b - L) * O_b)),
    near_miss=[sum_(b, O_b) / B, sum_(b, exp(L_b) * O_b)],
)
def attention_in_blocks(proof):
    "Attention over blocks of keys, merged by their log-sum-exps, is attention over all keys."
    score = lambda x: S(Q, keys, query, x)
    whole, column = function(x, score(x)), function(x, all_values[x, c])
    part, column_part = function(u, score(join(b, u))), function(u, all_values[join(b, u), c])
    proof.equals(weighted(whole, column), "definition", of=(attention, P, weighted))
    total = logsumexp(function(b, logsumexp(part)))
    parts = sum_(b, exp(logsumexp(part) - total) * weighted(part, column_part))
    proof.equals(parts, block_merge, at={scores: whole, values: column})
    proof.closes("definition", of=(attention, P, S, weighted))


# --- two parts of any sizes -------------------------------------------------------------------------------------------

n_seen = size("n_seen")
k, k_all = index("k", n_seen), index("k", n_seen + T)
seen, tile, all_keys = (k, value_of(k)), (u, n_seen + value_of(u)), (k_all, value_of(k_all))  # indices and positions
stream, stream_values = family("z", ANY_REAL), family("v", ANY_REAL)  # by position
m_seen, m_tile, m = (variable(name) for name in ("m_seen", "m_tile", "m"))
unit, value_at = lambda p: 1, lambda p: stream_values[p]


def state(keys, reference, column):
    """The sum of the values of a column over some keys, weighted relative to a reference."""
    k, p = keys
    return sum_(k, exp(stream[p] - reference) * column(p))


def rescaled(column):
    """The states of both parts, relative to one reference."""
    return state(seen, m_seen, column) * exp(m_seen - m) + state(tile, m_tile, column) * exp(m_tile - m)


def over_both(column, term=lambda p, reference: exp(-m) * exp(stream[p])):
    """The sum of a term over both parts."""
    of = lambda k, p, reference: sum_(k, term(p, reference) * column(p))
    return of(*seen, m_seen) + of(*tile, m_tile)


@theorem(
    eq(
        rescaled(value_at) / rescaled(unit),
        weighted(function(k_all, stream[value_of(k_all)]), function(k_all, stream_values[value_of(k_all)])),
    ),
    near_miss=[
        state(seen, m, value_at) / state(seen, m, unit) + state(tile, m, value_at) / state(tile, m, unit),
        (state(seen, m_seen, value_at) + state(tile, m_tile, value_at))
        / (state(seen, m_seen, unit) + state(tile, m_tile, unit)),
    ],
)
def parts_merge(proof):
    "Two parts, each computed with its own reference and then rescaled to a common one, give the output over both."
    factors = lambda p, reference: exp(stream[p] - reference) * exp(reference - m)
    proof.equals(over_both(value_at, factors) / over_both(unit, factors), "finite_sum")
    proof.equals(over_both(value_at) / over_both(unit), "exp_log")
    proof.equals(state(all_keys, 0, value_at) / state(all_keys, 0, unit), "finite_sum")
    weight = exp(stream[value_of(k_all)]) / state(all_keys, 0, unit)
    proof.equals(sum_(k_all, weight * stream_values[value_of(k_all)]), "finite_sum")
    proof.closes("definition", of=(weighted, softmax))
