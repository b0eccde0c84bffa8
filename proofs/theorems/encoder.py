r"""The encoder: without a mask and without positions it cannot tell the order of its tokens.

Definitions   add_and_norm(x, y, gain, bias, eps, b)   layer_norm(x + y)_b, for one token
              self_attended(X, .., i, b)       add_and_norm of X and multi_head(X, X)
              fed_forward(X, .., i, b)         add_and_norm of X and feed_forward(X)
              encoder_layer(X, .., i, b)       self-attention, then the feed-forward layer, each with its add_and_norm
Statements    self_attended_is_equivariant     self_attended(X o pi)_i = self_attended(X)_pi(i)
              fed_forward_is_equivariant       fed_forward(X o pi)_i = fed_forward(X)_pi(i)
              encoder_layer_is_equivariant     encoder_layer(X o pi)_i = encoder_layer(X)_pi(i)
              encoder_stack_base, encoder_stack_step   the two halves of the next one
              encoder_stack_is_equivariant     two stacks of L layers whose inputs are permuted have permuted outputs
Scope         Any number L >= 0 of layers with weights of their own, any n, h, d, d_k, d_v, d_ff >= 1 and eps > 0; post-norm,
              no dropout. A stack is a sequence x(0), x(1), .. with x(s + 1) = encoder_layer(x(s)) for every whole s >= 0.
Reference     Vaswani et al. 2017, section 3.1 and figure 1.
"""

from ..kernel import Specialised
from ..notation import (
    ANY_REAL,
    Definition,
    eq,
    family,
    forall,
    function,
    index,
    le,
    n,
    number,
    permutation,
    size,
    t,
    variable,
    when,
)
from ..registry import theorem
from . import multi_head as heads
from .attention import d_k, d_v, n_q
from .feed_forward import d_ff, feed_forward
from .feed_forward import permutation_equivariance as feed_forward_equivariance
from .layer_norm import layer_norm
from .multi_head import d, h, multi_head

i, b = index("i", n), index("b", d)
X = family("X", n, d)
x, y, gain, bias = (family(name, d) for name in ("x", "y", "gain", "bias"))
eps = variable("epsilon", "positive")
pi = permutation("pi", n)

attention_slots = {"W_Q": (h, d, d_k), "W_K": (h, d, d_k), "W_V": (h, d, d_v), "W_O": (d_v * h, d)}
feed_forward_slots = {"W_1": (d, d_ff), "b_1": (d_ff,), "W_2": (d_ff, d), "b_2": (d,)}
norm_slots = {"gain": (d,), "bias": (d,)}


def weights(slots, label=""):
    """Weight families of these names and sizes."""
    return [family(name + label, *sizes) for name, sizes in slots.items()]


of_attention, of_feed_forward = weights(attention_slots), weights(feed_forward_slots)
norm_1, norm_2 = weights(norm_slots, "_1"), weights(norm_slots, "_2")
parameters = [*of_attention, *norm_1, *of_feed_forward, *norm_2]

add_and_norm = Definition(
    "add_and_norm",
    [x, y, gain, bias, eps, b],
    layer_norm(function(b, x[b] + y[b]), gain, bias, eps, b),
    says="a residual connection and layer normalisation, for one token",
)
token = function(b, X[i, b])
self_attended = Definition(
    "self_attended",
    [X, *of_attention, *norm_1, eps, i, b],
    add_and_norm(token, function(b, multi_head(X, X, *of_attention, i, b)), *norm_1, eps, b),
    says="the self-attention sublayer",
)
fed_forward = Definition(
    "fed_forward",
    [X, *of_feed_forward, *norm_2, eps, i, b],
    add_and_norm(token, function(b, feed_forward(X, *of_feed_forward, i, b)), *norm_2, eps, b),
    says="the feed-forward sublayer",
)


def in_turn(X):
    """The tokens after self-attention."""
    return function([i, b], self_attended(X, *of_attention, *norm_1, eps, i, b))


encoder_layer = Definition(
    "encoder_layer",
    [X, *parameters, eps, i, b],
    fed_forward(in_turn(X), *of_feed_forward, *norm_2, eps, i, b),
    says="one layer of the encoder",
)


def permuted(tokens):
    """The tokens in another order."""
    return function([i, b], tokens[pi(i), b])


def at_token(layer, *weights):
    """A layer at the permuted tokens, and the layer at token pi(i)."""
    return layer(permuted(X), *weights, eps, i, b), layer(X, *weights, eps, pi(i), b)


moved, there = at_token(self_attended, *of_attention, *norm_1)


@theorem(eq(moved, there), near_miss=self_attended(X, *of_attention, *norm_1, eps, i, b))
def self_attended_is_equivariant(proof):
    "The self-attention sublayer permutes its outputs with its tokens."
    same = {n_q: n, heads.sigma: pi}
    at_pi = lambda attended: add_and_norm(function(b, X[pi(i), b]), function(b, attended), *norm_1, eps, b)
    proof.equals(at_pi(multi_head(permuted(X), permuted(X), *of_attention, i, b)), "definition", of=self_attended)
    proof.equals(at_pi(multi_head(X, X, *of_attention, pi(i), b)), heads.permutation_equivariance, at=same)
    proof.closes("definition", of=self_attended)


moved, there = at_token(fed_forward, *of_feed_forward, *norm_2)


@theorem(eq(moved, there), near_miss=fed_forward(X, *of_feed_forward, *norm_2, eps, i, b))
def fed_forward_is_equivariant(proof):
    "The feed-forward sublayer permutes its outputs with its tokens."
    at_pi = lambda fed: add_and_norm(function(b, X[pi(i), b]), function(b, fed), *norm_2, eps, b)
    proof.equals(at_pi(feed_forward(permuted(X), *of_feed_forward, i, b)), "definition", of=fed_forward)
    proof.equals(at_pi(feed_forward(X, *of_feed_forward, pi(i), b)), feed_forward_equivariance)
    proof.closes("definition", of=fed_forward)


moved, there = at_token(encoder_layer, *parameters)


@theorem(eq(moved, there), near_miss=encoder_layer(X, *parameters, eps, i, b))
def encoder_layer_is_equivariant(proof):
    "A layer of the encoder permutes its outputs with its tokens."
    after = lambda tokens, i: fed_forward(tokens, *of_feed_forward, *norm_2, eps, i, b)
    attended = function([i, b], self_attended(X, *of_attention, *norm_1, eps, pi(i), b))
    proof.equals(after(in_turn(permuted(X)), i), "definition", of=encoder_layer)
    proof.equals(after(attended, i), self_attended_is_equivariant)
    proof.equals(after(in_turn(X), pi(i)), fed_forward_is_equivariant, at={X: in_turn(X)})
    proof.closes("definition", of=encoder_layer)


# --- a stack ----------------------------------------------------------------------------------------------------------

L, s = size("L", 0), variable("s", "integer")
X_L, Y_L = family("X", n, d, ANY_REAL), family("Y", n, d, ANY_REAL)


def at_layer(symbol, layer):
    """A family of the stack at one layer."""
    slots = [index(name, size) for name, size in zip("uvw", symbol.slots[:-1], strict=False)]
    return function(slots, symbol[*slots, layer])


def stacked(families):
    """The same families with one more slot, for the layer."""
    return [family(f.name, *f.slots, ANY_REAL) for f in families]


of_layers = stacked(parameters)


def layer_of(tokens, layer, i=i):
    """What layer number `layer` makes of the tokens that it gets."""
    return encoder_layer(at_layer(tokens, layer), *[at_layer(f, layer) for f in of_layers], eps, i, b)


def runs(tokens):
    """The tokens go through the layers one by one."""
    return forall(s, forall([i, b], eq(tokens[i, b, s + 1], layer_of(tokens, s))), where=[le(0, s)])


x_0, later = family("x_0", n, d), family("c", d, ANY_REAL)
constant_after_one = lambda i: when(eq(t, 0), x_0[i, b], later[b, t])
forgetful = {  # with gain 0 a layer gives its last bias, whatever the tokens
    X_L: function([i, b, t], constant_after_one(i)),
    Y_L: function([i, b, t], constant_after_one(pi(i))),
    of_layers[-2]: function([b, t], 0),
    of_layers[-1]: function([b, t], later[b, t + 1]),
}
permuted_inputs = forall([i, b], eq(Y_L[i, b, 0], X_L[pi(i), b, 0]))
permuted_at_L = eq(Y_L[i, b, L], X_L[pi(i), b, L])
stacks = [runs(X_L), runs(Y_L), permuted_inputs]


@theorem(eq(Y_L[i, b, 0], X_L[pi(i), b, 0]), given=stacks, near_miss=X_L[i, b, 0], witness=forgetful)
def encoder_stack_base(proof):
    "Without a layer the outputs are the inputs."
    proof.closes("given")


@theorem(
    eq(Y_L[i, b, L + 1], X_L[pi(i), b, L + 1]),
    given=[*stacks, forall([i, b], permuted_at_L)],
    near_miss=X_L[pi(i), b, L],
    witness=forgetful,
)
def encoder_stack_step(proof):
    "One more layer keeps the outputs permuted."
    at = {X: at_layer(X_L, L)} | {f: at_layer(g, L) for f, g in zip(parameters, of_layers, strict=True)}
    shuffled = function([i, b], X_L[pi(i), b, L])
    of_shuffled = encoder_layer(shuffled, *[at_layer(f, L) for f in of_layers], eps, i, b)
    proof.equals(layer_of(Y_L, L), "given", using=Specialised(runs(Y_L), (L,)))
    proof.equals(of_shuffled, "congruence", then="given")
    proof.equals(layer_of(X_L, L, pi(i)), encoder_layer_is_equivariant, at=at)
    proof.closes("given", using=Specialised(runs(X_L), (L,)))


@theorem(permuted_at_L, given=stacks, near_miss=(X_L[i, b, L], {L: number(0)}), witness=forgetful)
def encoder_stack_is_equivariant(proof):
    "A stack of any number of layers permutes its outputs with its tokens: without positions their order is lost."
    proof.closes("induction", on=L, base=encoder_stack_base, step=encoder_stack_step, over=(i, b))
