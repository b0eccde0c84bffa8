"""Evaluates the theorems against the layers: every one that speaks of a layer, at random points, in balls and in float64."""

import importlib
import inspect
import pkgutil
from types import ModuleType

from proofs.commands.selection import UsageError, selected
from proofs.evaluate import NoSample
from proofs.kernel import Statement
from proofs.registry import Claim, all_claims

from .. import layers
from ..arithmetic import precision
from .comparison import SEEDS, Finding, Verdict
from .folded import statement_of
from .instances import definitions_of, instances, written_out
from .judging import Judgement, judged
from .points import points
from .readings import all_readings, layer_name
from .report import Report, TheoremReport

__all__ = ["Report", "TheoremReport", "agree"]

BITS = 320
LARGEST = 500_000  # operations, over twice what any theorem needs; a stack of layers that is not read would take years


def agree(expression: str | None = None, seeds: int = SEEDS) -> Report:
    """Every theorem whose name matches, against the layers that it speaks of, at `seeds` random points.

    The proofs themselves are not run. Raises UsageError where there is nothing to evaluate.
    """
    if seeds < 1:
        raise UsageError(f"--seeds is {seeds}, needed at least 1: at no point nothing is evaluated")
    chosen = [(claim, layers_of(statement_of(claim))) for claim in selected(all_claims(), expression)]
    small: list[tuple[Claim, tuple[str, ...]]] = []
    too_large: list[str] = []
    for claim, spoken_of in chosen:
        if spoken_of and written_out(statement_of(claim), read=frozenset(all_readings())) <= LARGEST:
            small.append((claim, spoken_of))
        elif spoken_of:
            too_large.append(claim.name)
    if not small:
        why = "are too large to be written out" if too_large else "speak of no layer"
        named = ", ".join(claim.name for claim, _ in chosen)
        raise UsageError(f"-k {expression!r} matches only theorems that {why}: {named}")
    with precision(BITS):
        theorems = tuple(_evaluated(claim, spoken_of, seeds) for claim, spoken_of in small)
    called = frozenset().union(*(each.functions for each in theorems))
    without_layer = tuple(claim.name for claim, spoken_of in chosen if not spoken_of)
    uncalled = sorted(public_functions() - called) if expression is None else ()
    return Report(seeds, expression, theorems, without_layer, tuple(too_large), tuple(uncalled))


def layers_of(statement: Statement) -> tuple[str, ...]:
    """The layers that compute a definition which the statement contains."""
    readings = all_readings()
    met = definitions_of(statement, frozenset(readings))
    return tuple(sorted({layer_name(readings[d].layer) for d in met if d in readings}))


def public_functions() -> frozenset[str]:
    """Every function that a layer offers, as "softmax.forward"; and those of what else is read, such as the encoder."""
    found = set()
    for layer in {*all_layers(), *(each.layer for each in all_readings().values())}:
        own = (name for name, value in vars(layer).items() if _is_public(layer.__name__, value))
        found |= {f"{layer_name(layer)}.{function}" for function in own}
    return frozenset(found)


def all_layers() -> list[ModuleType]:
    names = (each.name for each in pkgutil.iter_modules(layers.__path__) if not each.name.startswith("_"))
    return [importlib.import_module(f"{layers.__name__}.{name}") for name in names]


def _is_public(layer: str, value: object) -> bool:
    return inspect.isfunction(value) and value.__module__ == layer and not value.__name__.startswith("_")


def _evaluated(claim: Claim, spoken_of: tuple[str, ...], seeds: int) -> TheoremReport:
    trouble: list[Finding] = []
    judgements: list[Judgement] = []
    sizes: list[dict[str, int]] = []
    for label, statement in instances(claim):
        try:
            for point in points(statement, seeds):
                judgements.append(_labelled(judged(statement, point), label, repr(point)))
                sizes.append(dict(point.sizes))
        except NoSample as problem:
            trouble.append(Finding(Verdict.UNDECIDED, str(problem)))
    called = {function.partition(".")[0] for each in judgements for function in each.functions}
    if not called.issuperset(spoken_of):
        missing = ", ".join(sorted(set(spoken_of) - called))
        trouble.append(Finding(Verdict.UNDECIDED, f"nothing of {missing} was called"))
    asked = tuple(sorted(called.union(spoken_of)))
    return TheoremReport(claim.name, asked, tuple(sizes), tuple(judgements), tuple(trouble))


def _labelled(judgement: Judgement, label: str, point: str) -> Judgement:
    """With the instance and the point in every message."""
    at = "; ".join(part for part in (label, point) if part)
    findings = (each._replace(message=f"{each.message}; at {at}") for each in judgement.findings)
    return judgement._replace(findings=tuple(findings))
