"""`trust`: the rules, axioms and earlier theorems that a theorem rests on, and the code that has to be right."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from ..kernel import Theorem
from ..render.catalogues import ENGLISH, Catalogue
from ..render.families import source_of
from ..trusted import trusted_modules
from .lines import wrapped
from .outcomes import earlier_of


def resting(theorem: Theorem, catalogue: Catalogue = ENGLISH) -> dict[str, Any]:
    earlier = earlier_of(theorem)
    said = {t: {"name": t.name, "says": catalogue.theorem(t.name, t.says)} for t in earlier}
    return {
        "name": theorem.name,
        "rules": [{"name": r, "says": catalogue.text(f"rules.{r}")} for r in rules_of([theorem, *earlier])],
        "axioms": [said[t] | {"source": source_of(t, catalogue)} for t in earlier if t.is_axiom],
        "theorems": [said[t] for t in earlier if not t.is_axiom],
        "trusted": [m._asdict() for m in trusted_modules()],
    }


def rules_of(theorems: Iterable[Theorem]) -> list[str]:
    return list(dict.fromkeys(rule for t in theorems for rule in t.rules))


def show_trust(theorem: Theorem, console: Console, catalogue: Catalogue = ENGLISH) -> None:
    found, said = resting(theorem, catalogue), catalogue.text

    def branch(key: str, entries: Collection[Any]) -> Tree:
        title = said(f"headings.{key}")
        return tree.add(Text(title if entries else f"{title}: {said('headings.none')}"))

    tree = Tree(Text(said("headings.theorem_rests_on", name=theorem.name), "bold"))
    rules = branch("rules", found["rules"])
    for rule in found["rules"]:
        rules.add(Text(f"{rule['name']}: {rule['says']}"))
    axioms = branch("axioms", found["axioms"])
    for axiom in found["axioms"]:
        axioms.add(Text(f"{axiom['name']}: {axiom['says']}\n{axiom['source']}"))
    _grow(branch("earlier_theorems", theorem.uses), theorem, set(), catalogue)
    console.print(tree)
    console.print()
    modules = found["trusted"]
    console.print(Text(said("headings.trusted", lines=str(sum(m["lines"] for m in modules))), "bold"))
    for module in modules:
        wrapped(f"{module['path']} ({module['lines']}): {module['says']}", console, "  ", "      ")


def _grow(branch: Tree, theorem: Theorem, seen: set[Theorem], catalogue: Catalogue) -> None:
    """What it cites, and what that cites; a theorem that was met before is not unfolded again."""
    for cited in theorem.uses:
        if cited.is_axiom:
            continue
        again = cited in seen and bool(cited.uses)
        twig = branch.add(Text(catalogue.text("headings.see_above", name=cited.name) if again else cited.name))
        if cited not in seen:
            seen.add(cited)
            _grow(twig, cited, seen, catalogue)
