"""What the trusted sources may not contain. They are the files whose docstring begins with TRUSTED."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import proofs

ROOT = Path(proofs.__file__).parent
SOURCES = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in sorted(ROOT.rglob("*.py"))}
TRUSTED = [name for name, text in SOURCES.items() if text.startswith('"""TRUSTED')]
FORBIDDEN = {"subs", "xreplace", "simplify", "nsimplify", "doit", "equals", "evalf", "sympify", "eval", "exec"}


_tree = cache(ast.parse)


def _speaking_of(*words: str) -> list[str]:
    """The files that have one of these words; the others need not be parsed."""
    return [name for name, text in SOURCES.items() if any(word in text for word in words)]


def _nodes(name: str) -> Iterator[ast.AST]:
    return ast.walk(_tree(SOURCES[name]))


def _called(node: ast.AST) -> str | None:
    if not isinstance(node, ast.Call):
        return None
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", None)


def test_the_trusted_files_are_these() -> None:
    base = {"terms.py", "binders.py", "definitions.py", "well_typed.py", "chain.py", "kernel.py", "axioms.py"}
    rules = {name for name in SOURCES if name.startswith("rules/")}
    assert base | rules == set(TRUSTED)


@pytest.mark.parametrize("name", TRUSTED)
def test_no_assert_statement(name: str) -> None:
    """`python -O` would delete it."""
    assert not [n.lineno for n in _nodes(name) if isinstance(n, ast.Assert)]


@pytest.mark.parametrize("name", TRUSTED)
def test_no_float(name: str) -> None:
    assert not [n.lineno for n in _nodes(name) if isinstance(n, ast.Constant) and isinstance(n.value, float | complex)]


@pytest.mark.parametrize("name", TRUSTED)
def test_none_of_the_unsound_calls(name: str) -> None:
    calls = {_called(n): n.lineno for n in _nodes(name) if _called(n)}  # type: ignore[attr-defined]
    assert not FORBIDDEN & set(calls)


@pytest.mark.parametrize("name", TRUSTED)
def test_replace_is_that_of_dataclasses(name: str) -> None:
    """SymPy's replace captures; `replace(context, ...)` of a dataclass does not, and is never a method."""
    assert not [n.lineno for n in _nodes(name) if isinstance(n, ast.Attribute) and n.attr == "replace"]


@pytest.mark.parametrize("name", TRUSTED)
def test_imports_are_the_standard_library_and_each_other(name: str) -> None:
    outside = [
        alias.name
        for n in _nodes(name)
        if isinstance(n, ast.Import) or (isinstance(n, ast.ImportFrom) and n.level == 0)
        for alias in ([ast.alias(n.module)] if isinstance(n, ast.ImportFrom) and n.module else n.names)
        if alias.name.partition(".")[0] not in sys.stdlib_module_names
    ]
    assert outside == []


@pytest.mark.parametrize("name", [n for n in TRUSTED if n != "axioms.py"])
def test_what_is_trusted_leans_on_what_is_trusted(name: str) -> None:
    """Apart from data (scripts) and the second opinion (evaluate, sampler), which can refuse a theorem and never make one."""
    package = Path(name).parent.as_posix()
    for node in _nodes(name):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = "" if node.level == 2 or package == "." else f"{package}/"
            module = (node.module or "").replace(".", "/")
            found = f"{base}{module}.py" if module else f"{base}__init__.py"
            found = found if found in SOURCES else found.replace(".py", "/__init__.py")
            parts = [f"{base}{a.name}.py" for a in node.names if not module]
            for needed in parts or [found]:
                assert needed in {*TRUSTED, "scripts.py", "evaluate.py", "sampler.py"}, needed


def test_only_axioms_cites() -> None:
    assert {name for name in _speaking_of("cite") for n in _nodes(name) if _called(n) == "cite"} == {"axioms.py"}


def test_only_the_kernel_holds_the_seal() -> None:
    speaking = _speaking_of("_SEAL", "_proved")
    used = {
        name for name in speaking for n in _nodes(name) if "_SEAL" in (getattr(n, "id", None), getattr(n, "attr", None))
    }
    assert used == {"kernel.py"}
    private = [a.name for name in speaking for n in _nodes(name) if isinstance(n, ast.ImportFrom) for a in n.names]
    assert "_SEAL" not in private and "_proved" not in private


@pytest.mark.parametrize(
    "planted",
    ["assert x", "x = 0.5", "y.subs(a, b)", "import sympy", "t.replace(a, b)", "from ..theorems import softmax"],
)
def test_these_tests_can_fail(planted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SOURCES, "rules/normal.py", planted)
    checks = [
        test_no_assert_statement,
        test_no_float,
        test_none_of_the_unsound_calls,
        test_replace_is_that_of_dataclasses,
        test_imports_are_the_standard_library_and_each_other,
        test_what_is_trusted_leans_on_what_is_trusted,
    ]
    failed = 0
    for check in checks:
        try:
            check("rules/normal.py")
        except AssertionError:
            failed += 1
    assert failed >= 1
