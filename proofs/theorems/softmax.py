r"""Softmax: weights of logits, what leaves them alone, and how far they can be from uniform.

Definitions   softmax(z, i)                    exp z_i / sum_l exp z_l
Statements    positive                         0 < s_i
              sums_to_one                      sum_i s_i = 1
              at_most_one                      s_i <= 1
              pair_sum                         s_i + s_j <= 1 + delta_ij s_i
              shift_invariance                 softmax(z + c) = softmax(z)
              permutation_equivariance         softmax(z o pi)_i = softmax(z)_pi(i)
              preserves_order                  z_i <= z_j gives s_i <= s_j
              preserves_strict_order           z_i < z_j gives s_i < s_j
              two_classes_are_sigmoid          n = 2: s_0 = 1 / (1 + exp(-(z_0 - z_1)))
              zero_scale_is_uniform            softmax(0 z)_i = 1/n
              relative_form                    s_i = 1 / (1 + sum_(j != i) exp(z_j - z_i))
              dispersion_lower_bound           1 / (1 + (n - 1) e^D) <= s_i, where D >= max z - min z
              dispersion_bounds                s_i <= 1 / (1 + (n - 1) e^(-D))
              perturbation                     s(y)_i / s(z)_i <= e^rho, rho >= max(y - z) - min(y - z)
              perturbation_lower_bound         e^(-rho) <= s(y)_i / s(z)_i
Scope         Any n >= 1 and real logits.
Reference     Bridle 1990; Gao & Pavel 2017 (arXiv:1704.00805), section 2, for the elementary properties.
"""

from ..notation import (
    Definition,
    delta,
    eq,
    exp,
    family,
    forall,
    function,
    i,
    index,
    j,
    l,
    le,
    literal,
    lt,
    n,
    permutation,
    sin,
    sum_,
    variable,
    z,
)  # fmt: skip
from ..registry import theorem

softmax = Definition("softmax", [z, i], exp(z[i]) / sum_(l, exp(z[l])), says="the weight of class i")

s = softmax
Z = sum_(l, exp(z[l]))
c, D, rho = variable("c"), variable("D"), variable("rho")
y = family("y", n)
pi = permutation("pi", n)


@theorem(lt(0, s(z, i)), near_miss=lt(1, s(z, i)))
def positive(proof):
    "Every weight is positive."
    proof.less_than(exp(z[i]) / Z, "order")
    proof.closes("definition", of=softmax)


@theorem(eq(sum_(i, s(z, i)), 1), near_miss=n)
def sums_to_one(proof):
    "The weights sum to 1."
    proof.equals(sum_(i, exp(z[i]) / Z), "definition", of=softmax)
    proof.closes("finite_sum")


@theorem(le(s(z, i), 1), near_miss=s(z, j))
def at_most_one(proof):
    "No weight exceeds 1."
    proof.at_most(sum_(j, s(z, j)), "order", using=positive)
    proof.closes(sums_to_one)


@theorem(le(s(z, i) + s(z, j), 1 + delta(i, j) * s(z, i)), near_miss=1 - delta(i, j) * s(z, i))
def pair_sum(proof):
    "Two different weights sum to at most 1."
    others = sum_(l, (1 - delta(i, l)) * (1 - delta(j, l)) * s(z, l))
    proof.equals(sum_(l, s(z, l)) + delta(i, j) * s(z, i) - others, "finite_sum")
    proof.at_most(sum_(l, s(z, l)) + delta(i, j) * s(z, i), "order", difference=others)
    proof.closes(sums_to_one)


@theorem(
    eq(s(function(l, z[l] + c), i), s(z, i)),
    near_miss=eq(s(function(l, z[l] * c), i), s(z, i)),
)
def shift_invariance(proof):
    "One number added to every logit changes nothing."
    proof.equals(exp(z[i] + c) / sum_(l, exp(z[l] + c)), "definition", of=softmax)
    proof.equals(exp(z[i]) * exp(c) / sum_(l, exp(z[l]) * exp(c)), "exp_log")
    proof.equals(exp(z[i]) / Z, "finite_sum")
    proof.closes("definition", of=softmax)


@theorem(eq(s(function(l, z[pi(l)]), i), s(z, pi(i))), near_miss=s(z, i))
def permutation_equivariance(proof):
    "Permuted logits have permuted weights."
    proof.equals(exp(z[pi(i)]) / sum_(l, exp(z[pi(l)])), "definition", of=softmax)
    proof.equals(exp(z[pi(i)]) / Z, "finite_sum")
    proof.closes("definition", of=softmax)


@theorem(le(s(z, i), s(z, j)), given=[le(z[i], z[j])], near_miss=le(s(z, j), s(z, i)))
def preserves_order(proof):
    "A larger logit has no smaller weight."
    proof.equals(exp(z[i]) / Z, "definition", of=softmax)
    proof.at_most(exp(z[j]) / Z, "order")
    proof.closes("definition", of=softmax)


@theorem(lt(s(z, i), s(z, j)), given=[lt(z[i], z[j])], near_miss=lt(s(z, j), s(z, i)))
def preserves_strict_order(proof):
    "A larger logit has a larger weight."
    proof.equals(exp(z[i]) / Z, "definition", of=softmax)
    proof.less_than(exp(z[j]) / Z, "order")
    proof.closes("definition", of=softmax)


two = family("z", 2)


@theorem(
    eq(s(two, literal(0, 2)), 1 / (1 + exp(-(two[0] - two[1])))),
    near_miss=1 / (1 + exp(two[0] - two[1])),
)
def two_classes_are_sigmoid(proof):
    "With two classes the weight is the sigmoid of the difference of the logits."
    k = index("k", 2)
    proof.equals(exp(two[0]) / sum_(k, exp(two[k])), "definition", of=softmax)
    proof.equals(exp(two[0]) / (exp(two[0]) + exp(two[1])), "finite_sum")
    proof.closes("exp_log")


@theorem(eq(s(function(l, 0 * z[l]), i), 1 / n), near_miss=n)
def zero_scale_is_uniform(proof):
    "At scale 0 all weights are 1/n."
    proof.equals(exp(0 * z[i]) / sum_(l, exp(0 * z[l])), "definition", of=softmax)
    proof.closes("finite_sum")


def others(term):
    """The sum of a term over all j other than i."""
    return sum_(j, (1 - delta(i, j)) * term)


@theorem(eq(s(z, i), 1 / (1 + others(exp(z[j] - z[i])))), near_miss=1 / (1 + sum_(j, exp(z[j] - z[i]))))
def relative_form(proof):
    "A weight depends on the differences to its own logit alone."
    proof.equals(exp(z[i]) / Z, "definition", of=softmax)
    proof.equals(1 / (1 + others(exp(z[j]) / exp(z[i]))), "finite_sum")
    proof.closes("exp_log")


spread = forall([j, l], le(z[j] - z[l], D))
width, x = variable("width", "nonnegative"), family("x", n)
within_spread = {D: width, z: function(l, width / 2 * sin(x[l]))}


@theorem(
    le(1 / (1 + (n - 1) * exp(D)), s(z, i)),
    given=[spread],
    witness=within_spread,
    near_miss=le(1 / (1 + (n - 1) * exp(-D)), s(z, i)),
)
def dispersion_lower_bound(proof):
    "No weight is smaller than 1 / (1 + (n - 1) e^D), where D bounds the spread of the logits."
    proof.equals(1 / (1 + others(exp(D))), "finite_sum")
    proof.at_most(1 / (1 + others(exp(z[j] - z[i]))), "order")
    proof.closes(relative_form)


@theorem(
    le(s(z, i), 1 / (1 + (n - 1) * exp(-D))),
    given=[spread],
    witness=within_spread,
    near_miss=1 / (1 + (n - 1) * exp(D)),
)
def dispersion_bounds(proof):
    "No weight is larger than 1 / (1 + (n - 1) e^(-D)), where D bounds the spread of the logits."
    proof.equals(1 / (1 + others(exp(z[j] - z[i]))), relative_form)
    proof.at_most(1 / (1 + others(exp(-D))), "order")
    proof.closes("finite_sum")


drift = forall([j, l], le((y[j] - z[j]) - (y[l] - z[l]), rho))
within_drift = {rho: width, y: function(l, z[l] + width / 2 * sin(x[l]))}


@theorem(le(s(y, i) / s(z, i), exp(rho)), given=[drift], witness=within_drift, near_miss=exp(-rho))
def perturbation(proof):
    "If the logits move by amounts that differ by at most rho, no weight grows by more than the factor e^rho."
    proof.equals(exp(y[i]) / sum_(l, exp(y[l])) / (exp(z[i]) / Z), "definition", of=softmax)
    proof.equals(sum_(l, exp(y[i]) / exp(z[i]) * exp(z[l])) / sum_(l, exp(y[l])), "finite_sum")
    proof.equals(sum_(l, exp(y[i] - z[i] + z[l])) / sum_(l, exp(y[l])), "exp_log")
    proof.at_most(sum_(l, exp(rho + y[l])) / sum_(l, exp(y[l])), "order")
    proof.equals(sum_(l, exp(rho) * exp(y[l])) / sum_(l, exp(y[l])), "exp_log")
    proof.closes("finite_sum")


@theorem(
    le(exp(-rho), s(y, i) / s(z, i)), given=[drift], witness=within_drift, near_miss=le(exp(rho), s(y, i) / s(z, i))
)
def perturbation_lower_bound(proof):
    "If the logits move by amounts that differ by at most rho, no weight shrinks by more than the factor e^(-rho)."
    proof.equals(sum_(l, exp(-rho) * exp(y[l])) / sum_(l, exp(y[l])), "finite_sum")
    proof.equals(sum_(l, exp(-rho + y[l])) / sum_(l, exp(y[l])), "exp_log")
    proof.at_most(sum_(l, exp(y[i] - z[i] + z[l])) / sum_(l, exp(y[l])), "order")
    proof.equals(sum_(l, exp(y[i]) / exp(z[i]) * exp(z[l])) / sum_(l, exp(y[l])), "exp_log")
    proof.equals(exp(y[i]) / sum_(l, exp(y[l])) / (exp(z[i]) / Z), "finite_sum")
    proof.closes("definition", of=softmax)
