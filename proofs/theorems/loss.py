r"""Cross-entropy of logits and targets: its value, gradient and Hessian, and what label smoothing does to it.

Definitions   cross_entropy(z, y)              -sum_c y_c log_softmax(z)_c
              smoothed(y, e, c)                (1 - e) y_c + e/n
Statements    hard_label_loss                  one-hot y: CE = -log s_r
              cross_entropy_along_a_curve      d CE(z(t), y)/dt = sum_j (sum_c y_c s_j - y_j) dz_j/dt
              cross_entropy_gradient           dCE/dz_j = s_j - y_j
              one_hot_sums_to_one              sum_c delta_cr = 1
              hard_label_gradient              one-hot y: dCE/dz_j = s_j - delta_jr
              cross_entropy_hessian            d^2 CE/dz_i dz_j = J_ij
              second_derivative_along_a_line   d^2 CE(z + t v, y)/dt^2 at t = 0 is v^T J v
              cross_entropy_is_convex          that second derivative is at least 0
              smoothed_targets_sum_to_one      sum_c smoothed(y, e)_c = 1
              label_smoothing                  dCE(z, smoothed(y, e))/dz_j = s_j - (1 - e) y_j - e/n
              smoothed_loss                    CE(z, smoothed(y, e)) = (1 - e) CE(z, y) + e (-1/n sum_c log s_c)
Scope         Any n >= 1, real logits; y sums to 1 where a hypothesis says so, and its entries may have any sign.
Reference     Bridle 1990 for the gradient; Szegedy et al. 2015 (arXiv:1512.00567), section 7, and Vaswani et al. 2017,
              section 5.4, for label smoothing.
"""

from ..notation import (
    Definition,
    delta,
    derivative,
    eq,
    family,
    function,
    i,
    j,
    l,
    le,
    log,
    n,
    r,
    sum_,
    t,
    variable,
    z,
)  # fmt: skip
from ..registry import theorem
from .softmax_derivatives import inner, log_softmax, log_softmax_is_log_of_softmax, logsumexp, logsumexp_along_a_curve
from .softmax_jacobian import J, along_a_curve, at_t, moved, path, quadratic_form_is_nonnegative, s, u, v

y = family("y", n)
e, c = variable("epsilon"), variable("c")
cross_entropy = Definition("cross_entropy", [z, y], -sum_(l, y[l] * log_softmax(z, l)), says="the loss of logits z")
smoothed = Definition("smoothed", [y, e, l], (1 - e) * y[l] + e / n, says="targets mixed with the uniform ones")

CE = cross_entropy
one_hot = function(l, delta(l, r))
normalised = eq(sum_(l, y[l]), 1)
some_y = {y: function(l, y[l] + (1 - sum_(i, y[i])) / n)}  # every y that sums to 1 has this form
velocity, mass = path.derivative, sum_(l, y[l])


@theorem(eq(CE(z, one_hot), -log(s(z, r))), near_miss=log(s(z, r)))
def hard_label_loss(proof):
    "With one target class the loss is minus the logarithm of its weight."
    proof.equals(-sum_(l, delta(l, r) * log_softmax(z, l)), "definition", of=CE)
    proof.equals(-log_softmax(z, r), "finite_sum")
    proof.closes(log_softmax_is_log_of_softmax)


@theorem(
    eq(derivative(t, CE(at_t, y), t), sum_(j, (mass * s(at_t, j) - y[j]) * velocity[j, t])),
    near_miss=[
        sum_(j, (mass * s(at_t, j) - y[j]) * path[j, t]),
        sum_(j, (s(at_t, j) - y[j]) * velocity[j, t]),
        sum_(j, (y[j] - mass * s(at_t, j)) * velocity[j, t]),
    ],
)
def cross_entropy_along_a_curve(proof):
    "Along any differentiable curve of logits, for any targets, the gradient of the loss is (sum y) s - y."
    flow = sum_(j, s(at_t, j) * velocity[j, t])
    proof.equals(derivative(t, -sum_(l, y[l] * (path[l, t] - logsumexp(at_t))), t), "definition", of=(CE, log_softmax))
    proof.equals(-sum_(l, y[l] * (velocity[l, t] - derivative(t, logsumexp(at_t), t))), "derivative")
    proof.equals(-sum_(l, y[l] * (velocity[l, t] - flow)), logsumexp_along_a_curve)
    proof.closes("finite_sum")


along_coordinate = {path: function([l, t], z[l] + t * delta(l, j)), t: 0}
partial = derivative(t, CE(moved(z, j, t), y), 0)


@theorem(
    eq(partial, s(z, j) - y[j]),
    given=[normalised],
    witness=some_y,
    near_miss=[s(z, j), y[j] - s(z, j), s(z, j) - s(z, j) * y[j]],
)
def cross_entropy_gradient(proof):
    "The gradient of the loss is the weights minus the targets."
    here = moved(z, j, 0)
    proof.equals(sum_(i, (mass * s(here, i) - y[i]) * delta(i, j)), cross_entropy_along_a_curve, at=along_coordinate)
    proof.equals(mass * s(here, j) - y[j], "finite_sum")
    proof.equals(1 * s(here, j) - y[j], "congruence", then="given")
    proof.closes("ring")


@theorem(eq(sum_(l, delta(l, r)), 1), near_miss=n)
def one_hot_sums_to_one(proof):
    "A one-hot target sums to 1."
    proof.closes("finite_sum")


hard_partial = derivative(t, CE(moved(z, j, t), one_hot), 0)


@theorem(
    eq(hard_partial, s(z, j) - delta(j, r)),
    near_miss=[s(z, j) - s(z, r), s(z, j) + delta(j, r), s(z, r) - delta(j, r), delta(j, r) - s(z, j)],
)
def hard_label_gradient(proof):
    "With one target class the gradient is the weights, less 1 at the target."
    proof.closes(cross_entropy_gradient, at={y: one_hot}, using=(one_hot_sums_to_one, {r: r}))


@theorem(
    eq(derivative(u, derivative(t, CE(inner, y), 0), 0), J(z, i, j)),
    given=[normalised],
    witness=some_y,
    near_miss=[-J(z, i, j), J(z, i, i), s(z, i) * delta(i, j), J(z, i, j) - y[i]],
)
def cross_entropy_hessian(proof):
    "The Hessian of the loss is the Jacobian of softmax, whatever the targets."
    at = {z: moved(z, j, u), j: i}
    proof.equals(derivative(u, s(moved(z, j, u), i) - y[i], 0), "congruence", then=cross_entropy_gradient, at=at)
    proof.equals(derivative(u, s(moved(z, j, u), i), 0), "derivative")
    proof.closes("definition", of=J)


line = function([l, t], z[l] + t * v[l])
at_u, at_zero = function(l, z[l] + u * v[l]), function(l, z[l] + 0 * v[l])
bend = derivative(u, derivative(t, CE(function(l, z[l] + t * v[l]), y), u), 0)


@theorem(
    eq(bend, sum_((i, j), v[i] * J(z, i, j) * v[j])),
    given=[normalised],
    witness=some_y,
    near_miss=[
        sum_((i, j), v[i] * J(z, i, j) * z[j]),
        -sum_((i, j), v[i] * J(z, i, j) * v[j]),
        sum_(i, v[i] * J(z, i, i) * v[i]),
    ],
)
def second_derivative_along_a_line(proof):
    "Along a line of logits the second derivative of the loss is the quadratic form of the Jacobian."
    slope = sum_(j, (mass * s(at_u, j) - y[j]) * v[j])
    at = {path: line, t: u}
    proof.equals(derivative(u, slope, 0), "congruence", then=cross_entropy_along_a_curve, at=at)
    proof.equals(sum_(j, mass * derivative(u, s(at_u, j), 0) * v[j]), "derivative")
    proof.equals(sum_(j, 1 * derivative(u, s(at_u, j), 0) * v[j]), "congruence", then="given")
    proof.equals(sum_(j, 1 * sum_(i, J(at_zero, j, i) * v[i]) * v[j]), along_a_curve, at={path: line, t: 0})
    proof.equals(sum_(j, sum_(i, J(z, j, i) * v[i]) * v[j]), "ring")
    proof.closes("finite_sum")


@theorem(le(0, bend), given=[normalised], witness=some_y, near_miss=[le(1, bend), le(bend, 0)])
def cross_entropy_is_convex(proof):
    "The loss is convex in the logits: at every point, along every line, its second derivative is at least 0."
    proof.at_most(sum_((i, j), v[i] * J(z, i, j) * v[j]), quadratic_form_is_nonnegative)
    proof.closes(second_derivative_along_a_line)


softened = function(l, smoothed(y, e, l))


@theorem(eq(sum_(l, smoothed(y, e, l)), 1), given=[normalised], witness=some_y, near_miss=1 - e)
def smoothed_targets_sum_to_one(proof):
    "Smoothed targets sum to 1."
    proof.equals(sum_(l, (1 - e) * y[l] + e / n), "definition", of=smoothed)
    proof.equals((1 - e) * sum_(l, y[l]) + e, "finite_sum")
    proof.equals((1 - e) * 1 + e, "congruence", then="given")
    proof.closes("ring")


@theorem(
    eq(derivative(t, CE(moved(z, j, t), softened), 0), s(z, j) - (1 - e) * y[j] - e / n),
    given=[normalised],
    witness=some_y,
    near_miss=[
        s(z, j) - y[j],
        s(z, j) - (1 - e) * y[j],
        s(z, j) - (1 - e) * y[j] + e / n,
        s(z, j) - (1 - e) * y[j] - e,
    ],
)
def label_smoothing(proof):
    "With smoothed targets the gradient is the weights minus the smoothed targets."
    target = smoothed(y, e, j)
    proof.equals(s(z, j) - target, cross_entropy_gradient, at={y: softened}, using=smoothed_targets_sum_to_one)
    proof.closes("definition", of=smoothed)


@theorem(
    eq(CE(z, softened), (1 - e) * CE(z, y) + e * (-sum_(l, log(s(z, l))) / n)),
    near_miss=[(1 - e) * CE(z, y) + e * -sum_(l, log(s(z, l))), (1 - e) * CE(z, y), CE(z, y)],
)
def smoothed_loss(proof):
    "The loss of smoothed targets mixes the loss with the mean of -log s over the classes."
    proof.equals(-sum_(l, ((1 - e) * y[l] + e / n) * log_softmax(z, l)), "definition", of=(CE, smoothed))
    hard, flat = -sum_(l, y[l] * log_softmax(z, l)), -sum_(l, log_softmax(z, l)) / n
    proof.equals((1 - e) * hard + e * flat, "finite_sum")
    proof.equals((1 - e) * CE(z, y) + e * flat, "definition", of=CE)
    proof.closes(log_softmax_is_log_of_softmax)
