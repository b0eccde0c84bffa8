r"""How large a normalised feature can be.

Definitions   normalised(x, eps, i)            x^_i = (x_i - average(x)) / sqrt(v + eps), of layer_norm.py
Statements    deviation_bound                  (x_i - average(x))^2 <= (d - 1) v
              squared_output_range             x^_i^2 <= (d - 1) v / (v + eps)
              absolute_from_square_of_nonzero  u != 0 and u^2 <= b^2 give |u| <= b
              absolute_from_square             u^2 <= b^2 gives |u| <= b
              output_range                     |x^_i| <= sqrt(d - 1) sqrt(v / (v + eps))
Scope         Any d >= 1 and any real eps with v + eps > 0; b >= 0. For d = 1 every normalised feature is 0.
Reference     Samuelson 1968, How deviant can you be?, for the first statement.
"""

from ..notation import absolute, delta, le, ne, sqrt, sum_, variable
from ..registry import theorem
from .layer_norm import average, biased_variance, d, eps, i, k, l, normalised, v, varied, x, x_hat

deviation = x[i] - average(x)
share = v / (eps + v)
u, b = variable("u"), variable("b", "nonnegative")


@theorem(le(deviation**2, (d - 1) * v), near_miss=v)
def deviation_bound(proof):
    "No feature is further than sqrt(d - 1) standard deviations from the mean (Samuelson's inequality)."
    mean = sum_(l, x[l]) / d
    other_pairs = sum_((l, k), (1 - delta(i, l)) * (1 - delta(i, k)) * (x[l] - x[k]) ** 2) / (2 * d)
    proof.equals((x[i] - mean) ** 2, "definition", of=average)
    proof.at_most((x[i] - mean) ** 2 + other_pairs, "order", difference=other_pairs)
    proof.equals((d - 1) * (sum_(l, (x[l] - mean) ** 2) / d), "finite_sum")
    proof.closes("definition", of=(biased_variance, average))


@theorem(le(x_hat(i) ** 2, (d - 1) * share), given=varied, near_miss=share)
def squared_output_range(proof):
    "The square of a normalised feature is at most (d - 1) v / (v + eps)."
    proof.equals((deviation / sqrt(eps + v)) ** 2, "definition", of=normalised)
    proof.equals(deviation**2 * (1 / (eps + v)), "field")
    proof.at_most((d - 1) * v * (1 / (eps + v)), "order", using=deviation_bound)
    proof.closes("field")


@theorem(le(absolute(u), b), given=[le(u**2, b**2), ne(u, 0)], near_miss=b / 2)
def absolute_from_square_of_nonzero(proof):
    "If u^2 <= b^2, then |u| <= b: here for u other than 0, where b + |u| is positive."
    gap = (b**2 - u**2) / (b + absolute(u))
    proof.at_most(absolute(u) + gap, "order", difference=gap)
    proof.equals(absolute(u) + (b**2 - absolute(u) ** 2) / (b + absolute(u)), "cases", on=le(0, u), then="order")
    proof.closes("field")


@theorem(le(absolute(u), b), given=[le(u**2, b**2)], near_miss=b / 2)
def absolute_from_square(proof):
    "If u^2 <= b^2, then |u| <= b."
    proof.closes("cases", on=ne(u, 0), then="order", using=absolute_from_square_of_nonzero)


@theorem(le(absolute(x_hat(i)), sqrt(d - 1) * sqrt(share)), given=varied, near_miss=sqrt(share))
def output_range(proof):
    "No normalised feature exceeds sqrt(d - 1) sqrt(v / (v + eps)), whatever the features are."
    at = {u: x_hat(i), b: sqrt(d - 1) * sqrt(share)}
    proof.closes(absolute_from_square, at=at, using=squared_output_range)
