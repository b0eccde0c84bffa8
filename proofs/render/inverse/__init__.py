"""What is printed, read back: written apart from the printers, and importing none of them.

A front end, such as `latex`, reads a text into a raw tree (`tree`) without knowing any symbol. With a table of symbols, which
the page declares (`declarations`, `definitions`), the tree becomes a term (`formulas`): ranges that the page does not print are
found by what the indices are used for (`sizes`). A text that is not exactly what a printer writes is an UnreadableError.

A front end is a function of a text and the form that it has (`forms.FORMS`); it gives a raw tree, or raises UnreadableError. That
of plain text has to be told the names as well (`front_ends`): z_q is a symbol there, or z at q.
"""

from .formulas import fragment
from .problems import UnreadableError
from .symbol_table import DeclarationError, Table

__all__ = ["DeclarationError", "Table", "UnreadableError", "fragment"]
