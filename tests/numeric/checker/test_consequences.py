"""What a named variant breaks by itself is the variant's; what it does not break is another fault."""

import numpy as np
import pytest

from numeric.checker import check


def half_split(x, positions, base=10000.0):
    d = x.shape[-1]
    theta = positions[:, None] / base ** (np.arange(0, d, 2) / d)
    first, second = np.split(x, 2, -1)
    cos, sin = np.cos(theta), np.sin(theta)
    return np.concatenate([first * cos - second * sin, first * sin + second * cos], -1).astype(x.dtype)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_properties_that_the_variant_breaks_are_attributed_to_it(dtype):
    report = check("rotary", half_split, dtype=dtype)
    assert report.verdict == "variant"
    isometry = report.finding("isometry")
    assert (isometry.verdict, isometry.mistake) == ("variant", "rotary.half_split")
    assert isometry.message.startswith("rotary.half_split has it so: the norms of the pairs")
    assert report.finding("relative positions").verdict == "pass"


def test_a_property_that_the_variant_keeps_still_fails():
    def forgets_positions_from_40_on(x, positions, base=10000.0):
        """A second fault, at positions that only the property with shifted ones has."""
        return half_split(x, np.where((positions >= 41) & (positions < 57), 0, positions), base)

    probes = ("position*", "relative positions", "isometry")
    report = check("rotary", forgets_positions_from_40_on, probes=probes)
    assert report.finding("values").mistake == "rotary.half_split"
    assert report.finding("isometry").verdict == "variant"
    assert report.finding("relative positions").verdict == "fail"
    assert report.verdict == "fail"


def test_properties_of_gradients_go_with_the_gradients():
    def backward(dy, x, positions, base=10000.0):
        return half_split(dy, -positions, base)

    report = check("rotary", half_split, backward=backward)
    assert report.finding("gradients").mistake == "rotary.half_split"
    assert report.finding("gradient turns back").verdict in ("pass", "variant")
    assert report.verdict == "variant"
    accepted = check("rotary", half_split, backward=backward, accept=("rotary.half_split",))
    accepted.raise_if_failed()


def test_a_mistake_is_not_excused():
    def sign(x, positions, base=10000.0):
        theta = np.repeat(positions[:, None] / base ** (np.arange(0, x.shape[-1], 2) / x.shape[-1]), 2, -1)
        return x * np.cos(theta)

    report = check("rotary", sign)
    assert report.finding("values").mistake == "rotary.without_sines"
    assert report.finding("isometry").verdict == "fail"
