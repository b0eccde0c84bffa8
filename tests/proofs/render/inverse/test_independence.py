"""The reader shares nothing with the printers, so a fault of one of them is no fault of both."""

import ast
from pathlib import Path

import pytest

import proofs.render.inverse

FOLDER = Path(proofs.render.inverse.__file__).parent
TRUSTED = {"terms", "binders", "definitions", "well_typed"}


def imported(path):
    """What a module imports of this project: names of modules under proofs/, and whether they are its own package's."""
    depth = len(path.relative_to(FOLDER).parts)
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level > depth:
            yield "." * (node.level - depth) + (node.module or "")
        elif isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").startswith("proofs"):
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("proofs"))


@pytest.mark.parametrize("path", sorted(FOLDER.rglob("*.py")), ids=lambda p: str(p.relative_to(FOLDER)))
def test_imports(path):
    assert set(imported(path)) <= {f"..{name}" for name in TRUSTED}


def test_an_import_of_a_printer_is_found(tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "FOLDER", tmp_path)
    module = tmp_path / "reals.py"
    module.write_text(
        "from ..latex import Latex\nfrom ...terms import Term\nfrom .tree import Name\nimport proofs.render\n"
    )
    assert list(imported(module)) == [".latex", "..terms", "proofs.render"]
