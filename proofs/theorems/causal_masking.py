r"""Causal masks: the output at i depends on the keys and values up to i alone.

Definitions   masked_attention, of masked_attention.py
Statements    only_the_past_is_weighted        M_ij x_j = M_ij y_j, where x_l = y_l for all l <= i
              past_terms_agree                 e^S_ij x_j = e^S'_ij y_j for j <= i, from inputs that agree up to i
              causal_sums_ignore_the_future    sum_l M_il e^S_il x_l = sum_l M_il e^S'_il y_l, from such inputs
              causal_output_ignores_future     O_ic = O'_ic, where Q_i = Q'_i and K_l = K'_l, V_l = V'_l for all l <= i
              causal_gradient_ignores_future   d O_ic / dt = 0 along K_ra + t x_a, V_rc + t y_c, for r > i and any x, y
              first_output_is_first_value      O_0c = V_0c
Scope         Any n_q, n_k, d_k, d_v >= 1. A causal mask is one of non-negative weights with M_il = 0 for l > i; row i
              keeps a key: sum_l M_il e^S_il > 0. Of the first row this is written as: it keeps no key but the first.
Reference     Vaswani et al. 2017, section 3.2.3: leftward information flow is prevented in the decoder.
"""

from ..kernel import Statement
from ..notation import (
    delta,
    derivative,
    eq,
    exp,
    family,
    forall,
    function,
    le,
    literal,
    lt,
    n,
    ne,
    sqrt,
    sum_,
    t,
    value_of,
    when,
    z,
)
from ..registry import theorem
from .attention import K, Q, S, V, a, attention, c, d_k, d_v, i, j, l, n_k, n_q, row
from .masked_attention import (
    M,
    O,
    bottom,
    gradient_at_one_key,
    mask_row,
    masked_attention,
    masked_output,
    mass,
    moved_K,
    moved_V,
    push,
    r,
    some_kept,
    top,
    under_mask,
    value_step,
    velocity,
    weight,
)
from .masking import i as key
from .masking import m, zero_weight_on_masked

x, y = family("x", n_k), family("y", n_k)
new_Q, new_K, new_V = family("Q_new", n_q, d_k), family("K_new", n_k, d_k), family("V_new", n_k, d_v)
is_past = lambda k: le(value_of(k), value_of(i))
causal = forall(l, eq(M[i, l], 0), where=[lt(value_of(i), value_of(l))])
same_values = forall(l, eq(x[l], y[l]), where=[is_past(l)])
same_query = forall(a, eq(Q[i, a], new_Q[i, a]))
same_keys = forall([l, a], eq(K[l, a], new_K[l, a]), where=[is_past(l)])
same_past = {
    M: function([i, l], when(is_past(l), M[i, l] + 1, 0)),
    new_Q: function([i, a], Q[i, a]),
    new_K: function([l, a], when(is_past(l), K[l, a], new_K[l, a])),
    new_V: function([l, c], when(is_past(l), V[l, c], new_V[l, c])),
    y: function(l, when(is_past(l), x[l], y[l])),
}  # any keys and values, changed after i


@theorem(eq(M[i, j] * x[j], M[i, j] * y[j]), given=[causal, same_values], near_miss=eq(x[j], y[j]), witness=same_past)
def only_the_past_is_weighted(proof):
    "Under a causal mask it makes no difference what stands at later keys."
    by_time = lambda past, future: when(is_past(j), M[i, j] * past, future)
    proof.equals(by_time(x[j], M[i, j] * x[j]), "cases", on=is_past(j), then="order")
    proof.equals(by_time(y[j], 0 * x[j]), "congruence", then="given")
    proof.equals(by_time(y[j], 0 * y[j]), "ring")
    proof.equals(by_time(y[j], M[i, j] * y[j]), "congruence", then="given")
    proof.closes("cases", on=is_past(j), then="order")


agree_at_j = eq(exp(S(Q, K, i, j)) * x[j], exp(S(new_Q, new_K, i, j)) * y[j])


@theorem(
    agree_at_j,
    given=[same_query, same_keys, same_values, is_past(j)],
    near_miss=Statement(agree_at_j, (same_query, same_keys, same_values)),
    witness=same_past,
)
def past_terms_agree(proof):
    "Inputs that agree up to i have the same terms there."
    raw = lambda queries, keys: exp(sum_(a, queries[i, a] * keys[j, a]) / sqrt(d_k))
    proof.equals(raw(Q, K) * x[j], "definition", of=S)
    proof.equals(raw(new_Q, new_K) * y[j], "congruence", then="given")
    proof.closes("definition", of=S)


all_keys = lambda queries, keys, values: sum_(l, exp(S(queries, keys, i, l)) * values[l])


@theorem(
    eq(under_mask(Q, K, M, lambda k: x[k]), under_mask(new_Q, new_K, M, lambda k: y[k])),
    given=[causal, same_query, same_keys, same_values],
    near_miss=eq(all_keys(Q, K, x), all_keys(new_Q, new_K, y)),
    witness=same_past,
)
def causal_sums_ignore_the_future(proof):
    "Under a causal mask a sum over the keys does not depend on those after i."
    terms = {x: function(l, exp(S(Q, K, i, l)) * x[l]), y: function(l, exp(S(new_Q, new_K, i, l)) * y[l])}
    at = {i: i, j: l, **terms}
    facts = (past_terms_agree, {i: i})
    proof.closes("congruence", then=only_the_past_is_weighted, inner={"at": at}, using=facts)


@theorem(
    eq(O, masked_attention(new_Q, new_K, new_V, M, i, c)),
    given=[
        causal,
        same_query,
        same_keys,
        forall(l, eq(V[l, c], new_V[l, c]), where=[is_past(l)]),
        some_kept,
        lt(0, mass(new_Q, new_K, M)),
    ],
    near_miss=eq(attention(Q, K, V, i, c), attention(new_Q, new_K, new_V, i, c)),
    witness=same_past,
)
def causal_output_ignores_future(proof):
    "Under a causal mask the output at i does not depend on the keys and values after i."
    new_top = under_mask(new_Q, new_K, M, lambda k: new_V[k, c])
    values = {i: i, x: function(l, V[l, c]), y: function(l, new_V[l, c])}
    ones = {"at": {i: i, x: function(l, 1), y: function(l, 1)}}
    proof.equals(top / bottom, masked_output)
    proof.equals(new_top / bottom, causal_sums_ignore_the_future, at=values)
    proof.equals(new_top / mass(new_Q, new_K, M), "congruence", then=causal_sums_ignore_the_future, inner=ones)
    proof.closes(masked_output, at={Q: new_Q, K: new_K, V: new_V})


@theorem(
    eq(velocity, 0),
    given=[causal, lt(value_of(i), value_of(r)), some_kept],
    witness=same_past,
    near_miss=[
        Statement(eq(velocity, 0), (causal, le(value_of(r), value_of(i)), some_kept)),
        eq(derivative(t, attention(Q, moved_K, moved_V, i, c), 0), 0),
    ],
)
def causal_gradient_ignores_future(proof):
    "Under a causal mask the output at i does not move with a later key and value, in whatever direction they move."
    of_row = {n: n_k, z: row, m: mask_row, key: r}
    proof.equals(weight * (push * (V[r, c] - O) + value_step[c]), gradient_at_one_key)
    proof.equals(0 * (push * (V[r, c] - O) + value_step[c]), zero_weight_on_masked, at=of_row)
    proof.closes("ring")


first_query, first_key = literal(0, n_q), literal(0, n_k)
mass_of_first = sum_(l, M[first_query, l] * exp(S(Q, K, first_query, l)))


@theorem(
    eq(masked_attention(Q, K, V, M, first_query, c), V[first_key, c]),
    given=[
        forall(l, eq(M[first_query, l], 0), where=[ne(l, first_key)]),
        lt(0, mass_of_first),
    ],
    near_miss=eq(attention(Q, K, V, first_query, c), V[first_key, c]),
    witness={M: function([i, l], M[i, l] * when(eq(l, first_key), 1, 0))},
)
def first_output_is_first_value(proof):
    "Under a causal mask the first output is the first value."
    mask, score = M[first_query, l], S(Q, K, first_query, l)
    at_first = mask - (1 - delta(l, first_key)) * mask
    rest = lambda mask: sum_(l, mask * exp(score) * (V[l, c] - V[first_key, c])) / mass_of_first
    by_cases = {"on": (first_key, l), "then": "given"}
    proof.equals(sum_(l, mask * exp(score) * V[l, c]) / mass_of_first, masked_output, at={i: first_query})
    proof.equals(V[first_key, c] + rest(mask), "finite_sum")
    proof.equals(V[first_key, c] + rest(at_first), "congruence", then="cases", inner=by_cases)
    proof.closes("finite_sum")
