"""'At most twice the error of a reference in the same dtype', as FlashAttention's tests have it, beside the checker's bound.

Both judge the same implementations at the same probes: faults from the field, and correct variants. The rule's reference is a
plain correct implementation in that dtype; errors are against the exact value, which is more than such tests have.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from numeric.checker import Probe, check
from numeric.checker.adapters import adapter_named
from numeric.checker.adapters.numpy import DTYPES
from numeric.checker.bench import REFERENCES, Workbench
from numeric.checker.contract import Contract
from numeric.checker.contracts import contract_named
from numeric.checker.enclosure import NoEnclosure
from numeric.checker.formats import format_named, precision_of
from numeric.checker.plan import planned
from numeric.checker.rounding import allowance
from numeric.checker.subject import Subject
from numeric.checker.watch import BrokenCall

LARGEST = 4000  # numbers at a probe
FACTOR = 2.0


class Implementation(NamedTuple):
    contract: str
    forward: Callable[..., Any]
    backward: Callable[..., Any] | None
    dtype: str
    options: Any = None


class Outcome(NamedTuple):
    """Was it called wrong?"""

    rule_at_generic: bool
    rule_at_all: bool
    ours: bool


def plain(contract: Contract, dtype: str, correct: Iterable[Any]) -> Implementation:
    """The first correct variant with its backward; this project's layer where there is none with both."""
    own = [each for each in correct if each.contract == contract.name and each.adapter == "numpy"]
    for one in own:
        if one.backward is not None and dtype in one.dtypes:
            return Implementation(contract.name, one.for_dtype(dtype), one.backward, dtype)

    def layer(arguments: Any, options: Any) -> Any:
        pairs = zip(contract.arrays(arguments), contract.inputs, strict=True)
        arrays = [np.asarray(x).astype(DTYPES[dtype]) if each.floating else x for x, each in pairs]
        return contract.layer(*arrays, **{each.name: each.default for each in contract.options} | options)

    def backward(dy: Any, *arguments: Any, **options: Any) -> Any:
        return contract.packed(layer(arguments, options)[1](dy))

    forward = own[0].for_dtype(dtype) if own else lambda *arguments, **options: layer(arguments, options)[0]
    return Implementation(contract.name, forward, backward if contract.differentiable else None, dtype)


def judged(one: Implementation, reference: Implementation) -> Outcome:
    contract, form = contract_named(one.contract), format_named(one.dtype)
    benches = [_bench(contract, each, one.options or {}) for each in (one, reference)]
    plan = planned(contract, benches[0].subject, benches[0].subject._adapter, form, one.options or {}, 0, None)
    probes = [each for each in plan.probes if _numbers(each) <= LARGEST and not benches[0].random(each)]
    alarms = [each.name for each in probes if _beyond(benches, each, one.backward is not None)]
    with np.errstate(all="ignore"):
        settings = {"backward": one.backward, "adapter": "numpy", "dtype": one.dtype, "options": one.options}
        verdict = check(one.contract, one.forward, **settings).verdict
    generic = any(each.startswith("generic") for each in alarms)
    return Outcome(generic, bool(alarms), verdict in ("fail", "error", "variant"))


def _bench(contract: Contract, one: Implementation, fixed: Any) -> Workbench:
    form = format_named(one.dtype)
    default = {each.name: fixed.get(each.name, each.default) for each in contract.options}
    subject = Subject(contract, one.forward, one.backward, adapter_named("numpy"), form)
    bench = Workbench(contract, subject, precision_of(one.dtype), default, form)
    trial = contract.generic(np.random.default_rng(0), form, default)[0]
    subject.learn_keywords(bench.inputs_of(trial), {**default, **trial.options}, bench.shape_of(trial))
    return bench


def _numbers(probe: Probe) -> int:
    return int(sum(np.size(each) for each in probe.inputs))


def _beyond(benches: Sequence[Workbench], probe: Probe, gradients: bool) -> bool:
    """Is some array of the first more than twice as far from the truth as that of the second?"""
    one = benches[0]
    inputs, options = one.inputs_of(probe), {**one.options, **probe.options}
    with np.errstate(all="ignore"):
        dy = one.cotangent_of(probe, np.random.default_rng(1))
        try:
            exact = [REFERENCES.value(one.contract, inputs, options, allowance(one.bound(inputs, options)))]
            if gradients:
                allowed = [allowance(each) for each in one.gradient_bounds(dy, inputs, options)]
                exact += REFERENCES.gradients(one.contract, dy, inputs, options, allowed)
        except NoEnclosure:
            return False
        missing = one.contract.without_reference(*inputs, **options) or [False] * len(exact)
        errors = []
        for bench in benches:
            try:
                found = [bench.subject.output(inputs, options, probe.layout, exact[0].high.shape)]
                found += bench.subject.gradients(dy, inputs, options, probe.layout) if gradients else []
            except BrokenCall:
                return bench is one
            triples = zip(found, exact, missing, strict=False)
            errors.append(
                [np.where(left, 0.0, np.abs(each - truth.high)).max(initial=0.0) for each, truth, left in triples]
            )
        return any(not (mine <= FACTOR * theirs) for mine, theirs in zip(*errors, strict=True))
