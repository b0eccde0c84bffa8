r"""Softmax over tiles of keys, one tile after the other, with a running reference: the forward pass of FlashAttention.

Definitions   updated(z, v, m, m_new, s)       s e^(m - m_new) + sum_u e^(z_u - m_new) v_u, after one tile more
Statements    reference_is_free                sum_i e^(z_i - m) v_i / sum_i e^(z_i - m) = sum_i softmax(z)_i v_i
              online_softmax_base              no tile: o_0 = 0
              online_softmax_step              o_B = seen_B gives o_(B + 1) = seen_(B + 1)
              online_softmax_recurrence        o_B = seen_B = sum_(b < B) sum_u e^(z_bu - m_B) v_bu
              normaliser_is_positive           0 < l_B
              online_softmax_equals_softmax    o_B = l_B sum_bu softmax(z)_bu v_bu, and so o_B / l_B is the output
              flash_attention_equals_attention   o_B = l_B attention(Q, K, V)_ic, with keys and values in B tiles
Scope         Any number B >= 1 of tiles (0 allowed up to the recurrence) of any size T >= 1; a state follows
              s_(k + 1) = updated(z_k, v_k, m_k, m_(k + 1), s_k) from s_0 = 0: o for the values v, l for the values 1.
              The references m_k are any numbers: the running maximum is one choice, which keeps e^(z - m) from
              overflowing.
Reference     Milakov & Gimelshein 2018 (arXiv:1805.02867), algorithm 3; Dao et al. 2022 (arXiv:2205.14135),
              section 3.1.
"""

from ..kernel import Specialised
from ..notation import (
    ANY_REAL,
    Definition,
    eq,
    exp,
    family,
    forall,
    function,
    i,
    index,
    lt,
    n,
    size,
    split,
    sqrt,
    sum_,
    value_of,
    variable,
    z,
)
from ..registry import theorem
from .attention import P, Q, S, a, attention, c, d_k, d_v
from .attention import i as query
from .softmax import softmax

T, B0, B = size("T"), size("B", minimum=0), size("B")
u = index("u", T)
k, x = variable("k", "integer"), variable("x")
old, new, state = variable("m"), variable("m_new"), variable("s")
tile, tile_values, v = family("z", T), family("v", T), family("v", n)
updated = Definition(
    "updated",
    [tile, tile_values, old, new, state],
    state * exp(old - new) + sum_(u, exp(tile[u] - new) * tile_values[u]),
    says="the state after one tile more, relative to a new reference",
)


@theorem(
    eq(sum_(i, exp(z[i] - old) * v[i]) / sum_(i, exp(z[i] - old)), sum_(i, softmax(z, i) * v[i])),
    near_miss=sum_(i, exp(z[i] - old) * v[i]),
)
def reference_is_free(proof):
    "Whatever reference is subtracted from the scores, the quotient of the two sums is the softmax-weighted value."
    rescaled = lambda term: sum_(i, exp(-old) * term)
    proof.equals(rescaled(exp(z[i]) * v[i]) / rescaled(exp(z[i])), "exp_log")
    proof.equals(sum_(i, exp(z[i]) / sum_(i, exp(z[i])) * v[i]), "finite_sum")
    proof.closes("definition", of=softmax)


# --- the state after any number of tiles ------------------------------------------------------------------------------

scores, values = family("z", ANY_REAL, T), family("v", ANY_REAL, T)
m, l, o = (family(name, ANY_REAL) for name in "mlo")
one = function([x, u], 1)
score, value, unit = (lambda k, u: scores[k, u]), (lambda k, u: values[k, u]), (lambda k, u: 1)


def recurrence(s, score, column):
    """The state starts at 0 and is updated tile by tile, for one column of values."""
    after = updated(function(u, score(k, u)), function(u, column(k, u)), m[k], m[k + 1], s[k])
    return eq(s[0], 0), forall(k, eq(s[k + 1], after))


def over_seen(count, term):
    """The sum of a term over all keys of the first tiles."""
    b = index("b", count)
    return sum_(b, sum_(u, term(value_of(b), u)))


def seen(count, reference):
    """The weighted values of the first tiles, relative to a reference."""
    return over_seen(count, lambda b, u: exp(scores[b, u] - reference) * values[b, u])


mixes, normalises = recurrence(o, score, value), recurrence(l, score, unit)
g, y = family("g", T), family("y", T)
steady = {
    scores: function([x, u], g[u]),
    values: function([x, u], y[u]),
    l: function(x, x * exp(-m[x]) * sum_(u, exp(g[u]))),
    o: function(x, x * exp(-m[x]) * sum_(u, exp(g[u]) * y[u])),
}


@theorem(eq(o[0], seen(0, m[0])), given=[eq(o[0], 0)], near_miss=1, witness=steady)
def online_softmax_base(proof):
    "Before the first tile the state is 0."
    proof.equals(0, "given")
    proof.closes("finite_sum")


@theorem(
    eq(o[B0 + 1], seen(B0 + 1, m[B0 + 1])),
    given=[mixes[1], eq(o[B0], seen(B0, m[B0]))],
    near_miss=[seen(B0, m[B0 + 1]), seen(B0 + 1, m[B0])],
    witness=steady,
)
def online_softmax_step(proof):
    "The state of the keys seen so far, updated with one tile more, is the state of both together."
    tile, column = function(u, scores[B0, u]), function(u, values[B0, u])
    added = sum_(u, exp(scores[B0, u] - m[B0 + 1]) * values[B0, u])
    factor = exp(m[B0] - m[B0 + 1])
    rescaled = over_seen(B0, lambda b, u: exp(scores[b, u] - m[B0]) * factor * values[b, u])
    proof.equals(updated(tile, column, m[B0], m[B0 + 1], o[B0]), "given", using=Specialised(mixes[1], (B0,)))
    proof.equals(o[B0] * factor + added, "definition", of=updated)
    proof.equals(seen(B0, m[B0]) * factor + added, "congruence", then="given")
    proof.equals(rescaled + added, "finite_sum")
    proof.equals(seen(B0, m[B0 + 1]) + added, "exp_log")
    proof.closes("finite_sum")


@theorem(
    eq(o[B0], seen(B0, m[B0])),
    given=mixes,
    near_miss=[seen(B0, 0), seen(B0 + 1, m[B0])],
    witness=steady,
)
def online_softmax_recurrence(proof):
    "After any number of tiles the state is the sum over all keys seen, relative to the last reference."
    proof.closes("induction", on=B0, base=(online_softmax_base, {}), step=(online_softmax_step, {}))


normaliser = {B0: B, o: l, values: one}
mass = over_seen(B, lambda b, u: exp(scores[b, u]))
mixed = over_seen(B, lambda b, u: exp(scores[b, u]) * values[b, u])


@theorem(lt(0, l[B]), given=normalises, near_miss=lt(exp(-m[B]), l[B]), witness=steady)
def normaliser_is_positive(proof):
    "After the first tile the normaliser is positive, so that one may divide by it."
    proof.less_than(over_seen(B, lambda b, u: exp(scores[b, u] - m[B])), "order")
    proof.closes(online_softmax_recurrence, at=normaliser)


p = index("p", T * B)
q, r = split(p, T)  # key r of tile q
all_scores = function(p, scores[value_of(q), r])
output = sum_(p, softmax(all_scores, p) * values[value_of(q), r])


@theorem(
    eq(o[B], l[B] * output), given=[*normalises, *mixes], near_miss=[output, exp(m[B]) * l[B] * output], witness=steady
)
def online_softmax_equals_softmax(proof):
    "After the last tile the state is the normaliser times the softmax-weighted value of all keys."
    proof.equals(seen(B, m[B]), online_softmax_recurrence, at={B0: B})
    proof.equals(over_seen(B, lambda b, u: exp(-m[B]) * exp(scores[b, u]) * values[b, u]), "exp_log")
    proof.equals(over_seen(B, lambda b, u: exp(-m[B]) * exp(scores[b, u])) * (mixed / mass), "finite_sum")
    proof.equals(over_seen(B, lambda b, u: exp(scores[b, u] - m[B])) * (mixed / mass), "exp_log")
    proof.equals(l[B] * (mixed / mass), online_softmax_recurrence, at=normaliser)
    weight = exp(scores[value_of(q), r]) / sum_(p, exp(scores[value_of(q), r]))
    proof.equals(l[B] * sum_(p, weight * values[value_of(q), r]), "finite_sum")
    proof.closes("definition", of=softmax)


# --- attention --------------------------------------------------------------------------------------------------------

keys, columns = family("K", ANY_REAL, T, d_k), family("V", ANY_REAL, T, d_v)
all_keys = function([p, a], keys[value_of(q), r, a])
all_values = function([p, c], columns[value_of(q), r, c])
attended = attention(Q, all_keys, all_values, query, c)
h, w = family("k", T, d_k), family("w", T, d_v)
score_of_h = sum_(a, Q[query, a] * h[u, a]) / sqrt(d_k)
steady_keys = {
    keys: function([x, u, a], h[u, a]),
    columns: function([x, u, c], w[u, c]),
    l: function(x, x * exp(-m[x]) * sum_(u, exp(score_of_h))),
    o: function(x, x * exp(-m[x]) * sum_(u, exp(score_of_h) * w[u, c])),
}
score_of_key = lambda k, u: sum_(a, Q[query, a] * keys[k, u, a]) / sqrt(d_k)
value_of_key = lambda k, u: columns[k, u, c]
states = [*recurrence(l, score_of_key, unit), *recurrence(o, score_of_key, value_of_key)]


@theorem(
    eq(o[B], l[B] * attended), given=states, near_miss=[attended, exp(m[B]) * l[B] * attended], witness=steady_keys
)
def flash_attention_equals_attention(proof):
    "Attention computed tile by tile is attention."
    at = {scores: function([x, u], score_of_key(x, u)), values: function([x, u], value_of_key(x, u))}
    weight = softmax(function(p, score_of_key(value_of(q), r)), p)
    proof.equals(l[B] * sum_(p, weight * columns[value_of(q), r, c]), online_softmax_equals_softmax, at=at)
    proof.closes("definition", of=(attention, P, S))
