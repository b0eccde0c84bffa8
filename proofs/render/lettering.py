"""Prose in which names such as d_k and T^(k) have their indices and exponents, and >= its sign, as they are meant."""

from __future__ import annotations

import re
from collections.abc import Callable

_MEANT = re.compile(
    r"(?<![A-Za-z0-9_])(?P<base>[A-Za-z]|[A-Z]{2}|d[A-Za-z])_"
    r"(?:\((?P<long>[^()]{1,8})\)|(?P<short>[A-Za-z]{1,3}|model|\d\d?)(?![A-Za-z0-9_]))"
    r"|\^(?P<above>\([^()]{1,24}\)|[A-Za-z](?:_[A-Za-z]{1,3})?(?![A-Za-z0-9_])|\d+)"
    r"|(?P<sign>[<>!]=|->)"
)
_SIGNS = {">=": "≥", "<=": "≤", "!=": "≠", "->": "→"}


def lettered(text: str, words: Callable[[str], str], below: str, above: str) -> str:
    """A sentence in a markup: `words` is how it says plain words, `below` and `above` are as "<sub>{}</sub>"."""
    found, end = "", 0
    for match in _MEANT.finditer(text):
        found += words(text[end : match.start()])
        if match["base"]:
            found += words(match["base"]) + below.format(words(match["long"] or match["short"]))
        elif match["above"]:
            found += above.format(lettered(match["above"].replace("-", "−"), words, below, above))
        else:
            found += words(_SIGNS[match["sign"]])
        end = match.end()
    return found + words(text[end:])
