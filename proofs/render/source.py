r"""A theorem as LaTeX to paste into a document that loads amsmath: what it speaks of, what it says, and its steps."""

from __future__ import annotations

from ..kernel import Theorem
from .latex import Latex, running
from .theorem import Line, Refusal, page


def latex_source(theorem: Theorem) -> str:
    """Running text, displays and one align*; near misses as comments. Raises RenderError where there is no LaTeX for it."""
    found = page(theorem, Latex)
    lines = [f"% {found.name}: {' '.join(found.says.split())}"]
    if found.symbols:
        lines.append(f"For {'; '.join(map(running, found.symbols))}{', where' if found.definitions else ':'}")
    if found.definitions:
        lines += _itemized([running(d) for d in found.definitions])
    if found.hypotheses:
        lines += ["If", *_itemized([rf"\({h}\)" for h in found.hypotheses]), "then"]
    lines += [r"\[", f"  {found.conclusion}", r"\]"]
    if found.start is not None:
        lines += [r"\begin{align*}", f"  & {found.start} \\\\"]
        lines += [f"  {_row(k, line)}" for k, line in enumerate(found.lines, 1)]
        lines[-1] = lines[-1].removesuffix(r" \\")
        lines.append(r"\end{align*}")
    return "\n".join([*lines, *map(_refused, found.refusals)])


def _refused(refusal: Refusal) -> str:
    given = "" if refusal.hypotheses is None else f" if {' and '.join(refusal.hypotheses) or 'nothing is given'}"
    return f"% refused: {refusal.conclusion}{given}\n%   {refusal.message}: {refusal.residue}"


def _row(number: int, line: Line) -> str:
    return rf"{line.relation} {{}} & {line.term} && \text{{({number}) {running(line.reason)}}} \\"


def _itemized(entries: list[str]) -> list[str]:
    return [r"\begin{itemize}", *(rf"  \item {entry}" for entry in entries), r"\end{itemize}"]
