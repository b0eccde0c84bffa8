"""Power series in one variable t, cut off after some order, whose coefficients are balls: what stands in an array for x + t v.

A. Griewank and A. Walther, Evaluating Derivatives, 2nd ed., 2008, section 13.2 (arithmetic of Taylor series). The series
themselves are those of Arb (F. Johansson, IEEE Trans. Comput. 66, 2017).
"""

import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Union

from flint import arb, arb_series, ctx

Operand = Union["Jet", arb, int, float]


@contextmanager
def order(highest: int) -> Iterator[None]:
    """Let jets keep the powers of t up to `highest` inside the block.

    The setting is python-flint's `flint.ctx.cap`, one for the whole process: threads share it. Raises ValueError.
    """
    if isinstance(highest, bool) or operator.index(highest) < 0:
        raise ValueError(f"jets: order is {highest!r}, needed an integer of at least 0")
    before = ctx.cap
    ctx.cap = operator.index(highest) + 1
    try:
        yield
    finally:
        ctx.cap = before


class Jet:
    """A number that depends on t. Arithmetic with jets, balls, integers and floats gives jets; none is compared.

    A class of its own, since NumPy would take an `arb_series` for a list of its coefficients.
    """

    __slots__ = ("series",)

    def __init__(self, series: arb_series) -> None:
        self.series = series

    def coefficient(self, power: int) -> arb:
        """Raises ValueError where it was cut off."""
        if not 0 <= power < self.series.prec:
            raise ValueError(f"jets: the coefficient of t^{power} was cut off; raise the order (numeric.jets.order)")
        return self.series[power]

    def __repr__(self) -> str:
        return f"Jet({self.series.str(10)})"

    def __neg__(self) -> "Jet":
        return Jet(-self.series)

    def __add__(self, other: Operand) -> "Jet":
        return _of(operator.add, self.series, other)

    def __radd__(self, other: Operand) -> "Jet":
        return self + other

    def __sub__(self, other: Operand) -> "Jet":
        return _of(operator.sub, self.series, other)

    def __rsub__(self, other: Operand) -> "Jet":
        return -self + other

    def __mul__(self, other: Operand) -> "Jet":
        return _of(operator.mul, self.series, other)

    def __rmul__(self, other: Operand) -> "Jet":
        return self * other

    def __truediv__(self, other: Operand) -> "Jet":
        return _of(operator.truediv, self.series, other)

    def __rtruediv__(self, other: Operand) -> "Jet":
        return Jet(self.series.inv()) * other

    def __pow__(self, other: Operand) -> "Jet":
        return _of(operator.pow, self.series, other)

    def __rpow__(self, other: arb) -> "Jet":
        return Jet((self.series * other.log()).exp()) if isinstance(other, arb) else NotImplemented

    def exp(self) -> "Jet":
        return Jet(self.series.exp())

    def log(self) -> "Jet":
        return Jet(self.series.log())

    def sqrt(self) -> "Jet":
        return Jet(self.series.sqrt())

    def sin(self) -> "Jet":
        return Jet(self.series.sin())

    def cos(self) -> "Jet":
        return Jet(self.series.cos())

    def erf(self) -> "Jet":
        return Jet(self.series.erf())

    def erfc(self) -> "Jet":
        return Jet(self.series.erfc())


def _of(operation: Callable[[Any, Any], Any], series: arb_series, other: Operand) -> Jet:
    if isinstance(other, Jet):
        return Jet(operation(series, other.series))
    if isinstance(other, (arb, int, float)) and not isinstance(other, bool):
        return Jet(operation(series, arb(other)))
    return NotImplemented
