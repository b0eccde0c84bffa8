"""Terms in balls, against the same terms in mpmath: two evaluators that share no line."""

import pytest
from flint import arb

from numeric.agreement.calls import Balls, Float64
from numeric.agreement.choices import Choices, every_reading
from numeric.agreement.comparison import Verdict
from numeric.agreement.differentials import Unreadable
from numeric.agreement.evaluation import Evaluation
from numeric.agreement.instances import instances, written_out
from numeric.agreement.judging import judged
from numeric.agreement.points import ExactPoint, points
from numeric.agreement.readings import all_readings
from numeric.agreement.run import layers_of
from numeric.arithmetic import UndecidedComparison, precision
from numeric.layers import softmax as softmax_layer
from proofs.evaluate import evaluate
from proofs.kernel import Statement
from proofs.notation import (
    PI,
    M,
    absolute,
    choice,
    delta,
    derivative,
    eq,
    erf,
    exp,
    expectation,
    family,
    function,
    i,
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
    outcome,
    permutation,
    rational,
    sin,
    space,
    split,
    sqrt,
    sum_,
    t,
    table,
    tanh,
    value_of,
    variable,
    when,
    z,
)
from proofs.registry import all_claims
from proofs.terms import ANY_REAL
from proofs.theorems.positional_encoding import p, standard
from proofs.theorems.rotary import rotated, x
from proofs.theorems.softmax import softmax

READS = {definition: reading.read for definition, reading in all_readings().items()}
RELATIONS = [claim for claim in all_claims() if claim.statement.conclusion.op == "relation"]
a, b, m, c = index("a", 2), index("b", 3), index("m", M), index("c", 2 * M)
u, v = variable("u", "positive"), variable("v", "integer")
pi, pick = permutation("pi", n), choice("pick", ANY_REAL, target=n)


@pytest.fixture(autouse=True)
def _digits():
    with precision(320):
        yield


def ball(term, point, reads=None, **choices):
    return Evaluation(point, Balls(), Choices(choices), reads or {}).ball(term)


def encloses(found, number):
    """mpmath carries 50 digits, and keeps over 25 of a derivative."""
    return found.is_finite() and found.rad() < arb("1e-60") and abs(found - arb(number)) < arb("1e-24")


@pytest.mark.parametrize(
    "term",
    [
        rational(2, 3) + PI * u - variable("w"),
        u ** rational(5, 7) / u**-3 + (u - 3) ** 2,
        exp(u) + log(u) + sqrt(u) + sin(u) + tanh(u) + erf(u) + absolute(u - 5),
        maximum(u, v, 3 - u),
        sum_(l, z[l] * z[pi(l)]) + n,
        sum_((i, j), delta(i, j) * z[i] + value_of(j)),
        z[i] + z[pick(u)] + z[pick(v)] + value_of(pi(j)),
        table([u, v], a) + table([[1, u, v], [v, 2, 3]], a, b),
        sum_(c, family("f", M, 2)[split(c, 2)] * value_of(c)) + value_of(join(m, a)) + value_of(literal(1, 3)),
        when(le(u, 5), u, log(u - 5)) + when(lt(u, v - 9), v, 1) + when(ne(u, 9), u, v) + when(eq(v, 20), u, 7),
        sum_((i, j), when(eq(i, j), z[i], -z[j]) + when(ne(i, j), 2, u)) + when(eq(a, literal(1, 2)), u, v),
        derivative(t, t**3 * exp(u * t), 2),
        derivative(t, derivative(variable("s"), sin(t * variable("s")) * t, t), u),
        sum_(l, derivative(t, exp(t * z[l]), z[l])) + derivative(t, u, 1),
    ],
    ids=repr,
)
@pytest.mark.parametrize("seed", range(4))
def test_every_node_has_the_value_it_has_in_mpmath(term, seed):
    point = ExactPoint(seed)
    number = evaluate(term, point)
    for _, found in every_reading(lambda choices: Evaluation(point, Balls(), choices, {}).ball(term)):
        assert encloses(found, number)
        assert not encloses(found + arb("1e-20"), number)


SHORT = 2000  # operations with every definition unfolded, which takes mpmath a tenth of a second
SPEAKING = [c for c in RELATIONS if layers_of(c.statement) and written_out(c.statement) <= SHORT]


@pytest.mark.cases(24)
@pytest.mark.parametrize("claim", SPEAKING, ids=lambda c: c.name)
def test_every_statement_has_the_value_it_has_in_mpmath(claim):
    """With definitions unfolded, and again with the layers asked."""
    [(_, statement), *_] = instances(claim)
    [point] = points(statement, 1)
    for side in statement.conclusion.args:
        number = evaluate(side, point)
        assert encloses(ball(side, point), number)
        assert abs(ball(side, point, READS) - arb(number)) < arb("1e-20")


def test_a_layer_is_called_once_for_the_same_logits(monkeypatch):
    calls, forward = [], softmax_layer.forward
    monkeypatch.setattr(softmax_layer, "forward", lambda z, **options: calls.append(z) or forward(z, **options))
    balls = Balls()
    total = Evaluation(ExactPoint(0), balls, Choices({}), READS).ball(sum_(i, softmax(z, i)))
    assert abs(total - 1) < arb("1e-60")
    assert len(calls) == 1
    assert balls.called == {"softmax.forward"}


def test_different_bound_values_are_different_logits():
    term = sum_(j, value_of(j) * softmax(function(l, value_of(j) * z[l]), i))
    point = ExactPoint(0)
    assert encloses(ball(term, point, READS), evaluate(term, point))


def test_an_undecided_condition_raises():
    with pytest.raises(UndecidedComparison):
        ball(when(le(exp(log(u)), u), 1, 2), ExactPoint(0))


def test_an_index_is_needed_where_one_is_needed():
    evaluation = Evaluation(ExactPoint(0), Balls(), Choices({}), {})
    with pytest.raises(TypeError, match="u is a variable, needed an index"):
        evaluation.place(u, ())
    with pytest.raises(TypeError, match="a choice of an index has no derivative"):
        evaluation.ball(derivative(t, value_of(pick(t)), 1))


@pytest.mark.parametrize("arithmetic", [Balls, Float64])
@pytest.mark.parametrize("way", ["jvp", "backward"])
@pytest.mark.parametrize("turn", ["forward", "backward"])
@pytest.mark.parametrize("read", ["whole", "pairs"])
def test_a_layer_of_positions_is_differentiated_by_its_position(arithmetic, way, turn, read):
    """By its position, and by what it turns; there is no backward, and so no other way but power series and quotients."""
    features = function([m, a], t * x[m, a])
    for term in (
        derivative(t, rotated(standard, x, t, m, a), p),
        derivative(t, rotated(standard, features, t, m, a), p),
    ):
        for seed in range(2):
            point = ExactPoint(seed)
            choices = Choices({"derivative": way, "turn": turn, "read": read})
            found = Evaluation(point, arithmetic(), choices, READS).ball(term)
            assert found.overlaps(ball(term, point))
            assert found.rad() < (arb("1e-20") if arithmetic is Balls else arb("1e-7"))


def test_what_no_layer_gives_in_float64_is_undecided_and_told():
    third = derivative(t, derivative(t, derivative(t, softmax(function(l, t * z[l]), i), t), t), 1)
    second = derivative(t, derivative(t, rotated(standard, x, t, m, a), t), 1)
    for term, name in ((third, "softmax.jvp"), (second, "rotary.forward")):
        point = ExactPoint(0)
        assert ball(term, point, READS).overlaps(ball(term, point))  # in balls it is given
        message = f"a difference quotient of a difference quotient of {name} tells nothing in float64"
        with pytest.raises(Unreadable, match=message):
            Evaluation(point, Float64(), Choices({}), READS).ball(term)
        [finding] = judged(Statement(eq(term, 0)), point).findings
        assert finding.verdict is Verdict.UNDECIDED
        assert message in finding.message


def test_an_expectation_is_the_mean_over_the_outcomes():
    space_of_four = space("S")
    outcome_of = outcome("s", space_of_four)
    random = family("k", n, space_of_four)
    term = expectation(outcome_of, random[i, outcome_of] ** 2) + expectation(outcome_of, 3)
    for seed in range(3):
        point = ExactPoint(seed)
        assert encloses(ball(term, point), evaluate(term, point))


def test_exact_numbers_are_compared_and_equal_ones_too():
    """value_of(i) <= value_of(i), and a family of numbers with itself; on a tape 0 < 0 stays undecided."""
    point = ExactPoint(0)
    term = when(lt(value_of(i), value_of(i)), 1, 2) + when(le(z[i], z[i]), 4, 8) + when(eq(z[i], z[i]), 16, 32)
    assert ball(term, point) == 2 + 4 + 16
    with pytest.raises(UndecidedComparison):
        ball(derivative(t, when(lt(t, 0), t, 2 * t), 0), point)
