"""Whether arrays have the names, dtypes and shapes that are needed; if not, one error that lists what does not fit."""

import difflib
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain, islice

import numpy as np

from ..arithmetic import BALL, WORKING_DTYPE
from .correspondence import Size

Shapes = Mapping[str, tuple[Size, ...]]

FLOATS = [dtype for dtype in WORKING_DTYPE if dtype != BALL]
SHOWN = 8

APPENDED = "add_bias_kv appends a learned key and value, which numeric.layers.multi_head has not"
SHARED = "in PyTorch every head has its own keys and values, n_groups = n_heads"
FINAL = "nn.Transformer has norms after its last layers; {0}_encoder and {0}_decoder take stacks without"


def require_fit(function: str, what: str, arrays: Mapping[str, np.ndarray], shapes: Shapes) -> dict[str, int]:
    """The sizes by name. Raises ValueError for names or shapes, TypeError for dtypes alone; all are told at once."""
    sizes = _sizes(arrays, shapes)
    misshapen, wrong_dtypes = list(_misshapen(arrays, shapes, sizes)), list(_wrong_dtypes(arrays, shapes))
    names, further = len(shapes.keys() ^ arrays.keys()), [*misshapen, *wrong_dtypes]
    if names or further:
        told = ", ".join(f"{name} = {size}" for name, size in sizes.items()) or "no size known"
        # lazily, since looking for the nearest of many names takes long
        lines = list(islice(chain(_missing(arrays, shapes, sizes), _unexpected(arrays, shapes), further), SHOWN))
        left = names + len(further) - len(lines)
        kind = ValueError if names or misshapen else TypeError
        raise kind(
            f"{function}: the arrays do not fit {what} ({told}):\n  "
            + "\n  ".join(lines)
            + (f"\n  and {left} more" if left else "")
        )
    return sizes


def _sizes(arrays: Mapping[str, np.ndarray], shapes: Shapes) -> dict[str, int]:
    """What most of the axes say of each size, so that one array of a wrong shape is the one that is blamed."""
    votes: dict[str, Counter[int]] = {}
    for name, shape in shapes.items():
        found = arrays[name].shape if name in arrays else ()
        for length, (factor, size) in zip(found, shape, strict=False):
            if length % factor == 0:
                votes.setdefault(size, Counter())[length // factor] += 1
    return {size: counted.most_common(1)[0][0] for size, counted in votes.items()}


def _missing(arrays: Mapping[str, np.ndarray], shapes: Shapes, sizes: dict[str, int]) -> Iterator[str]:
    left = [name for name in arrays if name not in shapes]
    for name, shape in shapes.items():
        if name not in arrays:
            yield (
                f"{name} is missing, needed {_written(shape, sizes)}"
                + _nearest("found", name, left)
                + _on_final_norm(name)
            )


def _unexpected(arrays: Mapping[str, np.ndarray], shapes: Shapes) -> Iterator[str]:
    absent = [name for name in shapes if name not in arrays]
    for name in arrays:
        if name not in shapes:
            remark = f" ({APPENDED})" if name.endswith(("bias_k", "bias_v")) else ""
            yield f"{name} is not known here" + _nearest("needed", name, absent) + remark


def _misshapen(arrays: Mapping[str, np.ndarray], shapes: Shapes, sizes: dict[str, int]) -> Iterator[str]:
    for name, shape in shapes.items():
        if name in arrays and arrays[name].shape != tuple(factor * sizes.get(size, 0) for factor, size in shape):
            remark = f" ({SHARED})" if name.endswith(("w_k", "w_v")) else ""
            yield f"{name} has shape {arrays[name].shape}, needed {_written(shape, sizes)}" + remark


def _wrong_dtypes(arrays: Mapping[str, np.ndarray], shapes: Shapes) -> Iterator[str]:
    arrays = {name: arrays[name] for name in shapes if name in arrays}
    usable = [array.dtype for array in arrays.values() if array.dtype in FLOATS]
    needed = Counter(usable).most_common(1)[0][0] if usable else None
    for name, array in arrays.items():
        if array.dtype not in FLOATS:
            yield f"{name} has dtype {array.dtype}, needed {', '.join(map(str, FLOATS))}"
        elif array.dtype != needed:
            yield f"{name} has dtype {array.dtype}, needed {needed} as most of the others"


def _written(shape: tuple[Size, ...], sizes: dict[str, int]) -> str:
    """(16, 8), or a name where the size is not known."""
    lengths = [
        str(factor * sizes[size]) if size in sizes else f"{factor} {size}".removeprefix("1 ") for factor, size in shape
    ]
    return f"({', '.join(lengths)}{',' if len(lengths) == 1 else ''})"


def _nearest(which: str, name: str, others: list[str]) -> str:
    close = difflib.get_close_matches(name, others, 1)
    return f"; nearest {which}: {close[0]}" if close else ""


def _on_final_norm(name: str) -> str:
    way = {
        "encoder.norm.gain": "to",
        "decoder.norm.gain": "to",
        "encoder.norm.weight": "from",
        "decoder.norm.weight": "from",
    }
    return f" ({FINAL.format(way[name])})" if name in way else ""
