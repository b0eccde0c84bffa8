"""One array library a file; found by walking this folder. A library is imported only when one of its arrays is needed."""

import pkgutil
from importlib import import_module

from ..adapter import Adapter
from ..usage import unknown


def adapter_names() -> list[str]:
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_"))


def loaded_adapters() -> list[Adapter]:
    """Those whose library this process has imported already."""
    every: list[Adapter] = [import_module(f".{name}", __name__).ADAPTER for name in adapter_names()]
    return [adapter for adapter in every if adapter.loaded]


def adapter_named(name: str) -> Adapter:
    """Raises UsageError for a name that no file has, or a library that is not installed."""
    if name not in adapter_names():
        raise unknown("adapter", name, adapter_names())
    adapter: Adapter = import_module(f".{name}", __name__).ADAPTER
    adapter.require()
    return adapter
