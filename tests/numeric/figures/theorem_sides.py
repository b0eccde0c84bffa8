"""The two sides of a theorem at values of its symbols, to 50 digits: what a figure states as proved is compared with them."""

from numeric.agreement.instances import replaced
from proofs.evaluate import Point, evaluate


def sides(claim, values):
    """As mpmath numbers; the values must meet the hypotheses."""
    statement = replaced(claim.theorem.statement, values)
    assert all(evaluate(hypothesis, Point(0)) is True for hypothesis in statement.hypotheses)
    left, right = (evaluate(side, Point(0)) for side in statement.conclusion.args)
    return left, right


def right_side(claim, values):
    """The same where only the right side is asked for, whatever the hypotheses are about."""
    return evaluate(replaced(claim.theorem.statement, values).conclusion.args[1], Point(0))
