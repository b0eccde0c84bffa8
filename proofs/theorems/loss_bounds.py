r"""How large cross-entropy and its gradient can be.

Definitions   cross_entropy, of loss.py
Statements    gradient_one_norm                one-hot y: sum_j |dCE/dz_j| = 2 (1 - s_r)
              log_softmax_is_nonpositive       log_softmax(z)_i <= 0
              cross_entropy_is_nonnegative     0 <= CE where y >= 0
              uniform_logits_give_log_of_classes   equal logits: CE = log n
Scope         Any n >= 1 and real logits; y sums to 1 where CE = log n.
Reference     Bridle 1990.
"""

from ..notation import (
    absolute,
    delta,
    eq,
    exp,
    family,
    function,
    i,
    j,
    l,
    le,
    log,
    n,
    number,
    r,
    sum_,
    z,
)  # fmt: skip
from ..registry import theorem
from .loss import CE, c, hard_label_gradient, hard_partial, normalised, some_y, y
from .softmax import at_most_one, positive, sums_to_one
from .softmax_derivatives import log_softmax, log_softmax_is_log_of_softmax, logsumexp
from .softmax_jacobian import s


@theorem(
    eq(sum_(j, absolute(hard_partial)), 2 * (1 - s(z, r))),
    near_miss=[1 - s(z, r), 2 * s(z, r), 2 * (1 - s(z, r) ** 2)],
)
def gradient_one_norm(proof):
    "With one target class the absolute gradient sums to twice the weight that the other classes hold."
    proof.equals(sum_(j, absolute(s(z, j) - delta(j, r))), hard_label_gradient)
    by_cases = {"on": (j, r), "then": "order"}
    signed = sum_(j, s(z, j) + delta(j, r) * (1 - 2 * s(z, j)))
    proof.equals(signed, "congruence", then="cases", inner=by_cases, using=[positive, at_most_one])
    proof.equals(sum_(j, s(z, j)) + 1 - 2 * s(z, r), "finite_sum")
    proof.equals(1 + 1 - 2 * s(z, r), sums_to_one)
    proof.closes("ring")


@theorem(le(log_softmax(z, i), 0), near_miss=le(log_softmax(z, i), -1))
def log_softmax_is_nonpositive(proof):
    "No log-softmax is above 0."
    proof.equals(log(s(z, i)), log_softmax_is_log_of_softmax)
    proof.at_most(log(number(1)), "order", using=at_most_one)
    proof.closes("exp_log")


p = family("y", n, domain="nonnegative")


@theorem(le(0, CE(z, p)), near_miss=le(1, CE(z, p)))
def cross_entropy_is_nonnegative(proof):
    "The loss is at least 0 where no target is negative."
    proof.at_most(sum_(l, p[l] * -log_softmax(z, l)), "order", using=log_softmax_is_nonpositive)
    proof.equals(-sum_(l, p[l] * log_softmax(z, l)), "finite_sum")
    proof.closes("definition", of=CE)


@theorem(eq(CE(function(l, c), y), log(n)), given=[normalised], witness=some_y, near_miss=[log(n) - c, n, 1 / n])
def uniform_logits_give_log_of_classes(proof):
    "Equal logits have the loss log n, whatever the targets."
    flat = c - log(sum_(l, exp(c)))
    proof.equals(-sum_(l, y[l] * flat), "definition", of=(CE, log_softmax, logsumexp))
    proof.equals(-(c - log(n * exp(c))) * sum_(l, y[l]), "finite_sum")
    proof.equals(log(n) * sum_(l, y[l]), "exp_log")
    proof.equals(log(n) * 1, "congruence", then="given")
    proof.closes("ring")
