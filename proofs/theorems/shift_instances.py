r"""T^(k) written out as matrices of numbers, for small d.

Definitions   T(w, k, m, a, m', b)             delta_mm' Phi_m^(k)[a, b], of positional_encoding.py
Statements    instance_of_two                  d = 2: one rotation
              instance_of_four                 d = 4: two rotations, zeros elsewhere
              instance_of_eight                d = 8: four rotations, zeros elsewhere
Scope         Any frequencies, any real shift. Row and column count through the interleaved layout, pair by pair.
Reference     Vaswani et al. 2017, section 3.5.
"""

from typing import NamedTuple

from ..notation import Term, cos, delta, eq, family, index, sin, split, table
from ..registry import theorem
from .positional_encoding import T, block, k, turn


class Instance(NamedTuple):
    general: Term  # T^(k) at (row, column), as the general theorem has it
    unfolded: Term  # the same, its definitions unfolded
    written: Term  # the matrix of numbers
    transposed: Term  # the same, with rows for columns
    cases: dict  # every row, and in it every column


def instance(pairs):
    """T^(k) for so many pairs."""
    few = family("omega", pairs)
    row, column = index("r", 2 * pairs), index("s", 2 * pairs)
    (m, a), (m1, b) = split(row, 2), split(column, 2)

    def entry(r, s):
        angle = few[r // 2] * k
        return 0 if r // 2 != s // 2 else (cos(angle) if r == s else sin(angle) if r < s else -sin(angle))

    size = range(2 * pairs)
    return Instance(
        general=T(few, k, m, a, m1, b),
        unfolded=delta(m, m1) * turn(few[m] * k, a, b),
        written=table([[entry(r, s) for s in size] for r in size], row, column),
        transposed=table([[entry(s, r) for s in size] for r in size], row, column),
        cases={"on": row, "then": "cases", "inner": {"on": column, "then": "ring"}},
    )


two, four, eight = instance(1), instance(2), instance(4)


@theorem(eq(two.general, two.written), near_miss=two.transposed)
def instance_of_two(proof):
    "T^(k) for d = 2 is one rotation."
    proof.equals(two.unfolded, "definition", of=(T, block))
    proof.closes("cases", **two.cases)


@theorem(eq(four.general, four.written), near_miss=four.transposed)
def instance_of_four(proof):
    "T^(k) for d = 4 is two rotations, with zeros elsewhere."
    proof.equals(four.unfolded, "definition", of=(T, block))
    proof.closes("cases", **four.cases)


@theorem(eq(eight.general, eight.written), near_miss=eight.transposed)
def instance_of_eight(proof):
    "T^(k) for d = 8 is four rotations, with zeros elsewhere."
    proof.equals(eight.unfolded, "definition", of=(T, block))
    proof.closes("cases", **eight.cases)
