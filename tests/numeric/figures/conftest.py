"""Balls as narrow as those that are drawn."""

import pytest

from numeric.arithmetic import precision
from numeric.figures.figure import BITS


@pytest.fixture(autouse=True)
def as_drawn():
    with precision(BITS):
        yield
