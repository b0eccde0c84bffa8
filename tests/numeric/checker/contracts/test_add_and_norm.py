"""Right residual blocks pass in whatever order they are evaluated; wrong ones do not, and are told what is wrong."""

import numpy as np
import pytest

from numeric.checker import Probe, check
from numeric.checker.contracts import contract_named
from numeric.checker.formats import precision_of
from numeric.checker.rounding import allowance

slow = pytest.mark.slow
EVERY_DTYPE = ["float64", *(pytest.param(dtype, marks=slow) for dtype in ("float32", "float16", "bfloat16"))]
SEEDS = [0, *(pytest.param(seed, marks=slow) for seed in range(1, 10))]


def work(*arrays):
    """float16 in float32, since squares overflow there; the others as they are, so that every step is stored in the dtype."""
    return [each.astype(np.float32) if each.dtype == np.float16 else each for each in arrays]


def total(x, axis=-1):
    """A sum that accumulates in float32 at least, stored in the dtype of x: the default precision model."""
    wide = np.float32 if x.dtype.itemsize == 2 else x.dtype
    return x.sum(axis, keepdims=True, dtype=wide).astype(x.dtype)


def mean(x):
    return total(x) / x.dtype.type(x.shape[-1])


def over_rows(x):
    wide = np.float32 if x.dtype.itemsize == 2 else x.dtype
    return x.sum(tuple(range(x.ndim - 1)), dtype=wide).astype(x.dtype)


def normalised(x, eps):
    c = x - mean(x)
    inverse = 1 / np.sqrt(mean(c * c) + x.dtype.type(eps))
    return c * inverse, inverse


def quotient(x, gain, bias, eps):
    w, scale, shift = work(x, gain, bias)
    return (normalised(w, eps)[0] * scale + shift).astype(x.dtype)


def fused(x, gain, bias, eps):
    w, scale, shift = work(x, gain, bias)
    m = mean(w)
    scale = scale / np.sqrt(mean((w - m) * (w - m)) + w.dtype.type(eps))
    return (w * scale + (shift - m * scale)).astype(x.dtype)


def in_float64(x, gain, bias, eps):
    return quotient(x.astype(np.float64), gain.astype(np.float64), bias.astype(np.float64), eps).astype(x.dtype)


def block(norm):
    def forward(x, sublayer, gain, bias, order="post", eps=1e-5):
        if order == "post":
            return norm(x + sublayer(x), gain, bias, eps)
        return x + sublayer(norm(x, gain, bias, eps))

    return forward


def wide_throughout(x, sublayer, gain, bias, order="post", eps=1e-5):
    """Everything in float32 or better, the sublayer too, and one rounding at the end."""
    w, scale, shift = (each.astype(np.float32) if each.dtype.itemsize == 2 else each for each in (x, gain, bias))
    return block(quotient)(w, sublayer, scale, shift, order, eps).astype(x.dtype)


def norm_backward(dn, z, gain, eps):
    g, w, scale = work(dn, z, gain)
    x_hat, inverse = normalised(w, eps)
    dz = g * scale
    dz = (dz - mean(dz) - x_hat * mean(dz * x_hat)) * inverse
    return [each.astype(z.dtype) for each in (dz, over_rows(g * x_hat), over_rows(g))]


def by_vjp(dy, x, sublayer, gain, bias, order="post", eps=1e-5):
    if order == "post":
        ds, dgain, dbias = norm_backward(dy, x + sublayer(x), gain, eps)
        return ds + sublayer.vjp(x, ds), dgain, dbias
    du = sublayer.vjp(quotient(x, gain, bias, eps), dy)
    dx, dgain, dbias = norm_backward(du, x, gain, eps)
    return dy + dx, dgain, dbias


def as_autograd(dy, x, sublayer, gain, bias, order="post", eps=1e-5):
    """f(u) = (a + b u) u taken apart: two contributions, added up to what is there already."""
    a, b = sublayer.weights
    if order == "post":
        ds, dgain, dbias = norm_backward(dy, x + sublayer(x), gain, eps)
        return (ds + ds * (a + b * x)) + ds * x * b, dgain, dbias
    u = quotient(x, gain, bias, eps)
    dx, dgain, dbias = norm_backward(dy * u * b + dy * (a + b * u), x, gain, eps)
    return dx + dy, dgain, dbias


RIGHT = [block(quotient), block(fused), block(in_float64), wide_throughout]
NAMES = ["quotient", "fused", "in_float64", "wide_throughout"]


@pytest.mark.parametrize("dtype", EVERY_DTYPE)
@pytest.mark.parametrize("forward", RIGHT, ids=NAMES)
@pytest.mark.parametrize("seed", SEEDS)
def test_every_right_order_of_evaluation_passes(forward, dtype, seed):
    report = check("add_and_norm", forward, adapter="numpy", dtype=dtype, seed=seed)
    report.raise_if_failed()
    assert 0.05 < report.finding("values").evidence["worst"]["ratio"] < 1


@pytest.mark.parametrize("dtype", EVERY_DTYPE)
@pytest.mark.parametrize("backward", [by_vjp, as_autograd])
@pytest.mark.parametrize("seed", SEEDS)
def test_every_right_backward_passes(backward, dtype, seed):
    report = check("add_and_norm", RIGHT[0], backward=backward, adapter="numpy", dtype=dtype, seed=seed)
    report.raise_if_failed()
    assert 0.05 < report.finding("gradients").evidence["worst"]["ratio"] <= 1


@pytest.mark.parametrize("dtype", EVERY_DTYPE)
def test_every_size_passes(dtype):
    rng = np.random.default_rng(8)
    probes = []
    for d in (1, 2, 3, 17, 64, 257, 1024):
        weights = rng.integers(-4, 5, (2, d)) / 8
        inputs = (rng.standard_normal((2, 3, d)), weights, rng.standard_normal(d), rng.standard_normal(d))
        probes += [Probe(f"generic {d}, {order}", inputs, {"order": order}) for order in ("post", "pre")]
    report = check("add_and_norm", RIGHT[0], backward=by_vjp, adapter="numpy", dtype=dtype, probes=probes)
    report.raise_if_failed()


@slow
def test_a_block_of_one_order_is_judged_by_that_order():
    def pre(x, sublayer, gain, bias):
        return x + sublayer(quotient(x, gain, bias, 1e-5))

    report = check("add_and_norm", pre)
    assert (report.verdict, report.mistakes[0]) == ("variant", "add_and_norm.pre_norm")
    assert 'options={"order": "pre"}' in report.finding("values").message
    check("add_and_norm", pre, options={"order": "pre"}).raise_if_failed()
    assert check("add_and_norm", pre, accept=("add_and_norm.pre_norm",)).verdict == "pass"
    post = check(
        "add_and_norm", lambda x, f, gain, bias: quotient(x + f(x), gain, bias, 1e-5), options={"order": "pre"}
    )
    assert (post.verdict, post.mistakes[0]) == ("variant", "add_and_norm.post_norm")


# Field cases


def test_rs1_the_skip_path_takes_the_normalised_x():
    def wrong(x, sublayer, gain, bias):
        u = quotient(x, gain, bias, 1e-5)
        return u + sublayer(u)

    pre = {"order": "pre"}
    x = np.array([[1.0, 2.0, 3.0, 6.0]])
    nothing = Probe("RS1", (x, np.zeros((2, 4)), np.ones(4), np.zeros(4)))
    assert wrong(x, lambda u: 0 * u, np.ones(4), np.zeros(4))[0] == pytest.approx([-1.069, -0.535, 0, 1.604], abs=1e-3)
    alone = check("add_and_norm", wrong, options=pre, probes=[nothing])
    assert alone.mistakes[0] == "add_and_norm.post_norm"  # which is LN(x) too, where f = 0
    exact, _ = contract_named("add_and_norm").layer(*nothing.inputs, order="pre", eps=1e-5)
    assert (exact == x).all()
    report = check("add_and_norm", wrong, options=pre)
    assert report.mistakes[0] == "add_and_norm.skip_normalised"
    assert "pre-norm not x" in report.finding("zero sublayer").message


@pytest.mark.parametrize(
    ("forward", "named"),
    [
        (lambda x, f, gain, bias: x + f(quotient(x, gain, bias, 1e-5)), "add_and_norm.pre_norm"),
        (lambda x, f, gain, bias: x + quotient(f(x), gain, bias, 1e-5), "add_and_norm.norm_of_sublayer"),
        (
            lambda x, f, gain, bias: quotient(x + f(quotient(x, gain, bias, 1e-5)), gain, bias, 1e-5),
            "add_and_norm.both_norms",
        ),
    ],
)
def test_rs3_and_rs5_the_arrangement_is_named_as_a_variant(forward, named):
    """Among the probes is f(x) = x / 2 (RS3)."""
    report = check("add_and_norm", forward)
    assert (report.verdict, report.mistakes[0]) == ("variant", named)
    assert check("add_and_norm", forward, accept=(named,)).verdict == "pass"


def test_factors_in_the_sum_are_fitted():
    """As DeepNorm has it (Wang et al. 2022): LN(alpha x + f(x))."""

    def deep(x, sublayer, gain, bias):
        return quotient(1.7 * x + sublayer(x), gain, bias, 1e-5)

    def halved(x, sublayer, gain, bias):
        return quotient(x + 0.5 * sublayer(x), gain, bias, 1e-5)

    assert "factor of x in the sum = 1.7 gives" in check("add_and_norm", deep).finding("values").message
    assert "factor of f in the sum = 0.5 gives" in check("add_and_norm", halved).finding("values").message
    other = check("add_and_norm", lambda x, f, gain, bias: quotient(x + f(x), gain, bias, 1e-6))
    assert "eps = 1e-06 gives" in other.finding("values").message


def test_what_the_sublayer_is_handed_out_as():
    contract = contract_named("add_and_norm")
    weights = np.array([[0.5, 1.0], [0.25, -1.0]])
    x, f, *rest = contract.arguments((np.ones((1, 2)), weights, np.ones(2), np.zeros(2)))
    u = np.array([[2.0, 3.0]])
    assert f(u).tolist() == [[2.0, -6.0]]
    step = 2.0**-20
    slope = (f(u + step) - f(u - step)) / (2 * step)  # exact for a quadratic
    assert f.vjp(u, np.ones((1, 2))).tolist() == slope.tolist() == [[1.5, -5.0]]
    assert contract.arrays((x, f, *rest))[1] is weights


@pytest.mark.parametrize(
    "dtype", ["float64", pytest.param("float32", marks=slow), pytest.param("bfloat16", marks=slow)]
)
@pytest.mark.parametrize("order", ["post", "pre"])
@pytest.mark.parametrize("of", ["values", "gradients"])
def test_twice_the_bound_in_one_entry_is_seen(of, order, dtype):
    rng = np.random.default_rng(3)
    contract, model, options = contract_named("add_and_norm"), precision_of(dtype), {"order": order, "eps": 1e-5}
    probe = Probe("planted", (rng.standard_normal((4, 7)), np.full((2, 7), 0.5), *rng.standard_normal((2, 7))))

    def off(factor):
        def moved(values, bound):
            wrong = values.astype(np.float64)
            wrong[2, 3] += factor * allowance(bound)[2, 3]
            return wrong.astype(values.dtype)

        def given(x, sublayer, gain, bias):
            return [np.asarray(each, np.float64) for each in (x, sublayer.weights, gain, bias)]

        def forward(*arguments):
            y = RIGHT[3](*arguments, **options)
            return moved(y, contract.bound(model, *given(*arguments), **options)) if of == "values" else y

        def backward(dy, *arguments):
            dx, *others = by_vjp(dy, *arguments, **options)
            bounds = contract.gradient_bounds(model, np.asarray(dy, np.float64), *given(*arguments), **options)
            return moved(dx, bounds[0]) if of == "gradients" else dx, *others

        report = check(
            "add_and_norm", forward, backward=backward, adapter="numpy", dtype=dtype, options=options, probes=[probe]
        )
        return report.finding(of).verdict

    assert (off(0.0), off(2.0)) == ("pass", "fail")


def test_one_in_1e10_is_seen_in_float64():
    def wrong(*arguments, **options):
        y = RIGHT[0](*arguments, **options)
        return y * np.where(np.arange(y.shape[-1]) == 1, 1 + 1e-10, 1.0)

    assert check("add_and_norm", wrong, adapter="numpy", probes=("generic (*draw 0",)).verdict == "fail"
