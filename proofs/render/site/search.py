"""What the search of the index looks through: names, titles and families, as JSON inside the page."""

from __future__ import annotations

import json
from collections.abc import Mapping

from markupsafe import Markup

from ..library import Library, family_of
from ..theorem import Page


def search_data(library: Library, pages: Mapping[str, Page], titles: Mapping[str, str]) -> Markup:
    """A list of [name, what it says, title of its family, English where this is another, link], safe in a script."""
    rows = []
    for name, theorem in library.theorems.items():
        english = "" if pages[name].says == theorem.says else theorem.says
        rows.append([name, pages[name].says, titles[family_of(name)], english, library.link(name)])
    text = json.dumps(rows, ensure_ascii=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace("&", "\\u0026"))
