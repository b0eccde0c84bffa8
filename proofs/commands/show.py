"""`show`: a theorem with its steps, its near misses and what it rests on."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from ..kernel import Theorem
from ..render.latex import Latex
from ..render.parts import plain
from ..render.theorem import Page, page
from ..render.unicode import Unicode
from .lines import wrapped
from .outcomes import axioms_of, earlier_of
from .trust import rules_of


def described(theorem: Theorem, latex: bool) -> dict[str, Any]:
    """A theorem as plain data, its formulas as text or as LaTeX."""
    found = page(theorem, Latex if latex else Unicode)
    return {
        "name": found.name, "says": found.says, "general": theorem.is_general,
        "symbols": [plain(s) for s in found.symbols], "definitions": [plain(d) for d in found.definitions],
        "hypotheses": list(found.hypotheses), "conclusion": found.conclusion, "start": found.start,
        "steps": [{"relation": l.relation, "term": l.term, "reason": plain(l.reason)} for l in found.lines],
        "near_misses": [r._asdict() for r in found.refusals],
        "rules": list(theorem.rules), "axioms": [a.name for a in axioms_of(theorem)], "uses": [t.name for t in theorem.uses],
    }  # fmt: skip


def show_theorem(theorem: Theorem, console: Console) -> None:
    found = page(theorem, Unicode)
    scope = "for every size" if theorem.is_general else "an instance"
    console.print(Text(f"{found.name} ({scope})", "bold"))
    wrapped(found.says, console, "  ", style="italic")
    for title, entries in _statement(found):
        console.print()
        console.print(Text(title, "bold"))
        for entry in entries:
            wrapped(entry, console, "  ")
    console.print()
    _show_steps(found, console)
    _show_refusals(found, console)
    console.print(Text("Rests on", "bold"))
    for title, names in _resting(theorem):
        wrapped(f"{title}: {', '.join(names) or 'none'}", console, "  ")


def _statement(found: Page) -> list[tuple[str, list[str]]]:
    sections = [
        ("For all", ["; ".join(map(plain, found.symbols))]), ("where", list(map(plain, found.definitions))),
        ("if", list(found.hypotheses)), ("then" if found.hypotheses else "holds", [found.conclusion]),
    ]  # fmt: skip
    return [(title, entries) for title, entries in sections if any(entries)]


def _show_steps(found: Page, console: Console) -> None:
    if found.start is None:
        return
    console.print(Text("Proof", "bold"))
    wrapped(found.start, console, "       ")
    for k, line in enumerate(found.lines, 1):
        wrapped(f"{line.relation} {line.term}", console, f"{k:>3}.   ", "         ")
        wrapped(plain(line.reason), console, "           ", style="dim")
    console.print()


def _show_refusals(found: Page, console: Console) -> None:
    for refusal in found.refusals:
        console.print(Text("Near miss, which the same steps refuse", "bold"))
        wrapped(refusal.conclusion, console, "  ")
        if refusal.hypotheses is not None:
            wrapped(
                f"if {' and '.join(refusal.hypotheses)}" if refusal.hypotheses else "with no hypothesis", console, "  "
            )
        wrapped(f"{refusal.message}: {refusal.residue}", console, "    ", style="dim")
        console.print()


def _resting(theorem: Theorem) -> list[tuple[str, list[str]]]:
    earlier = earlier_of(theorem)
    return [
        ("rules", rules_of([theorem, *earlier])), ("axioms", [t.name for t in earlier if t.is_axiom]),
        ("earlier theorems", [t.name for t in earlier if not t.is_axiom]),
    ]  # fmt: skip
