"""Instances follow from the statement: frequencies of the layer, explicit curves, witnesses, contractions."""

import pytest

from numeric.agreement.evaluation import parameters
from numeric.agreement.instances import (
    applications,
    contracted,
    definitions_of,
    explicit_curves,
    frequency_families,
    instances,
    replaced,
    standard_frequencies,
    written_out,
)
from numeric.agreement.points import ExactPoint
from proofs.binders import sum_
from proofs.evaluate import evaluate, mp
from proofs.kernel import Statement
from proofs.notation import M, derivative, eq, exp, family, function, i, index, j, n, t, value_of, z
from proofs.registry import all_claims
from proofs.terms import Family, IndexMap, free
from proofs.theorems.attention import K, P, Q, S, V, a, attention, n_q
from proofs.theorems.attention import c as feature
from proofs.theorems.attention import i as query
from proofs.theorems.loss import smoothed
from proofs.theorems.masked_attention import masked_attention
from proofs.theorems.positional_encoding import base, block, encoding, frequency, k, m, p, pair, w
from proofs.theorems.softmax import softmax
from proofs.theorems.softmax_jacobian import J, path

other = index("other", n_q)
CLAIMS = {claim.name: claim for claim in all_claims()}


def statement_of(name):
    [(label, statement), *_] = instances(CLAIMS[name])
    assert label == ""
    return statement


def test_a_family_that_is_handed_on_as_frequencies_becomes_that_of_the_layer():
    statement = Statement(eq(encoding(w, p, index("c", 2 * M)), 0))
    assert frequency_families(statement) == {w}
    [term] = applications(replaced(statement, standard_frequencies(statement)))[:1]
    body = parameters(term)[0].args[-1]
    assert body.data is frequency
    assert parameters(body)[1] == M
    point = ExactPoint(0)
    assert evaluate(parameters(body)[0], point) >= mp.mpf(100) / 128


def test_frequencies_outside_of_the_application_are_the_same_ones():
    statement = statement_of("position_similarity.similarity_depends_on_offset")
    assert not any(isinstance(symbol, Family) and symbol.name == "omega" for symbol in statement.symbols())


def test_a_witness_gives_way_to_the_frequencies_of_the_layer():
    claim = CLAIMS["relative_position.positions_are_distinct"]
    assert w in claim.witness
    spelled = repr(statement_of(claim.name))
    assert "frequency" in spelled
    assert "omega" not in spelled


def test_other_witnesses_are_used():
    claim = CLAIMS["softmax_saturation.strict_maximum"]
    assert z in claim.witness
    assert z not in statement_of(claim.name).symbols()


def test_a_place_among_the_frequencies_becomes_an_index():
    statement = statement_of("positional_encoding.wavelengths_are_geometric")
    places = [s for s in statement.symbols() if not isinstance(s, Family) and s.op == "index"]
    assert [(place.data, place.args[0]) for place in places] == [("x", M)]
    assert base in statement.symbols()


def test_a_curve_and_its_derivative_belong_together():
    time = path.derivative[j, t]
    statement = Statement(eq(derivative(t, path[j, t], t), time))
    values = explicit_curves(statement)
    assert set(values) == {path, path.derivative}
    conclusion = replaced(statement, values).conclusion
    left, right = conclusion.args
    for seed in range(5):
        point = ExactPoint(seed)
        assert abs(evaluate(left, point) - evaluate(right, point)) < 1e-20
        assert abs(evaluate(right, point)) > 1e-6


def test_contractions_sum_both_sides_with_the_same_weights():
    statement = Statement(eq(derivative(t, exp(t * z[i]) * z[j], 1), z[i] * exp(z[i]) * z[j]))
    found = dict(contracted(statement))
    assert set(found) == {"summed over i", "summed over j"}
    for each in found.values():
        left, right = each.conclusion.args
        assert left.op == "derivative"
        assert left.args[0].op == right.op == "sum"
        for seed in range(3):
            point = ExactPoint(seed)
            assert abs(evaluate(left, point) - evaluate(right, point)) < 1e-18
    assert i not in free(found["summed over i"].conclusion)


@pytest.mark.parametrize(
    "statement",
    [
        Statement(eq(softmax(z, i), z[i])),  # no derivative
        Statement(eq(derivative(t, t * z[i], 0), z[i]), (eq(z[i], 1),)),  # i is spoken of by a hypothesis
        Statement(eq(derivative(t, t * t, z[i]), 2 * z[i])),  # and here by the point
        Statement(eq(derivative(t, t * sum_(i, z[i]), 0), sum_(i, z[i]))),  # nothing is free
    ],
)
def test_what_cannot_be_contracted_is_not(statement):
    assert list(contracted(statement)) == []


def test_definitions_are_found_inside_definitions_and_not_in_hypotheses():
    statement = Statement(eq(sum_(j, J(z, i, j)), 0), (eq(pair(w, m, p, index("a", 2)), 0),))
    assert definitions_of(statement) == {J, softmax}
    assert block not in definitions_of(Statement(eq(pair(w, m, p, index("a", 2)), k)))


def test_nothing_is_found_inside_what_is_read():
    statement = Statement(eq(sum_(j, J(z, i, j)), attention(Q, K, V, query, feature)))
    assert definitions_of(statement) == {J, softmax, attention, P, S}
    assert definitions_of(statement, frozenset({attention, softmax})) == {J, softmax, attention}
    assert definitions_of(statement, frozenset({J})) == {J, softmax, attention, P, S}


def test_what_is_read_counts_as_its_arguments_and_those_of_no_sum_once():
    output = attention(Q, K, V, query, feature)
    unfolded, folded = (
        written_out(Statement(eq(output, 0)), 3, read) for read in (frozenset(), frozenset({attention}))
    )
    assert folded < unfolded
    many = Statement(eq(sum_([query, feature], output), 0))
    assert written_out(many, 3, frozenset({attention})) < folded + 3 * 3 * 5
    moving = attention(function([query, a], Q[other, a]), K, V, query, feature)
    assert written_out(Statement(eq(sum_(other, moving), 0)), 3, frozenset({attention})) > 3 * 3 * 3


# Masks and targets of zeros and ones


def hardened(name):
    [statement] = [
        found for label, found in instances(CLAIMS[name]) if label == "with masks and targets of zeros and ones"
    ]
    return statement


def test_a_mask_becomes_one_of_zeros_and_ones_and_keeps_what_its_witness_keeps():
    plain = hardened("masked_attention.masked_output")
    assert not any(isinstance(symbol, Family) and symbol.domain == "nonnegative" for symbol in plain.symbols())
    causal = hardened("causal_masking.causal_output_ignores_future")
    for statement in (plain, causal):
        [mask] = {parameters(a)[3] for a in applications(statement) if a.data is masked_attention}
        for seed in range(4):
            point = ExactPoint(seed)
            found = {evaluate(mask.args[-1], point, (q, key)) for q in range(2) for key in range(2)}
            assert found <= {0, 1}


def test_targets_become_classes_and_shares_lie_between_0_and_1():
    loss = hardened("loss_rows.row_gradient")
    assert any(isinstance(symbol, IndexMap) for symbol in loss.symbols())
    smoothing = hardened("loss.smoothed_loss")
    [application] = [a for a in applications(smoothing) if a.data is smoothed]
    for seed in range(4):
        assert 0 < evaluate(parameters(application)[1], ExactPoint(seed)) <= 1


def test_a_random_mask_stays_and_so_does_a_theorem_without_one():
    for name in ("dropout.expected_output_is_input", "softmax.sums_to_one"):
        assert not any(label.startswith("with masks") for label, _ in instances(CLAIMS[name]))
    assert hardened("dropout.gradient_is_masked_cotangent")


def test_every_family_of_a_statement_that_stays_is_kept():
    statement = Statement(eq(softmax(function(i, z[i] + value_of(i)), j), family("y", n)[j]))
    assert replaced(statement, standard_frequencies(statement)) == statement
