r"""With a tied maximum softmax does not saturate: the Jacobian keeps a limit other than 0.

Definitions   tied(j)                          1 where the logit z_j is one of the maxima, else 0
Statements    tied_weights                     s_i(bz) -> tied_i / m where m logits share the maximum
              tie_does_not_vanish              J_ij(bz) -> tied_i (delta_ij - tied_j / m) / m
              tied_limit_is_positive           for m >= 2 the limit of J_ii at a tied i is positive
              tie_of_two                       n = 2, equal logits: J_00 = 1/4 at every scale
Scope         Any n >= 1. A tied maximum is written as z_j = c - (1 - tied_j) g_j with tied_j in {0, 1} and g_j > 0.
Reference     Vaswani et al. 2017, section 3.2.1 and footnote 4, which claim that large scores have small gradients.
"""

from ..notation import (
    INFINITY,
    choice,
    delta,
    eq,
    exp,
    family,
    function,
    i,
    j,
    l,
    le,
    literal,
    lt,
    n,
    number,
    rational,
    sum_,
    tends,
    value_of,
    variable,
    z,
)
from ..registry import theorem
from .softmax import softmax
from .softmax_bounds import half, k, s
from .softmax_jacobian import J, jacobian
from .softmax_saturation import beta

tied = choice("tied", n, target=2)
top, below = variable("c_max"), family("g", n, domain="positive")


def tie(position):
    """1 where the logit is one of the maxima, else 0."""
    return value_of(tied(position))


ridge = function(l, beta * (top - (1 - tie(l)) * below[l]))
share = tie(i) / sum_(l, tie(l))
shared = [lt(0, sum_(l, tie(l)))]


@theorem(tends(beta, s(ridge, i), INFINITY, share), given=shared, near_miss=tie(i) / n)
def tied_weights(proof):
    "Logits that share the maximum share the weight equally in the limit, and the others lose theirs."

    def fallen(k):
        return exp(-(beta * ((1 - tie(k)) * below[k])))

    def split_up(k):
        return tie(k) + (1 - tie(k)) * exp(-(beta * below[k]))

    raw = beta * (top - (1 - tie(l)) * below[l])
    proof.equals(exp(beta * (top - (1 - tie(i)) * below[i])) / sum_(l, exp(raw)), "definition", of=softmax)
    proof.equals(exp(beta * top) * fallen(i) / sum_(l, exp(beta * top) * fallen(l)), "exp_log")
    proof.equals(fallen(i) / sum_(l, fallen(l)), "finite_sum")
    proof.equals(split_up(i) / sum_(l, fallen(l)), "cases", on=tied(i), then="ring")
    proof.equals(split_up(i) / sum_(l, split_up(l)), "congruence", then="cases", inner={"on": tied(l), "then": "ring"})
    proof.closes("limit")


@theorem(
    tends(beta, J(ridge, i, j), INFINITY, share * (delta(i, j) - tie(j) / sum_(l, tie(l)))),
    given=shared,
    near_miss=share * (1 - tie(j) / sum_(l, tie(l))),
)
def tie_does_not_vanish(proof):
    "With m tied maxima the Jacobian tends to (I - 11^T/m)/m on the tied block, and to 0 elsewhere."
    proof.equals(s(ridge, i) * (delta(i, j) - s(ridge, j)), jacobian, at={z: ridge})
    proof.closes("limit", using=tied_weights)


@theorem(
    lt(0, tie(i) / sum_(l, tie(l)) * (1 - tie(i) / sum_(l, tie(l)))),
    given=[eq(tie(i), 1), le(2, sum_(l, tie(l)))],
    near_miss=lt(half, tie(i) / sum_(l, tie(l)) * (1 - tie(i) / sum_(l, tie(l)))),
)
def tied_limit_is_positive(proof):
    "For m >= 2 tied maxima that limit is positive on the diagonal of the block: the gradient does not vanish."
    m = sum_(l, tie(l))
    proof.less_than((m - 1) / m**2, "order")
    proof.equals(1 / m * (1 - 1 / m), "field")
    proof.closes("cases", on=tied(i), then="ring")


pair = function(k, beta * top)


@theorem(
    eq(J(pair, literal(0, 2), literal(0, 2)), rational(1, 4)),
    near_miss=[rational(1, 2), 0],
)
def tie_of_two(proof):
    "Two equal logits: at every scale the diagonal entry is 1/4."
    first = literal(0, 2)
    proof.equals(
        s(pair, first) * (delta(first, first) - s(pair, first)),
        jacobian,
        at={n: number(2), z: pair, i: first, j: first},
    )
    share_of_two = exp(beta * top) / sum_(k, exp(beta * top))
    proof.equals(share_of_two * (1 - share_of_two), "definition", of=softmax)
    proof.closes("finite_sum")
