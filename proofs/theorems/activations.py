r"""The activation functions of feed-forward layers, their derivatives and their odd parts.

Definitions   relu(x)                          max(0, x)
              sigmoid(x)                       1 / (1 + e^-x)
              silu(x)                          x sigmoid(x)
              swiglu(a, b)                     silu(a) b
              Phi(x)                           (1 + erf(x / sqrt(2))) / 2, the normal distribution function
              phi(x)                           e^(-x^2/2) / sqrt(2 pi), the normal density
              gelu(x)                          x/2 (1 + erf(x / sqrt(2)))
              gelu_tanh(x)                     x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
Statements    relu_derivative                  x != 0: relu'(x) is 1 for x > 0, else 0
              relu_derivative_of_positive      x > 0: relu'(x) = 1
              relu_derivative_of_negative      x < 0: relu'(x) = 0
              relu_is_positively_homogeneous   c >= 0: relu(c x) = c relu(x)
              sigmoid_derivative               s'(x) = s(x) (1 - s(x)), s the sigmoid
              silu_derivative                  silu'(x) = s(x) (1 + x (1 - s(x)))
              swiglu_derivative_in_gate        d swiglu(a, b)/da = s(a) (1 + a (1 - s(a))) b
              swiglu_derivative_in_value       d swiglu(a, b)/db = silu(a)
              root_of_product                  sqrt(u v) = sqrt(u) sqrt(v)
              normal_density                   Phi'(x) = phi(x)
              gelu_derivative                  gelu'(x) = Phi(x) + x phi(x)
              gelu_tanh_derivative             (1 + h)/2 + x/2 (1 - h^2) sqrt(2/pi) (1 + 0.134145 x^2), h its tanh
              odd_part                         relu(x) - relu(-x) = x
              sigmoid_symmetry                 s(-x) = 1 - s(x)
              silu_odd_part                    silu(x) - silu(-x) = x
              gelu_odd_part                    gelu(x) - gelu(-x) = x
              gelu_tanh_odd_part               gelu_tanh(x) - gelu_tanh(-x) = x
Scope         Every real x unless a line says otherwise; u, v > 0.
Reference     Vaswani et al. 2017, equation 2, for max(0, x); Hendrycks & Gimpel 2016 (arXiv:1606.08415) for GELU and
              SiLU; Shazeer 2020 (arXiv:2002.05202) for SwiGLU.
"""

from ..notation import (
    PI,
    Definition,
    derivative,
    eq,
    erf,
    exp,
    le,
    lt,
    maximum,
    ne,
    number,
    rational,
    sqrt,
    t,
    tanh,
    variable,
    when,
)
from ..registry import Statement, theorem

x, a, b, c = (variable(name) for name in "xabc")
u, v = variable("u", "positive"), variable("v", "positive")
cubic = rational(44715, 1000000)


def approximation(x):
    """What the tanh form of GELU takes the tanh of."""
    return sqrt(2 / PI) * (x + cubic * x**3)


relu = Definition("relu", [x], maximum(0, x), says="the rectified linear unit")
sigmoid = Definition("sigmoid", [x], 1 / (1 + exp(-x)), says="the logistic function")
silu = Definition("silu", [x], x * sigmoid(x), says="the sigmoid linear unit")
swiglu = Definition("swiglu", [a, b], silu(a) * b, says="a value b behind the gate silu(a)")
Phi = Definition("Phi", [x], (1 + erf(x / sqrt(2))) / 2, says="the normal distribution function")
phi = Definition("phi", [x], exp(-(x**2) / 2) / sqrt(2 * PI), says="the normal density")
gelu = Definition("gelu", [x], x / 2 * (1 + erf(x / sqrt(2))), says="the Gaussian error linear unit")
gelu_tanh = Definition("gelu_tanh", [x], x / 2 * (1 + tanh(approximation(x))), says="GELU, approximated by a tanh")
s = sigmoid(x)


def slope(f, at=x):
    """The derivative of a function of one number."""
    return derivative(t, f(t), at)


# --- ReLU -------------------------------------------------------------------------------------------------------------

step = when(lt(0, x), 1, 0)


@theorem(
    eq(slope(relu), step),
    given=[ne(x, 0)],
    near_miss=[when(lt(x, 0), 1, 0), (when(lt(0, x), 1, -1), {x: number(-2)}), (step * x, {x: number(2)})],
)
def relu_derivative(proof):
    "Away from 0 the derivative of ReLU is 1 on the right and 0 on the left."
    proof.closes("derivative")


@theorem(eq(slope(relu), 1), given=[lt(0, x)], near_miss=[0, x], witness={x: 1 + x**2})
def relu_derivative_of_positive(proof):
    "The derivative of ReLU is 1 where x is positive."
    proof.equals(step, relu_derivative)
    proof.closes("order")


@theorem(eq(slope(relu), 0), given=[lt(x, 0)], near_miss=[1, x], witness={x: -1 - x**2})
def relu_derivative_of_negative(proof):
    "The derivative of ReLU is 0 where x is negative."
    proof.equals(step, relu_derivative)
    proof.closes("order")


pulled_out = eq(relu(c * x), c * relu(x))


@theorem(pulled_out, given=[le(0, c)], near_miss=(Statement(pulled_out), {c: number(-2)}), witness={c: c**2})
def relu_is_positively_homogeneous(proof):
    "A factor that is not negative can be taken out of ReLU."
    proof.equals(maximum(0, c * x), "definition", of=relu)
    proof.equals(c * maximum(0, x), "cases", on=le(0, x), then="order")
    proof.closes("definition", of=relu)


# --- sigmoid, SiLU and SwiGLU -----------------------------------------------------------------------------------------


@theorem(eq(slope(sigmoid), s * (1 - s)), near_miss=[s * (1 + s), s**2, -s * (1 - s)])
def sigmoid_derivative(proof):
    "The derivative of the sigmoid s is s (1 - s)."
    proof.equals(exp(-x) / (1 + exp(-x)) ** 2, "derivative")
    proof.equals(1 / (1 + exp(-x)) * (1 - 1 / (1 + exp(-x))), "field")
    proof.closes("definition", of=sigmoid)


@theorem(eq(slope(silu), s * (1 + x * (1 - s))), near_miss=[s, s * (1 + x * s), s * (1 - x * (1 - s))])
def silu_derivative(proof):
    "The derivative of SiLU is the sigmoid, plus x times that of the sigmoid."
    proof.equals(s + x * slope(sigmoid), "derivative")
    proof.equals(s + x * (s * (1 - s)), sigmoid_derivative)
    proof.closes("ring")


of_gate = sigmoid(a) * (1 + a * (1 - sigmoid(a))) * b


@theorem(eq(slope(lambda a: swiglu(a, b), a), of_gate), near_miss=[sigmoid(a) * b, silu(a), of_gate * b])
def swiglu_derivative_in_gate(proof):
    "Along its gate SwiGLU changes as SiLU does, times the value."
    proof.equals(slope(silu, a) * b, "derivative")
    proof.closes(silu_derivative, at={x: a})


@theorem(eq(slope(lambda b: swiglu(a, b), b), silu(a)), near_miss=[silu(a) * b, sigmoid(a)])
def swiglu_derivative_in_value(proof):
    "Along its value SwiGLU changes by its gate."
    proof.closes("derivative")


# --- GELU -------------------------------------------------------------------------------------------------------------


@theorem(eq(sqrt(u * v), sqrt(u) * sqrt(v)), near_miss=[sqrt(u) + sqrt(v), u * v])
def root_of_product(proof):
    "The root of a product is the product of the roots."
    roots = sqrt(u) * sqrt(v)
    proof.equals((u * v + sqrt(u * v) * roots) / (sqrt(u * v) + roots), "field")
    proof.closes("field")


@theorem(eq(slope(Phi), phi(x)), near_miss=[sqrt(2) * phi(x), phi(x) / 2, -x * phi(x)])
def normal_density(proof):
    "The derivative of the normal distribution function is the normal density."
    proof.equals(exp(-(x**2) / 2) / (sqrt(2) * sqrt(PI)), "derivative")
    proof.equals(exp(-(x**2) / 2) / sqrt(2 * PI), root_of_product, at={u: 2, v: PI})
    proof.closes("definition", of=phi)


@theorem(eq(slope(gelu), Phi(x) + x * phi(x)), near_miss=[Phi(x), Phi(x) - x * phi(x), Phi(x) + phi(x)])
def gelu_derivative(proof):
    "The derivative of GELU is the normal distribution function, plus x times the normal density."
    proof.equals(slope(lambda t: t * Phi(t)), "definition", of=(gelu, Phi))
    proof.equals(Phi(x) + x * slope(Phi), "derivative")
    proof.closes(normal_density)


h, inner_slope = tanh(approximation(x)), sqrt(2 / PI) * (1 + 3 * cubic * x**2)


@theorem(
    eq(slope(gelu_tanh), (1 + h) / 2 + x / 2 * (1 - h**2) * inner_slope),
    near_miss=[(1 + h) / 2, (1 + h) / 2 + x / 2 * (1 - h**2), (1 + h) / 2 + x / 2 * (1 - h) * inner_slope],
)
def gelu_tanh_derivative(proof):
    "The derivative of the approximation of GELU, by the chain rule."
    proof.closes("derivative")


# --- odd parts --------------------------------------------------------------------------------------------------------


@theorem(eq(relu(x) - relu(-x), x), near_miss=[0, -x])
def odd_part(proof):
    "ReLU less its mirror image is the identity."
    proof.equals(maximum(0, x) - maximum(0, -x), "definition", of=relu)
    proof.closes("cases", on=le(0, x), then="order")


@theorem(eq(sigmoid(-x), 1 - s), near_miss=[s, -s])
def sigmoid_symmetry(proof):
    "The sigmoid at -x is what the sigmoid at x leaves of 1."
    proof.equals(1 / (1 + exp(x)), "definition", of=sigmoid)
    proof.equals(1 - 1 / (1 + exp(-x)), "exp_log")
    proof.closes("definition", of=sigmoid)


@theorem(eq(silu(x) - silu(-x), x), near_miss=[0, -x])
def silu_odd_part(proof):
    "SiLU less its mirror image is the identity."
    proof.equals(x * s + x * sigmoid(-x), "definition", of=silu)
    proof.equals(x * s + x * (1 - s), sigmoid_symmetry)
    proof.closes("ring")


@theorem(eq(gelu(x) - gelu(-x), x), near_miss=[0, -x])
def gelu_odd_part(proof):
    "GELU less its mirror image is the identity, since erf is odd."
    proof.closes("definition", of=gelu)


@theorem(eq(gelu_tanh(x) - gelu_tanh(-x), x), near_miss=[0, -x])
def gelu_tanh_odd_part(proof):
    "The approximation of GELU less its mirror image is the identity, as it is for GELU."
    proof.closes("definition", of=gelu_tanh)
