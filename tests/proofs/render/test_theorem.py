"""A theorem as a page: symbols, definitions, hypotheses, steps with reasons, near misses."""

import pytest

from proofs import Specialised, theorem
from proofs.kernel import Statement, Step
from proofs.notation import (
    INFINITY,
    Definition,
    curve,
    delta,
    eq,
    exp,
    family,
    forall,
    function,
    i,
    index,
    j,
    l,
    le,
    lt,
    n,
    ne,
    sum_,
    t,
    tends,
    variable,
    z,
)  # fmt: skip
from proofs.registry import all_claims
from proofs.render import Latex, Notation, RenderError, Unicode
from proofs.render.catalogues import ENGLISH
from proofs.render.declared import besides, declarations, defined
from proofs.render.parts import plain
from proofs.render.reasons import reason
from proofs.render.theorem import one_line, page, presentable, shortened
from proofs.rules import LIMIT_RULES, RULES
from proofs.terms import IndexMap, Term, choice, number, outcome, permutation, size, space
from proofs.theorems.softmax import positive, shift_invariance, softmax, sums_to_one
from proofs.theorems.softmax_derivatives import second_derivative
from proofs.theorems.softmax_jacobian import instance_of_four, jacobian, jvp
from proofs.theorems.softmax_saturation import jacobian_vanishes

c, x = variable("c"), variable("x", "positive")


def because(cause, arguments=None, using=(), before=z[i], after=z[j], printer=Unicode):
    step = Step(before, "eq", after, cause, arguments or {}, using)
    return plain(reason(step, printer(Notation.of(before, after))))


def test_page_of_the_jacobian():
    found = page(jacobian.theorem, Unicode)
    assert "; ".join(plain(d.parts) for d in found.symbols) == "1 ≤ n; i, j < n; z_k ∈ ℝ for k < n"
    assert plain(found.definitions[1]) == "softmax(z)_i = exp(z_i) / Σ_l exp(z_l)"
    assert found.conclusion == "J(z)_ij = softmax(z)_i (δ_ij − softmax(z)_j)"
    assert found.start == "J(z)_ij"
    assert [(line.relation, line.term, plain(line.reason)) for line in found.lines][-1] == (
        "=", "softmax(z)_i (δ_ij − softmax(z)_j)", "by definition of softmax",
    )  # fmt: skip
    assert found.refusals[0].conclusion == "J(z)_ij = softmax(z)_i (δ_ij + softmax(z)_j)"
    assert found.refusals[0].hypotheses is None
    assert found.refusals[0].message == "what is left over"
    assert "exp(z_i)" in found.refusals[0].residue


def test_page_of_a_limit():
    found = page(jacobian_vanishes.theorem, Unicode)
    assert found.hypotheses == ("∀ l ≠ r: g ≤ z_r − z_l",)
    assert found.conclusion == "lim_(b → ∞) J(l ↦ b z_l)_ij = 0"
    assert found.lines[-1].relation == "→"
    assert plain(found.lines[-1].reason).startswith("by squeezing between ")
    assert page(jacobian_vanishes.theorem, Latex).lines[-1].relation == r"\to"


def test_near_miss_with_other_hypotheses():
    claim = next(c for c in all_claims() if c.name == "relative_position.gap_is_positive")
    refusals = page(claim.theorem, Unicode).refusals
    assert [r.hypotheses is None for r in refusals] == [True, False]
    assert refusals[1].hypotheses == ("∀ u' ∈ ℤ: u' ≠ 0 ⇒ ∀ r ∈ ℤ: ω_(witness(u')) u' ≠ 2 π r",)


@pytest.mark.cases(24)
@pytest.mark.parametrize("printer", [Unicode, Latex])
@pytest.mark.parametrize("claim", all_claims(), ids=lambda c: c.name)
def test_every_theorem_has_a_page(claim, printer):
    found = page(claim.theorem, printer)
    assert len(found.lines) == len(claim.theorem.steps)
    assert len(found.refusals) == len(claim.theorem.near_misses)
    assert all(line.term and plain(line.reason) for line in found.lines)
    texts = [found.conclusion, *found.hypotheses, *(line.term for line in found.lines)]
    said = [claim.theorem.conclusion, *claim.theorem.hypotheses, *(s.after for s in claim.theorem.steps)]
    assert len(set(said)) == len(set(zip(said, texts, strict=True)))


def test_one_line():
    assert one_line(Statement(le(z[i], z[j]), (lt(0, x), ne(i, j)))) == "z_i ≤ z_j if 0 < x and i ≠ j"
    assert one_line(Statement(eq(z[i], 0))) == "z_i = 0"


# --- what is declared late ---


def test_symbols_of_the_steps_alone():
    found = page(jacobian_vanishes.theorem, Unicode)
    assert [plain(d.parts) for d in found.met] == ["b ∈ ℝ"]
    assert plain(besides(found.met, ENGLISH)) == "besides, b ∈ ℝ"
    assert besides(page(jacobian.theorem, Unicode).met, ENGLISH) == ()


def test_symbols_and_definitions_of_a_near_miss():
    claim = next(c for c in all_claims() if c.name == "layer_norm.acts_per_token")
    (refusal, *_) = page(claim.theorem, Unicode).refusals
    assert [plain(d).partition("(")[0] for d in refusal.definitions] == ["over_batch"]
    own = next(c for c in all_claims() if c.name == "attention.own_query_suffices")
    refusal = page(own.theorem, Unicode).refusals[0]
    assert "; ".join(plain(d.parts) for d in refusal.symbols).startswith("m < n")


def test_a_definition_is_named_as_on_the_page():
    one, other = Definition("f", [c], c + 1), Definition("f", [c], c + 2)
    noted = Notation([one, other])
    assert [plain(defined(d, Unicode, noted)) for d in (one, other)] == ["f(c) = c + 1", "f'(c) = c + 2"]


# --- reasons ----------------------------------------------------------------------------------------------------------


def test_reason_by_a_rule():
    assert because("ring") == "by expanding and collecting"
    assert because("definition", {"of": softmax}) == "by definition of softmax"
    mean, other = Definition("mean", [z], sum_(l, z[l])), Definition("top", [z], number(1))
    assert because("definition", {"of": (mean, softmax, other)}) == "by definition of mean, softmax and top"
    assert because("order", {"difference": (z[i] - c) ** 2}).endswith("sums term by term; the difference is (z_i − c)²")
    assert because("squeeze", {"lower": -c, "upper": c}) == "by squeezing between −c and c"


def test_reason_by_cases():
    assert (
        because("cases", {"on": (i, j), "then": "ring"}) == "case by case, on i = j or not: by expanding and collecting"
    )
    assert because("cases", {"on": le(c, 0), "then": "ring"}).startswith("case by case, on c ≤ 0 or not: ")
    four = index("a", 4)
    nested = because("cases", {"on": four, "then": "cases", "inner": {"on": (i, j), "then": "given"}})
    assert nested == "case by case, on the value of a: case by case, on i = j or not: as given"
    assert because("congruence", {"then": "definition", "of": softmax}) == "in each part: by definition of softmax"


def test_reason_by_a_theorem():
    earlier = sums_to_one.theorem
    assert because(earlier) == "by softmax.sums_to_one"
    at = {z: function(l, c * z[l]), n: 4}
    assert because(earlier, {"at": at}) == "by softmax.sums_to_one at z := l ↦ c z_l, n := 4"
    assert because(earlier, {"at": {z: family("y", n)}}) == "by softmax.sums_to_one at z := y"
    assert because(earlier, {"backwards": True}) == "by softmax.sums_to_one, from right to left"
    assert because("congruence", {"then": earlier, "at": {z: z}}) == "in each part: by softmax.sums_to_one at z := z"
    moved = permutation("pi", n)
    equivariant = next(c.theorem for c in all_claims() if c.name == "softmax.permutation_equivariance")
    assert because(equivariant, {"at": {moved: permutation("sigma", n)}}).endswith("at π := σ")
    assert isinstance(moved, IndexMap)


def test_reason_with_theorems_in_use():
    one, other = positive.theorem, sums_to_one.theorem
    assert because("order", using=(one, other)).endswith(", using softmax.positive and softmax.sums_to_one")
    assert because("order", using=((one, {i: j}),)).endswith(", using softmax.positive at i := j")
    given = Specialised(forall(l, le(z[l], c)), (i,))
    assert because("order", using=(given,)).endswith(", using ∀ l: z_l ≤ c at i")


def test_reason_by_induction():
    base, step = positive.theorem, sums_to_one.theorem
    cited = {"on": n, "base": (base, {}), "step": (step, {})}
    assert because("induction", cited) == "by induction over n, from softmax.positive by softmax.sums_to_one"
    assert because("induction", {**cited, "over": (i, l)}).startswith("by induction over n for all i and l, from ")
    assert because("induction", {**cited, "base": (base, {i: j}), "over": i}) == (
        "by induction over n for all i, from softmax.positive at i := j by softmax.sums_to_one"
    )
    assert because("congruence", {"then": "induction", "inner": cited}).startswith(
        "in each part: by induction over n, "
    )
    with pytest.raises(RenderError, match="no words for speed in a step by induction"):
        because("induction", {**cited, "speed": n})


def test_values_are_named_as_the_cited_theorem_names_them():
    text = because(shift_invariance.theorem, {"at": {variable("c"): x}})
    assert text == "by softmax.shift_invariance at c := x"


def test_reason_names_a_binder_as_the_step_does():
    before, after = sum_(j, z[j] * delta(i, j)), sum_(j, z[j])
    assert because("cases", {"on": (i, j), "then": "ring"}, before=before, after=after).startswith(
        "case by case, on i = j or not"
    )


def test_no_argument_goes_unsaid():
    with pytest.raises(RenderError, match="no words for speed in a step by ring"):
        because("ring", {"speed": number(1)})
    with pytest.raises(RenderError, match=r"no words for speed in a step by softmax\.sums_to_one"):
        because(sums_to_one.theorem, {"speed": number(1)})


SAMPLES = {
    "of": softmax, "difference": z[i] - z[j], "on": (i, j), "then": "ring", "inner": {}, "lower": z[i], "upper": z[j],
}  # fmt: skip


INDUCTION = {"on": n, "base": (positive.theorem, {}), "step": (sums_to_one.theorem, {}), "over": (i, j)}


@pytest.mark.parametrize("rule", [*RULES, *LIMIT_RULES])
def test_every_argument_of_every_rule_has_words(rule):
    names = RULES[rule].arguments if rule in RULES else ("lower", "upper") if rule == "squeeze" else ()
    samples = INDUCTION if rule == "induction" else SAMPLES
    assert because(rule, {name: samples[name] for name in names})


# --- declarations, residues -------------------------------------------------------------------------------------------


def test_declarations():
    path, w = curve("x", n), family("w", n, domain="positive")
    pi = permutation("pi", n)
    term = (
        path[i, t]
        + path.derivative[i, t]
        + z[pi(i)]
        + w[i] * c
        + w[j]
        + family("q", n, size("M", 0))[i, index("m", size("M", 0))]
    )
    found = [plain(d.parts) for d in declarations(Notation.of(term).symbols(), Unicode(Notation.of(term)))]
    assert found == [
        "0 ≤ M", "1 ≤ n", "c, t ∈ ℝ", "i, j < n", "m < M", "q_kl ∈ ℝ for k < n, l < M", "w_k ∈ ℝ>0 for k < n",
        "x_k(u) ∈ ℝ for k < n, u ∈ ℝ, differentiable in u with derivative ẋ", "z_k ∈ ℝ for k < n", "π(k) < n for k < n, one to one",
    ]  # fmt: skip


def test_declarations_of_random_variables():
    U, W = space("U"), space("W")
    u, w = outcome("u", U), outcome("w", W)
    term = family("q", n, U)[i, u] + family("f", U, W, domain="positive")[u, w] + z[choice("hi", U, target=n)(u)]
    found = [plain(d.parts) for d in declarations(Notation.of(term).symbols(), Unicode(Notation.of(term)))]
    assert found == [
        "U a probability space", "W a probability space", "1 ≤ n", "i < n", "u ∈ U", "w ∈ W", "f_jk ∈ ℝ>0 for j ∈ U, k ∈ W, with a finite second moment",
        "q_jk ∈ ℝ for j < n, k ∈ U, with a finite second moment", "z_j ∈ ℝ for j < n", "hi(j) < n for j ∈ U",
    ]  # fmt: skip


def test_definition_with_a_condition():
    inverse = Definition("inverse", [variable("x")], 1 / variable("x"), requires=[ne(variable("x"), 0)])
    assert plain(defined(inverse, Unicode, Notation([inverse]))) == "inverse(x) = 1 / x, where x ≠ 0"


def test_presentable_residues():
    residue = Term("add", (c, Term("mul", (number(-2), x)), Term("mul", (exp(c),))))
    assert Unicode(Notation.of(residue))(presentable(residue)) == "c − 2 x + exp(c)"
    statement = eq(c, x)
    assert presentable(statement) is statement


def test_message_without_its_residue():
    assert shortened(f"what is left over: {c!r}", c) == "what is left over"
    assert shortened("other words", c) == "other words"


def test_pages_that_need_care():
    for claim in (instance_of_four, jvp, second_derivative):
        assert page(claim.theorem, Unicode).start
    own = theorem(tends(variable("b"), z[i] + 1 / variable("b"), INFINITY, z[i]), near_miss=z[i] + 1)

    def limit(proof):
        "A limit whose variable is free in the steps."
        proof.equals(z[i] + variable("b") ** -1, "ring")
        proof.closes("limit")

    found = page(own(limit).theorem, Unicode)
    assert found.conclusion == "lim_(b → ∞) (z_i + 1 / b) = z_i"
    assert found.lines[0].term == "z_i + 1 / b"
