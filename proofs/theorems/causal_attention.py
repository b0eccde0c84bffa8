r"""Causal self-attention: each token attends to itself and to the tokens before it.

Definitions   before(l, i)                     1 if l < i, else 0
              causal_sum(Q, K, x, i)           e^S_ii x_i + sum_l before(l, i) e^S_il x_l
              causal_attention(Q, K, V, i, c)  causal_sum of column c of V, divided by that of 1
Statements    is_masked_attention              it is masked_attention under the mask that keeps the keys j <= i
              order_is_transitive              l < i and i <= r give l <= r
              causal_sum_ignores_future        inputs that agree up to r have equal sums at i <= r
              ignores_future                   and equal outputs
              first_output_is_first_value      O_0 = V_0
              output_of_two_tokens             scalars, weights 1: the tokens (0, 1) give e / (1 + e) = .7311 at the second one
              order_of_two_tokens_matters      and (1, 0) give 1 at the first one, which is more: not equivariant
Scope         Any n, d_k, d_v >= 1; queries, keys and values are of the same n tokens.
Reference     Vaswani et al. 2017, section 3.2.3.
"""

from ..notation import (
    Definition,
    delta,
    eq,
    exp,
    family,
    forall,
    function,
    index,
    le,
    literal,
    lt,
    n,
    sqrt,
    sum_,
    table,
    value_of,
    when,
)
from ..registry import Statement, theorem
from .attention import S, a, attention, c, d_k, d_v
from .causal_masking import masked_attention
from .masking import masked

i, j, l, r = (index(name, n) for name in "ijlr")
Q, K, V = family("Q", n, d_k), family("K", n, d_k), family("V", n, d_v)
x = family("x", n)
before = Definition(
    "before", [l, i], when(lt(value_of(l), value_of(i)), 1, 0), says="whether a token stands before another"
)
w = lambda Q, K, i, l: exp(S(Q, K, i, l))
causal_sum = Definition(
    "causal_sum",
    [Q, K, x, i],
    w(Q, K, i, i) * x[i] + sum_(l, before(l, i) * w(Q, K, i, l) * x[l]),
    says="over the past",
)
one = function(l, 1)
column = function(l, V[l, c])
mass = w(Q, K, i, i) + sum_(l, before(l, i) * w(Q, K, i, l))
causal_attention = Definition(
    "causal_attention", [Q, K, V, i, c], causal_sum(Q, K, column, i) / mass, says="at token i"
)
causal_mask = function([i, l], delta(i, l) + before(l, i))
weighed = sum_(l, (delta(i, l) + before(l, i)) * w(Q, K, i, l))


@theorem(
    eq(causal_attention(Q, K, V, i, c), masked_attention(Q, K, V, causal_mask, i, c)),
    given=[lt(0, weighed)],
    near_miss=attention(Q, K, V, i, c),
)
def is_masked_attention(proof):
    "It is attention under the mask that keeps a token itself and the tokens before it."
    top = sum_(l, (delta(i, l) + before(l, i)) * w(Q, K, i, l) * V[l, c])
    proof.equals(causal_sum(Q, K, column, i) / mass, "definition", of=causal_attention)
    proof.equals(
        (w(Q, K, i, i) * V[i, c] + sum_(l, before(l, i) * w(Q, K, i, l) * V[l, c])) / mass, "definition", of=causal_sum
    )
    proof.equals(top / weighed, "finite_sum")
    proof.equals(sum_(l, (delta(i, l) + before(l, i)) * w(Q, K, i, l) / weighed * V[l, c]), "finite_sum")
    proof.closes("definition", of=(masked_attention, masked))


@theorem(
    le(value_of(l), value_of(r)),
    given=[lt(value_of(l), value_of(i)), le(value_of(i), value_of(r))],
    near_miss=le(value_of(r), value_of(l)),
)
def order_is_transitive(proof):
    "What stands before a token stands before all that follow."
    proof.at_most(value_of(i), "order")
    proof.closes("order")


def agree(f, g, *rest):
    """Two families agree at all tokens up to r."""
    return forall([l, *rest], eq(f[l, *rest], g[l, *rest]), where=[le(value_of(l), value_of(r))])


def with_past(f, g, *rest):
    """The first family up to r, and the second one after it."""
    return function([l, *rest], when(le(value_of(l), value_of(r)), f[l, *rest], g[l, *rest]))


new_Q, new_K, new_V, y = family("Q_new", n, d_k), family("K_new", n, d_k), family("V_new", n, d_v), family("y", n)
scores_agree = [agree(Q, new_Q, a), agree(K, new_K, a)]
up_to_r, after_r = le(value_of(i), value_of(r)), le(value_of(r), value_of(i))
past = {new_Q: with_past(Q, new_Q, a), new_K: with_past(K, new_K, a), y: with_past(x, y), new_V: with_past(V, new_V, c)}
is_before = lt(value_of(l), value_of(i))


def written(Q, K, x, gate):
    """The sum with its scores written out; `gate` is what a term before i becomes."""
    score = lambda i, l: exp(sum_(a, Q[i, a] * K[l, a]) / sqrt(d_k))
    return score(i, i) * x[i] + sum_(l, gate(score(i, l) * x[l]))


@theorem(
    eq(causal_sum(Q, K, x, i), causal_sum(new_Q, new_K, y, i)),
    given=[*scores_agree, agree(x, y), up_to_r],
    near_miss=Statement(
        eq(causal_sum(Q, K, x, i), causal_sum(new_Q, new_K, y, i)), (*scores_agree, agree(x, y), after_r)
    ),
    witness=past,
)
def causal_sum_ignores_future(proof):
    "Inputs that agree up to token r have the same sums at every token up to r."
    factor, branch = (lambda term: when(is_before, 1, 0) * term), (lambda term: when(is_before, term, 0))
    by_cases = {"on": is_before, "then": "order"}
    proof.equals(written(Q, K, x, factor), "definition", of=(causal_sum, before, S))
    proof.equals(written(Q, K, x, branch), "congruence", then="cases", inner=by_cases)
    proof.equals(written(new_Q, new_K, y, branch), "congruence", then="given", using=[(order_is_transitive, {i: i})])
    proof.equals(written(new_Q, new_K, y, factor), "congruence", then="cases", inner=by_cases)
    proof.closes("definition", of=(causal_sum, before, S))


output, new_output = causal_attention(Q, K, V, i, c), causal_attention(new_Q, new_K, new_V, i, c)
values_agree = forall(c, agree(V, new_V, c))


@theorem(
    eq(output, new_output),
    given=[*scores_agree, agree(V, new_V, c), up_to_r],
    near_miss=Statement(eq(output, new_output), (*scores_agree, agree(V, new_V, c), after_r)),
    witness=past,
)
def ignores_future(proof):
    "Inputs that agree up to token r have the same outputs at every token up to r."
    new_column = function(l, new_V[l, c])
    of_one = lambda Q, K: causal_sum(Q, K, one, i)
    proof.equals(causal_sum(Q, K, column, i) / of_one(Q, K), "definition", of=(causal_attention, causal_sum))
    at = {i: i, r: r, x: column, y: new_column}
    proof.equals(causal_sum(new_Q, new_K, new_column, i) / of_one(Q, K), causal_sum_ignores_future, at=at)
    ones = {i: i, r: r, x: one, y: one}
    proof.equals(causal_sum(new_Q, new_K, new_column, i) / of_one(new_Q, new_K), causal_sum_ignores_future, at=ones)
    proof.closes("definition", of=(causal_attention, causal_sum))


first = literal(0, n)


@theorem(eq(causal_attention(Q, K, V, first, c), V[first, c]), near_miss=attention(Q, K, V, first, c))
def first_output_is_first_value(proof):
    "The first token attends to itself alone."
    own = w(Q, K, first, first)
    earlier = lambda x: own * x(first) + sum_(l, when(lt(value_of(l), 0), 1, 0) * w(Q, K, first, l) * x(l))
    value = lambda l: V[l, c]
    proof.equals(earlier(value) / earlier(lambda l: 1), "definition", of=(causal_attention, causal_sum, before))
    none = lambda x: own * x(first) + sum_(l, 0 * w(Q, K, first, l) * x(l))
    proof.equals(none(value) / none(lambda l: 1), "order")
    proof.closes("field")


i2, l2, feature = index("i", 2), index("l", 2), index("a", 1)
start, end, only = literal(0, 2), literal(1, 2), literal(0, 1)


def of_two_tokens(tokens, position):
    """Causal self-attention of two tokens that are numbers, with all weights 1."""
    inputs = function([i2, feature], table(tokens, i2))
    return causal_attention(inputs, inputs, inputs, position, only)


def product(k, l):
    """The score of two tokens."""
    return sum_(feature, table([0, 1], k) * table([0, 1], l)) / sqrt(1)


last = of_two_tokens([0, 1], end)


@theorem(eq(last, exp(1) / (1 + exp(1))), near_miss=exp(1) / (2 + exp(1)))
def output_of_two_tokens(proof):
    "The tokens 0 and 1 give .7311 at the second one."
    first_is_before = when(lt(0, 1), 1, 0)
    itself = when(lt(1, 1), 1, 0)
    raw = lambda x: (
        exp(product(end, end)) * x(end) + sum_(l2, when(lt(value_of(l2), 1), 1, 0) * exp(product(end, l2)) * x(l2))
    )
    token = lambda k: table([0, 1], k)
    proof.equals(raw(token) / raw(lambda k: 1), "definition", of=(causal_attention, causal_sum, before, S))
    proof.equals((exp(1) + itself * exp(1)) / (exp(1) + first_is_before + itself * exp(1)), "finite_sum")
    proof.closes("order")


exchanged = of_two_tokens([1, 0], start)


@theorem(lt(last, exchanged), near_miss=lt(exchanged, last))
def order_of_two_tokens_matters(proof):
    "Exchanged, they give 1 at the first one and not .7311: under a causal mask attention is not equivariant."
    inputs = [function([i2, feature], table([1, 0], i2)) for _ in range(3)]
    at = dict(zip((n, d_k, d_v, Q, K, V, c), (2, 1, 1, *inputs, only), strict=True))
    proof.equals(exp(1) / (1 + exp(1)), output_of_two_tokens)
    proof.equals(1 - 1 / (1 + exp(1)), "field")
    proof.less_than(1, "order")
    proof.closes(first_output_is_first_value, at=at)
