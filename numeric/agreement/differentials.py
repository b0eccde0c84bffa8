"""Layers as functions on tapes: their derivative is the layer's own, or, where it has none, an enclosed difference quotient.

A layer of one vector z gives its derivative itself: jvp or jacobian on the way forward, backward on the way back. What has no
such function, a second derivative or the derivative by a position, is enclosed by central differences of step h,

    F'(0) = (F(h) - F(-h)) / 2h  +- h^2/6 max |F'''|

1. F(t) = D y(z + t v)[w], the derivative of softmax or log-softmax along w (or of <w, y>), with V = max |v|, W = sum |w|.
   g(t, s) = softmax(z + t v + s w) is analytic, and bounded by 1/cos 1 where |t| <= 1/2V, |s| <= 1/2W, since the exponentials
   then lie within an angle of 1 of the positive axis: |sum| >= cos 1 sum | |. By Cauchy's estimate |d^3/dt^3 d/ds g| <=
   3! (2V)^3 2W / cos 1 < 178 V^3 W, and for log-softmax, whose F''' is -sum w d^3 softmax, less. So the rest is 30 h^2 V^3 W.
2. F(t) = f(p + t k), sines and cosines of w p with |w| <= fastest, times at most `scale`: h^2/6 |k fastest|^3 scale.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from flint import arb

from ..arithmetic import to_balls
from .calls import Arithmetic, LayerFunction
from .tape import ONE, ZERO, Number, Traced, add, inner_product, innermost, outside

FORWARD_SWEEPS = ("jvp", "jacobian")


class Unreadable(Exception):
    """A derivative that neither a layer nor a difference quotient gives here."""


class VectorFunctions(NamedTuple):
    """The public functions of a layer that takes one vector to another, and has a temperature."""

    forward: LayerFunction  # z -> y
    jvp: LayerFunction  # z, dz -> dy
    jacobian: LayerFunction  # z -> dy/dz
    backward: LayerFunction  # z, dy -> dz


class VectorLayer:
    """y(z), read as forward(T z, T): the same for every temperature T. `way` names what gives its derivative."""

    def __init__(self, functions: VectorFunctions, arithmetic: Arithmetic, way: str, temperature: float):
        self.functions, self.arithmetic, self.way, self.temperature = functions, arithmetic, way, temperature

    def __call__(self, z: Sequence[Number]) -> list[Number]:
        tape = innermost(z)
        if tape is None:
            return list(self._called(self.functions.forward, z))
        values = [outside(each, tape) for each in z]
        sweep = self.way if self.way in FORWARD_SWEEPS else "jvp"
        return tape.record(
            z,
            self(values),
            push=lambda dz: self._differential(sweep, values, dz),
            pull=lambda dy: self._differential("backward", values, dy),
        )

    def _differential(self, kind: str, z: Sequence[Number], along: Sequence[Number]) -> list[Number]:
        """J(z) `along`, or its transpose for backward; linear in `along`."""
        tape = innermost([*z, *along])
        if tape is None:
            return list(self._linear(kind, z, along))
        z0, along0 = ([outside(each, tape) for each in part] for part in (z, along))

        def push(tangents: list[Number]) -> list[Number]:
            dz, d_along = tangents[: len(z)], tangents[len(z) :]
            if all(map(_vanishes, dz)):
                return self._differential(kind, z0, d_along)
            bent = self._quotient(kind, z0, along0, dz)
            if all(map(_vanishes, d_along)):
                return bent
            return [add(x, y) for x, y in zip(self._differential(kind, z0, d_along), bent, strict=True)]

        return tape.record([*z, *along], self._differential(kind, z0, along0), push, _transposed(push, 2 * len(z)))

    def _linear(self, kind: str, z: Sequence[Number], along: Sequence[Number]) -> np.ndarray:
        scaled = to_balls(self.temperature) * _array(along)  # the layer's logits are T z
        if kind == "jacobian":
            return np.asarray(self._called(self.functions.jacobian, z) @ scaled, dtype=object)
        if kind == "jvp":
            return self._called(self.functions.jvp, z, scaled)
        return to_balls(self.temperature) * self._called(self.functions.backward, z, _array(along))

    def _called(self, function: LayerFunction, z: Sequence[Number], *more: np.ndarray) -> np.ndarray:
        logits = to_balls(self.temperature) * _array(z)
        return self.arithmetic.call(function, logits, *more, temperature=self.temperature)

    def _quotient(self, kind: str, z: Sequence[Number], along: Sequence[Number], dz: Sequence[Number]) -> list[Number]:
        if innermost([*z, *along, *dz]) is not None:
            raise Unreadable(f"the third derivative of {self.functions.forward.name} is not given by the layer")
        start, direction, h = _array(z), _array(dz), self.arithmetic.step
        ahead, behind = (self._linear(kind, list(start + k * direction), along) for k in (h, -h))
        size, weight = max((abs(x).upper() for x in direction), default=ZERO), abs(_array(along)).sum().upper()
        return list((ahead - behind) / (2 * h) + arb(0, 30 * h * h * size * size * size * weight))


class PositionLayer:
    """A layer's function of one real position, as a flat array; `fastest` and `scale` are those of the module."""

    def __init__(self, run: Callable[[arb], np.ndarray], arithmetic: Arithmetic, fastest: arb, scale: arb = ONE):
        self.run, self.step, self.fastest, self.scale = run, arithmetic.step, fastest, scale

    def __call__(self, position: Number) -> list[Number]:
        if not isinstance(position, Traced):
            return list(self.run(position).flat)
        at = position.value

        def push(tangents: list[Number]) -> list[Number]:
            return self._quotient(at, tangents[0])

        return position.tape.record([position], self(at), push, _transposed(push, 1))

    def _quotient(self, position: Number, along: Number) -> list[Number]:
        if isinstance(position, Traced) or isinstance(along, Traced):
            raise Unreadable("the second derivative by a position is not given by the layer")
        h = self.step
        ahead, behind = (self.run(position + k * along).ravel() for k in (h, -h))
        turn = abs(along * self.fastest).upper()
        rest = h * h / 6 * turn * turn * turn * self.scale
        return list((ahead - behind) / (2 * h) + arb(0, rest.upper()))


def _vanishes(number: Number) -> bool:
    return not isinstance(number, Traced) and number.is_zero()


def _array(numbers: Sequence[Number]) -> np.ndarray:
    return np.array(numbers, dtype=object)


def _transposed(push: Callable[[list[Number]], list[Number]], width: int) -> Callable[[list[Number]], list[Number]]:
    """The pull that belongs to a push, by unit tangents."""

    def pull(cotangents: list[Number]) -> list[Number]:
        units: list[list[Number]] = [[ONE if k == j else ZERO for k in range(width)] for j in range(width)]
        return [inner_product(push(unit), cotangents) for unit in units]

    return pull
