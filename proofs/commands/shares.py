"""Which process proves what.

A process that needs an earlier theorem proves it itself, so the catalogue is cut where few theorems are needed on both sides.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from ..registry import Claim
from ..terms import Term

Piece = list[Claim]
_SHORTEST = 4  # theorems in a piece; below, a process spends its time on what it has to prove again


def shared_out(claims: Sequence[Claim], jobs: int) -> list[list[Piece]]:
    """For each of at most `jobs` processes its pieces, in the order in which it proves them.

    Pieces are given out from the largest on, each to the process that is then done first; what a process has to prove
    anyway costs it nothing.
    """
    pieces = _pieces(claims, jobs)
    pieces.sort(key=lambda piece: -_cost(_needed(piece)))
    shares: list[list[Piece]] = [[] for _ in range(min(jobs, len(pieces)))]
    held: list[set[Claim]] = [set() for _ in shares]
    for piece in pieces:
        needed = _needed(piece)
        best = min(range(len(shares)), key=lambda k: (_cost(held[k] | needed), k))
        shares[best].append(piece)
        held[best] |= needed
    return shares


def _pieces(claims: Sequence[Claim], jobs: int) -> list[Piece]:
    """The theorems of a family; a family that is much of the whole, in runs."""
    longest = max(_SHORTEST, -(-len(claims) // (2 * jobs)))
    pieces: list[Piece] = []
    for claim in claims:
        if not pieces or pieces[-1][0].family != claim.family or len(pieces[-1]) == longest:
            pieces.append([])
        pieces[-1].append(claim)
    return pieces


def _needed(claims: Iterable[Claim]) -> set[Claim]:
    """These and all that they rest on."""
    found: set[Claim] = set()
    waiting = list(claims)
    while waiting:
        claim = waiting.pop()
        if claim not in found:
            found.add(claim)
            waiting += _cited(claim)
    return found


def _cited(claim: Claim) -> tuple[Claim, ...]:
    """What its script cites; nothing where the script, which is a user's code, fails: the proof will say why."""
    try:
        return claim.cited
    except Exception:
        return ()


def _cost(claims: Iterable[Claim]) -> int:
    return sum(map(_work, claims))


@lru_cache(maxsize=4096)
def _work(claim: Claim) -> int:
    """A guess at the work of a proof: the statement is evaluated, and so is each near miss; every line is checked."""
    said = _nodes(claim.statement.conclusion) * (1 + len(claim.twins))
    try:
        return said + sum(map(_nodes, claim.lines))
    except Exception:
        return said


def _nodes(term: Term) -> int:
    return 1 + sum(map(_nodes, term.args))
