# mypy: disable-error-code="arg-type"
# (wrong arguments are passed on purpose, to see what is said of them)
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest
from flint import arb

from numeric.arithmetic import is_balls, precision, round_to, to_balls, to_floats, widen, zeros
from numeric.layers import dropout, feed_forward, layer_norm, multi_head, residual

KEEP = np.array([[1, 0, 1, 1], [0, 0, 0, 0], [1, 1, 1, 0]], bool)
RATE = 0.25
PLACEMENTS = ["post", "pre"]
NOTHING = (0,) * 5  # for y, dx, dgain, dbias, dW


# A sublayer that is not linear, so that it matters where it is evaluated: f(u) = (u W)^2, entry by entry


def squared(W):
    def sublayer(u):
        v = widen(u) @ widen(W)
        return round_to(v * v, u.dtype), (widen(u), widen(W), v)

    return sublayer


def pull(df, inner):
    u, W, v = inner
    dv = 2 * widen(df) * v
    return round_to(dv @ W.T, df.dtype), round_to(u.T @ dv, df.dtype)


def normalised(row, gain, bias, eps):
    mean = mpmath.fsum(row) / len(row)
    variance = mpmath.fsum((entry - mean) ** 2 for entry in row) / len(row)
    return [g * (entry - mean) / mpmath.sqrt(variance + eps) + b for entry, g, b in zip(row, gain, bias, strict=True)]


def by_definition(x, W, gain, bias, placement, eps, keep):
    """LN(x + f(x)) or x + f(LN(x)) in mpmath, row by row, where what f gives is kept and scaled, or dropped."""
    y = np.empty(x.shape, dtype=object)
    for p, row in enumerate(x):
        u = row if placement == "post" else normalised(row, gain, bias, eps)
        total = []
        for i in range(len(row)):
            f = mpmath.fsum(u[l] * W[l, i] for l in range(len(row))) ** 2
            scale = 1 if keep is None else int(keep[p, i]) / (1 - mpmath.mpf(RATE))
            total.append(row[i] + scale * f)
        y[p] = normalised(total, gain, bias, eps) if placement == "post" else total
    return y


def arguments(sample, shape=(3, 4), dtype=np.float64):
    """x, W, gain, bias and dy."""
    d = shape[-1]
    shapes = [shape, (d, d), (d,), (d,), shape]
    return [
        sample(shape, dtype, scale, seed)
        for seed, (shape, scale) in enumerate(zip(shapes, (2, 0.5, 1, 1, 1), strict=True))
    ]


def results(layer, x, W, gain, bias, dy, placement, eps, keep):
    y, cache = layer.forward(x, squared(W), gain, bias, placement, eps, keep, RATE)
    dx, dgain, dbias, (dW,) = layer.backward(dy, cache, pull)
    return y, dx, dgain, dbias, dW


class Bounds:
    """The running error analysis of what `residual` computes, with f rounded to the dtype like any layer's output."""

    def __init__(self, running, gain, eps):
        self.running, self.gain, self.eps = running, running.exact(gain), running.given(eps)

    def normalised(self, x):
        d = x.value.shape[-1]
        centred = x - x.sum(-1).over(d)
        root = ((centred * centred).sum(-1).over(d) + self.eps) ** self.running.exact(0.5)
        return centred / root, root

    def pulled(self, g, x_hat, root):
        d, scaled = g.value.shape[-1], g * self.gain
        dx = (scaled - scaled.sum(-1).over(d) - x_hat * (scaled * x_hat).sum(-1).over(d)) / root
        return dx, (g * x_hat).sum(0), g.sum(0)

    def thinned(self, x, keep):
        return x if keep is None else x * self.running.exact(keep) / self.running.exact(1 - RATE)


def allowed(x, W, gain, bias, dy, placement, eps, keep, running):
    x, W, bias, dy = map(running.exact, (x, W, bias, dy))
    b = Bounds(running, gain, eps)
    u = x
    if placement == "pre":
        norm = b.normalised(x)
        u = (norm[0] * b.gain + bias).returned()
    v = running.matmul(u, W)
    y = total = x + b.thinned((v * v).returned(), keep)
    df = dy
    if placement == "post":
        norm = b.normalised(total)
        y = norm[0] * b.gain + bias
        df, dgain, dbias = b.pulled(dy, *norm)
    dv = running.exact(2.0) * b.thinned(df, keep).returned() * v
    du = running.matmul(dv, running.transpose(W)).returned()
    if placement == "pre":
        du, dgain, dbias = b.pulled(du, *norm)
    return y, (df if placement == "post" else dy) + du, dgain, dbias, running.matmul(running.transpose(u), dv)


def float_misses(layer, values, placement, eps, keep, running):
    with precision(160):
        exact = results(residual, *map(to_balls, values), placement, eps, keep)
    computed = results(layer, *values, placement, eps, keep)
    bounds = allowed(*values, placement, eps, keep, running)
    return tuple(running.misses(*each) for each in zip(computed, exact, bounds, strict=True))


def ball_misses(layer, values, placement, eps, keep, not_enclosed, gradient_by_differences):
    x, W, gain, bias, dy = values
    with precision(113):
        y, dx, dgain, dbias, dW = results(layer, *map(to_balls, values), placement, eps, keep)
    exactly = [np.frompyfunc(mpmath.mpf, 1, 1)(array) for array in (x, W, gain, bias)]
    with mpmath.workdps(50):
        misses = [not_enclosed(y, by_definition(*exactly, placement, eps, keep))]
    for place, gradient in ((0, dx), (2, dgain), (3, dbias), (1, dW)):

        def moved(array, place=place):
            return by_definition(*exactly[:place], array, *exactly[place + 1 :], placement, eps, keep)

        misses.append(not_enclosed(gradient, gradient_by_differences(moved, values[place], dy)))
    return tuple(misses)


@pytest.mark.parametrize("keep", [None, KEEP])
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_floats_stay_within_the_rounding_bound(placement, keep, dtype, running, sample):
    for shape, eps in (((3, 4), 1e-5), ((3, 4), 0.5), ((1, 1), 0.5), ((2, 3), 0.5)):
        mask = None if keep is None else keep[: shape[0], : shape[1]]
        assert float_misses(residual, arguments(sample, shape, dtype), placement, eps, mask, running) == NOTHING


@pytest.mark.parametrize("keep", [None, KEEP])
@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize(("shape", "eps"), [((3, 4), 1e-5), ((1, 1), 0.5)])
def test_balls_enclose_the_definition(shape, eps, placement, keep, sample, not_enclosed, gradient_by_differences):
    values = arguments(sample, shape)
    mask = None if keep is None else keep[: shape[0], : shape[1]]
    assert ball_misses(residual, values, placement, eps, mask, not_enclosed, gradient_by_differences) == NOTHING


def mutant_forward(wrong):
    """The forward pass, plainly written, with one thing wrong."""

    def forward(x, sublayer, gain, bias, placement, eps, keep, rate):
        post = (placement == "post") != (wrong == "placements exchanged")
        u, norm = (x, None) if post else layer_norm.forward(x, gain, bias, eps)
        f, inner = sublayer(x if wrong == "f of pre-norm sees x" else u)
        work, f, thinned = widen(x), widen(f), None
        skip = {"no skip path": 0 * work, "skip path subtracted": -work, "skip path normalised": widen(u)}
        total = skip.get(wrong, work)
        if wrong == "sum dropped out":
            total, thinned = dropout.forward(total + f, keep, rate)
        elif wrong == "mask ignored":
            total = total + f
        else:
            f, thinned = dropout.forward(f, ~keep if wrong == "mask inverted" else keep, rate)
            total = total + f
        if post:
            total, norm = layer_norm.forward(total, gain, bias, eps)
        return round_to(total, x.dtype), (post, norm, inner, thinned)

    return forward


def mutant_backward(wrong):
    """The backward pass, likewise."""

    def backward(dy, cache, pull):
        post, norm, inner, thinned = cache
        g = to_balls(dy) if is_balls(norm.x_hat) else widen(dy)
        ds, dgain, dbias = layer_norm.backward(g, norm) if post else (g, None, None)
        df = g if wrong == "dx: f's path skips the norm" else ds
        if thinned is not None and wrong != "dx: dropout forgotten":
            df = dropout.backward(df, thinned)
        du, *others = pull(round_to(df, dy.dtype), inner)
        du = widen(du)
        if not post:
            through, dgain, dbias = layer_norm.backward(du, norm)
            du = du if wrong == "dx: the norm of pre-norm forgotten" else through
        skip = {"dx: no skip path": 0 * ds, "dx: skip path negative": -ds, "dx: skip path around the norm": g}
        skip["dx: skip path through the norm"] = layer_norm.backward(ds, norm)[0]
        dx = skip.get(wrong, ds) + (0 * du if wrong == "dx: no path through f" else du)
        return *(round_to(each, dy.dtype) for each in (dx, dgain, dbias)), tuple(others)

    return backward


def mutant(wrong):
    return SimpleNamespace(forward=mutant_forward(wrong), backward=mutant_backward(wrong))


MUTANTS = [
    "placements exchanged",
    "f of pre-norm sees x",
    "mask ignored",
    "mask inverted",
    "sum dropped out",
    "no skip path",
    "skip path subtracted",
    "skip path normalised",
    "dx: f's path skips the norm",
    "dx: dropout forgotten",
    "dx: the norm of pre-norm forgotten",
    "dx: no skip path",
    "dx: skip path negative",
    "dx: skip path around the norm",
    "dx: skip path through the norm",
    "dx: no path through f",
]


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_the_mutant_without_a_mutation_is_the_layer(placement, running, sample):
    values = arguments(sample, dtype=running.dtype)
    assert float_misses(mutant(None), values, placement, 0.5, KEEP, running) == NOTHING


@pytest.mark.parametrize("name", MUTANTS)
def test_mutants_are_caught(name, dtype, running, sample, not_enclosed, gradient_by_differences):
    """At one placement at least: some concern only one of the two."""
    values = arguments(sample, dtype=dtype)
    assert any(any(float_misses(mutant(name), values, where, 0.5, KEEP, running)) for where in PLACEMENTS)
    if dtype == np.float64:
        few, keep, tools = arguments(sample, (2, 3)), KEEP[[0, 2], 1:], (not_enclosed, gradient_by_differences)
        assert any(any(ball_misses(mutant(name), few, where, 0.5, keep, *tools)) for where in PLACEMENTS)


# What the branch may be


def nothing(u):
    return zeros(u.shape, u.dtype), None


def no_gradient(df, inner):
    return (zeros(df.shape, df.dtype),)


def test_without_a_branch_pre_norm_is_the_identity_and_post_norm_is_normalisation(dtype, sample):
    x, _, gain, bias, dy = arguments(sample, dtype=dtype)
    y, cache = residual.forward(x, nothing, gain, bias, "pre")
    dx, dgain, dbias, others = residual.backward(dy, cache, no_gradient)
    assert np.array_equal(y, x) and np.array_equal(dx, dy) and not dgain.any() and not dbias.any() and others == ()
    y, cache = residual.forward(x, nothing, gain, bias)
    plain, norm = layer_norm.forward(x, gain, bias)
    assert np.array_equal(y, plain)
    gradients = residual.backward(dy, cache, no_gradient)
    assert all(np.array_equal(*pair) for pair in zip(gradients[:3], layer_norm.backward(dy, norm), strict=True))


def test_a_branch_that_takes_its_input_away_leaves_no_gradient(sample, vanishes):
    x, _, gain, bias, dy = map(to_balls, arguments(sample))
    with precision(113):
        y, cache = residual.forward(x, lambda u: (-u, None), gain, bias)
        dx, dgain, _, _ = residual.backward(dy, cache, lambda df, inner: (-df,))
        assert vanishes(y - bias) and vanishes(dx) and vanishes(dgain)


@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("masked", [False, True])
def test_layers_are_branches_as_they_are(placement, masked, sample, vanishes):
    """Their passes, with any leading axes; compared with the same composition written out."""
    with precision(113):
        x, dy = to_balls(sample((2, 3, 4))), to_balls(sample((2, 3, 4), seed=1))
        gain, bias = to_balls(sample(4, seed=2)), to_balls(sample(4, seed=3))
        weights = [to_balls(sample(shape, seed=9)) for shape in ((4, 5), (5,), (5, 4), (4,))]
        keep = np.broadcast_to(KEEP, x.shape) if masked else None
        y, cache = residual.forward(
            x, lambda u: feed_forward.forward(u, *weights), gain, bias, placement, 0.5, keep, RATE
        )
        dx, dgain, dbias, dweights = residual.backward(dy, cache, feed_forward.backward)
        scale = to_balls(keep.astype(int)) / (1 - arb(RATE)) if masked else arb(1)
        u, norm = layer_norm.forward(x, gain, bias, 0.5) if placement == "pre" else (x, None)
        f, inner = feed_forward.forward(u, *weights)
        total = x + f * scale
        plain, norm = (total, norm) if placement == "pre" else layer_norm.forward(total, gain, bias, 0.5)
        ds = dy if placement == "pre" else layer_norm.backward(dy, norm)[0]
        du, *expected = feed_forward.backward(ds * scale, inner)
        at_norm, path = (du, None) if placement == "pre" else (dy, du)
        through, *parameters = layer_norm.backward(at_norm, norm)
        pairs = [
            (y, plain),
            (dx, through + (dy if placement == "pre" else path)),
            *zip(dweights, expected, strict=True),
        ]
        pairs += zip((dgain, dbias), parameters, strict=True)
        assert len(pairs) == 8 and all(vanishes(a - b) and not vanishes(a) for a, b in pairs)


def test_attention_with_a_memory_hands_on_the_gradient_of_the_memory(dtype, sample):
    x, memory = sample((2, 3, 4), dtype), sample((2, 5, 4), dtype, seed=1)
    weights = multi_head.Weights(*(sample((4, 4), dtype, seed=seed) for seed in range(2, 6)))
    one = np.ones(4, dtype)
    y, cache = residual.forward(x, lambda u: multi_head.forward(u, memory, weights, 2), one, 0 * one)
    dx, _, _, (dmemory, dweights) = residual.backward(y, cache, multi_head.backward)
    _, inner = multi_head.forward(x, memory, weights, 2)
    ds = layer_norm.backward(widen(y), cache.norm)[0]
    du, expected, _ = multi_head.backward(round_to(ds, dtype), inner)
    assert np.array_equal(dmemory, expected) and np.array_equal(dx, (ds + widen(du)).astype(dtype))
    assert dmemory.any() and dweights.w_q.dtype == dx.dtype == y.dtype == dtype


# Arrays


@pytest.mark.parametrize("keep", [None, KEEP])
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_nothing_that_others_hold_is_written_to(placement, keep, dtype, sample):
    x, W, gain, bias, dy = arguments(sample, dtype=dtype)
    held = []

    def hold(array):
        array.flags.writeable = False
        held.append((array, array.copy()))
        return array

    def sublayer(u):
        f, inner = squared(W)(hold(u))
        return hold(f), inner

    def pulled(df, inner):
        du, dW = pull(hold(df), inner)
        return hold(du), dW

    for array in (x, gain, bias, dy):
        hold(array)
    y, cache = residual.forward(x, sublayer, gain, bias, placement, 0.5, keep, RATE)
    first = residual.backward(dy, cache, pulled)
    assert not any(np.shares_memory(array, other) for array in (y, *first[:3]) for other, _ in held)
    y[...] = 0  # and what is returned is the caller's
    again = residual.backward(dy, cache, pulled)
    assert all(np.array_equal(*pair) for pair in zip(first[:3], again[:3], strict=True))
    assert len(held) == 10 and all(np.array_equal(*pair) for pair in held)


@pytest.mark.parametrize("keep", [None, KEEP])
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_a_pull_may_return_its_argument(placement, keep, sample, vanishes):
    """Where f(u) = u, the gradient is that of LN(x + x), or of x + LN(x), by the dropout."""
    x, _, gain, bias, dy = map(to_balls, arguments(sample))
    with precision(113):
        scale = arb(1) if keep is None else to_balls(keep.astype(int)) / (1 - arb(RATE))
        _, cache = residual.forward(x, lambda u: (u, None), gain, bias, placement, 0.5, keep, RATE)
        dx, _, _, _ = residual.backward(dy, cache, lambda df, inner: (df,))
        if placement == "post":
            ds, _, _ = layer_norm.backward(dy, layer_norm.forward(x + x * scale, gain, bias, 0.5)[1])
            assert vanishes(dx - ds - ds * scale)
        else:
            through, _, _ = layer_norm.backward(dy * scale, layer_norm.forward(x, gain, bias, 0.5)[1])
            assert vanishes(dx - dy - through)


def test_without_a_mask_nothing_is_dropped(sample):
    x, W, gain, bias, _ = arguments(sample)
    for placement in PLACEMENTS:
        plain, _ = residual.forward(x, squared(W), gain, bias, placement)
        assert np.array_equal(residual.forward(x, squared(W), gain, bias, placement, rate=0.9)[0], plain)
        assert not np.array_equal(residual.forward(x, squared(W), gain, bias, placement, keep=KEEP, rate=0.9)[0], plain)


def test_the_sum_is_rounded_once():
    """1 + 2^-11 lies between two numbers of float16, as a sum it would be rounded to 1, and normalised to 0."""
    x, f = np.array([1, 0.5, 1], np.float16), np.array([0, 0.5, 2**-11], np.float16)
    one = np.ones(3, np.float16)
    y, _ = residual.forward(x, lambda u: (f, None), one, 0 * one, eps=1e-12)
    assert np.array_equal(y, np.array([-1, -1, 2] / np.sqrt(2), np.float16))


def test_a_sublayer_may_return_working_precision(sample):
    x, W, gain, bias, dy = arguments(sample, dtype=np.float16)
    wide = [array.astype(np.float32) for array in (x, W)]
    for placement in PLACEMENTS:
        y, cache = residual.forward(x, lambda u: squared(wide[1])(u.astype(np.float32)), gain, bias, placement)
        dx, dgain, dbias, (dW,) = residual.backward(dy, cache, lambda df, inner: pull(df.astype(np.float32), inner))
        assert {a.dtype for a in (y, dx, dgain, dbias)} == {np.dtype(np.float16)} and dW.dtype == np.float32
    assert residual.backward(dy.astype(np.float64), cache, pull)[0].dtype == np.float64


@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("dtype", [np.float32, object])
def test_empty_batch(placement, dtype):
    x, one = np.zeros((0, 4), dtype), to_balls(np.ones(4)) if dtype is object else np.ones(4, dtype)
    y, cache = residual.forward(x, nothing, one, one, placement, keep=np.zeros((0, 4), bool), rate=0.5)
    dx, dgain, dbias, _ = residual.backward(x, cache, no_gradient)
    assert y.shape == dx.shape == (0, 4)
    assert to_floats(to_balls(dgain)).tolist() == to_floats(to_balls(dbias)).tolist() == [0.0] * 4


X, V = np.array([[1.0, 2, 4], [0, 1, 0]]), np.ones(3)
CACHE = residual.forward(X, nothing, V, V)[1]
OF_BALLS = residual.forward(to_balls(X), nothing, V, V)[1]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: residual.forward([1.0], nothing, V, V), TypeError, "residual: x is a list, needed a NumPy array"),
        (lambda: residual.forward(X > 0, nothing, V, V), TypeError, "x has dtype bool, needed float16, bfloat16"),
        (lambda: residual.forward(X[:, :0], nothing, V, V), ValueError, r"x has shape \(2, 0\), empty along axis -1"),
        (lambda: residual.forward(X, nothing, V, V, "Pre"), ValueError, "placement is 'Pre', needed one of post, pre"),
        (lambda: residual.forward(X, nothing, V[1:], V), ValueError, r"layer_norm: gain has shape \(2,\), needed \(3,"),
        (
            lambda: residual.forward(X, nothing, V, V, eps=arb(1)),
            TypeError,
            "layer_norm: eps is a ball, needed a float",
        ),
        (
            lambda: residual.forward(X, lambda u: (u.T, None), V, V),
            ValueError,
            r"residual: the sublayer's output has shape \(3, 2\), needed \(2, 3\)",
        ),
        (
            lambda: residual.forward(X.astype("f"), lambda u: (X, None), V.astype("f"), V.astype("f"), "pre"),
            TypeError,
            "the sublayer's output has dtype float64, needed one that float32 holds",
        ),
        (
            lambda: residual.forward(to_balls(X), lambda u: (X, None), V, V),
            TypeError,
            "the sublayer's output has dtype float64, but it was computed from balls, so the result would enclose noth",
        ),
        (
            lambda: residual.forward(X, nothing, V, V, keep=np.ones((3, 2), bool)),
            ValueError,
            r"dropout: keep has shape \(3, 2\), needed one that broadcasts to \(2, 3\)",
        ),
        (
            lambda: residual.forward(X, nothing, V, V, keep=X > 0, rate=1.0),
            ValueError,
            "dropout: rate is 1.0, needed 0 <= rate < 1",
        ),
        (
            lambda: residual.backward(X.T, CACHE, no_gradient),
            ValueError,
            r"residual: dy has shape \(3, 2\), needed \(2, 3\), the shape of the output",
        ),
        (lambda: residual.backward(to_balls(X), CACHE, no_gradient), TypeError, "enclose nothing; call forward on"),
        (
            lambda: residual.backward(X, CACHE, lambda df, inner: df),
            TypeError,
            "residual: pull returned a ndarray, needed a tuple of at least one entry, first the gradient with respect",
        ),
        (
            lambda: residual.backward(X, CACHE, lambda df, inner: ()),
            TypeError,
            "pull returned a tuple, needed .* one entry",
        ),
        (
            lambda: residual.backward(X, CACHE, lambda df, inner: (df[:1],)),
            ValueError,
            r"the gradient from pull has shape \(1, 3\), needed \(2, 3\)",
        ),
        (
            lambda: residual.backward(X, OF_BALLS, lambda df, inner: (X,)),
            TypeError,
            "the gradient from pull has dtype float64, but it was computed from balls",
        ),
    ],
)
def test_bad_input_gets_a_clear_error(call, error, message):
    with pytest.raises(error, match=message):
        call()
