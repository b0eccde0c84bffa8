"""The packages that only the site needs, imported where they are used."""

from __future__ import annotations

import importlib
from types import ModuleType

_NAMES = {"math_core": "math-core", "jinja2": "jinja2"}


class MissingPackageError(ImportError):
    """A package of the extra `html` is not installed; the message says which, and how to have it."""


def needed(module: str) -> ModuleType:
    """The module of a package of the extra `html`; raises MissingPackageError where it is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError as problem:
        raise MissingPackageError(
            f"the site needs {_NAMES[module]}, which is not installed; "
            "`pip install 'transformer-proofs[html]'` installs it"
        ) from problem
