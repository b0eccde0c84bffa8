"""Checks the gradients of the cases, each in the three ways, and looks for layers that have none."""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable, Sequence

import numpy as np

import numeric

from .. import layers
from ..agreement.comparison import Finding, Verdict
from ..arithmetic import UndecidedComparison, precision
from .case import Case, point_of
from .cases import layer_cases
from .complex_step import by_complex_step
from .differences import by_differences
from .exact import exactly
from .models import model_cases
from .report import CaseReport, Report
from .selection import selected

BITS = 160  # balls of inputs below 4 then end at some 1e-40, far below what is asked of them, 1e-20
Told = Callable[[int, str], None]


def check_gradients(expression: str | None = None, seed: int = 0, before: Told = lambda number, name: None) -> Report:
    """Every case whose name matches, at the point of that seed. `before` is told number and name of a case in advance.

    Raises UsageError where no case matches.
    """
    cases = all_cases()
    chosen = selected(cases, expression)
    return Report(
        expression, seed, tuple(_told(chosen, seed, before)), without_case(cases) if expression is None else ()
    )


def all_cases() -> list[Case]:
    return [*layer_cases(), *model_cases()]


def without_case(cases: Sequence[Case]) -> tuple[str, ...]:
    """The layers that have none."""
    return tuple(sorted(differentiable() - {case.layer for case in cases}))


def differentiable() -> frozenset[str]:
    """Every module of numeric/layers, and of numeric itself, that has both a forward and a backward function."""
    found = set()
    for package in (layers, numeric):
        for module in pkgutil.iter_modules(package.__path__):
            if not module.ispkg and not module.name.startswith("_"):
                functions = vars(importlib.import_module(f"{package.__name__}.{module.name}"))
                if all(inspect.isfunction(functions.get(name)) for name in ("forward", "backward")):
                    found.add(module.name)
    return frozenset(found)


def checked(case: Case, seed: int = 0) -> CaseReport:
    """One case, in the three ways. What a layer raises is a finding."""
    try:
        point = point_of(case, seed)
        output, cache = case.forward(*point.inputs)
        found = case.gradients(point.cotangent, cache)
        with precision(BITS):
            exact = exactly(case, point)
            difference = by_differences(case, point, found, exact.gradients)
            step = by_complex_step(case, point, np.asarray(output), found, exact.slope)
    except UndecidedComparison as problem:
        return CaseReport(case, trouble=(Finding(Verdict.UNDECIDED, str(problem)),))
    except Exception as problem:  # a layer that is wrong may fail in any way
        return CaseReport(case, trouble=(Finding(Verdict.DISAGREES, f"raised {type(problem).__name__}: {problem}"),))
    return CaseReport(case, exact, difference, step)


def _told(cases: Iterable[Case], seed: int, before: Told) -> Iterable[CaseReport]:
    for number, case in enumerate(cases):
        before(number, case.name)
        yield checked(case, seed)
