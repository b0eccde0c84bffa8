r"""Theorems as Markdown that GitHub and GitLab set: a file for each family, claims.md, and README.md, which lists all.

Formulas stand in $`...`$ and in blocks marked math, where Markdown leaves backslashes and underscores alone. GitHub
allows no \operatorname, so a name is \mathop{\text{softmax}}\nolimits. The text of a page is read back and compared.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from ..claims import Claimed
from ..kernel import Theorem
from .catalogues import ENGLISH, Catalogue
from .catalogues.templates import Said
from .claim_pages import ClaimPage, claim_page
from .declared import besides
from .families import about, source_of
from .gate import GateError, gated_page
from .lettering import lettered
from .notation_guide import choices
from .numbering import ZERO_BASED, Numbering
from .parts import Declaration, Formula, Part, Words
from .references import Reference, citations
from .tex.fitting import lines, stacked
from .tex.layouts import LAYOUTS
from .tex.reading_back import expected
from .tex.unlaid import tokens_of, unlaid
from .theorem import Page, Refusal

INDEX, CLAIMS = "README.md", "claims.md"
_WIDTH = 430.0  # points of a line on GitHub
_NAME, _NAMED = re.compile(r"\\operatorname\{([^{}]*)\}"), re.compile(r"\\mathop\{\\text\{([^{}]*)\}\}\\nolimits")
_FORMULA = re.compile(r"\$`([^`]+)`\$|^```math\n([^`]+)\n```$", re.MULTILINE)
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$])")


class Section(NamedTuple):
    """A theorem in Markdown, and how many of its formulas were parsed back and compared with the proof."""

    name: str
    says: str
    text: str
    formulas: int


def section(
    theorem: Theorem,
    others: Collection[str] = (),
    catalogue: Catalogue = ENGLISH,
    numbering: Numbering = ZERO_BASED,
) -> Section:
    """A theorem under its heading, with links to those of `others` that it cites.

    Raises GateError where a formula is not what was proved or is lost, RenderError where there are no words.
    """
    gated = gated_page(theorem, numbering.latex, catalogue)
    text = "\n\n".join(_Section(theorem, others, catalogue).paragraphs(gated.page)) + "\n"
    needed = [unlaid(tokens_of(formula)) for formula in expected(gated.page, LAYOUTS["column"])]
    found = [unlaid(tokens_of(_plain(inline or block))) for inline, block in _FORMULA.findall(text)]
    if found != needed:
        lost = next(
            (k for k, (a, b) in enumerate(zip(found, needed, strict=False)) if a != b), min(map(len, (found, needed)))
        )
        raise GateError(f"{theorem.name}, formula {lost + 1} in Markdown, is another one or is missing")
    return Section(theorem.name, gated.page.says, text, gated.formulas)


def family_file(
    family: str, sections: Sequence[Section], catalogue: Catalogue = ENGLISH, numbering: Numbering = ZERO_BASED
) -> str:
    """The file of a family, under its title."""
    found = about(family, catalogue)
    head = [
        f"# {_words(found.title)}",
        _words(found.introduction),
        *(_words(t) for t in (found.scope, found.hypothesis) if t),
        _notation(catalogue, numbering),
    ]
    tail = [_linked(found.reference)] if found.reference else []
    return "\n\n".join([*head, *(s.text.rstrip() for s in sections), *tail]) + "\n"


def claims_file(claims: Sequence[Claimed], others: Collection[str] = (), catalogue: Catalogue = ENGLISH) -> str:
    """The file of the claims, with links to those of `others` that decide one."""
    found = [f"# {catalogue.text('claims.title')}", catalogue.text("claims.lead")]
    for page in (claim_page(claimed, catalogue) for claimed in claims):
        found += [f"## {page.id}", f"**{page.verdict}.** {_sentence(catalogue.text('claims.says', claim=page.claim))}."]
        told = {"holds": _sentence(page.sentence), "counterexample": _sentence(page.counterexample or "")}
        told["decided_by"] = ", ".join(_name(name, others) for name in page.theorems)
        found += [f"*{catalogue.text(f'claims.{key}')}:* {text}" for key, text in told.items() if text]
    return "\n\n".join(found) + "\n"


def _notation(catalogue: Catalogue, numbering: Numbering) -> str:
    told = " ".join(_sentence(told) for _, told in choices(catalogue, numbering))
    return f"*{catalogue.text('notation.title')}:* {told}"


def index(
    families: Mapping[str, Sequence[Section]],
    claims: Sequence[Claimed] = (),
    catalogue: Catalogue = ENGLISH,
    numbering: Numbering = ZERO_BASED,
) -> str:
    """The list of all theorems, and of the claims."""
    said = catalogue.text
    every = [s for sections in families.values() for s in sections]
    counts = {"theorems": len(every), "families": len(families), "formulas": sum(s.formulas for s in every)}
    found = [f"# {said('markdown.title')}", said("markdown.introduction")]
    found.append(said("markdown.counts", **{name: str(count) for name, count in counts.items()}))
    found.append(_notation(catalogue, numbering))
    for family, sections in families.items():
        found.append(f"## [{_words(about(family, catalogue).title)}]({family}.md)")
        found.append("\n".join(f"- {_link(s.name)}: {_sentence(s.says)}" for s in sections))
    if claims:
        found.append(f"## [{said('claims.title')}]({CLAIMS})")
        found.append("\n".join(_entry(claim_page(claimed, catalogue)) for claimed in claims))
    return "\n\n".join(found) + "\n"


class _Section:
    def __init__(self, theorem: Theorem, others: Collection[str], catalogue: Catalogue):
        self.theorem, self.others, self.catalogue = theorem, others, catalogue
        self.cited = {t.name for t in theorem.uses}

    def paragraphs(self, found: Page) -> Iterator[str]:
        catalogue = self.catalogue
        yield f"## {found.name.rpartition('.')[2]}"
        yield f"*{_sentence(found.says)}*"
        if found.symbols:
            symbols = catalogue.joined("lists.semicolon", [s.parts for s in found.symbols])
            yield self._said(f"for_all{'_where' if found.definitions else ''}", symbols=symbols)
        elif found.definitions:
            yield self._said("where")
        yield from self._definitions(found.definitions)
        if found.hypotheses:
            yield self._said("given")
            yield from map(_block, found.hypotheses)
        yield self._said("then" if found.hypotheses else "holds")
        yield _block(found.conclusion)
        yield from self._proof(found)
        for refusal in found.refusals:
            yield from self._refusal(refusal)
        if self.theorem.is_axiom:
            yield f"{self._said('cited')} {_linked(source_of(self.theorem, catalogue))}"

    def _proof(self, found: Page) -> Iterator[str]:
        if found.start is None:
            return
        yield f"**{self.catalogue.text('headings.proof')}.** {self._besides(found.met)}".rstrip()
        yield _block(found.start)
        for k, line in enumerate(found.lines, 1):
            yield f"**{k}.** {self._running(line.reason)}"
            yield _block(f"{line.relation} {line.term}", f"{line.relation} ")
        if self.theorem.uses:
            yield f"{self.catalogue.text('markdown.uses')}: {', '.join(map(self._named, sorted(self.cited)))}."

    def _refusal(self, refusal: Refusal) -> Iterator[str]:
        yield f"**{self._said('false')}** {self._besides(refusal.symbols)}".rstrip()
        if refusal.definitions:
            yield self._said("refused_where")
        yield from self._definitions(refusal.definitions)
        given = self.catalogue.joined("lists.and", map(Formula, refusal.hypotheses or ()))
        if refusal.hypotheses is None:
            yield self._said("refused")
        else:
            yield self._said("refused_if", hypotheses=given) if given else self._said("refused_without")
        yield _block(refusal.conclusion)
        yield f"{_words(refusal.message)}:"
        yield _block(refusal.residue)

    def _besides(self, symbols: Sequence[Declaration]) -> str:
        said = self._running(besides(symbols, self.catalogue))
        return f"{said[:1].upper()}{said[1:]}." if said else ""

    def _definitions(self, found: Sequence[Sequence[Part]]) -> Iterator[str]:
        for equation, *conditions in found:
            yield _block(equation.text)
            if conditions:
                yield self._running(conditions).lstrip(", ")

    def _said(self, key: str, **values: Said) -> str:
        return self._running(self.catalogue.said(f"fragment.{key}", **values))

    def _running(self, parts: Sequence[Part]) -> str:
        """A line with formulas; Markdown sees none where a letter of a word stands beside it."""
        text = ""
        for part in parts:
            if isinstance(part, Words):
                said = self._named(part.text) if part.text in self.cited else _words(part.text)
                text += f" {said}" if text.endswith("`$") and said[:1].isalnum() else said
            else:
                text += f" $`{_allowed(part.text)}`$" if text[-1:].isalnum() else f"$`{_allowed(part.text)}`$"
        return text

    def _named(self, name: str) -> str:
        return _name(name, self.others)


def _block(formula: str, sign: str = "") -> str:
    """A formula on lines of its own; `sign` is what it starts with that is no part of it."""
    broken = stacked(lines(formula.removeprefix(sign), _WIDTH), "")
    if r"\mbox" in broken or "subarray" in broken:  # of which GitHub allows the one, and not every reader has the other
        broken = formula.removeprefix(sign)
    return f"```math\n{_allowed(sign + broken)}\n```"


def _allowed(formula: str) -> str:
    """A formula in what GitHub allows."""
    return _NAME.sub(r"\\mathop{\\text{\1}}\\nolimits", formula).replace(r"\!", "")


def _plain(formula: str) -> str:
    return _NAMED.sub(r"\\operatorname{\1}", formula)


def _words(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text)


def _entry(page: ClaimPage) -> str:
    return f"- [{page.id}]({CLAIMS}#{page.id.lower()}), {page.verdict}: {_sentence(page.claim)}"


def _sentence(text: str) -> str:
    """A sentence on one line, with the indices and exponents that it means."""
    return lettered(" ".join(text.split()), _words, "<sub>{}</sub>", "<sup>{}</sup>")


def _name(name: str, others: Collection[str]) -> str:
    return _link(name) if name in others else f"`{name}`"


def _link(name: str) -> str:
    family, _, own = name.rpartition(".")
    return f"[{_words(name)}]({family}.md#{own})"


def _linked(said: str) -> str:
    """A sentence that names papers, with links to those that can be read."""
    return "".join(_paper(piece) if isinstance(piece, Reference) else _words(piece) for piece in citations(said))


def _paper(work: Reference) -> str:
    name = _words(work.cited_as[0])
    return name if work.url is None else f"[{name}]({work.url})"
