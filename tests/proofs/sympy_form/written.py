"""How large a statement gets when it is written out for SymPy, which shares nothing."""

from functools import cache
from math import prod

from proofs.definitions import unfolded
from proofs.terms import Term

LARGEST = 1000  # nodes; SymPy needs seconds for a few thousand


def nodes(term: Term, count: int) -> int:
    """The nodes of a term with every size at least `count`, sums and quantifiers written out, definitions unfolded."""

    @cache
    def of(t: Term) -> int:
        if t.op == "apply":
            return of(unfolded(t))
        if t.op in ("sum", "forall") and t.args[0].op != "domain":
            return extent(t.args[0], count) * of(t.args[1])
        return (1 + sum(map(of, t.args))) * (3 if t.op == "derivative" else 1)

    return of(term)


def extent(size: Term, count: int) -> int:
    if size.op == "number":
        return int(size.data)
    if size.op == "size":
        return max(count, size.data[1])
    parts = [extent(a, count) for a in size.args]
    return sum(parts) if size.op == "add" else prod(parts)


def is_small(statement, count: int) -> bool:
    return sum(nodes(t, count) for t in (statement.conclusion, *statement.hypotheses)) <= LARGEST
