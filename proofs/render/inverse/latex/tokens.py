r"""LaTeX as tokens. A closed set: anything else is refused where it stands."""

from __future__ import annotations

import re

from ..problems import Complaint
from ..stream import Token, require_plain

_GREEK = {
    r"\alpha": "α", r"\beta": "β", r"\gamma": "γ", r"\delta": "δ", r"\varepsilon": "ε", r"\zeta": "ζ", r"\eta": "η",
    r"\theta": "θ", r"\iota": "ι", r"\kappa": "κ", r"\lambda": "λ", r"\mu": "μ", r"\nu": "ν", r"\xi": "ξ", r"\pi": "π",
    r"\rho": "ρ", r"\sigma": "σ", r"\tau": "τ", r"\upsilon": "υ", r"\phi": "φ", r"\chi": "χ", r"\psi": "ψ",
    r"\omega": "ω", r"\Gamma": "Γ", r"\Delta": "Δ", r"\Theta": "Θ", r"\Lambda": "Λ", r"\Xi": "Ξ", r"\Pi": "Π",
    r"\Sigma": "Σ", r"\Upsilon": "Υ", r"\Phi": "Φ", r"\Psi": "Ψ", r"\Omega": "Ω",
}  # fmt: skip
_MACROS = frozenset(
    r"\frac \tfrac \sqrt \exp \log \sin \cos \tanh \max \sum \lim \to \infty \in \le \ge \ne \forall \colon \Rightarrow \mapsto \cdot "
    r"\bmod \dot \lfloor \rfloor \! \\".split()
)
_TOKEN = re.compile(
    r"\s*(?:\\(?P<font>operatorname|mathrm|mathit|mathbf|begin|end)\{(?P<word>(?:[A-Za-z0-9-]|\\text\{-\})+)\}"
    r"|(?P<sign>\\(?:left|right)[(\[|)\]]|:=|[()\[\]{}_^'+\-=<>,/&])"
    r"|(?P<macro>\\(?:[A-Za-z]+|[!\\]))|(?P<digits>[0-9]+)|(?P<letter>[A-Za-z])|(?P<unknown>\S)|\Z)"
)
_HYPHENS = {"operatorname": "-", "mathrm": r"\text{-}"}  # a mere - is a minus where a word is not that of an operator


def tokens_of(text: str) -> list[Token]:
    """The tokens of a formula, then one that marks its end. Raises Complaint for a sign or a macro that no formula has."""
    found = []
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup
        if kind is None:
            break
        found.append(_token(match, kind))
    return [*found, Token("end", "", len(text), False)]


def _token(match: re.Match[str], kind: str) -> Token:
    token, at = match[kind], match.start(kind)
    if kind == "word":
        kind, at = match["font"], match.start("font") - 1
        kind, token = "ended" if kind == "end" else kind, _unhyphenated(kind, token, at)
    elif kind == "macro":
        if token not in _GREEK and token not in _MACROS:
            raise Complaint(f"no formula has {token!r}", at)
        kind, token = ("letter", _GREEK[token]) if token in _GREEK else ("sign", token)
    elif kind == "unknown":
        raise Complaint(f"no formula has {token!r}", at)
    elif kind == "digits":
        require_plain(token, at)
    return Token(kind, token, at, at > match.start())


def _unhyphenated(font: str, word: str, at: int) -> str:
    """A word with underscores for its hyphens. Raises Complaint for one that is not how this font has it."""
    found = word.replace(_HYPHENS[font], "_") if font in _HYPHENS else word
    if re.search(r"[^A-Za-z0-9_]", found):
        raise Complaint(f"no formula has \\{font}{{{word}}}", at)
    return found
