"""How the definitions of the theorems are read as calls of a layer: one file for each layer, found by walking this folder.

A file holds LAYER, the module of the layer (or of the encoder, the decoder, the optimizer), and READINGS, a function for each
definition that the layer computes. Such a function gives the value of an application, or None where the layer does not compute it, so
that its definition is unfolded. Beside each call of the layer stands the same formula on `Rounded` arrays, the bound on what float64
may do to it.
"""

import importlib
import pkgutil
from functools import cache
from types import ModuleType
from typing import NamedTuple

from proofs.definitions import Definition

from ..evaluation import Read


class Reading(NamedTuple):
    layer: ModuleType
    read: Read


def layer_name(layer: ModuleType) -> str:
    return layer.__name__.rpartition(".")[2]


@cache
def all_readings() -> dict[Definition, Reading]:
    """Every definition that a layer computes."""
    modules = [importlib.import_module(f"{__name__}.{each.name}") for each in pkgutil.iter_modules(__path__)]
    return {definition: Reading(m.LAYER, read) for m in modules for definition, read in m.READINGS.items()}
