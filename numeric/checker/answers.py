"""Judges a file of answers to vectors: the same run, with each call looked up instead of made."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar

import numpy as np

from .array_files import BFLOAT16, Arrays, read_arrays
from .bench import Workbench
from .contract import Inputs, Options, Probe
from .formats import Precision, precision_of
from .judging import Judging
from .questions import FILE, Setting, StandIn, asked, key_of, plan_of, setting_of
from .report import Finding, Report
from .run import accepted_of
from .subject import Subject
from .taking_turns import taking_turns
from .usage import UsageError, unknown
from .vectors import DOCUMENT, digest_of, document_in
from .verdict import NOT_RUN, Verdict
from .watch import BrokenCall

T = TypeVar("T")


@taking_turns
def check_answers(
    path: str | Path, contract: str, *, precision: Precision | str | None = None, accept: Sequence[str] = ()
) -> Report:
    """Judges `K/output` and `K/gradient/NAME`, which a program answered to the vectors of a contract (docs/vectors.md).

    Raises UsageError where the file cannot be read, has arrays that nothing asked for, or belongs to other vectors. What is missing
    or has a wrong shape or dtype is an error in the report.
    """
    started, path = perf_counter(), Path(path)
    arrays = read_arrays(path)
    try:
        setting, stand_in = _vectors_of(arrays, contract)
        _require_known(arrays, setting, stand_in)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error
    accepted, model = accepted_of(setting.contract, accept), precision_of(setting.form.name, precision)
    answers = Answers(setting, stand_in, arrays)
    judging = _Judging(setting.bench(answers, model, _Lookup), setting.seed, accepted)
    plan = plan_of(setting, answers)
    judging.run(plan)
    findings = tuple(judging.reworded(each, answers) for each in judging.findings(plan))
    return Report(
        contract,
        path.name,
        FILE.name,
        setting.form.name,
        str(model),
        setting.options,
        setting.seed,
        findings,
        judging.power(),
        accepted,
        judging.pictures(),
        perf_counter() - started,
    )


class Answers(Subject):
    """Looks up what the program answered."""

    def __init__(self, setting: Setting, stand_in: StandIn, arrays: Arrays) -> None:
        super().__init__(setting.contract, setting.contract.layer, None, FILE, setting.form)
        self._asked, self._arrays = stand_in, arrays

    @property
    def has_gradients(self) -> bool:
        return self._contract.differentiable and any("/gradient/" in name for name in answers_among(self._arrays))

    def takes(self, option: str, backward: bool = False) -> bool:
        return True

    def output(self, inputs: Inputs, options: Options, layout: str, shape: tuple[int, ...]) -> np.ndarray:
        number = self._number(self._asked.of_output, key_of(inputs, options))
        return self._answer(f"{number}/output", shape)

    def gradients_with_output(
        self, dy: np.ndarray, inputs: Inputs, options: Options, layout: str
    ) -> tuple[np.ndarray | None, list[np.ndarray]]:
        number = self._number(self._asked.of_gradients, key_of(inputs, options, dy))
        floating = [
            (each.name, np.shape(value))
            for each, value in zip(self._contract.inputs, inputs, strict=True)
            if each.floating
        ]
        return None, [self._answer(f"{number}/gradient/{name}", shape) for name, shape in floating]

    def _number(self, numbers: dict[str, int], key: str) -> int:
        self.calls += 1
        if key not in numbers:
            raise Unasked("it asks what depends on earlier answers, or is random on purpose")
        return numbers[key]

    def _answer(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        if name not in self._arrays:
            raise BrokenCall(f"the file has no array '{name}'")
        array = self._arrays[name]
        if self._form.name == "bfloat16" and array.dtype in (np.dtype(np.uint16), np.dtype("V2")):
            array = array.view(BFLOAT16)  # its bits, as NumPy stores them
        if array.dtype.name != self._form.name:
            raise BrokenCall(f"'{name}' has dtype {array.dtype.name}, needed {self._form.name}, that of the vectors")
        if array.shape != tuple(shape):
            raise BrokenCall(f"'{name}' has shape {array.shape}, needed {tuple(shape)}")
        return FILE.values(array)


class Unasked(BrokenCall):
    """The vectors do not hold this question, for which nobody is to blame."""


class _Judging(Judging):
    def __init__(self, bench: Workbench, seed: int, accepted: Collection[str]) -> None:
        super().__init__(bench, seed, accepted)
        self._unasked: dict[str, str] = {}

    def _made(self, name: str, call: Callable[[], T]) -> T | None:
        def made() -> T | None:
            try:
                return call()
            except Unasked as unasked:
                self._unasked[name] = str(unasked)
                return None

        return super()._made(name, made)

    def reworded(self, finding: Finding, answers: Answers) -> Finding:
        """What a run says of calls, said of a file."""
        if finding.check == "two calls equal":
            return Finding(finding.check, NOT_RUN, "a file is asked once")
        if finding.check in self._unasked:
            return replace(finding, message=self._unasked[finding.check])
        if finding.check == "calls" and finding.verdict == Verdict.PASS:
            return replace(finding, message=f"{answers.calls} answers: all there, shapes and dtypes right")
        if not finding.ran and not answers.has_gradients and finding.message == "no backward was given":
            return replace(finding, message="the file has no gradients")
        return finding


class _Lookup(Workbench):
    def differences(self, probe: Probe, dy: np.ndarray, gradients: bool) -> Iterator[float]:
        raise BrokenCall("a file is asked once")


def answers_among(names: Sequence[str] | Arrays) -> list[str]:
    """Those of the names that are answers: K/output, K/gradient/NAME."""
    parts = [(name, name.split("/")) for name in names]
    return [name for name, (_, *rest) in parts if rest == ["output"] or (len(rest) == 2 and rest[0] == "gradient")]


def _vectors_of(arrays: Arrays, contract: str) -> tuple[Setting, StandIn]:
    """The vectors that the file says it answers, made anew."""
    if DOCUMENT not in arrays:
        raise UsageError(
            "it has no array 'vectors'; copy it from the file of vectors, so that it is known what was answered"
        )
    document = document_in(arrays[DOCUMENT])
    if document.get("contract") != contract:
        raise UsageError(f"it answers the vectors of {document.get('contract')!r}, needed those of {contract!r}")
    try:
        setting = setting_of(contract, document["dtype"], document["options"], document["seed"], document["probes"])
    except (KeyError, TypeError, AttributeError) as error:
        raise UsageError("its array 'vectors' was changed; copy it from the vectors as it is") from error
    stand_in = asked(setting)
    if digest_of(setting, stand_in.cases) != document.get("digest"):
        raise UsageError(
            "its vectors ask something else than these do, made by another version; write them and answer them anew"
        )
    return setting, stand_in


def _require_known(arrays: Arrays, setting: Setting, stand_in: StandIn) -> None:
    """Every array must be an answer; what is copied from the vectors may stay."""
    gradients = [each.name for each in setting.contract.inputs if each.floating]
    expected = []
    for number, case in enumerate(stand_in.cases):
        expected.append(f"{number}/output")
        expected += [f"{number}/gradient/{name}" for name in gradients if case.dy is not None]
    copied = [f"{number}/{part}" for number, case in enumerate(stand_in.cases) for part in _parts(setting, case)]
    known: Any = {*expected, *copied, DOCUMENT}
    for name in arrays:
        if name not in known:
            raise unknown("array", name, expected)


def _parts(setting: Setting, case: Any) -> Iterator[str]:
    yield from (f"input/{each.name}" for each in setting.contract.inputs)
    yield from (f"option/{name}" for name in case.options)
    yield "cotangent"
    for name in ("output", *(f"gradient/{each.name}" for each in setting.contract.inputs)):
        yield from (f"{name}/{part}" for part in ("high", "low", "allowance"))
