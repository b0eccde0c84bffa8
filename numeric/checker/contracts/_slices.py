"""Probes and properties of functions that act on each slice along `axis`: softmax, log_softmax."""

from typing import Any

import numpy as np

from ..contract import Bench, Option, Probe, Residual
from ..formats import Format
from ..usage import UsageError

OWN_UNIT = 2.0**-53  # the checker adds up residuals in float64

OPTIONS = (
    Option("axis", -1, (-1, 0), "the axis along which the outputs belong together"),
    Option("temperature", 1.0, (0.5, 1.0, 3.0), "the logits are divided by it"),
)


def generic_logits(rng: np.random.Generator, axis: int) -> list[Probe]:
    shapes = [shape for shape in ((3, 5, 7), (4, 33), (2, 3, 4, 5)) if -len(shape) <= axis < len(shape)][:2]
    if not shapes:
        raise UsageError(f"axis={axis!r}: the probes have up to 4 axes, so needed an integer from -4 to 3")
    return [Probe(f"generic {shape}", (2.5 * rng.standard_normal(shape),)) for shape in shapes]


def structured_logits(rng: np.random.Generator, form: Format, axis: int) -> list[Probe]:
    quarters = rng.integers(-12, 13, (3, 9)) / 4  # on a grid so coarse that the offset is added without rounding
    offset = 2.0 ** (form.bits // 2)
    huge = min(1e8, form.largest / 4)
    rows: list[tuple[str, Any]] = [
        ("gap of 1000", [[1000, 0], [0, 1000]]),
        ("both -10000", [[-1e4, -1e4]]),
        ("equal and huge", [[huge, huge, huge]]),
        ("ties", [[3, 3, 0, 3, -1], [2, 2, 2, 2, 2], [0, 0, -700, 0, 1]]),
        ("slices far apart", [[2000, 1999, 1998], [0, 1, 2], [-2000, -2001, -1999]]),
        ("large offset", quarters + offset),
        ("large negative offset", quarters - offset),
        ("huge logits", 100 * rng.standard_normal((3, 9))),
        ("single entry", rng.standard_normal((5, 1))),
        ("4 x 4096", 2 * rng.standard_normal((4, 4096))),
    ]
    probes = [Probe(name, (along(np.asarray(values, dtype=np.float64), axis),)) for name, values in rows]
    if axis in (-1, 0):
        probes.append(Probe("one axis (11,)", (2 * rng.standard_normal(11),)))
    probes.append(Probe("4096 x 3", (2 * rng.standard_normal((4096, 3)),), {"axis": 0}))
    for layout in ("strided", "read-only"):
        probes.append(Probe(layout, (along(2 * rng.standard_normal((5, 7)), axis),), layout=layout))
    return probes


def along(rows: np.ndarray, axis: int) -> np.ndarray:
    """(r, n) as an array in which the n entries run along `axis`, with as many axes as that takes."""
    dimensions = max(2, axis + 1, -axis)
    padded = rows.reshape(rows.shape[0], *(1,) * (dimensions - 2), rows.shape[1])
    return np.moveaxis(padded, -1, axis)


def logits_of(bench: Bench, rng: np.random.Generator) -> np.ndarray:
    return bench.rounded(along(2 * rng.standard_normal((4, 7)), bench.options["axis"]))


def own_error(terms: np.ndarray, axis: int) -> np.ndarray:
    """What the checker's own sum along an axis may err by."""
    return terms.shape[axis] * OWN_UNIT * np.abs(terms).sum(axis)


def shift_invariance(bench: Bench, rng: np.random.Generator) -> Residual:
    grid = rng.integers(-12, 13, (4, 9)) / 4
    # past the overflow of exp where the grid allows, upwards and downwards
    shift = {"float64": 2.0**20, "float32": 2.0**12}.get(bench.format.name, 32.0)
    z = along(grid, bench.options["axis"])
    first, allowed = bench.output(z)
    others = [bench.output(z + c) for c in (shift, -shift)]
    return np.stack([found - first for found, _ in others]), np.stack([allowed + each for _, each in others])


def permutation_equivariance(bench: Bench, rng: np.random.Generator) -> Residual:
    axis = bench.options["axis"]
    z = logits_of(bench, rng)
    order = np.roll(np.arange(z.shape[axis]), 3)
    first, allowed = (np.take(part, order, axis) for part in bench.output(z))
    second, allowed_permuted = bench.output(np.take(z, order, axis))
    return second - first, allowed + allowed_permuted


def slices_are_independent(bench: Bench, rng: np.random.Generator) -> Residual:
    axis = bench.options["axis"]
    z = logits_of(bench, rng)
    other = next(number for number in range(z.ndim) if number != axis % z.ndim and z.shape[number] > 1)
    alone, allowed_alone = bench.output(np.take(z, [1], other))
    among, allowed = (np.take(part, [1], other) for part in bench.output(z))
    return alone - among, allowed + allowed_alone


def gradient_sums_to_zero(bench: Bench, rng: np.random.Generator) -> Residual:
    axis = bench.options["axis"]
    z = logits_of(bench, rng)
    [(dz, allowed)] = bench.gradients(bench.rounded(rng.standard_normal(z.shape)), z)
    return dz.sum(axis), allowed.sum(axis) + own_error(dz, axis)
