r"""Sinusoidal position codes turn shifts into rotations.

Definitions   pair(w, m, p, a)                 (sin w_m p, cos w_m p), the m-th pair of PE at position p
              block(w, m, k, a, b)             Phi_m^(k) = [[cos w_m k, sin w_m k], [-sin w_m k, cos w_m k]]
              T(w, k, m, a, m', b)             delta_mm' Phi_m^(k)[a, b], block diagonal
              encoding(w, p, c)                PE_p in column c = 2m + a: sines in even columns, cosines in odd ones
              shift_matrix(w, k, c, c')        T^(k) as a 2M x 2M matrix
              half_split(w, p, c)              PE_p in column c = aM + m: first all sines, then all cosines
              frequency(base, M, x)            base^(-x/M), which is base^(-2x/d) for d = 2M
              similarity(w, p, q)              the dot product of PE_p and PE_q
Statements    even_columns_are_sines           column 2m of PE_p is sin(p / base^(2m/d))
              odd_columns_are_cosines          column 2m + 1 of PE_p is cos(p / base^(2m/d))
              block_is_forced                  a 2 x 2 matrix that maps pair(t) to pair(t + k) at t = 0, pi/(2w) is Phi^(k)
              block_shifts_pair                Phi_m^(k) pair_m(p) = pair_m(p + k)
              shift_is_rotation                T^(k) PE_p = PE_(p + k)
              shift_is_rotation_by_columns     the same with 2M x 2M matrices
              instance_of_two, instance_of_four, instance_of_eight    T^(k) written out for d = 2, 4, 8
              rotations_compose                T^(j) T^(k) = T^(j + k)
              zero_shift_is_identity           T^(0) = I
              transpose_is_backward_shift      the transpose of T^(k) is T^(-k)
              inverse_is_transpose_is_backward_shift    T^(k) T^(-k) = I
              rotation_is_orthogonal           T^(k) transposed times T^(k) is I
              determinant_is_one               each block has determinant 1
              characteristic_polynomial        det(x - Phi_m^(k)) = x^2 - 2 x cos(w_m k) + 1
              generator                        dT^(k)/dk = G T^(k)
              generator_is_skew                G transposed is -G
              similarity_depends_on_offset     <PE_p, PE_q> = sum_m cos(w_m (p - q))
              similarity_is_even               it is the same for q - p
              norm_squared                     <PE_p, PE_p> = M
              squared_distance                 |PE_p - PE_q|^2 = 2M - 2 sum_m cos(w_m (p - q))
              half_split_is_a_permutation      column aM + m of one layout is column 2m + a of the other
              wavelengths_are_geometric        2 pi / w_(x + 1) = base^(1/M) 2 pi / w_x
              shortest_wavelength              2 pi / w_0 = 2 pi
              longest_wavelength               2 pi / w_(M - 1) = 2 pi base^(1 - 1/M)
              shift_from_index_one             the shift theorem for frequencies indexed from m = 1
Scope         Any frequencies w, any number M >= 1 of pairs, any real position and shift, unless a line says otherwise.
Reference     Vaswani et al. 2017, section 3.5, which states the shift without proof; Kazemnejad 2019 for the elimination.
"""

from ..notation import (
    PI, Definition, M, cos, delta, derivative, eq, family, forall, function, index, join, literal, log, number, sin, size, split,
    sum_, t, table, value_of, variable,
)  # fmt: skip
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
similarity = Definition("similarity", [w, p, q], sum_(m, sum_(a, pair(w, m, p, a) * pair(w, m, q, a))), says="<PE_p, PE_q>")
frequency = Definition("frequency", [base, M, x], base ** (-x / M), says="the angular frequency of pair x, d = 2M")

c, c1 = index("c", 2 * M), index("c_1", 2 * M)
(c_pair, c_part), (c1_pair, c1_part) = split(c, 2), split(c1, 2)
encoding = Definition("encoding", [w, p, c], pair(w, c_pair, p, c_part), says="PE, interleaved: column 2m + a")
shift_matrix = Definition(
    "shift_matrix", [w, k, c, c1], T(w, k, c_pair, c_part, c1_pair, c1_part), says="T^(k), interleaved"
)
g = index("g", M * 2)
half_split = Definition("half_split", [w, p, g], pair(w, split(g, M)[1], p, split(g, M)[0]), says="PE, concatenated: column aM + m")
standard = function(m, frequency(base, M, value_of(m)))


@theorem(
    eq(encoding(standard, p, join(m, literal(0, 2))), sin(p / base ** (2 * value_of(m) / (2 * M)))),
    near_miss=cos(p / base ** (2 * value_of(m) / (2 * M))),
)
def even_columns_are_sines(proof):
    "Column 2m of PE is the sine of p / base^(2m/d)."
    proof.equals(pair(standard, m, p, literal(0, 2)), "definition", of=encoding)
    proof.equals(sin(base ** (-value_of(m) / M) * p), "definition", of=(pair, frequency))
    proof.closes("exp_log")


@theorem(
    eq(encoding(standard, p, join(m, literal(1, 2))), cos(p / base ** (2 * value_of(m) / (2 * M)))),
    near_miss=cos(p / base ** ((2 * value_of(m) + 1) / (2 * M))),
)
def odd_columns_are_cosines(proof):
    "Column 2m + 1 of PE is the cosine of p / base^(2m/d), with the same exponent as its sine."
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


A = family("A", 2, 2)
omega = variable("w", "positive")
one_pair = function(m, omega)
quarter = PI / (2 * omega)


def maps_pair(at):
    """A takes the pair at a position to the pair k later."""
    return forall(a, eq(sum_(b, A[a, b] * waves(omega * at, b)), waves(omega * (at + k), a)))


@theorem(
    eq(A[a, b], turn(omega * k, a, b)),
    given=[maps_pair(number(0)), maps_pair(quarter)],
    near_miss=turn(omega * k, b, a),
    witness={A: function([a, b], turn(omega * k, a, b))},
)
def block_is_forced(proof):
    "A matrix that maps pair(t) to pair(t + k), at t = 0 and at a quarter turn alone, is the rotation: no other one does."
    def at_the_two_positions(entry):
        return table([[entry(row, at) for at in (quarter, number(0))] for row in range(2)], a, b)

    def each_entry(rule):
        return {"on": a, "then": "cases", "inner": {"on": b, "then": rule}}

    written = at_the_two_positions(lambda row, at: A[row, 0] * sin(omega * at) + A[row, 1] * cos(omega * at))
    summed = at_the_two_positions(lambda row, at: sum_(e, A[literal(row, 2), e] * waves(omega * at, e)))
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


def written_out(pairs):
    """T^(k) as a matrix of numbers, for so many pairs, at (row, column)."""
    few = family("omega", pairs)
    row, column = index("r", 2 * pairs), index("s", 2 * pairs)

    def entry(r, s):
        angle = few[r // 2] * k
        return 0 if r // 2 != s // 2 else (cos(angle) if r == s else sin(angle) if r < s else -sin(angle))

    def transposed(r, s):
        return entry(s, r)

    def whole(at):
        return table([[at(r, s) for s in range(2 * pairs)] for r in range(2 * pairs)], row, column)

    general = T(few, k, *split(row, 2), *split(column, 2))
    return general, whole(entry), whole(transposed), {"on": row, "then": "cases", "inner": {"on": column, "then": "ring"}}


two, four, eight = written_out(1), written_out(2), written_out(4)


@theorem(eq(two[0], two[1]), near_miss=two[2])
def instance_of_two(proof):
    "T^(k) for d = 2, written out."
    few = family("omega", 1)
    row, column = (split(index(name, 2), 2) for name in "rs")
    proof.equals(delta(row[0], column[0]) * block(few, row[0], k, row[1], column[1]), "definition", of=T)
    proof.equals(delta(row[0], column[0]) * turn(few[row[0]] * k, row[1], column[1]), "definition", of=block)
    proof.closes("cases", **two[3])


@theorem(eq(four[0], four[1]), near_miss=four[2])
def instance_of_four(proof):
    "T^(k) for d = 4, written out: two rotations, and zeros elsewhere."
    few = family("omega", 2)
    row, column = (split(index(name, 4), 2) for name in "rs")
    proof.equals(delta(row[0], column[0]) * turn(few[row[0]] * k, row[1], column[1]), "definition", of=(T, block))
    proof.closes("cases", **four[3])


@theorem(eq(eight[0], eight[1]), near_miss=eight[2])
def instance_of_eight(proof):
    "T^(k) for d = 8, written out: four rotations, and zeros elsewhere."
    few = family("omega", 4)
    row, column = (split(index(name, 8), 2) for name in "rs")
    proof.equals(delta(row[0], column[0]) * turn(few[row[0]] * k, row[1], column[1]), "definition", of=(T, block))
    proof.closes("cases", **eight[3])


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


def entry(row, column):
    return block(w, m, k, literal(row, 2), literal(column, 2))


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


G = Definition("G", [w, m, a, m1, b], delta(m, m1) * (w[m] * table([[0, 1], [-1, 0]], a, b)), says="generator of the shifts")


@theorem(
    eq(derivative(t, T(w, t, m, a, m2, e), k), sum_(m1, sum_(b, G(w, m, a, m1, b) * T(w, k, m1, b, m2, e)))),
    near_miss=-sum_(m1, sum_(b, G(w, m, a, m1, b) * T(w, k, m1, b, m2, e))),
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


def cosines(offset):
    return sum_(m, cos(w[m] * offset))


@theorem(eq(similarity(w, p, q), cosines(p - q)), near_miss=cosines(p + q))
def similarity_depends_on_offset(proof):
    "The dot product of two encodings depends on the offset of their positions alone."
    proof.equals(sum_(m, sum_(a, waves(w[m] * p, a) * waves(w[m] * q, a))), "definition", of=(similarity, pair))
    proof.equals(sum_(m, sin(w[m] * p) * sin(w[m] * q) + cos(w[m] * p) * cos(w[m] * q)), "finite_sum")
    proof.closes("congruence", then="angles")


@theorem(eq(similarity(w, p, q), cosines(q - p)), near_miss=-cosines(q - p))
def similarity_is_even(proof):
    "A step back is as similar as a step forth."
    proof.equals(cosines(p - q), similarity_depends_on_offset)
    proof.closes("congruence", then="angles")


@theorem(eq(similarity(w, p, p), M), near_miss=2 * M)
def norm_squared(proof):
    "Every encoding has the squared length M = d/2."
    proof.equals(cosines(p - p), similarity_depends_on_offset, at={q: p})
    proof.equals(sum_(m, 1 + 0 * p), "congruence", then="angles")
    proof.closes("finite_sum")


apart = sum_(m, sum_(a, (pair(w, m, p, a) - pair(w, m, q, a)) ** 2))


@theorem(eq(apart, 2 * M - 2 * cosines(p - q)), near_miss=2 * M + 2 * cosines(p - q))
def squared_distance(proof):
    "The squared distance of two encodings."
    def product(s, t):
        return sum_(m, sum_(a, pair(w, m, s, a) * pair(w, m, t, a)))

    proof.equals(product(p, p) + product(q, q) - 2 * product(p, q), "finite_sum")
    proof.equals(similarity(w, p, p) + similarity(w, q, q) - 2 * similarity(w, p, q), "definition", of=similarity)
    proof.equals(similarity(w, p, p) + similarity(w, q, q) - 2 * cosines(p - q), similarity_depends_on_offset)
    proof.equals(M + similarity(w, q, q) - 2 * cosines(p - q), norm_squared)
    proof.equals(M + M - 2 * cosines(p - q), norm_squared, at={p: q})
    proof.closes("ring")


@theorem(
    eq(half_split(w, p, join(a, m)), encoding(w, p, join(m, a))),
    near_miss=encoding(w, -p, join(m, a)),
)
def half_split_is_a_permutation(proof):
    "Column aM + m of the concatenated layout is column 2m + a of the interleaved one."
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
    "The shift theorem holds as well when the frequencies are indexed from m = 1."
    proof.closes(shift_is_rotation, at={w: from_one})
