r"""Adam: a moment is a weighted sum of the gradients, its bias correction is exact for equal ones, and the first step.

Definitions   average(b, m, g)                 b m + (1 - b) g, what a moment m becomes on a gradient g
              corrected(m, p)                  m / (1 - p), where p < 1 is b^T after T steps
              adam_step(a, eps, m, v)          -a m / (sqrt(v) + eps), from corrected moments
Statements    moment_base                      for T = 0, what moment_is_weighted_sum says
              moment_step                      for T + 1, what moment_is_weighted_sum says, given that it holds for T
              moment_is_weighted_sum           m_(k + 1) = average(b, m_k, g_k): m_T = (1 - b) sum_k b^(T-1-k) g_k
              adam_moment_base                 m_0 = 0: m_0 = (1 - b^0) g
              adam_moment_step                 m_T = (1 - b^T) g: m_(T + 1) = (1 - b^(T + 1)) g
              adam_moment                      m_(k + 1) = average(b, m_k, g): m_T = (1 - b^T) g
              log_of_decay_is_negative         b < 1: log b < 0
              decay_power_is_below_one         b < 1, T >= 1: b^T < 1
              bias_correction_is_exact_for_constant_gradient   there corrected(m_T, b^T) = g
              root_of_square                   g != 0: sqrt(g^2) = |g|
              constant_gradient_step           corrected moments g and g^2: the step is -a g / (|g| + eps)
              first_step                       from moments 0, one gradient g: the step is -a g / (|g| + eps)
Scope         One coordinate; b > 0, and b^T < 1 where a moment is corrected; eps > 0; m_0 = 0, and the recurrences hold
              for all whole k >= 0; the sum has T terms. The second moment is the same with g^2 for g.
Reference     Kingma & Ba 2015 (arXiv:1412.6980), algorithm 1 and section 3.
"""

from ..kernel import Specialised
from ..notation import (
    ANY_REAL,
    Definition,
    absolute,
    eq,
    exp,
    family,
    forall,
    function,
    index,
    le,
    log,
    lt,
    ne,
    number,
    size,
    sqrt,
    sum_,
    value_of,
    variable,
    when,
)
from ..registry import Statement, theorem

b, g = variable("beta", "positive"), variable("g")
p, moment = variable("p"), variable("m")
T, steps = size("T", minimum=0), size("T")
k, u = variable("k", "integer"), variable("u")
m, gradient = family("m", ANY_REAL), family("g", ANY_REAL)

average = Definition("average", [b, moment, g], b * moment + (1 - b) * g, says="a moment after a gradient g")
starts = eq(m[0], 0)


def weighted(count):
    """(1 - b) sum_(l < count) b^(count - 1 - l) g_l."""
    l = index("l", count)
    return (1 - b) * sum_(l, b ** (count - 1 - value_of(l)) * gradient[value_of(l)])


varying = forall(k, eq(m[k + 1], average(b, m[k], gradient[k])), where=[le(0, k)])
closed = (1 - b**T) * g
solution = {m: function([u], (1 - b**u) * g), gradient: function([u], g)}


@theorem(eq(m[0], weighted(0)), given=[starts], witness=solution, near_miss=[1, (1 - b) * gradient[0]])
def moment_base(proof):
    "Before the first step a moment is the empty sum."
    proof.equals(0, "given")
    proof.closes("finite_sum")


@theorem(
    eq(m[T + 1], weighted(T + 1)),
    given=[varying, eq(m[T], weighted(T))],
    witness=solution,
    near_miss=[weighted(T), b * weighted(T + 1)],
)
def moment_step(proof):
    "One gradient more is one term more, and the others lose the factor b."
    l, last = index("l", T), gradient[T]
    proof.equals(average(b, m[T], last), "given", using=[Specialised(varying, (T,))])
    proof.equals(average(b, weighted(T), last), "congruence", then="given")
    proof.equals(b * weighted(T) + (1 - b) * last, "definition", of=average)
    lowered = b * b ** (T - 1 - value_of(l))
    proof.equals((1 - b) * (sum_(l, lowered * gradient[value_of(l)]) + last), "finite_sum")
    raised = b ** (T - value_of(l))
    proof.equals((1 - b) * (sum_(l, raised * gradient[value_of(l)]) + b**0 * last), "exp_log")
    proof.closes("finite_sum")


@theorem(
    eq(m[T], weighted(T)),
    given=[starts, varying],
    witness={**solution, T: steps},
    near_miss=[weighted(T + 1), gradient[T]],
)
def moment_is_weighted_sum(proof):
    "After T gradients a moment is their sum with weights (1 - b) b^r, where r of them follow."
    proof.closes("induction", on=T, base=(moment_base, {}), step=(moment_step, {}))


constant = forall(k, eq(m[k + 1], average(b, m[k], g)), where=[le(0, k)])


@theorem(eq(m[0], (1 - b**0) * g), given=[starts], witness=solution, near_miss=(1 - b) * g)
def adam_moment_base(proof):
    "Before the first step a moment is 0."
    proof.equals(0, "given")
    proof.closes("ring")


@theorem(
    eq(m[T + 1], (1 - b ** (T + 1)) * g),
    given=[constant, eq(m[T], closed)],
    witness=solution,
    near_miss=[closed, (1 - b * b ** (T + 1)) * g, g],
)
def adam_moment_step(proof):
    "The gradient g once more takes (1 - b^T) g to (1 - b^(T + 1)) g."
    proof.equals(average(b, m[T], g), "given", using=[Specialised(constant, (T,))])
    proof.equals(average(b, closed, g), "congruence", then="given")
    proof.equals(b * closed + (1 - b) * g, "definition", of=average)
    proof.closes("exp_log")


@theorem(eq(m[T], closed), given=[starts, constant], witness=solution, near_miss=[(1 - b ** (T + 1)) * g, g])
def adam_moment(proof):
    "After T steps with the one gradient g a moment is (1 - b^T) g."
    proof.closes("induction", on=T, base=(adam_moment_base, {}), step=(adam_moment_step, {}))


@theorem(lt(log(b), 0), given=[lt(b, 1)], near_miss=lt(log(b), -1))
def log_of_decay_is_negative(proof):
    "The logarithm of a decay below 1 is negative."
    proof.less_than(log(number(1)), "order")
    proof.closes("exp_log")


@theorem(lt(b**steps, 1), given=[lt(b, 1)], near_miss=(Statement(lt(b**steps, 1)), {b: number(2)}))
def decay_power_is_below_one(proof):
    "With b < 1 no power b^T, T >= 1, reaches 1, so that a moment can be corrected."
    proof.equals(exp(steps * log(b)), "exp_log")
    proof.less_than(exp(0), "order", using=log_of_decay_is_negative)
    proof.closes("ring")


corrected = Definition("corrected", [moment, p], moment / (1 - p), requires=[lt(p, 1)], says="without the bias to 0")


@theorem(
    eq(corrected(m[T], b**T), g),
    given=[starts, constant, lt(b**T, 1)],
    witness=solution,
    near_miss=[closed, (1 - b) * g],
)
def bias_correction_is_exact_for_constant_gradient(proof):
    "If all gradients are g, the corrected moment is g after every number of steps."
    proof.equals(corrected(closed, b**T), adam_moment)
    proof.equals(closed / (1 - b**T), "definition", of=corrected)
    proof.closes("field")


@theorem(eq(sqrt(g**2), absolute(g)), given=[ne(g, 0)], near_miss=[(g, {g: number(-1)}), -absolute(g)])
def root_of_square(proof):
    "The root of a square is the absolute value."
    size_of_g, root = absolute(g), sqrt(g**2)
    proof.equals((g**2 + size_of_g * root) / (size_of_g + root), "field")
    proof.equals((size_of_g**2 + size_of_g * root) / (size_of_g + root), "cases", on=le(0, g), then="order")
    proof.closes("field")


rate, eps, second = variable("alpha"), variable("epsilon", "positive"), variable("v", "nonnegative")
adam_step = Definition(
    "adam_step", [rate, eps, moment, second], -rate * moment / (sqrt(second) + eps), says="what a step adds"
)


def divided(step, root):
    """A step before its root is known to be |g|."""
    return -rate * step / (root + eps)


sign_step = divided(g, absolute(g))


@theorem(
    eq(adam_step(rate, eps, g, g**2), sign_step),
    near_miss=[-rate * g / (g**2 + eps), rate * g / (absolute(g) + eps)],
)
def constant_gradient_step(proof):
    "If the corrected moments are g and g^2, the step is -a g / (|g| + eps)."
    flat, root = eq(g, 0), sqrt(g**2)  # the case g = 0 is set apart, where |g| has no inverse
    proof.equals(divided(g, root), "definition", of=adam_step)
    proof.equals(when(flat, divided(g, root), divided(g, root)), "cases", on=flat, then="order")
    proof.equals(when(flat, divided(0, root), divided(g, root)), "congruence", then="given")
    proof.equals(when(flat, divided(0, root), divided(g, absolute(g))), "congruence", then=root_of_square)
    proof.closes("cases", on=flat, then="order")


c = variable("gamma", "positive")  # the decay of the second moment
after_one = corrected(average(b, 0, g), b), corrected(average(c, 0, g**2), c)


@theorem(
    eq(adam_step(rate, eps, *after_one), sign_step),
    given=[lt(b, 1), lt(c, 1)],
    near_miss=[-rate * (1 - b) * g / (absolute(g) + eps), -sign_step, -rate * g / (g**2 + eps)],
)
def first_step(proof):
    "Whatever the decays, the first step is -a g / (|g| + eps)."
    raw = (b * 0 + (1 - b) * g) / (1 - b), (c * 0 + (1 - c) * g**2) / (1 - c)
    proof.equals(adam_step(rate, eps, *raw), "definition", of=(corrected, average))
    proof.equals(adam_step(rate, eps, g, g**2), "congruence", then="field")
    proof.closes(constant_gradient_step)
