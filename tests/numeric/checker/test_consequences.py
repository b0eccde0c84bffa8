"""What a named variant breaks by itself is the variant's; what it does not break is another fault."""

import numpy as np
import pytest

from numeric.checker import check
from numeric.checker.contracts.dropout import SHAPE as DROPOUT_OF_PROPERTY

SHAPE_OF_PROPERTY = (2, 5, 6)  # of x in the properties of rotary
OTHERS = "generic (2, 3, 11, 16)*"


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


def test_a_property_that_is_broken_otherwise_than_by_the_variant_still_fails():
    def longer_where_the_property_looks(x, positions, base=10000.0):
        """The variant breaks isometry too, but not by this much; it is named at other shapes."""
        return half_split(x, positions, base) * (1.5 if x.shape == SHAPE_OF_PROPERTY else 1.0)

    probes = (OTHERS, "isometry")
    accepted = ("rotary.half_split",)
    check("rotary", half_split, probes=probes, accept=accepted).raise_if_failed()
    report = check("rotary", longer_where_the_property_looks, probes=probes, accept=accepted)
    assert (report.finding("values").verdict, report.finding("values").mistake) == ("variant", "rotary.half_split")
    assert report.finding("isometry").verdict == report.verdict == "fail"
    assert report.finding("isometry").mistake is None


def test_properties_of_what_is_random_are_compared_at_the_same_draw():
    rng = np.random.default_rng(3)

    def scaled_at_evaluation(x, p=0.1, training=True):
        return x * (rng.random(x.shape) >= p) if training else x * x.dtype.type(1 - p)

    def kept_halved(x, p=0.1, training=True):
        """At the property's shape what is kept is halved besides, which the variant does not do."""
        y = scaled_at_evaluation(x, p, training)
        return y / 2 if training and x.shape == DROPOUT_OF_PROPERTY else y

    settings = {"accept": ("dropout.scaled_at_evaluation",), "probes": ("one axis*", "rescaled or dropped")}
    check("dropout", scaled_at_evaluation, **settings).raise_if_failed()
    report = check("dropout", kept_halved, **settings)
    assert report.finding("values").mistake == "dropout.scaled_at_evaluation"
    assert report.finding("rescaled or dropped").verdict == report.verdict == "fail"


def test_gradients_of_a_property_are_those_of_the_variant():
    def backward(dy, x, positions, base=10000.0):
        """Right gradients, but for those that the property asks for."""
        turned = half_split(dy, -positions, base)
        return turned * 2 if x.shape == SHAPE_OF_PROPERTY else turned

    probes = (OTHERS, "gradient turns back")
    report = check("rotary", half_split, backward=backward, accept=("rotary.half_split",), probes=probes)
    assert report.finding("gradients").mistake == "rotary.half_split"
    assert report.finding("gradient turns back").verdict == report.verdict == "fail"


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
