r"""Formulas as MathML, made from the LaTeX that was compared with the proof; each one is read back as that LaTeX.

math-core converts. What it spells otherwise than it should be seen or heard is mended:

    \mathrm{Q\text{-}Z}     a word, not three pieces; \operatorname{layer-norm}, a word and no difference
    \colon                 a sign with space after it, not a name
    \lim                   stands before all that follows; is not applied to the next letter alone
    \begin{cases}          no invisible bracket at the right
"""

from __future__ import annotations

import functools
import re
from html import escape
from typing import Any
from xml.etree.ElementTree import Element, fromstring

from ..names import RenderError
from .breaking import with_breaks
from .font import require_covered
from .packages import needed
from .read_back import require_faithful

_LABEL = re.compile(r"\\mathrm\{((?:[^{}]|\\text\{-\}){2,})\}")
_HYPHEN = r"\text{-}"
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
    return _written(math)


def _converted(latex: str) -> Element:
    core = needed("math_core")
    try:
        text = _converter().convert_with_local_state(_LABEL.sub(_as_text, latex), displaystyle=True)
    except core.LatexError as problem:
        raise RenderError(f"math-core cannot read {latex}: {problem}") from problem
    math = fromstring(text.replace("&ApplyFunction;", _APPLIED))
    del math.attrib["display"]
    return math


def _written(element: Element) -> str:
    """What ElementTree's `tostring` gives for elements of one vocabulary, in less than half its time."""
    start, inside = element.tag, _escaped(element.text) if element.text else ""
    for name, value in element.attrib.items():
        start += _attribute(name, value)
    for part in element:
        inside += _written(part)
    return f"<{start}>{inside}</{element.tag}>" if inside else f"<{start} />"


@functools.lru_cache(maxsize=1024)
def _attribute(name: str, value: str) -> str:
    return f' {name}="{escape(value)}"'


@functools.lru_cache(maxsize=4096)
def _escaped(text: str) -> str:
    return escape(text, quote=False)


def _as_text(label: re.Match[str]) -> str:
    return rf"\text{{{label[1].replace(_HYPHEN, '-')}}}"


@functools.cache
def _converter() -> Any:
    return needed("math_core").LatexToMathML(fancy_error=False)


def _mended(element: Element) -> Element:
    """The element with its parts mended; what math-core wraps around a word to keep its space is unwrapped."""
    if len(element):
        element[:] = [part for old in element for part in _spliced(_mended(old))]
    if element.tag == "mrow" and [p.tag for p in element] == ["mi"]:
        return element[0]
    if element.tag == "mi" or (element.tag == "mo" and (element.text or "").isalpha()):
        return _mended_name(element)
    if element.tag == "mpadded":
        return _with_space_inside(element)
    if element.tag in ("msub", "msup", "msubsup") and element[0].tag == "mo" and element[0].text in tuple(")]⌋"):
        element[0].set("form", "postfix")
        element[0] = _of_letter_height(element[0])
    return element


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
    if part.tag == "mspace":
        return [part] if part.attrib else []
    if part.tag == "mo":
        return [] if part.text == _NO_BRACKET else [part]
    if part.tag == "mrow" and len(part) == 3 and part[0].tag == "munder" and part[1].text == _APPLIED:
        part[0][0] = _sign(part[0][0].text or "", movablelimits="true", lspace="0", rspace="0")
        return [part[0], Element("mspace", width=_THIN), *([part[2]] if part[2].tag != "mrow" else part[2])]
    return [part]
