r"""A formula without what only lays it out: the tokens that it has on its page.

\allowbreak \quad \qquad \! \displaystyle {}                    nothing
\begin{aligned}[t] & a \\ & \quad + b \end{aligned}             a + b; likewise gathered, and subarray in an exponent
\bigl( ... \biggr)                                              \left( ... \right)
\rlap{$\displaystyle a$}, \mbox{\small\arraycolsep=2pt $a$}     a
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NoReturn

TOKEN = re.compile(
    r"\\(?:operatorname|mathrm|mathit|mathbf|text|begin|end|label|ref|cite)\{[^{}]*\}|\\[A-Za-z]+\s*|\\.|\s+|.",
    re.DOTALL,
)
_NOTHING = frozenset(r"\allowbreak \quad \qquad \! \displaystyle".split())
_BRACKETS = {
    rf"\{size}{side}": rf"\{grows}"
    for size in ("big", "Big", "bigg", "Bigg")
    for side, grows in (("l", "left"), ("r", "right"))
}
_OF_LINES = {"aligned": ("", "[t]"), "gathered": ("",), "subarray": ("{l}",)}
_OF_CELLS = ("bmatrix", "cases")
_WRAPPERS = (
    r"\rlap{$\displaystyle",
    *(rf"\mbox{{{size}\arraycolsep=2pt$" for size in (r"\small", r"\footnotesize", r"\scriptsize", r"\tiny")),
)


class NotLaidOutError(ValueError):
    """A text that no fragment has."""


def tokens_of(text: str) -> list[str]:
    """The tokens of a text, without spaces."""
    return [token.strip() or token for token in TOKEN.findall(text) if not token.isspace()]


def unlaid(tokens: Sequence[str]) -> tuple[str, ...]:
    """The tokens of a formula without its layout; raises NotLaidOutError where that is not closed."""
    return tuple(_Unlaying(tokens).kept())


class _Unlaying:
    def __init__(self, tokens: Sequence[str]):
        self._tokens = list(tokens)
        self._next = 0
        self._open: list[str] = []  # the environments around, and $ for a wrapper

    def kept(self) -> Iterator[str]:
        while self._next < len(self._tokens):
            token = self._tokens[self._next]
            self._next += 1
            if token in (r"\rlap", r"\mbox"):
                self._wrapper()
            elif token == "$":
                self._closed("$")
                if not self._takes("}"):
                    self._fail("a wrapper is not closed")
            elif token.startswith(r"\begin{"):
                yield from self._begins(token)
            elif token.startswith(r"\end{"):
                self._closed(token[5:-1])
                yield from [token] if token[5:-1] in _OF_CELLS else []
            elif token in ("&", r"\\"):
                yield from self._separator(token)
            elif (token == "{" and self._takes("}")) or token in _NOTHING:
                continue
            else:
                yield _BRACKETS.get(token, token)
        if self._open:
            self._fail(f"{self._open[-1]} is not closed")

    def _separator(self, token: str) -> Iterator[str]:
        if not self._open:
            self._fail(f"{token} stands in no lines and in no table")
        if self._open[-1] in _OF_CELLS:
            yield token

    def _begins(self, token: str) -> Iterator[str]:
        name = token[7:-1]
        self._open.append(name)
        if name in _OF_CELLS:
            yield token
        elif name not in _OF_LINES or not any(self._takes(*option) for option in reversed(_OF_LINES[name])):
            self._fail(f"no formula has {token} here")

    def _closed(self, name: str) -> None:
        if not self._open or self._open.pop() != name:
            self._fail(f"{name} closes nothing here")

    def _wrapper(self) -> None:
        self._next -= 1
        if not any(self._takes(*tokens_of(start)) for start in _WRAPPERS):
            self._fail("no formula is wrapped like this")
        self._open.append("$")

    def _takes(self, *tokens: str) -> bool:
        found = self._tokens[self._next : self._next + len(tokens)] == list(tokens)
        self._next += len(tokens) if found else 0
        return found

    def _fail(self, problem: str) -> NoReturn:
        around = " ".join(self._tokens[max(0, self._next - 8) : self._next + 4])
        raise NotLaidOutError(f"{problem}: {around}")
