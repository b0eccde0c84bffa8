"""Does a default run find each known mistake, and name it? Every one is planted in an implementation and judged.

A formula of `mistake.py` is itself an implementation: it runs on floats as well as on balls. A wrong output comes without gradients,
a wrong gradient with the right output.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..arithmetic import is_balls, precision, to_floats
from .adapters.numpy import DTYPES
from .contract import Contract
from .enclosure import FIRST_BITS
from .mistake import Instability, Known, Variant
from .report import Report
from .run import check
from .verdict import Verdict

Implementation = Callable[..., Any]


class Row(NamedTuple):
    """`seen_by` names the checks that did not pass; `named` is what the report calls it, most likely first."""

    known: Known
    dtype: str
    verdict: Verdict
    seen_by: tuple[str, ...]
    named: tuple[str, ...]

    @property
    def detected(self) -> bool:
        """Is it no pass? What is admitted must pass, and be named."""
        if isinstance(self.known, Instability) and self.dtype in self.known.admitted:
            return self.verdict is Verdict.PASS and self.recognised
        return self.verdict in (Verdict.FAIL, Verdict.VARIANT)

    @property
    def recognised(self) -> bool:
        """Named as itself, and before anything that is not its twin."""
        twins = {self.known.id, *getattr(self.known, "twins", ())}
        return self.known.id in self.named and self.named[0] in twins

    def as_dict(self) -> dict[str, Any]:
        return {
            "id": self.known.id,
            "kind": kind_of(self.known),
            "of": self.known.of,
            "says": self.known.says,
            "theorem": self.known.theorem,
            "twins": list(getattr(self.known, "twins", ())),
            "dtype": self.dtype,
            "verdict": str(self.verdict),
            "seen_by": list(self.seen_by),
            "named": list(self.named),
            "detected": self.detected,
            "recognised": self.recognised,
        }


def kind_of(known: Known) -> str:
    if isinstance(known, Instability):
        return "unstable"
    return "variant" if isinstance(known, Variant) else "mistake"


def judged(contract: Contract, known: Known, dtype: str, seed: int = 0) -> Report:
    """A default check of an implementation with this mistake."""
    forward, backward = planted(contract, known, dtype)
    return check(contract.name, forward, backward=backward, adapter="numpy", dtype=dtype, seed=seed)


def row_of(known: Known, report: Report, dtype: str) -> Row:
    seen_by = tuple(each.check for each in report.findings if each.ran and each.verdict != Verdict.PASS)
    return Row(known, dtype, report.verdict, seen_by, report.mistakes)


def planted(contract: Contract, known: Known, dtype: str = "float64") -> tuple[Implementation, Implementation | None]:
    """forward and backward in NumPy, one of which makes the mistake; no backward where the output is wrong.

    They return the dtype of their arrays, or `dtype` where a contract takes none. What is random is drawn anew by each forward, and
    kept for the backward that follows.
    """
    formula = known.emulated if isinstance(known, Instability) else known.formula
    defaults = {each.name: each.default for each in contract.options}
    rng = np.random.default_rng(0)
    drawn: dict[str, Any] = {}
    draw = formula if known.of == "draws" else contract.draw

    def settings(inputs: tuple[Any, ...], options: dict[str, Any]) -> dict[str, Any]:
        chosen = {**defaults, **options}
        drawn.update(draw(rng, *inputs, **chosen))
        return {**chosen, **drawn}

    def wrong_forward(*arguments: Any, **options: Any) -> Any:
        inputs = contract.arrays(arguments)
        with precision(FIRST_BITS):  # a formula without arrays computes in balls
            return _like(formula(*inputs, **settings(inputs, options)), _dtype(inputs, dtype))

    def right_forward(*arguments: Any, **options: Any) -> Any:
        inputs = contract.arrays(arguments)
        return _like(contract.layer(*inputs, **settings(inputs, options))[0], _dtype(inputs, dtype))

    def wrong_backward(dy: Any, *arguments: Any, **options: Any) -> Any:
        found = formula(dy, *contract.arrays(arguments), **{**defaults, **options, **drawn})
        gradients = found if isinstance(found, tuple) else (found,)
        return contract.packed([_like(each, dy.dtype) for each in gradients])

    if known.of == "draws":
        return right_forward, None
    return (right_forward, wrong_backward) if known.of == "gradients" else (wrong_forward, None)


def _dtype(inputs: tuple[Any, ...], otherwise: str) -> np.dtype:
    floating = [each.dtype for each in inputs if isinstance(each, np.ndarray) and each.dtype.kind not in "iub"]
    return floating[0] if floating else DTYPES[otherwise]


def _like(values: Any, dtype: np.dtype) -> np.ndarray:
    array = np.asarray(values)
    return to_floats(array, dtype) if is_balls(array) else array.astype(dtype)
