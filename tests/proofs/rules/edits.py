"""One edit away from a true statement: what a slip of the pen makes of it."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from proofs.evaluate import NoSample, evaluate, mp
from proofs.kernel import ProofError, check_statement
from proofs.rules.context import Refused
from proofs.sampler import PointWith, Sampler, holds_at
from proofs.terms import ONE, Term, TermError, number, sort_of

from .vocabulary import INDICES, OTHER_INDICES, Case

Path = tuple[int, ...]
Ranges = tuple[Term | None, ...]  # of the binders around a place, innermost last; None for a real variable


def places(term: Term, ranges: Ranges = (), path: Path = ()) -> Iterator[tuple[Path, Term, Ranges]]:
    """Every part of a term with the way to it and the ranges bound there, parts that are sizes left out."""
    yield path, term, ranges
    for k, (part, count) in enumerate(zip(term.args, term.binders(), strict=True)):
        if k in term.size_places() or part.op in ("domain", "infinity"):
            continue
        bound = (
            (None,)
            if term.op in ("derivative", "tends")
            else tuple(None if s.op == "domain" else s for s in term.args[:-1])
        )
        yield from places(part, (*ranges, *bound) if count else ranges, (*path, k))


def put(term: Term, path: Path, new: Term) -> Term:
    if not path:
        return new
    args = list(term.args)
    args[path[0]] = put(args[path[0]], path[1:], new)
    return term.rebuilt(args)


def _range_of(term: Term, ranges: Ranges) -> Term | None:
    if term.op == "bound":
        return ranges[-1 - term.data]
    sort = sort_of(term)
    return sort if isinstance(sort, Term) else None


def _indices(size: Term, ranges: Ranges) -> list[Term]:
    bound = [Term("bound", (), k) for k in range(len(ranges)) if ranges[-1 - k] == size]
    return bound + [i for i in (*INDICES, *OTHER_INDICES) if i.args[0] == size]


def edits_at(term: Term, ranges: Ranges) -> dict[str, list[Term]]:
    """What may stand in the place of this part, by the kind of slip."""
    size = _range_of(term, ranges)
    if size is not None:
        others = [i for i in _indices(size, ranges) if i != term]
        return {"bound name" if term.op == "bound" else "index": others} if others else {}
    if term.op in ("relation", "function", "tends", "forall", "implies"):
        return {}
    found = {"sign": [Term("mul", (number(-1), term))], "factor": [Term("mul", (number(2), term))]}
    if term.op == "family" and len(term.args) == 2 and term.data.slots[0] == term.data.slots[1]:
        found["transpose"] = [Term("family", term.args[::-1], term.data)] * 2
    if term.op == "sum":
        first = Term("bound", (), 0)
        lost = [i for i in _indices(term.args[0], (*ranges, term.args[0])) if i != first]
        found["range"] = [term.rebuilt((term.args[0], term.args[1] * (ONE - Term("delta", (first, i))))) for i in lost]
    if term.op == "expect" and term.args[1].op == "mul":
        one, *rest = (term.rebuilt((term.args[0], part)) for part in term.args[1].args)
        found["independence"] = [Term("mul", (one, *rest))] * 2
    return {kind: terms for kind, terms in found.items() if terms}


def edited(case: Case, rng: Random) -> tuple[str, Case] | None:
    """A false statement one edit away with the kind of its edit; None where the edit is still true, or is no statement."""
    side = rng.choice((0, len(case.conclusion.args) - 1))
    options: dict[str, list[tuple[Path, Term]]] = {}
    for path, part, ranges in places(case.conclusion):
        for kind, terms in edits_at(part, ranges).items() if path[:1] == (side,) else ():
            options.setdefault(kind, []).append((path, rng.choice(terms)))
    kind = rng.choice(sorted(options))
    twin = case._replace(conclusion=put(case.conclusion, *rng.choice(options[kind])))
    return (kind, twin) if is_statement(twin) and not is_true(twin, 4) else None


def is_statement(case: Case) -> bool:
    try:
        check_statement(case.statement)
    except (Refused, TermError, ProofError):
        return False
    return True


def is_true(case: Case, points: int) -> bool:
    """Whether the statement holds at some random points that meet its hypotheses; True where that cannot be told."""
    sampler = Sampler(case.statement, case.witness)
    try:
        return all(_holds(case.conclusion, sampler.point(seed)) for seed in range(points))
    except (NoSample, OverflowError, MemoryError, ZeroDivisionError):
        return True


def _holds(conclusion: Term, point: PointWith) -> bool:
    if conclusion.op != "tends":
        return holds_at(conclusion, point)
    body, target, value = conclusion.args  # a limit is compared with a value nearby; decay rates are at least 1
    near = mp.mpf(10) ** 4 if target.op == "infinity" else evaluate(target, point) + mp.mpf(10) ** -5
    limit = evaluate(value, point)
    return bool(abs(evaluate(body, point, (near,)) - limit) <= mp.mpf(10) ** -2 * (1 + abs(limit)))
