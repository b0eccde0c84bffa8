"""Implementations that quit, want a device, or return what is nearly an array: told in a sentence, never a pass."""

import sys

import numpy as np
import pytest

from numeric.checker import Verdict, check

FEW = ("generic*draw 0", "strided", "read-only", "ties", "slices sum to 1")


def softmax(z, axis=-1, temperature=1.0):
    p = np.exp((z - z.max(axis, keepdims=True)) / z.dtype.type(temperature))
    return p / p.sum(axis, keepdims=True)


def generating(z, axis=-1, temperature=1.0):
    yield softmax(z, axis, temperature)


async def awaitable(z, axis=-1, temperature=1.0):
    return softmax(z, axis, temperature)


def mapping(z, axis=-1, temperature=1.0):
    return map(np.exp, z)


def of_objects(z, axis=-1, temperature=1.0):
    return softmax(z, axis, temperature).astype(object)


def of_strings(z, axis=-1, temperature=1.0):
    return softmax(z, axis, temperature).astype(str)


def of_integers(z, axis=-1, temperature=1.0):
    return np.round(softmax(z, axis, temperature)).astype(np.int64)


def of_longdouble(z, axis=-1, temperature=1.0):
    return softmax(z, axis, temperature).astype(np.longdouble)


def zero_dimensional(z, axis=-1, temperature=1.0):
    return softmax(z, axis, temperature).sum()


def zero_dimensional_array(z, axis=-1, temperature=1.0):
    return np.array(softmax(z, axis, temperature).sum())


def python_float(z, axis=-1, temperature=1.0):
    return float(softmax(z, axis, temperature).sum())


def structured(z, axis=-1, temperature=1.0):
    return softmax(z, axis, temperature).view([("value", z.dtype)])


def interrupting(z, axis=-1, temperature=1.0):
    raise KeyboardInterrupt


def quitting_at_once(z, axis=-1, temperature=1.0):
    sys.exit(0)


def stopping(z, axis=-1, temperature=1.0):
    raise StopIteration


def recursing(z, axis=-1, temperature=1.0):
    return recursing(z, axis, temperature)


class Unprintable(Exception):
    def __str__(self):
        raise RuntimeError("no")


def unprintable(z, axis=-1, temperature=1.0):
    raise Unprintable


def wanting_a_device(z, axis=-1, temperature=1.0):
    raise RuntimeError("Found no NVIDIA driver on your system.\nPlease check that you have a GPU")


STRANGE = [
    (generating, "it returned a generator, needed a NumPy array"),
    (awaitable, "it returned a coroutine, needed a NumPy array"),
    (mapping, "it returned a map, needed a NumPy array"),
    (of_objects, "it returned dtype object, needed float64"),
    (of_strings, "it returned dtype str"),
    (of_integers, "it returned dtype int64, needed float64"),
    (of_longdouble, "it returned dtype longdouble, needed float64"),
    (zero_dimensional, "it returned shape (), needed (3, 5, 7)"),
    (zero_dimensional_array, "it returned shape (), needed (3, 5, 7)"),
    (python_float, "it returned a float, needed a NumPy array"),
    (structured, "it returned dtype void"),
    (interrupting, "it raised KeyboardInterrupt (test_strange_implementations.py, line"),
    (quitting_at_once, "it raised SystemExit: 0"),
    (stopping, "it raised StopIteration"),
    (recursing, "it raised RecursionError"),
    (unprintable, "it raised Unprintable: (its message cannot be printed)"),
    (
        wanting_a_device,
        "it raised RuntimeError: Found no NVIDIA driver on your system. Please check that you have a GPU",
    ),
]


@pytest.mark.filterwarnings("ignore:coroutine")
@pytest.mark.parametrize(("forward", "message"), STRANGE, ids=lambda each: getattr(each, "__name__", None))
def test_a_strange_result_is_an_error_that_says_how(forward, message):
    report = check("softmax", forward, probes=FEW)
    assert report.verdict is Verdict.ERROR
    told = report.finding("calls").message
    if forward is of_longdouble:
        assert f"dtype {np.dtype(np.longdouble).name}, needed float64" in told
    else:
        assert message in told
    assert report.finding("values").verdict == "not run"
    assert "Traceback" not in str(report)


# Arrays that are more than arrays


def test_a_subclass_is_judged_by_its_numbers():
    class Tagged(np.ndarray):
        pass

    def tagged(z, axis=-1, temperature=1.0):
        return softmax(z, axis, temperature).view(Tagged)

    def wrong(z, axis=-1, temperature=1.0):
        return softmax(z, 0, temperature).view(Tagged)

    check("softmax", tagged, probes=FEW).raise_if_failed()
    assert check("softmax", wrong, probes=FEW).verdict == "fail"


def test_what_is_masked_is_no_value():
    def masked(z, axis=-1, temperature=1.0):
        s = softmax(z, axis, temperature)
        return np.ma.masked_array(s, mask=s < 1e-3)

    def unmasked(z, axis=-1, temperature=1.0):
        return np.ma.masked_array(softmax(z, axis, temperature))

    check("softmax", unmasked, probes=FEW).raise_if_failed()
    report = check("softmax", masked, probes=FEW)
    assert report.verdict == "fail"
    assert "NaN at" in report.finding("values").message


# Memory that it shares


def test_a_view_of_its_input_is_an_answer_like_any_other():
    report = check("relu", lambda x: x, adapter="numpy")
    assert report.verdict == "fail"

    def in_a_buffer(x):
        out = buffers.setdefault(x.shape, np.empty(x.shape))
        return np.maximum(x, 0, out=out)

    buffers = {}
    check("relu", in_a_buffer, backward=lambda dy, x: np.where(x > 0, dy, 0.0)).raise_if_failed()


def test_one_buffer_for_all_gradients_is_seen():
    def layer_norm(x, gain, bias, eps=1e-5):
        centred = x - x.mean(-1, keepdims=True)
        return gain * centred / np.sqrt((centred**2).mean(-1, keepdims=True) + eps) + bias

    def overlapping(dy, x, gain, bias, eps=1e-5):
        memory = np.zeros(x.size)
        return memory.reshape(x.shape), memory[: gain.size], memory[: bias.size]

    report = check("layer_norm", layer_norm, backward=overlapping, probes=("generic*draw 0",))
    assert report.verdict == "fail"


def test_a_broadcast_result_is_judged():
    def uniform(z, axis=-1, temperature=1.0):
        return np.broadcast_to(z.dtype.type(1 / z.shape[axis]), z.shape)

    assert check("softmax", uniform, probes=FEW).verdict == "fail"


# PyTorch


def test_tensors_that_hold_no_numbers_here_are_told():
    torch = pytest.importorskip("torch")

    def on_meta(z, dim=-1, temperature=1.0):
        return torch.softmax(z / temperature, dim).to("meta")

    report = check("softmax", on_meta, adapter="torch", probes=FEW[:2])
    assert report.verdict == "error"
    assert "whose numbers cannot be read" in report.finding("calls").message


def test_parameters_conjugates_and_grown_graphs_are_tensors():
    torch = pytest.importorskip("torch")
    weight = torch.nn.Parameter(torch.ones((), dtype=torch.float64))

    def with_parameter(z, dim=-1, temperature=1.0):
        return torch.softmax(z * weight / temperature, dim)

    check("softmax", with_parameter, adapter="torch", probes=FEW[:2]).raise_if_failed()


def test_complex_and_sparse_tensors_are_told():
    torch = pytest.importorskip("torch")

    def complex_valued(z, dim=-1, temperature=1.0):
        return torch.softmax(z / temperature, dim) + 0j

    def sparse(z, dim=-1, temperature=1.0):
        return torch.softmax(z / temperature, dim).to_sparse()

    report = check("softmax", complex_valued, adapter="torch", probes=FEW[:2])
    assert "it returned dtype complex128, needed float64" in report.finding("calls").message
    assert check("softmax", sparse, adapter="torch", probes=FEW[:2]).verdict == "error"
