r"""Formulas as MathML, made from the LaTeX that was compared with the proof; each one is read back as that LaTeX.

math-core converts. What it spells otherwise than it should be seen or heard is mended:

    \mathrm{Q-Z}, \operatorname{layer-norm}   a word with a hyphen, not a difference
    \colon                                    a sign with space after it, not a name
    \lim                                      stands before all that follows; is not applied to the next letter alone
    \begin{cases}                             no invisible bracket at the right
"""

from __future__ import annotations

import functools
import re
from typing import Any
from xml.etree.ElementTree import Element, fromstring, tostring

from ..names import RenderError
from .breaking import with_breaks
from .font import require_covered
from .packages import needed
from .read_back import require_faithful

_LABEL = re.compile(r"\\mathrm\{([^{}]{2,})\}")
_APPLIED, _NO_BRACKET = "\u2061", "\u2063"
_PADDING = re.compile(r"padding-right:\s*([\d.]+em);?")
_THIN = "0.1667em"


@functools.cache
def mathml(latex: str) -> str:
    """A formula as a <math> element, whose size is that of the place where it stands.

    Raises RenderError where math-core cannot read it or loses something of it, or the bundled font lacks a letter.
    """
    math = _mended(_converted(latex))
    require_covered(math, latex)
    math = with_breaks(math)
    require_faithful(latex, math)
    return tostring(math, encoding="unicode")


def _converted(latex: str) -> Element:
    core = needed("math_core")
    try:
        text = _converter().convert_with_local_state(_LABEL.sub(r"\\text{\1}", latex), displaystyle=True)
    except core.LatexError as problem:
        raise RenderError(f"math-core cannot read {latex}: {problem}") from problem
    math = fromstring(text.replace("&ApplyFunction;", _APPLIED))
    del math.attrib["display"]
    return math


@functools.cache
def _converter() -> Any:
    return needed("math_core").LatexToMathML(fancy_error=False)


def _mended(element: Element) -> Element:
    """The element with its parts mended; what math-core wraps around a word to keep its space is unwrapped."""
    parts = [part for old in element for part in _spliced(_mended(old))]
    if element.tag == "mrow" and [p.tag for p in parts] == ["mi"]:
        return parts[0]
    new = Element(element.tag, element.attrib)
    new.text = element.text
    new.extend(parts)
    if element.tag == "mi" or (element.tag == "mo" and (element.text or "").isalpha()):
        return _mended_name(new)
    if element.tag == "mpadded":
        return _with_space_inside(new)
    if element.tag in ("msub", "msup", "msubsup") and parts[0].tag == "mo" and parts[0].text in tuple(")]⌋"):
        parts[0].set("form", "postfix")
        new[0] = _of_letter_height(parts[0])
    if element.tag == "mtext" and new.text:
        new.text = new.text.replace(" ", "\u00a0")  # a space at an end would be dropped
    return new


def _mended_name(name: Element) -> Element:
    text = name.text or ""
    if text == ":":
        return _sign(":", lspace="0", rspace="0.2778em")
    if len(text) > 1:
        name = Element("mi")  # in a cell of a table math-core takes sin for a sign
        name.text = text.replace("\u2212", "-")
    return name


def _of_letter_height(bracket: Element) -> Element:
    """A closing bracket that counts as no taller than a letter, so that its scripts stand as those of a letter."""
    padded = Element("mpadded", height="0.7em", depth="0.05em")
    padded.append(bracket)
    return padded


def _with_space_inside(padded: Element) -> Element:
    """A row with the space after it as a part of it, which breaks like any other."""
    style = padded.get("style", "")
    space = _PADDING.fullmatch(style)
    if space is None:
        raise RenderError(
            f"found <mpadded style={style!r}>, needed a space after it; mend proofs/render/site/mathml.py"
        )
    row = Element("mrow")
    row.extend(padded)
    row.append(Element("mspace", width=space[1]))
    return row


def _sign(text: str, **spaces: str) -> Element:
    sign = Element("mo", spaces)
    sign.text = text
    return sign


def _spliced(part: Element) -> list[Element]:
    """What stands in the place of a part: nothing, the part, or what a limit was wrapped together with."""
    if part.tag == "mspace" and not part.attrib:
        return []
    if part.tag == "mo" and part.text == _NO_BRACKET:
        return []
    if part.tag == "mrow" and len(part) == 3 and part[0].tag == "munder" and part[1].text == _APPLIED:
        part[0][0] = _sign(part[0][0].text or "", movablelimits="true", lspace="0", rspace="0")
        return [part[0], Element("mspace", width=_THIN), *([part[2]] if part[2].tag != "mrow" else part[2])]
    return [part]
