"""One entry that is off by twice its allowance is seen, and in float64 one that is off by 1e-10 of itself."""

import numpy as np
import pytest

from numeric.arithmetic import precision, to_floats
from numeric.checker import Probe, check
from numeric.checker.adapters.numpy import DTYPES
from numeric.checker.contracts import contract_named
from numeric.checker.formats import format_named, precision_of
from numeric.checker.rounding import allowance

CONTRACTS = ["relu", "gelu", "silu", "swiglu", "feed_forward", "embedding"]


def off(name, dtype, error_of):
    """An implementation that is exact but for one entry of each output, and the probe that it is to be judged at."""
    contract, target = contract_named(name), DTYPES[dtype]
    options = {each.name: each.default for each in contract.options}
    drawn = contract.generic(np.random.default_rng(3), format_named(dtype), options)[0]
    arrays = [
        each.astype(target).astype(np.float64) if each.dtype.kind == "f" else each
        for each in map(np.asarray, drawn.inputs)
    ]
    allowed = allowance(contract.bound(precision_of(dtype), *arrays, **options))

    def forward(*inputs):
        wide = [each.astype(np.float64) if each.dtype == target else each for each in inputs]
        with precision(128):
            right = to_floats(contract.exact(*wide, **options)[0])
        place = np.unravel_index(int(np.abs(right).argmax()), right.shape)
        right[place] += error_of(right[place], allowed[place])
        return right.astype(target)

    return forward, [Probe("generic", tuple(arrays))]


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("name", CONTRACTS)
def test_twice_the_allowance(name, dtype):
    unit = format_named(dtype).unit
    forward, probes = off(
        name, dtype, lambda value, allowed: max(2 * allowed + unit * abs(value), 3 * unit * abs(value))
    )
    report = check(name, forward, dtype=dtype, probes=probes)
    assert report.finding("values").verdict == "fail"
    assert report.finding("values").evidence["worst"]["ratio"] < 10 or name in ("relu", "embedding")
    right, probes = off(name, dtype, lambda value, allowed: 0.0)
    check(name, right, dtype=dtype, probes=probes).raise_if_failed()


@pytest.mark.parametrize("name", CONTRACTS)
def test_a_part_in_ten_billion(name):
    forward, probes = off(name, "float64", lambda value, allowed: 1e-10 * value)
    assert check(name, forward, probes=probes).finding("values").verdict == "fail"
