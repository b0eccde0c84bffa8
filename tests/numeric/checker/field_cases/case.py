"""What a field case asserts: what `check` says of an implementation, and the numbers that were met in the field."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from numeric.arithmetic import precision, to_floats
from numeric.checker import check
from numeric.checker.contracts import contract_named

GENERIC = ("generic*draw 0",)


@dataclass(frozen=True)
class Judged:
    """An implementation, and the verdict and the words that it must get.

    `mistakes` are ids without the name of the contract: all must be named, and none before them. Where it is a
    variant it must pass, too, once it is accepted.
    """

    contract: str
    forward: Callable[..., Any]
    verdict: str
    mistakes: tuple[str, ...] = ()
    says: tuple[str, ...] = ()
    fails: tuple[str, ...] = ()  # properties that must not hold
    backward: Callable[..., Any] | None = None
    adapter: str | None = "numpy"
    dtype: str = "float64"
    options: Mapping[str, Any] | None = None
    accept: tuple[str, ...] = ()
    probes: Sequence[Any] | None = None

    def report(self):
        keywords = ("backward", "adapter", "dtype", "options", "accept", "probes")
        with np.errstate(all="ignore"):
            return check(self.contract, self.forward, **{name: getattr(self, name) for name in keywords})

    def require(self) -> None:
        report = self.report()
        assert report.verdict == self.verdict, str(report)
        named = tuple(f"{self.contract}.{each}" for each in self.mistakes)
        assert set(named) <= set(report.mistakes), str(report)
        assert set(report.mistakes[:1]) <= set(named), str(report)
        told = " ".join(" ".join(each.message for each in report.findings).split())
        assert all(words in told for words in self.says), str(report)
        assert all(report.finding(name).verdict != "pass" for name in self.fails), str(report)
        if self.verdict == "variant" and not self.accept:
            replace(self, verdict="pass", accept=report.mistakes[:1], mistakes=self.mistakes[:1]).require()


@dataclass(frozen=True)
class Numbers:
    """At a field's own input: what the exact reference gives, and what wrong implementations do, to the digits printed.

    They are those of the output or, with `dy`, of the gradient with respect to the first floating input, at `place`.
    """

    contract: str
    inputs: tuple[Any, ...]
    right: str
    wrong: tuple[tuple[Callable[..., Any], str], ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    dy: Any = None
    place: Any = ...

    def require(self) -> None:
        contract = contract_named(self.contract)
        settings = {each.name: each.default for each in contract.options} | dict(self.options)
        with precision(128):
            output, pullback = contract.exact(*self.inputs, **settings)
            exact = to_floats(output if self.dy is None else pullback(self.dy)[0])
        assert agrees(exact[self.place], self.right), exact
        before = () if self.dy is None else (self.dy,)
        for implementation, digits in self.wrong:
            with np.errstate(all="ignore"):
                found = implementation(*before, *self.inputs, **self.options)
            found = found[0] if isinstance(found, tuple) else found
            assert agrees(np.asarray(found)[self.place], digits), found


def agrees(found: Any, digits: str) -> bool:
    """Half a unit in the last place of the number printed with the most digits: zeros at the end are left out there."""
    numbers = digits.split()
    places = max(len(number.partition(".")[2]) for number in numbers)
    return bool(
        np.allclose(
            np.ravel(np.asarray(found, np.float64)),
            list(map(float, numbers)),
            rtol=0,
            atol=0.51 * 10.0**-places,
            equal_nan=True,
        )
    )
