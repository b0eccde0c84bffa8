"""What was proved, as a person reads it. Reads terms and theorems; never rewrites them."""

from .latex import Latex
from .names import Notation, RenderError
from .typst import Typst
from .unicode import Unicode

__all__ = ["Latex", "Notation", "RenderError", "Typst", "Unicode"]
