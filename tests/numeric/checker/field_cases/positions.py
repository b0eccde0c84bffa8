"""Sinusoidal and rotary encodings as people got them wrong."""

import ml_dtypes
import numpy as np
import pytest

from numeric.checker import Probe, UsageError, check

from .case import Judged, Numbers

# Sinusoidal


def frequencies(d, base=10000.0):
    return base ** (-np.arange(0, d, 2) / d)


def interleaved(sin, cos):
    return np.stack([sin, cos], -1).reshape(len(sin), -1)


def encoding(start=0, columns=interleaved):
    def forward(length, d_model, base=10000.0):
        theta = np.arange(start, start + length)[:, None] * frequencies(d_model, base)
        return columns(np.sin(theta), np.cos(theta))

    return forward


def angle_by_column(length, d_model, base=10000.0):
    column = np.arange(d_model)
    theta = np.arange(length)[:, None] / base ** (2 * column / d_model)
    return np.where(column % 2 == 0, np.sin(theta), np.cos(theta))


def two_exponents(length, d_model, base=10000.0):
    i, t = np.arange(0, d_model, 2), np.arange(length)[:, None]
    return interleaved(np.sin(t / base ** (2 * i / d_model)), np.cos(t / base ** (2 * (i + 1) / d_model)))


def at_the_length(length, d_model, base=10000.0):
    """What x_t + PE(T) adds: the same row everywhere."""
    return np.repeat(encoding(start=length)(1, d_model, base), length, 0)


concatenated = encoding(columns=lambda sin, cos: np.concatenate([sin, cos], -1))


def filled_in(length, d_model, base=10000.0):
    """Slices that are filled, with one rate too many for the cosines where d is odd."""
    code, theta = np.zeros((length, d_model)), np.arange(length)[:, None] * frequencies(d_model, base)
    code[:, 0::2], code[:, 1::2] = np.sin(theta), np.cos(theta)
    return code


def in_quarters(length, d_model, base=10000.0):
    """The same kind of fault at widths that are asked for: d must be a multiple of four."""
    code, theta = np.zeros((length, d_model)), np.arange(length)[:, None] * frequencies(d_model, base)
    for part in (0, 1):
        code[:, 2 * part :: 4] = np.sin(theta[:, : (d_model + 3) // 4] if part else theta[:, 1::2])
    return code


def odd_widths():
    Judged("positional_encoding", filled_in, "pass").require()
    with pytest.raises(ValueError, match="could not broadcast"):
        filled_in(2, 3)
    with pytest.raises(UsageError, match=r"does not fit .*even"):
        check("positional_encoding", filled_in, probes=[Probe("odd", (2, 3))])


def same_everywhere():
    assert (np.ptp(at_the_length(2, 4), axis=0) == 0).all()
    assert (np.ptp(encoding()(2, 4), axis=0) != 0).any()


# Rotary


def neighbours_swapped(x):
    return np.stack([-x[..., 1::2], x[..., 0::2]], -1).reshape(x.shape)


def halves_swapped(x):
    return np.concatenate([-x[..., x.shape[-1] // 2 :], x[..., : x.shape[-1] // 2]], -1)


def repeated(theta):
    return np.repeat(theta, 2, -1)


def tiled(theta):
    return np.concatenate([theta, theta], -1)


def rotary(spread=repeated, swapped=neighbours_swapped, sign=1, angles=None):
    def forward(x, positions, base=10000.0):
        theta = (angles or in_float64)(positions, frequencies(x.shape[-1], base))
        theta = spread(theta)
        return (x * np.cos(theta) + sign * swapped(x) * np.sin(theta)).astype(x.dtype)

    return forward


def in_float64(positions, rates):
    return positions.astype(np.float64)[:, None] * rates


def in_float16(positions, rates):
    return (positions.astype(np.float16)[:, None] * rates.astype(np.float16)).astype(np.float64)


def positions_in_bfloat16(positions, rates):
    return positions.astype(ml_dtypes.bfloat16).astype(np.float64)[:, None] * rates


def exponents_another_way(x, positions, base=10000.0):
    d = x.shape[-1]
    theta = repeated(positions[:, None] / base ** (2 * np.arange(d // 2) / d))
    return x * np.cos(theta) + neighbours_swapped(x) * np.sin(theta)


def score(forward, q, k, at):
    return float((forward(np.array([q]), at[:1]) * forward(np.array([k]), at[1:])).sum())


def scores_of_mixed_layouts():
    q, k = [1.0, 2, 3, 4], [0.5, -1, 2, 0.25]
    near, far = np.array([3, 1]), np.array([13, 11])
    for forward, there, later in (
        (rotary(tiled, halves_swapped), -3.16011, -3.16011),
        (rotary(), 5.65924, 5.65924),
        (rotary(repeated, halves_swapped), 10.953, 6.254),
    ):
        assert score(forward, q, k, near) == pytest.approx(there, abs=1e-3 if there > 10 else 1e-5)
        assert score(forward, q, k, far) == pytest.approx(later, abs=1e-3 if there > 10 else 1e-5)
    turned = rotary(repeated, halves_swapped)(np.array([q]), near[:1])
    assert (np.linalg.norm(q), np.linalg.norm(turned)) == pytest.approx((5.477, 5.841), abs=5e-4)


def scores_of_transposed():
    q, k, at = [1.0, 2], [0.5, -1], np.array([3, 1])
    assert score(rotary(), q, k, at) == pytest.approx(-1.1944, abs=5e-5)
    assert score(rotary(sign=-1), q, k, at) == pytest.approx(2.4428, abs=5e-5)


def angles_lost_in_float16():
    rates, positions = frequencies(32), np.arange(2048)
    lost = np.abs(np.cos(in_float16(positions, rates)) - np.cos(in_float64(positions, rates)))
    assert lost.max() == pytest.approx(0.7819, abs=5e-5) and lost.max(-1).argmax() == 2008
    assert lost[1857].max() == pytest.approx(0.7149, abs=5e-5)
    x = np.tile([1.0, 0.0], (3, 16))
    probes = [Probe(f"at {t}", (x, np.array([t, t + 1, t + 2]))) for t in (0, 2006)]
    report = check("rotary", rotary(angles=in_float16), dtype="float16", probes=probes, adapter="numpy")
    assert report.finding("values").evidence["failed_probes"] == ["at 2006"]  # the error grows with the position


def positions_alias():
    assert float(ml_dtypes.bfloat16(257)) == 256 and float(ml_dtypes.bfloat16(15962)) == 15936
    right, met = (
        float(np.cos(repeated(f(np.array([15962]), np.ones(1))))[0, 0]) for f in (in_float64, positions_in_bfloat16)
    )
    assert sorted([right, met]) == pytest.approx([-0.9080, -0.2680], abs=5e-5)
    found = rotary(angles=positions_in_bfloat16)(np.ones((2, 4)), np.array([256, 257]))
    assert (found[0] == found[1]).all()


CASES = {
    "PE1": [
        Judged("positional_encoding", angle_by_column, "fail", ("exponent_by_column",), fails=("pairs have norm 1", "shift is a rotation")),
        Numbers("positional_encoding", (2, 4), ".841471 .540302 .01 .99995", ((angle_by_column, ".841471 .99995 .000100 1"),), place=1),
    ],
    "PE2": [
        Judged("positional_encoding", two_exponents, "fail", ("even_index_doubled_cosine_one_on", "exponent_by_column")),
        Numbers("positional_encoding", (2, 4), ".841471 .540302 .01 .99995", ((two_exponents, ".841471 .99995 .000100 1"),), place=1),
    ],
    "PE5": [
        Judged("positional_encoding", concatenated, "variant", ("concatenated",)),
        Numbers("positional_encoding", (2, 4), ".841471 .540302 .01 .99995", ((concatenated, ".841471 .01 .540302 .99995"),), place=1),
    ],
    "PE6": [odd_widths, Judged("positional_encoding", in_quarters, "error", says=("it raised ValueError: could not broadcast",))],
    "PE7": [same_everywhere, Judged("positional_encoding", at_the_length, "fail", ("length_for_position",), fails=("shift is a rotation",))],
    "PE10": [  # padding_idx = 0, and 1, which is fairseq's
        Judged("positional_encoding", encoding(start=1), "variant", ("from_one",)),
        Judged("positional_encoding", encoding(start=2), "variant", ("from_two",)),
        Judged("positional_encoding", encoding(start=5), "fail", says=("an offset of the positions = 5 gives, where 0 is right",)),
    ],
    "RO1": [
        Judged("rotary", rotary(repeated, halves_swapped), "fail", ("mixed_layouts",), fails=("relative positions", "isometry")),
        scores_of_mixed_layouts,
    ],
    "RO3": [
        Judged("rotary", rotary(angles=in_float16), "fail", ("angles_in_float16",), ("right formula, unstable at",), dtype=dtype)
        for dtype in ("float64", "float32")
    ]
    + [Judged("rotary", rotary(), "pass", dtype=dtype) for dtype in ("float64", "float16")]
    + [angles_lost_in_float16],
    "RO5": [
        Judged("rotary", rotary(angles=positions_in_bfloat16), "fail", ("positions_in_bfloat16",), ("position aliasing",), dtype=dtype)
        for dtype in ("float64", "float32")
    ]
    + [positions_alias],
    "RO7": [Judged("rotary", exponents_another_way, "pass")],
    "RO9": [Judged("rotary", rotary(sign=-1), "variant", ("transposed",)), scores_of_transposed],
}  # fmt: skip
