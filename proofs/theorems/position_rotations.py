r"""The shifts T^(k) form a one-parameter group of rotations.

Definitions   G(w, m, a, m', b)              delta_mm' w_m [[0, 1], [-1, 0]][a, b], the generator
Statements    rotations_compose                T^(j) T^(k) = T^(j + k)
              zero_shift_is_identity           T^(0) = I
              transpose_is_backward_shift      the transpose of T^(k) is T^(-k)
              inverse_is_transpose_is_backward_shift    T^(k) T^(-k) = I
              rotation_is_orthogonal           T^(k) transposed times T^(k) is I
              determinant_is_one               each block has determinant 1
              characteristic_polynomial        det(x - Phi_m^(k)) = x^2 - 2 x cos(w_m k) + 1
              generator                        dT^(k)/dk = G T^(k)
              generator_is_skew                G transposed is -G
Scope         Any frequencies w, any number M >= 1 of pairs, any real position and shift, unless a line says otherwise.
Reference     Vaswani et al. 2017, section 3.5, which states the shift without proof; Kazemnejad 2019 for the elimination.
"""

from ..notation import Definition, cos, delta, derivative, eq, sin, sum_, t, table
from ..registry import theorem
from .positional_encoding import T, a, b, block, e, entry, h, k, m, m1, m2, turn, w, x


@theorem(
    eq(sum_(m1, sum_(b, T(w, h, m, a, m1, b) * T(w, k, m1, b, m2, e))), T(w, h + k, m, a, m2, e)),
    near_miss=T(w, h - k, m, a, m2, e),
)
def rotations_compose(proof):
    "Shifting by k and then by h is shifting by h + k."
    u, v = w[m] * h, w[m] * k
    first, second = delta(m, m1) * block(w, m, h, a, b), delta(m1, m2) * block(w, m1, k, b, e)
    proof.equals(sum_(m1, sum_(b, first * second)), "definition", of=T)
    proof.equals(delta(m, m2) * sum_(b, block(w, m, h, a, b) * block(w, m, k, b, e)), "finite_sum")
    proof.equals(delta(m, m2) * sum_(b, turn(u, a, b) * turn(v, b, e)), "definition", of=block)
    both = [[cos(u) * cos(v) - sin(u) * sin(v), cos(u) * sin(v) + sin(u) * cos(v)],
            [-sin(u) * cos(v) - cos(u) * sin(v), -sin(u) * sin(v) + cos(u) * cos(v)]]  # fmt: skip
    cases = {"on": a, "then": "cases"}
    proof.equals(delta(m, m2) * table(both, a, e), "cases", **cases, inner={"on": e, "then": "finite_sum"})
    proof.equals(delta(m, m2) * turn(w[m] * (h + k), a, e), "cases", **cases, inner={"on": e, "then": "angles"})
    proof.closes("definition", of=(T, block))


@theorem(eq(T(w, 0, m, a, m1, b), delta(m, m1) * delta(a, b)), near_miss=-delta(m, m1) * delta(a, b))
def zero_shift_is_identity(proof):
    "Shifting by 0 is the identity."
    proof.equals(delta(m, m1) * turn(w[m] * 0, a, b), "definition", of=(T, block))
    proof.closes("cases", on=a, then="cases", inner={"on": b, "then": "angles"})


@theorem(eq(T(w, k, m1, b, m, a), T(w, -k, m, a, m1, b)), near_miss=T(w, k, m, a, m1, b))
def transpose_is_backward_shift(proof):
    "The transpose of T^(k) is T^(-k)."
    proof.equals(delta(m1, m) * turn(w[m1] * k, b, a), "definition", of=(T, block))
    proof.equals(delta(m1, m) * turn(w[m] * k, b, a), "cases", on=(m, m1), then="ring")
    proof.equals(delta(m, m1) * turn(w[m] * -k, a, b), "cases", on=a, then="cases", inner={"on": b, "then": "angles"})
    proof.closes("definition", of=(T, block))


identity = delta(m, m2) * delta(a, e)


@theorem(eq(sum_(m1, sum_(b, T(w, k, m, a, m1, b) * T(w, -k, m1, b, m2, e))), identity), near_miss=-identity)
def inverse_is_transpose_is_backward_shift(proof):
    "T^(-k), which is the transpose of T^(k), is its inverse."
    proof.equals(T(w, k + -k, m, a, m2, e), rotations_compose, at={h: k, k: -k})
    proof.equals(T(w, 0, m, a, m2, e), "ring")
    proof.closes(zero_shift_is_identity)


@theorem(eq(sum_(m1, sum_(b, T(w, k, m1, b, m, a) * T(w, k, m1, b, m2, e))), identity), near_miss=-identity)
def rotation_is_orthogonal(proof):
    "T^(k) keeps lengths and angles."
    proof.equals(sum_(m1, sum_(b, T(w, -k, m, a, m1, b) * T(w, k, m1, b, m2, e))), transpose_is_backward_shift)
    proof.equals(T(w, -k + k, m, a, m2, e), rotations_compose, at={h: -k})
    proof.equals(T(w, 0, m, a, m2, e), "ring")
    proof.closes(zero_shift_is_identity)


@theorem(eq(entry(0, 0) * entry(1, 1) - entry(0, 1) * entry(1, 0), 1), near_miss=-1)
def determinant_is_one(proof):
    "Each block has determinant 1, and so has T^(k), the product over its blocks."
    angle = w[m] * k
    proof.equals(cos(angle) * cos(angle) - sin(angle) * -sin(angle), "definition", of=block)
    proof.closes("angles")


@theorem(
    eq((x - entry(0, 0)) * (x - entry(1, 1)) - entry(0, 1) * entry(1, 0), x**2 - 2 * x * cos(w[m] * k) + 1),
    near_miss=x**2 + 2 * x * cos(w[m] * k) + 1,
)
def characteristic_polynomial(proof):
    "The characteristic polynomial of a block."
    angle = w[m] * k
    proof.equals((x - cos(angle)) * (x - cos(angle)) - sin(angle) * -sin(angle), "definition", of=block)
    proof.closes("angles")


G = Definition(
    "G", [w, m, a, m1, b], delta(m, m1) * (w[m] * table([[0, 1], [-1, 0]], a, b)), says="generator of the shifts"
)


@theorem(
    eq(derivative(t, T(w, t, m, a, m2, e), k), sum_(m1, sum_(b, G(w, m, a, m1, b) * T(w, k, m1, b, m2, e)))),
    near_miss=[
        -sum_(m1, sum_(b, G(w, m, a, m1, b) * T(w, k, m1, b, m2, e))),
        sum_(m1, sum_(b, G(w, m, b, m1, a) * T(w, k, m1, b, m2, e))),
    ],
)
def generator(proof):
    "T^(k) solves dT/dk = G T: it is the exponential of k G."
    angle = w[m] * k
    proof.equals(derivative(t, delta(m, m2) * turn(w[m] * t, a, e), k), "definition", of=(T, block))
    rates = [[-(w[m] * sin(angle)), w[m] * cos(angle)], [-(w[m] * cos(angle)), -(w[m] * sin(angle))]]
    proof.equals(delta(m, m2) * table(rates, a, e), "derivative")
    flip = table([[0, 1], [-1, 0]], a, b)
    cases = {"on": a, "then": "cases", "inner": {"on": e, "then": "finite_sum"}}
    proof.equals(delta(m, m2) * sum_(b, w[m] * flip * turn(angle, b, e)), "cases", **cases)
    whole = sum_(m1, sum_(b, delta(m, m1) * (w[m] * flip) * (delta(m1, m2) * turn(w[m1] * k, b, e))))
    proof.equals(whole, "finite_sum")
    proof.closes("definition", of=(G, T, block))


@theorem(eq(G(w, m1, b, m, a), -G(w, m, a, m1, b)), near_miss=G(w, m, a, m1, b))
def generator_is_skew(proof):
    "The generator is skew-symmetric."
    proof.equals(delta(m1, m) * (w[m1] * table([[0, 1], [-1, 0]], b, a)), "definition", of=G)
    proof.equals(delta(m, m1) * (w[m] * table([[0, 1], [-1, 0]], b, a)), "finite_sum")
    proof.equals(-(delta(m, m1) * (w[m] * table([[0, 1], [-1, 0]], a, b))), "cases", on=a, then="cases",
                 inner={"on": b, "then": "ring"})  # fmt: skip
    proof.closes("definition", of=G)
