"""Contracts and adapters are files in folders; what a run asks follows from the contract and from what is taken."""

import numpy as np
import pytest

from numeric.checker import Probe, UsageError, adapters, check, checks_of, contract_names, contracts
from numeric.checker.formats import FORMATS

NEW_CONTRACT = """
import numpy as np
from numeric.arithmetic import to_balls
from numeric.checker.contract import Contract, Input, Option, Probe
from numeric.checker.rounding import Rounded


class Scaled(Contract):
    name = "scaled"
    summary = "factor * x"
    inputs = (Input("x", "(n,)"),)
    output = "(n,)"
    options = (Option("factor", 2.0, (2.0, 3.0), "what x is multiplied by"),)

    def layer(self, x, *, factor):
        return to_balls(x) * to_balls(factor), lambda dy: (to_balls(dy) * to_balls(factor),)

    def bound(self, precision, x, *, factor):
        return Rounded.exact(x, precision) * Rounded.given(factor, precision)

    def gradient_bounds(self, precision, dy, x, *, factor):
        return (self.bound(precision, dy, factor=factor),)

    def generic(self, rng, form, options):
        return [Probe("generic (5,)", (rng.standard_normal(5),))]

    def structured(self, rng, form, options):
        return []


CONTRACT = Scaled()
"""

NEW_ADAPTER = """
import numpy as np
from numeric.checker.adapters.numpy import NumPy


class Wrapped:
    def __init__(self, array):
        self.array, self.shape = array, array.shape


class Wrapping(NumPy):
    name = "wrapping"
    array_name = "a Wrapped"

    def owns_array(self, thing):
        return isinstance(thing, Wrapped)

    def array(self, values, dtype, layout):
        return Wrapped(super().array(values, dtype, layout))

    def dtype_name(self, array):
        return array.array.dtype.name

    def values(self, array):
        return super().values(array.array)

    def require(self):
        pass


ADAPTER = Wrapping()
"""


@pytest.fixture
def new_files(tmp_path, monkeypatch):
    """A folder for each, searched beside our own; nothing else says that they are there."""
    for package, name, text in ((contracts, "scaled", NEW_CONTRACT), (adapters, "wrapping", NEW_ADAPTER)):
        folder = tmp_path / package.__name__
        folder.mkdir()
        (folder / f"{name}.py").write_text(text)
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder)])


def test_a_new_contract_is_one_file(new_files):
    assert "scaled" in contract_names()
    check("scaled", lambda x, factor=2.0: factor * x, backward=lambda dy, x, factor=2.0: factor * dy).raise_if_failed()
    assert check("scaled", lambda x, factor=2.0: 2 * x).verdict == "fail"
    assert checks_of("scaled") == ["calls", "values", "gradients", "two calls equal"]


def test_a_new_adapter_is_one_file(new_files):
    def double(x, factor=2.0):
        return type(x)(factor * x.array)

    report = check("scaled", double, adapter="wrapping")
    report.raise_if_failed()
    assert report.adapter == "wrapping"


def test_generic_probes_have_sizes_that_differ():
    for name in contract_names():
        for probe in contracts.contract_named(name).generic(
            np.random.default_rng(0), FORMATS["float32"], default_options(name)
        ):
            sizes = np.shape(probe.inputs[0]) or probe.inputs
            assert len(set(sizes)) == len(sizes) > 0, (name, probe.name)


def default_options(name):
    return {each.name: each.default for each in contracts.contract_named(name).options}


def test_probe_names_are_unique():
    for name in contract_names():
        contract = contracts.contract_named(name)
        names = [
            each.name
            for each in contract.structured(np.random.default_rng(0), FORMATS["float32"], default_options(name))
        ]
        assert len(set(names)) == len(names)


def softmax(z, axis=-1, temperature=1.0):
    p = np.exp((z - z.max(axis, keepdims=True)) / temperature)
    return p / p.sum(axis, keepdims=True)


def test_every_value_of_every_option_is_probed():
    seen = set()

    def spy(z, axis, temperature):
        seen.add((axis, temperature))
        return softmax(z, axis, temperature)

    check("softmax", spy, probes=("generic*",)).raise_if_failed()
    assert seen == {(axis, temperature) for axis in (-1, 0) for temperature in (0.5, 1.0, 3.0)}


def test_a_seed_decides_the_numbers():
    def drawn(seed):
        seen = []

        def spy(z):
            seen.append(z.copy())
            return softmax(z)

        check("softmax", spy, seed=seed, probes=("generic*",))
        return seen

    assert all((a == b).all() for a, b in zip(drawn(5), drawn(5), strict=True))
    assert not (drawn(5)[0] == drawn(6)[0]).any()


def test_ones_own_probe_is_judged_in_the_dtype():
    seen = []

    def spy(z, axis=-1, temperature=1.0):
        seen.append((z.copy(), axis, temperature))
        return softmax(z, axis, z.dtype.type(temperature))

    own = Probe("mine", (np.array([[0.1, 0.7, 1.3]]),), {"temperature": 0.25})
    check("softmax", spy, dtype="float32", probes=[own]).raise_if_failed()
    z, axis, temperature = seen[-1]
    assert (z == np.float32([[0.1, 0.7, 1.3]])).all()
    assert (axis, temperature) == (-1, 0.25)
    assert check("softmax", lambda z: softmax(2 * z), probes=[own]).verdict == "fail"


@pytest.mark.parametrize(
    ("probe", "message"),
    [
        (Probe("mine", ()), r"probe 'mine' has 0 inputs, needed 1: softmax\(z, \*, axis=-1, temperature=1.0\)"),
        (Probe("mine", (np.zeros((2, 0)),)), "probe 'mine' does not fit softmax.*empty along axis -1"),
        (Probe("mine", (np.zeros(3),), {"axes": 0}), "unknown option of softmax 'axes'; did you mean 'axis'"),
    ],
)
def test_ones_own_probe_must_fit(probe, message):
    with pytest.raises(UsageError, match=message):
        check("softmax", softmax, probes=[probe])


def test_an_unknown_layout_is_told():
    with pytest.raises(UsageError, match="unknown layout 'strides'; did you mean 'strided'"):
        Probe("mine", (np.zeros(3),), layout="strides")
