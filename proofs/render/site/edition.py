"""The site in one language: what each of its pages says, as HTML."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from markupsafe import Markup

from ...registry import families
from ..catalogues import Catalogue
from ..chapters import chapters
from ..claim_pages import claim_page
from ..families import AXIOMS, About, about, source_of
from ..library import Library, family_of, own_name, resting_on
from ..names import RenderError
from ..notation_guide import choices
from ..numbering import Numbering
from ..page_formulas import formulas_of
from ..references import citations
from ..theorem import Line, Page
from .figures import Figures
from .graph import graph
from .packages import needed
from .read_back import tokens_of_latex
from .search import search_data
from .typesetting import Typesetter, breakable, coded, prose

WORDY = 150  # letters of a reason, as LaTeX, that need the whole width
LONG = 55  # letters and signs of a term that do so
_SCRIPTS = frozenset("{}_^")
FOLDED = 4  # definitions that are shown at once


class Other(NamedTuple):
    """The same site in another language, and the way there from the folder of this one."""

    language: str
    name: str
    way: str


class Edition:
    """`root` is the way to the folder of the whole site; `pages` are the theorems' pages of the model, by name."""

    def __init__(
        self,
        library: Library,
        catalogue: Catalogue,
        pages: Mapping[str, Page],
        root: str,
        others: Sequence[Other],
        figures: Figures | None,
        numbering: Numbering,
    ):
        self.library, self.catalogue, self.pages, self.figures = library, catalogue, pages, figures
        known = {AXIOMS, *families()}
        self.families = {family: _about(family, family in known, catalogue) for family in library.families}
        self._pairs = {(family_of(cited), family_of(citing)) for cited, citing in library.citations}
        self._shared: dict[str, Any] = {
            "library": library, "catalogue": catalogue, "figures": figures, "families": self.families, "pages": pages,
            "root": root, "others": others, "say": catalogue.text,
            "counted": self._counted, "numbering": numbering, "choices": choices(catalogue, numbering, figures is not None), "link": library.link, "family_of": family_of, "own_name": own_name,
            "breakable": lambda name: Markup(breakable(name)), "relation": _relation, "claim_page": lambda claimed: claim_page(claimed, catalogue),
            "citations": citations, "source_of": source_of, "coded": coded, "prose": prose,
        }  # fmt: skip

    def documents(self) -> dict[str, str]:
        """Every page by its file name. Raises RenderError where one cannot be set, or lacks a formula of the model."""
        found = {"index.html": self._index(), "graph.html": self._graph()}
        if self.library.claims:
            found["claims.html"] = self._rendered("claims.html")
        if self.figures is not None:
            found["figures.html"] = self._rendered("figures.html")
            found["mistakes.html"] = self._rendered("mistakes.html")
        if taken := found.keys() & {f"{family}.html" for family in self.families}:
            raise RenderError(
                f"found a family whose page would be {min(taken)}, which is another page of the site; "
                "give its file another name"
            )
        return found | {f"{family}.html": self._family(family) for family in self.families}

    def _family(self, family: str) -> str:
        theorems = self.library.families[family]
        typesetter = Typesetter(self.library.link)
        text = self._rendered(
            "family.html", family=family, about=self.families[family], theorems=theorems, typesetter=typesetter,
            resting_on=resting_on, is_wide=_is_wide, folded=FOLDED, neighbours=self._neighbours(family),
        )  # fmt: skip
        _require_same(family, typesetter.formulas, [f for t in theorems for f in formulas_of(self.pages[t.name])])
        return text

    def _index(self) -> str:
        counts = {
            "theorems": sum(not t.is_axiom for t in self.library.theorems.values()),
            "families": len(self.families) - (AXIOMS in self.families),
            "steps": sum(len(p.lines) for p in self.pages.values()),
            "refusals": sum(len(p.refusals) for p in self.pages.values()),
            "formulas": sum(len(formulas_of(p)) for p in self.pages.values()),
        }
        data = search_data(self.library, self.pages, {f: a.title for f, a in self.families.items()})
        return self._rendered("index.html", chapters=list(chapters(self.families)), counts=counts, search=data)

    def _graph(self) -> str:
        return self._rendered("graph.html", graph=graph(self.library, {f: a.title for f, a in self.families.items()}))

    def _rendered(self, template: str, **values: Any) -> str:
        text = _environment().get_template(template).render(template=template, **self._shared, **values)
        return str(text)

    def _neighbours(self, family: str) -> tuple[list[str], list[str]]:
        """The families that this one rests on, and those that rest on it."""
        pairs = [pair for pair in self._pairs if pair[0] != pair[1]]
        return sorted(a for a, b in pairs if b == family), sorted(b for a, b in pairs if a == family)

    def _counted(self, what: str, count: int) -> str:
        return self.catalogue.text(f"site.{what}_{'one' if count == 1 else 'many'}", count=f"{count:,}")


def _about(family: str, known: bool, catalogue: Catalogue) -> About:
    """What is told of a family; of one that is not `known`, which is a file of the user's, its name."""
    if known:
        return about(family, catalogue)
    return About(family, family.replace("_", " ").capitalize(), "", None, None, None)


def _relation(sign: str) -> str:
    """The sign of a step as a letter: LaTeX has a macro for some."""
    return "".join(tokens_of_latex(sign))


def _is_wide(line: Line) -> bool:
    """Whether a step and its reason do not stand side by side."""
    letters = [token for token in tokens_of_latex(line.term) if token not in _SCRIPTS]
    return sum(len(part.text) for part in line.reason) > WORDY or len(letters) > LONG


def _require_same(family: str, found: Sequence[str], wanted: Sequence[str]) -> None:
    """Raises RenderError where the page of a family does not have just the formulas of the model."""
    lost, made_up = Counter(wanted) - Counter(found), Counter(found) - Counter(wanted)
    if lost or made_up:
        raise RenderError(
            f"the page of {family} lacks {sorted(lost)[:3]} and has {sorted(made_up)[:3]} besides; "
            "the templates in proofs/render/site/templates must set every formula of the model once"
        )


@functools.cache
def _environment() -> Any:
    """Jinja's, which escapes all that is not marked as HTML and refuses a name that it does not know."""
    jinja2 = needed("jinja2")
    return jinja2.Environment(
        loader=jinja2.PackageLoader(__package__), autoescape=True, undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
