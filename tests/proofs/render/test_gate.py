"""Every page says what was proved; a page that says anything else is refused."""

from typing import NamedTuple

import pytest

from proofs import axioms
from proofs.kernel import Theorem
from proofs.registry import all_claims
from proofs.render import Latex, Unicode
from proofs.render.catalogues import in_language, languages
from proofs.render.gate import GateError, checked, gated_page
from proofs.render.inverse.declarations import DECLARED
from proofs.render.parts import Declaration, Formula, Words
from proofs.render.proved import reason
from proofs.render.theorem import Page, Refusal, page

CLAIMS = {claim.name: claim for claim in all_claims()}
WORDS = {"name", "says", "message", "kind"}  # the fields of a page that hold words; everything else holds formulas


def theorem(name):
    return CLAIMS[name].theorem


JACOBIAN = theorem("softmax_jacobian.jacobian")
PAGE = page(JACOBIAN, Latex)


@pytest.mark.parametrize("claim", all_claims(), ids=lambda c: c.name)
def test_every_page_passes(claim):
    found = gated_page(claim.theorem, Latex)
    assert found.page == page(claim.theorem, Latex)
    assert found.formulas == sum(1 for _ in leaves(found.page)) > len(claim.theorem.steps)


@pytest.mark.parametrize("axiom", [t for t in vars(axioms).values() if isinstance(t, Theorem)], ids=lambda t: t.name)
def test_axioms_pass(axiom):
    assert gated_page(axiom, Latex).formulas >= 2


@pytest.mark.parametrize("name", ["softmax_saturation.jacobian_vanishes", "causal_alignments.indices_stay_below"])
def test_formulas_are_the_same_in_every_language(name):
    counts = {gated_page(theorem(name), Latex, in_language(one)).formulas for one in languages()}
    assert len(languages()) > 1 and len(counts) == 1


@pytest.mark.slow
@pytest.mark.parametrize("language", languages())
def test_the_whole_catalogue_is_counted(language):
    catalogue = in_language(language)
    assert sum(gated_page(claim.theorem, Latex, catalogue).formulas for claim in all_claims()) > 10000


def test_a_printer_that_nothing_reads():
    class Unread(Unicode):
        pass

    with pytest.raises(GateError, match=r"softmax_jacobian\.jacobian: nothing reads what Unread prints; add it to INV"):
        gated_page(JACOBIAN, Unread)


# --- no formula escapes -----------------------------------------------------------------------------------------------


def leaves(value, put=lambda new: new, field=""):
    """Every formula of a page, by the types of what it holds, with the page that has another one in its place."""
    if isinstance(value, Formula):
        yield value.text, lambda new: put(Formula(new))
    elif isinstance(value, str):
        if field not in WORDS and not (field == "text" or field == "relation"):
            yield value, put
    elif isinstance(value, tuple):
        names = getattr(value, "_fields", range(len(value)))
        for k, (name, part) in enumerate(zip(names, value, strict=True)):
            yield from leaves(part, lambda new, k=k: put(_with(value, k, new)), name)


def _with(value, k, new):
    parts = (*value[:k], new, *value[k + 1 :])
    return type(value)(*parts) if hasattr(value, "_fields") else parts


CROWDED = [
    "attention_scores.score_mean_is_zero", "causal_alignments.indices_stay_below", "causal_alignments.lower_right_row_is_empty",
    "causal_masking.causal_sums_ignore_the_future", "feed_forward.permutation_equivariance", "finite_masks.masked_weight_is_small",
    "layer_norm_null_space.null_space_without_eps", "residual.residual_jacobian", "softmax_saturation.jacobian_vanishes",
]  # fmt: skip


@pytest.mark.parametrize("name", CROWDED)
def test_no_formula_escapes(name):
    proved = theorem(name)
    found = page(proved, Latex)
    formulas = list(leaves(found))
    assert checked(found, proved) == len(formulas)
    for _, put in formulas:
        with pytest.raises(GateError):
            checked(put(r"\alpha_{\mathrm{nowhere}}"), proved)


def test_no_formula_is_left_out_or_doubled():
    for text, put in leaves(PAGE):
        for other in ("", f"{text} {text}", f"{text}, {text}"):
            with pytest.raises(GateError):
                checked(put(other), JACOBIAN)


def test_crowded_pages_have_all_that_a_page_may_have():
    pages = [page(theorem(name), Latex) for name in CROWDED]
    kinds = {d.kind for p in pages for d in (*p.symbols, *p.met, *(d for r in p.refusals for d in r.symbols))}
    assert kinds == set(DECLARED)
    for field in Page._fields:
        assert any(getattr(p, field) for p in pages), field
    for field in Refusal._fields:
        assert any(getattr(r, field) for p in pages for r in p.refusals), field
    steps = [s for name in CROWDED for s in theorem(name).steps]
    used = {type(w).__name__ for s in steps for w in reason(s)}
    assert used == {"Cited", "Named", "States", "Values", "Assigned"}


def test_leaves_are_found_by_type():
    class Later(NamedTuple):
        name: str
        formula: str
        parts: tuple

    found = dict(leaves(Later("a name", "a + b", (Words("so "), Formula("c"), Declaration("size", (Formula("d"),))))))
    assert list(found) == ["a + b", "c", "d"]
    assert found["d"]("e").parts[2] == Declaration("size", (Formula("e"),))


# --- wrong pages, made by hand ----------------------------------------------------------------------------------------


def refused(found, proved, where):
    with pytest.raises(GateError, match=where):
        checked(found, proved)


def changed_line(found, k, **fields):
    lines = list(found.lines)
    lines[k] = lines[k]._replace(**fields)
    return found._replace(lines=tuple(lines))


def changed(parts, old, new):
    """Parts with one text exchanged; it has to be there."""
    assert any(old in part.text for part in parts)
    return tuple(part._replace(text=part.text.replace(old, new, 1)) for part in parts)


def test_a_sign_in_a_step():
    wrong = changed_line(PAGE, 2, term=PAGE.lines[2].term.replace("}} - ", "}} + ", 1))
    refused(wrong, JACOBIAN, r"^softmax_jacobian\.jacobian, step 3: .* says add\(.*, and what was proved is add\(")


def test_an_index_that_is_captured():
    line = PAGE.lines[0].term
    assert r"z_{i} + t \delta_{i j}" in line
    for other in ("i", "j"):
        captured = (
            line.replace("l=0", f"{other}=0").replace("z_{l}", f"z_{{{other}}}").replace("{l j}", f"{{{other} j}}")
        )
        refused(
            changed_line(PAGE, 0, term=captured), JACOBIAN, f"step 1: {other} is bound here, and stands for a symbol"
        )


def test_the_order_of_factors():
    refused(PAGE._replace(start=r"\operatorname{J}(z)_{j i}"), JACOBIAN, "jacobian, left side: ")


def test_the_sign_of_a_relation():
    refused(changed_line(PAGE, 1, relation=r"\le"), JACOBIAN, "step 2, its sign: found 'le', needed 'eq'")


def test_an_index_in_a_reason():
    proved = theorem("softmax_saturation.jacobian_vanishes")
    found = page(proved, Latex)
    wrong = changed_line(found, 0, reason=changed(found.lines[0].reason, "r := r", "r := i"))
    refused(wrong, proved, r"step 1, its reason: r := i says \(r, i\), and what was proved is \(r, r\)")


def test_another_theorem_in_a_reason():
    proved = theorem("softmax_saturation.jacobian_vanishes")
    found = page(proved, Latex)
    wrong = changed_line(found, 0, reason=changed(found.lines[0].reason, "strict_maximum_jacobian", "strict_maximum"))
    refused(wrong, proved, "step 1, its reason")


def test_a_theorem_that_is_not_cited():
    reason = (*PAGE.lines[2].reason, Words(", by "), Words("softmax.sums_to_one"))
    refused(changed_line(PAGE, 2, reason=reason), JACOBIAN, "step 3, its reason, the number of formulas and theorems")


def test_the_name_of_a_definition_in_a_reason():
    wrong = changed_line(PAGE, 3, reason=changed(PAGE.lines[3].reason, "softmax", "J"))
    refused(wrong, JACOBIAN, "step 4, its reason: .* says J, and what was proved is softmax")


def test_an_altered_definition():
    definitions = (changed(PAGE.definitions[0], "t = 0", "t = 1"), *PAGE.definitions[1:])
    refused(PAGE._replace(definitions=definitions), JACOBIAN, "jacobian, where: .* says relation")


@pytest.mark.parametrize("definitions", [PAGE.definitions[:1], PAGE.definitions[:1] * 2, (*PAGE.definitions, ())])
def test_other_definitions(definitions):
    refused(PAGE._replace(definitions=definitions), JACOBIAN, "jacobian, where")


def declared(k, text):
    entry = PAGE.symbols[k]
    return PAGE._replace(symbols=(*PAGE.symbols[:k], entry._replace(parts=(Formula(text),)), *PAGE.symbols[k + 1 :]))


@pytest.mark.parametrize(
    ("wrong", "needed"),
    [
        (declared(0, r"2 \le n"), "n is declared as a size of at least 2, and the theorem has no such symbol"),
        (declared(1, r"i, j < n + 1"), r"i is declared as an index below add\(n, 1\)"),
        (declared(1, r"i, k < n"), "k is declared as an index below n, and the theorem has no such symbol"),
        (declared(1, r"i < n"), r"not declared: j \(an index below n\)"),
        (declared(1, r"i, j \in \mathbf{R}"), "i is declared as a variable in the domain real"),
        (PAGE._replace(symbols=PAGE.symbols[:-1]), r"not declared: z \(a family over n in the domain real\)"),
    ],
)
def test_a_declaration(wrong, needed):
    refused(wrong, JACOBIAN, f"jacobian, for all: {needed}")


def test_what_a_declaration_says_in_words():
    proved = theorem("softmax.permutation_equivariance")
    found = page(proved, Latex)
    symbols = tuple(d._replace(kind="map") if d.kind == "permutation" else d for d in found.symbols)
    assert symbols != found.symbols
    refused(
        found._replace(symbols=symbols), proved, "for all: π is declared as a map of n into n, and the theorem has no"
    )


def test_a_near_miss_shown_as_the_theorem():
    refused(PAGE._replace(conclusion=PAGE.refusals[0].conclusion), JACOBIAN, "jacobian, then: ")
    other = PAGE.refusals[0]._replace(conclusion=PAGE.conclusion)
    refused(PAGE._replace(refusals=(other, *PAGE.refusals[1:])), JACOBIAN, "jacobian, near miss 1: ")


def test_a_near_miss_without_its_hypotheses():
    proved = theorem("relative_position.gap_is_positive")
    found = page(proved, Latex)
    other = tuple(r._replace(hypotheses=None) for r in found.refusals)
    refused(found._replace(refusals=other), proved, "near miss 2, its hypotheses")


@pytest.mark.parametrize(
    ("field", "value", "where"),
    [
        ("name", "softmax_jacobian.jvp", "its name"),
        ("lines", PAGE.lines[:-1], "the number of steps"),
        ("refusals", PAGE.refusals[1:], "the number of near misses"),
        ("start", None, "whether there is a left side"),
        ("hypotheses", ("i = j",), "if, the number of formulas"),
        ("met", (Declaration("members", (Formula(r"t \in \mathbf{R}"),)),), "besides: t is declared"),
    ],
)
def test_a_part_of_a_page(field, value, where):
    refused(PAGE._replace(**{field: value}), JACOBIAN, f"jacobian, {where}")
