"""The commands stand on top: nothing that they use imports them."""

import ast
from pathlib import Path

import proofs

ROOT = Path(proofs.__file__).parent
BELOW = [p for p in sorted(ROOT.rglob("*.py")) if p.parent != ROOT / "commands" and p.name != "__main__.py"]


def imported(path):
    """The modules of the project that a module imports, by their whole names."""
    package = ("proofs", *path.relative_to(ROOT).parts[:-1])
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else ()
            yield ".".join((*above, *([node.module] if node.module else [])))
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_nothing_imports_the_commands():
    assert len(BELOW) > 100
    speaking = [path for path in BELOW if "commands" in path.read_text("utf-8")]
    assert [(path, name) for path in speaking for name in imported(path) if name.startswith("proofs.commands")] == []


def test_such_an_import_is_found(tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    module = tmp_path / "render" / "document" / "opening.py"
    module.parent.mkdir(parents=True)
    module.write_text("from ...commands.trusted import trusted_modules\nfrom ..commands import x\n")
    assert list(imported(module)) == ["proofs.commands.trusted", "proofs.render.commands"]
