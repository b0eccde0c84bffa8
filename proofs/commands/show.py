"""`show`: a theorem with its steps, its near misses and what it rests on."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from ..kernel import Theorem
from ..render.catalogues import ENGLISH, Catalogue
from ..render.declared import besides
from ..render.gate import gated_page
from ..render.numbering import ZERO_BASED, Numbering
from ..render.parts import plain
from ..render.theorem import Page, Refusal
from .lines import wrapped
from .outcomes import axioms_of, earlier_of
from .trust import rules_of


def described(
    theorem: Theorem, latex: bool, catalogue: Catalogue = ENGLISH, numbering: Numbering = ZERO_BASED
) -> dict[str, Any]:
    """A theorem as plain data, its formulas as text or as LaTeX."""
    found = gated_page(theorem, numbering.latex if latex else numbering.unicode, catalogue).page
    return {
        "name": found.name, "says": found.says, "general": theorem.is_general, "notation": numbering.name,
        "symbols": [plain(s.parts) for s in found.symbols], "definitions": [plain(d) for d in found.definitions],
        "hypotheses": list(found.hypotheses), "conclusion": found.conclusion, "start": found.start,
        "steps": [{"relation": l.relation, "term": l.term, "reason": plain(l.reason)} for l in found.lines],
        "besides": [plain(s.parts) for s in found.met], "near_misses": list(map(_refused, found.refusals)),
        "rules": list(theorem.rules), "axioms": [a.name for a in axioms_of(theorem)], "uses": [t.name for t in theorem.uses],
    }  # fmt: skip


def _refused(refusal: Refusal) -> dict[str, Any]:
    symbols, definitions = [plain(s.parts) for s in refusal.symbols], [plain(d) for d in refusal.definitions]
    return {**refusal._asdict(), "symbols": symbols, "definitions": definitions}


def show_theorem(
    theorem: Theorem, console: Console, catalogue: Catalogue = ENGLISH, numbering: Numbering = ZERO_BASED
) -> None:
    """Prints a theorem. Raises GateError where a formula is not what was proved, RenderError where there are no words for it."""
    found = gated_page(theorem, numbering.unicode, catalogue).page
    scope = catalogue.text("headings.every_size" if theorem.is_general else "headings.instance")
    console.print(Text(f"{found.name} ({scope})", "bold"))
    wrapped(found.says, console, "  ", style="italic")
    for title, entries in _statement(found, catalogue):
        console.print()
        console.print(Text(title, "bold"))
        for entry in entries:
            wrapped(entry, console, "  ")
    console.print()
    _show_steps(found, console, catalogue)
    _show_refusals(found, console, catalogue)
    console.print(Text(catalogue.text("headings.rests_on"), "bold"))
    for title, names in _resting(theorem):
        listed = ", ".join(names) or catalogue.text("headings.none")
        wrapped(f"{catalogue.text(f'headings.{title}')}: {listed}", console, "  ")


def _statement(found: Page, catalogue: Catalogue) -> list[tuple[str, list[str]]]:
    sections = [
        ("for_all", ["; ".join(plain(s.parts) for s in found.symbols)]), ("where", list(map(plain, found.definitions))),
        ("if", list(found.hypotheses)), ("then" if found.hypotheses else "holds", [found.conclusion]),
    ]  # fmt: skip
    return [(catalogue.text(f"headings.{title}"), entries) for title, entries in sections if any(entries)]


def _show_steps(found: Page, console: Console, catalogue: Catalogue) -> None:
    if found.start is None:
        return
    console.print(Text(catalogue.text("headings.proof"), "bold"))
    if found.met:
        wrapped(plain(besides(found.met, catalogue)), console, "  ")
    wrapped(found.start, console, "       ")
    for k, line in enumerate(found.lines, 1):
        wrapped(f"{line.relation} {line.term}", console, f"{k:>3}.   ", "         ")
        wrapped(plain(line.reason), console, "           ", style="dim")
    console.print()


def _show_refusals(found: Page, console: Console, catalogue: Catalogue) -> None:
    for refusal in found.refusals:
        console.print(Text(catalogue.text("headings.near_miss"), "bold"))
        wrapped(refusal.conclusion, console, "  ")
        if refusal.hypotheses is not None:
            given = plain(catalogue.joined("lists.and", refusal.hypotheses))
            instead = catalogue.text("headings.if_instead", hypotheses=given)
            wrapped(instead if given else catalogue.text("headings.no_hypothesis"), console, "  ")
        for parts in (besides(refusal.symbols, catalogue), *refusal.definitions):
            if parts:
                wrapped(plain(parts), console, "  ")
        wrapped(f"{refusal.message}: {refusal.residue}", console, "    ", style="dim")
        console.print()


def _resting(theorem: Theorem) -> list[tuple[str, list[str]]]:
    earlier = earlier_of(theorem)
    return [
        ("rules", rules_of([theorem, *earlier])), ("axioms", [t.name for t in earlier if t.is_axiom]),
        ("earlier_theorems", [t.name for t in earlier if not t.is_axiom]),
    ]  # fmt: skip
