r"""Softmax applied twice: a cross-entropy that is given weights for logits cannot leave an interval of length 1.

Definitions   cross_entropy, of loss.py; here s = softmax(z), and L = cross_entropy(s, one-hot at r)
Statements    below_one                        s_r < 1
              sum_of_exponentials_exceeds      e + C - 1 < sum_k exp(s_k) exp(1 - s_r)
              double_softmax_lower_bound       log(e + C - 1) - 1 < L
              exp_is_at_least_one              1 <= exp(u), u >= 0
              superadditive_base               for N = 0, what superadditive says
              superadditive_step               for N + 1, what superadditive says, given that it holds for N
              superadditive                    sum_(k < N) (exp(x_k) - 1) <= exp(sum_(k < N) x_k) - 1, x >= 0
              sum_of_exponentials_is_at_most   sum_k exp(s_k) <= e + C - 1
              double_softmax_upper_bound       L < log(e + C - 1)
              double_softmax_range             |L - (log(e + C - 1) - 1/2)| < 1/2
Scope         Any number C >= 2 of classes and any real logits; in the last three statements they are the first C terms
              of a sequence, since the induction adds one class at a time.
Reference     Bridle 1990 for the loss of softmax; the interval is elementary.
"""

from ..notation import (
    ANY_REAL,
    absolute,
    delta,
    exp,
    family,
    function,
    index,
    le,
    literal,
    log,
    lt,
    n,
    rational,
    size,
    sum_,
    value_of,
    variable,
    z,
)  # fmt: skip
from ..registry import theorem
from .loss import CE
from .softmax import pair_sum, positive, sums_to_one
from .softmax_derivatives import log_softmax, logsumexp
from .softmax_jacobian import s

C = size("C", minimum=2)
logits, target, k = family("z", C), index("r", C), index("k", C)
at_C = {n: C, z: logits}
e = exp(1)
first, second = literal(0, C), literal(1, C)
other = delta(target, first) * s(logits, second) + (1 - delta(target, first)) * s(logits, first)


@theorem(
    lt(s(logits, target), 1), near_miss=[lt(s(logits, target), rational(1, 2)), lt(s(logits, target), s(logits, k))]
)
def below_one(proof):
    "With at least two classes every weight is below 1."
    by_cases = {"on": (target, first), "then": "order"}
    proof.less_than(s(logits, target) + other, "cases", **by_cases, using=(positive, at_C))
    proof.closes("cases", **by_cases, using=(pair_sum, at_C))


def twice(logits):
    """The loss with the weights of these logits for logits, and the target for its one class."""
    return CE(function(k, s(logits, k)), function(k, delta(k, target)))


def total(logits):
    """What the second softmax divides by."""
    return sum_(k, exp(s(logits, k)))


def written(logits):
    """The loss, its definitions unfolded."""
    return -sum_(k, delta(k, target) * (s(logits, k) - log(total(logits))))


def others(term):
    """The sum of a term over the classes other than the target."""
    return sum_(k, (1 - delta(k, target)) * term)


s_r = s(logits, target)
missing = exp(1 - s_r)


@theorem(lt(e + (C - 1), missing * total(logits)), near_miss=lt(e * C, missing * total(logits)))
def sum_of_exponentials_exceeds(proof):
    "Each of the C - 1 other terms exp(s_k + 1 - s_r) exceeds 1, and that of the target is e."
    proof.equals(e + (C - 1) * exp(0), "ring")
    proof.less_than(e + (C - 1) * missing, "order", using=below_one)
    proof.equals(e + missing * others(exp(0)), "finite_sum")
    proof.at_most(e + missing * others(exp(s(logits, k))), "order", using=(positive, at_C))
    proof.equals(e + missing * (total(logits) - exp(s_r)), "finite_sum")
    proof.closes("exp_log")


@theorem(
    lt(log(e + (C - 1)) - 1, twice(logits)),
    near_miss=[lt(log(e + (C - 1)), twice(logits)), lt(log(e + C) - 1, twice(logits))],
)
def double_softmax_lower_bound(proof):
    "With softmax applied twice the loss stays above log(e + C - 1) - 1, however right the prediction is."
    proof.less_than(log(missing * total(logits)) - 1, "order", using=sum_of_exponentials_exceeds)
    proof.equals(log(total(logits)) - s_r, "exp_log")
    proof.equals(written(logits), "finite_sum")
    proof.closes("definition", of=(CE, log_softmax, logsumexp))


u, v = variable("u", "nonnegative"), variable("v")


@theorem(le(1, exp(u)), near_miss=le(2, exp(u)))
def exp_is_at_least_one(proof):
    "exp is at least 1 from 0 on."
    proof.equals(exp(0), "ring")
    proof.closes("order")


N = size("N", minimum=0)
x, root = family("x", ANY_REAL, domain="nonnegative"), family("r", ANY_REAL)


def excess(count):
    """sum_(k < count) (exp(x_k) - 1)."""
    l = index("l", count)
    return sum_(l, exp(x[value_of(l)]) - 1)


def mass(count):
    """sum_(k < count) x_k."""
    l = index("l", count)
    return sum_(l, x[value_of(l)])


@theorem(le(excess(0), exp(mass(0)) - 1), near_miss=exp(mass(0)) - 2)
def superadditive_base(proof):
    "No terms: 0 <= 0."
    proof.closes("finite_sum")


@theorem(
    le(excess(N + 1), exp(mass(N + 1)) - 1),
    given=[le(excess(N), exp(mass(N)) - 1)],
    witness={x: function(v, root[v] ** 2)},
    near_miss=exp(mass(N)) - 1,
)
def superadditive_step(proof):
    "One term more: (exp(a) - 1) (exp(b) - 1) >= 0."
    proof.equals(excess(N) + exp(x[N]) - 1, "finite_sum")
    proof.at_most(exp(mass(N)) - 1 + exp(x[N]) - 1, "order")
    at_least_one = [(exp_is_at_least_one, {u: mass(N)}), (exp_is_at_least_one, {u: x[N]})]
    product = (exp(mass(N)) - 1) * (exp(x[N]) - 1)
    proof.at_most(exp(mass(N)) * exp(x[N]) - 1, "order", difference=product, using=at_least_one)
    proof.equals(exp(mass(N) + x[N]) - 1, "exp_log")
    proof.closes("finite_sum")


@theorem(le(excess(N), exp(mass(N)) - 1), near_miss=exp(mass(N)) - 2)
def superadditive(proof):
    "exp(x) - 1 of a sum is at least the sum of exp(x) - 1, for terms >= 0."
    proof.closes("induction", on=N, base=(superadditive_base, {}), step=(superadditive_step, {}))


# The induction adds one class at a time, so that from here on the logits are the first C terms of a sequence.
sequence = family("z", ANY_REAL)
first_terms = function(k, sequence[value_of(k)])
normaliser = sum_(k, exp(sequence[value_of(k)]))
at_weights = {N: C, x: function(v, exp(sequence[v]) / normaliser)}


@theorem(le(total(first_terms), e + (C - 1)), near_miss=e + (C - 2))
def sum_of_exponentials_is_at_most(proof):
    "The exponentials of the weights sum to at most e + C - 1."
    share = exp(sequence[value_of(k)]) / normaliser
    proof.equals(sum_(k, exp(share)), "definition", of=s)
    proof.equals(sum_(k, exp(share) - 1) + C, "finite_sum")
    proof.at_most(exp(sum_(k, share)) - 1 + C, "order", using=(superadditive, at_weights))
    proof.equals(exp(sum_(k, s(first_terms, k))) - 1 + C, "definition", of=s)
    proof.equals(exp(1) - 1 + C, sums_to_one, at={n: C, z: first_terms})
    proof.closes("ring")


loss, top = twice(first_terms), log(e + (C - 1))


@theorem(lt(loss, top), near_miss=top - 1)
def double_softmax_upper_bound(proof):
    "With softmax applied twice the loss stays below log(e + C - 1), however wrong the prediction is."
    proof.equals(written(first_terms), "definition", of=(CE, log_softmax, logsumexp))
    proof.equals(log(total(first_terms)) - s(first_terms, target), "finite_sum")
    proof.less_than(log(total(first_terms)), "order", using=(positive, {n: C, z: first_terms}))
    proof.closes("order", using=sum_of_exponentials_is_at_most)


half = rational(1, 2)


@theorem(lt(absolute(loss - (top - half)), half), near_miss=lt(absolute(loss - top), half))
def double_softmax_range(proof):
    "With softmax applied twice the loss stays within an open interval of length 1, around log(e + C - 1) - 1/2."
    bounds = [(double_softmax_lower_bound, {logits: first_terms}), double_softmax_upper_bound]
    proof.closes("order", using=bounds)
