"""feed_forward: x (..., d), w1 (d, f), b1 (f,), w2 (f, d), b2 (d,) -> (..., d), activation(x w1 + b1) w2 + b2.

Evaluation orders: see `_feed_forward_orders` and `_activation_bounds`. Where rounding may have moved a hidden unit
across 0, relu may have passed its gradient on or not; the bound has room for both.
"""

import numpy as np

from ...layers import feed_forward
from ..contract import Bench, Contract, Input, Inputs, Option, Options, Probe, Property, Pullback, Residual
from ..formats import Format, Precision
from ..rounding import Rounded
from ._feed_forward_mistakes import MISTAKES
from ._feed_forward_orders import gradient_bounds, hidden, output_bound

OWN_UNIT = 2.0**-53


def _drawn(bench: Bench, rng: np.random.Generator, leading: tuple[int, ...] = (2, 3)) -> list[np.ndarray]:
    return [bench.rounded(each) for each in _arrays(rng, leading, 5, 11)]


def _arrays(rng: np.random.Generator, leading: tuple[int, ...], d: int, f: int) -> Inputs:
    draw = rng.standard_normal
    return draw((*leading, d)), draw((d, f)) / d**0.5, draw(f), draw((f, d)) / f**0.5, draw(d)


def rows_are_independent(bench: Bench, rng: np.random.Generator) -> Residual:
    x, *parameters = _drawn(bench, rng)
    alone, allowed_alone = bench.output(x[1:2, 1:2], *parameters)
    among, allowed = (part[1:2, 1:2] for part in bench.output(x, *parameters))
    return alone - among, allowed + allowed_alone


def permutation_equivariance(bench: Bench, rng: np.random.Generator) -> Residual:
    x, *parameters = _drawn(bench, rng)
    first, allowed = (np.roll(part, 1, -2) for part in bench.output(x, *parameters))
    second, allowed_permuted = bench.output(np.roll(x, 1, -2), *parameters)
    return second - first, allowed + allowed_permuted


def hidden_units_in_another_order(bench: Bench, rng: np.random.Generator) -> Residual:
    x, w1, b1, w2, b2 = _drawn(bench, rng)
    order = rng.permutation(len(b1))
    first, allowed = bench.output(x, w1, b1, w2, b2)
    second, allowed_permuted = bench.output(x, w1[:, order], b1[order], w2[order], b2)
    return second - first, allowed + allowed_permuted


def gradient_of_second_bias(bench: Bench, rng: np.random.Generator) -> Residual:
    x, *parameters = _drawn(bench, rng)
    dy = bench.rounded(rng.standard_normal(x.shape))
    *_, (db, allowed) = bench.gradients(dy, x, *parameters)
    total = dy.sum((0, 1))
    return db - total, allowed + dy.size * OWN_UNIT * np.abs(dy).sum((0, 1))


def gradient_of_rows(bench: Bench, rng: np.random.Generator) -> Residual:
    """What dy is 0 for, moves no other row: dx is 0 there, and the others stay."""
    x, *parameters = _drawn(bench, rng)
    dy = bench.rounded(rng.standard_normal(x.shape))
    dy[0, 1] = 0
    (dx, allowed), *_ = bench.gradients(dy, x, *parameters)
    return dx[0, 1], allowed[0, 1]


class FeedForward(Contract):
    name = "feed_forward"
    summary = "activation(x w1 + b1) w2 + b2, row by row"
    inputs = (
        Input("x", "(..., d)"),
        Input("w1", "(d, f)"),
        Input("b1", "(f,)"),
        Input("w2", "(f, d)"),
        Input("b2", "(d,)"),
    )
    output = "(..., d), like x"
    options = (
        Option("activation", "relu", ("relu", "gelu", "silu"), "the function of the hidden layer; gelu has erf"),
    )
    gradient_theorem = "feed_forward_gradients.gradient_of_input"
    mistakes = MISTAKES

    def layer(
        self, x: np.ndarray, w1: np.ndarray, b1: np.ndarray, w2: np.ndarray, b2: np.ndarray, *, activation: str
    ) -> tuple[np.ndarray, Pullback]:
        if np.shape(w2)[-1:] != np.shape(x)[-1:]:
            raise ValueError(f"w2 has shape {np.shape(w2)}, needed (f, d) with d = {np.shape(x)[-1]}, as x has it")
        output, cache = feed_forward.forward(x, w1, b1, w2, b2, activation)
        return output, lambda dy: feed_forward.backward(dy, cache)

    def bound(
        self,
        precision: Precision,
        x: np.ndarray,
        w1: np.ndarray,
        b1: np.ndarray,
        w2: np.ndarray,
        b2: np.ndarray,
        *,
        activation: str,
    ) -> Rounded:
        y = output_bound(hidden(precision, x, w1, b1, activation), w2, b2)
        return y.returned().rearranged(lambda each: each.reshape(x.shape))

    def gradient_bounds(
        self,
        precision: Precision,
        dy: np.ndarray,
        x: np.ndarray,
        w1: np.ndarray,
        b1: np.ndarray,
        w2: np.ndarray,
        b2: np.ndarray,
        *,
        activation: str,
    ) -> tuple[Rounded, ...]:
        rows = dy.reshape(-1, dy.shape[-1])
        dx, *others = gradient_bounds(hidden(precision, x, w1, b1, activation), rows, w1, w2, activation)
        every = (dx.rearranged(lambda each: each.reshape(x.shape)), *others)
        return tuple(each.returned() for each in every)

    def generic(self, rng: np.random.Generator, form: Format, options: Options) -> list[Probe]:
        sizes = (((2, 3), 5, 11), ((7,), 6, 4))
        return [Probe(f"generic x {(*leading, d)}, hidden {f}", _arrays(rng, leading, d, f)) for leading, d, f in sizes]

    def structured(self, rng: np.random.Generator, form: Format, options: Options) -> list[Probe]:
        x, w1, b1, w2, b2 = _arrays(rng, (3, 4), 6, 9)
        probes = [
            Probe("many rows (4, 33, 3)", _arrays(rng, (4, 33), 3, 8)),
            Probe("wide (2, 128), hidden 24", _arrays(rng, (2,), 128, 24)),
            Probe("one row, one unit", _arrays(rng, (1,), 4, 1)),
            Probe("large inputs", (30 * x, w1, b1, w2, b2)),
            Probe("no input", (0 * x, w1, b1, w2, b2)),
            Probe("dead units", (x, w1, np.where(np.arange(9) % 2, -30.0, b1), w2, b2)),
            Probe("units at 0", (np.where(np.arange(4)[:, None] == 1, 0.0, x), w1, 0 * b1, w2, b2)),
        ]
        return probes + [Probe(layout, (x, w1, b1, w2, b2), layout=layout) for layout in ("strided", "read-only")]

    properties = (
        Property(
            "rows are independent",
            "feed_forward.position_wise",
            "a row changes when others are taken away",
            rows_are_independent,
        ),
        Property(
            "permutation equivariance",
            "feed_forward.permutation_equivariance",
            "permuting the rows does not permute the output",
            permutation_equivariance,
        ),
        Property(
            "hidden units in another order",
            "feed_forward.hidden_unit_permutation",
            "the output changes with the order of the hidden units",
            hidden_units_in_another_order,
        ),
        Property(
            "gradient of the second bias",
            "feed_forward_gradients.gradient_of_second_bias",
            "db2 is not the sum of dy over all rows",
            gradient_of_second_bias,
            of_gradient=True,
        ),
        Property(
            "gradient of a row",
            "feed_forward.position_wise",
            "x has a gradient in a row where dy is 0",
            gradient_of_rows,
            of_gradient=True,
        ),
    )


CONTRACT = FeedForward()
