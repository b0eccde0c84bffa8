r"""Rotary position encoding: queries and keys turn, their scores depend on the difference of positions.

Definitions   R(w, m, p, a, b)                 [[cos w_m p, -sin w_m p], [sin w_m p, cos w_m p]], the rotation of pair m
              rotated(w, x, p, m, a)           R_p x in pair m
Statements    rotary_is_inverse_shift          R_p is the transpose of the shift block Phi^(p), that is Phi^(-p)
              rotations_add                    R_p R_q = R_(p + q)
              rotation_moves_across            <R_p x, y> = <x, R_(-p) y>
              score_depends_on_relative_position   <R_p x, R_q y> = <x, R_(q - p) y>
              isometry                         |R_p x|^2 = |x|^2
              zero_position_changes_nothing    R_0 x = x
Scope         Any frequencies, any number M >= 1 of pairs, any real positions.
Reference     Su et al. 2021 (arXiv:2104.09864), section 3.2; the layout pairs neighbouring features.
"""

from ..notation import Definition, M, cos, delta, eq, family, sin, sum_, table
from ..registry import theorem
from .positional_encoding import a, b, block, e, m, p, q, w

x, y = family("x", M, 2), family("y", M, 2)


def turn_back(angle, a, b):
    """The rotation by an angle, at (a, b)."""
    return table([[cos(angle), -sin(angle)], [sin(angle), cos(angle)]], a, b)


R = Definition("R", [w, m, p, a, b], turn_back(w[m] * p, a, b), says="the rotation of pair m at position p")
rotated = Definition("rotated", [w, x, p, m, a], sum_(b, R(w, m, p, a, b) * x[m, b]), says="R_p x")


@theorem(eq(R(w, m, p, a, b), block(w, m, p, b, a)), near_miss=block(w, m, p, a, b))
def rotary_is_inverse_shift(proof):
    "The rotary rotation is the transpose, and so the inverse, of the block that shifts a sinusoidal pair."
    proof.equals(turn_back(w[m] * p, a, b), "definition", of=R)
    proof.equals(table([[cos(w[m] * p), sin(w[m] * p)], [-sin(w[m] * p), cos(w[m] * p)]], b, a), "cases", on=a,
                 then="cases", inner={"on": b, "then": "ring"})  # fmt: skip
    proof.closes("definition", of=block)


@theorem(eq(sum_(b, R(w, m, p, a, b) * R(w, m, q, b, e)), R(w, m, p + q, a, e)), near_miss=R(w, m, p - q, a, e))
def rotations_add(proof):
    "Turning by q and then by p is turning by p + q."
    u, v = w[m] * p, w[m] * q
    both = [[cos(u) * cos(v) - sin(u) * sin(v), -(cos(u) * sin(v)) - sin(u) * cos(v)],
            [sin(u) * cos(v) + cos(u) * sin(v), cos(u) * cos(v) - sin(u) * sin(v)]]  # fmt: skip
    proof.equals(sum_(b, turn_back(u, a, b) * turn_back(v, b, e)), "definition", of=R)
    proof.equals(table(both, a, e), "cases", on=a, then="cases", inner={"on": e, "then": "finite_sum"})
    proof.equals(turn_back(w[m] * (p + q), a, e), "cases", on=a, then="cases", inner={"on": e, "then": "angles"})
    proof.closes("definition", of=R)


def dot(f):
    """The sum of f(m, a) over all features."""
    return sum_(m, sum_(a, f(m, a)))


def turned(v, angle):
    """The two entries of a pair, turned by an angle."""
    return cos(angle) * v[m, 0] - sin(angle) * v[m, 1], sin(angle) * v[m, 0] + cos(angle) * v[m, 1]


def products(first, second):
    """The sum over the pairs of <first, second>, each given by its two entries."""
    return sum_(m, first[0] * second[0] + first[1] * second[1])


def entries(v):
    return v[m, 0], v[m, 1]


@theorem(
    eq(dot(lambda m, a: rotated(w, x, p, m, a) * y[m, a]), dot(lambda m, a: x[m, a] * rotated(w, y, -p, m, a))),
    near_miss=dot(lambda m, a: x[m, a] * rotated(w, y, p, m, a)),
)
def rotation_moves_across(proof):
    "A rotation moves to the other side of a dot product as its inverse."

    def summed(v, at, a):
        return sum_(b, turn_back(w[m] * at, a, b) * v[m, b])

    proof.equals(dot(lambda m, a: summed(x, p, a) * y[m, a]), "definition", of=(rotated, R))
    proof.equals(products(turned(x, w[m] * p), entries(y)), "finite_sum")
    proof.equals(products(entries(x), turned(y, w[m] * -p)), "congruence", then="angles")
    proof.equals(dot(lambda m, a: x[m, a] * summed(y, -p, a)), "finite_sum")
    proof.closes("definition", of=(rotated, R))


@theorem(
    eq(
        dot(lambda m, a: rotated(w, x, p, m, a) * rotated(w, y, q, m, a)),
        dot(lambda m, a: x[m, a] * rotated(w, y, q - p, m, a)),
    ),
    near_miss=[
        dot(lambda m, a: x[m, a] * rotated(w, y, q + p, m, a)),
        dot(lambda m, a: x[m, a] * rotated(w, y, p - q, m, a)),
    ],
)
def score_depends_on_relative_position(proof):
    "The score of a rotated query and a rotated key depends on the difference of their positions alone."

    def summed(v, at, a):
        return sum_(b, turn_back(w[m] * at, a, b) * v[m, b])

    proof.equals(dot(lambda m, a: summed(x, p, a) * summed(y, q, a)), "definition", of=(rotated, R))
    proof.equals(products(turned(x, w[m] * p), turned(y, w[m] * q)), "finite_sum")
    proof.equals(products(entries(x), turned(y, w[m] * (q - p))), "congruence", then="angles")
    proof.equals(dot(lambda m, a: x[m, a] * summed(y, q - p, a)), "finite_sum")
    proof.closes("definition", of=(rotated, R))


@theorem(
    eq(dot(lambda m, a: rotated(w, x, p, m, a) ** 2), dot(lambda m, a: x[m, a] ** 2)),
    near_miss=dot(lambda m, a: 2 * x[m, a] ** 2),
)
def isometry(proof):
    "A rotation keeps the length of every vector."

    def summed(a):
        return sum_(b, turn_back(w[m] * p, a, b) * x[m, b])

    proof.equals(dot(lambda m, a: summed(a) ** 2), "definition", of=(rotated, R))
    proof.equals(products(turned(x, w[m] * p), turned(x, w[m] * p)), "finite_sum")
    proof.equals(products(entries(x), entries(x)), "congruence", then="angles")
    proof.closes("finite_sum")


@theorem(eq(rotated(w, x, 0, m, a), x[m, a]), near_miss=-x[m, a])
def zero_position_changes_nothing(proof):
    "At position 0 nothing turns."
    proof.equals(sum_(b, turn_back(w[m] * 0, a, b) * x[m, b]), "definition", of=(rotated, R))
    proof.equals(
        sum_(b, delta(a, b) * x[m, b]),
        "cases",
        on=a,
        then="congruence",
        inner={"then": "cases", "inner": {"on": b, "then": "angles"}},
    )
    proof.closes("finite_sum")
