r"""Where the normalisation stands: pre-norm keeps the identity path, post-norm does not.

Definitions   pre_norm(x, f)                   x + f(x^), where x^ = normalised(x); f_a stands for the branch's value
              post_norm(x, f)                  normalised(x + f)
              N_ab                             J_norm, the Jacobian of normalisation
Statements    pre_norm_along_a_curve           d/dt pre_norm_a = dx_a/dt + sum_b F_ab dx^_b/dt
              post_norm_along_a_curve          d/dt post_norm_a = (dy_a - mean(dy) - y^_a mean(y^ dy)) / sqrt(v + eps), y = x + f
              pre_norm_without_branch          f = 0: pre_norm is the identity
              post_norm_without_branch         f = 0: post_norm is normalisation, not the identity
              pre_norm_keeps_the_mean_direction   f = 0: the Jacobian maps 1 to 1
              post_norm_loses_the_mean_direction  f = 0: the Jacobian maps 1 to 0
              pre_norm_stack_without_branches  with all branches 0 a pre-norm stack of L layers is the identity
Scope         Any d >= 1, any eps with v + eps > 0, no gain and bias.
Reference     Xiong et al. 2020 (arXiv:2002.04745), section 3 and figure 1; Ba et al. 2016 (arXiv:1607.06450).
"""

from ..notation import Definition, curve, delta, derivative, eq, family, forall, function, le, sum_, t
from ..registry import theorem
from . import layer_norm_jacobian, residual
from .layer_norm import d, eps, i, j, l, normalised, varies, x
from .layer_norm_jacobian import along_a_curve, hat_of, moved, path, projected, root_of
from .layer_norm_null_space import null_space

f, F = family("f", d), family("F", d, d)
branch = curve("u", d)
nothing = function(l, 0)


def added(x, f):
    """The features plus what the branch adds."""
    return function(l, x[l] + f[l])


pre_norm = Definition("pre_norm", [x, f, i], x[i] + f[i], says="the branch f has got the normalised x")
post_norm = Definition(
    "post_norm",
    [x, f, eps, i],
    normalised(added(x, f), eps, i),
    requires=[varies(added(x, f), eps)],
    says="the branch f has got x, and the sum is normalised",
)

at_t, branch_at_t = function(l, path[l, t]), function(l, branch[l, t])
sum_at_t = function(l, path[l, t] + branch[l, t])
hat_rate = derivative(t, normalised(at_t, eps, j), t)
follows = forall(i, eq(branch.derivative[i, t], sum_(j, F[i, j] * hat_rate)))
linear_branch = {
    branch: function([i, t], sum_(j, F[i, j] * normalised(at_t, eps, j))),
    branch.derivative: function([i, t], sum_(j, F[i, j] * hat_rate)),
}


@theorem(
    eq(derivative(t, pre_norm(at_t, branch_at_t, i), t), path.derivative[i, t] + sum_(j, F[i, j] * hat_rate)),
    given=[varies(at_t, eps), follows],
    near_miss=[sum_(j, F[i, j] * hat_rate), path.derivative[i, t] + sum_(j, F[j, i] * hat_rate)],
    witness=linear_branch,
)
def pre_norm_along_a_curve(proof):
    "A pre-norm layer moves with its input, whatever the normalisation does to the branch."
    proof.equals(derivative(t, path[i, t] + branch[i, t], t), "definition", of=pre_norm)
    proof.equals(path.derivative[i, t] + branch.derivative[i, t], "derivative")
    proof.closes("congruence", then="given")


sum_rate = lambda l: path.derivative[l, t] + branch.derivative[l, t]
sum_hat, sum_root = hat_of(sum_at_t), root_of(sum_at_t)


@theorem(
    eq(derivative(t, post_norm(at_t, branch_at_t, eps, i), t), projected(sum_rate, sum_hat) / sum_root),
    given=[varies(sum_at_t, eps)],
    near_miss=[sum_rate(i) / sum_root, projected(lambda l: branch.derivative[l, t], sum_hat) / sum_root],
)
def post_norm_along_a_curve(proof):
    "A post-norm layer moves with what the normalisation leaves of the sum: the identity path goes through it as well."
    proof.equals(derivative(t, normalised(sum_at_t, eps, i), t), "definition", of=post_norm)
    proof.closes(along_a_curve, at={path: function([l, t], path[l, t] + branch[l, t])})


@theorem(eq(pre_norm(x, nothing, i), x[i]), near_miss=0)
def pre_norm_without_branch(proof):
    "A pre-norm layer whose branch adds nothing is the identity."
    proof.closes("definition", of=pre_norm)


@theorem(eq(post_norm(x, nothing, eps, i), normalised(x, eps, i)), given=[varies(x, eps)], near_miss=x[i])
def post_norm_without_branch(proof):
    "A post-norm layer whose branch adds nothing still normalises."
    proof.closes("definition", of=post_norm)


total_change = lambda layer: sum_(j, derivative(t, layer(moved(x, j, t)), 0))


@theorem(eq(total_change(lambda x: pre_norm(x, nothing, i)), 1), near_miss=[0, d])
def pre_norm_keeps_the_mean_direction(proof):
    "Without a branch the Jacobian of a pre-norm layer maps the constant vector to itself."
    proof.equals(sum_(j, derivative(t, x[i] + t * delta(i, j) + 0, 0)), "definition", of=pre_norm)
    proof.equals(sum_(j, delta(i, j)), "derivative")
    proof.closes("finite_sum")


@theorem(
    eq(total_change(lambda x: post_norm(x, nothing, eps, i)), 0), given=[varies(x, eps)], near_miss=[1, 1 / root_of(x)]
)
def post_norm_loses_the_mean_direction(proof):
    "Without a branch the Jacobian of a post-norm layer maps the constant vector to 0."
    proof.equals(total_change(lambda x: normalised(x, eps, i)), "definition", of=post_norm)
    proof.equals(sum_(j, layer_norm_jacobian.J(x, eps, i, j)), "definition", of=layer_norm_jacobian.J)
    proof.closes(null_space)


a, s, L, x_s = residual.a, residual.s, residual.L, residual.x
adds_nothing = forall(s, forall(a, eq(x_s[a, s + 1], x_s[a, s] + 0)), where=[le(0, s)])


@theorem(eq(x_s[a, L], x_s[a, 0]), given=[adds_nothing], near_miss=0, witness={x_s: function([a, t], f[a])})
def pre_norm_stack_without_branches(proof):
    "A pre-norm stack whose branches add nothing is the identity, however deep."
    proof.equals(x_s[a, 0] + sum_(residual.l, 0), residual.stack_unrolls, at={residual.f: function([a, t], 0)})
    proof.closes("finite_sum")
