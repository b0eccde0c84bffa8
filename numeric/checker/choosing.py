"""Which array library an implementation speaks, when nobody says."""

from collections.abc import Callable
from typing import Any

from .adapter import Adapter
from .adapters import adapter_named, loaded_adapters
from .contract import Contract, Inputs, Options
from .formats import Format
from .subject import Subject
from .watch import BrokenCall, OutOfTime


def chosen_adapter(
    contract: Contract, forward: Callable[..., Any], inputs: Inputs, options: Options, form: Format
) -> Adapter:
    """The library whose function it plainly is; else the one whose arrays come out when NumPy arrays, or its own, go in.

    Only libraries that are imported already are considered; NumPy where nothing decides, so that the run shows what happens.
    Raises OutOfTime where a call does not come back.
    """
    numpy = adapter_named("numpy")
    others = [adapter for adapter in loaded_adapters() if adapter is not numpy]
    for adapter in others:
        if adapter.owns_callable(forward):
            return adapter
    for adapter in [numpy, *others]:
        try:
            result = Subject(contract, forward, None, adapter, form).raw_output(inputs, options)
        except OutOfTime:
            raise
        except BrokenCall:
            continue
        for owner in [numpy, *others]:
            if owner.owns_array(result):
                return owner
    return numpy
