"""check(): one implementation, one contract, one verdict."""

from collections.abc import Callable, Iterable, Mapping
from time import perf_counter
from typing import Any

import numpy as np

from .adapters import adapter_named
from .bench import Workbench
from .choosing import chosen_adapter
from .contract import Contract, Options, Probe
from .contracts import contract_named
from .formats import Format, Precision, format_named, precision_of
from .judging import Judging
from .plan import Plan, planned
from .report import Report
from .subject import Subject
from .taking_turns import taking_turns
from .usage import UsageError, unknown
from .watch import OutOfTime


@taking_turns
def check(
    contract: str,
    forward: Callable[..., Any],
    *,
    backward: Callable[..., Any] | None = None,
    adapter: str | None = None,
    dtype: str = "float64",
    precision: Precision | str | None = None,
    options: Mapping[str, Any] | None = None,
    accept: Iterable[str] = (),
    seed: int = 0,
    probes: Iterable[str | Probe] | None = None,
) -> Report:
    """Judges `forward(*inputs, **options)` against a contract; see `python -m numeric contracts` for what each one asks.

    backward   (dy, *inputs, **options) -> the gradients of <dy, y>, in the order of the floating-point inputs; a tuple, or a bare
               array for a single one. With an adapter that has autograd it is not needed.
    adapter    "numpy", "torch"; by default found out from the function and what it returns.
    dtype      "float64", "float32", "float16", "bfloat16": what the inputs have, and what the result must have.
    precision  of the intermediates, where it is not that of the dtype: "STORED" or "STORED/WIDE", such as "bfloat16/float32".
    options    values to fix instead of probing the contract's own; one that `forward` takes no keyword for is taken to be built in.
    accept     ids of variants that count as a pass.
    probes     names of the contract's probes and properties to run, as patterns ("generic*"), and `Probe`s of one's own.

    Raises UsageError for a wrong name or argument. Whatever the implementation does ends up in the report instead.
    """
    started = perf_counter()
    what, form = contract_named(contract), format_named(dtype)
    fixed, accepted, model = _fixed(what, options), accepted_of(what, accept), precision_of(dtype, precision)
    _require_callables(what, forward, backward)
    if not isinstance(seed, int) or seed < 0:
        raise UsageError(f"seed is {seed!r}, needed an integer from 0 on")
    default = {each.name: fixed.get(each.name, each.default) for each in what.options}
    trial = _trial(what, form, default, seed)
    settings = {**default, **trial.options}  # where words stand for arrays
    library = adapter_named(adapter or "numpy")
    late = None
    if adapter is None:
        try:
            library = chosen_adapter(what, forward, trial.inputs, settings, form)
        except OutOfTime as timeout:
            late = timeout
    bench = Workbench(what, Subject(what, forward, backward, library, form), model, default, form)
    judging, plan = Judging(bench, seed, accepted), Plan((), (), ())
    try:
        if late:
            raise late
        bench.subject.learn_keywords(bench.inputs_of(trial), settings, bench.shape_of(trial))
        plan = planned(what, bench.subject, library, form, fixed, seed, probes)
        judging.run(plan)
    except OutOfTime as timeout:
        judging.out_of_time(timeout)
    findings = tuple(judging.findings(plan))
    return Report(
        contract,
        name_of(forward),
        library.name,
        dtype,
        str(model),
        fixed,
        seed,
        findings,
        judging.power(),
        accepted,
        judging.pictures(),
        perf_counter() - started,
    )


def checks_of(contract: str) -> list[str]:
    """The names of a contract's checks, for one test each: `report.raise_if_failed(name)`. Raises UsageError."""
    what = contract_named(contract)
    gradients = ["gradients"] if what.differentiable else []
    draws = ["draws"] if what.draws_at_random else []
    return ["calls", "values", *gradients, *draws, *(each.name for each in what.properties), "two calls equal"]


def name_of(function: object) -> str:
    """What to call a function or module in a report."""
    name = getattr(function, "__name__", None) or type(function).__name__
    module = getattr(function, "__module__", None)
    return f"{module}.{name}" if module and module != "__main__" else str(name)


def _trial(contract: Contract, form: Format, options: Options, seed: int) -> Probe:
    """A first probe. Raises UsageError when the exact function refuses the options."""
    try:
        probe = contract.generic(np.random.default_rng(seed), form, options)[0]
        contract.exact(*probe.inputs, **{**options, **probe.options})
    except (TypeError, ValueError) as error:
        if isinstance(error, UsageError):
            raise
        raise UsageError(f"options of {contract.name}: {error}") from error
    return probe


def _fixed(contract: Contract, options: Mapping[str, Any] | None) -> dict[str, Any]:
    fixed = dict(options or {})
    for name in fixed:
        contract.option(name)
    return fixed


def accepted_of(contract: Contract, accept: Iterable[str]) -> tuple[str, ...]:
    if isinstance(accept, str):
        raise UsageError(f"accept is the string {accept!r}, needed a tuple of ids: accept=({accept!r},)")
    for variant in accept:
        if variant not in contract.variants:
            raise unknown(f"variant of {contract.name}", variant, contract.variants)
    return tuple(accept)


def _require_callables(contract: Contract, forward: object, backward: object) -> None:
    for role, function in (("forward", forward), ("backward", backward)):
        if isinstance(function, type):
            raise UsageError(
                f"{role} is the class {function.__name__}, needed a function or an instance that can be called"
            )
        if not callable(function) and not (role == "backward" and function is None):
            raise UsageError(f"{role} is {function!r}, needed a function")
    if backward is not None and not contract.differentiable:
        raise UsageError(f"{contract.name} has no floating-point input, hence no gradients; leave out backward")
