"""The parameters of `transformer`: their names and shapes, in their order, and as a probe draws them; two layers a stack.

The norms after the last layers are there for order "pre" only. For "post" their arrays are empty, and the dict that an
implementation gets is without them.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...config import Config
from ...initialisation import shapes
from ...parameters import Tree, unflatten
from ..formats import Format
from ._layer_parameters import norm, shrunk

LAYERS = 2
NAMES = tuple(shapes(Config("encoder-decoder", 2, 2, 2, 1, LAYERS, norm="pre")))
FINAL = tuple(f"{stack}.norm.{name}" for stack in ("encoder", "decoder") for name in ("gain", "bias"))
SHAPES = {"table": "(V, d)", "W_1": "(d, f)", "b_1": "(f,)", "W_2": "(f, d)", "b_2": "(d,)"}


def shape_of(name: str) -> str:
    """As text."""
    if name in FINAL:
        return '(d,) with order "pre"'
    last = name.rpartition(".")[2]
    return SHAPES.get(last, "(d, d)" if last.startswith("w_") else "(d,)")


def present(arrays: Sequence[Any]) -> dict[str, Any]:
    """Those that are not empty, by name."""
    return {name: array for name, array in zip(NAMES, arrays, strict=True) if 0 not in tuple(array.shape)}


def in_order(params: Mapping[str, Any]) -> list[Any]:
    """The inverse of `present`. Raises ValueError for other names."""
    missing = [name for name in NAMES if name not in params and name not in FINAL]
    unknown = [name for name in params if name not in NAMES]
    if missing or unknown:
        found = {"missing": missing, "unknown": unknown}
        told = (f"{what} is {names[0]!r}, {len(names)} such in all" for what, names in found.items() if names)
        raise ValueError(f"needed one array for each parameter by its name; {'; '.join(told)}")
    nothing = params[NAMES[0]][:0, 0]
    return [params.get(name, nothing) for name in NAMES]


def tree(arrays: Sequence[Any]) -> Tree:
    return unflatten(present(arrays))


def drawn(rng: np.random.Generator, form: Format, order: str, vocabulary: int, d: int, f: int) -> list[np.ndarray]:
    """Mild ones: see `_layer_parameters`. Matrices are half as large as there, since errors grow from layer to layer."""
    sizes = {
        "(V, d)": (vocabulary, d),
        "(d, d)": (d, d),
        "(d, f)": (d, f),
        "(f, d)": (f, d),
        "(d,)": (d,),
        "(f,)": (f,),
    }
    arrays = []
    for name in NAMES:
        if name in FINAL and order == "post":
            arrays.append(np.zeros(0))
            continue
        shape = (d,) if name in FINAL else sizes[shape_of(name)]
        arrays.append(_array(rng, form, name, shape))
    return arrays


def _array(rng: np.random.Generator, form: Format, name: str, shape: tuple[int, ...]) -> np.ndarray:
    if name.endswith(".gain"):
        return norm(rng, shape[0])[0]
    if name.endswith(".bias"):
        return norm(rng, shape[0])[1]
    array = rng.standard_normal(shape)
    if name.endswith(".table"):
        # all rows with one spread, as those of tokens
        array = array - array.mean(-1, keepdims=True)
        return array / array.std(-1, keepdims=True)
    return array / (2 * shrunk(form) * np.sqrt(shape[0])) if len(shape) == 2 else array / 3
