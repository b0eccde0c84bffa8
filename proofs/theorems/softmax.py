r"""Softmax and its Jacobian.

Definitions   softmax(z, i)         exp z_i / sum_l exp z_l
              jacobian(z, i, j)     the derivative of softmax(z, i) along z_j
Statements    see below
"""

from ..notation import Definition, delta, derivative, eq, exp, function, i, j, l, lt, n, sum_, t, z
from ..registry import theorem

softmax = Definition("softmax", [z, i], exp(z[i]) / sum_(l, exp(z[l])), says="weights of logits")
jacobian = Definition(
    "jacobian", [z, i, j], derivative(t, softmax(function(l, z[l] + t * delta(l, j)), i), 0), says="partial derivative"
)
s = softmax
Z = sum_(l, exp(z[l]))


@theorem(lt(0, s(z, i)), near_miss=lt(1, s(z, i)))
def positive(proof):
    "every weight is positive"
    proof.less_than(exp(z[i]) / Z)
    proof.closes("definition", of=softmax)


@theorem(eq(sum_(i, s(z, i)), 1), near_miss=n)
def sums_to_one(proof):
    "the weights sum to 1"
    proof.equals(sum_(i, exp(z[i]) / Z), "definition", of=softmax)
    proof.closes("finite_sum")


@theorem(eq(jacobian(z, i, j), s(z, i) * (delta(i, j) - s(z, j))), near_miss=s(z, i) * (delta(i, j) + s(z, j)))
def jacobian_from_the_definition(proof):
    "∂s_i/∂z_j = s_i (δ_ij - s_j)"
    moved = z[l] + t * delta(l, j)
    proof.equals(
        derivative(t, exp(z[i] + t * delta(i, j)) / sum_(l, exp(moved)), 0), "definition", of=(jacobian, softmax)
    )
    proof.equals((delta(i, j) * exp(z[i]) * Z - exp(z[i]) * sum_(l, delta(l, j) * exp(z[l]))) / Z**2, "derivative")
    proof.equals(delta(i, j) * exp(z[i]) / Z - exp(z[i]) * exp(z[j]) / Z**2, "finite_sum")
    proof.closes("definition", of=softmax)
