"""The prose of a page in several languages; formulas are the same in all of them.

Plain TOML, read by the standard library: a translator needs an editor and nothing else, nothing has to be compiled, and no
package is needed to read it. Messages have names of their own, since two that are alike in English may differ elsewhere; the
sentences of theorems, families and claims are written where these are, and a translation stands beside the sentence that it
translates, so that it is refused once that sentence changes.

To add a message: put it into the file of every language, in the same place, and say it with catalogue.said("file.name",
place=...). Places stand in the same order in every language, because the formulas of a page do.
"""

from .files import languages
from .language import ENGLISH, Catalogue, in_language
from .templates import CatalogueError

__all__ = ["ENGLISH", "Catalogue", "CatalogueError", "in_language", "languages"]
