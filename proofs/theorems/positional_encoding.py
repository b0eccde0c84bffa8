r"""Sinusoidal position codes turn shifts into rotations.

Definitions   pair(w, m, p, a)                 (sin w_m p, cos w_m p), the m-th pair of PE at position p
              block(w, m, k, a, b)             Phi_m^(k) = [[cos w_m k, sin w_m k], [-sin w_m k, cos w_m k]]
              T(w, k, m, a, m', b)             delta_mm' Phi_m^(k)[a, b], block diagonal
              encoding(w, p, c)                PE_p in column c = 2m + a: sines in even columns, cosines in odd ones
              shift_matrix(w, k, c, c')        T^(k) as a 2M x 2M matrix
              half_split(w, p, c)              PE_p in column c = aM + m: first all sines, then all cosines
              frequency(base, M, x)            base^(-x/M), which is base^(-2x/d) for d = 2M
Statements    even_columns_are_sines           column 2m of PE_p is sin(p / base^(2m/d))
              odd_columns_are_cosines          column 2m + 1 of PE_p is cos(p / base^(2m/d))
              block_shifts_pair                Phi_m^(k) pair_m(p) = pair_m(p + k)
              block_is_forced                  a 2 x 2 matrix that maps pair(t) to pair(t + k) at t = 0, pi/(2w) is Phi^(k)
              shift_is_rotation                T^(k) PE_p = PE_(p + k)
              shift_is_rotation_by_columns     the same with 2M x 2M matrices
              half_split_is_a_permutation      column aM + m of one layout is column 2m + a of the other
              wavelengths_are_geometric        2 pi / w_(x + 1) = base^(1/M) 2 pi / w_x
              shortest_wavelength              2 pi / w_0 = 2 pi
              longest_wavelength               2 pi / w_(M - 1) = 2 pi base^(1 - 1/M)
              shift_from_index_one             the shift theorem for frequencies indexed from m = 1
Scope         Any frequencies w, any number M >= 1 of pairs, any real position and shift, unless a line says otherwise.
Reference     Vaswani et al. 2017, section 3.5, which states the shift without proof; Kazemnejad 2019 for the elimination.
"""

from ..notation import (
    PI,
    Definition,
    M,
    cos,
    delta,
    eq,
    family,
    forall,
    function,
    index,
    join,
    literal,
    number,
    sin,
    split,
    sum_,
    table,
    value_of,
    variable,
)
from ..registry import theorem

w = family("omega", M)
m, m1, m2 = (index(name, M) for name in ("m", "mu", "nu"))
a, b, e = (index(name, 2) for name in "abe")
p, q, k, h = (variable(name) for name in "pqkh")
base = variable("base", "positive")
x = variable("x")


def waves(angle, a):
    """(sin, cos) of an angle, at a."""
    return table([sin(angle), cos(angle)], a)


def turn(angle, a, b):
    """The rotation that adds an angle to a (sin, cos) pair, at (a, b)."""
    return table([[cos(angle), sin(angle)], [-sin(angle), cos(angle)]], a, b)


pair = Definition("pair", [w, m, p, a], waves(w[m] * p, a), says="the m-th sine and cosine of PE at p")
block = Definition("block", [w, m, k, a, b], turn(w[m] * k, a, b), says="the rotation of the m-th pair")
T = Definition("T", [w, k, m, a, m1, b], delta(m, m1) * block(w, m, k, a, b), says="block diagonal")
frequency = Definition("frequency", [base, M, x], base ** (-x / M), says="the angular frequency of pair x, d = 2M")
c, c1 = index("c", 2 * M), index("c_1", 2 * M)


(c_pair, c_part), (c1_pair, c1_part) = split(c, 2), split(c1, 2)


encoding = Definition("encoding", [w, p, c], pair(w, c_pair, p, c_part), says="PE, interleaved: column 2m + a")
shift_matrix = Definition(
    "shift_matrix", [w, k, c, c1], T(w, k, c_pair, c_part, c1_pair, c1_part), says="T^(k), interleaved"
)
g = index("g", M * 2)
half_split = Definition(
    "half_split", [w, p, g], pair(w, split(g, M)[1], p, split(g, M)[0]), says="PE, concatenated: column aM + m"
)
standard = function(m, frequency(base, M, value_of(m)))


@theorem(
    eq(encoding(standard, p, join(m, literal(0, 2))), sin(p / base ** (2 * value_of(m) / (2 * M)))),
    near_miss=cos(p / base ** (2 * value_of(m) / (2 * M))),
)
def even_columns_are_sines(proof):
    "The first column of a pair is the sine of p / base^(2m/d), with m the number of pairs before it."
    proof.equals(pair(standard, m, p, literal(0, 2)), "definition", of=encoding)
    proof.equals(sin(base ** (-value_of(m) / M) * p), "definition", of=(pair, frequency))
    proof.closes("exp_log")


@theorem(
    eq(encoding(standard, p, join(m, literal(1, 2))), cos(p / base ** (2 * value_of(m) / (2 * M)))),
    near_miss=cos(p / base ** ((2 * value_of(m) + 1) / (2 * M))),
)
def odd_columns_are_cosines(proof):
    "The second column of a pair is the cosine of p / base^(2m/d), with the same exponent as its sine."
    proof.equals(pair(standard, m, p, literal(1, 2)), "definition", of=encoding)
    proof.equals(cos(base ** (-value_of(m) / M) * p), "definition", of=(pair, frequency))
    proof.closes("exp_log")


@theorem(
    eq(sum_(b, block(w, m, k, a, b) * pair(w, m, p, b)), pair(w, m, p + k, a)),
    near_miss=[pair(w, m, p - k, a), eq(sum_(b, block(w, m, k, b, a) * pair(w, m, p, b)), pair(w, m, p + k, a))],
)
def block_shifts_pair(proof):
    "One block of T^(k) takes a pair from position p to position p + k."
    u, v = w[m] * k, w[m] * p
    proof.equals(sum_(b, turn(u, a, b) * waves(v, b)), "definition", of=(block, pair))
    by_addition = [cos(u) * sin(v) + sin(u) * cos(v), cos(u) * cos(v) - sin(u) * sin(v)]
    proof.equals(table(by_addition, a), "cases", on=a, then="finite_sum")
    proof.equals(waves(w[m] * (p + k), a), "cases", on=a, then="angles")
    proof.closes("definition", of=pair)


A = family("A", M, 2, 2)
omega = family("omega", M, domain="positive")[m]
quarter = PI / (2 * omega)


def maps_pair(at):
    """A takes the pair at a position to the pair k later."""
    return forall(a, eq(sum_(b, A[m, a, b] * waves(omega * at, b)), waves(omega * (at + k), a)))


@theorem(
    eq(A[m, a, b], turn(omega * k, a, b)),
    given=[maps_pair(number(0)), maps_pair(quarter)],
    near_miss=turn(omega * k, b, a),
    witness={A: function([m, a, b], turn(omega * k, a, b))},
)
def block_is_forced(proof):
    "A matrix that maps pair(t) to pair(t + k), at t = 0 and at a quarter turn alone, is the rotation: no other one does."

    def at_the_two_positions(entry):
        return table([[entry(row, at) for at in (quarter, number(0))] for row in range(2)], a, b)

    def each_entry(rule):
        return {"on": a, "then": "cases", "inner": {"on": b, "then": rule}}

    written = at_the_two_positions(lambda row, at: A[m, row, 0] * sin(omega * at) + A[m, row, 1] * cos(omega * at))
    summed = at_the_two_positions(lambda row, at: sum_(e, A[m, row, e] * waves(omega * at, e)))
    moved = at_the_two_positions(lambda row, at: waves(omega * (at + k), literal(row, 2)))
    proof.equals(written, "cases", **each_entry("angles"))
    proof.equals(summed, "cases", **each_entry("finite_sum"))
    proof.equals(moved, "cases", **each_entry("given"))
    proof.closes("cases", **each_entry("angles"))


@theorem(
    eq(sum_(m1, sum_(b, T(w, k, m, a, m1, b) * pair(w, m1, p, b))), pair(w, m, p + k, a)),
    near_miss=[pair(w, m, p - k, a), pair(w, m, p + 2 * k, a)],
)
def shift_is_rotation(proof):
    "For every shift k one block-diagonal rotation T^(k), the same for all positions, maps PE_p to PE_(p + k)."
    proof.equals(sum_(m1, sum_(b, delta(m, m1) * block(w, m, k, a, b) * pair(w, m1, p, b))), "definition", of=T)
    proof.equals(sum_(b, block(w, m, k, a, b) * pair(w, m, p, b)), "finite_sum")
    proof.closes(block_shifts_pair)


@theorem(
    eq(sum_(c1, shift_matrix(w, k, c, c1) * encoding(w, p, c1)), encoding(w, p + k, c)),
    near_miss=encoding(w, p - k, c),
)
def shift_is_rotation_by_columns(proof):
    "The shift as a 2M x 2M matrix on the interleaved columns."
    proof.equals(
        sum_(c1, T(w, k, c_pair, c_part, c1_pair, c1_part) * pair(w, c1_pair, p, c1_part)),
        "definition", of=(shift_matrix, encoding),
    )  # fmt: skip
    proof.equals(sum_(m1, sum_(b, T(w, k, c_pair, c_part, m1, b) * pair(w, m1, p, b))), "finite_sum")
    proof.equals(pair(w, c_pair, p + k, c_part), shift_is_rotation)
    proof.closes("definition", of=encoding)


def entry(row, column):
    return block(w, m, k, literal(row, 2), literal(column, 2))


@theorem(
    eq(half_split(w, p, join(a, m)), encoding(w, p, join(m, a))),
    near_miss=encoding(w, -p, join(m, a)),
)
def half_split_is_a_permutation(proof):
    "The concatenated layout, all sines before all cosines, has the columns of the interleaved one in another order."
    proof.equals(pair(w, m, p, a), "definition", of=half_split)
    proof.closes("definition", of=encoding)


def wavelength(position):
    return 2 * PI / frequency(base, M, position)


@theorem(eq(wavelength(x + 1), base ** (1 / M) * wavelength(x)), near_miss=base**M * wavelength(x))
def wavelengths_are_geometric(proof):
    "Each wavelength is base^(1/M) = base^(2/d) times the one before."
    proof.equals(2 * PI / base ** (-(x + 1) / M), "definition", of=frequency)
    proof.equals(base ** (1 / M) * (2 * PI / base ** (-x / M)), "exp_log")
    proof.closes("definition", of=frequency)


@theorem(eq(wavelength(number(0)), 2 * PI), near_miss=2 * PI * base)
def shortest_wavelength(proof):
    "The first wavelength is 2 pi."
    proof.equals(2 * PI / base ** (-number(0) / M), "definition", of=frequency)
    proof.closes("exp_log")


@theorem(eq(wavelength(M - 1), 2 * PI * base ** (1 - 1 / M)), near_miss=2 * PI * base)
def longest_wavelength(proof):
    "The last wavelength is 2 pi base^(1 - 2/d), not 2 pi base."
    proof.equals(2 * PI / base ** (-(M - 1) / M), "definition", of=frequency)
    proof.closes("exp_log")


from_one = function(m, frequency(base, M, value_of(m) + 1))


@theorem(
    eq(sum_(m1, sum_(b, T(from_one, k, m, a, m1, b) * pair(from_one, m1, p, b))), pair(from_one, m, p + k, a)),
    near_miss=pair(standard, m, p + k, a),
)
def shift_from_index_one(proof):
    "The shift theorem holds as well for the frequencies base^(-m/M) with m = 1, .., M."
    proof.closes(shift_is_rotation, at={w: from_one})
