"""Floating-point formats, and which of them an implementation is taken to compute in.

`ulps` is what exp, log, pow, sin and cos may err by, as their makers document it (1 ulp is up to 2 units u):

    float32, float64   4: NumPy's SVML loops state 4 (numpy#19478), its AVX float32 log 3.83, exp 2.52 (seen: 3.77 u and
                       3.33 u), sin and cos 1.49 (numpy#13368); PyTorch's SLEEF `u35` kernels 3.5, `u10` 1.0; CUDA 1 to 4
    float16, bfloat16  2: computed in float32 and rounded once that is under 1; NumPy's native half loops state up to
                       1.88 for these functions (numpy#23351), CUDA's half functions 2
"""

import math
from dataclasses import dataclass
from functools import cached_property

from .usage import UsageError, unknown


@dataclass(frozen=True)
class Format:
    """A binary format with `bits` significant bits (the hidden one counted) and smallest normal number 2^`lowest`."""

    name: str
    bits: int
    lowest: int
    largest: float
    ulps: float

    @cached_property
    def unit(self) -> float:
        """The unit roundoff u: rounding to nearest errs by at most u times the number."""
        return 2.0**-self.bits

    @cached_property
    def tiny(self) -> float:
        return 2.0**self.lowest

    def holds(self, number: float) -> bool:
        """Is the number in the format, so that storing it costs nothing?"""
        if number == 0 or not math.isfinite(number):
            return True
        fraction, exponent = math.frexp(number)
        return (fraction * 2**self.bits).is_integer() and exponent > self.lowest and abs(number) <= self.largest


FORMATS = {
    each.name: each
    for each in (
        Format("float64", 53, -1022, 1.7976931348623157e308, 4),
        Format("float32", 24, -126, 3.4028234663852886e38, 4),
        Format("float16", 11, -14, 65504.0, 2),
        Format("bfloat16", 8, -126, 3.3895313892515355e38, 2),
    )
}


def format_named(name: str) -> Format:
    try:
        return FORMATS[name]
    except (KeyError, TypeError):
        raise unknown("dtype", name, FORMATS) from None


@dataclass(frozen=True)
class Precision:
    """What is returned, what intermediates are stored in, and what sums and angles are carried in.

    By default everything stored rounds to the dtype, while sums accumulate and angles are computed in float32 where the
    dtype has 16 bits: in bfloat16 a sum of 4,096 terms has no digits left, and position 257 is position 256.
    """

    returned: Format
    stored: Format
    wide: Format

    def widened(self) -> "Precision":
        """The same, with intermediates in the wide format."""
        return Precision(self.returned, self.wide, self.wide)

    def __str__(self) -> str:
        if self.returned == self.stored == self.wide:
            return f"{self.returned.name} throughout"
        stored = "" if self.stored == self.returned else f"intermediates in {self.stored.name}, "
        return f"{self.returned.name}, {stored}sums and angles in {self.wide.name}"


def precision_of(dtype: str, precision: "Precision | str | None" = None) -> Precision:
    """The default model for a dtype, or the one stated: a `Precision`, "STORED" or "STORED/WIDE" ("bfloat16/float32")."""
    returned = format_named(dtype)
    if isinstance(precision, Precision):
        return precision
    if precision is not None and not isinstance(precision, str):
        raise UsageError(
            f'precision is {precision!r}, needed None, a Precision, "STORED" or "STORED/WIDE", such as "bfloat16/float32"'
        )
    stored_name, _, wide_name = (precision or dtype).partition("/")
    stored = format_named(stored_name)
    if wide_name:
        return Precision(returned, stored, format_named(wide_name))
    return Precision(returned, stored, stored if stored.bits >= 24 else FORMATS["float32"])
