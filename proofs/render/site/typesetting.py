"""Lines of prose with formulas in them, as HTML."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from itertools import pairwise

from markupsafe import Markup

from ..lettering import lettered
from ..parts import Formula, Part, Words
from .mathml import mathml

_CLOSING = frozenset(",.;:)")
_ALONE, _LARGE = 'display="block"', 'displaystyle="true"'
Link = Callable[[str], str | None]  # where a theorem stands, if it is on the site


class Typesetter:
    """Sets what is on one page, and keeps every formula that it has set, in order."""

    def __init__(self, link: Link):
        self._link = link
        self.formulas: list[str] = []

    def line(self, parts: Sequence[Part]) -> Markup:
        """Prose: formulas in the line, names of theorems as links. Raises RenderError for a formula without MathML."""
        pieces = [self._formula(p.text) if isinstance(p, Formula) else self._words(p.text) for p in parts]
        for k, (part, following) in enumerate(pairwise(parts)):
            sign = following.text[:1]
            if isinstance(part, Formula) and isinstance(following, Words) and sign in _CLOSING:
                pieces[k] = f'<span class="joined">{pieces[k]}{sign}</span>'  # no line starts with such a sign
                pieces[k + 1] = escape(following.text[1:])
        return Markup("".join(pieces))

    def large(self, parts: Sequence[Part]) -> Markup:
        """The same with the first formula as large as one on a line of its own: a definition."""
        first = next((k for k, p in enumerate(parts) if isinstance(p, Formula)), len(parts) - 1)
        shown = Markup(self._formula(parts[first].text, _LARGE))
        return self.line(parts[:first]) + shown + self.line(parts[first + 1 :])

    def display(self, latex: str) -> Markup:
        """A formula on lines of its own, which scrolls in its box where it does not fit; raises RenderError."""
        return Markup(f'<div class="display"><div class="formula">{self._formula(latex, _ALONE)}</div></div>')

    def _formula(self, latex: str, style: str = "") -> str:
        self.formulas.append(latex)
        given = f'<math {style} data-latex="{escape(latex)}"' if style else f'<math data-latex="{escape(latex)}"'
        return mathml(latex).replace("<math", given, 1)

    def _words(self, text: str) -> str:
        target = self._link(text)
        return escape(text) if target is None else f'<a class="name" href="{escape(target)}">{breakable(text)}</a>'


def breakable(name: str) -> str:
    """A name that may be broken after its dot and its underscores."""
    return escape(name).replace(".", ".<wbr>").replace("_", "_<wbr>")


def coded(text: str) -> Markup:
    """Prose in which `what stands so` is code."""
    pieces = text.split("`")
    return Markup("".join(f"<code>{escape(p)}</code>" if k % 2 else escape(p) for k, p in enumerate(pieces)))


def prose(text: str) -> Markup:
    """A sentence in which names such as d_k, T^(k) and signs such as >= are set as they are meant."""
    return Markup(lettered(text, escape, "<sub>{}</sub>", "<sup>{}</sup>"))
