"""The plain text of sums, products and their factors."""

from __future__ import annotations

from collections.abc import Sequence

from .. import conventions
from ..levels import BASE, FACTOR, PREFIX, TERM, level
from ..problems import Complaint
from ..stream import require_plain
from ..tree import Bracket, Call, Derivative, Fraction, Modulo, Node, Number, Power, Product, Ratio, Sum, Symbol, Total
from .atoms import Atoms
from .tokens import SUPERSCRIPTS
from .words import is_word, name_of

_STARTS = frozenset(["(", "[", "{", "|", "⌊", "√", "Σ_", "𝔼_", "d/d"])
_DIGITS = str.maketrans(SUPERSCRIPTS, "0123456789")


class Terms(Atoms):
    def whole(self) -> Node:
        found = self.sum()
        conventions.require_level(found, 0)
        return found

    def sum(self) -> Node:
        at = self.at
        parts = [(self._minus(), self.product())]
        if self.sees("mod") and not parts[0][0]:
            conventions.require_level(parts[0][1], FACTOR)
            self.need("mod")
            return Modulo(at, parts[0][1], self.tight())
        while self.sees("+") or self.sees("−"):
            sign = self.spaced().text
            parts.append((sign == "−", self.product()))
        return conventions.sum_of(at, parts)

    def _minus(self) -> bool:
        found = self.takes("−")
        if found and self.peek().spaced:
            self.fail("no space behind a minus in front")
        return found

    def tight(self) -> Node:
        found = self.factor()
        conventions.require_level(found, FACTOR)
        return found

    # --- products

    def product(self) -> Node:
        at, above, below = self.at, [self._first()], []  # type: int, list[Node], list[Node]
        while self.sees("·") or (self.peek().spaced and self._starts_a_factor()):
            dot = self.takes("·")
            if dot != (self.peek().kind == "digits" or isinstance(above[-1], Ratio)):
                self.fail("no · here" if dot else "·")
            above.append(self.factor())
        while self.sees("/"):
            self.spaced()
            below.append(self.factor())
        return _product(at, above, below)

    def _first(self) -> Node:
        """A factor, or a number such as 1/2."""
        found = self.factor()
        if not isinstance(found, Number) or not self.hangs("/"):
            return found
        self.need("/")
        if self.peek().kind != "digits" or self.peek().spaced:
            self.fail("a whole number")
        return Ratio(found.at, found.value, int(self.take().text), slashed=True)

    def _starts_a_factor(self) -> bool:
        token = self.peek()
        return token.text in _STARTS if token.kind == "sign" else token.kind in ("word", "digits")

    # --- factors

    def factor(self) -> Node:
        at = self.at
        if self.takes("Σ_"):
            place = self.counted()
            if place.sign == "in":
                raise Complaint("a sum runs over the indices below a size", place.at)
            self.need_space()
            body = self.under([place.name], self.product)
            conventions.require_level(body, TERM)
            return Total(at, place, body)
        if self.takes("d/d"):
            return self._derivative(at)
        if self.takes("√"):
            return Call(at, "sqrt", (self._radicand(),))
        return self._with_exponent(at, self.base())

    def _radicand(self) -> Node:
        at = self.at
        if not self.takes("("):
            found = self.base()
            if not is_word(self.text[at : self._end()]):
                raise Complaint("needed brackets around more than a word", at)
            return found
        start = self.at
        found = self.until(")", self.whole)
        if level(found) == BASE:
            self.need_more_than_a_word(start, at)
        return found

    def _end(self) -> int:
        """Where the last token ends."""
        token = self._tokens[self._next - 1]
        return token.at + len(token.text)

    def _with_exponent(self, at: int, base: Node) -> Node:
        if self.peek().kind != "superscript" and not self.sees("^"):
            return base
        inside = base.inside if isinstance(base, Bracket) else base
        needed = isinstance(inside, Symbol) and self.text[self._end() - 1 - (inside is not base)] == "'"
        if needed and inside is base:
            raise Complaint("a prime is a superscript too: this needs brackets here", at)
        if not needed:
            conventions.require_level(base, BASE)
        return Power(at, base, self._exponent())

    def _exponent(self) -> Node:
        token = self.take()
        if token.kind == "superscript":
            digits = token.text.removeprefix("⁻").translate(_DIGITS)
            require_plain(digits, token.at)
            number = Number(token.at, int(digits))
            return Sum(token.at, ((True, number),)) if token.text.startswith("⁻") else number
        at = self.at
        if not self.takes("("):
            if not self.peek().text.isalpha():
                self.fail("a name of letters, or brackets")
            return self._alone()
        start = self.at
        found = self.until(")", self.whole)
        if self.text[start : self._end() - 1].isalpha() or _is_whole(found):
            raise Complaint("this exponent needs no brackets", at)
        return found

    def _alone(self) -> Node:
        at, word = self.at, self.word()
        return Symbol(at, self.symbols.get(word, name_of(word)))

    def _derivative(self, at: int) -> Node:
        name = self.bare_name()
        self.need_space()
        self.need("[")
        body, point = self.under([name], lambda: self.until("]", self.whole)), None
        if self.hangs("_"):
            self.need("_", "(")
            if self.bare_name() != name:
                raise Complaint(f"needed {name} at a point", self.at)
            self.need("=")
            point = self.until(")", self.whole)
        return Derivative(at, name, body, point)


def _is_whole(node: Node) -> bool:
    """Whether it is a whole number, or less a whole number."""
    match node:
        case Number() | Sum(parts=((True, Number()),)):
            return True
    return False


def _product(at: int, above: Sequence[Node], below: Sequence[Node]) -> Node:
    """Factors, and what they are divided by. A first factor such as 1/2 needs no brackets; a 1 is never divided."""
    if below and isinstance(above[0], Number) and above[0].value == 1 and len(above) == 1:
        if len(below) > 1:
            raise Complaint("needed brackets around 1 / ... here", at)
        conventions.require_level(below[0], PREFIX)
        return Fraction(at, None, below[0], slashed=True)
    if not below and len(above) == 1:
        return above[0]
    for k, factor in enumerate(above):
        if k or not _is_ratio(factor, len(above)):
            conventions.require_level(factor, PREFIX if not below and k == len(above) - 1 else FACTOR)
    if len(above) > 1 and _is_inverse(above[-1]):
        all_inverse = isinstance(above[0], Number) and above[0].value == 1 and all(map(_is_inverse, above[1:]))
        if below or not all_inverse:
            raise Complaint("this factor belongs behind a slash", above[-1].at)
    for k, factor in enumerate(below):
        conventions.require_level(factor, PREFIX if k == len(below) - 1 else FACTOR)
    return Product(at, (*above, *(Fraction(factor.at, None, factor) for factor in below)))


def _is_ratio(first: Node, count: int) -> bool:
    """Whether a first factor of several is a fraction. Raises Complaint where it stands in brackets."""
    if isinstance(first, Bracket) and isinstance(first.inside, Ratio) and count > 1:
        raise Complaint("nothing needs these brackets", first.at)
    return isinstance(first, Ratio) and count > 1


def _is_inverse(node: Node) -> bool:
    return isinstance(node, Bracket) and isinstance(node.inside, Fraction) and node.inside.above is None
