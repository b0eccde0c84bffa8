"""What is told of a run that was trained: how many of the names held out are right, and some of them."""

from typing import Any

import numpy as np

from .spelling import spell
from .training import Progress, Run, Score, names

EXAMPLES = 4


def by_length(run: Run, score: Score) -> list[tuple[int, int, int]]:
    """How many digits, how many numbers held out have as many, and how many of their names are right."""
    digits = np.array([len(str(number)) for number in run.split.held_out])
    return [(int(d), int((digits == d).sum()), int(score.right[digits == d].sum())) for d in np.unique(digits)]


def lines_of(run: Run, score: Score) -> list[str]:
    rows = [f"  {digits} digits   {right:>5,} of {count:>5,}" for digits, count, right in by_length(run, score)]
    return [
        f"held out: {len(score.right):,} numbers, loss {score.loss:.4g}, {score.tokens:.2%} of the tokens right, "
        f"{score.right.mean():.2%} of the names",
        *rows,
        *examples_of(run, score),
    ]


def examples_of(run: Run, score: Score) -> list[str]:
    """A few numbers as the model calls them, wrong ones first and in quotes, with the right name."""
    wrong_first = np.argsort(score.right, kind="stable")[:EXAMPLES]
    numbers = run.split.held_out[wrong_first]
    return [
        f"  {number:>7,}   {name}"
        if right
        else f"  {number:>7,}   {name!r} is {spell(int(number), run.settings.language)!r}"
        for number, name, right in zip(numbers, names(run, numbers), score.right[wrong_first], strict=True)
    ]


def described(run: Run, history: list[Progress], score: Score) -> dict[str, Any]:
    """The run as plain data."""
    return {
        "language": run.settings.language,
        "step": run.state.step,
        "steps": [progress._asdict() for progress in history],
        "held_out": {
            "loss": score.loss,
            "tokens_right": score.tokens,
            "names_right": float(score.right.mean()),
            "by_digits": [{"digits": d, "numbers": n, "right": right} for d, n, right in by_length(run, score)],
        },
    }
