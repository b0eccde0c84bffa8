"""Layers as functions on tapes: whatever derivative a theorem takes, of any order, is asked of the layer.

Let y = f(x) be what a layer computes, x all of its arrays side by side, and b(x, g) = Df(x)^T g what its backward computes.
Two kinds of operation are recorded, and the sweeps through either lead to nothing but such operations, one order up:

    D^k f(x)[v_1, .., v_k]     along dx, dv    D^(k+1) f(x)[v, dx] + sum_i D^k f(x)[v, dv_i for v_i]
                               back from u     to x: D^k b(x, u)[v]; to v_i: D^(k-1) b(x, u)[v without v_i]
    D^k b(x, g)[v_1, .., v_k]  along dx, dv, dg    likewise, and D^k b(x, dg)[v]
                               back from u     to x: D^(k+1) b(x, g)[v, u]; to v_i: D^k b(x, g)[u for v_i];
                                               to g: D^(k+1) f(x)[v, u]

since <u, D^k f(x)[v]> = D^k <u, f>(x)[v], whose gradient is D^k b(x, u)[v], and second derivatives are symmetric. On balls they
are calls of the layer (calls.py): k = 0 of its forward or backward, k = 1 of f of its jvp or jacobian where it has them, and all
others derivatives of these. In float64 Df(x)[v], without a jvp, is <b(x, e_i), v> for the unit vectors e_i.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from math import prod
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from flint import arb

from .calls import Arithmetic, Float64, LayerFunction, Unreadable
from .tape import ONE, ZERO, Number, Tape, Traced, add, inner_product, innermost, outside

__all__ = ["FORWARD_SWEEPS", "ArrayLayer", "LayerFunctions", "Unreadable"]

FORWARD_SWEEPS = ("jvp", "jacobian")

Numbers = list[Number]


class LayerFunctions(NamedTuple):
    """The public functions of a layer. Inputs that it has no derivative by, the constants, follow on those that it has."""

    forward: LayerFunction  # x, constants -> y
    backward: LayerFunction | None = None  # x, constants, dy -> dx
    products: Mapping[str, LayerFunction] = MappingProxyType({})  # "jvp", "jacobian": x, constants, dx -> dy


class ArrayLayer:
    """y(x) for arrays of numbers. `way` names what gives the derivative on the way forward, where the layer has several."""

    def __init__(
        self,
        functions: LayerFunctions,
        arithmetic: Arithmetic,
        way: str = "jvp",
        constants: Iterable[np.ndarray] = (),
        **settings: Any,
    ):
        self.functions, self.arithmetic, self.way = functions, arithmetic, way
        self.constants, self.settings = tuple(constants), settings

    def __call__(self, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        inputs = [array.shape for array in arrays]
        x = _flat(arrays)
        found = self._called(self.functions.forward, _arrays([_on_no_tape(each) for each in x], inputs))
        outputs = [array.shape for array in found]
        if innermost(x) is None:
            return found
        return tuple(_arrays(_Differentiated(self, inputs, outputs).of(x), outputs))

    def pulled(self, arrays: Iterable[np.ndarray], cotangents: Iterable[np.ndarray]) -> tuple[np.ndarray, ...]:
        """The gradients by the arrays, x, of the sum of all outputs times their cotangents."""
        x, g = list(arrays), list(cotangents)
        inputs, outputs = [each.shape for each in x], [each.shape for each in g]
        found = _Differentiated(self, inputs, outputs).of(_flat(x), [], _flat(g))
        return tuple(_arrays(found, inputs))

    def _called(
        self,
        function: LayerFunction,
        x: Sequence[np.ndarray],
        along: Sequence[Sequence[np.ndarray]] = (),
        linear: Sequence[np.ndarray] = (),
    ) -> tuple[np.ndarray, ...]:
        fixed = [None] * (len(self.constants) + len(linear))
        directions = tuple((*direction, *fixed) for direction in along)
        return self.arithmetic.calls(function, *x, *self.constants, *linear, along=directions, **self.settings)


class _Differentiated:
    """The two kinds of operation of the module, for one layer at one set of shapes."""

    def __init__(self, layer: ArrayLayer, inputs: Sequence[tuple[int, ...]], outputs: Sequence[tuple[int, ...]]):
        self.layer, self.inputs, self.outputs = layer, inputs, outputs

    def of(self, x: Numbers, along: Sequence[Numbers] = (), g: Numbers | None = None) -> Numbers:
        """D^k f(x)[along], and with g D^k b(x, g)[along]; linear in each of them."""
        parts = [x, *along] if g is None else [x, *along, g]
        if any(all(map(_vanishes, part)) for part in parts[1:]):
            return [ZERO] * sum(map(prod, self.outputs if g is None else self.inputs))
        tape = innermost([number for part in parts for number in part])
        if tape is None:
            return self._on_balls(x, along, g)
        return self._recorded(tape, parts, g is not None)

    def _recorded(self, tape: Tape, parts: list[Numbers], back: bool) -> Numbers:
        moving = [any(map(tape.holds, part)) for part in parts]
        ends = list(accumulate(map(len, parts)))
        x, *others = ([outside(number, tape) for number in part] for part in parts)
        along, g = (others[:-1], others[-1]) if back else (others, None)

        def push(tangents: Numbers) -> Numbers:
            dx, *rest = (tangents[end - len(part) : end] for part, end in zip(parts, ends, strict=True))
            terms = [self.of(x, [*along, dx], g)]
            terms += [self.of(x, _with(along, k, dv), g) for k, dv in enumerate(rest[: len(along)])]
            if back:
                terms.append(self.of(x, along, rest[-1]))
            return [_sum(entries) for entries in zip(*terms, strict=True)]

        def to_part(k: int, u: Numbers) -> Numbers:
            if not back:
                return self.of(x, along if k == 0 else [*along[: k - 1], *along[k:]], u)
            if k == len(parts) - 1:
                return self.of(x, [*along, u])
            return self.of(x, [*along, u] if k == 0 else _with(along, k - 1, u), g)

        def pull(cotangents: Numbers) -> Numbers:
            found: Numbers = []
            for k, part in enumerate(parts):
                found += to_part(k, cotangents) if moving[k] else [ZERO] * len(part)
            return found

        transposed = _transposed(push, ends[-1])
        inputs = [number for part in parts for number in part]
        value = self.of(x, along, g)
        return tape.record(inputs, value, push, pull if self.layer.functions.backward else transposed)

    def _on_balls(self, x: Numbers, along: Sequence[Numbers], g: Numbers | None) -> Numbers:
        functions = self.layer.functions
        arrays, directions = _arrays(x, self.inputs), [_arrays(v, self.inputs) for v in along]
        if g is not None:
            if functions.backward is None:
                raise Unreadable(f"{functions.forward.name} has no backward")
            return self._called(functions.backward, arrays, directions, _arrays(g, self.outputs))
        product = functions.products.get(self.layer.way)
        if directions and product:
            return self._called(product, arrays, directions[1:], directions[0])
        if len(directions) == 1 and functions.backward and isinstance(self.layer.arithmetic, Float64):
            rows = (self.of(x, [], unit) for unit in _units(sum(map(prod, self.outputs))))
            return [inner_product(row, along[0]) for row in rows]
        return self._called(functions.forward, arrays, directions)

    def _called(
        self,
        function: LayerFunction,
        x: Sequence[np.ndarray],
        along: Sequence[Sequence[np.ndarray]],
        linear: Sequence[np.ndarray] = (),
    ) -> Numbers:
        return _flat(self.layer._called(function, x, along, linear))


def _flat(arrays: Iterable[np.ndarray]) -> Numbers:
    return [number for array in arrays for number in array.flat]


def _arrays(numbers: Sequence[Number], shapes: Sequence[tuple[int, ...]]) -> list[np.ndarray]:
    ends = list(accumulate(map(prod, shapes)))
    parts = []
    for shape, end in zip(shapes, ends, strict=True):
        array = np.empty(prod(shape), dtype=object)
        array[:] = numbers[end - prod(shape) : end]
        parts.append(array.reshape(shape))
    return parts


def _on_no_tape(number: Number) -> arb:
    while isinstance(number, Traced):
        number = number.value
    return number


def _vanishes(number: Number) -> bool:
    return not isinstance(number, Traced) and number.is_zero()


def _sum(numbers: Iterable[Number]) -> Number:
    result: Number = ZERO
    for number in numbers:
        result = add(result, number)
    return result


def _with(parts: Sequence[Numbers], place: int, part: Numbers) -> list[Numbers]:
    return [part if k == place else each for k, each in enumerate(parts)]


def _units(width: int) -> Iterable[Numbers]:
    return ([ONE if k == j else ZERO for k in range(width)] for j in range(width))


def _transposed(push: Any, width: int) -> Any:
    """The pull that belongs to a push, by unit tangents."""

    def pull(cotangents: Numbers) -> Numbers:
        return [inner_product(push(unit), cotangents) for unit in _units(width)]

    return pull
