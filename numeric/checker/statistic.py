"""What is measured of outputs that are random on purpose."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Statistic:
    """A mean over `trials` independent ones, each between 0 and 1, of what an implementation drew at random."""

    name: str  # "share of entries kept"
    theorem: str
    found: float
    expected: float
    trials: int
    slope: float = (
        1.0  # of the expectation, as a function of the probability that an implementation rounds to its dtype
    )
