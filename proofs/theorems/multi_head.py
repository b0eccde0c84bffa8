r"""Multi-head attention: heads attend in parallel, their outputs are put side by side and projected.

Definitions   projected(X, W, g, i, a)         sum_r X_ir W_gra: row i as head g sees it
              head(X, Y, W_Q, W_K, W_V, g, i, c)   attention with the queries X W_Q and the keys and values Y W_K, Y W_V
              split_heads(Z, g, i, a)          Z_i,(g,a): head g takes d_k neighbouring columns, from column g d_k on
              concat(H, i, o)                  H_gic in column o = (g,c) = g d_v + c: the heads side by side
              multi_head(X, Y, W_Q, W_K, W_V, W_O, i, b)   sum_o concat(heads)_io W_O_ob
Statements    dimensions                       d_v = d/h: the heads side by side are d wide
              parameter_count                  d_k = d_v = d/h: the four matrices have 4 d^2 entries, whatever h is
              concat_then_project_is_sum_over_heads   multi_head_ib = sum_g sum_c head_gic W_O_(g,c),b
              one_head_is_plain_attention      h = 1: attention(X W_Q, Y W_K, Y W_V) W_O
              split_merge_is_identity          concat(split_heads(Z)) = Z
              merge_split_is_identity          split_heads(concat(H)) = H
              one_projection_then_split        split_heads(X W) = X W_g, where W_g are the columns of W of head g
              head_permutation_invariance      heads permuted jointly in W_Q, W_K, W_V and the rows of W_O: no change
              head_permutation_equivariance    self-attention of one head: permuted tokens have permuted outputs
              permutation_equivariance         multi-head self-attention: permuted tokens have permuted outputs
Scope         Any h, n_q, n_k, d, d_k, d_v >= 1 unless a line ties them; no biases, no mask; self-attention is Y = X.
Reference     Vaswani et al. 2017, section 3.2.2, which has d_k = d_v = d/h.
"""

from ..notation import Definition, eq, family, function, index, join, permutation, size, split, sum_
from ..registry import theorem
from . import attention as attention_theorems
from .attention import K, Q, V, a, attention, c, d_k, d_v, i, j, n_k, n_q, pi, sigma

h, d = size("h"), size("d")
g, r, b = index("g", h), index("r", d), index("b", d)
o, p = index("o", d_v * h), index("p", d_k * h)  # columns of all heads
X, Y = family("X", n_q, d), family("Y", n_k, d)
W_Q, W_K, W_V = family("W_Q", h, d, d_k), family("W_K", h, d, d_k), family("W_V", h, d, d_v)
W_O = family("W_O", d_v * h, d)
H, Z = family("H", h, n_q, d_v), family("Z", n_q, d_k * h)
weights = (W_Q, W_K, W_V)
features = (a, a, c)  # of a query, a key and a value
tau = permutation("tau", h)
of_head, feature = split(o, d_v)

projected = Definition("projected", [X, W_Q, g, i, a], sum_(r, X[i, r] * W_Q[g, r, a]), says="row i as head g sees it")


def inputs(g, X=X, Y=Y, W_Q=W_Q, W_K=W_K, W_V=W_V):
    """The queries, keys and values of head g."""
    queries, keys = function([i, a], projected(X, W_Q, g, i, a)), function([j, a], projected(Y, W_K, g, j, a))
    return queries, keys, function([j, c], projected(Y, W_V, g, j, c))


head = Definition("head", [X, Y, *weights, g, i, c], attention(*inputs(g), i, c), says="the output of head g")
split_heads = Definition("split_heads", [Z, g, i, a], Z[i, join(g, a)], says="the columns of head g")
concat = Definition("concat", [H, i, o], H[of_head, i, feature], says="the heads side by side")
heads = function([g, i, c], head(X, Y, *weights, g, i, c))
multi_head = Definition(
    "multi_head", [X, Y, *weights, W_O, i, b], sum_(o, concat(heads, i, o) * W_O[o, b]), says="concat, then W_O"
)
output = multi_head(X, Y, *weights, W_O, i, b)


def sum_over_heads(output, row=lambda g, c: W_O[join(g, c), b]):
    """The sum over the heads of their outputs, each times its rows of W_O."""
    return sum_(g, sum_(c, output(g, c) * row(g, c)))


summed = sum_over_heads(lambda g, c: head(X, Y, *weights, g, i, c))


@theorem(eq(sum_(o, 1), d), given=[eq(d_v, d / h)], near_miss=[d_v, h * d], witness={d: h * d_v})
def dimensions(proof):
    "With d_v = d/h the heads side by side are as wide as the model."
    proof.equals(sum_(g, d_v), "finite_sum")
    proof.equals(sum_(g, d / h), "congruence", then="given")
    proof.closes("finite_sum")


@theorem(
    eq(2 * sum_((g, r, a), 1) + sum_((g, r, c), 1) + sum_((o, b), 1), 4 * d**2),
    given=[eq(d_k, d / h), eq(d_v, d / h)],
    near_miss=[4 * h * d**2, 3 * d**2],
    witness={d: h * d_v, d_k: d_v},
)
def parameter_count(proof):
    "With d_k = d_v = d/h the matrices W_Q, W_K, W_V and W_O have 4 d^2 entries, for any number of heads."
    proof.equals(2 * d * sum_(p, 1) + 2 * d * sum_(o, 1), "finite_sum")
    proof.equals(2 * d * sum_(p, 1) + 2 * d * d, dimensions)
    proof.equals(2 * d * d + 2 * d * d, dimensions, at={d_v: d_k})
    proof.closes("ring")


@theorem(
    eq(output, summed),
    near_miss=sum_(g, sum_(c, head(X, Y, *weights, g, i, c)) * sum_(c, W_O[join(g, c), b])),
)
def concat_then_project_is_sum_over_heads(proof):
    "To put the heads side by side and project is to project each head with its own rows of W_O, and to add."
    proof.equals(sum_(o, head(X, Y, *weights, of_head, i, feature) * W_O[o, b]), "definition", of=(multi_head, concat))
    proof.closes("finite_sum")


g1, o1 = index("g", 1), index("o", d_v * 1)
plain = family("A_Q", d, d_k), family("A_K", d, d_k), family("A_V", d, d_v)
A_O = family("A_O", d_v, d)
single = [function([g1, r, x], A[r, x]) for A, x in zip(plain, features, strict=True)]
single_output = function([o1, b], A_O[split(o1, d_v)[1], b])
plain_inputs = [
    function([k, x], sum_(r, tokens[k, r] * A[r, x]))
    for k, tokens, A, x in zip((i, j, j), (X, Y, Y), plain, features, strict=True)
]
plain_output = attention(*plain_inputs, i, c)


@theorem(
    eq(multi_head(X, Y, *single, single_output, i, b), sum_(c, plain_output * A_O[c, b])),
    near_miss=sum_(c, plain_output) * sum_(c, A_O[c, b]),
)
def one_head_is_plain_attention(proof):
    "With one head it is attention, then W_O."
    at = {h: 1, W_O: single_output, **dict(zip(weights, single, strict=True))}
    of_one = sum_(g1, sum_(c, head(X, Y, *single, g1, i, c) * A_O[c, b]))
    proof.equals(of_one, concat_then_project_is_sum_over_heads, at=at)
    proof.equals(sum_(g1, sum_(c, plain_output * A_O[c, b])), "definition", of=(head, projected))
    proof.closes("finite_sum")


# --- splitting and merging --------------------------------------------------------------------------------------------


def merged_in(order):
    """The parts of Z side by side, the heads in an order."""
    return concat(function([g, i, a], split_heads(Z, order(g), i, a)), i, p)


@theorem(eq(merged_in(lambda g: g), Z[i, p]), near_miss=eq(merged_in(tau), Z[i, p]))
def split_merge_is_identity(proof):
    "To split a row into heads and to put these side by side again changes nothing."
    proof.closes("definition", of=(concat, split_heads))


side_by_side = function([i, o], concat(H, i, o))


@theorem(eq(split_heads(side_by_side, g, i, c), H[g, i, c]), near_miss=H[tau(g), i, c])
def merge_split_is_identity(proof):
    "To put heads side by side and to split them again changes nothing."
    proof.closes("definition", of=(concat, split_heads))


W = family("W", d, d_k * h)
product = function([i, p], sum_(r, X[i, r] * W[r, p]))


def columns(order):
    """The columns of W, head by head."""
    return function([g, r, a], W[r, join(order(g), a)])


@theorem(
    eq(split_heads(product, g, i, a), projected(X, columns(lambda g: g), g, i, a)),
    near_miss=projected(X, columns(tau), g, i, a),
)
def one_projection_then_split(proof):
    "One d x h d_k matrix and then the split is, for each head, the d x d_k matrix of its columns."
    proof.closes("definition", of=(split_heads, projected))


# --- permutations -----------------------------------------------------------------------------------------------------

permuted = [function([g, r, x], W[tau(g), r, x]) for W, x in zip(weights, features, strict=True)]
permuted_rows = function([o, b], W_O[join(tau(of_head), feature), b])


@theorem(
    eq(multi_head(X, Y, *permuted, permuted_rows, i, b), output),
    near_miss=[
        eq(multi_head(X, Y, *permuted, W_O, i, b), output),
        eq(multi_head(X, Y, W_Q, W_K, permuted[2], permuted_rows, i, b), output),
    ],
)
def head_permutation_invariance(proof):
    "The heads in another order, the same one in all four matrices, change nothing."
    row = lambda g, c: W_O[join(tau(g), c), b]
    at = {**dict(zip(weights, permuted, strict=True)), W_O: permuted_rows}
    moved = sum_over_heads(lambda g, c: head(X, Y, *permuted, g, i, c), row)
    proof.equals(moved, concat_then_project_is_sum_over_heads, at=at)
    reordered = sum_over_heads(lambda g, c: head(X, Y, *weights, tau(g), i, c), row)
    proof.equals(reordered, "definition", of=(head, projected))
    proof.equals(summed, "finite_sum")
    proof.closes(concat_then_project_is_sum_over_heads)


shuffled = function([i, r], X[sigma(i), r])


def tokens_in(order):
    """The queries, keys and values of head g in self-attention, the tokens in an order."""
    return [function([i, x], projected(X, W, g, order(i), x)) for W, x in zip(weights, features, strict=True)]


@theorem(
    eq(head(shuffled, shuffled, *weights, g, i, c), head(X, X, *weights, g, sigma(i), c)),
    near_miss=head(X, X, *weights, g, i, c),
)
def head_permutation_equivariance(proof):
    "One head of self-attention permutes its outputs with its tokens."
    kept, moved = tokens_in(lambda i: i), tokens_in(sigma)
    at = {n_k: n_q, Q: kept[0]}
    proof.equals(attention(*moved, i, c), "definition", of=(head, projected))
    proof.equals(attention(kept[0], *moved[1:], sigma(i), c), attention_theorems.query_permutation_equivariance,
                 at={**at, K: moved[1], V: moved[2]})  # fmt: skip
    proof.equals(attention(*kept, sigma(i), c), attention_theorems.permutation_invariance,
                 at={**at, K: kept[1], V: kept[2], pi: sigma})  # fmt: skip
    proof.closes("definition", of=(head, projected))


@theorem(
    eq(multi_head(shuffled, shuffled, *weights, W_O, i, b), multi_head(X, X, *weights, W_O, sigma(i), b)),
    near_miss=multi_head(X, X, *weights, W_O, i, b),
)
def permutation_equivariance(proof):
    "Multi-head self-attention permutes its outputs with its tokens."
    shuffled_heads = sum_over_heads(lambda g, c: head(shuffled, shuffled, *weights, g, i, c))
    proof.equals(shuffled_heads, concat_then_project_is_sum_over_heads, at={X: shuffled, Y: shuffled, n_k: n_q})
    moved = sum_over_heads(lambda g, c: head(X, X, *weights, g, sigma(i), c))
    proof.equals(moved, head_permutation_equivariance)
    proof.closes(concat_then_project_is_sum_over_heads, at={Y: X, n_k: n_q})
