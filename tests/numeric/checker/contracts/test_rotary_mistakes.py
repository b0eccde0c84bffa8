"""What is told of a wrong rotary embedding as people write it: layouts, directions, and angles in too few bits."""

import ml_dtypes
import numpy as np
import pytest

from numeric.checker import Probe, check

torch = pytest.importorskip("torch")


def angles_of(positions, d, base):
    return np.asarray(positions, np.float64)[:, None] / base ** (np.arange(0, d, 2) / d)


def rotate_half(x):
    return np.concatenate([-x[..., x.shape[-1] // 2 :], x[..., : x.shape[-1] // 2]], -1)


def rotate_neighbours(x):
    return np.stack([-x[..., 1::2], x[..., 0::2]], -1).reshape(x.shape)


def by_columns(repeat, rotate, sign=1):
    def forward(x, positions, base=10000.0):
        theta = repeat(angles_of(positions, x.shape[-1], base))
        return (x * np.cos(theta) + sign * rotate(x) * np.sin(theta)).astype(x.dtype)

    return forward


def tiled(theta):
    return np.concatenate([theta, theta], -1)


def repeated(theta):
    return np.repeat(theta, 2, -1)


CONVENTIONS = {
    "rotary.half_split": by_columns(tiled, rotate_half),
    "rotary.transposed": by_columns(repeated, rotate_neighbours, -1),  # field case RO9
    "rotary.half_split_transposed": by_columns(tiled, rotate_half, -1),
}


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
@pytest.mark.parametrize("id", CONVENTIONS)
def test_conventions_are_variants(id, dtype):
    report = check("rotary", CONVENTIONS[id], dtype=dtype)
    assert (report.verdict, report.mistakes) == ("variant", (id,))
    check("rotary", CONVENTIONS[id], dtype=dtype, accept=(id,)).raise_if_failed()


@pytest.mark.parametrize(
    ("repeat", "rotate", "id"),
    [
        (repeated, rotate_half, "rotary.mixed_layouts"),  # field case RO1
        (tiled, rotate_neighbours, "rotary.frequencies_side_by_side"),
        (repeated, lambda x: x, "rotary.not_swapped"),
    ],
)
def test_layouts_that_disagree_are_no_rotation(repeat, rotate, id):
    report = check("rotary", by_columns(repeat, rotate))
    assert report.mistakes == (id,)
    assert report.finding("isometry").verdict == report.finding("relative positions").verdict == "fail"


def test_the_scores_of_field_case_ro1():
    q, k = np.array([[1.0, 2, 3, 4]]), np.array([[0.5, -1, 2, 0.25]])

    def score(forward, m, n):
        return (forward(q, np.array([m])) * forward(k, np.array([n]))).sum()

    half, mixed = CONVENTIONS["rotary.half_split"], by_columns(repeated, rotate_half)
    assert score(half, 3, 1) == pytest.approx(-3.16011, abs=1e-5) == pytest.approx(score(half, 13, 11))
    right = by_columns(repeated, rotate_neighbours)
    assert score(right, 3, 1) == pytest.approx(5.65924, abs=1e-5) == pytest.approx(score(right, 13, 11))
    assert (score(mixed, 3, 1), score(mixed, 13, 11)) == pytest.approx((10.953, 6.254), abs=1e-3)


def test_frequencies_by_another_way_of_writing_them_pass():
    """Field case RO7: 2i/d for i = 0, 1, ..., d/2 - 1 is arange(0, d, 2) / d."""

    def forward(x, positions, base=10000.0):
        d = x.shape[-1]
        theta = np.repeat(positions[:, None] * base ** (-2 * np.arange(d // 2) / d), 2, -1)
        return x * np.cos(theta) + rotate_neighbours(x) * np.sin(theta)

    check("rotary", forward).raise_if_failed()


def coarse(kind, what):
    def forward(x, positions, base=10000.0):
        rates = base ** (-np.arange(0, x.shape[-1], 2) / x.shape[-1])
        kept = positions.astype(kind)[:, None]
        theta = (kept * rates.astype(kind)).astype(np.float64) if what == "angles" else kept.astype(float) * rates
        theta = np.repeat(theta, 2, -1)
        return (x * np.cos(theta) + rotate_neighbours(x) * np.sin(theta)).astype(x.dtype)

    return forward


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(
    ("kind", "what", "id"),
    [
        (np.float16, "angles", "rotary.angles_in_float16"),  # field case RO3
        (ml_dtypes.bfloat16, "angles", "rotary.angles_in_bfloat16"),
        (ml_dtypes.bfloat16, "positions", "rotary.positions_in_bfloat16"),  # field case RO5
        (np.float16, "positions", "rotary.positions_in_float16"),
    ],
)
def test_angles_in_too_few_bits_are_told_as_such(kind, what, id, dtype):
    report = check("rotary", coarse(kind, what), dtype=dtype)
    assert report.verdict == "fail" and report.mistakes == (id,)
    assert "right formula, unstable at" in report.finding("values").message


def test_the_error_of_field_case_ro3_grows_with_the_position():
    x = np.stack([np.tile([1.0, 0.0], 16)] * 3)
    probes = [Probe(str(t), (x, np.array([t, t + 1, t + 2]))) for t in (0, 2006)]
    report = check("rotary", coarse(np.float16, "angles"), dtype="float16", probes=probes)
    worst = report.finding("values").evidence["worst"]
    assert worst["probe"] == "2006" and worst["error"] > 0.5
    assert report.finding("values").evidence["failed_probes"] == ["2006"]


def test_neighbouring_positions_alias_in_bfloat16():
    x = np.array([[1.0, 0.5, -0.75, 2.0]] * 2)
    found = coarse(ml_dtypes.bfloat16, "positions")(x, np.array([256, 257]))
    assert np.array_equal(found[0], found[1])
    probes = [Probe("at 256", (x, np.array([256, 257]))), Probe("below 256", (x, np.array([254, 255])))]
    report = check("rotary", coarse(ml_dtypes.bfloat16, "positions"), dtype="float32", probes=probes)
    assert report.finding("values").evidence["failed_probes"] == ["at 256"]
    assert report.finding("values").mistake == "rotary.positions_in_bfloat16"
    assert "position aliasing" in report.finding("values").message


def test_an_offset_that_is_no_convention_is_fitted():
    shifted = by_columns(repeated, rotate_neighbours)
    report = check("rotary", lambda x, positions, base=10000.0: shifted(x, positions + 3, base))
    assert "it is what an offset of the positions = 3 gives, where 0 is right" in report.finding("values").message


def test_gradients_of_a_convention_follow_it_by_autograd():
    def forward(x, positions, base=10000.0):
        theta = positions.to(x.dtype)[:, None] / base ** (torch.arange(0, x.shape[-1], 2, dtype=x.dtype) / x.shape[-1])
        cos, sin = (torch.cat([f(theta)] * 2, -1) for f in (torch.cos, torch.sin))
        first, second = x.chunk(2, -1)
        return x * cos + torch.cat([-second, first], -1) * sin

    report = check("rotary", forward, adapter="torch")
    assert (report.verdict, report.mistakes) == ("variant", ("rotary.half_split",))
    check("rotary", forward, adapter="torch", accept=("rotary.half_split",)).raise_if_failed()
