"""swiglu: a, b of one shape -> silu(a) b, entry by entry. The projections that a and b come from are not part of it.

Evaluation orders that the bound admits: those of silu, and the three products in any order, forward and backward.
"""

import numpy as np

from ...layers import activations
from ..contract import Bench, Contract, Input, Options, Probe, Property, Pullback, Residual
from ..formats import Format, Precision
from ..rounding import Rounded, any_of
from ._activation_bounds import ACTIVATIONS, accurate_only, sigmoids
from ._elementwise import OWN_UNIT, entries_of, generic_arrays, structured_arrays
from ._swiglu_mistakes import FITS, MISTAKES


def _outputs(a: Rounded, b: Rounded, accurate: bool) -> list[Rounded]:
    gated = [y * b for y in ACTIVATIONS["silu"].value(a, accurate)]
    return gated + [a * (s * b) for s in sigmoids(a, accurate)]


def _gradients(g: Rounded, a: Rounded, b: Rounded, accurate: bool) -> tuple[Rounded, Rounded]:
    one, silu = Rounded.exact(1.0, a.precision), ACTIVATIONS["silu"]
    slopes = silu.gradient(one, a, accurate)
    of_gate = silu.gradient(g * b, a, accurate) + [g * (b * slope) for slope in slopes]
    of_value = [g * y for y in silu.value(a, accurate)] + [(g * a) * s for s in sigmoids(a, accurate)]
    return any_of(of_gate), any_of(of_value)


def odd_part(bench: Bench, rng: np.random.Generator) -> Residual:
    a, b = entries_of(bench, rng), entries_of(bench, rng)
    (up, allowed_up), (down, allowed_down) = bench.output(a, b), bench.output(-a, b)
    own = 3 * OWN_UNIT * (np.abs(up) + np.abs(down) + np.abs(a * b))
    return up - down - a * b, allowed_up + allowed_down + own


def linear_in_value(bench: Bench, rng: np.random.Generator) -> Residual:
    a, b = entries_of(bench, rng), entries_of(bench, rng)
    (once, allowed), (fourfold, allowed_fourfold) = bench.output(a, b), bench.output(a, -4 * b)
    return fourfold + 4 * once, 4 * allowed + allowed_fourfold


def value_times_its_gradient(bench: Bench, rng: np.random.Generator) -> Residual:
    """b db = dy y, since the output is linear in b."""
    a, b = entries_of(bench, rng), entries_of(bench, rng)
    dy = bench.rounded(rng.standard_normal(a.shape))
    y, allowed_y = bench.output(a, b)
    _, (db, allowed) = bench.gradients(dy, a, b)
    own = 2 * OWN_UNIT * (np.abs(b * db) + np.abs(dy * y))
    return b * db - dy * y, np.abs(b) * allowed + np.abs(dy) * allowed_y + own


class Swiglu(Contract):
    name = "swiglu"
    summary = "silu(a) b, entry by entry; a is the gate"
    inputs = (Input("a", "any shape"), Input("b", "like a"))
    output = "like a"
    gradient_theorem = "activations.swiglu_derivative_in_gate"
    mistakes = MISTAKES
    fits = FITS

    def layer(self, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, Pullback]:
        output, cache = activations.forward("swiglu", a, b)
        return output, lambda dy: activations.backward(dy, cache)

    def bound(self, precision: Precision, a: np.ndarray, b: np.ndarray) -> Rounded:
        return any_of(_outputs(Rounded.exact(a, precision), Rounded.exact(b, precision), False)).returned()

    def accurate_bound(self, precision: Precision, a: np.ndarray, b: np.ndarray) -> Rounded:
        gate, value = (Rounded.exact(each, precision.widened()) for each in (a, b))
        return any_of(_outputs(gate, value, accurate_only(precision))).returned()

    def gradient_bounds(
        self, precision: Precision, dy: np.ndarray, a: np.ndarray, b: np.ndarray
    ) -> tuple[Rounded, ...]:
        g, gate, value = (Rounded.exact(each, precision) for each in (dy, a, b))
        return tuple(each.returned() for each in _gradients(g, gate, value, False))

    def accurate_gradient_bounds(
        self, precision: Precision, dy: np.ndarray, a: np.ndarray, b: np.ndarray
    ) -> tuple[Rounded, ...]:
        g, gate, value = (Rounded.exact(each, precision.widened()) for each in (dy, a, b))
        return tuple(each.returned() for each in _gradients(g, gate, value, accurate_only(precision)))

    def generic(self, rng: np.random.Generator, form: Format, options: Options) -> list[Probe]:
        return [Probe(name, arrays) for name, arrays in generic_arrays(rng, 2)]

    def structured(self, rng: np.random.Generator, form: Format, options: Options) -> list[Probe]:
        rows = structured_arrays(rng)
        return [Probe(name, (a, rng.standard_normal(a.shape)), layout=layout) for name, a, layout in rows]

    properties = (
        Property("odd part", "activations.silu_odd_part", "swiglu(a, b) - swiglu(-a, b) = a b fails", odd_part),
        Property(
            "linear in the value",
            "activations.swiglu_derivative_in_value",
            "swiglu(a, -4 b) = -4 swiglu(a, b) fails",
            linear_in_value,
        ),
        Property(
            "value times its gradient",
            "activations.swiglu_derivative_in_value",
            "b db = dy y fails",
            value_times_its_gradient,
            of_gradient=True,
        ),
    )


CONTRACT = Swiglu()
