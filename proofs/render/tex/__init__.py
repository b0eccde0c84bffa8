r"""Theorems as LaTeX fragments to \input, which need amsmath, amssymb and amsthm and no more.

    fragment(theorem, LAYOUTS["column"]).text     one theorem
    claim_fragment(claimed).text                  one claim of the source documents
    companions(fragments, claims, ...)            preamble.tex, references.bib, and all.tex, a document of all of them

A formula that does not fit its line is broken by the widths of TeX's own letters, so no TeX is needed to write one.
Nothing but line breaks, indents and the size of brackets is changed: `reading_back` reads every fragment and compares.
"""

from .claims import claim_fragment
from .companions import companions
from .fragment import Fragment, fragment
from .layouts import LAYOUTS, Layout

__all__ = ["LAYOUTS", "Fragment", "Layout", "claim_fragment", "companions", "fragment"]
