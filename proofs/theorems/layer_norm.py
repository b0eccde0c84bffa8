r"""Layer normalisation: what it computes, and what leaves it alone.

Definitions   average(x)                       sum_l x_l / d
              biased_variance(x)               v = sum_l (x_l - average(x))^2 / d
              normalised(x, eps, i)            x^_i = (x_i - average(x)) / sqrt(v + eps)
              layer_norm(x, gain, bias, eps, i)      gain_i x^_i + bias_i
              of_tokens(X, gain, bias, eps, p, i)    layer normalisation of row p of X
              over_batch(X, gain, bias, eps, p, i)   the same along column i of X, which is batch normalisation
Statements    sum_is_zero                      sum_i x^_i = 0
              squared_length                   sum_i x^_i^2 = d v / (v + eps)
              mean_is_zero                     average(x^) = 0
              variance                         biased_variance(x^) = v / (v + eps)
              average_of_affine                average(a x + c) = a average(x) + c
              variance_of_affine               biased_variance(a x + c) = a^2 v
              shift_invariance                 layer_norm(x + c) = layer_norm(x)
              acts_per_token                   the output at token p does not change with the rows of X other than p
              token_permutation                the output at p for the tokens X o sigma is that at sigma(p) for X
Scope         Any d, n >= 1 and any real eps with v + eps > 0; for eps = 0 this says that x is not constant. Where two
              vectors are normalised, both conditions are hypotheses, although each follows from the other.
Reference     Ba, Kiros & Hinton 2016 (arXiv:1607.06450), section 3 (definition) and section 5.1 (invariances).
"""

from ..notation import (
    Definition,
    delta,
    eq,
    family,
    function,
    index,
    lt,
    n,
    permutation,
    size,
    sqrt,
    sum_,
    variable,
)
from ..registry import Statement, theorem

d = size("d")
i, j, k, l = (index(name, d) for name in "ijkl")
p, q = index("p", n), index("q", n)
x, gain, bias = (family(name, d) for name in ("x", "gain", "bias"))
X, W = family("X", n, d), family("W", n, d)
eps, a, c = variable("epsilon"), variable("a"), variable("c")

average = Definition("average", [x], sum_(l, x[l]) / d, says="the mean of the features")
biased_variance = Definition(
    "biased_variance", [x], sum_(l, (x[l] - average(x)) ** 2) / d, says="the variance, divided by d and not d - 1"
)
v = biased_variance(x)


def varies(vector, eps):
    """The condition under which a vector can be normalised."""
    return lt(0, eps + biased_variance(vector))


normalised = Definition(
    "normalised", [x, eps, i], (x[i] - average(x)) / sqrt(eps + v), requires=[varies(x, eps)], says="x^_i"
)
layer_norm = Definition(
    "layer_norm",
    [x, gain, bias, eps, i],
    gain[i] * normalised(x, eps, i) + bias[i],
    requires=[varies(x, eps)],
    says="layer normalisation, with a gain and a bias per feature",
)


def row_of(tokens, position):
    """The features of one token."""
    return function(l, tokens[position, l])


row, column = row_of(X, p), function(q, X[q, i])
of_tokens = Definition(
    "of_tokens",
    [X, gain, bias, eps, p, i],
    layer_norm(row, gain, bias, eps, i),
    requires=[varies(row, eps)],
    says="layer normalisation of each token",
)
over_batch = Definition(
    "over_batch",
    [X, gain, bias, eps, p, i],
    gain[i] * normalised(column, eps, p) + bias[i],
    requires=[varies(column, eps)],
    says="each feature normalised over the tokens: batch normalisation",
)
hat = function(l, normalised(x, eps, l))
varied = [varies(x, eps)]


def x_hat(feature):
    """A normalised feature of x."""
    return normalised(x, eps, feature)


@theorem(eq(sum_(i, x_hat(i)), 0), given=varied, near_miss=average(x))
def sum_is_zero(proof):
    "The normalised features sum to 0."
    proof.equals(sum_(i, (x[i] - average(x)) / sqrt(eps + v)), "definition", of=normalised)
    proof.equals((sum_(i, x[i]) - d * average(x)) / sqrt(eps + v), "finite_sum")
    proof.closes("definition", of=average)


@theorem(eq(sum_(i, x_hat(i) ** 2), d * (v / (eps + v))), given=varied, near_miss=d)
def squared_length(proof):
    "The squared length of the normalised features is d v / (v + eps)."
    proof.equals(sum_(i, ((x[i] - average(x)) / sqrt(eps + v)) ** 2), "definition", of=normalised)
    proof.equals(d * (sum_(i, (x[i] - average(x)) ** 2) / d / (eps + v)), "finite_sum")
    proof.closes("definition", of=biased_variance)


@theorem(eq(average(hat), 0), given=varied, near_miss=average(x))
def mean_is_zero(proof):
    "The normalised features have mean 0."
    proof.equals(sum_(l, x_hat(l)) / d, "definition", of=average)
    proof.closes(sum_is_zero)


@theorem(eq(biased_variance(hat), v / (eps + v)), given=varied, near_miss=1)
def variance(proof):
    "The normalised features have variance v / (v + eps), which is 1 only without eps."
    proof.equals(sum_(l, (x_hat(l) - average(hat)) ** 2) / d, "definition", of=biased_variance)
    proof.equals(sum_(l, x_hat(l) ** 2) / d, mean_is_zero)
    proof.equals(d * (v / (eps + v)) / d, squared_length)
    proof.closes("field")


affine = function(l, a * x[l] + c)


@theorem(eq(average(affine), a * average(x) + c), near_miss=a * average(x) + d * c)
def average_of_affine(proof):
    "The mean of a x + c is a times the mean of x, plus c."
    proof.equals(sum_(l, a * x[l] + c) / d, "definition", of=average)
    proof.equals(a * (sum_(l, x[l]) / d) + c, "finite_sum")
    proof.closes("definition", of=average)


@theorem(eq(biased_variance(affine), a**2 * v), near_miss=a * v)
def variance_of_affine(proof):
    "The variance of a x + c is a^2 times the variance of x."
    proof.equals(sum_(l, (a * x[l] + c - average(affine)) ** 2) / d, "definition", of=biased_variance)
    proof.equals(sum_(l, (a * x[l] + c - (a * average(x) + c)) ** 2) / d, average_of_affine)
    proof.equals(a**2 * (sum_(l, (x[l] - average(x)) ** 2) / d), "finite_sum")
    proof.closes("definition", of=biased_variance)


shifted = function(l, x[l] + c)


@theorem(
    eq(layer_norm(shifted, gain, bias, eps, i), layer_norm(x, gain, bias, eps, i)),
    given=[*varied, varies(shifted, eps)],
    near_miss=layer_norm(x, gain, bias, eps, i) + c,
)
def shift_invariance(proof):
    "One number added to every feature changes nothing."
    once = function(l, 1 * x[l] + c)
    both, root = (layer_norm, normalised), sqrt(eps + biased_variance(once))
    proof.equals(gain[i] * (x[i] + c - average(once)) / root + bias[i], "definition", of=both)
    proof.equals(gain[i] * (x[i] + c - (1 * average(x) + c)) / root + bias[i], average_of_affine, at={a: 1})
    root = sqrt(eps + 1**2 * v)
    proof.equals(gain[i] * (x[i] - average(x)) / root + bias[i], variance_of_affine, at={a: 1})
    proof.closes("definition", of=both)


others_changed = function((q, l), X[q, l] + (1 - delta(q, p)) * W[q, l])
column_changed = function(q, X[q, i] + (1 - delta(q, p)) * W[q, i])


@theorem(
    eq(of_tokens(others_changed, gain, bias, eps, p, i), of_tokens(X, gain, bias, eps, p, i)),
    given=[varies(row, eps)],
    near_miss=Statement(
        eq(over_batch(others_changed, gain, bias, eps, p, i), over_batch(X, gain, bias, eps, p, i)),
        (varies(column, eps), varies(column_changed, eps)),
    ),
)
def acts_per_token(proof):
    "However the other tokens change, the output at a token stays the same."
    proof.equals(layer_norm(row, gain, bias, eps, i), "definition", of=of_tokens)
    proof.closes("definition", of=of_tokens)


sigma = permutation("sigma", n)
reordered, row_after = function((q, l), X[sigma(q), l]), row_of(X, sigma(p))


@theorem(
    eq(of_tokens(reordered, gain, bias, eps, p, i), of_tokens(X, gain, bias, eps, sigma(p), i)),
    given=[varies(row_after, eps)],
    near_miss=Statement(
        eq(of_tokens(reordered, gain, bias, eps, p, i), of_tokens(X, gain, bias, eps, p, i)),
        (varies(row_after, eps), varies(row, eps)),
    ),
)
def token_permutation(proof):
    "Reordered tokens have reordered outputs."
    proof.equals(layer_norm(row_after, gain, bias, eps, i), "definition", of=of_tokens)
    proof.closes("definition", of=of_tokens)
