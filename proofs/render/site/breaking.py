"""Where a long formula may be broken on a narrow screen, without any script.

A formula becomes rows in rows, which site.css lays out like words: whole formulas stay on one line where they fit.
Where they do not, they break before a relation; a part that still does not fit, before + and -; a term that does not
fit, inside its brackets and between factors. Tall brackets with much between them get a size of their own instead of
that of what they hold, which may be on several lines. Nothing breaks inside a fraction, a root, or a table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from xml.etree.ElementTree import Element

SHORT = 18  # letters and signs that fit everywhere
OPENED = 30  # between tall brackets, from which on they may be broken
RELATIONS = frozenset("=≤<≥>≠→⇒")
SUMS = frozenset("+−")
LOW, TALL, TALLEST = "1.3em", "2.1em", "2.8em"
_OPENING, _CLOSING = frozenset("([⌊"), frozenset(")]⌋")
_FENCES = frozenset("([|{")

Row = list[Element]
Starts = Callable[[Row, int, int], bool]  # whether the part k of a row, so many brackets deep, may start a line


def with_breaks(math: Element) -> Element:
    """The formula with its parts in three layers of rows; the same one where it is short."""
    if _letters(math) <= SHORT:
        return math
    row = list(_flat(math))
    new = Element(math.tag, math.attrib | {"class": "long"})
    for side in _split(row, _starts_relation):
        outer = _within(new)
        for term in _split(side, _starts_term):
            middle = _within(outer)
            for piece in _split(term, _starts_piece):
                _within(middle).extend(map(_infix_at_ends, piece))
    return new


def _flat(element: Element) -> Iterator[Element]:
    """The parts of a row, and of the rows in it that are no brackets."""
    for part in element:
        if part.tag == "mrow" and not is_fenced(part):
            yield from _flat(part)
        elif _may_be_opened(part):
            yield from _opened(part)
        else:
            yield part


def _may_be_opened(part: Element) -> bool:
    """Whether it is tall brackets, with scripts or without, with much between them that may be broken."""
    fenced = _base(part)
    if fenced.tag != "mrow" or not is_fenced(fenced) or any(p.tag == "mtable" for p in fenced):
        return False
    return _letters(fenced) > OPENED and len(_split(list(_flat_between(fenced)), _starts_inner_piece)) > 1


def _opened(part: Element) -> Iterator[Element]:
    """The left bracket, what is between, and the right one, which has the scripts."""
    left, *_, right = _base(part)
    inside = list(_flat_between(_base(part)))
    size = _size(inside)
    for bracket, form in ((left, "prefix"), (right, "postfix")):
        bracket.attrib |= {"form": form, "minsize": size, "maxsize": size}
    yield left
    yield from inside
    if part.tag == "mrow":
        yield right
        return
    stretched = Element("mrow")  # in which the bracket gets its size, as it does not as the base of scripts
    stretched.append(right)
    scripted = Element(part.tag, part.attrib)
    scripted.extend([stretched, *part[1:]])
    yield scripted


def _flat_between(fenced: Element) -> Iterator[Element]:
    row = Element("mrow")
    row.extend(fenced[1:-1])
    return _flat(row)


def _size(inside: Row) -> str:
    """Of brackets around sums or fractions, and around fractions with sums or fractions in them."""
    tall = [e for part in inside for e in part.iter() if e.tag in ("mfrac", "munderover")]
    if any(e.tag in ("mfrac", "munderover") for t in tall if t.tag == "mfrac" for e in list(t.iter())[1:]):
        return TALLEST
    return TALL if tall else LOW


def _letters(element: Element) -> int:
    return sum(len(text) for text in element.itertext())


def is_fenced(row: Element) -> bool:
    """Whether a row is a pair of tall brackets with what is between them."""
    return bool(len(row) and row[0].tag == "mo" and row[0].text in _FENCES and row[0].get("stretchy") != "false")


def _within(element: Element) -> Element:
    row = Element("mrow")
    element.append(row)
    return row


def _split(row: Sequence[Element], starts: Starts) -> list[Row]:
    parts: list[Row] = [[]]
    depth = 0
    whole = list(row)
    for k, part in enumerate(whole):
        if k and starts(whole, k, depth):
            parts.append([])
        parts[-1].append(part)
        depth += _deeper(part)
    return parts


def _deeper(part: Element) -> int:
    """How many more brackets are open after a part than before it."""
    base = _base(part)
    return _opens(part) - _closes(base) if base.tag == "mo" else 0


def _opens(part: Element) -> bool:
    return _is_sign(part, _OPENING) or (_is_sign(part, "|") and part.get("form") == "prefix")


def _closes(part: Element) -> bool:
    return _is_sign(part, _CLOSING) or (_is_sign(part, "|") and part.get("form") == "postfix")


def _starts_relation(row: Row, k: int, depth: int) -> bool:
    return depth == 0 and _is_sign(row[k], RELATIONS) and not _is_assignment(row[k - 1])


def _starts_term(row: Row, k: int, depth: int) -> bool:
    """Before a plus or a minus, and after the colon of a quantifier."""
    after_colon = _is_sign(row[k - 1], ":") and not _is_assignment(row[k - 1])
    return depth == 0 and (_is_difference(row[k]) or after_colon)


def _is_assignment(part: Element) -> bool:
    """The colon of :=, which no space follows."""
    return _is_sign(part, ":") and part.get("rspace") == "0"


def _starts_piece(row: Row, k: int, depth: int) -> bool:
    before, part = row[k - 1], row[k]
    if _is_sign(before, ","):
        return not _is_among_places(row, k)
    if depth and (_is_difference(part) or _is_sign(part, RELATIONS)):
        return True
    if _is_word(part) and _is_sign(before, "("):  # f(g(x)
        return any(map(_is_word, row[max(0, k - 3) : k - 1]))
    return _ends_factor(before) and _starts_factor(part, before)


def _starts_inner_piece(row: Row, k: int, depth: int) -> bool:
    """Where the row stands in brackets."""
    return _starts_piece(row, k, depth + 1)


def _is_among_places(row: Row, k: int) -> bool:
    """Whether the part k stands in the brackets of (i, j) ↦, which hold no others."""
    closing = next((m for m in range(k, len(row)) if _closes(_base(row[m])) or _opens(row[m])), len(row))
    return _is_sign(row[closing + 1], "↦") if closing + 1 < len(row) else False


def _ends_factor(part: Element) -> bool:
    """Whether a factor is over here: no sign, no operator such as a sum, a limit or d/dt."""
    if part.tag == "mo":
        return _closes(part)
    is_operator = _base(part).tag in ("mo", "munder") and not _closes(_base(part))
    is_derivative = part.tag == "mfrac" and part[0].text == "d"
    return part.tag != "mspace" and not is_operator and not is_derivative


def _starts_factor(part: Element, before: Element) -> bool:
    """A sum, a fraction, a word, or brackets that are no argument of a name."""
    if part.get("minsize") and _opens(part):
        return True
    if _is_sign(part, "("):
        return _base(before).tag not in ("mi", "mover")
    base = _base(part)
    is_word = base.tag == "mi" and len(base.text or "") > 1
    return (
        is_word
        or base.tag in ("mfrac", "munderover")
        or (base.tag == "mrow" and is_fenced(base))
        or _is_sign(base, "∑")
    )


def _is_word(part: Element) -> bool:
    base = _base(part)
    return base.tag == "mi" and len(base.text or "") > 1


def _base(part: Element) -> Element:
    """What the scripts of a part hang on."""
    while part.tag in ("msub", "msup", "msubsup", "mpadded") or (part.tag == "mrow" and len(part) == 1):
        part = part[0]
    return part[0] if part.tag == "munderover" else part


def _is_sign(part: Element, signs: frozenset[str] | str) -> bool:
    return part.tag == "mo" and bool(part.text) and part.text in signs


def _is_difference(part: Element) -> bool:
    """A plus or a minus between two terms; in front of one, math-core gives it no space."""
    return _is_sign(part, SUMS) and part.get("rspace") != "0"


def _infix_at_ends(part: Element) -> Element:
    """A sign that is now first or last in its row is still one between two terms."""
    if part.tag == "mo" and part.get("stretchy") != "false" and part.text not in ("∀", "\u2061"):
        if not (part.get("lspace") == part.get("rspace") == "0" or part.get("minsize")):
            part.set("form", "infix")
    return part
