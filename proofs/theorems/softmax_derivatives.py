r"""Log-sum-exp, log-softmax, the scale of the logits, and second derivatives.

Definitions   logsumexp(z)                     log sum_l exp z_l
              log_softmax(z, i)                z_i - logsumexp(z)
              entropy(p)                       -sum_l p_l log p_l
Statements    gradient_of_logsumexp            d logsumexp(z)/dz_j = s_j
              logsumexp_along_a_curve          d logsumexp(z(t))/dt = sum_j s_j dz_j/dt
              hessian_of_logsumexp             d^2 logsumexp(z)/dz_i dz_j = J_ij
              second_derivative                dJ_ij/dz_r = s_i ((d_ij - s_j)(d_ir - s_r) - s_j (d_jr - s_r))
              log_softmax_is_log_of_softmax    log_softmax(z)_i = log s_i
              log_softmax_jacobian             d log_softmax(z)_i/dz_j = delta_ij - s_j
              scale_derivative                 d softmax(b z)_i/db = s_i (z_i - <s, z>)
              entropy_of_softmax               H(softmax(z)) = logsumexp(z) - <s, z>
              entropy_decreases                dH(softmax(b z))/db = -b Var_s(z)
Scope         Any n >= 1, real logits; a partial derivative is the derivative along z_l + t delta_lj at t = 0.
Reference     Bridle 1990; Gao & Pavel 2017 (arXiv:1704.00805), Propositions 1 and 2; Vaswani et al. 2017, section 3.2.1.
"""

from ..notation import Definition, delta, derivative, eq, exp, function, i, j, l, log, r, sum_, t, z
from ..registry import theorem
from .softmax import Z, softmax, sums_to_one
from .softmax_jacobian import J, along_a_curve, at_t, b, jacobian, mean, moved, p, path, s, u, weights

logsumexp = Definition("logsumexp", [z], log(sum_(l, exp(z[l]))), says="the smooth maximum")
log_softmax = Definition("log_softmax", [z, i], z[i] - logsumexp(z), says="the logarithm of a weight")
entropy = Definition("entropy", [p], -sum_(l, p[l] * log(p[l])), says="the Shannon entropy of the weights p")


@theorem(eq(derivative(t, logsumexp(moved(z, j, t)), 0), s(z, j)), near_miss=[1 - s(z, j), z[j] * s(z, j)])
def gradient_of_logsumexp(proof):
    "The gradient of log-sum-exp is softmax."
    proof.equals(derivative(t, log(sum_(l, exp(z[l] + t * delta(l, j)))), 0), "definition", of=logsumexp)
    proof.equals(sum_(l, delta(l, j) * exp(z[l])) / Z, "derivative")
    proof.equals(exp(z[j]) / Z, "finite_sum")
    proof.closes("definition", of=softmax)


@theorem(
    eq(derivative(t, logsumexp(function(l, path[l, t])), t), sum_(j, s(at_t, j) * path.derivative[j, t])),
    near_miss=[sum_(j, s(at_t, j) * path[j, t]), sum_(j, path.derivative[j, t])],
)
def logsumexp_along_a_curve(proof):
    "Along any differentiable curve log-sum-exp moves by the mean velocity under the weights."
    velocity = path.derivative
    proof.equals(derivative(t, log(sum_(l, exp(path[l, t]))), t), "definition", of=logsumexp)
    proof.equals(sum_(l, velocity[l, t] * exp(path[l, t])) / sum_(l, exp(path[l, t])), "derivative")
    proof.equals(sum_(j, exp(path[j, t]) / sum_(l, exp(path[l, t])) * velocity[j, t]), "finite_sum")
    proof.closes("definition", of=softmax)


inner = function(l, z[l] + u * delta(l, j) + t * delta(l, i))


@theorem(
    eq(derivative(u, derivative(t, logsumexp(inner), 0), 0), J(z, i, j)), near_miss=[-J(z, i, j), delta(i, j) * s(z, i)]
)
def hessian_of_logsumexp(proof):
    "The Hessian of log-sum-exp is the Jacobian of softmax."
    at = {z: moved(z, j, u), j: i}
    proof.equals(derivative(u, s(moved(z, j, u), i), 0), "congruence", then=gradient_of_logsumexp, at=at)
    proof.closes("definition", of=J)


@theorem(
    eq(
        derivative(t, J(moved(z, r, t), i, j), 0),
        s(z, i) * ((delta(i, j) - s(z, j)) * (delta(i, r) - s(z, r)) - s(z, j) * (delta(j, r) - s(z, r))),
    ),
    near_miss=[
        s(z, i) * ((delta(i, j) - s(z, j)) * (delta(i, r) - s(z, r)) + s(z, j) * (delta(j, r) - s(z, r))),
        s(z, i) * ((delta(i, j) - s(z, j)) * (delta(i, r) - s(z, r))),
    ],
)
def second_derivative(proof):
    "The derivative of the Jacobian."
    at = moved(z, r, t)
    product = s(at, i) * (delta(i, j) - s(at, j))
    proof.equals(derivative(t, product, 0), "congruence", then=jacobian, at={z: at})
    d_i, d_j = (derivative(t, s(at, k), 0) for k in (i, j))
    proof.equals(d_i * (delta(i, j) - s(z, j)) - s(z, i) * d_j, "derivative")
    proof.equals(J(z, i, r) * (delta(i, j) - s(z, j)) - s(z, i) * J(z, j, r), "definition", of=J)
    s_i, s_j, s_r = (s(z, k) for k in (i, j, r))
    proof.equals(s_i * (delta(i, r) - s_r) * (delta(i, j) - s_j) - s_i * (s_j * (delta(j, r) - s_r)), jacobian)
    proof.closes("ring")


@theorem(eq(log_softmax(z, i), log(s(z, i))), near_miss=-log(s(z, i)))
def log_softmax_is_log_of_softmax(proof):
    "Log-softmax is the logarithm of softmax."
    proof.equals(z[i] - log(Z), "definition", of=(log_softmax, logsumexp))
    proof.equals(log(exp(z[i]) / Z), "exp_log")
    proof.closes("definition", of=softmax)


@theorem(
    eq(derivative(t, log_softmax(moved(z, j, t), i), 0), delta(i, j) - s(z, j)),
    near_miss=[delta(i, j) - s(z, i), delta(i, j)],
)
def log_softmax_jacobian(proof):
    "The Jacobian of log-softmax."
    proof.equals(derivative(t, z[i] + t * delta(i, j) - logsumexp(moved(z, j, t)), 0), "definition", of=log_softmax)
    proof.equals(delta(i, j) - derivative(t, logsumexp(moved(z, j, t)), 0), "derivative")
    proof.closes(gradient_of_logsumexp)


scaled = function(l, b * z[l])
scaled_weights = function(l, s(scaled, l))


@theorem(
    eq(derivative(t, s(function(l, t * z[l]), i), b), s(scaled, i) * (z[i] - mean(scaled_weights, z))),
    near_miss=[s(scaled, i) * (1 - s(scaled, i)), s(scaled, i) * z[i]],
)
def scale_derivative(proof):
    "How a weight changes with the scale of the logits."
    line, at_b = function([l, t], t * z[l]), scaled
    proof.equals(sum_(j, J(at_b, i, j) * z[j]), along_a_curve, at={path: line, t: b})
    proof.equals(sum_(j, s(at_b, i) * (delta(i, j) - s(at_b, j)) * z[j]), jacobian, at={z: at_b})
    proof.equals(s(at_b, i) * (z[i] - sum_(l, s(at_b, l) * z[l])), "finite_sum")
    proof.closes("definition", of=mean)


@theorem(eq(entropy(weights), logsumexp(z) - mean(weights, z)), near_miss=logsumexp(z) + mean(weights, z))
def entropy_of_softmax(proof):
    "The entropy of the weights."
    proof.equals(-sum_(l, s(z, l) * log(s(z, l))), "definition", of=entropy)
    proof.equals(-sum_(l, s(z, l) * log_softmax(z, l)), log_softmax_is_log_of_softmax, backwards=True)
    proof.equals(-sum_(l, s(z, l) * (z[l] - logsumexp(z))), "definition", of=log_softmax)
    proof.equals(logsumexp(z) * sum_(l, s(z, l)) - sum_(l, s(z, l) * z[l]), "finite_sum")
    proof.equals(logsumexp(z) - sum_(l, s(z, l) * z[l]), sums_to_one)
    proof.closes("definition", of=mean)


variance = sum_(i, s(scaled, i) * (z[i] - mean(scaled_weights, z)) ** 2)


@theorem(
    eq(derivative(t, entropy(function(l, s(function(l, t * z[l]), l))), b), -b * variance),
    near_miss=[b * variance, -variance],
)
def entropy_decreases(proof):
    "The entropy of the weights falls with the scale, at the rate b Var_s(z)."
    at_t = function(l, t * z[l])
    w = scaled_weights
    proof.equals(
        derivative(t, logsumexp(at_t) - mean(function(l, s(at_t, l)), at_t), b),
        "congruence", then=entropy_of_softmax, at={z: at_t},
    )  # fmt: skip
    proof.equals(derivative(t, logsumexp(at_t) - sum_(l, s(at_t, l) * (t * z[l])), b), "definition", of=mean)
    m, rate = sum_(l, s(scaled, l) * z[l]), sum_(i, z[i] * derivative(t, s(at_t, i), b))
    parts = sum_(l, derivative(t, s(at_t, l), b) * (b * z[l]) + s(scaled, l) * z[l])
    proof.equals(derivative(t, logsumexp(at_t), b) - parts, "derivative")
    proof.equals(derivative(t, logsumexp(at_t), b) - m - b * rate, "finite_sum")
    line = function([l, t], t * z[l])
    proof.equals(m - m - b * rate, logsumexp_along_a_curve, at={path: line, t: b})
    proof.equals(-b * sum_(i, z[i] * (s(scaled, i) * (z[i] - mean(w, z)))), scale_derivative)
    proof.equals(-b * sum_(i, z[i] * (s(scaled, i) * (z[i] - m))), "definition", of=mean)
    squares = sum_(i, s(scaled, i) * z[i] ** 2)
    proof.equals(-b * (squares - 2 * m * m + m * m * 1), "finite_sum")
    proof.equals(-b * (squares - 2 * m * m + m * m * sum_(i, s(scaled, i))), sums_to_one, at={z: scaled})
    proof.equals(-b * sum_(i, s(scaled, i) * (z[i] - m) ** 2), "finite_sum")
    proof.closes("definition", of=mean)
