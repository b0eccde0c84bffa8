r"""Inequalities of activation functions: the subgradients of ReLU, and bounds.

Definitions   relu, sigmoid, silu, of activations.py
Statements    relu_is_nonnegative              0 <= relu(x)
              relu_is_lipschitz                |relu(x) - relu(y)| <= |x - y|
              relu_subgradient                 0 <= g <= 1: relu(0) + g x <= relu(x)
              relu_subgradient_is_at_most_one  relu(0) + g x <= relu(x) for all x gives g <= 1
              relu_subgradient_is_nonnegative  relu(0) + g x <= relu(x) for all x gives 0 <= g
              sigmoid_is_positive              0 < sigmoid(x)
              sigmoid_is_below_one             sigmoid(x) < 1
              silu_is_at_most_relu             silu(x) <= relu(x)
Scope         Every real x and y. So the subgradients of ReLU at 0 are the numbers from 0 to 1, and no others.
Reference     Rockafellar 1970, Convex Analysis, section 23, for subgradients.
"""

from ..notation import absolute, exp, forall, le, lt, maximum, rational, variable
from ..registry import Statement, theorem
from ..scripts import Specialised
from .activations import relu, s, sigmoid, sigmoid_symmetry, silu, x

y, g = variable("y"), variable("g")
half = rational(1, 2)


@theorem(le(0, relu(x)), near_miss=le(1, relu(x)))
def relu_is_nonnegative(proof):
    "ReLU is never negative."
    proof.at_most(maximum(0, x), "order")
    proof.closes("definition", of=relu)


@theorem(le(absolute(relu(x) - relu(y)), absolute(x - y)), near_miss=[x - y, absolute(x - y) / 2])
def relu_is_lipschitz(proof):
    "ReLU brings no two numbers further apart."
    change = maximum(0, x) - maximum(0, y)
    proof.equals(absolute(change), "definition", of=relu)
    proof.closes("cases", on=le(0, x), then="cases", inner={"on": le(0, y), "then": "order"})


def line_below(x):
    """The line of slope g through the kink is at most ReLU."""
    return le(relu(0) + g * x, relu(x))


@theorem(
    line_below(x),
    given=[le(0, g), le(g, 1)],
    near_miss=[Statement(line_below(x), (le(0, g),)), Statement(line_below(x), (le(g, 1),))],
)
def relu_subgradient(proof):
    "Every number from 0 to 1 is a subgradient of ReLU at 0."
    proof.equals(maximum(0, 0) + g * x, "definition", of=relu)
    proof.equals(g * x, "order")
    proof.at_most(maximum(0, x), "cases", on=le(0, x), then="order")
    proof.closes("definition", of=relu)


subgradient = forall(x, line_below(x))


@theorem(le(g, 1), given=[subgradient], near_miss=half)
def relu_subgradient_is_at_most_one(proof):
    "No subgradient of ReLU at 0 exceeds 1: it lies below ReLU at 1."
    proof.equals(maximum(0, 0) + g * 1, "order")
    proof.equals(relu(0) + g * 1, "definition", of=relu)
    proof.at_most(relu(1), "order", using=Specialised(subgradient, (1,)))
    proof.equals(maximum(0, 1), "definition", of=relu)
    proof.closes("order")


@theorem(le(0, g), given=[subgradient], near_miss=le(half, g))
def relu_subgradient_is_nonnegative(proof):
    "No subgradient of ReLU at 0 is negative: it lies below ReLU at -1."
    proof.equals(maximum(0, 0) + g * -1 + g, "order")
    proof.equals(relu(0) + g * -1 + g, "definition", of=relu)
    proof.at_most(relu(-1) + g, "order", using=Specialised(subgradient, (-1,)))
    proof.equals(maximum(0, -1) + g, "definition", of=relu)
    proof.closes("order")


@theorem(lt(0, s), near_miss=lt(half, s))
def sigmoid_is_positive(proof):
    "The sigmoid is positive."
    proof.less_than(1 / (1 + exp(-x)), "order")
    proof.closes("definition", of=sigmoid)


@theorem(lt(s, 1), near_miss=lt(s, half))
def sigmoid_is_below_one(proof):
    "The sigmoid is below 1, as what it leaves of 1 is the positive sigmoid at -x."
    proof.equals(1 - sigmoid(-x), sigmoid_symmetry)
    proof.closes("order", using=(sigmoid_is_positive, {x: -x}))


@theorem(le(silu(x), relu(x)), near_miss=[le(relu(x), silu(x)), le(silu(x), 0)])
def silu_is_at_most_relu(proof):
    "SiLU stays below ReLU."
    proof.equals(x * s, "definition", of=silu)
    bounds = [sigmoid_is_positive, sigmoid_is_below_one]
    proof.at_most(maximum(0, x), "cases", on=le(0, x), then="order", using=bounds)
    proof.closes("definition", of=relu)
