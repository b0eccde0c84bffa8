"""What a run will ask, and what it will not: probes over the options that the implementation takes, and properties."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from .adapter import Adapter
from .contract import Contract, Option, Options, Probe, Property
from .formats import Format
from .record import kind_of
from .report import Finding
from .subject import Subject
from .usage import UsageError, unknown
from .verdict import NOT_RUN

SEEDS = 3  # from 0 on, those of generic probes, as far as `Contract.generic_draws` goes; two more follow


@dataclass(frozen=True)
class Plan:
    probes: tuple[Probe, ...]
    properties: tuple[Property, ...]
    not_run: tuple[Finding, ...]
    draws: tuple[Probe, ...] = ()


def planned(
    contract: Contract,
    subject: Subject,
    adapter: Adapter,
    form: Format,
    fixed: Mapping[str, Any],
    seed: int,
    selection: Iterable[str | Probe] | None,
) -> Plan:
    """Raises UsageError where the selection names nothing, or a probe of one's own does not fit the contract."""
    default = {each.name: fixed.get(each.name, each.default) for each in contract.options}
    grid, not_run = _grid(contract, subject, fixed)
    probes = [
        *_generic(contract, form, default, grid, seed),
        *_structured(contract, adapter, form, default, grid, seed),
    ]
    draws = _asked_of(contract, adapter, grid, contract.draws(np.random.default_rng([seed, SEEDS + 1]), form, default))
    properties = [one for one in contract.properties if _taken(one, subject, fixed) and _holds(one, default)]
    not_run += [_not_run(one.name, _untaken(one, fixed)) for one in contract.properties if one not in properties]
    if selection is not None:
        probes, properties, draws = _selected(contract, list(selection), probes, properties, draws, default)
    return Plan(tuple(probes), tuple(properties), tuple(not_run), tuple(draws))


def _grid(
    contract: Contract, subject: Subject, fixed: Mapping[str, Any]
) -> tuple[dict[str, Sequence[Any]], list[Finding]]:
    grid: dict[str, Sequence[Any]] = {}
    not_run = []
    for option in contract.options:
        name = option.name
        if name in fixed:
            grid[name] = (fixed[name],)
            continue
        grid[name] = option.probed if subject.takes(name) else (option.default,)
        others = ", ".join(f"{name}={value!r}" for value in option.probed if value != option.default)
        if not subject.takes(name) and others:
            not_run.append(_not_run(f"option {name}", f"{others}: it takes no keyword {name}"))
        elif subject.has_gradients and others and not subject.takes(name, backward=True):
            not_run.append(_not_run(f"option {name}, gradients", f"{others}: backward takes no keyword {name}"))
    return grid, not_run


def _not_run(check: str, why: str) -> Finding:
    return Finding(check, NOT_RUN, why)


def _generic(
    contract: Contract, form: Format, default: Options, grid: Mapping[str, Sequence[Any]], seed: int
) -> list[Probe]:
    probes = []
    for draw in range(contract.generic_draws):
        for number, options in enumerate(contract.combinations(grid)):
            rng = np.random.default_rng([seed, draw, number])
            setting = "".join(f", {name}={value!r}" for name, value in options.items() if len(grid[name]) > 1)
            for probe in contract.generic(rng, form, {**default, **options}):
                # a probe puts an array in place of a word such as "random"
                settings = {**options, **probe.options}
                probes.append(Probe(f"{probe.name}{setting}, draw {draw}", probe.inputs, settings, probe.layout))
    return probes


def _structured(
    contract: Contract, adapter: Adapter, form: Format, default: Options, grid: Mapping[str, Sequence[Any]], seed: int
) -> list[Probe]:
    drawn = contract.structured(np.random.default_rng([seed, SEEDS]), form, default)
    return _asked_of(contract, adapter, grid, drawn)


def _asked_of(
    contract: Contract, adapter: Adapter, grid: Mapping[str, Sequence[Any]], probes: Iterable[Probe]
) -> list[Probe]:
    """Those in a layout that the library has, at options that may be set."""
    return [
        probe
        for probe in probes
        if probe.layout in adapter.layouts
        and all(_asked(contract.option(name), value, grid[name]) for name, value in probe.options.items())
    ]


def _taken(one: Property, subject: Subject, fixed: Mapping[str, Any]) -> bool:
    """May it set the options that it sets?"""
    return all(name not in fixed and subject.takes(name, one.of_gradient) for name in one.options)


def _holds(one: Property, default: Options) -> bool:
    return all(default[name] is value for name, value in one.only_at.items())


def _untaken(one: Property, fixed: Mapping[str, Any]) -> str:
    others = ", ".join(f"{name}={value!r}" for name, value in one.only_at.items() if name in fixed)
    if others:
        return f"it holds with {others} only"
    names = ", ".join(one.options)
    if any(name in fixed for name in one.options):
        return f"it sets {names}, which is fixed"
    return f"it sets {names}, for which {'backward' if one.of_gradient else 'the implementation'} takes no keyword"


def _asked(option: Option, value: Any, among: Sequence[Any]) -> bool:
    """May a structured probe set this option? An array stands for any of the words that a default run probes."""
    if isinstance(value, np.ndarray):
        return tuple(among) == option.probed
    return any(value is each or (type(value) is type(each) and value == each) for each in among)


def _selected(
    contract: Contract,
    selection: list[str | Probe],
    probes: list[Probe],
    properties: list[Property],
    draws: list[Probe],
    default: Options,
) -> tuple[list[Probe], list[Property], list[Probe]]:
    names = [*(each.name for each in (*probes, *draws)), *(one.name for one in properties)]
    wanted: set[str] = set()
    own = []
    for each in selection:
        if isinstance(each, Probe):
            _require_fitting(contract, each, default)
            own.append(each)
            continue
        matched = {name for name in names if name == each or fnmatchcase(name, str(each))}
        if not matched:
            raise unknown("probe", each, dict.fromkeys(map(kind_of, names)))
        wanted |= matched
    chosen = [each for each in probes if each.name in wanted] + own
    return (
        chosen,
        [each for each in properties if each.name in wanted],
        [each for each in draws if each.name in wanted],
    )


def _require_fitting(contract: Contract, probe: Probe, default: Options) -> None:
    """The contract must take the probe's inputs and options."""
    if len(probe.inputs) != len(contract.inputs):
        raise UsageError(
            f"probe {probe.name!r} has {len(probe.inputs)} inputs, needed {len(contract.inputs)}: {contract.signature}"
        )
    for name in probe.options:
        contract.option(name)
    try:
        with np.errstate(all="ignore"):
            contract.layer(*contract.as_floats(probe.inputs), **{**default, **probe.options})
    except (TypeError, ValueError, IndexError) as error:
        raise UsageError(f"probe {probe.name!r} does not fit {contract.signature}: {error}") from error
