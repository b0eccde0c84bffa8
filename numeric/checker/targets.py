"""Implementations by name: PACKAGE.MODULE:NAME, with the current directory importable."""

import importlib
import os
import pkgutil
import sys
from collections.abc import Callable
from typing import Any

from .usage import UsageError, unknown
from .watch import told


def loaded(target: str) -> tuple[str, Callable[..., Any]]:
    """The module's name and the object that PACKAGE.MODULE:NAME stands for. Raises UsageError."""
    module_name, colon, name = target.partition(":")
    if not (module_name and colon and name) or "/" in module_name:
        raise UsageError(f"{target!r} is no PACKAGE.MODULE:NAME; write my_package.my_module:my_function, without .py")
    if os.getcwd() not in sys.path and "" not in sys.path:
        sys.path.insert(0, os.getcwd())
    found: Any = _imported(module_name)
    path = ""
    for part in name.split("."):
        if not hasattr(found, part):
            known = [each for each in dir(found) if not each.startswith("_")]
            raise unknown(f"name in {module_name}{path}", part, known)
        found, path = getattr(found, part), f"{path}.{part}"
    return module_name, found


def loaded_beside(target: str, module_name: str) -> Callable[..., Any]:
    """The object that [PACKAGE.MODULE:]NAME stands for, in the module given where none is named. Raises UsageError."""
    return loaded(target if ":" in target else f"{module_name}:{target}")[1]


def _imported(module_name: str) -> Any:
    try:
        return importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name and (module_name == error.name or module_name.startswith(f"{error.name}.")):
            here = [each.name for each in pkgutil.iter_modules([os.getcwd()])]
            raise unknown("module", error.name, here or ["(no module in the current directory)"]) from error
        raise UsageError(f"importing {module_name} raised {told(error)}") from error
    except (Exception, SystemExit) as error:  # a script may end itself when it is imported
        raise UsageError(f"importing {module_name} raised {told(error)}") from error
