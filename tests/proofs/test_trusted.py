"""The trusted modules are found by what they say of themselves."""

from proofs.trusted import trusted_modules


def test_trusted_modules():
    found = {m.path: m for m in trusted_modules()}
    for name in ("terms", "binders", "definitions", "kernel", "axioms", "rules/__init__"):
        assert f"proofs/{name}.py" in found
    assert "proofs/evaluate.py" not in found
    assert not any(path.startswith(("proofs/render", "proofs/commands", "proofs/theorems")) for path in found)
    assert found["proofs/terms.py"].says.startswith("The closed language of terms")
    assert all(m.lines > 10 for m in found.values())
