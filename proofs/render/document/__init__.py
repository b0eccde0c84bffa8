"""All theorems as one document: PDF by the package typst, which pip installs with everything that it needs.

write_pdf(theorems, Path("proofs.pdf"), in_language("ko"), figures=Path("figures"))
"""

from .book import Source, source
from .compiling import write_pdf

__all__ = ["Source", "source", "write_pdf"]
