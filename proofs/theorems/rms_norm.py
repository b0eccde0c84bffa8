r"""RMS normalisation: layer normalisation without the mean.

Definitions   mean_square(x)                   m = sum_l x_l^2 / d
              rms_normalised(x, eps, i)        y_i = x_i / sqrt(m + eps)
              rms_norm(x, gain, eps, i)        gain_i y_i
Statements    value                            mean_square(y) = m / (m + eps)
              layer_norm_of_centred            normalised(x) = rms_normalised(x - average(x))
              mean_square_of_multiple          mean_square(a x) = a^2 m
              scale_law                        a != 0: rms_normalised_eps(a x) = (a / |a|) rms_normalised_(eps/a^2)(x)
              scale_invariance_without_eps     a > 0: rms_norm_0(a x) = rms_norm_0(x)
              squared_output_bound             0 <= eps gives y_i^2 <= d
              rms_output_bound                 0 <= eps gives |y_i| <= sqrt(d)
Scope         Any d >= 1 and any real eps with m + eps > 0; for eps = 0 this says that x is not 0. Where two vectors are
              normalised, both conditions are hypotheses.
Reference     Zhang & Sennrich 2019 (arXiv:1910.07467), section 4, where eps is left out.
"""

from ..notation import Definition, absolute, eq, function, le, lt, ne, sqrt, sum_
from ..registry import Statement, theorem
from .layer_norm import a, average, biased_variance, d, eps, gain, i, l, normalised, varied, x
from .layer_norm_bounds import absolute_from_square, b, u
from .layer_norm_scale import root_of_scaled, sign, smaller, w

mean_square = Definition("mean_square", [x], sum_(l, x[l] ** 2) / d, says="the mean of the squared features")
m = mean_square(x)


def large(vector, eps):
    """The condition under which a vector can be normalised."""
    return lt(0, eps + mean_square(vector))


def root_of(vector):
    """What a vector is divided by."""
    return sqrt(eps + mean_square(vector))


rms_normalised = Definition("rms_normalised", [x, eps, i], x[i] / root_of(x), requires=[large(x, eps)], says="y_i")
rms_norm = Definition(
    "rms_norm",
    [x, gain, eps, i],
    gain[i] * rms_normalised(x, eps, i),
    requires=[large(x, eps)],
    says="RMS normalisation, with a gain per feature",
)
enough, root = [large(x, eps)], root_of(x)


def y_of(vector):
    """The normalised features of a vector, as a function of the feature."""
    return lambda feature: rms_normalised(vector, eps, feature)


y = y_of(x)
share = m / (eps + m)


@theorem(eq(mean_square(function(l, y(l))), share), given=enough, near_miss=1)
def value(proof):
    "The normalised features have the mean square m / (m + eps), which is 1 only without eps."
    proof.equals(sum_(l, y(l) ** 2) / d, "definition", of=mean_square)
    proof.equals(sum_(l, (x[l] / root) ** 2) / d, "definition", of=rms_normalised)
    proof.equals(sum_(l, x[l] ** 2) / d / (eps + m), "finite_sum")
    proof.closes("definition", of=mean_square)


centred = function(l, x[l] - average(x))


@theorem(
    eq(normalised(x, eps, i), rms_normalised(centred, eps, i)),
    given=[*varied, large(centred, eps)],
    near_miss=Statement(eq(normalised(x, eps, i), y(i)), (*varied, large(centred, eps), *enough)),
)
def layer_norm_of_centred(proof):
    "Layer normalisation is RMS normalisation of the features less their mean."
    unfolded = (normalised, biased_variance, mean_square)
    proof.equals((x[i] - average(x)) / root_of(centred), "definition", of=unfolded)
    proof.closes("definition", of=rms_normalised)


multiple = function(l, a * x[l])


@theorem(eq(mean_square(multiple), a**2 * m), near_miss=a * m)
def mean_square_of_multiple(proof):
    "The mean square of a x is a^2 times that of x."
    proof.equals(sum_(l, (a * x[l]) ** 2) / d, "definition", of=mean_square)
    proof.equals(a**2 * (sum_(l, x[l] ** 2) / d), "finite_sum")
    proof.closes("definition", of=mean_square)


@theorem(
    eq(rms_normalised(multiple, eps, i), sign * rms_normalised(x, smaller, i)),
    given=[ne(a, 0), large(x, smaller), large(multiple, eps)],
    near_miss=rms_normalised(x, smaller, i),
)
def scale_law(proof):
    "Features scaled by a are normalised as if eps were eps/a^2, and turned round where a is negative."
    scaled = smaller + m
    proof.equals(a * x[i] / root_of(multiple), "definition", of=rms_normalised)
    proof.equals(a * x[i] / sqrt(a**2 * scaled), mean_square_of_multiple)
    proof.equals(a * x[i] / (absolute(a) * sqrt(scaled)), root_of_scaled, at={w: scaled})
    proof.closes("definition", of=rms_normalised)


def same_output(eps):
    """The scaled features have the outputs of the features themselves."""
    return eq(rms_norm(multiple, gain, eps, i), rms_norm(x, gain, eps, i))


def both(eps):
    """The features can be normalised, scaled or not."""
    return large(x, eps), large(multiple, eps)


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
    proof.equals(gain[i] * rms_normalised(multiple, 0, i), "definition", of=rms_norm)
    proof.equals(gain[i] * (sign * rms_normalised(x, 0 / a**2, i)), scale_law, at={eps: 0})
    proof.equals(gain[i] * rms_normalised(x, 0, i), "order")
    proof.closes("definition", of=rms_norm)


@theorem(le(y(i) ** 2, d), given=[*enough, le(0, eps)], near_miss=1)
def squared_output_bound(proof):
    "The square of a normalised feature is at most d."
    proof.equals((x[i] / root) ** 2, "definition", of=rms_normalised)
    proof.equals(x[i] ** 2 * (1 / (eps + m)), "field")
    proof.at_most(sum_(l, x[l] ** 2) * (1 / (eps + m)), "order")
    proof.equals(d * (sum_(l, x[l] ** 2) / d) / (eps + m), "field")
    proof.equals(d * share, "definition", of=mean_square)
    proof.closes("order", difference=d * eps / (eps + m))


@theorem(le(absolute(y(i)), sqrt(d)), given=[*enough, le(0, eps)], near_miss=1)
def rms_output_bound(proof):
    "No normalised feature exceeds sqrt(d), whatever the features are."
    proof.closes(absolute_from_square, at={u: y(i), b: sqrt(d)}, using=squared_output_bound)
