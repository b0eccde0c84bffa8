import numpy as np
import pytest

from numeric.checker import check

torch = pytest.importorskip("torch", reason="the torch adapter is what is chosen here")


def numpy_softmax(z):
    p = np.exp(z - z.max(-1, keepdims=True))
    return p / p.sum(-1, keepdims=True)


def torch_softmax(z):
    p = torch.exp(z - z.amax(-1, keepdim=True))
    return p / p.sum(-1, keepdim=True)


def torch_encoding(length, d_model):
    angles = torch.arange(length).double()[:, None] / 10000.0 ** (torch.arange(0, d_model, 2).double() / d_model)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)


@pytest.mark.parametrize(
    ("contract", "forward", "library"),
    [
        ("softmax", numpy_softmax, "numpy"),
        ("softmax", torch_softmax, "torch"),  # a plain function: what it returns tells
        ("softmax", torch.nn.Softmax(dim=-1), "torch"),
        ("softmax", torch.softmax, "torch"),
        ("softmax", torch.nn.functional.softmax, "torch"),
        ("positional_encoding", torch_encoding, "torch"),  # no array goes in, a tensor comes out
    ],
)
def test_the_library_is_found_out(contract, forward, library):
    report = check(contract, forward, probes=("generic*draw 0",))
    assert report.adapter == library
    report.raise_if_failed()


def test_a_library_that_is_named_is_taken():
    assert check("softmax", torch_softmax, adapter="torch", probes=("ties", "generic*")).adapter == "torch"
    report = check("softmax", torch_softmax, adapter="numpy", probes=("generic*",))
    assert report.verdict == "error"
    assert "'numpy.ndarray' object has no attribute 'amax'" in report.finding("calls").message


def test_what_nobody_can_call_is_reported_with_numpy():
    def hopeless(z):
        raise NotImplementedError("on this device")

    report = check("softmax", hopeless)
    assert (report.adapter, report.verdict) == ("numpy", "error")
    assert "NotImplementedError: on this device" in report.finding("calls").message
