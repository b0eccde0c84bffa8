"""The layers are a second witness to the theorems only as long as they know nothing of them."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import numeric.layers

LAYERS = Path(numeric.layers.__file__).parent
ALLOWED = {"numpy", "flint", "scipy", "typing", "collections", "operator", "math"}


def foreign_imports(source):
    """What a module of numeric/layers imports beyond `ALLOWED` and `numeric`, also inside functions and by name."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found.append(node.module)
        elif isinstance(node, ast.ImportFrom) and node.level > 2:  # `...` would leave numeric/
            found.append("." * node.level + (node.module or ""))
        elif isinstance(node, ast.Name) and node.id in ("importlib", "__import__", "exec", "eval"):
            found.append(node.id)
    return [name for name in found if name.split(".")[0] not in ALLOWED]


@pytest.mark.parametrize("path", sorted(LAYERS.rglob("*.py")), ids=lambda path: path.name)
def test_layers_import_nothing_of_proofs(path):
    assert foreign_imports(path.read_text()) == []


@pytest.mark.parametrize(
    "source",
    [
        "import proofs",
        "import proofs.theorems.softmax as s",
        "from proofs.theorems import softmax",
        "from ...proofs import kernel",
        "def forward(z):\n    import proofs",
        "module = __import__('pro' + 'ofs')",
        "import importlib",
        "import sympy",
        "import torch",
    ],
)
def test_a_forbidden_import_is_seen(source):
    assert foreign_imports(source) != []


def test_importing_every_layer_loads_no_proof_and_no_framework():
    names = [f"numeric.layers.{path.stem}" for path in LAYERS.glob("*.py") if path.stem != "__init__"]
    code = f"import sys, {', '.join(names)}; print(*{{name.split('.')[0] for name in sys.modules}})"
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=LAYERS.parents[1], capture_output=True, text=True, check=True
    )
    loaded = set(run.stdout.split())
    assert {"numeric", "numpy", "flint"} <= loaded
    assert not loaded & {"proofs", "sympy", "torch", "jax"}
