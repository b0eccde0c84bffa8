"""Names: one spelling per symbol, and no capture on paper."""

import pytest

from proofs.binders import close
from proofs.notation import (
    PI,
    Definition,
    choice,
    curve,
    derivative,
    exp,
    family,
    forall,
    function,
    i,
    index,
    j,
    l,
    le,
    n,
    permutation,
    size,
    sum_,
    t,
    value_of,
    variable,
    z,
)  # fmt: skip
from proofs.render import Latex, Notation, RenderError, Unicode
from proofs.render.names import Spelling, stem
from proofs.terms import Term

q = family("q", n, n)
i_m = index("i", size("m"))


def unicode(term):
    return Unicode(Notation.of(term))(term)


def test_bound_name_meets_a_free_symbol():
    bound_j = Term("sum", (n, close(q[i, j], (j,))), None, ("i",))  # sum over j of q_ij, written with the hint i
    assert unicode(bound_j) == "Σ_i' q_ii'"
    assert Latex(Notation.of(bound_j))(bound_j) == r"\sum_{i'=0}^{n - 1} q_{i i'}"


def test_bound_name_meets_a_binder_around_it():
    inner = Term("sum", (n, close(q[i, j], (j,))), None, ("i",))
    assert unicode(Term("sum", (n, close(inner, (i,))), None, ("i",))) == "Σ_i Σ_i' q_ii'"


def test_neighbours_share_a_name():
    assert unicode(sum_(l, z[l]) + sum_(l, exp(z[l]))) == "Σ_l z_l + Σ_l exp(z_l)"


def test_bound_name_meets_a_symbol_of_the_page_only():
    term = sum_(l, z[l])
    assert Unicode(Notation.of(term, z[l]))(term) == "Σ_l' z_l'"


def test_bound_name_meets_a_size_or_a_family():
    assert unicode(sum_(index("n", n), z[index("n", n)])) == "Σ_n' z_n'"
    assert unicode(sum_(index("z", n), z[index("z", n)])) == "Σ_z' z_z'"


def test_three_binders_with_one_hint():
    b = [Term("bound", (), k) for k in range(3)]
    product = Term("mul", tuple(Term("family", (x,), z) for x in reversed(b)))
    term = product
    for _ in range(3):
        term = Term("sum", (n, term), None, ("k",))
    assert unicode(term) == "Σ_k Σ_k' Σ_k'' z_k z_k' z_k''"


def test_variable_of_a_derivative_at_itself_is_not_captured():
    f = family("f", Term("domain", (), "real"))
    assert unicode(derivative(t, f[t], t)) == "d/dt [f(t)]"
    s = variable("s")
    moved = derivative(s, f[s] * f[t], t)  # t is free under it
    assert unicode(Term("derivative", moved.args, None, ("t",))) == "d/dt' [f(t') f(t)]_(t' = t)"


def test_quantified_variable_beside_a_free_one():
    assert unicode(forall(t, le(t, variable("t", "positive")))) == "∀ t' ∈ ℝ: t' ≤ t"


@pytest.mark.parametrize(
    ("name", "text", "latex"),
    [
        ("omega", "ω", r"\omega"), ("epsilon", "ε", r"\varepsilon"), ("lambda", "λ", r"\lambda"), ("Phi", "Φ", r"\Phi"),
        ("omega_0", "ω_0", r"\omega_{\mathrm{0}}"), ("Sigma", "Sigma", r"\Sigma"), ("delta", "δ", r"\delta"),
        ("d_model", "d_model", r"d_{\mathrm{model}}"), ("pos", "pos", r"\mathit{pos}"), ("x1", "x1", r"\mathit{x1}"),
        ("a_b_c", "a_b_c", r"a_{\mathrm{b\text{-}c}}"),
    ],
)  # fmt: skip
def test_greek_words_and_labels(name, text, latex):
    symbol = variable(name)
    assert unicode(symbol) == text
    assert Latex(Notation.of(symbol))(symbol) == latex


def test_symbols_that_would_be_spelled_alike():
    page = Notation([variable("x"), variable("x", "positive"), variable("omega"), variable("ω")])
    assert [page[s] for s in page.symbols()] == [Spelling("x"), Spelling("x", 1), Spelling("ω"), Spelling("ω", 1)]


def test_index_over_another_range_is_another_symbol():
    term = value_of(i) + value_of(i_m)
    assert len({unicode(term).split(" + ")[k] for k in (0, 1)}) == 2


def test_pi_is_a_number_or_a_permutation():
    pi = permutation("pi", n)
    assert unicode(z[pi(i)]) == "z_(π(i))"
    assert unicode(PI * z[pi(i)]) == "π z_(π'(i))"
    assert unicode(variable("pi")) == "π'"
    assert unicode(z[choice("pi", n, target=n)(i)]) == "z_(π(i))"


def test_kronecker_has_its_letter_for_itself():
    assert unicode(family("delta", n, n)[i, j]) == "δ'_ij"
    assert unicode(family("delta", n)[i]) == "δ_i"
    assert unicode(Definition("delta", [i, j], PI)(i, j)) == "δ'_ij"


def test_functions_of_the_language_have_their_names_for_themselves():
    assert unicode(Definition("exp", [t], t)(exp(t))) == "exp'(exp(t))"


def test_derivative_of_a_curve():
    x = curve("x", n)
    assert unicode(x.derivative[i, t] - x[i, t]) == "ẋ_i(t) − x_i(t)"
    scores = curve("scores", n)
    assert unicode(scores.derivative[i, t]) == "ṡcores_i(t)"


def test_power_of_a_primed_name_keeps_one_superscript():
    term = variable("x") + variable("x", "positive") ** 2
    page = Notation([variable("x"), variable("x", "positive")])
    assert Latex(page)(term) == "x + (x')^{2}"


def test_symbol_that_is_not_declared():
    with pytest.raises(RenderError, match="x is not in the symbol table of this page; declare it in its Notation"):
        Unicode(Notation([]))(variable("x"))


def test_extended_table_keeps_its_spellings():
    page = Notation([variable("x", "positive")])
    more = page.extended(variable("x"))
    assert more[variable("x", "positive")] == Spelling("x")
    assert more[variable("x")] == Spelling("x", 1)
    with pytest.raises(RenderError):
        page[variable("x")]


def test_names_that_the_rules_made_up():
    assert [stem(name) for name in ("000l", "003jp", "002row", "i", "012")] == ["l", "j", "row", "i", "j"]


def test_label_of_a_bound_name_beside_a_family():
    x, moving = family("x", n), variable("x_0")
    assert unicode(derivative(moving, moving * x[0], 1)) == "d/dx' [x' x_0]_(x' = 1)"


def test_function_of_two_hints():
    assert unicode(function([i, j], q[j, i])) == "(i, j) ↦ q_ji"


def test_a_curve_brings_its_derivative():
    path = curve("x", n)
    page = Notation([path])
    assert page.symbols() == (path, path.derivative)
    assert page[path.derivative] == Spelling("x", dotted=True)
    both = Notation([path, curve("x", size("M"))])
    assert len({both[s] for s in both.symbols()}) == 4


def test_a_part_of_a_table():
    page = Notation([variable("x"), variable("x", "positive"), z])
    part = page.only([variable("x", "positive")], [z])
    assert part.symbols() == (variable("x", "positive"), z)
    assert part[variable("x", "positive")] == Spelling("x", 1)
    assert part.extended(symbols=[variable("x", "integer")])[variable("x", "integer")] == Spelling("x")
    with pytest.raises(RenderError, match="x is not in the symbol table of this page"):
        part[variable("x")]
