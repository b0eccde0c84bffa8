"""What the terminal shows, text by text."""

import pytest

from proofs.notation import (
    ANY_REAL,
    INFINITY,
    PI,
    Definition,
    absolute,
    choice,
    curve,
    delta,
    derivative,
    eq,
    exp,
    expectation,
    family,
    forall,
    function,
    i,
    implies,
    index,
    j,
    join,
    l,
    le,
    literal,
    log,
    lt,
    maximum,
    n,
    ne,
    number,
    outcome,
    permutation,
    rational,
    size,
    space,
    split,
    sqrt,
    sum_,
    t,
    table,
    tends,
    value_of,
    variable,
    when,
    z,
)  # fmt: skip
from proofs.render import Notation, Unicode
from proofs.terms import Term
from proofs.theorems.softmax import softmax as s

M, d_k = size("M"), size("d_k")
a, m, k = index("a", 2), index("m", M), index("k", n)
b, c, eps = variable("b"), variable("c"), variable("epsilon", "positive")
q, x = family("q", n, M), curve("x", n)
pi, tied, mu = permutation("pi", n), choice("tied", n, target=2), choice("mu", ANY_REAL, target=n)
column = index("c", 2 * M)
U, W = space("U"), space("W")
u, w, v = outcome("u", U), outcome("w", U), outcome("v", W)
R, G, hi = family("R", U), family("G", n, W), choice("hi", U, target=n)
mean = Definition("mean", [z], sum_(l, z[l]) / n)
shifted = Definition("shifted", [z, c, i], z[i] + c)

TEXTS = {
    "Σ_l exp(z_l)": sum_(l, exp(z[l])),
    "s_i (δ_ij − s_j)": family("s", n)[i] * (delta(i, j) - family("s", n)[j]),
    "softmax(z)_i (δ_ij − softmax(z)_j)": s(z, i) * (delta(i, j) - s(z, j)),
    "exp(z_i) / Σ_l exp(z_l)": exp(z[i]) / sum_(l, exp(z[l])),
    "(Σ_l z_l) / n": sum_(l, z[l]) / n,
    "(Σ_l z_l) Σ_k z_k": sum_(l, z[l]) * sum_(k, z[k]),
    "Σ_l Σ_k (z_l + z_k)": sum_(l, sum_(k, z[l] + z[k])),
    "Σ_(l < n) 1": sum_(l, number(1)),
    "Σ_(a < 2) a": sum_(a, value_of(a)),
    "Σ_k δ_ik": sum_(k, delta(i, k)),
    "1/2 · b": rational(1, 2) * b,
    "b / 2": b / 2,
    "b / (c t)": b / (c * t),
    "b / c / t": b / c / t,
    "b (1 / c) t": b / c * t,
    "(b + c) / (b − c)": (b + c) / (b - c),
    "1 / √d_k": 1 / sqrt(d_k),
    "√(b + c)": sqrt(b + c),
    "(√b)²": sqrt(b) ** 2,
    "b²": b**2,
    "b⁻²": b**-2,
    "b^(1/2)": b ** rational(1, 2),
    "b^c": b**c,
    "10000^(2 m / (2 M))": number(10000) ** (2 * value_of(m) / (2 * M)),
    "(b²)³": (b**2) ** 3,
    "−b": -b,
    "−(b + c)": -(b + c),
    "b − (c − t)": b - (c - t),
    "b − 2 c": b - 2 * c,
    "−2 c": -2 * c,
    "b · 2": b * 2,
    "b (−2)": b * -2,
    "b + (−2/3) c t": Term("add", (b, Term("mul", (rational(-2, 3), c, t)))),
    "2 π": 2 * PI,
    "|b| + 1": absolute(b) + 1,
    "abs(|b| + 1)": absolute(absolute(b) + 1),
    "max(b, c)": maximum(b, c),
    "log(b) exp(−c)": log(b) * exp(-c),
    "q_im": q[i, m],
    "q_(i, 0)": q[i, 0],
    "z_0": z[0],
    "z_(π(i))": z[pi(i)],
    "z_(μ(b))": z[mu(b)],
    "2 tied(i)": 2 * value_of(tied(i)),
    "c_(2 m + a)": family("c", 2 * M)[join(m, a)],
    "q_(0, ⌊c / 2⌋)": q[literal(0, n), split(column, 2)[0]],
    "[2 m + a]": value_of(join(m, a)),
    "[c mod 2] + 1": value_of(split(column, 2)[1]) + 1,
    "0_n": value_of(literal(0, n)),
    "x_i(t)": x[i, t],
    "ẋ_i(t)": x.derivative[i, t],
    "ṗos_i(t)": curve("pos", n).derivative[i, t],
    "[b, c; t, 0]_aa": table([[b, c], [t, 0]], a, a),
    "[b; c]_a": table([b, c], a),
    "{i = j: b; i ≠ j: c}": when(eq(i, j), b, c),
    "d/dt [t b]_(t = 0)": derivative(t, t * b, 0),
    "d/dt [x_i(t)]": derivative(t, x[i, t], t),
    "d/dt' [t' b]_(t' = t b)": derivative(t, t * b, t * b),
    "mean(z)": mean(z),
    "mean(softmax(z))": mean(function(l, s(z, l))),
    "mean(j ↦ z_j + c)": mean(function(j, z[j] + c)),
    "mean(j < n ↦ c)": mean(function(j, c)),
    "mean(l ↦ x_l(t))": mean(function(l, x[l, t])),
    "shifted(z, b)_i": shifted(z, b, i),
    "lim_(b → ∞) softmax(j ↦ b z_j)_i = δ_ik": tends(b, s(function(j, b * z[j]), i), INFINITY, delta(i, k)),
    "𝔼_u[R_u]": expectation(u, R[u]),
    "𝔼_(u ∈ U)[1]": expectation(u, number(1)),
    "𝔼_u[R_u²] − 𝔼_u[R_u]²": expectation(u, R[u] ** 2) - expectation(u, R[u]) ** 2,
    "𝔼_u[𝔼_v[b R_u G_iv]]": expectation([u, v], b * R[u] * G[i, v]),
    "𝔼_v[R_v R_w] 𝔼_v[G_iv]": Term("expect", expectation(u, R[u] * R[w]).args, None, ("v",)) * expectation(v, G[i, v]),
    "(𝔼_u[R_u] − b) / b": (expectation(u, R[u]) - b) / b,
    "𝔼_u[{b ≤ R_u: 1; b > R_u: 0}]": expectation(u, when(le(b, R[u]), 1, 0)),
    "𝔼_u[z_(hi(u))]": expectation(u, z[hi(u)]),
    "∀ u: R_u ≤ b": forall(u, le(R[u], b)),
    "∀ u ∈ U: b ≤ c": forall(u, le(b, c)),
    "0 < b": lt(0, b),
    "i ≠ j": ne(i, j),
    "∀ j ≠ k: c ≤ z_k − z_j": forall(j, le(c, z[k] - z[j]), where=[ne(j, k)]),
    "∀ j: k ≠ j ⇒ c ≤ z_j": forall(j, le(c, z[j]), where=[ne(k, j)]),
    "∀ j: ∀ l: z_j ≤ z_l": forall([j, l], le(z[j], z[l])),
    "∀ j < n: b ≤ c": forall(j, le(b, c)),
    "∀ b ∈ ℤ: b ≤ c": forall(variable("b", "integer"), le(variable("b", "integer"), c)),
    "(∀ j: z_j ≤ b) ⇒ b ≤ c": implies(forall(j, le(z[j], b)), le(b, c)),
    "ε (1 − ε)": eps * (1 - eps),
}  # fmt: skip


def printed(term):
    return Unicode(Notation.of(term))(term)


@pytest.mark.parametrize("text", TEXTS)
def test_text(text):
    assert printed(TEXTS[text]) == text


def test_functions_by_themselves():
    assert printed(function(j, z[j])) == "z"
    assert printed(function([l, t], x[l, t])) == "x"
    assert printed(function([l, t], z[l] + t * c)) == "(l, t ∈ ℝ) ↦ z_l + t c"
    assert printed(function(m, q[i, m])) == "q_i"
    assert printed(function(k, q[k, literal(0, M)])) == "k ↦ q_(k, 0)"
    assert printed(function(u, R[u])) == "R" and printed(function(u, R[u] + b)) == "u ↦ R_u + b"
    assert printed(function([i, u], b)) == "(i < n, u ∈ U) ↦ b"


def test_family_beside_a_symbol_with_a_label():
    plain, entry, labelled = variable("x_i"), family("x", n)[i], family("x", n)[i] + variable("x_i")
    assert printed(plain) == printed(entry) == "x_i"  # on pages of their own nothing else is meant
    assert printed(labelled) == "x[i] + x_i"
