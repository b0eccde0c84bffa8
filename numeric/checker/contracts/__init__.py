"""One contract a file; found by walking this folder. Files that begin with an underscore are shared parts of contracts."""

import pkgutil
from functools import cache
from importlib import import_module

from ..contract import Contract
from ..usage import unknown


def contract_names() -> list[str]:
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_"))


@cache
def contract_named(name: str) -> Contract:
    """Raises UsageError for a name that no file has."""
    if name not in contract_names():
        raise unknown("contract", name, contract_names())
    contract: Contract = import_module(f".{name}", __name__).CONTRACT
    return contract
