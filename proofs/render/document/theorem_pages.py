"""One theorem: what it holds for, what it says, its steps, its near misses, and what it rests on."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from ...kernel import Theorem
from ..catalogues import Catalogue
from ..declared import besides
from ..library import family_of, resting_on
from ..parts import Declaration, Formula, Part
from ..theorem import Line, Page, Refusal
from .markup import Setter, array, call, fit_beside, string

Definition = tuple[Part, ...]


class TheoremPages:
    """Sets theorems in the words of a catalogue."""

    def __init__(self, catalogue: Catalogue, setter: Setter, mistakes: Mapping[str, Sequence[str]]):
        """`mistakes` are the names of those that break a theorem, by its name."""
        self.catalogue, self._set, self._mistakes = catalogue, setter, mistakes

    def theorem(self, theorem: Theorem, page: Page, number: str, shared: Collection[Definition]) -> Iterator[str]:
        """The calls that set a theorem; definitions in `shared` stand elsewhere, and are named only."""
        kind = None if theorem.is_general else string(self._said("instance"))
        yield call("theorem", string(number), string(page.name), self._set.words(page.says), kind)
        if page.symbols:
            yield call("for-all", string(self._said("for_all")), self._symbols(page.symbols))
        yield from self._where(page, shared)
        if page.hypotheses:
            yield call("hypotheses", string(self._said("if")), *map(self._set.display, page.hypotheses))
        then = string(self._said("then")) if page.hypotheses else None
        yield call("statement", then, self._set.display(page.conclusion))
        yield from self._proof(page)
        if theorem.source is not None:
            yield call("remark", string(self._document("no_steps")), self._set.words(theorem.source))
        yield from self._rests(theorem)
        if broken_by := self._mistakes.get(theorem.name):
            count = self.catalogue.text("site.breaks", count=f"{len(broken_by)}")
            yield call("named", string(count), array(map(string, broken_by)))
        if page.refusals:
            titles = string(self._document("near_misses")), string(self._said("if"))
            yield call("near-misses", *titles, *map(self._refusal, page.refusals))

    def _said(self, key: str) -> str:
        return self.catalogue.text(f"headings.{key}")

    def _document(self, key: str, **values: str) -> str:
        return self.catalogue.text(f"document.{key}", **values)

    def _symbols(self, symbols: Sequence[Declaration]) -> str:
        return self._set.line(self.catalogue.joined("lists.semicolon", [s.parts for s in symbols]))

    def _where(self, page: Page, shared: Collection[Definition]) -> Iterator[str]:
        elsewhere = [d for d in page.definitions if d in shared]
        if elsewhere:
            names = ", ".join(sorted({defined_name(d) for d in elsewhere}, key=str.lower))
            family = string(family_of(page.name))
            yield call("defined-above", string(self._document("defined_above")), family, string(names))
        own = [d for d in page.definitions if d not in shared]
        if own:
            yield call("definitions", string(self._said("where")), *map(self.definition, own))

    def definition(self, definition: Definition) -> str:
        """The equation, which may be broken like a formula, and what stands behind it."""
        equation, rest = definition[0], definition[1:]
        if not isinstance(equation, Formula):
            return array(["none", self._set.line(definition)])
        return array([self._set.display(equation.text), self._set.line(rest) if rest else "none"])

    def _proof(self, page: Page) -> Iterator[str]:
        if page.start is None:
            return
        late = self._set.line(besides(page.met, self.catalogue)) if page.met else None
        yield call("proof", string(self._said("proof")), late, self._set.display(page.start))
        for number, line in enumerate(page.lines, 1):
            yield self._step(number, line)

    def _step(self, number: int, line: Line) -> str:
        sign = f"${line.relation}$"
        given = (str(number), sign, self._set.display(line.term), self._set.line(line.reason))
        return call("step", *given, side_by_side="true" if fit_beside(line.term, line.reason) else None)

    def _refusal(self, refusal: Refusal) -> str:
        given = array(map(self._set.display, refusal.hypotheses)) if refusal.hypotheses else None
        late = [self._set.words(self._said("no_hypothesis"))] if refusal.hypotheses == () else []
        late += [self._set.line(besides(refusal.symbols, self.catalogue))] if refusal.symbols else []
        late += map(self._set.line, refusal.definitions)
        left_over = string(self._document("left_over", message=refusal.message))
        conclusion, residue = self._set.display(refusal.conclusion), self._set.display(refusal.residue)
        return array([conclusion, given or "none", array(late), left_over, residue])

    def _rests(self, theorem: Theorem) -> Iterator[str]:
        if not theorem.uses:
            return
        found = resting_on(theorem)
        axioms = array(self._set.name(t.name) for t in found if t.is_axiom and t not in theorem.uses)
        whole = self._document("rests_in_all", count=f"{len(found)}")
        cited = array(self._set.name(t.name) for t in theorem.uses)
        yield call("rests", string(self._document("cites")), cited, string(whole), string(self._said("axioms")), axioms)


def defined_name(definition: Definition) -> str:
    """The name that a definition defines, as plain words."""
    head = definition[0].text.partition("(")[0].partition("_(")[0].partition(" ")[0]
    return head.replace('"', "").removesuffix("_")
