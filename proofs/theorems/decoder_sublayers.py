r"""The sublayers of the decoder: masked self-attention looks back only, the other two keep to their own token.

Definitions   causal_heads(X, .., i, b)        sum over heads of causal_attention of the projections of X, times W_O
              self_attended_causally(X, .., i, b)   add_and_norm of X and causal_heads(X)
              cross_attended(X, Z, .., i, b)   add_and_norm of X and multi_head(X, Z), where Z is the encoder's output
Statements    projection_acts_per_token        projected(X)_i = projected(X')_i where X_i = X'_i
              projections_ignore_future        the same for i <= r, where X and X' agree up to r
              causal_heads_ignore_future       causal_heads(X)_i = causal_heads(X')_i, likewise
              causal_sublayer_ignores_future   self_attended_causally(X)_i = self_attended_causally(X')_i, likewise
              cross_head_acts_per_token        one head of multi_head(X, Z) at i depends on X_i alone
              cross_heads_act_per_token        so does multi_head(X, Z)
              cross_sublayer_acts_per_token    and cross_attended(X, Z)
              feed_forward_sublayer_acts_per_token   and fed_forward(X)
Scope         Any number n of tokens, n_k of encoder outputs, h, d, d_k, d_v, d_ff >= 1 and eps > 0; post-norm, no dropout.
              X and X' agree up to r: X_l = X'_l for every l <= r.
Reference     Vaswani et al. 2017, sections 3.1 and 3.2.3.
"""

from ..notation import Definition, eq, family, forall, function, index, join, le, n, sum_, value_of, when
from ..registry import Statement, theorem
from . import causal_attention as causal
from . import feed_forward as feed_forward_theorems
from . import multi_head as heads
from .attention import K, Q, V, a, attention, c, d_k, j, n_k, n_q, new_Q, own_query_suffices
from .attention import i as i_q
from .causal_attention import causal_attention
from .encoder import (
    X,
    add_and_norm,
    attention_slots,
    b,
    eps,
    fed_forward,
    i,
    norm_slots,
    of_feed_forward,
    token,
    weights,
)
from .feed_forward import feed_forward, position_wise
from .multi_head import (
    W_K,
    W_O,
    W_Q,
    W_V,
    Y,
    concat_then_project_is_sum_over_heads,
    d,
    g,
    h,
    head,
    multi_head,
    projected,
)
from .multi_head import r as feature

l, r = index("l", n), index("r", n)
own, own_norm = weights(attention_slots), weights(norm_slots, "_1")
cross, cross_norm = weights(attention_slots, "_Z"), weights(norm_slots, "_2")
last_norm = weights(norm_slots, "_3")
Z, new_X = family("Z", n_k, d), family("X_new", n, d)


def projections(X, g=g):
    """The queries, keys and values of head g."""
    return [function([l, x], projected(X, W, g, l, x)) for W, x in zip(own[:3], (a, a, c), strict=True)]


causal_heads = Definition(
    "causal_heads",
    [X, *own, i, b],
    sum_(g, sum_(c, causal_attention(*projections(X), i, c) * own[3][join(g, c), b])),
    says="masked multi-head self-attention",
)
self_attended_causally = Definition(
    "self_attended_causally",
    [X, *own, *own_norm, eps, i, b],
    add_and_norm(token, function(b, causal_heads(X, *own, i, b)), *own_norm, eps, b),
    says="the masked self-attention sublayer",
)
cross_attended = Definition(
    "cross_attended",
    [X, Z, *cross, *cross_norm, eps, i, b],
    add_and_norm(token, function(b, multi_head(X, Z, *cross, i, b)), *cross_norm, eps, b),
    says="the sublayer that attends to the encoder's output",
)


agree = forall([l, b], eq(X[l, b], new_X[l, b]), where=[le(value_of(l), value_of(r))])
up_to_r, after_r = le(value_of(i), value_of(r)), le(value_of(r), value_of(i))
same_past = {new_X: function([l, b], when(le(value_of(l), value_of(r)), X[l, b], new_X[l, b]))}


def same(layer):
    """A layer gives the same at token i for X and for X_new."""
    return eq(layer(X), layer(new_X))


def too_late(layer):
    """The same claim for a token i from r on, which is false."""
    return Statement(same(layer), (agree, after_r))


any_W = family("W", h, d, d_k)
of_projection = lambda X: projected(X, any_W, g, i, a)


def acts_per_token(layer):
    """What is given, and the near miss, for the claim that a layer takes no other token's features."""
    same_row = lambda row: forall(b, eq(X[row, b], new_X[row, b]))
    with_row = lambda row: {new_X: function([l, b], when(eq(l, row), X[row, b], new_X[l, b]))}
    of_another = Statement(same(layer), (same_row(r),)), with_row(r)
    return {"given": [same_row(i)], "near_miss": of_another, "witness": with_row(i)}


@theorem(same(of_projection), **acts_per_token(of_projection))
def projection_acts_per_token(proof):
    "A query, key or value depends on its own token alone."
    raw = lambda X: sum_(feature, X[i, feature] * any_W[g, feature, a])
    proof.equals(raw(X), "definition", of=projected)
    proof.equals(raw(new_X), "congruence", then="given")
    proof.closes("definition", of=projected)


@theorem(same(of_projection), given=[agree, up_to_r], near_miss=too_late(of_projection), witness=same_past)
def projections_ignore_future(proof):
    "Tokens that agree up to r have the same queries, keys and values there."
    proof.closes(projection_acts_per_token)


of_heads = lambda X: causal_heads(X, *own, i, b)


@theorem(same(of_heads), given=[agree, up_to_r], near_miss=too_late(of_heads), witness=same_past)
def causal_heads_ignore_future(proof):
    "Masked multi-head attention at a token up to r does not depend on the tokens after r."
    mixed = lambda X: sum_(g, sum_(c, causal_attention(*projections(X), i, c) * own[3][join(g, c), b]))
    names = (causal.Q, causal.K, causal.V, causal.new_Q, causal.new_K, causal.new_V)
    at = dict(zip(names, (*projections(X), *projections(new_X)), strict=True)) | {i: i, r: r}
    facts = [(projections_ignore_future, {r: r, d_k: W.slots[-1], any_W: W}) for W in own[:3]]
    proof.equals(mixed(X), "definition", of=causal_heads)
    proof.equals(mixed(new_X), "congruence", then=causal.ignores_future, at=at, using=facts)
    proof.closes("definition", of=causal_heads)


def in_sublayer(attended, norm):
    """The sublayer around what is attended to."""
    return lambda X: add_and_norm(function(b, X[i, b]), function(b, attended(X)), *norm, eps, b)


of_self = lambda X: self_attended_causally(X, *own, *own_norm, eps, i, b)


@theorem(same(of_self), given=[agree, up_to_r], near_miss=too_late(of_self), witness=same_past)
def causal_sublayer_ignores_future(proof):
    "Nor does the masked self-attention sublayer."
    around = in_sublayer(of_heads, own_norm)
    proof.equals(around(X), "definition", of=self_attended_causally)
    proof.equals(around(new_X), "congruence", then="given", using=[(causal_heads_ignore_future, {i: i, r: r})])
    proof.closes("definition", of=self_attended_causally)


of_cross_head = lambda X: head(X, Z, *cross[:3], g, i, c)


@theorem(same(of_cross_head), **acts_per_token(of_cross_head))
def cross_head_acts_per_token(proof):
    "One head of attention to the encoder's output takes no other query."
    queries = lambda X: function([l, a], projected(X, cross[0], g, l, a))
    keys, values = (function([j, x], projected(Z, W, g, j, x)) for W, x in zip(cross[1:3], (a, c), strict=True))
    facts = [(projection_acts_per_token, {any_W: cross[0], i: i})]
    at = {n_q: n, Q: queries(X), new_Q: queries(new_X), K: keys, V: values, i_q: i}
    proof.equals(attention(queries(X), keys, values, i, c), "definition", of=head)
    proof.equals(attention(queries(new_X), keys, values, i, c), own_query_suffices, at=at, using=facts)
    proof.closes("definition", of=head)


of_cross_heads = lambda X: multi_head(X, Z, *cross, i, b)


@theorem(same(of_cross_heads), **acts_per_token(of_cross_heads))
def cross_heads_act_per_token(proof):
    "Attention to the encoder's output takes no other query."
    of_head = lambda X: head(X, Z, *cross[:3], g, i, c)
    mixed = lambda X: sum_(g, sum_(c, of_head(X) * cross[3][join(g, c), b]))
    at = {n_q: n, **dict(zip((W_Q, W_K, W_V, W_O), cross, strict=True)), Y: Z}
    proof.equals(mixed(X), concat_then_project_is_sum_over_heads, at=at)
    proof.equals(mixed(new_X), "congruence", then="given", using=(cross_head_acts_per_token, {i: i}))
    proof.closes(concat_then_project_is_sum_over_heads, at={**at, heads.X: new_X})


of_cross = lambda X: cross_attended(X, Z, *cross, *cross_norm, eps, i, b)


@theorem(same(of_cross), **acts_per_token(of_cross))
def cross_sublayer_acts_per_token(proof):
    "Nor does the sublayer around it."
    around = in_sublayer(of_cross_heads, cross_norm)
    proof.equals(around(X), "definition", of=cross_attended)
    proof.equals(around(new_X), "congruence", then="given", using=(cross_heads_act_per_token, {i: i}))
    proof.closes("definition", of=cross_attended)


of_fed = lambda X: feed_forward(X, *of_feed_forward, i, b)
of_last = lambda X: fed_forward(X, *of_feed_forward, *last_norm, eps, i, b)


@theorem(same(of_last), **acts_per_token(of_last))
def feed_forward_sublayer_acts_per_token(proof):
    "Nor does the feed-forward sublayer."
    around = in_sublayer(of_fed, last_norm)
    proof.equals(around(X), "definition", of=fed_forward)
    proof.equals(
        around(new_X), "congruence", then="given", using=(position_wise, {feed_forward_theorems.Y: new_X, i: i})
    )
    proof.closes("definition", of=fed_forward)
