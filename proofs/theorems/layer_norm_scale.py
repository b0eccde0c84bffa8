r"""Layer normalisation of scaled features, and by the unbiased variance.

Definitions   unbiased_variance(x)             sum_l (x_l - average(x))^2 / (d - 1)
              unbiased_normalised(x, i)        (x_i - average(x)) / sqrt(unbiased_variance(x))
Statements    root_of_scaled                   a != 0: sqrt(a^2 w) = |a| sqrt(w)
              scale_law                        a != 0: normalised_eps(a x + c) = (a / |a|) normalised_(eps/a^2)(x)
              scale_law_negative               a < 0: normalised_eps(a x + c) = -normalised_(eps/a^2)(x)
              scale_invariance_without_eps     a > 0: layer_norm_0(a x + c) = layer_norm_0(x)
              biased_from_unbiased             v = ((d - 1) / d) unbiased_variance(x)
              unbiased_variance_ratio          unbiased_normalised(x)_i = sqrt((d - 1) / d) normalised_0(x)_i
Scope         Any d >= 1, and d >= 2 from scale_invariance_without_eps on; w > 0; any real eps with v + eps > 0. Where
              two vectors are normalised, both conditions are hypotheses.
Reference     Ba, Kiros & Hinton 2016 (arXiv:1607.06450), section 5.1, where eps is left out.
"""

from ..notation import Definition, absolute, eq, family, function, index, le, lt, ne, size, sqrt, sum_, variable
from ..registry import Statement, theorem
from .layer_norm import (
    a,
    affine,
    average,
    average_of_affine,
    biased_variance,
    c,
    d,
    eps,
    i,
    layer_norm,
    normalised,
    v,
    variance_of_affine,
    varies,
    x,
)

w = variable("w", "positive")
root, factor = sqrt(a**2 * w), absolute(a) * sqrt(w)
sign = a / absolute(a)
deviation = x[i] - average(x)


@theorem(eq(root, factor), given=[ne(a, 0)], near_miss=a * sqrt(w))
def root_of_scaled(proof):
    "A square leaves a root as an absolute value: both sides are positive, and their squares agree."
    proof.equals((a**2 * w + root * factor) / (root + factor), "field")
    proof.equals((absolute(a) ** 2 * w + root * factor) / (root + factor), "cases", on=le(0, a), then="order")
    proof.closes("field")


smaller = eps / a**2
both_vary = [varies(x, smaller), varies(affine, eps)]


@theorem(
    eq(normalised(affine, eps, i), sign * normalised(x, smaller, i)),
    given=[ne(a, 0), *both_vary],
    near_miss=[normalised(x, smaller, i), sign * normalised(x, smaller, i) + c],
)
def scale_law(proof):
    "Features scaled by a are normalised as if eps were eps/a^2, and turned round where a is negative."
    moved, scaled = a * x[i] + c, smaller + v
    proof.equals((moved - average(affine)) / sqrt(eps + biased_variance(affine)), "definition", of=normalised)
    proof.equals(a * deviation / sqrt(eps + biased_variance(affine)), average_of_affine)
    proof.equals(a * deviation / sqrt(a**2 * scaled), variance_of_affine)
    proof.equals(a * deviation / (absolute(a) * sqrt(scaled)), root_of_scaled, at={w: scaled})
    proof.closes("definition", of=normalised)


@theorem(
    eq(normalised(affine, eps, i), -normalised(x, smaller, i)),
    given=[lt(a, 0), *both_vary],
    near_miss=normalised(x, smaller, i),
    witness={a: -w},
)
def scale_law_negative(proof):
    "A negative factor turns the normalised features round."
    proof.equals(sign * normalised(x, smaller, i), scale_law)
    proof.closes("order")


D = size("d", 2)  # without eps one feature alone cannot be normalised: it is its own mean
i2, l2 = index("i", D), index("l", D)
x2, gain2, bias2 = (family(name, D) for name in ("x", "gain", "bias"))
multiple = function(l2, a * x2[l2] + c)


def same_output(eps):
    """The scaled features have the outputs of the features themselves."""
    return eq(layer_norm(multiple, gain2, bias2, eps, i2), layer_norm(x2, gain2, bias2, eps, i2))


def both(eps):
    """The features can be normalised, scaled or not."""
    return varies(x2, eps), varies(multiple, eps)


@theorem(
    same_output(0),
    given=[lt(0, a), *both(0)],
    near_miss=[
        Statement(same_output(eps), (lt(0, a), *both(eps))),
        (Statement(same_output(0), (lt(a, 0), *both(0))), {a: -w}),
    ],
    witness={a: w},
)
def scale_invariance_without_eps(proof):
    "Without eps a positive factor changes nothing."
    at = {d: D, eps: 0}
    proof.equals(gain2[i2] * normalised(multiple, 0, i2) + bias2[i2], "definition", of=layer_norm)
    proof.equals(gain2[i2] * (sign * normalised(x2, 0 / a**2, i2)) + bias2[i2], scale_law, at=at)
    proof.equals(gain2[i2] * normalised(x2, 0, i2) + bias2[i2], "order")
    proof.closes("definition", of=layer_norm)


squares, distance = sum_(l2, (x2[l2] - average(x2)) ** 2), x2[i2] - average(x2)
unbiased_variance = Definition("unbiased_variance", [x2], squares / (D - 1), says="the variance, divided by d - 1")
s = unbiased_variance(x2)
unbiased_normalised = Definition(
    "unbiased_normalised", [x2, i2], distance / sqrt(s), requires=[lt(0, s)], says="x^_i by s instead of v"
)
ratio = (D - 1) / D


@theorem(eq(biased_variance(x2), ratio * s), near_miss=s / ratio)
def biased_from_unbiased(proof):
    "The biased variance is (d - 1)/d of the unbiased one."
    proof.equals(squares / D, "definition", of=biased_variance)
    proof.equals(ratio * (squares / (D - 1)), "field")
    proof.closes("definition", of=unbiased_variance)


@theorem(
    eq(unbiased_normalised(x2, i2), sqrt(ratio) * normalised(x2, 0, i2)),
    given=[lt(0, s), varies(x2, 0)],
    near_miss=[normalised(x2, 0, i2) / sqrt(ratio), normalised(x2, 0, i2)],
)
def unbiased_variance_ratio(proof):
    "Division by the unbiased standard deviation multiplies every output by sqrt((d - 1)/d)."
    f = sqrt(ratio)
    proof.equals(distance / sqrt(s), "definition", of=unbiased_normalised)
    proof.equals(f * distance / (absolute(f) * sqrt(s)), "order")
    proof.equals(f * distance / sqrt(f**2 * s), root_of_scaled, at={a: f, w: s})
    proof.equals(f * distance / sqrt(ratio * s), "ring")
    proof.equals(f * distance / sqrt(biased_variance(x2)), biased_from_unbiased)
    proof.closes("definition", of=normalised)
