r"""Reads a printed formula into parts with widths. It knows what the LaTeX printer writes, and nothing else."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable

from ..names import RenderError
from . import widths
from .shapes import Fence, Fraction, Part, Root, Row, Script, Scripted, Table, bracket, height, widths_of
from .widths import NOTHING, Widths, fixed, sized

_TOKEN = re.compile(
    r"\s*(\\(?:operatorname|mathrm|mathit|mathbf|begin|end)\{(?:[^{}]|\\text\{-\})*\}|\\(?:left|right)[()\[\]|]"
    r"|\\[A-Za-z]+|\\[!\\]|[^\s\\])"
)
_WORD = re.compile(r"\\(operatorname|mathrm|mathit|mathbf)\{((?:[^{}]|\\text\{-\})*)\}")
_CLOSING = {
    "(": ")",
    "[": "]",
    r"\lfloor": r"\rfloor",
    r"\left(": r"\right)",
    r"\left[": r"\right]",
    r"\left|": r"\right|",
}
_LETTERS = {**widths.ITALIC, **widths.GREEK, **widths.SIGNS, **dict.fromkeys("0123456789", 5.0)}
_KINDS = {
    **dict.fromkeys(r"= < > : \le \ge \ne \in \to \mapsto \Rightarrow".split(), "rel"),
    **dict.fromkeys(("+", "-", r"\cdot"), "bin"), **dict.fromkeys((",", r"\colon"), "punct"),
}  # fmt: skip
_SPECIAL = {
    r"\sum": Part("op", r"\sum", False, Widths(14.5, 10.6, 8.5, 6.1), 3),
    r"\bmod": Part("bin", r"\bmod", False, Widths(19, 19, 20.5, 18)),
    **{op: Part("op", op, False, widths.word("operatorname", word)) for op, word in widths.OPERATORS.items()},
}
_WITH_LIMITS = (r"\sum", r"\lim")
_WIDE_SCRIPT = 50.0


@functools.lru_cache(maxsize=1024)
def parsed(text: str) -> Row:
    """The parts of a formula; raises RenderError for anything that the printer never writes."""
    reading = _Reading(text)
    row = reading.row()
    reading.ends()
    return row


class _Reading:
    def __init__(self, text: str):
        self._text = text
        self._tokens = list(_TOKEN.finditer(text))
        self._signs = [match[1] for match in self._tokens]
        self._next = 0

    def _see(self) -> str:
        return self._signs[self._next] if self._next < len(self._signs) else ""

    def _take(self) -> str:
        self._next += 1
        return self._signs[self._next - 1] if self._next <= len(self._signs) else ""

    def _need(self, token: str) -> None:
        found = self._take()
        if found != token:
            raise RenderError(f"{self._text}: found {found or 'the end'}, needed {token}, to break it into lines")

    def ends(self) -> None:
        if self._see():
            raise RenderError(f"{self._text}: {self._see()} has no place here; it cannot be broken into lines")

    def row(self, *until: str) -> Row:
        found: list[Part] = []
        while (token := self._see()) and token != "}" and token not in until:
            found.append(self._part())
        return tuple(found)

    def _group(self) -> Row:
        self._need("{")
        row = self.row()
        self._need("}")
        return row

    def _part(self) -> Part:
        """A nucleus with its scripts."""
        match = self._tokens[self._next]
        start, spaced = match.start(1), match.start() < match.start(1)
        nucleus = self._nucleus()
        middle = self._tokens[self._next - 1].end()
        shape, wide = nucleus.shape, nucleus.widths
        scripts, beside, script = "", NOTHING, None
        if self._see() in ("_", "^", "'"):
            beside, script = self._scripts()
            scripts = self._text[middle : self._tokens[self._next - 1].end()]
            if shape is None and script is not None and widths_of(script.row).script > _WIDE_SCRIPT:
                shape = Scripted(self._text[start:middle], script)
            wide = wide.plus(beside)
            if nucleus.text in _WITH_LIMITS:
                wide = wide._replace(display=max(nucleus.widths.display, beside.display))
        text = self._text[start:middle] + scripts
        return Part(nucleus.kind, text, spaced, wide, nucleus.height, shape, scripts, beside, script)

    def _scripts(self) -> tuple[Widths, Script | None]:
        """How wide that is which hangs on a nucleus; and what it is where there is one script alone."""
        primes, hanging = NOTHING, NOTHING
        found: list[Script] = []
        while (sign := self._see()) in ("_", "^", "'"):
            self._next += 1
            found.append(Script(sign, () if sign == "'" else self._group()))
            if sign == "'":
                primes = primes.plus(fixed(2.9))
            else:
                hanging = hanging.or_wider(widths_of(found[-1].row).as_script().plus(fixed(0.5)))
        return hanging.plus(primes), found[0] if len(found) == 1 and found[0].row else None

    def _nucleus(self) -> Part:
        token = self._take()
        if len(token) > 1:
            if token in _SPECIAL:
                return _SPECIAL[token]
            if word := _WORD.fullmatch(token):
                wide = widths.word(word[1], word[2].replace(r"\text{-}", "-"))
                return Part("op" if word[1] == "operatorname" else "ord", token, False, wide)
            if token.startswith(r"\begin{"):
                return self._table(token)
            if token in _READERS:
                return _READERS[token](self, token)
        if token in _CLOSING:
            return self._fence(token)
        if token not in _LETTERS:
            raise RenderError(f"{self._text}: {token!r} is no sign of the printer; it cannot be broken into lines")
        return Part(_KINDS.get(token, "ord"), token, False, sized(_LETTERS[token]))

    def _fraction(self, macro: str) -> Part:
        above, below = self._group(), self._group()
        wide = widths_of(above).or_wider(widths_of(below)).in_fraction()
        if macro == r"\tfrac":
            wide = wide._replace(display=wide.text)
        tall = 2 if macro == r"\tfrac" else 3 if height((*above, *below)) < 2 else 4
        return Part("ord", macro, False, wide.plus(fixed(2.4)), tall, Fraction(macro, above, below))

    def _root(self, macro: str) -> Part:
        inside = self._group()
        return Part("ord", macro, False, widths_of(inside).plus(fixed(10)), height(inside), Root(inside))

    def _accent(self, macro: str) -> Part:
        return Part("ord", macro, False, widths_of(self._group()))

    def _pulled_fence(self, thin: str) -> Part:
        return self._fence(self._take(), thin)

    def _fence(self, opening: str, before: str = "") -> Part:
        if opening not in _CLOSING:
            raise RenderError(f"{self._text}: {opening} opens no brackets; it cannot be broken into lines")
        inside = self.row(_CLOSING[opening])
        self._need(_CLOSING[opening])
        shape = Fence(before + opening, inside, _CLOSING[opening])
        side = bracket(inside, shape.grows)
        kind = "pulled" if before else "inner" if shape.grows else "fence"
        return Part(kind, opening, False, widths_of(inside).plus(side).plus(side), height(inside), shape)

    def _table(self, begin: str) -> Part:
        """A matrix, or cases."""
        end = begin.replace("begin", "end")
        rows: list[list[Row]] = [[]]
        while True:
            rows[-1].append(self.row("&", r"\\", end))
            separator = self._take()
            if separator == r"\\":
                rows.append([])
            elif separator != "&":
                break
        shape = Table(begin, tuple(map(tuple, rows)), end)
        columns = [max(widths_of(cell).text for cell in column) for column in zip(*rows, strict=True)]
        return Part("inner", begin, False, fixed(sum(columns) + around_cells(shape)), 4, shape)


def around_cells(table: Table) -> float:
    """How wide the brackets of a table and the space between its columns are."""
    return 10.0 * len(table.rows[0]) + (3 if len(table.rows) > 2 else 0)


_READERS: dict[str, Callable[[_Reading, str], Part]] = {
    r"\frac": _Reading._fraction, r"\tfrac": _Reading._fraction, r"\sqrt": _Reading._root, r"\dot": _Reading._accent,
    r"\!": _Reading._pulled_fence, r"\lfloor": _Reading._fence, **{c: _Reading._fence for c in _CLOSING if len(c) > 1},
}  # fmt: skip
