"""What people already use, a library a file; found by walking this folder, and imported only when asked for.

A file is named as its library's adapter, and has a function `ready()` that returns a list of `Ready`.
"""

import pkgutil
from collections.abc import Sequence
from importlib import import_module

from ..adapters import adapter_named
from ..ready import Ready
from ..usage import unknown


def group_names() -> list[str]:
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_"))


def group_named(name: str) -> Sequence[Ready]:
    """Raises UsageError for a name that no file has, or a library that is not installed."""
    if name not in group_names():
        raise unknown("group of subjects", name, group_names())
    adapter_named(name)
    subjects: Sequence[Ready] = import_module(f".{name}", __name__).ready()
    return subjects
