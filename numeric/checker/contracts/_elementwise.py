"""What relu, gelu and silu have in common: shapes, probes, and what holds of any function of single entries."""

import numpy as np

from ...layers import activations
from ..contract import Bench, Contract, Input, Options, Probe, Property, Pullback, Residual
from ..formats import Format, Precision
from ..rounding import Rounded, any_of
from ._activation_bounds import ACTIVATIONS, accurate_only, bound_of, gradient_bound_of

OWN_UNIT = 2.0**-53

TAIL = [-0.7518, -1.5, -2.27, -2.7, -3.1, -3.7, -4.5, -5.5, -7.0, -9.0, -12.0]
SMALL = [1e-1, 1e-2, 1e-3, 1e-5]


def generic_arrays(rng: np.random.Generator, count: int) -> list[tuple[str, tuple[np.ndarray, ...]]]:
    shapes = ((3, 5, 7), (4, 33))
    return [(f"generic {shape}", tuple(2.5 * rng.standard_normal(shape) for _ in range(count))) for shape in shapes]


def structured_arrays(rng: np.random.Generator) -> list[tuple[str, np.ndarray, str]]:
    """(name, x, layout)"""
    draw = rng.standard_normal
    rows = [
        ("negative tail", np.array([TAIL]), "contiguous"),
        ("positive tail", -np.array([TAIL]), "contiguous"),
        ("near zero", np.array([[sign * each for each in SMALL for sign in (-1, 1)]]), "contiguous"),
        ("far out", np.array([[-800.0, -200.0, -100.0, -40.0, -20.0, 20.0, 40.0, 100.0, 200.0, 800.0]]), "contiguous"),
        ("zeros among others", np.where(draw((3, 8)) > 0.5, 0.0, draw((3, 8))), "contiguous"),
        ("single entry", draw((1, 1)), "contiguous"),
        ("one axis (11,)", draw(11), "contiguous"),
        ("3 x 1024", 2 * draw((3, 1024)), "contiguous"),
    ]
    return rows + [(layout, 2 * draw((5, 7)), layout) for layout in ("strided", "read-only")]


class Elementwise(Contract):
    """Named as one of ACTIVATIONS; a subclass adds theorems, properties and mistakes."""

    inputs = (Input("x", "any shape"),)
    output = "like x"

    def layer(self, x: np.ndarray) -> tuple[np.ndarray, Pullback]:
        output, cache = activations.forward(self.name, x)
        return output, lambda dy: activations.backward(dy, cache)

    def bound(self, precision: Precision, x: np.ndarray) -> Rounded:
        return bound_of(self.name, Rounded.exact(x, precision)).returned()

    def gradient_bounds(self, precision: Precision, dy: np.ndarray, x: np.ndarray) -> tuple[Rounded, ...]:
        g, at = Rounded.exact(dy, precision), Rounded.exact(x, precision)
        return (gradient_bound_of(self.name, g, at).returned(),)

    def accurate_bound(self, precision: Precision, x: np.ndarray) -> Rounded | None:
        at = Rounded.exact(x, precision.widened())
        return any_of(ACTIVATIONS[self.name].value(at, accurate_only(precision))).returned()

    def accurate_gradient_bounds(
        self, precision: Precision, dy: np.ndarray, x: np.ndarray
    ) -> tuple[Rounded, ...] | None:
        g, at = (Rounded.exact(each, precision.widened()) for each in (dy, x))
        return (any_of(ACTIVATIONS[self.name].gradient(g, at, accurate_only(precision))).returned(),)

    def generic(self, rng: np.random.Generator, form: Format, options: Options) -> list[Probe]:
        return [Probe(name, arrays) for name, arrays in generic_arrays(rng, 1)]

    def structured(self, rng: np.random.Generator, form: Format, options: Options) -> list[Probe]:
        return [Probe(name, (x,), layout=layout) for name, x, layout in structured_arrays(rng)]


def entries_of(bench: Bench, rng: np.random.Generator) -> np.ndarray:
    return bench.rounded(2 * rng.standard_normal((4, 7)))


def odd_part(bench: Bench, rng: np.random.Generator) -> Residual:
    x = entries_of(bench, rng)
    (up, allowed_up), (down, allowed_down) = bench.output(x), bench.output(-x)
    return up - down - x, allowed_up + allowed_down + 2 * OWN_UNIT * (np.abs(up) + np.abs(down) + np.abs(x))


def slopes_add_up_to_one(bench: Bench, rng: np.random.Generator) -> Residual:
    """The derivative of f(x) - f(-x) = x, away from 0."""
    x = entries_of(bench, rng)
    dy = bench.rounded(rng.standard_normal(x.shape))
    [(up, allowed_up)], [(down, allowed_down)] = bench.gradients(dy, x), bench.gradients(dy, -x)
    return up + down - dy, allowed_up + allowed_down + 2 * OWN_UNIT * (np.abs(up) + np.abs(down) + np.abs(dy))


def entries_are_independent(bench: Bench, rng: np.random.Generator) -> Residual:
    x = entries_of(bench, rng)
    alone, allowed_alone = bench.output(x[1:2, 2:5])
    among, allowed = (part[1:2, 2:5] for part in bench.output(x))
    return alone - among, allowed + allowed_alone


def common_properties(theorem: str, derivative: str) -> tuple[Property, ...]:
    """`theorem` is f(x) - f(-x) = x."""
    return (
        Property("odd part", theorem, "f(x) - f(-x) = x fails", odd_part),
        Property(
            "entries are independent",
            derivative,
            "an entry changes when others are taken away",
            entries_are_independent,
        ),
        Property("slopes at x and -x", theorem, "f'(x) + f'(-x) = 1 fails", slopes_add_up_to_one, of_gradient=True),
    )
