import sys

import pytest

from numeric.checker import UsageError
from numeric.checker.options import parsed_option
from numeric.checker.targets import loaded


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("eps=1e-6", ("eps", 1e-6)),
        ("axis=-1", ("axis", -1)),
        ("causal=True", ("causal", True)),
        ("mask=None", ("mask", None)),
        ("activation=gelu", ("activation", "gelu")),
        ("shape=(2, 3)", ("shape", (2, 3))),
    ],
)
def test_options_are_literals_or_text(text, parsed):
    assert parsed_option(text) == parsed


@pytest.mark.parametrize("text", ["eps", "=1", "eps="])
def test_an_option_without_a_value_is_told(text):
    with pytest.raises(UsageError, match=r"is no NAME=VALUE; write --option temperature=0\.5"):
        parsed_option(text)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A current directory with a package of the user's, which is not on the path."""
    package = tmp_path / "mine_for_a_test"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "layers.py").write_text("class Layers:\n    @staticmethod\n    def softmax(z):\n        return z\n")
    (package / "broken.py").write_text("1 / 0\n")
    (package / "needy.py").write_text("import a_package_nobody_has\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("mine_for_a_test")]:
        del sys.modules[name]


def test_a_module_in_the_current_directory_is_found(here):
    module, function = loaded("mine_for_a_test.layers:Layers.softmax")
    assert module == "mine_for_a_test.layers"
    assert function(3) == 3


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (
            "torch.softmax",
            "'torch.softmax' is no PACKAGE.MODULE:NAME; write my_package.my_module:my_function, without .py",
        ),
        ("mine/layers.py:softmax", "is no PACKAGE.MODULE:NAME"),
        ("mine_for_a_test.layers:", "is no PACKAGE.MODULE:NAME"),
        ("mine_for_a_tset:softmax", "unknown module 'mine_for_a_tset'; did you mean 'mine_for_a_test'?"),
        ("mine_for_a_test.layer:softmax", "unknown module 'mine_for_a_test.layer'"),
        ("mine_for_a_test.layers:Layer", "unknown name in mine_for_a_test.layers 'Layer'; did you mean 'Layers'?"),
        (
            "mine_for_a_test.layers:Layers.sofmax",
            "unknown name in mine_for_a_test.layers.Layers 'sofmax'; did you mean 'softmax'?",
        ),
        (
            "mine_for_a_test.broken:f",
            r"importing mine_for_a_test.broken raised ZeroDivisionError: division by zero \(broken.py, line 1\)",
        ),
        (
            "mine_for_a_test.needy:f",
            "importing mine_for_a_test.needy raised ModuleNotFoundError: No module named 'a_package_nobody_has'",
        ),
    ],
)
def test_a_wrong_target_is_told(here, target, message):
    with pytest.raises(UsageError, match=message):
        loaded(target)
