r"""The decoder: the output at a token does not depend on the tokens after it, however many layers there are.

Definitions   decoder_layer(X, Z, .., i, b)    masked self-attention, attention to Z, the feed-forward layer, in turn
Statements    decoder_layer_is_causal          decoder_layer(X)_i = decoder_layer(X')_i
              decoder_stack_base, decoder_stack_step   the two halves of the next one
              decoder_stack_is_causal          two stacks of L layers whose inputs agree up to r have outputs that do
Scope         X and X' agree up to token r, i <= r. Any number L >= 0 of layers with weights of their own, any number n of
              tokens, n_k of encoder outputs, h, d, d_k, d_v, d_ff >= 1 and eps > 0; post-norm, no dropout. A stack is a
              sequence x(0), x(1), .. with x(s + 1) = decoder_layer(x(s), Z) for every whole s >= 0.
Reference     Vaswani et al. 2017, section 3.2.3: the output at a position depends on the known outputs before it only.
"""

from ..kernel import Specialised
from ..notation import ANY_REAL, Definition, eq, family, forall, function, le, n, number, t, value_of, when
from ..registry import theorem
from .decoder_sublayers import (
    Z,
    agree,
    causal_sublayer_ignores_future,
    cross,
    cross_attended,
    cross_norm,
    cross_sublayer_acts_per_token,
    feed_forward_sublayer_acts_per_token,
    l,
    last_norm,
    new_X,
    own,
    own_norm,
    r,
    same,
    same_past,
    self_attended_causally,
    too_late,
    up_to_r,
)
from .encoder import L, X, at_layer, b, eps, fed_forward, i, of_feed_forward, s, stacked
from .multi_head import d

parameters = [*own, *own_norm, *cross, *cross_norm, *of_feed_forward, *last_norm]


def after_self(X):
    """The tokens after masked self-attention."""
    return function([i, b], self_attended_causally(X, *own, *own_norm, eps, i, b))


def after_cross(X):
    """The tokens after both kinds of attention."""
    return function([i, b], cross_attended(after_self(X), Z, *cross, *cross_norm, eps, i, b))


decoder_layer = Definition(
    "decoder_layer",
    [X, Z, *parameters, eps, i, b],
    fed_forward(after_cross(X), *of_feed_forward, *last_norm, eps, i, b),
    says="one layer of the decoder",
)

of_layer = lambda X: decoder_layer(X, Z, *parameters, eps, i, b)


@theorem(same(of_layer), given=[agree, up_to_r], near_miss=too_late(of_layer), witness=same_past)
def decoder_layer_is_causal(proof):
    "A layer of the decoder at a token up to r does not depend on the tokens after r."
    last = lambda X: fed_forward(after_cross(X), *of_feed_forward, *last_norm, eps, i, b)
    facts = [
        (causal_sublayer_ignores_future, {i: i, r: r}),
        (cross_sublayer_acts_per_token, {X: after_self(X), new_X: after_self(new_X), i: i}),
    ]
    at = {X: after_cross(X), new_X: after_cross(new_X), i: i}
    proof.equals(last(X), "definition", of=decoder_layer)
    proof.equals(last(new_X), feed_forward_sublayer_acts_per_token, at=at, using=facts)
    proof.closes("definition", of=decoder_layer)


# --- a stack ----------------------------------------------------------------------------------------------------------

X_L, Y_L = family("X", n, d, ANY_REAL), family("Y", n, d, ANY_REAL)
of_layers = stacked(parameters)


def layer_of(tokens, layer):
    """What layer number `layer` makes of the tokens that it gets."""
    return decoder_layer(at_layer(tokens, layer), Z, *[at_layer(f, layer) for f in of_layers], eps, i, b)


def runs(tokens):
    """The tokens go through the layers one by one."""
    return forall(s, forall([i, b], eq(tokens[i, b, s + 1], layer_of(tokens, s))), where=[le(0, s)])


past = le(value_of(l), value_of(r))
same_inputs = forall([l, b], eq(X_L[l, b, 0], Y_L[l, b, 0]), where=[past])
x_0, y_0, later = family("x_0", n, d), family("y_0", n, d), family("c", d, ANY_REAL)
forgetful = {  # with gain 0 a layer gives its last bias, whatever the tokens
    X_L: function([l, b, t], when(eq(t, 0), x_0[l, b], later[b, t])),
    Y_L: function([l, b, t], when(eq(t, 0), when(past, x_0[l, b], y_0[l, b]), later[b, t])),
    of_layers[-2]: function([b, t], 0),
    of_layers[-1]: function([b, t], later[b, t + 1]),
}
stacks = [runs(X_L), runs(Y_L), same_inputs, up_to_r]
same_at_L = eq(X_L[i, b, L], Y_L[i, b, L])


@theorem(eq(X_L[i, b, 0], Y_L[i, b, 0]), given=stacks, near_miss=Y_L[i, b, 1], witness=forgetful)
def decoder_stack_base(proof):
    "Without a layer the outputs are the inputs."
    proof.closes("given")


@theorem(
    eq(X_L[i, b, L + 1], Y_L[i, b, L + 1]),
    given=[*stacks, forall([i, b], same_at_L, where=[up_to_r])],
    near_miss=Y_L[i, b, L],
    witness=forgetful,
)
def decoder_stack_step(proof):
    "One more layer keeps the outputs the same up to r."
    at = {X: at_layer(X_L, L), new_X: at_layer(Y_L, L), r: r, i: i}
    at |= {f: at_layer(g, L) for f, g in zip(parameters, of_layers, strict=True)}
    proof.equals(layer_of(X_L, L), "given", using=Specialised(runs(X_L), (L,)))
    proof.equals(layer_of(Y_L, L), decoder_layer_is_causal, at=at)
    proof.closes("given", using=Specialised(runs(Y_L), (L,)))


@theorem(same_at_L, given=stacks, near_miss=(Y_L[i, b, 1], {L: number(0)}), witness=forgetful)
def decoder_stack_is_causal(proof):
    "However many layers there are, the output at a token does not depend on the tokens after it."
    proof.closes("induction", on=L, base=(decoder_stack_base, {r: r}), step=(decoder_stack_step, {r: r}), over=(i, b))
