"""`trust`: the rules, axioms and earlier theorems that a theorem rests on, and the code that has to be right."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from ..kernel import Theorem
from ..rules import LIMIT_RULES, RULES
from .lines import wrapped
from .outcomes import earlier_of
from .trusted import trusted_modules


def resting(theorem: Theorem) -> dict[str, Any]:
    earlier = earlier_of(theorem)
    return {
        "name": theorem.name,
        "rules": [{"name": r, "says": _says(r)} for r in rules_of([theorem, *earlier])],
        "axioms": [{"name": t.name, "says": t.says, "source": t.source} for t in earlier if t.is_axiom],
        "theorems": [{"name": t.name, "says": t.says} for t in earlier if not t.is_axiom],
        "trusted": [m._asdict() for m in trusted_modules()],
    }


def rules_of(theorems: Iterable[Theorem]) -> list[str]:
    return list(dict.fromkeys(rule for t in theorems for rule in t.rules))


def _says(rule: str) -> str:
    return RULES[rule].says if rule in RULES else LIMIT_RULES[rule]


def show_trust(theorem: Theorem, console: Console) -> None:
    found = resting(theorem)
    tree = Tree(Text(f"{theorem.name} rests on", "bold"))
    rules = tree.add("rules")
    for rule in found["rules"]:
        rules.add(Text(f"{rule['name']}: {rule['says']}"))
    axioms = tree.add("axioms" if found["axioms"] else "axioms: none")
    for axiom in found["axioms"]:
        axioms.add(Text(f"{axiom['name']}: {axiom['says']}\n{axiom['source']}"))
    cited = tree.add("earlier theorems" if theorem.uses else "earlier theorems: none")
    _grow(cited, theorem, set())
    console.print(tree)
    console.print()
    modules = found["trusted"]
    console.print(Text(f"Trusted in every proof, {sum(m['lines'] for m in modules)} lines in all", "bold"))
    for module in modules:
        wrapped(f"{module['path']} ({module['lines']}): {module['says']}", console, "  ", "      ")


def _grow(branch: Tree, theorem: Theorem, seen: set[Theorem]) -> None:
    """What it cites, and what that cites; a theorem that was met before is not unfolded again."""
    for cited in theorem.uses:
        if cited.is_axiom:
            continue
        again = cited in seen and bool(cited.uses)
        twig = branch.add(Text(cited.name + (", see above" if again else "")))
        if cited not in seen:
            seen.add(cited)
            _grow(twig, cited, seen)
