"""What a contract says: names, shapes, options, the exact function, its rounding bound, probes, and properties.

A contract is one file under contracts/, with an instance named CONTRACT whose `name` is the file's. Nothing lists it.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, ClassVar, Protocol

import numpy as np

from ..arithmetic import to_balls
from .formats import Format, Precision
from .mistake import Fit, Known, Variant
from .rounding import Rounded
from .statistic import Statistic
from .usage import unknown

Inputs = tuple[Any, ...]  # float64 arrays, arrays of integers or booleans, or Python integers
Options = dict[str, Any]

Pullback = Callable[[np.ndarray], tuple[np.ndarray, ...]]

LAYOUTS = ("contiguous", "strided", "read-only")


@dataclass(frozen=True)
class Input:
    """An input: `shape` as text, "int" for a Python integer; `floating` inputs round to the dtype and have gradients."""

    name: str
    shape: str
    floating: bool = True


@dataclass(frozen=True)
class Option:
    """A keyword: its default, and the values that a default run probes.

    Where the values depend on shapes, as masks do, what is probed are words, and `generic` puts an array in place of each.
    At its default one that `may_be_absent` is not passed to an implementation that has a default of its own.
    """

    name: str
    default: Any
    probed: tuple[Any, ...]
    meaning: str
    may_be_absent: bool = False


@dataclass(frozen=True)
class Probe:
    """Inputs to judge at. One's own may be given: `check(..., probes=[Probe("mine", (z,))])`; options left out take their default."""

    name: str
    inputs: Inputs
    options: Mapping[str, Any] = field(default_factory=dict)
    layout: str = "contiguous"

    def __post_init__(self) -> None:
        if self.layout not in LAYOUTS:
            raise unknown("layout", self.layout, LAYOUTS)


class Bench(Protocol):
    """What a property may do: call the implementation, and learn how far each result may be from the truth."""

    format: Format
    options: Options

    def output(self, *inputs: Any, **options: Any) -> tuple[np.ndarray, np.ndarray]:
        """(found, allowance) of the output at the default options, but for those given."""

    def gradients(self, dy: np.ndarray, *inputs: Any, **options: Any) -> list[tuple[np.ndarray, np.ndarray]]:
        """(found, allowance) for each floating input."""

    def rounded(self, values: np.ndarray) -> np.ndarray:
        """The nearest numbers that the dtype holds; a property must call with such, or its two sides differ already."""


Residual = tuple[np.ndarray, np.ndarray]  # what should vanish, and how far rounding can keep it from doing so


@dataclass(frozen=True)
class Property:
    """A theorem's consequence for outputs or gradients: `measure` returns what should vanish and its allowance."""

    name: str
    theorem: str
    broken: str
    measure: Callable[[Bench, np.random.Generator], Residual]
    of_gradient: bool = False
    options: tuple[str, ...] = ()  # that it sets; it is not run where an implementation does not take them
    only_at: Mapping[str, Any] = field(default_factory=dict)  # values of options; it is not run where others are fixed


class Contract(ABC):
    """See the module. Options reach every method as keywords, complete; arrays hold the numbers that the implementation received."""

    name: ClassVar[str]
    summary: ClassVar[str]
    inputs: ClassVar[tuple[Input, ...]]
    parameters: ClassVar[tuple[str, ...]] = ()  # as the signature has them, where inputs are packed
    output: ClassVar[str]
    options: ClassVar[tuple[Option, ...]] = ()
    generic_draws: ClassVar[int] = 3  # how often generic probes are drawn
    properties: ClassVar[tuple[Property, ...]] = ()
    mistakes: ClassVar[tuple[Known, ...]] = ()
    fits: ClassVar[tuple[Fit, ...]] = ()
    gradient_theorem: ClassVar[str | None] = None

    @abstractmethod
    def layer(self, *inputs: Any, **options: Any) -> tuple[np.ndarray, Pullback | None]:
        """The right output, in the arithmetic of the inputs (floats or balls), and what takes dy to the gradients of <dy, y>.

        Raises TypeError or ValueError for inputs or options that do not fit.
        """

    def exact(self, *inputs: Any, **options: Any) -> tuple[np.ndarray, Pullback | None]:
        """`layer` in balls, at the current ball precision; it takes floats, and so does the pullback. Raises as `layer`."""
        output, pullback = self.layer(*self.in_balls(inputs), **options)
        return output, (lambda dy: pullback(to_balls(dy))) if pullback else None

    def as_floats(self, inputs: Inputs) -> Inputs:
        """The floating inputs as arrays of float64, the others as they are."""
        pairs = zip(inputs, self.inputs, strict=True)
        return tuple(np.asarray(value, np.float64) if each.floating else value for value, each in pairs)

    def in_balls(self, inputs: Inputs) -> Inputs:
        """The floating inputs as balls, the others as they are."""
        pairs = zip(inputs, self.inputs, strict=True)
        return tuple(to_balls(value) if each.floating else value for value, each in pairs)

    @abstractmethod
    def bound(self, precision: Precision, *inputs: Any, **options: Any) -> Rounded:
        """What a correct implementation may return: the output with what rounding can do to it, over all evaluation orders."""

    @abstractmethod
    def generic(self, rng: np.random.Generator, form: Format, options: Options) -> Sequence[Probe]:
        """Probes with all sizes distinct and nothing special; run at each seed and each probed value of the options."""

    @abstractmethod
    def structured(self, rng: np.random.Generator, form: Format, options: Options) -> Sequence[Probe]:
        """Probes at which known mistakes show; run once, at the default options."""

    def combinations(self, grid: Mapping[str, Sequence[Any]]) -> Iterable[Options]:
        """The settings of the options at which generic probes are drawn: all, unless they would be too many."""
        return (dict(zip(grid, values, strict=True)) for values in product(*grid.values()))

    def without_reference(self, *inputs: Any, **options: Any) -> tuple[np.ndarray, ...]:
        """Where, by a theorem, nothing is right or wrong: True there, of the output, and then of each gradient; empty where all has
        a reference.

        Such entries are not judged, and the cotangent is zero there, so that the other gradients do not depend on what they hold.
        """
        return ()

    def put_in_place_of_reference(self, found: np.ndarray, *inputs: Any, **options: Any) -> str:
        """What the output holds where it has no reference, as a sentence for a note."""
        raise NotImplementedError

    def gradient_bounds(
        self, precision: Precision, dy: np.ndarray, *inputs: Any, **options: Any
    ) -> tuple[Rounded, ...]:
        """As `bound`, for each gradient."""
        raise NotImplementedError

    def accurate_bound(self, precision: Precision, *inputs: Any, **options: Any) -> Rounded | None:
        """Where `bound` admits right formulas that lose digits: what an accurate one may return. A pass beyond it says so."""
        return None

    def accurate_gradient_bounds(
        self, precision: Precision, dy: np.ndarray, *inputs: Any, **options: Any
    ) -> tuple[Rounded, ...] | None:
        """As `accurate_bound`, for each gradient."""
        return None

    def random(self, *_: Any, **options: Any) -> bool:
        """Is the output drawn at random with these options, so that two calls must differ, and a mean is what is exact?"""
        return False

    def drawn(self, output: np.ndarray, gradients: Sequence[np.ndarray], *inputs: Any, **options: Any) -> Options:
        """What was drawn at random, read off the output of a call and the gradients of the same call, if any: further options of
        `layer`, the bounds and the formulas of mistakes."""
        return {}

    def draw(self, rng: np.random.Generator, *inputs: Any, **options: Any) -> Options:
        """What `drawn` would read off a right implementation: further options of `layer`, for one to be made of it."""
        return {}

    def draws(self, rng: np.random.Generator, form: Format, options: Options) -> Sequence[Probe]:
        """Probes at which the law of what is drawn is judged, large ones."""
        return ()

    def statistics(self, outputs: Sequence[np.ndarray], *inputs: Any, **options: Any) -> tuple[Statistic, ...]:
        """Of the outputs of several calls, alike but for what was drawn."""
        return ()

    def arguments(self, arrays: Sequence[Any]) -> tuple[Any, ...]:
        """What the implementation is called with, made of its own arrays: one argument for each input, unless some are packed."""
        return tuple(arrays)

    def arrays(self, arguments: Sequence[Any]) -> tuple[Any, ...]:
        """The inverse of `arguments`."""
        return tuple(arguments)

    def gradients_of(self, returned: Sequence[Any]) -> Sequence[Any]:
        """What a hand-written backward returned, as one array for each floating input. Raises ValueError if it is packed wrongly."""
        return returned

    def packed(self, gradients: Sequence[Any]) -> tuple[Any, ...]:
        """The inverse of `gradients_of`."""
        return tuple(gradients)

    @property
    def variants(self) -> tuple[str, ...]:
        """The ids that `accept` may name."""
        return tuple(each.id for each in self.mistakes if isinstance(each, Variant))

    @property
    def draws_at_random(self) -> bool:
        """At some of its options, that is."""
        return type(self).draws is not Contract.draws

    @property
    def differentiable(self) -> bool:
        return any(each.floating for each in self.inputs)

    @property
    def signature(self) -> str:
        plain = [each.name + (": int" if each.shape == "int" else "") for each in self.inputs]
        names = self.parameters or plain
        keywords = [f"{each.name}={each.default!r}" for each in self.options]
        return f"{self.name}({', '.join([*names, *(['*'] if keywords else []), *keywords])})"

    def option(self, name: str) -> Option:
        for each in self.options:
            if each.name == name:
                return each
        raise unknown(f"option of {self.name}", name, [each.name for each in self.options])
