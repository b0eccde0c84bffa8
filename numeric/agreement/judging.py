"""One statement at one point: read in every way, in balls and in float64, and compared."""

from collections.abc import Iterable
from typing import NamedTuple

from flint import arb

from proofs.evaluate import Point
from proofs.kernel import Statement
from proofs.terms import Term

from ..arithmetic import UndecidedComparison
from .calls import Arithmetic, Balls, Float64, LayerFailed
from .choices import Choices, every_reading
from .comparison import (
    SCALES,
    Finding,
    Sides,
    Value,
    Verdict,
    consistent,
    in_balls,
    in_float64,
    radius,
    shrinking,
    worst_ratio,
)
from .differentials import Unreadable
from .evaluation import Environment, Evaluation
from .readings import all_readings


class Judgement(NamedTuple):
    """`comparisons` counts the pairs of readings; `widest` and `ratio` are the worst of them."""

    findings: tuple[Finding, ...]
    functions: frozenset[str]
    comparisons: int = 0
    widest: float = 0.0
    ratio: float = 0.0


def judged(statement: Statement, point: Point) -> Judgement:
    """What the layers make of the statement; the findings say what speaks against it."""
    exact, rounded = Balls(), Float64()
    judge = _limit if statement.conclusion.op == "tends" else _relation
    try:
        found = judge(statement.conclusion, point, exact, rounded)
    except (UndecidedComparison, Unreadable) as problem:
        found = Judgement((Finding(Verdict.UNDECIDED, str(problem)),), frozenset())
    except LayerFailed as problem:
        found = Judgement((Finding(Verdict.DISAGREES, str(problem)),), frozenset())
    return found._replace(functions=frozenset(exact.called | rounded.called))


def _relation(conclusion: Term, point: Point, exact: Arithmetic, rounded: Arithmetic) -> Judgement:
    relation = conclusion.data
    balls, floats = (_sides(conclusion.args, (), point, arithmetic) for arithmetic in (exact, rounded))
    findings = (*consistent(balls), *in_balls(relation, balls), *in_float64(relation, floats, balls))
    widest = max(radius(value.ball) for side in balls for value in side)
    return Judgement(findings, frozenset(), _pairs(balls), widest, worst_ratio(relation, floats, balls))


def _limit(conclusion: Term, point: Point, exact: Arithmetic, rounded: Arithmetic) -> Judgement:
    body, target, value = conclusion.args
    findings: list[Finding] = []
    ratios, seen = [], []
    for scale in map(arb, SCALES):
        at = scale if target.op == "infinity" else _read(target, (), point, exact)[0].ball + 1 / scale
        balls, floats = (_sides((body, value), (at,), point, arithmetic) for arithmetic in (exact, rounded))
        findings += [*consistent(balls), *in_float64("tends", floats, balls)]
        ratios.append(worst_ratio("tends", floats, balls))
        seen.append([abs(left.ball - right.ball) for left in balls[0] for right in balls[1]])
    for distances in zip(*seen, strict=True):
        findings += shrinking(distances)
    widest = max(radius(ball) for distances in seen for ball in distances)
    return Judgement(tuple(findings), frozenset(), len(seen[0]), widest, max(ratios))


def _sides(terms: Iterable[Term], environment: Environment, point: Point, arithmetic: Arithmetic) -> Sides:
    left, right = (_read(term, environment, point, arithmetic) for term in terms)
    return left, right


def _pairs(sides: Sides) -> int:
    return len(sides[0]) * len(sides[1])


def _read(term: Term, environment: Environment, point: Point, arithmetic: Arithmetic) -> list[Value]:
    reads = {definition: reading.read for definition, reading in all_readings().items()}

    def ball(choices: Choices) -> arb:
        return Evaluation(point, arithmetic, choices, reads).ball(term, environment)

    return [Value(*found) for found in every_reading(ball)]
