"""Typst markup: words only as strings, formulas only as the printer wrote them, and names of theorems as links."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ..lettering import lettered
from ..parts import Formula, Part

LINE = 400.0  # points, rather less than a formula has
_SIGN, _LETTER, _SYLLABLE, _SMALL = 5.3, 5.3, 10.0, 0.88  # at most, on the average, of a formula's text and of words
IsKnown = Callable[[str], bool]  # whether these words are the name of a theorem of the document


class Setter:
    """Sets lines, and keeps every formula that it has set."""

    def __init__(self, is_known: IsKnown):
        self._is_known = is_known
        self.formulas: list[str] = []

    def formula(self, text: str) -> str:
        self.formulas.append(text)
        return f"${text}$"

    def display(self, text: str) -> str:
        """A formula on a line of its own, with the word whether it surely fits one."""
        return f"short({self.formula(text)})" if _SIGN * len(text) <= LINE else self.formula(text)

    def line(self, parts: Sequence[Part]) -> str:
        """Prose with formulas in it, as content."""
        return content("".join(self._part(p) for p in parts))

    def words(self, text: str) -> str:
        """Prose without formulas, as content."""
        return content(self._words(text))

    def name(self, name: str) -> str:
        """The name of a theorem with its page, if it has one here."""
        return f"{'with-page' if self._is_known(name) else 'code'}({string(name)})"

    def _part(self, part: Part) -> str:
        if not isinstance(part, Formula):
            return self._words(part.text)
        formula = self.formula(part.text)
        return formula if _width(part) <= LINE else f"#wide({formula})"

    def _words(self, text: str) -> str:
        return f"#cited({string(text)})" if self._is_known(text) else lettered(text, _quoted, "#sub[{}]", "#super[{}]")


def fit_beside(formula: str, reason: Sequence[Part]) -> bool:
    """Whether a formula and a reason in small letters surely fit one line."""
    return _SIGN * len(formula) + _SMALL * sum(map(_width, reason)) <= LINE


def _width(part: Part) -> float:
    if isinstance(part, Formula):
        return _SIGN * len(part.text)
    return sum(_LETTER if letter.isascii() else _SYLLABLE for letter in part.text)


def string(text: str) -> str:
    """A string of Typst code, which reads nothing in it as markup."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") + '"'


def _quoted(text: str) -> str:
    return f"#{string(text)}" if text else ""


def content(markup: str) -> str:
    return f"[{markup}]"


def array(entries: Iterable[str]) -> str:
    return "(" + "".join(f"{entry}, " for entry in entries) + ")"


def call(name: str, *arguments: str | None, **named: str | None) -> str:
    """A call of a function of the template; None is left out among the named ones, and `none` among the others."""
    given = ["none" if a is None else a for a in arguments]
    given += [f"{key.replace('_', '-')}: {value}" for key, value in named.items() if value is not None]
    return f"#{name}({', '.join(given)})"
