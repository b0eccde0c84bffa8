"""python -m proofs [check | list | show | trust | claims | graph | render]; the subcommands stand in commands/app.py."""

from __future__ import annotations

import importlib
import importlib.metadata
import sys
from pathlib import Path

_DISTRIBUTION = "transformer-proofs"
_OURS = {
    "": "theorem",
    ".terms": "Term",
    ".kernel": "Theorem",
    ".rules": "RULES",
    ".registry": "Claim",
    ".render": "Unicode",
}


def main() -> None:
    problem = shadowed()
    if problem:
        sys.stderr.write(f"error: {problem}\n")
        sys.exit(2)
    from .commands.app import app

    app(prog_name="python -m proofs")


def shadowed() -> str | None:
    """What to do where a package of the same name has put its files among ours; None where all is ours."""
    here = Path(__file__).parent
    wrong = [f"{__package__}{module}" for module, name in _OURS.items() if not _has(f"{__package__}{module}", name)]
    if not wrong:
        return None
    found = importlib.metadata.packages_distributions().get(str(__package__), [])
    others = sorted(set(found) - {_DISTRIBUTION})
    cure = f"pip uninstall {' '.join(others)}" if others else f"remove what is not of {_DISTRIBUTION} from {here}"
    return (
        f"{', '.join(wrong)} in {here} {'is' if len(wrong) == 1 else 'are'} not of {_DISTRIBUTION}: another package of this "
        f"name stands in its place. {cure}, then pip install --force-reinstall {_DISTRIBUTION}"
    )


def _has(module: str, name: str) -> bool:
    try:
        return hasattr(importlib.import_module(module), name)
    except ImportError:
        return False


if __name__ == "__main__":
    main()
