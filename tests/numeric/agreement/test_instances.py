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
)
from numeric.agreement.points import ExactPoint
from proofs.binders import sum_
from proofs.evaluate import evaluate, mp
from proofs.kernel import Statement
from proofs.notation import M, derivative, eq, exp, family, function, i, index, j, n, t, value_of, z
from proofs.registry import all_claims
from proofs.terms import Family, free
from proofs.theorems.positional_encoding import base, block, encoding, frequency, k, m, p, pair, w
from proofs.theorems.softmax import softmax
from proofs.theorems.softmax_jacobian import J, path

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


def test_every_family_of_a_statement_that_stays_is_kept():
    statement = Statement(eq(softmax(function(i, z[i] + value_of(i)), j), family("y", n)[j]))
    assert replaced(statement, standard_frequencies(statement)) == statement
