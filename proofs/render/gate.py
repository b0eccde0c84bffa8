"""Nothing is emitted unless it is what was proved: every formula of a page is read back and compared with the theorem.

The text is read by `inverse`, which knows nothing of the printers, with the symbols that the page itself declares. What comes
out has to be the proved term exactly, up to the names of bound variables: the printer keeps the order of factors and summands,
so nothing has to be rearranged. What a declaration says in words only, such as "one to one", is the kind of its Declaration.
"""

from __future__ import annotations

from typing import NamedTuple

from ..kernel import Theorem
from .catalogues import ENGLISH, Catalogue
from .latex import Latex
from .page_items import GateError, items
from .structure import Printer
from .theorem import Page, page


class Gated(NamedTuple):
    """A page of which every formula was read back, and how many there are."""

    page: Page
    formulas: int


def gated_page(theorem: Theorem, printer: type[Printer], catalogue: Catalogue = ENGLISH) -> Gated:
    """The page of a theorem, checked. Raises GateError where it says something else, RenderError where it has no words."""
    found = page(theorem, printer, catalogue)
    return Gated(found, checked(found, theorem, printer))


def checked(found: Page, theorem: Theorem, printer: type[Printer] = Latex) -> int:
    """The number of formulas of a page, each read back and equal to what was proved. Raises GateError where one is not."""
    count = 0
    for item in items(found, theorem, printer):
        count += 1
        said = item.read(item.text)
        if said != item.needed:
            raise GateError(f"{item.where}: {item.text} says {said!r}, and what was proved is {item.needed!r}")
    return count


__all__ = ["GateError", "Gated", "checked", "gated_page"]
