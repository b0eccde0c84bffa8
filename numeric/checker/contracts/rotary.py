"""rotary: x (..., n, d), positions (n,) -> like x; pairs (2i, 2i + 1) turned by the angle position * base^(-2i/d).

The bound admits every way of `_angles`; cosine and sine are stored in the dtype, and so are both products and their sum.
"""

import numpy as np

from ...layers import rotary
from ..contract import Bench, Contract, Input, Options, Probe, Property, Pullback, Residual
from ..formats import Format, Precision
from ..rounding import Rounded, any_of, interleaved
from ._angles import BASE, angle_bounds
from ._rotary_mistakes import FITS, MISTAKES

OWN_UNIT = 2.0**-53


def _rows(bench: Bench, rng: np.random.Generator, d: int = 6) -> tuple[np.ndarray, np.ndarray]:
    return bench.rounded(rng.standard_normal((2, 5, d))), rng.permutation(40)[:5]


def isometry(bench: Bench, rng: np.random.Generator) -> Residual:
    x, positions = _rows(bench, rng)
    y, allowed = bench.output(x, positions)

    def square(pairs: np.ndarray) -> np.ndarray:
        return pairs[..., 0::2] ** 2 + pairs[..., 1::2] ** 2

    single = 2 * np.abs(y) * allowed + allowed**2
    own = 4 * OWN_UNIT * (square(x) + square(y))
    return square(y) - square(x), single[..., 0::2] + single[..., 1::2] + own


def score_depends_on_relative_position(bench: Bench, rng: np.random.Generator) -> Residual:
    q, positions_q = _rows(bench, rng)
    k, positions_k = _rows(bench, rng)
    scores, allowed = [], np.zeros((2, 5))
    for shift in (0, 17):
        (a, allowed_a), (b, allowed_b) = bench.output(q, positions_q + shift), bench.output(k, positions_k + shift)
        scores.append((a * b).sum(-1))
        error = np.abs(a) * allowed_b + np.abs(b) * allowed_a + allowed_a * allowed_b
        allowed = allowed + (error + (a.shape[-1] + 1) * OWN_UNIT * np.abs(a * b)).sum(-1)
    return scores[1] - scores[0], allowed


def position_zero_is_identity(bench: Bench, rng: np.random.Generator) -> Residual:
    x, positions = _rows(bench, rng)
    y, allowed = bench.output(x, 0 * positions)
    return y - x, allowed


def gradient_turns_back(bench: Bench, rng: np.random.Generator) -> Residual:
    """The rotation's transpose is its inverse, so the gradient at dy = y is x again."""
    x, positions = _rows(bench, rng)
    y, allowed = bench.output(x, positions)
    dy = bench.rounded(y)
    [(dx, allowed_dx)] = bench.gradients(dy, x, positions)
    passed_on = allowed + np.abs(dy - y)
    swapped = np.stack([passed_on[..., 1::2], passed_on[..., 0::2]], -1).reshape(passed_on.shape)
    return dx - x, allowed_dx + passed_on + swapped  # |cos|, |sin| <= 1


class Rotary(Contract):
    name = "rotary"
    summary = "each pair (x_2i, x_2i+1) of a row turned by the angle position * base^(-2i/d)"
    inputs = (Input("x", "(..., n, d)"), Input("positions", "(n,) integers", floating=False))
    output = "(..., n, d), like x"
    options = (BASE,)
    gradient_theorem = "rotary.isometry"
    mistakes = MISTAKES
    fits = FITS

    def layer(self, x: np.ndarray, positions: np.ndarray, *, base: float) -> tuple[np.ndarray, Pullback]:
        y, cache = rotary.forward(x, positions, base)
        return y, lambda dy: (rotary.backward(dy, cache),)

    def bound(self, precision: Precision, x: np.ndarray, positions: np.ndarray, *, base: float) -> Rounded:
        cos, sin = _cos_and_sin(precision, positions, x.shape[-1], base)
        return _turned(precision, x, cos, sin)

    def gradient_bounds(
        self, precision: Precision, dy: np.ndarray, x: np.ndarray, positions: np.ndarray, *, base: float
    ) -> tuple[Rounded, ...]:
        cos, sin = _cos_and_sin(precision, positions, x.shape[-1], base)
        return (_turned(precision, dy, cos, -sin),)

    def generic(self, rng: np.random.Generator, form: Format, options: Options) -> list[Probe]:
        few, many = rng.permutation(60)[:5], rng.permutation(900)[:11]
        return [
            Probe("generic (2, 5, 6)", (rng.standard_normal((2, 5, 6)), few)),
            Probe("generic (2, 3, 11, 16)", (rng.standard_normal((2, 3, 11, 16)), many)),
        ]

    def structured(self, rng: np.random.Generator, form: Format, options: Options) -> list[Probe]:
        x = rng.standard_normal((2, 5, 6))
        far = np.array([4095, 257, 2048, 1000, 3])
        probes = [
            Probe("positions from 0", (rng.standard_normal((3, 7, 4)), np.arange(7))),
            Probe("position 0", (x, np.zeros(5, dtype=np.int64))),
            Probe("far positions", (x, far)),
            Probe("one pair", (rng.standard_normal((4, 7, 2)), rng.permutation(30)[:7])),
            Probe("one row", (rng.standard_normal((1, 8)), np.array([13]))),
            Probe("two axes (9, 128)", (rng.standard_normal((9, 128)), rng.permutation(500)[:9])),
        ]
        return probes + [Probe(layout, (x, far), layout=layout) for layout in ("strided", "read-only")]

    properties = (
        Property(
            "relative positions",
            "rotary.score_depends_on_relative_position",
            "<R_m q, R_n k> changes when both positions move by the same amount",
            score_depends_on_relative_position,
        ),
        Property("isometry", "rotary.isometry", "the norms of the pairs (2i, 2i + 1) are not kept", isometry),
        Property(
            "position 0 is the identity",
            "rotary.isometry",
            "rows at position 0 do not stay as they are",
            position_zero_is_identity,
        ),
        Property(
            "gradient turns back",
            "rotary.isometry",
            "the gradient at dy = y is not x: it is not the inverse rotation",
            gradient_turns_back,
            of_gradient=True,
        ),
    )


def _cos_and_sin(precision: Precision, positions: np.ndarray, d: int, base: float) -> tuple[Rounded, Rounded]:
    angles = any_of(angle_bounds(precision, positions, d, base))
    return angles.cos().within(precision), angles.sin().within(precision)


def _turned(precision: Precision, x: np.ndarray, cos: Rounded, sin: Rounded) -> Rounded:
    even, odd = Rounded.exact(x[..., 0::2], precision), Rounded.exact(x[..., 1::2], precision)
    return interleaved(even * cos - odd * sin, even * sin + odd * cos).returned()


CONTRACT = Rotary()
