# mypy: disable-error-code="arg-type"
# (wrong arguments are passed on purpose, to see what is said of them)
import tracemalloc
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest

from numeric.arithmetic import precision, round_to, to_balls, to_floats, widen
from numeric.layers import attention, masking, rotary, softmax

from . import bounds

KEEP = np.array([[1, 1, 0, 1], [0, 0, 0, 0], [0, 0, 1, 0]], bool)  # 3 queries, 4 keys
SHAPES = {  # of q, k, v
    "plain": ((3, 5), (4, 5), (4, 2)),
    "a batch": ((2, 2, 3, 2), (2, 2, 4, 2), (2, 2, 4, 3)),
    "keys shared": ((2, 2, 3, 2), (2, 1, 4, 2), (2, 1, 4, 3)),
    "keys without a batch": ((2, 3, 2), (4, 2), (4, 2)),
    "queries shared": ((3, 2), (2, 4, 2), (2, 4, 1)),
    "values apart": ((3, 2), (4, 2), (2, 4, 1)),
}
CASES = [(name, mask) for name in SHAPES for mask in ("all", "some")]


def arguments(shapes, sample, dtype=np.float64):
    """q, k, v and a cotangent of the output."""
    q, k, v = (sample(shape, dtype, seed=seed) for seed, shape in enumerate(shapes))
    batch = np.broadcast_shapes(*(shape[:-2] for shape in shapes))
    return q, k, v, sample((*batch, q.shape[-2], v.shape[-1]), dtype, seed=3)


def by_definition(q, k, v, keep):
    """sum_j exp(<q_i, k_j> / sqrt(d_k)) v_jc / sum_j exp(<q_i, k_j> / sqrt(d_k)) over the kept keys j, by loops."""
    batch = np.broadcast_shapes(q.shape[:-2], k.shape[:-2], v.shape[:-2])
    q, k, v = (np.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (q, k, v))
    keep = np.broadcast_to(True if keep is None else keep, (*batch, q.shape[-2], k.shape[-2]))
    y = np.full((*batch, q.shape[-2], v.shape[-1]), mpmath.mpf(0), dtype=object)
    for *b, i in np.ndindex(y.shape[:-1]):
        kept = [j for j in range(k.shape[-2]) if keep[(*b, i, j)]]
        products = [sum(x * y for x, y in zip(q[(*b, i)], k[(*b, j)], strict=True)) for j in kept]
        powers = [mpmath.exp(each / mpmath.sqrt(q.shape[-1])) for each in products]
        for c in range(v.shape[-1]):
            mixed = sum(power * v[(*b, j, c)] for power, j in zip(powers, kept, strict=True))
            y[(*b, i, c)] = mixed / sum(powers) if kept else mpmath.mpf(0)
    return y


def float_misses(layer, q, k, v, dy, keep, r):
    """How many entries of y, dq, dk, dv lie outside the rounding bound."""
    with precision(160):
        exact, cache = attention.forward(*map(to_balls, (q, k, v)), keep)
        truths = exact, *attention.backward(to_balls(dy), cache)
    y, cache = layer.forward(q, k, v, keep)
    results = y, *layer.backward(dy, cache)
    allowed = bounds.attention(*(bounds.exact(x, r.dtype) for x in (q, k, v, dy)), True if keep is None else keep)
    return tuple(r.misses(*each, bound.worst) for *each, bound in zip(results, truths, allowed, strict=True))


def ball_misses(layer, q, k, v, dy, keep, not_enclosed, gradient_by_differences):
    with precision(113):
        y, cache = layer.forward(*map(to_balls, (q, k, v)), keep)
        gradients = layer.backward(to_balls(dy), cache)
    with mpmath.workdps(50):
        to_mpf = np.frompyfunc(mpmath.mpf, 1, 1)
        misses = [not_enclosed(y, by_definition(*map(to_mpf, (q, k, v)), keep))]
    inputs = q, k, v
    for place, gradient in enumerate(gradients):

        def moved(x, place=place):
            return by_definition(*(x if other == place else to_mpf(a) for other, a in enumerate(inputs)), keep)

        misses.append(not_enclosed(gradient, gradient_by_differences(moved, inputs[place], dy)))
    return tuple(misses)


@pytest.mark.parametrize(("name", "mask"), CASES)
def test_floats_stay_within_the_rounding_bound(name, mask, dtype, rounding, sample):
    inputs = arguments(SHAPES[name], sample, dtype)
    before = [x.copy() for x in inputs]
    assert float_misses(attention, *inputs, KEEP if mask == "some" else None, rounding) == (0, 0, 0, 0)
    assert all(np.array_equal(x, y) for x, y in zip(inputs, before, strict=True))


def test_floats_stay_within_the_rounding_bound_at_a_larger_size(dtype, rounding, sample):
    inputs = arguments(((17, 16), (23, 16), (23, 8)), sample, dtype)
    keep = masking.causal(17, 23, lower_right=True)
    assert float_misses(attention, *inputs, keep, rounding) == (0, 0, 0, 0)


@pytest.mark.parametrize(("name", "mask"), CASES)
def test_balls_enclose_the_definition(name, mask, sample, not_enclosed, gradient_by_differences):
    inputs = arguments(SHAPES[name], sample)
    keep = KEEP if mask == "some" else None
    assert ball_misses(attention, *inputs, keep, not_enclosed, gradient_by_differences) == (0, 0, 0, 0)


def test_sizes_of_one(dtype, rounding, sample, not_enclosed, gradient_by_differences):
    inputs = arguments(((1, 1), (1, 1), (1, 1)), sample, dtype)
    assert float_misses(attention, *inputs, None, rounding) == (0, 0, 0, 0)
    if dtype == np.float64:
        assert ball_misses(attention, *inputs, None, not_enclosed, gradient_by_differences) == (0, 0, 0, 0)
    y, cache = attention.forward(*inputs[:3])
    dq, dk, dv = attention.backward(inputs[3], cache)
    assert y == inputs[2] and dq == dk == 0 and dv == inputs[3]  # a single key has weight 1, whatever its score


def transposed(x):
    return x.swapaxes(-1, -2)


def mutant_forward(weights=masking.scores_to_weights, divisor=np.sqrt):
    def forward(q, k, v, keep):
        d_k = to_balls(q.shape[-1]) if q.dtype == object else np.asarray(q.shape[-1], widen(q).dtype)
        p = weights(widen(q) @ transposed(widen(k)) / divisor(d_k), keep)
        return round_to(p @ widen(v), q.dtype), attention.forward(q, k, v, keep)[1]

    return SimpleNamespace(forward=forward, backward=attention.backward)


def mutant_backward(formula):
    """`formula` takes q / sqrt(d_k), k, v, p, y, the cotangent, dP - rowsum(dP * P), and 1 / sqrt(d_k)."""

    def backward(dy, cache):
        g = widen(dy)
        one = cache.q[..., :1, :1] * 0 + 1
        root = np.sqrt(one * cache.k.shape[-1])
        centred = g @ transposed(cache.v) - (g * cache.y).sum(-1, keepdims=True)
        return tuple(round_to(gradient, dy.dtype) for gradient in formula(*cache, g, centred, 1 / root))

    return SimpleNamespace(forward=attention.forward, backward=backward)


def right(q, k, v, p, y, g, c, scale):
    """The gradients as they should be."""
    return scale * ((p * c) @ k), transposed(p * c) @ q, transposed(p) @ g


def with_dq(formula):
    return mutant_backward(lambda *a: (formula(*a), *right(*a)[1:]))


def with_dk(formula):
    return mutant_backward(lambda *a: (right(*a)[0], formula(*a), right(*a)[2]))


def with_dv(formula):
    return mutant_backward(lambda *a: (*right(*a)[:2], formula(*a)))


def with_ds(formula):
    """Another cotangent of the scores, for dq and dk alike."""

    def gradients(q, k, v, p, y, g, c, scale):
        ds = formula(p, g @ transposed(v), lambda a: a.sum(-1, keepdims=True))
        return scale * (ds @ k), transposed(ds) @ q, transposed(p) @ g

    return mutant_backward(gradients)


MUTANTS = {
    "scale forgotten": mutant_forward(divisor=lambda d: d / d),
    "scale by d_k": mutant_forward(divisor=lambda d: d),
    "scale by 1/sqrt(d_k) inverted": mutant_forward(divisor=lambda d: 1 / np.sqrt(d)),
    "mask ignored": mutant_forward(lambda s, keep: masking.scores_to_weights(s)),
    "mask inverted": mutant_forward(lambda s, keep: masking.scores_to_weights(s, ~keep)),
    "softmax over queries": mutant_forward(lambda s, keep: softmax.forward(s, -2)[0] * keep.astype(int)),
    "weights masked after softmax": mutant_forward(lambda s, keep: softmax.forward(s)[0] * keep.astype(int)),
    "scores masked by a factor": mutant_forward(lambda s, keep: softmax.forward(s * keep.astype(int))[0]),
    "empty rows uniform": mutant_forward(
        lambda s, keep: masking.scores_to_weights(s * keep.any(-1, keepdims=True), keep | ~keep.any(-1, keepdims=True))
    ),
    "mean dropped": with_ds(lambda p, dp, total: p * dp),
    "mean added": with_ds(lambda p, dp, total: p * (dp + total(p * dp))),
    "mean unweighted": with_ds(lambda p, dp, total: p * (dp - total(dp))),
    "weights dropped": with_ds(lambda p, dp, total: dp - total(p * dp)),
    "dq: scale forgotten": with_dq(lambda q, k, v, p, y, g, c, scale: (p * c) @ k),
    "dq: scaled twice": with_dq(lambda q, k, v, p, y, g, c, scale: scale * scale * ((p * c) @ k)),
    "dq: sign": with_dq(lambda q, k, v, p, y, g, c, scale: -scale * ((p * c) @ k)),
    "dk: scaled twice": with_dk(lambda q, k, v, p, y, g, c, scale: scale * (transposed(p * c) @ q)),
    "dk: scale forgotten": with_dk(lambda q, k, v, p, y, g, c, scale: transposed(p * c) @ q / scale),
    "dk: queries mixed up": with_dk(lambda q, k, v, p, y, g, c, scale: transposed(p * c) @ q[..., ::-1, :]),
    "dv: unweighted": with_dv(lambda q, k, v, p, y, g, c, scale: transposed(0 * p + 1) @ g),
    "dv: weights squared": with_dv(lambda q, k, v, p, y, g, c, scale: transposed(p * p) @ g),
    "dv: output for cotangent": with_dv(lambda q, k, v, p, y, g, c, scale: transposed(p) @ y),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_mutants_are_caught(name, dtype, rounding, sample, not_enclosed, gradient_by_differences):
    inputs = arguments(((3, 2), (4, 2), (4, 3)), sample, dtype)
    assert float_misses(mutant_backward(right), *inputs, KEEP, rounding) == (0, 0, 0, 0)
    assert sum(float_misses(MUTANTS[name], *inputs, KEEP, rounding)) > 0
    if dtype == np.float64:
        assert sum(ball_misses(MUTANTS[name], *inputs, KEEP, not_enclosed, gradient_by_differences)) > 0


def test_a_shared_gradient_is_the_sum_over_those_who_share(sample, vanishes):
    q, k, v, dy = map(to_balls, arguments(SHAPES["keys shared"], sample))
    with precision(113):
        _, dk, dv = attention.backward(dy, attention.forward(q, k, v)[1])
        apart = [attention.backward(dy[:, [h]], attention.forward(q[:, [h]], k, v)[1]) for h in (0, 1)]
        assert vanishes(dk - apart[0][1] - apart[1][1]) and vanishes(dv - apart[0][2] - apart[1][2])
        assert not vanishes(dk - apart[0][1])


@pytest.mark.parametrize("dtype", [np.float32, object])
def test_a_row_that_keeps_no_key_gives_zeros(dtype, sample):
    q, k, v, dy = arguments(SHAPES["plain"], sample, np.float32)
    if dtype is object:
        q, k, v, dy = map(to_balls, (q, k, v, dy))
    with np.errstate(all="raise", under="ignore"):
        y, cache = attention.forward(q, k, v, KEEP)
        dq, dk, dv = attention.backward(dy, cache)
    y, dq, dk, dv = (to_floats(to_balls(x)) for x in (y, dq, dk, dv))
    assert not y[1].any() and not dq[1].any() and y[[0, 2]].all() and dq[0].all() and dk.any() and dv.any()


def test_a_row_that_keeps_no_key_adds_nothing(sample, vanishes):
    q, k, v, dy = map(to_balls, arguments(SHAPES["plain"], sample))
    with precision(113):
        _, dk, dv = attention.backward(dy, attention.forward(q, k, v, KEEP)[1])
        rows = [0, 2]
        _, rest_dk, rest_dv = attention.backward(dy[rows], attention.forward(q[rows], k, v, KEEP[rows])[1])
        assert vanishes(dk - rest_dk) and vanishes(dv - rest_dv) and not vanishes(dv)


def test_a_causal_output_and_its_gradient_ignore_the_future(sample):
    q, k, v, dy = arguments(((4, 2), (4, 2), (4, 3)), sample)
    dy[2:] = 0
    results = []
    for future in (1.0, 1e100):
        late = np.array([[1], [1], [future], [future]])
        y, cache = attention.forward(q, k * late, v * late, masking.causal(4))
        results.append((y[:2], *attention.backward(dy, cache)))
    assert all(np.array_equal(a, b) for a, b in zip(*results, strict=True))
    _, dk, dv = results[0][1:]
    assert not dk[2:].any() and not dv[2:].any() and dv[:2].all()
    y, cache = attention.forward(q, k, v)
    assert attention.backward(dy, cache)[2][2:].all()  # which the mask is the reason of


def test_padded_keys_change_nothing(sample, vanishes):
    q, k, v, dy = map(to_balls, arguments(((3, 2), (5, 2), (5, 2)), sample))
    keep = np.array([True, False, True, True, False])
    with precision(113):
        y, cache = attention.forward(q, k, v, keep)
        short, short_cache = attention.forward(q, k[keep], v[keep])
        dq, dk, dv = attention.backward(dy, cache)
        for with_padding, without in zip(
            (y, dq, dk[keep], dv[keep]), (short, *attention.backward(dy, short_cache)), strict=True
        ):
            assert vanishes(with_padding - without)
        assert vanishes(dk[~keep]) and vanishes(dv[~keep])
        assert not vanishes(attention.forward(q, k, v)[0] - short)


def test_scores_of_turned_queries_and_keys_depend_on_relative_position(sample, vanishes):
    q, k, v, _ = map(to_balls, arguments(((3, 4), (3, 4), (3, 2)), sample))
    with precision(113):

        def output(first):
            positions = np.arange(first, first + 3)
            return attention.forward(rotary.forward(q, positions)[0], rotary.forward(k, positions)[0], v)[0]

        assert vanishes(output(0) - output(100)) and not vanishes(output(0) - attention.forward(q, k, v)[0])


@pytest.mark.parametrize("scale", [1e3, 1e18])
def test_large_scores_do_not_overflow(scale):
    q = np.array([[scale, 0], [-scale, 0]], np.float32)
    with np.errstate(all="raise", under="ignore"):
        y, cache = attention.forward(q, q, np.eye(2, dtype=np.float32))
        gradients = attention.backward(np.ones((2, 2), np.float32), cache)
    assert np.array_equal(y, np.eye(2)) and all(np.isfinite(gradient).all() for gradient in gradients)


def peak_of(layer, *batch, n):
    """How many (*batch, n, n) arrays `backward` allocates beyond the one that the cache holds."""
    q = np.random.default_rng(0).normal(size=(*batch, n, 4))
    y, cache = attention.forward(q, q, q, masking.causal(n))
    tracemalloc.start()
    try:
        layer.backward(y, cache)
        return tracemalloc.get_traced_memory()[1] / cache.p.nbytes
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("batch", [(), (2, 3)])
def test_backward_holds_two_score_arrays_at_most(batch):
    assert 1 <= peak_of(attention, *batch, n=400) < 1.2  # beside p itself; 0.2 leaves room for 20 arrays (n, d)
    assert peak_of(mutant_backward(right), *batch, n=400) > 2  # p * c, written out


@pytest.mark.parametrize("name", ["a batch", "keys shared"])
def test_an_empty_batch(name):
    q, k, v = (np.zeros((0, *shape[1:])) for shape in SHAPES[name])
    y, cache = attention.forward(q, k, v, KEEP)
    assert y.shape == (0, 2, 3, 3)
    assert [g.shape for g in attention.backward(y, cache)] == [q.shape, k.shape, v.shape]


def test_inputs_may_be_strided_and_read_only(dtype, sample):
    q, k, v, dy = arguments(SHAPES["plain"], sample, dtype)
    strided = [np.repeat(x, 2, axis=-1)[:, ::2] for x in (q, k, v, dy)]
    for x in strided:
        x.flags.writeable = False
    y, cache = attention.forward(*strided[:3], KEEP)
    gradients = attention.backward(strided[3], cache)
    assert all(x.dtype == dtype for x in (y, *gradients))
    assert y.shape == dy.shape and [g.shape for g in gradients] == [q.shape, k.shape, v.shape]


def test_a_gradient_has_the_dtype_of_its_cotangent(sample):
    q, k, v, dy = arguments(SHAPES["plain"], sample, np.float32)
    _, cache = attention.forward(q, k, v)
    for dtype in (np.float16, np.float64):
        assert all(g.dtype == dtype for g in attention.backward(dy.astype(dtype), cache))
    _, cache = attention.forward(*map(to_balls, (q, k, v)))
    assert all(g.dtype == object for g in attention.backward(dy, cache))


Q, K, V = (np.zeros(shape) for shape in SHAPES["plain"])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: attention.forward([[1.0]], K, V), TypeError, "attention: q is a list, needed a NumPy array"),
        (lambda: attention.forward(Q, K.astype(int), V), TypeError, "k has dtype int64, needed float16"),
        (lambda: attention.forward(Q, K, V[0]), ValueError, r"v has shape \(2,\), needed ndim >= 2"),
        (lambda: attention.forward(Q, K[:0], V[:0]), ValueError, r"k has shape \(0, 5\), needed at least one entry"),
        (lambda: attention.forward(Q[:, :0], K[:, :0], V), ValueError, r"q has shape \(3, 0\), needed at least one"),
        (
            lambda: attention.forward(Q, K, V.astype("f")),
            TypeError,
            "v has dtype float32, needed float64, the dtype of q",
        ),
        (lambda: attention.forward(Q, to_balls(K), V), TypeError, "k has dtype object, needed float64"),
        (lambda: attention.forward(Q[:, 1:], K, V), ValueError, r"k has shape \(4, 5\), needed \(..., n_k, 4\)"),
        (lambda: attention.forward(Q, K, V[1:]), ValueError, r"v has shape \(3, 2\), needed \(..., 4, d_v\)"),
        (
            lambda: attention.forward(np.stack([Q] * 2), np.stack([K] * 3), V),
            ValueError,
            r"shapes \(2, 3, 5\), \(3, 4, 5\), \(4, 2\), needed axes before the last two that broadcast",
        ),
        (lambda: attention.forward(Q, K, V, KEEP.T), ValueError, r"keep has shape \(4, 3\), .* broadcasts to \(3, 4\)"),
        (lambda: attention.forward(Q, K, V, KEEP.astype(int)), TypeError, "keep has dtype int64, needed bool"),
        (
            lambda: attention.backward(V, attention.forward(Q, K, V)[1]),
            ValueError,
            r"attention: dy has shape \(4, 2\), needed \(3, 2\), the shape of the output",
        ),
        (lambda: attention.backward(to_balls(V[1:]), attention.forward(Q, K, V)[1]), TypeError, "enclose nothing"),
    ],
)
def test_bad_input_gets_a_clear_error(call, error, message):
    with pytest.raises(error, match=message):
        call()
