r"""Residual connections: the Jacobian has the identity in it, and a stack is the input plus what its layers add.

Definitions   x_a(l), f_a(l)                   the features at layer l, and what branch l adds to them: f_l(x_l)
              J_ab(l)                          the Jacobian of branch l
              T_ab(l)                          the Jacobian of the first l layers, (I + J(l - 1)) .. (I + J(0))
Statements    residual_jacobian                d(x_a + f_a(x))/dx_b = delta_ab + J_ab
              residual_along_a_curve           d/dt (x + f(x))_a = sum_b (delta_ab + J_ab) dx_b/dt
              stack_base, stack_step           the two halves of the next one
              stack_unrolls                    x(L) = x(0) + sum_(l < L) f(l)
              product_base, product_step       the two halves of the next one
              stack_jacobian_is_product        dx(L) = T(L) dx(0)
              two_layers_keep_the_identity_path   T(2) = I + J(0) + J(1) + J(1) J(0)
              residual_may_cancel              f(x) = -x: the Jacobian of x + f(x) is 0, the identity path notwithstanding
Scope         Any d >= 1 and any number L >= 0 of layers; the branches are any differentiable functions.
Reference     He et al. 2016 (arXiv:1603.05027), equations 3 to 5; Vaswani et al. 2017, section 3.1.
"""

from ..notation import (
    ANY_REAL,
    curve,
    delta,
    derivative,
    eq,
    family,
    forall,
    function,
    index,
    le,
    literal,
    number,
    size,
    sum_,
    t,
    value_of,
    variable,
)
from ..registry import theorem
from ..scripts import Specialised

d, L = size("d"), size("L", 0)
a, b, c = (index(name, d) for name in "abc")
l = index("l", L)
s = variable("s", "integer")  # a layer
x, f = family("x", d, ANY_REAL), family("f", d, ANY_REAL)
point, J = family("x", d), family("J", d, d)
branch, path = curve("f", d), curve("x", d)


@theorem(
    eq(derivative(t, point[a] + t * delta(a, b) + branch[a, t], 0), delta(a, b) + J[a, b]),
    given=[eq(branch.derivative[a, 0], J[a, b])],
    near_miss=[J[a, b], delta(a, b) * J[a, b]],
    witness={J: function([a, b], branch.derivative[a, 0])},
)
def residual_jacobian(proof):
    "The Jacobian of a residual layer is the identity plus that of its branch."
    proof.equals(delta(a, b) + branch.derivative[a, 0], "derivative")
    proof.closes("given")


velocity = path.derivative
follows = forall(a, eq(branch.derivative[a, t], sum_(b, J[a, b] * velocity[b, t])))


@theorem(
    eq(derivative(t, path[a, t] + branch[a, t], t), sum_(b, (delta(a, b) + J[a, b]) * velocity[b, t])),
    given=[follows],
    near_miss=[sum_(b, J[a, b] * velocity[b, t]), sum_(b, (delta(a, b) + J[b, a]) * velocity[b, t])],
    witness={
        branch: function([a, t], sum_(b, J[a, b] * path[b, t])),
        branch.derivative: function([a, t], sum_(b, J[a, b] * velocity[b, t])),
    },
)
def residual_along_a_curve(proof):
    "Along any curve a residual layer moves by the identity plus the Jacobian of its branch, times the velocity."
    proof.equals(velocity[a, t] + branch.derivative[a, t], "derivative")
    proof.equals(velocity[a, t] + sum_(b, J[a, b] * velocity[b, t]), "congruence", then="given")
    proof.closes("finite_sum")


def at_layers(relation):
    """The relation at every layer s >= 0."""
    return forall(s, relation, where=[le(0, s)])


def added(depth):
    """What the first layers add."""
    l = index("l", depth)
    return sum_(l, f[a, value_of(l)])


stack = at_layers(forall(a, eq(x[a, s + 1], x[a, s] + f[a, s])))
unrolled = eq(x[a, L], x[a, 0] + added(L))
steps = {f: function([a, t], x[a, t + 1] - x[a, t])}


@theorem(eq(x[a, 0], x[a, 0] + added(0)), near_miss=x[a, 0] + f[a, 0])
def stack_base(proof):
    "Without a layer the output is the input."
    proof.closes("finite_sum")


@theorem(
    eq(x[a, L + 1], x[a, 0] + added(L + 1)),
    given=[stack, forall(a, unrolled)],
    near_miss=x[a, 0] + added(L),
    witness=steps,
)
def stack_step(proof):
    "One more layer adds one more term."
    proof.equals(x[a, L] + f[a, L], "given", using=Specialised(stack, (L,)))
    proof.equals(x[a, 0] + added(L) + f[a, L], "given")
    proof.closes("finite_sum")


@theorem(unrolled, given=[stack], near_miss=[added(L), x[a, 0] + L * f[a, 0]], witness=steps)
def stack_unrolls(proof):
    "The output of a stack is its input plus what every layer adds."
    proof.closes("induction", on=L, base=stack_base, step=stack_step, over=a)


dx, A, T = family("v", d, ANY_REAL), family("A", d, d, ANY_REAL), family("T", d, d, ANY_REAL)


def after(layer, vector):
    """The identity plus the Jacobian of a branch, times a vector."""
    return sum_(b, (delta(a, b) + A[a, b, layer]) * vector(b))


moves = at_layers(forall(a, eq(dx[a, s + 1], after(s, lambda b: dx[b, s]))))
starts = forall([a, c], eq(T[a, c, 0], delta(a, c)))
multiplies = at_layers(forall([a, c], eq(T[a, c, s + 1], after(s, lambda b: T[b, c, s]))))
i2, j2 = index("a", 2), index("b", 2)
shear = delta(i2, literal(0, 2)) * delta(j2, literal(1, 2))  # its square is 0, so T(l) = I + l shear where J = shear
start = family("start", 2)
shears = {
    d: number(2),
    A: function([i2, j2, t], shear),
    T: function([i2, j2, t], delta(i2, j2) + t * shear),
    dx: function([i2, t], start[i2] + t * sum_(j2, shear * start[j2])),
}
through = eq(dx[a, L], sum_(c, T[a, c, L] * dx[c, 0]))


@theorem(eq(dx[a, 0], sum_(c, T[a, c, 0] * dx[c, 0])), given=[starts], near_miss=0, witness=shears)
def product_base(proof):
    "Without a layer the Jacobian is the identity."
    proof.equals(sum_(c, delta(a, c) * dx[c, 0]), "finite_sum")
    proof.closes("congruence", then="given")


@theorem(
    eq(dx[a, L + 1], sum_(c, T[a, c, L + 1] * dx[c, 0])),
    given=[moves, starts, multiplies, forall(a, through)],
    near_miss=sum_(c, T[a, c, L] * dx[c, 0]),
    witness=shears,
)
def product_step(proof):
    "One more layer multiplies by one more factor."
    carried = lambda c: sum_(b, (delta(a, b) + A[a, b, L]) * T[b, c, L])
    proof.equals(after(L, lambda b: dx[b, L]), "given", using=Specialised(moves, (L,)))
    proof.equals(after(L, lambda b: sum_(c, T[b, c, L] * dx[c, 0])), "congruence", then="given")
    proof.equals(sum_(c, carried(c) * dx[c, 0]), "finite_sum")
    proof.closes("congruence", then="given", using=Specialised(multiplies, (L,)))


@theorem(
    through, given=[moves, starts, multiplies], near_miss=[dx[a, 0], sum_(c, T[c, a, L] * dx[c, 0])], witness=shears
)
def stack_jacobian_is_product(proof):
    "The Jacobian of a stack is the product of the factors I + J, the last layer on the left."
    proof.closes("induction", on=L, base=product_base, step=product_step, over=a)


first, second = family("A", d, d), family("B", d, d)


def factor(J, a, b):
    """An entry of I + J."""
    return delta(a, b) + J[a, b]


expanded = delta(a, c) + first[a, c] + second[a, c] + sum_(b, second[a, b] * first[b, c])


@theorem(
    eq(sum_(b, factor(second, a, b) * factor(first, b, c)), expanded),
    near_miss=[expanded - delta(a, c), delta(a, c) + first[a, c] + second[a, c] + sum_(b, first[a, b] * second[b, c])],
)
def two_layers_keep_the_identity_path(proof):
    "Expanded, the Jacobian of two layers has the identity, each branch alone, and both in turn."
    proof.closes("finite_sum")


@theorem(
    eq(derivative(t, point[a] + t * delta(a, b) - (point[a] + t * delta(a, b)), 0), 0),
    near_miss=[delta(a, b), -delta(a, b)],
)
def residual_may_cancel(proof):
    "A branch that takes its input away leaves no gradient: the identity path alone guarantees nothing."
    proof.closes("derivative")
