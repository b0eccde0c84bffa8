"""What is shipped, and which half imports which."""

import ast
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PLACES = {"proofs", "numeric", "tests", "benchmarks", "docs"}


def _imported(text):
    """The top-level packages that a source imports by absolute name."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield (node.module or "").partition(".")[0]


def _importing(half, packages):
    """The files of one half that import one of these packages."""
    texts = {path.relative_to(ROOT): path.read_text(encoding="utf-8") for path in sorted((ROOT / half).rglob("*.py"))}
    assert len(texts) > 100
    speaking = {path: text for path, text in texts.items() if any(name in text for name in packages)}
    return [path for path, text in speaking.items() if not packages.isdisjoint(_imported(text))]


def test_proofs_import_nothing_of_the_other_half():
    assert _importing("proofs", {"numeric", "numpy", "torch", "jax", "flint"}) == []


def test_only_the_bridge_imports_proofs():
    found = _importing("numeric", {"proofs"})
    assert found and [path for path in found if not path.is_relative_to("numeric/agreement")] == []


def test_top_level_folders():
    found = {
        p.name for p in ROOT.iterdir() if p.is_dir() and not p.name.startswith((".", "__")) and any(p.glob("**/*.*"))
    }
    assert found - {"build", "dist"} <= PLACES


@pytest.mark.slow
def test_wheel_holds_exactly_two_packages(tmp_path):
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(tmp_path), str(ROOT)]
    subprocess.run(build, check=True, timeout=300)
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {n.partition("/")[0] for n in names if ".dist-info" not in n} == {"proofs", "numeric"}
    assert not [n for n in names if "test" in n]
    data = [p for p in ROOT.glob("proofs/**/*") if p.is_file() and p.suffix not in (".py", ".pyc")]
    assert data and {p.relative_to(ROOT).as_posix() for p in data} <= set(names)
    licences = ["LICENSE", *(p.relative_to(ROOT).as_posix() for p in ROOT.glob("proofs/**/OFL.txt"))]
    assert len(licences) == 3
    assert [f for f in licences if not any(n.endswith(f".dist-info/licenses/{f}") for n in names)] == []
