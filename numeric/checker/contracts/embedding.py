"""embedding: ids (..., n), table (V, d) -> (..., n, d), rows of the table, times a scale if one is given.

Without a scale the output is exact. The scale may be rounded to the dtype, as a module's own constant is. The gradient
adds dy over the positions of a token, in any order, in the wide format, and is multiplied by the scale before or after.
"""

import math
from typing import Any

import numpy as np

from ...layers import embedding
from ..contract import Bench, Contract, Input, Option, Options, Probe, Property, Pullback, Residual
from ..formats import Format, Precision
from ..rounding import Rounded, any_of
from ._embedding_mistakes import FITS, MISTAKES, scaled
from ._embedding_orders import gathered

OWN_UNIT = 2.0**-53
ROOT = "sqrt(d)"


def _drawn(bench: Bench, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return rng.integers(0, 7, (3, 8)), bench.rounded(rng.standard_normal((7, 5)))


def looks_up_rows(bench: Bench, rng: np.random.Generator) -> Residual:
    """One-hot rows of the table come back as those of the identity: entry v is 1 where the token is v."""
    ids, _ = _drawn(bench, rng)
    found, allowed = bench.output(ids, np.eye(7))
    scale = bench.options["scale"] or 1.0
    return found - scale * (ids[..., None] == np.arange(7)), allowed + OWN_UNIT * scale


def positions_are_independent(bench: Bench, rng: np.random.Generator) -> Residual:
    ids, table = _drawn(bench, rng)
    alone, allowed_alone = bench.output(ids[1:2, 2:5], table)
    among, allowed = (part[1:2, 2:5] for part in bench.output(ids, table))
    return alone - among, allowed + allowed_alone


def gradient_keeps_the_sum(bench: Bench, rng: np.random.Generator) -> Residual:
    ids, table = _drawn(bench, rng)
    dy = bench.rounded(rng.standard_normal((*ids.shape, 5)))
    [(dtable, allowed)] = bench.gradients(dy, ids, table)
    scale = bench.options["scale"] or 1.0
    own = 2 * dy.size * OWN_UNIT * scale * np.abs(dy).sum((0, 1))
    return dtable.sum(0) - scale * dy.sum((0, 1)), allowed.sum(0) + own


def unused_rows_get_none(bench: Bench, rng: np.random.Generator) -> Residual:
    ids, table = 2 * rng.integers(0, 4, (3, 8)), bench.rounded(rng.standard_normal((7, 5)))
    dy = bench.rounded(rng.standard_normal((*ids.shape, 5)))
    [(dtable, allowed)] = bench.gradients(dy, ids, table)
    return dtable[1::2], allowed[1::2]


class Embedding(Contract):
    name = "embedding"
    summary = "the rows of the table that the ids name, times the scale if it is not None"
    inputs = (Input("ids", "(..., n) integers from 0 to V - 1", floating=False), Input("table", "(V, d)"))
    output = "(..., n, d)"
    options = (
        Option("scale", None, (None, ROOT), "a number that the rows are multiplied by, such as sqrt(d); or None"),
    )
    gradient_theorem = "embedding.gradient_scatters_and_adds"
    mistakes = MISTAKES
    fits = FITS

    def layer(self, ids: np.ndarray, table: np.ndarray, *, scale: float | None) -> tuple[np.ndarray, Pullback]:
        rows, cache = embedding.forward(table, ids, scaled=False)
        return scaled(rows, scale), lambda dy: (scaled(embedding.backward(dy, cache), scale),)

    def bound(self, precision: Precision, ids: np.ndarray, table: np.ndarray, *, scale: float | None) -> Rounded:
        rows = Rounded.exact(table[ids], precision)
        return rows if scale is None else (rows * Rounded.given(scale, precision)).returned()

    def gradient_bounds(
        self, precision: Precision, dy: np.ndarray, ids: np.ndarray, table: np.ndarray, *, scale: float | None
    ) -> tuple[Rounded, ...]:
        g = Rounded.exact(dy, precision)
        if scale is None:
            return (gathered(g, ids, len(table)).returned(),)
        factor = Rounded.given(scale, precision)
        ways = [gathered(g, ids, len(table)) * factor, gathered(g * factor, ids, len(table))]
        return (any_of(ways).returned(),)

    def generic(self, rng: np.random.Generator, form: Format, options: Options) -> list[Probe]:
        probes = []
        for shape, rows, d in (((3, 8), 7, 10), ((2, 3, 5), 13, 6)):
            ids = rng.integers(0, rows, shape)
            ids.flat[:3] = 0, rows - 1, 1  # the ends of the table are looked up in any case
            probes.append(
                _probe(f"generic ids {shape}, table ({rows}, {d})", ids, rng.standard_normal((rows, d)), options)
            )
        return probes

    def structured(self, rng: np.random.Generator, form: Format, options: Options) -> list[Probe]:
        draw = rng.standard_normal
        every = [
            ("one token only", np.full((3, 5), 2), draw((4, 6))),
            ("one id", np.array([3]), draw((5, 6))),
            ("ids past 256", np.array([[255, 256, 257, 258, 259, 511, 513, 1023]]), draw((1024, 3))),
            ("a token 1024 times", np.where(np.arange(1200) % 7 < 6, 1, 2), 1 + 0 * draw((4, 3))),
            ("wide (2, 1024)", np.array([1, 0, 1]), draw((2, 1024))),
        ]
        probes = [_probe(name, ids, table, options) for name, ids, table in every]
        plain = _probe("", rng.integers(0, 7, (3, 8)), draw((7, 10)), options)
        return probes + [Probe(name, plain.inputs, plain.options, name) for name in ("strided", "read-only")]

    properties = (
        Property(
            "looks up rows",
            "embedding.lookup_is_one_hot_product",
            "the identity for a table does not give one-hot rows",
            looks_up_rows,
        ),
        Property(
            "positions are independent",
            "embedding.lookup_is_one_hot_product",
            "a position changes when others are taken away",
            positions_are_independent,
        ),
        Property(
            "gradient keeps the sum",
            "embedding.gradient_scatters_and_adds",
            "the rows of the gradient do not sum to the sum of dy",
            gradient_keeps_the_sum,
            of_gradient=True,
        ),
        Property(
            "unused rows get none",
            "embedding.gradient_scatters_and_adds",
            "a row that no id names has a gradient",
            unused_rows_get_none,
            of_gradient=True,
        ),
    )


def _probe(name: str, ids: np.ndarray, table: np.ndarray, options: Options) -> Probe:
    """The word for the scale becomes a number."""
    root: dict[str, Any] = {"scale": math.sqrt(table.shape[-1])} if options["scale"] == ROOT else {}
    return Probe(name, (ids, table), root)


CONTRACT = Embedding()
