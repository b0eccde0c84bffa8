"""All that a run would ask of an implementation, found out without one: for programs that answer from a file.

A right implementation stands in, whose calls are written down. What a run asks is the same every time, unless a property puts an
earlier answer into its next question, as one of rotary does: that one is then not run.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arithmetic import is_balls, to_floats
from .adapters.numpy import NumPy
from .bench import Workbench
from .comparison import Tally
from .contract import Contract, Inputs, Options, Probe, Property
from .contracts import contract_named
from .formats import Format, Precision, format_named, precision_of
from .judging import Judging
from .memo import fingerprint
from .plan import Plan, planned
from .subject import Subject
from .usage import UsageError
from .watch import BrokenCall


class File(NumPy):
    """Arrays in a file: they have no memory layout of their own."""

    name = "file"
    layouts = ("contiguous",)

    def require(self) -> None:
        pass


FILE = File()


@dataclass
class Case:
    """A call to answer: the output, and the gradients of <dy, output> where there is a dy."""

    name: str
    inputs: Inputs
    options: Options
    dy: np.ndarray | None = None


@dataclass(frozen=True)
class Setting:
    """What fixes the questions. `probes` are patterns; None stands for all."""

    contract: Contract
    form: Format
    options: Mapping[str, Any]
    seed: int
    probes: tuple[str, ...] | None

    @property
    def default(self) -> Options:
        return {each.name: self.options.get(each.name, each.default) for each in self.contract.options}

    def bench(self, subject: Subject, precision: Precision, kind: type[Workbench] = Workbench) -> Workbench:
        return kind(self.contract, subject, precision, self.default, self.form)


def setting_of(
    contract: str, dtype: str, options: Mapping[str, Any], seed: int, probes: Sequence[str] | None
) -> Setting:
    """Raises UsageError."""
    what = contract_named(contract)
    for name, value in options.items():
        what.option(name)
        if not isinstance(value, str | int | float | None):
            raise UsageError(f"option {name} is {value!r}, needed a number, a string, a truth value or None")
    if not isinstance(seed, int) or seed < 0:
        raise UsageError(f"seed is {seed!r}, needed an integer from 0 on")
    return Setting(what, format_named(dtype), dict(options), seed, None if probes is None else tuple(probes))


class StandIn(Subject):
    """Right, in floating point, and keeps what it is asked."""

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting.contract, setting.contract.layer, None, FILE, setting.form)
        self.asking = ""
        self.cases: list[Case] = []
        self.of_output: dict[str, int] = {}
        self.of_gradients: dict[str, int] = {}

    @property
    def has_gradients(self) -> bool:
        return self._contract.differentiable

    def takes(self, option: str, backward: bool = False) -> bool:
        return True

    def output(self, inputs: Inputs, options: Options, layout: str, shape: tuple[int, ...]) -> np.ndarray:
        self._case(inputs, options, None)
        return _floats(self._contract.layer(*inputs, **options)[0])

    def gradients_with_output(
        self, dy: np.ndarray, inputs: Inputs, options: Options, layout: str
    ) -> tuple[np.ndarray | None, list[np.ndarray]]:
        self._case(inputs, options, dy)
        pullback = self._contract.layer(*inputs, **options)[1]
        return None, [] if pullback is None else [_floats(each) for each in pullback(dy)]

    def _case(self, inputs: Inputs, options: Options, dy: np.ndarray | None) -> None:
        if self._contract.random(**options):
            raise BrokenCall("its output is random on purpose, so that a file cannot answer")
        asked, with_dy = key_of(inputs, options), key_of(inputs, options, dy)
        if with_dy in (self.of_output if dy is None else self.of_gradients):
            return
        number = self.of_output.get(asked)
        if number is None or self.cases[number].dy is not None:
            number = len(self.cases)
            self.cases.append(Case(self.asking, inputs, options))
            self.of_output.setdefault(asked, number)
        if dy is not None:
            self.cases[number].dy = dy
            self.of_gradients[with_dy] = number


def _floats(array: np.ndarray) -> np.ndarray:
    return to_floats(array) if is_balls(array) else np.asarray(array, np.float64)


def key_of(inputs: Inputs, options: Options, dy: np.ndarray | None = None) -> str:
    return fingerprint((*inputs, *sorted(options.items(), key=lambda item: item[0]), dy))


class _OnlyAsking(Workbench):
    """Makes the calls of a run and judges nothing."""

    def judge_values(self, probe: Probe, tally: Tally) -> Any:
        self._named(probe)
        self._output(self.inputs_of(probe), {**self.options, **probe.options}, probe.layout)

    def judge_gradients(self, probe: Probe, dy: np.ndarray, tally: Tally) -> Any:
        self._gradients(dy, self.inputs_of(probe), {**self.options, **probe.options}, probe.layout)

    def differences(self, probe: Probe, dy: np.ndarray, gradients: bool) -> Iterator[float]:
        raise BrokenCall("a file is asked once")

    def _named(self, one: Probe | Property) -> None:
        assert isinstance(self.subject, StandIn)
        self.subject.asking = one.name


class _Asking(Judging):
    def _measure(self, one: Property) -> None:
        self._bench.subject.asking = one.name  # type: ignore[attr-defined]
        super()._measure(one)


def plan_of(setting: Setting, subject: Subject) -> Plan:
    """What can be asked of a file: nothing that is random on purpose. Raises UsageError."""
    plan = planned(setting.contract, subject, FILE, setting.form, setting.options, setting.seed, setting.probes)
    default = setting.default
    probes = tuple(each for each in plan.probes if not setting.contract.random(**{**default, **each.options}))
    return Plan(probes, plan.properties, plan.not_run)


def asked(setting: Setting) -> StandIn:
    """The stand-in after a run. Raises UsageError where a file cannot answer."""
    stand_in = StandIn(setting)
    bench = setting.bench(stand_in, precision_of(setting.form.name), _OnlyAsking)
    try:
        plan = plan_of(setting, stand_in)
        _Asking(bench, setting.seed).run(plan)
    except UsageError:
        raise
    except (TypeError, ValueError) as error:
        raise UsageError(f"options of {setting.contract.name}: {error}") from error
    if not stand_in.cases:
        raise UsageError(f"nothing of {setting.contract.name} can be asked of a file with these options and probes")
    return stand_in
