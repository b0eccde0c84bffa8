"""Reads a fragment back: every formula and every label in it, in order, as on the page that was gated.

What a fragment may hold is closed: a macro or an environment that no fragment has is refused, so that nothing can hide
a formula or change one. Lines that start with % are comments; there are no others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ..gate import GateError
from ..parts import Declaration, Formula, Part
from ..theorem import Page, Refusal
from .layouts import Layout
from .unlaid import NotLaidOutError, tokens_of, unlaid

_DISPLAYS = ("equation", "align", "align*", "flalign")
_CARRIED_ON = tuple(
    (*start, space)
    for start in (("&",), ("&", r"\rlap", "{", "$", r"\displaystyle"))
    for space in (r"\quad", r"\qquad")
)
_PROSE = frozenset(
    r"\begin{theorem} \end{theorem} \begin{proof} \end{proof} \begingroup \endgroup \par \noindent \medskip \sloppy"
    r" \small \raggedright \allowdisplaybreaks \allowbreak \texttt \textit \textsubscript \textsuperscript \textbackslash"
    r" \textasciitilde \textasciicircum \_ \& \% \# \$ \{ \} \else \fi".split()
)
_SIGN = re.compile(r"[<>|=-]|\^2|\\[A-Za-z]+")


def require_same(text: str, page: Page, layout: Layout) -> None:
    """Raises GateError unless a fragment has the formulas and the labels of its page, all of them and no others."""
    try:
        reading = _Reading(text)
        reading.read()
    except NotLaidOutError as problem:
        raise GateError(f"{page.name}, as a fragment: {problem}") from None
    needed = [unlaid(tokens_of(formula)) for formula in expected(page, layout)]
    for number, (found, wanted) in enumerate(zip(reading.formulas, needed, strict=False), 1):
        if found != wanted:
            raise GateError(
                f"{page.name}, formula {number} of the fragment: found {_said(found)}, needed {_said(wanted)}"
            )
    for what, have, want in (
        ("formulas", len(reading.formulas), len(needed)),
        ("labels", reading.labels, _labels(page)),
    ):
        if have != want:
            raise GateError(f"{page.name}, the {what} of the fragment: found {have}, needed {want}")


def _said(tokens: Iterable[str]) -> str:
    return " ".join(tokens)


# --- what a page has, in the order of a layout


def expected(page: Page, layout: Layout) -> Iterator[str]:
    """The formulas of a page as a fragment has them; a step with the sign before it."""
    yield from _declared(page.symbols)
    yield from _within(page.definitions)
    yield from page.hypotheses
    yield page.conclusion
    yield from _declared(page.met)
    yield from [] if page.start is None else [page.start]
    for line in page.lines:
        step, reason = f"{line.relation} {line.term}", list(_within([line.reason]))
        yield from (step, *reason) if layout.beside else (*reason, step)
    for refusal in page.refusals:
        yield from _refused(refusal)


def _refused(refusal: Refusal) -> Iterator[str]:
    yield from _declared(refusal.symbols)
    yield from _within(refusal.definitions)
    yield from refusal.hypotheses or ()
    yield refusal.conclusion
    yield refusal.residue


def _declared(declarations: Iterable[Declaration]) -> Iterator[str]:
    return _within(d.parts for d in declarations)


def _within(lines: Iterable[Sequence[Part]]) -> Iterator[str]:
    return (part.text for line in lines for part in line if isinstance(part, Formula))


def _labels(page: Page) -> list[str]:
    hypotheses = [f"hyp:{page.name}:{k}" for k in range(1, len(page.hypotheses) + 1)]
    steps = [f"eq:{page.name}:{k}" for k in range(1, len(page.lines) + 1)]
    return [f"thm:{page.name}", *hypotheses, f"eq:{page.name}", *steps]


# --- what a fragment has


class _Reading:
    """`formulas` as tokens without their layout, and `labels`."""

    def __init__(self, text: str):
        self.formulas: list[tuple[str, ...]] = []
        self.labels: list[str] = []
        self._tokens = tokens_of("\n".join(line for line in text.splitlines() if not line.startswith("%")))
        self._next = 0

    def read(self) -> None:
        self._prose("")
        if self._next < len(self._tokens):
            raise NotLaidOutError(f"{self._tokens[self._next]} closes nothing")

    def _see(self) -> str:
        return self._tokens[self._next] if self._next < len(self._tokens) else ""

    def _sees(self, *tokens: str) -> bool:
        return tuple(self._tokens[self._next : self._next + len(tokens)]) == tokens

    def _take(self) -> str:
        token = self._see()
        self._next += 1
        return token

    def _need(self, *tokens: str) -> None:
        for token in tokens:
            if (found := self._take()) != token:
                raise NotLaidOutError(f"found {found or 'the end'}, needed {token}")

    def _prose(self, until: str) -> None:
        """Running text up to a token, which is left."""
        while (token := self._see()) and token != until:
            self._next += 1
            if token == "{":
                self._prose("}")
                self._need("}")
            elif token == r"\(":
                self.formulas.append(unlaid(self._upto(r"\)")))
            elif token.startswith(r"\label{"):
                self.labels.append(token[7:-1])
            elif token == r"\ensuremath":
                self._sign()
            elif token == r"\ifcsname":
                self._upto(r"\endcsname")
            elif token.startswith(r"\begin{") and token[7:-1] in _DISPLAYS:
                self._display(token[7:-1])
            elif not self._is_prose(token):
                raise NotLaidOutError(f"no fragment has {token} in its text")

    def _is_prose(self, token: str) -> bool:
        if token.startswith((r"\ref{", r"\cite{")):
            return True
        return token in _PROSE if token.startswith("\\") else token not in ("$", "%", "&", "#", "^", "_", "}")

    def _upto(self, end: str) -> list[str]:
        start = self._next
        while self._see() != end:
            if not self._take():
                raise NotLaidOutError(f"{end} is missing")
        self._next += 1
        return self._tokens[start : self._next - 1]

    def _sign(self) -> None:
        self._need("{")
        if not _SIGN.fullmatch("".join(self._upto("}"))):
            raise NotLaidOutError("a formula stands among the words")

    def _display(self, name: str) -> None:
        """Rows of formulas, each with what stands beside it: a label, a box of words."""
        formula: list[str] = []
        inside = 0
        while (token := self._take()) != rf"\end{{{name}}}":
            if not token:
                raise NotLaidOutError(rf"\end{{{name}}} is missing")
            inside += token.startswith(r"\begin{") - token.startswith(r"\end{")
            if token.startswith(r"\label{"):
                self.labels.append(token[7:-1])
            elif token == r"\parbox":
                self._formula(formula)
                self._box()
            elif token == r"\rlap" and self._sees("{", r"\parbox"):
                self._need("{", r"\parbox")
                self._formula(formula)
                self._box()
                self._need("}")
            elif token == r"\\" and not inside:
                if not any(self._sees(*start) for start in _CARRIED_ON):
                    self._formula(formula)
            elif token != r"\notag" and (inside or token != "&"):
                formula.append(token)
        self._formula(formula)

    def _formula(self, tokens: list[str]) -> None:
        """Takes what was read of a formula, if anything."""
        found = unlaid(tokens)
        tokens.clear()
        if found:
            self.formulas.append(found)

    def _box(self) -> None:
        self._need("[", "t", "]", "{")
        if not re.fullmatch(r"\d+pt", "".join(self._upto("}"))):
            raise NotLaidOutError("a box without a width")
        self._need("{")
        self._prose("}")
        self._need("}")
