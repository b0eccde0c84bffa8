"""JAX's functions pass in every dtype, with gradients by its reverse mode; wrong ones do not; its configuration stays as it was."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from numeric.checker import Probe, check
from numeric.checker.adapters import adapter_named

jax = pytest.importorskip("jax", reason="these subjects are JAX's")
jnp = jax.numpy
slow = pytest.mark.slow
DTYPES = ["float64", "float32", "float16", "bfloat16"]
FEW = ("generic (3, 5, 7)*draw 0", "ties", "gap*")  # JAX compiles for every shape
GENERIC = FEW[:1]
ADAPTER = adapter_named("jax")


@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_hold_the_numbers_of_their_dtype(dtype):
    values = np.array([[1.0, -0.1, 3e-5], [2.5, 7.0, 1 / 3]])
    array = ADAPTER.array(values, dtype, "contiguous")
    assert ADAPTER.owns_array(array) and ADAPTER.dtype_name(array) == dtype
    held = ADAPTER.values(array)
    assert held.dtype == np.float64
    assert np.array_equal(held, values.astype(jnp.dtype(dtype)).astype(np.float64))
    assert np.array_equal(held, values) == (dtype == "float64")


def test_integers_and_booleans_are_kept():
    numbers, flags = (
        ADAPTER.array(np.array([2**40, -3]), "float32", "contiguous"),
        ADAPTER.array(np.array([True]), "float32", "contiguous"),
    )
    assert ADAPTER.dtype_name(numbers) == "int64" and ADAPTER.values(numbers).tolist() == [2**40, -3]
    assert ADAPTER.dtype_name(flags) == "bool"


def test_what_belongs_to_jax_is_known_without_asking_it():
    assert not ADAPTER.owns_array(np.zeros(2)) and not ADAPTER.owns_array([1.0])
    assert ADAPTER.owns_callable(jax.nn.softmax) and ADAPTER.owns_callable(jax.nn.relu)
    assert not ADAPTER.owns_callable(np.exp)


@slow
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_softmax_passes_in_its_dtype(dtype):
    report = check(
        "softmax", jax.nn.softmax, options={"axis": -1}, dtype=dtype, probes=(*GENERIC, "gradient sums to 0")
    )
    report.raise_if_failed()
    assert report.adapter == "jax"
    assert report.finding("gradients").verdict == report.finding("gradient sums to 0").verdict == "pass"
    assert report.finding("gradients").evidence["worst"]["ratio"] > 0


@slow
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("contract", ["softmax", "log_softmax"])
def test_all_probes_pass(contract, dtype):
    check(contract, getattr(jax.nn, contract), dtype=dtype).raise_if_failed()


def composite(z, axis=-1, temperature=1.0):
    x = (z - jax.lax.stop_gradient(z.max(axis, keepdims=True))) / temperature
    p = jnp.exp(x)
    return p / p.sum(axis, keepdims=True)


@slow
@pytest.mark.parametrize("dtype", ["float64", "bfloat16"])
def test_a_jitted_function_is_found_to_be_one_of_jax(dtype):
    report = check("softmax", jax.jit(composite, static_argnames="axis"), dtype=dtype, probes=GENERIC)
    report.raise_if_failed()
    assert report.adapter == "jax"


def test_float64_is_for_the_checker_only():
    assert not jax.config.jax_enable_x64
    seen = []

    def spy(z):
        seen.append(z.dtype.name)
        return jax.nn.softmax(z)

    check("softmax", spy, adapter="jax", probes=GENERIC).raise_if_failed()
    assert set(seen) == {"float64"}
    assert not jax.config.jax_enable_x64
    assert jnp.asarray(np.zeros(2)).dtype == np.float32


@jax.custom_vjp
def with_a_gradient_of_its_own(z):
    return jax.nn.softmax(z)


def saved(z):
    s = jax.nn.softmax(z)
    return s, s


def without_inner_product(s, dy):
    return (s * dy,)


with_a_gradient_of_its_own.defvjp(saved, without_inner_product)


@pytest.mark.parametrize("dtype", ["float64", *(pytest.param(each, marks=slow) for each in DTYPES[1:])])
@pytest.mark.parametrize(
    ("forward", "broken", "name"),
    [
        (lambda z: jax.nn.softmax(z, 0), "values", "softmax.other_axis"),
        (lambda z: jnp.exp(z) / jnp.exp(z).sum(-1, keepdims=True), "values", "softmax.unshifted"),
        (with_a_gradient_of_its_own, "gradients", "softmax.gradient_without_sum"),
        (lambda z: jax.lax.stop_gradient(jax.nn.softmax(z)), "gradients", None),
    ],
)
def test_slips_are_named(forward, broken, name, dtype):
    report = check("softmax", forward, adapter="jax", dtype=dtype, probes=FEW)
    assert report.verdict == report.finding(broken).verdict == "fail"
    assert name in (*report.mistakes, None)
    if name is None:
        assert "it is zero throughout" in report.finding("gradients").message


@pytest.mark.parametrize(
    ("forward", "message"),
    [
        (lambda z: jax.nn.softmax(z).astype(np.float32), "it returned dtype float32, needed float64"),
        (lambda z: jnp.argsort(z), "it returned dtype int64, needed float64"),
        (lambda z: np.asarray(jax.nn.softmax(z)), "it returned a ndarray, needed a jax.Array"),
        (lambda z: jax.nn.softmax(z)[0], "it returned shape (5, 7), needed (3, 5, 7)"),
        (lambda z: z.__setitem__(0, 0.0), "it raised TypeError: JAX arrays are immutable"),
    ],
)
def test_what_is_no_answer_is_told(forward, message):
    report = check("softmax", forward, adapter="jax", probes=GENERIC)
    assert report.verdict == "error"
    assert message in " ".join(report.finding("calls").message.split())


def test_numpy_inside_has_values_but_no_gradients():
    def through_numpy(z):
        return jnp.asarray(np.asarray(jax.nn.softmax(z)))

    report = check("softmax", through_numpy, adapter="jax", probes=GENERIC)
    assert report.finding("values").verdict == "pass"
    assert report.verdict == "error"
    assert "it or its autograd raised TracerArrayConversionError" in report.finding("calls").message


@slow
def test_a_backward_of_ones_own_comes_before_autograd():
    report = check("softmax", jax.nn.softmax, backward=lambda dy, z: dy, adapter="jax", probes=GENERIC)
    assert "softmax.gradient_is_cotangent" in report.mistakes


@slow
def test_integers_get_no_gradient():
    def cross_entropy(logits, targets):
        return -jnp.take_along_axis(jax.nn.log_softmax(logits), targets[:, None], -1).mean()

    probe = Probe("mine", (np.random.default_rng(0).standard_normal((4, 3)), np.array([0, 2, 1, 2])))
    report = check("cross_entropy", cross_entropy, adapter="jax", probes=[probe, "equal logits"])
    assert report.finding("gradients").verdict == report.finding("equal logits").verdict == "pass"


@slow
def test_nothing_strided_is_asked_of_it():
    report = check("softmax", jax.nn.softmax, options={"axis": -1}, probes=("generic (3, 5, 7)*", "*ing*"))
    assert report.finding("values").evidence["probes"] == 3 + len(["single entry"])
    assert ADAPTER.layouts == ("contiguous",)


@slow
def test_the_checker_does_not_import_jax():
    program = "import sys, numeric.checker as c; c.check('softmax', lambda z: z, probes=['ties']); print('jax' in sys.modules)"
    root = Path(__file__).parents[4]
    ran = subprocess.run([sys.executable, "-c", program], check=True, cwd=root, capture_output=True, text=True)
    assert ran.stdout == "False\n"
