"""How wide the signs of a formula are, in points, in Computer Modern at 10 pt; other fonts of papers are narrower."""

from __future__ import annotations

import functools
from typing import NamedTuple

from ..names import RenderError


class Widths(NamedTuple):
    """One width for each size of TeX: in a display, in running text, in a script, in a script of a script."""

    display: float
    text: float
    script: float
    smallest: float

    def plus(self, other: Widths) -> Widths:
        return Widths(self[0] + other[0], self[1] + other[1], self[2] + other[2], self[3] + other[3])

    def or_wider(self, other: Widths) -> Widths:
        return Widths(max(self[0], other[0]), max(self[1], other[1]), max(self[2], other[2]), max(self[3], other[3]))

    def as_script(self) -> Widths:
        return Widths(self.script, self.script, self.smallest, self.smallest)

    def as_cell(self) -> Widths:
        return fixed(self.text)

    def in_fraction(self) -> Widths:
        return Widths(self.text, self.script, self.smallest, self.smallest)


NOTHING = Widths(0, 0, 0, 0)
_SCRIPT, _SMALLEST = 0.81, 0.72  # small letters are drawn wider than letters made smaller


@functools.cache
def sized(width: float) -> Widths:
    """A sign that is this wide in running text."""
    return Widths(width, width, width * _SCRIPT, width * _SMALLEST)


@functools.cache
def fixed(width: float) -> Widths:
    """A rule or a bracket that is as wide in every size."""
    return Widths(width, width, width, width)


def outside_scripts(width: float) -> Widths:
    """A space that TeX leaves out in scripts."""
    return Widths(width, width, 0, 0)


def _table(text: str) -> dict[str, float]:
    pairs = (entry.rpartition(":") for entry in text.split())
    return {name: float(width) for name, _, width in pairs}


ITALIC = _table(
    "a:5.3 b:4.3 c:4.4 d:5.2 e:4.7 f:6.0 g:5.2 h:5.8 i:3.5 j:4.7 k:5.6 l:3.2 m:8.8 n:6.0 o:4.9 p:5.1 q:4.9 r:4.8 "
    "s:4.7 t:3.7 u:5.8 v:5.3 w:7.5 x:5.8 y:5.3 z:5.1 A:7.5 B:8.1 C:7.9 D:8.6 E:8.0 F:7.9 G:7.9 H:9.2 I:5.2 J:6.6 "
    "K:9.3 L:6.9 M:10.8 N:9.2 O:8.0 P:7.9 Q:8.0 R:7.7 S:6.8 T:7.3 U:8.0 V:8.1 W:10.9 X:9.1 Y:8.1 Z:7.6"
)
TEXT_ITALIC = _table(
    "a:5.9 b:5.3 c:5.2 d:6.2 e:5.4 f:5.2 g:5.5 h:5.9 i:4.1 j:4.6 k:5.7 l:3.6 m:9.0 n:6.4 o:5.8 p:5.8 q:5.5 r:5.3 "
    "s:5.0 t:4.3 u:6.2 v:5.7 w:7.8 x:5.9 y:5.8 z:5.4 A:7.5 B:8.1 C:8.7 D:8.5 E:8.0 F:7.9 G:8.7 H:9.1 I:5.5 J:6.7 "
    "K:9.2 L:6.3 M:10.7 N:9.1 O:8.7 P:7.9 Q:8.7 R:7.7 S:6.9 T:8.5 U:9.1 V:9.3 W:11.9 X:9.1 Y:9.4 Z:7.6 0:5.2 "
    "1:5.2 2:5.2 3:5.2 4:5.2 5:5.2 6:5.2 7:5.2 8:5.2 9:5.2"
)
UPRIGHT = _table(
    "a:5.0 b:5.6 c:4.5 d:5.6 e:4.5 f:3.9 g:5.2 h:5.6 i:2.8 j:3.1 k:5.3 l:2.8 m:8.4 n:5.6 o:5.0 p:5.6 q:5.3 r:4.0 "
    "s:4.0 t:3.9 u:5.6 v:5.5 w:7.4 x:5.3 y:5.5 z:4.5 A:7.5 B:7.1 C:7.3 D:7.7 E:6.9 F:6.6 G:7.9 H:7.5 I:3.7 J:5.2 "
    "K:7.8 L:6.3 M:9.2 N:7.5 O:7.8 P:6.9 Q:7.8 R:7.4 S:5.6 T:7.3 U:7.5 V:7.7 W:10.5 X:7.5 Y:7.8 Z:6.2 0:5.0 1:5.0 "
    "2:5.0 3:5.0 4:5.0 5:5.0 6:5.0 7:5.0 8:5.0 9:5.0"
)
GREEK = _table(
    r"\alpha:6.5 \beta:6.2 \gamma:5.8 \delta:4.9 \varepsilon:4.7 \zeta:5.2 \eta:5.4 \theta:5.0 \iota:3.6 "
    r"\kappa:5.8 \lambda:5.9 \mu:6.1 \nu:5.6 \xi:4.9 \pi:6.1 \rho:5.2 \sigma:6.1 \tau:5.5 \upsilon:5.8 \phi:6.0 "
    r"\chi:6.3 \psi:6.9 \omega:6.6 \Gamma:6.3 \Delta:8.4 \Theta:7.8 \Lambda:7.0 \Xi:6.7 \Pi:7.5 \Upsilon:7.8 "
    r"\Phi:7.3 \Psi:7.8 \Omega:7.3 \Sigma:7.3"
)
SIGNS = _table(
    r"+:7.8 -:7.8 =:7.8 <:7.8 >:7.8 \le:7.8 \ge:7.8 \ne:7.8 \in:6.7 \to:10 \mapsto:10 \Rightarrow:10 \cdot:2.8 "
    r",:2.8 ::2.8 /:5.0 (:3.9 ):3.9 [:2.8 ]:2.8 |:2.8 \lfloor:4.5 \rfloor:4.5 \infty:10 \forall:5.6 ':2.9 "
    r"\colon:7.3"
)
BOLD = _table("E:7.6 R:8.7 Z:7.1")
OPERATORS = {rf"\{name}": name for name in ("exp", "log", "sin", "cos", "tanh", "max", "lim")}


FONTS = {
    "operatorname": UPRIGHT | {"-": 3.4}, "mathrm": UPRIGHT | {"-": 3.4}, "mathit": TEXT_ITALIC, "mathbf": BOLD,
}  # fmt: skip


@functools.cache
def word(font: str, letters: str) -> Widths:
    """A word in one font; raises RenderError for a letter that has no width in it."""
    table = FONTS[font]
    missing = [c for c in letters if c not in table]
    if missing:
        raise RenderError(
            f"no width for {missing[0]!r} in \\{font}{{{letters}}}; add it in proofs/render/tex/widths.py"
        )
    return sized(sum(table[c] for c in letters))
