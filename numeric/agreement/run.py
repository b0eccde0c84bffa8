"""Evaluates the theorems against the layers: every one that speaks of a layer, at random points, in balls and in float64."""

import importlib
import inspect
import pkgutil

from proofs.commands.selection import UsageError, selected
from proofs.evaluate import NoSample
from proofs.kernel import Statement
from proofs.registry import Claim, all_claims

from .. import layers
from ..arithmetic import precision
from .comparison import SEEDS, Finding, Verdict
from .instances import definitions_of, instances, written_out
from .judging import Judgement, judged
from .points import points
from .readings import all_readings, layer_name
from .report import Report, TheoremReport

__all__ = ["Report", "TheoremReport", "agree"]

BITS = 320
LARGEST = 5000  # operations; all theorems up to there take some ten seconds, and a stack of layers would take years


def agree(expression: str | None = None, seeds: int = SEEDS) -> Report:
    """Every theorem whose name matches, against the layers that it speaks of, at `seeds` random points.

    The proofs themselves are not run. Raises UsageError where there is nothing to evaluate.
    """
    if seeds < 1:
        raise UsageError(f"--seeds is {seeds}, needed at least 1: at no point nothing is evaluated")
    chosen = [(claim, layers_of(claim.statement)) for claim in selected(all_claims(), expression)]
    small: list[tuple[Claim, tuple[str, ...]]] = []
    too_large: list[str] = []
    for claim, spoken_of in chosen:
        if spoken_of and written_out(claim.statement) <= LARGEST:
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
    return tuple(sorted({layer_name(readings[d].layer) for d in definitions_of(statement) if d in readings}))


def public_functions() -> frozenset[str]:
    """Every function that a layer offers, as "softmax.forward"."""
    found = set()
    for name in (each.name for each in pkgutil.iter_modules(layers.__path__) if not each.name.startswith("_")):
        layer = importlib.import_module(f"{layers.__name__}.{name}")
        found |= {f"{name}.{function}" for function in vars(layer) if _is_public(layer.__name__, vars(layer)[function])}
    return frozenset(found)


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
        trouble.append(Finding(Verdict.UNDECIDED, f"nothing of {', '.join(set(spoken_of) - called)} was called"))
    return TheoremReport(claim.name, spoken_of, tuple(sizes), tuple(judgements), tuple(trouble))


def _labelled(judgement: Judgement, label: str, point: str) -> Judgement:
    """With the instance and the point in every message."""
    at = "; ".join(part for part in (label, point) if part)
    findings = (each._replace(message=f"{each.message}; at {at}") for each in judgement.findings)
    return judgement._replace(findings=tuple(findings))
