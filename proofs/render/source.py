r"""A theorem as LaTeX to paste into a document that loads amsmath: what it speaks of, what it says, and its steps."""

from __future__ import annotations

from ..kernel import Theorem
from .catalogues import ENGLISH, Catalogue
from .declared import besides
from .gate import gated_page
from .latex import running
from .numbering import ZERO_BASED, Numbering
from .parts import plain
from .theorem import Line, Refusal


def latex_source(theorem: Theorem, catalogue: Catalogue = ENGLISH, numbering: Numbering = ZERO_BASED) -> str:
    """Running text, displays and one align*; near misses as comments. Raises RenderError where there is no LaTeX for it."""
    found, said = gated_page(theorem, numbering.latex, catalogue).page, catalogue.said
    lines = [f"% {found.name}: {' '.join(found.says.split())}"]
    if found.symbols:
        symbols = catalogue.joined("lists.semicolon", [s.parts for s in found.symbols])
        lines.append(running(said(f"source.for_all{'_where' if found.definitions else ''}", symbols=symbols)))
    if found.definitions:
        lines += _itemized([running(d) for d in found.definitions])
    if found.hypotheses:
        lines += [catalogue.text("source.if"), *_itemized([rf"\({h}\)" for h in found.hypotheses])]
        lines.append(catalogue.text("source.then"))
    lines += [r"\[", f"  {found.conclusion}", r"\]"]
    if found.start is not None:
        lines += [running(besides(found.met, catalogue))] if found.met else []
        lines += [r"\begin{align*}", f"  & {found.start} \\\\"]
        lines += [f"  {_row(k, line)}" for k, line in enumerate(found.lines, 1)]
        lines[-1] = lines[-1].removesuffix(r" \\")
        lines.append(r"\end{align*}")
    return "\n".join([*lines, *(_refused(r, catalogue) for r in found.refusals)])


def _refused(refusal: Refusal, catalogue: Catalogue) -> str:
    said = catalogue.text("source.refused", conclusion=refusal.conclusion)
    if refusal.hypotheses is not None:
        given = plain(catalogue.joined("lists.and", refusal.hypotheses)) or catalogue.text("source.nothing_is_given")
        said = catalogue.text("source.refused_if", conclusion=refusal.conclusion, hypotheses=given)
    late = [besides(refusal.symbols, catalogue)] if refusal.symbols else []
    lines = [said, *map(running, (*late, *refusal.definitions)), f"{refusal.message}: {refusal.residue}"]
    return "\n%   ".join(["% " + lines[0], *lines[1:]])


def _row(number: int, line: Line) -> str:
    return rf"{line.relation} {{}} & {line.term} && \text{{({number}) {running(line.reason)}}} \\"


def _itemized(entries: list[str]) -> list[str]:
    return [r"\begin{itemize}", *(rf"  \item {entry}" for entry in entries), r"\end{itemize}"]
