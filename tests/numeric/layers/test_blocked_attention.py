# mypy: disable-error-code="arg-type"
# (wrong arguments are passed on purpose, to see what is said of them)
import json
import math
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from numeric.arithmetic import convert, precision, round_to, to_balls, to_floats, widen, zeros
from numeric.checker.rounding import Rounded, allowance
from numeric.layers import attention, blocked_attention, masking

from . import bounds

SHAPES = {  # of q, k, v
    "plain": ((7, 5), (10, 5), (10, 2)),
    "more queries than keys": ((8, 2), (5, 2), (5, 3)),
    "a batch": ((2, 2, 3, 2), (2, 2, 4, 2), (2, 2, 4, 3)),
    "keys shared": ((2, 2, 3, 2), (2, 1, 4, 2), (2, 1, 4, 3)),
    "keys without a batch": ((2, 3, 2), (4, 2), (4, 2)),
    "queries shared": ((3, 2), (2, 4, 2), (2, 4, 1)),
    "values apart": ((3, 2), (4, 2), (2, 4, 1)),
}
MASKS = ("all", "some", "padding", "causal", "causal_lower_right")


def arguments(shapes, sample, dtype=np.float64):
    """q, k, v and a cotangent of the output."""
    q, k, v = (sample(shape, dtype, seed=seed) for seed, shape in enumerate(shapes))
    batch = np.broadcast_shapes(*(shape[:-2] for shape in shapes))
    return q, k, v, sample((*batch, q.shape[-2], v.shape[-1]), dtype, seed=3)


def mask_of(name, q, k):
    """What the layer is given, and the boolean array that it means."""
    n_q, n_k = q.shape[-2], k.shape[-2]
    if name in ("causal", "causal_lower_right"):
        return name, masking.causal(n_q, n_k, name == "causal_lower_right")
    if name == "all":
        return None, np.ones((n_q, n_k), bool)
    if name == "padding":
        return (np.arange(n_k) % 3 != 2,) * 2
    keep = np.random.default_rng(5).random((*np.broadcast_shapes(q.shape[:-2], k.shape[:-2]), n_q, n_k)) < 0.5
    keep[..., 1, :] = False
    keep[..., 2, :3], keep[..., 2, 3] = False, True  # its first keys come late
    return keep, keep


# What rounding may do


def product(a, b):
    """a @ b, summed in any order: the rules of `Rounded` for products and sums, taken together."""
    n, form = a.value.shape[-1], a.precision.stored
    x, y = np.abs(a.value), np.abs(b.value)
    size, worst = x @ y, np.zeros(())
    for left, right in ((x, b.worst), (a.worst, y), (3 * a.worst, b.worst)):
        if left.any() and right.any():  # most factors are exact, and most tests short of time
            worst = worst + left @ right
    worst = worst + form.unit * (size + 2 * worst) + n * form.tiny
    gamma = (n - 1) * form.unit / (1 - (n - 1) * form.unit)
    return Rounded(a.value @ b.value, worst + gamma * (size + 2 * worst), np.zeros_like(size), a.precision)


def by_blocks(a, b, block, like=None):
    """a @ b, block by block of what is summed over; each part summed over the axes that an argument `like` shared."""
    total = None
    for at in range(0, a.value.shape[-1], block):
        inner = slice(at, at + block)
        part = product(bounds.moved(a, lambda x, c=inner: x[..., c]), bounds.moved(b, lambda x, c=inner: x[..., c, :]))
        part = part if like is None else bounds.summed_to(part, like.value.shape)
        total = part if total is None else total + part
    return total


def tops(scores, keep):
    """The largest kept score of each row, and the largest error."""
    top = np.where(keep, scores.value, -np.inf).max(-1, keepdims=True)
    return np.where(np.isfinite(top), top, 0.0), np.where(keep, scores.worst, 0.0).max(-1, keepdims=True)


def exponentials(scores, keep, tops):
    """exp(s - m) of the kept scores for the computed m (the reasoning of `Rounded.below_maximum`), zeros elsewhere."""
    top, error = tops
    shifted = (scores - Rounded.exact(top, scores.precision)).loosened(2 * scores.precision.stored.unit * error)
    shifted = bounds.moved(shifted, lambda x: np.where(keep, x, 0.0))
    return bounds.moved(shifted.exp(), lambda x: np.where(keep, x, 0.0))


def rescaled(weights, times):
    """Weights whose sums were multiplied by a factor exp(m - m') after each block but the last.

    The exponents s - m, m - m', ... add up to s less the last maximum, all of one sign; so rounding them costs no more
    than rounding that one difference, which `weights` have paid. Left are the errors of each exp and of each product,
    relative ones, and what may underflow in each, once for the factor and once for the product.
    """
    form = weights.precision.stored
    each = times * (2 * form.ulps + 1) * form.unit
    return weights.loosened(each / (1 - each) * (weights.value + 2 * weights.worst) + 2 * times * form.tiny)


def forward_bound(scaled, k, v, keep, block):
    """The tops of the rows, their exponentials, sums and outputs."""
    scores = product(scaled, bounds.transposed(k))
    top = tops(scores, keep)
    weights = exponentials(scores, keep, top)
    times = math.ceil(k.value.shape[-2] / block) - 1
    summed = rescaled(weights, times)
    total = by_blocks(summed, Rounded.exact(np.ones((k.value.shape[-2], 1)), k.precision), block)
    some = np.asarray(keep).any(-1, keepdims=True)
    total = Rounded(np.where(some, total.value, 1.0), np.where(some, total.worst, 0.0), total.square, total.precision)
    output = by_blocks(summed, v, block).loosened(np.asarray(times * k.precision.stored.tiny))
    return top, weights, total, output / total


def score_cotangent(weights, g, mean, v):
    return weights * (product(g, bounds.transposed(v)) - mean)


def bound(q, k, v, dy, keep, block):
    """y, dq, dk, dv."""
    d_k = bounds.root(q.value.shape[-1], q)
    scaled = q / d_k
    _, weights, total, y = forward_bound(scaled, k, v, keep, block)
    g = dy / total
    ds = score_cotangent(weights, g, (g * y).sum(-1), v)
    dq = by_blocks(ds, k, block, like=q) / d_k
    return (
        y,
        dq,
        by_blocks(bounds.transposed(ds), scaled, block, like=k),
        by_blocks(bounds.transposed(weights), g, block, like=v),
    )


def truth(inputs, keep):
    """y, dq, dk, dv of the plain layer, in balls."""
    with precision(160):
        y, cache = attention.forward(*map(to_balls, inputs[:3]), keep)
        return y, *attention.backward(to_balls(inputs[3]), cache)


def float_misses(layer, inputs, mask, blocks, r):
    """How many entries of y, dq, dk, dv lie outside the rounding bound, over these sizes of blocks."""
    keep, meant = mask_of(mask, *inputs[:2])
    truths, misses = truth(inputs, meant), np.zeros(4, int)
    for block in blocks:
        y, cache = layer.forward(*inputs[:3], keep, block)
        results = y, *layer.backward(inputs[3], cache)
        allowed = bound(*(bounds.exact(x, r.dtype) for x in inputs), meant, block)
        misses += [r.misses(*each, limit.worst) for *each, limit in zip(results, truths, allowed, strict=True)]
    return tuple(misses)


def ball_misses(layer, inputs, mask, blocks, vanishes):
    """How many of y, dq, dk, dv are not what the plain layer gives, in balls, over these sizes of blocks."""
    keep, meant = mask_of(mask, *inputs[:2])
    *qkv, dy = map(to_balls, inputs)
    plain, misses = truth(inputs, meant), np.zeros(4, int)
    for block in blocks:
        with precision(113):
            y, cache = layer.forward(*qkv, keep, block)
            pairs = zip((y, *layer.backward(dy, cache)), plain, strict=True)
            misses += [a.shape != b.shape or not vanishes(a - b) for a, b in pairs]
    return tuple(misses)


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("mask", MASKS)
def test_floats_stay_within_the_rounding_bound(name, mask, rounding, sample):
    inputs = arguments(SHAPES[name], sample, rounding.dtype)
    before = [x.copy() for x in inputs]
    assert float_misses(blocked_attention, inputs, mask, (1, 3, inputs[1].shape[-2], 100), rounding) == (0, 0, 0, 0)
    assert all(np.array_equal(x, y) for x, y in zip(inputs, before, strict=True))


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("mask", MASKS)
def test_balls_equal_the_plain_layer(name, mask, sample, vanishes):
    inputs = arguments(SHAPES[name], sample)
    assert ball_misses(blocked_attention, inputs, mask, (1, 3, inputs[1].shape[-2], 100), vanishes) == (0, 0, 0, 0)


def test_both_layers_stay_within_their_bounds_at_a_larger_size(dtype, rounding, sample):
    inputs = arguments(((40, 8), (50, 8), (50, 4)), sample, dtype)
    keep = masking.causal(40, 50)
    assert float_misses(blocked_attention, inputs, "causal", [16], rounding) == (0, 0, 0, 0)
    y, cache = attention.forward(*inputs[:3], keep)
    results = y, *attention.backward(inputs[3], cache)
    allowed = bounds.attention(*(bounds.exact(x, dtype) for x in inputs), keep)
    compared = zip(results, truth(inputs, keep), allowed, strict=True)
    assert [rounding.misses(*each, limit.worst) for *each, limit in compared] == [0, 0, 0, 0]


# The tester, tested


def cuts(n, block):
    return [slice(at, min(at + block, n)) for at in range(0, n, block)]


STEPS = {
    "columns": cuts,
    "kept": lambda keep, rows, columns: keep[rows, columns],
    "reference": np.maximum,
    "factor": lambda old, new: np.exp(old - new),
    "total": lambda l, factor, e: l * factor + e,
    "output": lambda o, factor, mixed: o * factor + mixed,
    "divided": lambda g, l: g / l,
    "kept_again": lambda keep, rows, columns: keep[rows, columns],
    "row_term": lambda g, y, p, dp, l: (g * y).sum(-1, keepdims=True),
    "gathered": lambda gradient, part: gradient + part,
    "scaled_back": lambda dq, root: dq / root,
}


def variant(**changed):
    """Attention by blocks of 2 axes, each step written out, some of them changed."""
    step = SimpleNamespace(**(STEPS | changed))

    def forward(q, k, v, keep, block):
        dtype, keep = q.dtype, mask_of(keep or "all", q, k)[1]
        k, v = widen(k), widen(v)
        root = np.sqrt(convert(k.shape[-1], k.dtype))
        q, y = widen(q) / root, zeros((len(q), v.shape[-1]), k.dtype)
        l, m = (zeros((len(q), 1), k.dtype) for _ in range(2))
        for rows in cuts(len(q), block):
            m[rows] = masking.largest_kept(m[rows], np.zeros((1, 1), bool))
            for columns in step.columns(len(k), block):
                e, kept = q[rows] @ k[columns].T, step.kept(keep, rows, columns)
                new = step.reference(m[rows], masking.largest_kept(e, kept))
                masking.take_exponentials(e, new, kept)
                with np.errstate(over="ignore"):
                    factor = step.factor(m[rows], new)
                l[rows] = step.total(l[rows], factor, e.sum(-1, keepdims=True))
                y[rows] = step.output(y[rows], factor, e @ v[columns])
                m[rows] = new
        l = np.where(keep.any(-1, keepdims=True), l, convert(1, k.dtype))
        y /= l
        return round_to(y, dtype), SimpleNamespace(q=q, k=k, v=v, y=y, m=m, l=l, keep=keep, block=block, root=root)

    def backward(dy, cache):
        q, k, v, y, m, l = cache.q, cache.k, cache.v, cache.y, cache.m, cache.l
        g = step.divided(widen(dy), l)
        dq, dk, dv = (zeros(x.shape, x.dtype) for x in (q, k, v))
        for rows in cuts(len(q), cache.block):
            for columns in cuts(len(k), cache.block):
                p = q[rows] @ k[columns].T
                masking.take_exponentials(p, m[rows], step.kept_again(cache.keep, rows, columns))
                dp = g[rows] @ v[columns].T
                ds = (dp - step.row_term(g[rows], y[rows], p, dp, l[rows])) * p
                dq[rows] = step.gathered(dq[rows], ds @ k[columns])
                dk[columns] = step.gathered(dk[columns], ds.T @ q[rows])
                dv[columns] = step.gathered(dv[columns], p.T @ g[rows])
        return tuple(round_to(gradient, dy.dtype) for gradient in (step.scaled_back(dq, cache.root), dk, dv))

    return SimpleNamespace(forward=forward, backward=backward)


def moved_by_one(keep, rows, columns):
    return np.roll(keep, 1, -1)[rows, columns]


MUTANTS = {
    "sum not rescaled": {"total": lambda l, factor, e: l + e},
    "output not rescaled": {"output": lambda o, factor, mixed: o + mixed},
    "output overwritten": {"output": lambda o, factor, mixed: mixed},
    "rescaled twice": {"factor": lambda old, new: np.exp(old - new) ** 2},
    "the new block rescaled": {"output": lambda o, factor, mixed: o + factor * mixed},
    "sum of the last block": {"total": lambda l, factor, e: np.where(e == 0, l, e)},
    "last block left out": {"columns": lambda n, block: cuts(n, block)[:-1]},
    "last key left out": {"columns": lambda n, block: cuts(n - 1, block)},
    "first key of a block left out": {
        "columns": lambda n, b: [slice(c.start + (c.start > 0), c.stop) for c in cuts(n, b)]
    },
    "blocks overlap": {"columns": lambda n, block: [slice(max(c.start - 1, 0), c.stop) for c in cuts(n, block)]},
    "mask of the first keys": {"kept": lambda keep, rows, columns: keep[rows, : columns.stop - columns.start]},
    "mask moved by one": {"kept": moved_by_one},
    "mask forgotten": {"kept": lambda keep, rows, columns: np.full_like(keep[rows, columns], True)},
    "backward: sum forgotten": {"divided": lambda g, l: g},
    "backward: divided twice": {"divided": lambda g, l: g / l / l},
    "backward: mask moved by one": {"kept_again": moved_by_one},
    "backward: row term missing": {"row_term": lambda g, y, p, dp, l: 0 * l},
    "backward: row term added": {"row_term": lambda g, y, p, dp, l: -(g * y).sum(-1, keepdims=True)},
    "backward: row term of the block": {"row_term": lambda g, y, p, dp, l: (p / l * dp).sum(-1, keepdims=True)},
    "backward: row term without its output": {"row_term": lambda g, y, p, dp, l: g.sum(-1, keepdims=True)},
    "backward: gradients overwritten": {"gathered": lambda gradient, part: part},
    "backward: scale forgotten": {"scaled_back": lambda dq, root: dq},
}


@pytest.mark.parametrize("name", MUTANTS)
def test_mutants_are_caught(name, rounding, sample, vanishes):
    inputs = arguments(SHAPES["plain"], sample, rounding.dtype)
    assert sum(float_misses(variant(**MUTANTS[name]), inputs, "causal_lower_right", [3], rounding)) > 0
    if rounding.dtype == np.float64:
        assert sum(ball_misses(variant(**MUTANTS[name]), inputs, "causal_lower_right", [3], vanishes)) > 0


def test_the_steps_without_a_change_are_the_layer(rounding, sample, vanishes):
    inputs = arguments(SHAPES["plain"], sample, rounding.dtype)
    assert float_misses(variant(), inputs, "causal_lower_right", [3], rounding) == (0, 0, 0, 0)
    assert ball_misses(variant(), inputs, "causal_lower_right", [3], vanishes) == (0, 0, 0, 0)


def test_any_reference_is_right(sample, vanishes):
    inputs = arguments(SHAPES["plain"], sample)
    for reference in (lambda m, new: new, lambda m, new: new * 0 + 1):
        assert ball_misses(variant(reference=reference), inputs, "all", [3], vanishes) == (0, 0, 0, 0)


# Masks


@pytest.mark.parametrize("n", [(7, 7), (4, 9), (9, 4)])
@pytest.mark.parametrize("block", [1, 3, 4, 20])
def test_a_word_is_the_mask_that_it_names(n, block, sample):
    inputs = arguments(((n[0], 2), (n[1], 2), (n[1], 3)), sample)
    for word, lower_right in (("causal", False), ("causal_lower_right", True)):
        results = []
        for keep in (word, masking.causal(*n, lower_right)):
            y, cache = blocked_attention.forward(*inputs[:3], keep, block)
            results.append((y, *blocked_attention.backward(inputs[3], cache)))
        assert all(np.array_equal(a, b) for a, b in zip(*results, strict=True))


@pytest.mark.parametrize("given", ["word", "array"])
def test_blocks_that_keep_no_key_are_passed_over(given, sample):
    q, k, v, dy = arguments(((7, 2), (7, 2), (7, 3)), sample)
    v[3:] = np.nan  # 0 times NaN would be NaN
    keep = "causal" if given == "word" else masking.causal(7)
    y, cache = blocked_attention.forward(q, k, v, keep, block=3)
    assert np.isfinite(y[:3]).all() and np.isnan(y[3:]).all()
    assert np.isnan(attention.forward(q, k, v, masking.causal(7))[0]).all()
    dy[3:] = 0
    assert np.isfinite(blocked_attention.backward(dy, cache)[0][:3]).all()


@pytest.mark.parametrize("dtype", [np.float32, object])
@pytest.mark.parametrize("block", [1, 2, 100])
def test_a_row_that_keeps_no_key_gives_zeros(dtype, block, sample):
    q, k, v, dy = arguments(((3, 2), (4, 2), (4, 3)), sample, np.float32)
    if dtype is object:
        q, k, v, dy = map(to_balls, (q, k, v, dy))
    keep = np.array([[1, 1, 0, 1], [0, 0, 0, 0], [0, 0, 1, 0]], bool)
    with np.errstate(all="raise", under="ignore"):
        y, cache = blocked_attention.forward(q, k, v, keep, block)
        dq, dk, dv = blocked_attention.backward(dy, cache)
    y, dq, dk, dv = (to_floats(to_balls(x)) for x in (y, dq, dk, dv))
    assert not y[1].any() and not dq[1].any() and y[[0, 2]].all() and dq[0].all() and dk.any() and dv.all()


# Sizes and extremes


def test_sizes_of_one(dtype, sample):
    q, k, v, dy = arguments(((1, 1), (1, 1), (1, 1)), sample, dtype)
    y, cache = blocked_attention.forward(q, k, v, "causal")
    dq, dk, dv = blocked_attention.backward(dy, cache)
    assert y == v and dq == dk == 0 and dv == dy  # a single key has weight 1, whatever its score


@pytest.mark.parametrize("scale", [1e3, 1e18])
def test_large_scores_do_not_overflow(scale):
    """With scores of 1e36 not even the difference to the lowest number, which is the maximum of no key."""
    q = np.array([[scale, 0], [-scale, 0]], np.float32)
    with np.errstate(all="raise", under="ignore"):
        y, cache = blocked_attention.forward(q, q, np.eye(2, dtype=np.float32), block=1)
        gradients = blocked_attention.backward(np.ones((2, 2), np.float32), cache)
    assert np.array_equal(y, np.eye(2)) and all(np.isfinite(gradient).all() for gradient in gradients)


def test_equal_large_scores_share_the_weight():
    """m + log 2 in one float would be m, and the weights would be 1 each."""
    q = np.full((2, 1), 1e10, np.float32)
    y, cache = blocked_attention.forward(q, q, np.eye(2, dtype=np.float32), block=1)
    _, _, dv = blocked_attention.backward(np.eye(2, dtype=np.float32), cache)
    assert np.array_equal(y, np.full((2, 2), 0.5)) and np.array_equal(dv, y)


@pytest.mark.parametrize("name", ["a batch", "keys shared", "queries shared"])
def test_an_empty_batch(name):
    q, k, v = (np.zeros((0, *shape[1:]) if len(shape) > 2 else shape) for shape in SHAPES[name])
    y, cache = blocked_attention.forward(q, k, v, "causal", block=2)
    assert y.size == 0 and [g.shape for g in blocked_attention.backward(y, cache)] == [q.shape, k.shape, v.shape]


def test_inputs_may_be_strided_and_read_only(dtype, sample):
    q, k, v, dy = arguments(SHAPES["plain"], sample, dtype)
    strided = [np.repeat(x, 2, axis=-1)[:, ::2] for x in (q, k, v, dy)]
    for x in strided:
        x.flags.writeable = False
    y, cache = blocked_attention.forward(*strided[:3], block=3)
    gradients = blocked_attention.backward(strided[3], cache)
    assert all(x.dtype == dtype for x in (y, *gradients))
    assert y.shape == dy.shape and [g.shape for g in gradients] == [q.shape, k.shape, v.shape]


def test_a_gradient_has_the_dtype_of_its_cotangent(sample):
    q, k, v, dy = arguments(SHAPES["plain"], sample, np.float32)
    _, cache = blocked_attention.forward(q, k, v)
    for dtype in (np.float16, np.float64):
        assert all(g.dtype == dtype for g in blocked_attention.backward(dy.astype(dtype), cache))
    _, cache = blocked_attention.forward(*map(to_balls, (q, k, v)))
    assert all(g.dtype == object for g in blocked_attention.backward(dy, cache))


Q, K, V = (np.zeros(shape) for shape in SHAPES["plain"])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda f: f([[1.0]], K, V), TypeError, "blocked_attention: q is a list, needed a NumPy array"),
        (
            lambda f: f(Q, K[:0], V[:0]),
            ValueError,
            r"blocked_attention: k has shape \(0, 5\), needed at least one entry",
        ),
        (lambda f: f(Q, K, V.astype("f")), TypeError, "v has dtype float32, needed float64, the dtype of q"),
        (lambda f: f(Q[:, 1:], K, V), ValueError, r"blocked_attention: k has shape \(10, 5\), needed \(..., n_k, 4\)"),
        (lambda f: f(Q, K, V[1:]), ValueError, r"blocked_attention: v has shape \(9, 2\), needed \(..., 10, d_v\)"),
        (
            lambda f: f(np.stack([Q] * 2), np.stack([K] * 3), V),
            ValueError,
            r"blocked_attention: .* needed axes before the last two that broadcast",
        ),
        (lambda f: f(Q, K, V, K[:, :1] > 0), ValueError, r"keep has shape \(10, 1\), .* broadcasts to \(7, 10\)"),
        (lambda f: f(Q, K, V, np.ones((7, 10))), TypeError, "keep has dtype float64, needed bool"),
        (lambda f: f(Q, K, V, True), TypeError, "keep is a bool, needed a NumPy array"),
        (
            lambda f: f(Q, K, V, "upper"),
            ValueError,
            "blocked_attention: keep is 'upper', needed 'causal' or 'causal_lower_right', a boolean array or None",
        ),
        (lambda f: f(Q, K, V, block=0), ValueError, "blocked_attention: block is 0, needed an integer of at least 1"),
        (lambda f: f(Q, K, V, block=2.5), TypeError, "blocked_attention: block is 2.5, needed an integer"),
        (
            lambda f: blocked_attention.backward(V, f(Q, K, V)[1]),
            ValueError,
            r"blocked_attention: dy has shape \(10, 2\), needed \(7, 2\), the shape of the output",
        ),
        (lambda f: blocked_attention.backward(to_balls(V[:7]), f(Q, K, V)[1]), TypeError, "enclose nothing"),
    ],
)
def test_bad_input_gets_a_clear_error(call, error, message):
    with pytest.raises(error, match=message):
        call(blocked_attention.forward)


# Memory


def peak_of(layer, n, *settings):
    """How many (n, n) arrays forward and backward hold together at most; and how many numbers the cache."""
    q = np.random.default_rng(0).normal(size=(n, 4))
    tracemalloc.start()
    try:
        y, cache = layer.forward(q, q, q, *settings)
        layer.backward(y, cache)
        return tracemalloc.get_traced_memory()[1] / (8 * n * n), sum(x.size for x in cache if isinstance(x, np.ndarray))
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("keep", [None, "causal"])
def test_no_array_of_all_scores_is_held(keep):
    n = 800
    peak, cached = peak_of(blocked_attention, n, keep, 40)
    assert peak < 1 / 8  # not even a boolean mask, of one byte an entry
    assert cached == n * (4 * 4 + 2)  # q, k, v, y and two numbers a row
    peak, cached = peak_of(attention, n)
    assert peak > 1 and cached > n * n


LONG = 16384, 64  # n, d
PROGRAM = """
import json, resource, sys, time, tracemalloc
from pathlib import Path
import numpy as np
from numeric.layers import blocked_attention

path, keep = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None
q, k, v, dy = np.load(path)
tracemalloc.start()
start = time.process_time()
y, cache = blocked_attention.forward(q, k, v, keep)
results = y, *blocked_attention.backward(dy, cache)
seconds, traced = time.process_time() - start, tracemalloc.get_traced_memory()[1]
status = Path("/proc/self/status")
if status.exists():  # on Linux ru_maxrss counts what the parent held before this program began
    resident = 1024 * int(status.read_text().partition("VmHWM:")[2].split()[0])
else:
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
np.save(path, np.stack(results))
print(json.dumps({"seconds": seconds, "traced": traced, "resident": resident}))
"""


def long_run(path, *keep):
    """The arguments, the results, and what they cost in a process of their own on one core."""
    inputs = np.random.default_rng(0).normal(size=(4, *LONG)).astype(np.float32)
    np.save(path, inputs)
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, path, *keep],
        cwd=Path(__file__).parents[3], env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
        capture_output=True, text=True, check=True, timeout=300,
    )  # fmt: skip
    return inputs, np.load(path), json.loads(run.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("keep", [(), ("causal",)])
def test_long_sequences_take_less_than_a_gigabyte_and_a_minute(keep, tmp_path):
    *_, cost = long_run(tmp_path / "arrays.npy", *keep)
    assert 0 < cost["traced"] < cost["resident"] < 2**30
    assert cost["seconds"] < 60


def off(computed, limit):
    """How many numbers lie farther from the float64 evaluation than rounding explains.

    That evaluation is itself off by some 2^-29 of the bound on float32, which the slack of 2^-20 in `allowance` covers.
    """
    assert np.isfinite(limit.worst).all()
    return int(np.count_nonzero(~(np.abs(computed - limit.value) <= allowance(limit))))


def stacked(parts):
    arrays = (np.concatenate([getattr(part, name) for part in parts]) for name in ("value", "worst", "square"))
    return Rounded(*arrays, parts[0].precision)


def long_bounds(inputs, some):
    """With a causal mask: all of y, and the rows `some` of dq, dk, dv, to which earlier keys or later queries add."""
    n, block, chunk = LONG[0], 512, 128
    q, k, v, dy = (bounds.exact(x, np.float32) for x in inputs)
    d_k = bounds.root(LONG[1], q)
    scaled, every = q / d_k, np.arange(n)

    def take(rounded, rows):
        return bounds.moved(rounded, lambda x: x[rows])

    def forward(rows, columns):
        keep = rows[:, None] >= columns
        top, weights, total, y = forward_bound(take(scaled, rows), take(k, columns), take(v, columns), keep, block)
        g = take(dy, rows) / total
        return weights, Rounded(*top, 0 * top[0], k.precision), g, (g * y).sum(-1), y

    parts = [forward(rows, every[: (rows[0] // block + 1) * block])[1:] for rows in every.reshape(-1, chunk)]
    top, g, mean, y = (stacked(each) for each in zip(*parts, strict=True))
    weights, _, g_some, mean_some, _ = forward(some, every)
    dq = by_blocks(score_cotangent(weights, g_some, mean_some, v), k, block) / d_k
    scores = product(scaled, bounds.transposed(take(k, some)))
    weights = exponentials(scores, every[:, None] >= some, (top.value, top.worst))
    ds = score_cotangent(weights, g, mean, take(v, some))
    return y, dq, *(by_blocks(bounds.transposed(a), b, block) for a, b in ((ds, scaled), (weights, g)))


@pytest.mark.slow
def test_long_sequences_stay_within_the_rounding_bound(tmp_path):
    inputs, (y, dq, dk, dv), _ = long_run(tmp_path / "arrays.npy", "causal")
    some = np.array([0, 1, 511, 512, 9000, 16382])
    compared = list(zip((y, dq[some], dk[some], dv[some]), long_bounds(inputs, some), strict=True))
    assert [off(*each) for each in compared] == [0, 0, 0, 0]
    assert all(off(result * 1.01, limit) > 0 for result, limit in compared)  # the bound tells that much
