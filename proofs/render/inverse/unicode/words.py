"""Names as words of plain text: d_k, ẋ_i, z'. A word alone does not tell where a name ends and its subscripts start."""

from __future__ import annotations

import re
import unicodedata

from ..tree import Name

_DOT = "\u0307"
LETTERS = re.compile(rf"(?:[^\W\d_]{_DOT}?'*)+")  # subscripts that stand side by side
LETTER = re.compile(rf"[^\W\d_]{_DOT}?'*")


def is_word(text: str) -> bool:
    """Whether a text is a word or a number, with a label or subscripts or none."""
    return re.fullmatch(rf"[\w'{_DOT}]+", text) is not None


def word_of(name: Name) -> str:
    """How a name is written."""
    base = unicodedata.normalize("NFC", name.base[:1] + _DOT) + name.base[1:] if name.dotted else name.base
    return base + (f"_{name.label}" if name.label else "") + "'" * name.primes


def name_of(word: str) -> Name:
    """The name that a whole word is: base, label, primes, and the dot of a derivative."""
    plain = word.rstrip("'")
    base, _, label = plain.partition("_")
    apart = unicodedata.normalize("NFD", base[:1]) + base[1:]
    dotted = apart[1:2] == _DOT
    return Name(apart[0] + apart[2:] if dotted else base, label, len(word) - len(plain), dotted)
