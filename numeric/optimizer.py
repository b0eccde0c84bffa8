r"""Adam, its learning rate with warm-up, the clipping of gradients, and their accumulation over micro-batches.

    m <- b1 m + (1 - b1) g        v <- b2 v + (1 - b2) g^2        at step T = 1, 2, ...; both start from 0
    p <- p - a m^ / (sqrt(v^) + eps)           m^ = m / (1 - b1^T)          v^ = v / (1 - b2^T)
    a = min(T^(-1/2), T w^(-3/2)) / sqrt(d)    rises for w steps, then falls
    g <- g c / |g| where |g| > c               |g| the root of the sum of all squares, over all arrays
    g = sum N_i g_i / sum N_i                  g_i the gradient of a mean over the N_i tokens of micro-batch i

Parameters p, gradients g and moments m, v are trees of the same names, shapes and dtypes: float32, float64 or balls. In
float16 and bfloat16 most steps would be rounded away. eps stands outside the root.
Kingma & Ba 2015 (arXiv:1412.6980), algorithm 1; b1 = 0.9, b2 = 0.98, eps = 1e-9 and the schedule are those of Vaswani
et al. 2017, section 5.3 and equation 3; clipping is that of Pascanu et al. 2013 (arXiv:1211.5063), algorithm 1.
Proved in proofs/theorems/training.py: moment_is_weighted_sum, bias_correction_is_exact_for_constant_gradient, constant_gradient_step, first_step.
Proved in proofs/theorems/training_schedule.py: schedule_rises, schedule_decays, schedule_peak, schedule_maximum.
Proved in proofs/theorems/loss_reductions.py: overall_mean_weighs_the_batches, mean_of_means_is_not_the_mean.
"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from flint import arb

from .arithmetic import BALL, convert, is_balls, zeros
from .layers._arguments import number_operand, positive_operand, require_number, require_operand, require_size
from .layers._parameters import finite_operand
from .parameters import Tree, flatten, map_leaves

NAME = "optimizer"
DTYPES = (np.dtype(np.float32), np.dtype(np.float64), BALL)
BLOCK = 32768  # entries worked on at a time: the temporaries of a block stay in the cache, those of an array would not


class Adam(NamedTuple):
    """The decays of the two moments, and what is added to the root. 0 <= beta < 1, eps > 0."""

    beta1: float | arb = 0.9
    beta2: float | arb = 0.98
    eps: float | arb = 1e-9


DEFAULT = Adam()


class State(NamedTuple):
    """What Adam remembers: plain data, to be saved along with the parameters."""

    step: int  # steps taken
    m: Tree  # moments, not corrected
    v: Tree


class Accumulated(NamedTuple):
    """Micro-batches so far."""

    tokens: int  # sum N_i
    weighted: Tree  # sum N_i g_i


# Adam, coordinate by coordinate


def average(beta: float | arb, moment: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """b m + (1 - b) g, what a moment m becomes on a gradient g."""
    # spelled so that the two weights add up to 1 exactly, whatever 1 - b is rounded to
    return np.asarray(moment + _rest_of_one(beta, moment.dtype) * (gradient - moment))


def corrected(moment: np.ndarray, power: float | arb) -> np.ndarray:
    """m / (1 - p), a moment without its bias towards 0; p < 1 is b^T after T steps."""
    return np.asarray(moment / _rest_of_one(power, moment.dtype))


def adam_step(rate: float | arb, eps: float | arb, m: np.ndarray, v: np.ndarray) -> np.ndarray:
    """-a m / (sqrt(v) + eps), what a step adds to the parameters, from corrected moments."""
    return np.asarray(-convert(rate, m.dtype) * m / (np.sqrt(v) + convert(eps, m.dtype)))


def initial(params: Tree) -> State:
    """Before the first step: all moments are 0."""
    m, v = (map_leaves(lambda p: zeros(p.shape, p.dtype), params) for _ in range(2))
    return State(0, m, v)


def update(params: Tree, gradients: Tree, state: State, rate: float | arb, adam: Adam = DEFAULT) -> tuple[Tree, State]:
    """The parameters and the state after one more step, at the learning rate `rate`.

    They are written over the arrays of `params` and `state`, which lose their old contents; `gradients` stay. Raises
    TypeError or ValueError, before anything is written, unless the trees fit, the arrays are writable float32, float64
    or balls, and the numbers are in range.
    """
    step = require_size(NAME, "step", state.step + 1)
    trees = {"params": params, "gradients": gradients, "state.m": state.m, "state.v": state.v}
    leaves = {name: flatten(tree) for name, tree in trees.items()}
    for dtype in _require_alike(leaves):
        _require_settings(adam, rate, dtype)
    for name in leaves["params"]:
        _advance([leaves[tree][name] for tree in trees], step, rate, adam)
    return params, State(step, state.m, state.v)


def _advance(arrays: list[np.ndarray], step: int, rate: float | arb, adam: Adam) -> None:
    power1, power2 = (_exact(beta, arrays[0].dtype) ** step for beta in (adam.beta1, adam.beta2))
    for p, g, m, v in _blocks(arrays, ["readwrite", "readonly", "readwrite", "readwrite"]):
        m[...] = average(adam.beta1, m, g)
        v[...] = average(adam.beta2, v, g * g)
        p += adam_step(rate, adam.eps, corrected(m, power1), corrected(v, power2))


def _blocks(arrays: list[np.ndarray], access: list[Any]) -> Iterator[tuple[np.ndarray, ...]]:
    """The arrays side by side, cut into flat pieces that are written through, whatever their layout."""
    flags: Any = ["external_loop", "buffered", "refs_ok", "zerosize_ok"]
    with np.nditer(arrays, flags, [[each] for each in access], buffersize=BLOCK) as pieces:
        for piece in pieces:
            yield piece if isinstance(piece, tuple) else (piece,)


def _exact(number: float | arb, dtype: np.dtype) -> float | arb:
    return arb(number) if dtype == BALL else number


def _rest_of_one(number: float | arb, dtype: np.dtype) -> np.ndarray:
    """1 minus a number, subtracted before it is rounded to the dtype: float32(0.98) would leave a wrong sixth digit."""
    return convert(1 - _exact(number, dtype), dtype)


# The learning rate


def learning_rate(d_model: float | arb, warmup: float | arb, step: float | arb) -> float | arb:
    """min(1/sqrt(s), s / (w sqrt(w))) / sqrt(d) at step s, counted from 1, with w steps of warm-up; a ball for balls.

    Raises TypeError or ValueError unless all three are finite numbers above 0.
    """
    numbers = {"d_model": d_model, "warmup": warmup, "step": step}
    dtype = BALL if any(isinstance(number, arb) for number in numbers.values()) else np.dtype(np.float64)
    d, w, s = (positive_operand(NAME, name, number, dtype).item() for name, number in numbers.items())
    rate = minimum(1 / np.sqrt(s), s / (w * np.sqrt(w))) / np.sqrt(d)
    return rate if isinstance(rate, arb) else float(rate)


def minimum(x: float | arb, y: float | arb) -> float | arb:
    """The smaller one; of balls that overlap, a ball that holds it."""
    return arb.min(arb(x), arb(y)) if isinstance(x, arb) or isinstance(y, arb) else min(x, y)


# Gradients


def global_norm(gradients: Tree) -> float:
    """The root of the sum of all squares over all arrays, summed in float64.

    Raises FloatingPointError where an entry, or the sum, is not finite, and TypeError for balls.
    """
    total = 0.0
    for name, gradient in flatten(gradients).items():
        require_operand(NAME, f"the gradient of {name}", gradient, 0)
        if is_balls(gradient):
            raise TypeError(
                f"{NAME}: the gradient of {name} holds balls, needed floats, whose norm decides on clipping"
            )
        wide = (block.astype(np.float64) for (block,) in _blocks([gradient], ["readonly"]))
        total += sum(float(block @ block) for block in wide)
        if not math.isfinite(total):
            _raise_not_finite(name, gradient)
    return math.sqrt(total)


def clip(gradients: Tree, largest: float) -> tuple[Tree, float]:
    """The gradients with a global norm of at most `largest`, their direction kept, and the norm that they had.

    What is not longer is returned as it is; else in new arrays. Raises ValueError unless `largest` is above 0, and
    as `global_norm`.
    """
    require_number(NAME, "largest", largest)
    if isinstance(largest, arb) or not largest > 0:
        raise ValueError(f"{NAME}: largest is {largest}, needed a float above 0; inf clips nothing")
    norm = global_norm(gradients)
    if norm <= largest:
        return gradients, norm
    factor = float(largest) / norm
    return map_leaves(lambda g: np.asarray(g * factor, g.dtype), gradients), norm


def accumulate(gradients: Tree, tokens: int, before: Accumulated | None = None) -> Accumulated:
    """With one more micro-batch, whose loss is a mean over `tokens` tokens.

    `before` is written over; `gradients` stay. Raises ValueError unless tokens >= 1 and the trees fit.
    """
    tokens = require_size(NAME, "tokens", tokens)
    weighted = map_leaves(lambda g: np.asarray(g * tokens), gradients)
    if before is None:
        return Accumulated(tokens, weighted)
    _require_alike({"before": flatten(before.weighted), "gradients": flatten(weighted)})
    return Accumulated(before.tokens + tokens, map_leaves(lambda a, b: np.add(a, b, out=a), before.weighted, weighted))


def mean_gradient(accumulated: Accumulated) -> Tree:
    """The gradient of the mean over all tokens of all micro-batches: that of the batch they were cut from."""
    return map_leaves(lambda weighted: np.asarray(weighted / accumulated.tokens), accumulated.weighted)


# Arguments


def _require_alike(trees: dict[str, dict[str, np.ndarray]]) -> set[np.dtype]:
    """The same names, shapes and dtypes in all trees as in the first; the dtypes that occur."""
    (first, leaves), *_ = trees.items()
    for tree, others in trees.items():
        if others.keys() != leaves.keys():
            odd = sorted(others.keys() ^ leaves.keys())
            raise ValueError(
                f"{NAME}: {tree} and {first} do not have the same names, as {odd[0]} ({len(odd)} such in all)"
            )
        for name, other in others.items():
            one, place = leaves[name], f"{name} in {tree}"
            require_operand(NAME, place, other, 0)
            if other.dtype not in DTYPES:
                raise TypeError(f"{NAME}: {place} has dtype {other.dtype}, needed float32, float64 or balls")
            if (other.shape, other.dtype) != (one.shape, one.dtype):
                found, needed = (f"shape {each.shape} and dtype {each.dtype}" for each in (other, one))
                raise ValueError(f"{NAME}: {place} has {found}, needed {needed}, as in {first}")
            if tree != "gradients" and not other.flags.writeable:
                raise ValueError(f"{NAME}: {place} is read-only, needed an array to write to; pass a copy")
    return {leaf.dtype for leaf in leaves.values()}


def _require_settings(adam: Adam, rate: float | arb, dtype: np.dtype) -> None:
    finite_operand(NAME, "rate", rate, dtype)
    positive_operand(NAME, "eps", adam.eps, dtype)
    for name, beta in (("beta1", adam.beta1), ("beta2", adam.beta2)):
        number_operand(NAME, name, beta, dtype)
        if not (beta >= 0 and beta < 1):  # of a ball, these are True only where they are proved
            raise ValueError(f"{NAME}: {name} is {beta}, needed 0 <= {name} < 1")


def _raise_not_finite(name: str, gradient: np.ndarray) -> None:
    wrong = np.argwhere(~np.isfinite(gradient))
    if not len(wrong):
        raise FloatingPointError(f"{NAME}: the norm of the gradient overflows at {name}; needed one that float64 holds")
    index = tuple(int(i) for i in wrong[0])
    raise FloatingPointError(
        f"{NAME}: the gradient of {name} is {gradient[index]} at index {index} ({len(wrong)} entries not finite), "
        "needed finite numbers; the parameters are as before. Lower the learning rate or lengthen the warm-up"
    )
