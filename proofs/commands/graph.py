"""`graph`: which theorem rests on which, as Mermaid text, read off the steps of the proofs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..kernel import Theorem
from .outcomes import earlier_of

Edge = tuple[str, str]  # from the theorem that is cited to the one that cites it


def reached(theorems: Iterable[Theorem]) -> list[Theorem]:
    """These theorems with all that they rest on, axioms too, in a fixed order."""
    found: dict[Theorem, None] = {}
    for theorem in theorems:
        found.update(dict.fromkeys((*earlier_of(theorem), theorem)))
    return sorted(found, key=lambda t: (t.is_axiom, t.name))


def edges(theorems: Sequence[Theorem]) -> list[Edge]:
    """Every citation among the theorems, from the steps."""
    return sorted((cited.name, t.name) for t in theorems for cited in t.uses)


def as_data(theorems: Sequence[Theorem]) -> dict[str, Any]:
    return {
        "theorems": [{"name": t.name, "says": t.says, "axiom": t.is_axiom} for t in theorems],
        "citations": [{"cited": cited, "by": citing} for cited, citing in edges(theorems)],
    }


def of_theorems(theorems: Sequence[Theorem]) -> str:
    """One node per theorem, in one box per family; axioms are round."""
    lines = ["flowchart LR"]
    for family in dict.fromkeys(map(_family, theorems)):
        members = [t for t in theorems if _family(t) == family]
        if members[0].is_axiom:
            lines += [f'  {_node(t.name)}(["{t.name}"])' for t in members]
            continue
        lines.append(f'  subgraph {_node(family)}_family["{family}"]')
        lines += [f'    {_node(t.name)}["{t.name.rpartition(".")[2]}"]' for t in members]
        lines.append("  end")
    return "\n".join([*lines, *(f"  {_node(cited)} --> {_node(citing)}" for cited, citing in edges(theorems))])


def of_families(theorems: Sequence[Theorem]) -> str:
    """One node per family; an arrow says how many citations there are."""
    counts: dict[Edge, int] = {}
    families = {t.name: _family(t) for t in theorems}
    for cited, citing in edges(theorems):
        pair = families[cited], families[citing]
        if pair[0] != pair[1]:
            counts[pair] = counts.get(pair, 0) + 1
    nodes = [f'  {_node(f)}_family["{f}"]' for f in dict.fromkeys(families.values())]
    arrows = [f"  {_node(a)}_family -->|{count}| {_node(b)}_family" for (a, b), count in sorted(counts.items())]
    return "\n".join(["flowchart LR", *nodes, *arrows])


def _family(theorem: Theorem) -> str:
    return "axioms" if theorem.is_axiom else theorem.name.rpartition(".")[0]


def _node(name: str) -> str:
    """A name that Mermaid takes for a node: letters, digits and underscores, and none of its own words."""
    return name.replace(".", "__")
