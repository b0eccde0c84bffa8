r"""The whole model: how many parameters it has, and how many multiply-adds a layer takes.

Definitions   sums of 1 over the entries of every matrix, and over every product of two numbers
Statements    attention_parameters             W_Q, W_K, W_V, W_O with their biases: 4 d^2 + 4 d
              feed_forward_parameters          2 d d_ff + d_ff + d
              encoder_layer_parameters         4 d^2 + 4 d + 2 d d_ff + d_ff + d + 4 d
              decoder_layer_parameters         8 d^2 + 8 d + 2 d d_ff + d_ff + d + 6 d
              stack_parameters                 L layers of each kind: L (12 d^2 + 4 d d_ff + 2 d_ff + 24 d)
              projection_multiply_adds         4 n d^2 for the queries, keys, values and the output
              score_multiply_adds              2 n^2 d for the scores and the weighted values
              encoder_layer_multiply_adds      4 n d^2 + 2 n^2 d + 2 n d d_ff
Scope         Any L, n, h, d, d_ff >= 1 with d_k = d_v = d/h; a normalisation has a gain and a bias. Multiply-adds of the
              matrix products alone: softmax, normalisation, ReLU and additions of biases are not counted.
Reference     Vaswani et al. 2017, sections 3.2 and 3.3, and table 1 for the order of the cost per layer.
"""

from ..notation import eq, index, n, size, sum_
from ..registry import theorem
from . import multi_head as multi_head_theorems
from .attention import a, c, d_k, d_v
from .feed_forward import d_ff
from .multi_head import b, d, g, h, o, p, r

i, j = index("i", n), index("j", n)
u, k = index("u", d_ff), index("k", d)
of_one_head = [eq(d_k, d / h), eq(d_v, d / h)]
widths = {d: h * d_v, d_k: d_v}

matrices = 2 * sum_((g, r, a), 1) + sum_((g, r, c), 1) + sum_((o, b), 1)
attention_count = matrices + 4 * sum_(b, 1)
feed_forward_count = sum_((k, u), 1) + sum_(u, 1) + sum_((u, k), 1) + sum_(k, 1)
norm_count = sum_(b, 1) + sum_(b, 1)


@theorem(eq(attention_count, 4 * d**2 + 4 * d), given=of_one_head, near_miss=[4 * d**2, 4 * h * d**2], witness=widths)
def attention_parameters(proof):
    "Multi-head attention has 4 d^2 weights and, if it has biases, 4 d of these, for any number of heads."
    proof.equals(4 * d**2 + 4 * sum_(b, 1), multi_head_theorems.parameter_count)
    proof.closes("finite_sum")


of_feed_forward = 2 * d * d_ff + d_ff + d


@theorem(eq(feed_forward_count, of_feed_forward), near_miss=[2 * d * d_ff, d * d_ff + d_ff + d])
def feed_forward_parameters(proof):
    "The feed-forward layer has 2 d d_ff weights and d_ff + d biases."
    proof.closes("finite_sum")


of_encoder = 4 * d**2 + 4 * d + of_feed_forward + 4 * d
of_decoder = 8 * d**2 + 8 * d + of_feed_forward + 6 * d


@theorem(
    eq(attention_count + feed_forward_count + 2 * norm_count, of_encoder),
    given=of_one_head,
    near_miss=[of_encoder - 2 * d, of_encoder - 4 * d],
    witness=widths,
)
def encoder_layer_parameters(proof):
    "An encoder layer has one attention, one feed-forward layer and two normalisations."
    proof.equals(4 * d**2 + 4 * d + feed_forward_count + 2 * norm_count, attention_parameters)
    proof.closes("finite_sum")


@theorem(
    eq(2 * attention_count + feed_forward_count + 3 * norm_count, of_decoder),
    given=of_one_head,
    near_miss=[of_decoder - 2 * d, of_encoder],
    witness=widths,
)
def decoder_layer_parameters(proof):
    "A decoder layer has two attentions, one feed-forward layer and three normalisations."
    proof.equals(2 * (4 * d**2 + 4 * d) + feed_forward_count + 3 * norm_count, attention_parameters)
    proof.closes("finite_sum")


L = size("L")
l = index("l", L)
encoder_count = attention_count + feed_forward_count + 2 * norm_count
decoder_count = 2 * attention_count + feed_forward_count + 3 * norm_count
of_both = 12 * d**2 + 4 * d * d_ff + 2 * d_ff + 24 * d


@theorem(
    eq(sum_(l, encoder_count) + sum_(l, decoder_count), L * of_both),
    given=of_one_head,
    near_miss=[of_both, L * (of_both - 2 * d)],
    witness=widths,
)
def stack_parameters(proof):
    "An encoder and a decoder of L layers each, without embeddings."
    proof.equals(sum_(l, of_encoder) + sum_(l, decoder_count), encoder_layer_parameters)
    proof.equals(sum_(l, of_encoder) + sum_(l, of_decoder), decoder_layer_parameters)
    proof.closes("finite_sum")


projections = 2 * sum_((i, r, g, a), 1) + sum_((i, r, g, c), 1) + sum_((i, o, b), 1)
scores = sum_((g, i, j, a), 1) + sum_((g, i, j, c), 1)


@theorem(eq(projections, 4 * n * d**2), given=of_one_head, near_miss=[4 * d**2, 4 * n * d**2 / h], witness=widths)
def projection_multiply_adds(proof):
    "The queries, keys, values and the output take n d^2 multiply-adds each."
    proof.equals(n * matrices, "finite_sum")
    proof.equals(n * (4 * d**2), multi_head_theorems.parameter_count)
    proof.closes("ring")


@theorem(eq(scores, 2 * n**2 * d), given=of_one_head, near_miss=[n**2 * d, 2 * h * n**2 * d], witness=widths)
def score_multiply_adds(proof):
    "The scores of all heads take n^2 d multiply-adds, and so do their weighted values."
    proof.equals(n**2 * sum_(p, 1) + n**2 * sum_(o, 1), "finite_sum")
    proof.equals(n**2 * sum_(p, 1) + n**2 * d, multi_head_theorems.dimensions)
    proof.equals(n**2 * d + n**2 * d, multi_head_theorems.dimensions, at={d_v: d_k})
    proof.closes("ring")


feed_forward_products = sum_((i, k, u), 1) + sum_((i, u, k), 1)
in_all = 4 * n * d**2 + 2 * n**2 * d + 2 * n * d * d_ff


@theorem(
    eq(projections + scores + feed_forward_products, in_all),
    given=of_one_head,
    near_miss=[in_all - n**2 * d, 4 * n * d**2 + 2 * n * d * d_ff],
    witness=widths,
)
def encoder_layer_multiply_adds(proof):
    "An encoder layer takes 4 n d^2 + 2 n^2 d + 2 n d d_ff multiply-adds: the scores overtake the rest for long inputs."
    proof.equals(projections + scores + 2 * n * d * d_ff, "finite_sum")
    proof.equals(4 * n * d**2 + scores + 2 * n * d * d_ff, projection_multiply_adds)
    proof.equals(4 * n * d**2 + 2 * n**2 * d + 2 * n * d * d_ff, score_multiply_adds)
    proof.closes("ring")
