"""The bound against real arithmetic: random expressions evaluated in every format, in balls, and with bounds."""

import math
import operator

import numpy as np
import pytest

from numeric.arithmetic import largest_error, precision, to_balls
from numeric.checker.adapters.numpy import DTYPES
from numeric.checker.formats import FORMATS, precision_of
from numeric.checker.rounding import FLOOR, SLACK, Rounded, allowance, any_of, interleaved, typical_allowance

BINARY = [operator.add, operator.sub, operator.mul, operator.truediv]


class Three:
    """A quantity in three arithmetics: a real format, balls, and a bound."""

    def __init__(self, computed, exact, bound):
        self.computed, self.exact, self.bound = computed, exact, bound

    @classmethod
    def given(cls, values, dtype):
        stored = values.astype(DTYPES[dtype])
        floats = stored.astype(np.float64)
        return cls(stored, to_balls(floats), Rounded.exact(floats, precision_of(dtype)))

    def with_other(self, op, other):
        return Three(op(self.computed, other.computed), op(self.exact, other.exact), op(self.bound, other.bound))

    def through(self, name):
        function = getattr(np, name)
        return Three(function(self.computed), function(self.exact), getattr(self.bound, name)())

    def summed(self):
        wide = np.float32 if self.computed.dtype.itemsize == 2 else self.computed.dtype
        total = self.computed.sum(-1, keepdims=True, dtype=wide).astype(self.computed.dtype)
        return Three(total, self.exact.sum(-1, keepdims=True), self.bound.sum(-1))

    @property
    def error(self):
        return largest_error(self.computed.astype(np.float64), self.exact)

    @property
    def ratio(self):
        allowed = allowance(self.bound)
        return float(np.where(np.isinf(allowed), 0.0, self.error / allowed).max())


def random_expression(rng, dtype, depth):
    """Of moderate size throughout, so that nothing overflows; cancellation and division by small numbers do occur."""
    if depth == 0:
        return Three.given(rng.uniform(-2, 2, (3, 8)), dtype)
    kind = rng.integers(7)
    first = random_expression(rng, dtype, depth - 1)
    if kind < 4:
        return first.with_other(BINARY[kind], random_expression(rng, dtype, depth - 1))
    if kind == 4:
        return first.through("sin").through("exp")
    if kind == 5:
        return first.through("cos")
    return first.summed()


@pytest.mark.parametrize("dtype", FORMATS)
def test_no_expression_exceeds_its_bound_and_some_come_near(dtype):
    rng = np.random.default_rng(11)
    ratios = []
    with precision(200), np.errstate(all="ignore"):
        for _ in range(60):
            expression = random_expression(rng, dtype, int(rng.integers(1, 5)))
            if np.isfinite(expression.computed.astype(np.float64)).all():
                ratios.append(expression.ratio)
    assert len(ratios) > 40
    assert max(ratios) <= 1
    assert np.quantile(ratios, 0.9) > 0.1  # a bound a hundred times too large would pass the line above as well


@pytest.mark.slow
@pytest.mark.parametrize("dtype", FORMATS)
def test_thousands_of_expressions_stay_within(dtype):
    rng = np.random.default_rng(12)
    with precision(200), np.errstate(all="ignore"):
        for _ in range(2000):
            expression = random_expression(rng, dtype, int(rng.integers(1, 6)))
            if np.isfinite(expression.computed.astype(np.float64)).all():
                assert expression.ratio <= 1


@pytest.mark.parametrize("part", ["exp", "log", "sqrt", "sin", "cos"])
@pytest.mark.parametrize("dtype", FORMATS)
def test_functions_stay_within_their_documented_ulps(part, dtype):
    values = np.linspace(0.01, 9, 4000) if part in ("log", "sqrt") else np.linspace(-9, 9, 4000)
    with precision(200):
        single = Three.given(values[None], dtype).through(part)
    assert 0.05 < single.ratio <= 1


def test_an_error_of_the_argument_grows_as_the_function_does():
    at_ten = Rounded(np.array(10.0), np.array(1e-3), np.array(0.0), precision_of("float64")).exp()
    assert at_ten.worst == pytest.approx(math.exp(10.001) * math.expm1(1e-3), rel=1e-9)
    logarithm = Rounded(np.array(2.0), np.array(0.5), np.array(0.0), precision_of("float64")).log()
    assert logarithm.worst >= math.log(2) - math.log(1.5)


def test_an_error_of_the_radicand_spoils_the_root_of_a_small_one():
    model = precision_of("float64")
    with np.errstate(all="ignore"):
        root = Rounded(np.array([4.0, 1.0, 0.1]), np.full(3, 0.1), np.zeros(3), model).sqrt()
        nothing = Rounded.exact(np.zeros(1), model).sqrt()
    assert 2 - math.sqrt(3.9) < root.worst[0] < 1.05 * (2 - math.sqrt(3.9))
    assert root.worst[1] > 1 - math.sqrt(0.9)
    assert root.worst[2] == math.inf  # a computed radicand may be -0.1
    assert nothing.worst == 0


def test_power_bounds_base_and_exponent():
    model = precision_of("float32")
    base = Rounded(np.array(10000.0), np.array(0.5), np.array(0.0), model)
    exponent = Rounded(np.array(0.75), np.array(1e-4), np.array(0.0), model)
    corners = [(10000 + a) ** (0.75 + b) - 10000**0.75 for a in (-0.5, 0.5) for b in (-1e-4, 1e-4)]
    assert max(map(abs, corners)) < (base**exponent).worst < 1.3 * max(map(abs, corners))
    nothing = Rounded.exact(0.0, model)
    assert (base**nothing).worst == 0


def test_rearranged_numbers_keep_their_bounds():
    sums = Rounded.exact(np.arange(6.0).reshape(2, 3) / 7, precision_of("float32")).sum(-1)
    flat = sums.rearranged(np.ravel)
    assert flat.value.tolist() == sums.value[:, 0].tolist()
    assert (flat.worst > 0).all() and flat.worst.tolist() == sums.worst[:, 0].tolist()


def test_a_sum_in_float32_is_better_than_one_in_16_bits():
    values = np.ones((1, 4096))
    wide = Rounded.exact(values, precision_of("bfloat16")).sum(-1)
    with np.errstate(invalid="ignore"):
        narrow = Rounded.exact(values, precision_of("bfloat16", "bfloat16/bfloat16")).sum(-1)
    assert wide.worst[0, 0] < 0.01 * 4096
    assert allowance(narrow)[0, 0] == math.inf  # 4095 u is above one: no digit is left, and no bound
    running = np.add.accumulate(values.astype(DTYPES["bfloat16"]), -1)
    assert float(running[0, -1]) == 256


def test_flushing_to_zero_is_allowed_only_where_it_can_happen():
    model = precision_of("float16")
    small = Rounded.exact(np.array([1e-3, 1.0]), model) * Rounded.exact(np.array([1e-2, 1e-2]), model)
    assert small.worst[0] >= 1e-5  # 1e-5 is below the least normal number, 6.1e-5, and may become zero
    assert small.worst[1] < 1e-5


def test_zero_stays_exact():
    model = precision_of("float32")
    zero = Rounded.exact(np.zeros(3), model)
    assert ((zero * Rounded.exact(np.ones(3), model)).worst == 0).all()
    assert (zero.exp().worst == 0).all()
    assert (zero.sin().worst == 0).all()


def test_exp_may_underflow_where_float64_already_has():
    assert allowance(Rounded.exact(np.array(-1000.0), precision_of("float64")).exp()) >= FLOOR


def test_division_by_what_may_be_zero_has_no_bound():
    model = precision_of("float64")
    doubtful = Rounded(np.array(1e-3), np.array(1e-3), np.array(0.0), model)
    with np.errstate(divide="ignore"):
        assert allowance(Rounded.exact(1.0, model) / doubtful) == math.inf


def test_a_power_of_two_divides_exactly():
    model = precision_of("bfloat16")
    x = Rounded.exact(np.array([1.0, 3.0]), model)
    assert (x.over(0.5).worst == 0).all()
    assert (x.over(3.0).worst > 0).all()


def test_an_inexact_constant_costs_a_rounding():
    model = precision_of("bfloat16")
    assert Rounded.given(0.5, model).worst == 0
    assert Rounded.given(0.1, model).worst == pytest.approx(0.1 * 2**-8)


def test_below_maximum_keeps_the_error_of_each_entry():
    model = precision_of("float64")
    x = Rounded(np.array([[3.0, 1.0]]), np.array([[0.5, 0.25]]), np.zeros((1, 2)), model)
    shifted = x.below_maximum(-1)
    assert shifted.value.tolist() == [[0.0, -2.0]]
    assert shifted.worst == pytest.approx(np.array([[0.5, 0.25]]), abs=1e-14)


def test_any_of_takes_the_loosest_but_not_one_that_broke_down():
    model = precision_of("float64")
    value, zero = np.array([1.0, 1.0]), np.zeros(2)
    ways = [Rounded(value, np.array(bounds), zero, model) for bounds in ([1.0, 2.0], [3.0, np.inf], [np.nan, 0.5])]
    assert any_of(ways).worst.tolist() == [3.0, 2.0]
    assert any_of(ways[1:2]).worst[1] == np.inf


def test_interleaved():
    model = precision_of("float64")
    even, odd = (Rounded.exact(np.array([[a, a + 2.0]]), model) for a in (0.0, 1.0))
    assert interleaved(even, odd).value.tolist() == [[0.0, 1.0, 2.0, 3.0]]


def test_the_result_is_rounded_once_more_only_when_it_is_coarser():
    finer = Rounded.exact(np.array(1.0), precision_of("bfloat16", "float32"))
    assert finer.returned().worst == 2.0**-8
    same = Rounded.exact(np.array(1.0), precision_of("bfloat16"))
    assert same.returned().worst == 0
    assert same.within(precision_of("bfloat16").widened()).worst == 0
    wide = Rounded.exact(np.array(1.0), precision_of("bfloat16").widened())
    assert wide.within(precision_of("bfloat16")).worst == 2.0**-8


def test_typical_is_the_square_root_of_the_worst_in_a_long_sum():
    bound = Rounded.exact(np.ones((1, 10_000)), precision_of("float32")).sum(-1)
    ratio = allowance(bound)[0, 0] / typical_allowance(bound)[0, 0]
    assert ratio == pytest.approx(math.sqrt(9999) / math.sqrt(2 * math.log(200)), rel=0.02)


def test_typical_is_the_worst_in_a_short_computation():
    bound = Rounded.exact(np.ones(3), precision_of("float32")) + Rounded.exact(np.ones(3), precision_of("float32"))
    assert (typical_allowance(bound) == allowance(bound)).all()


def test_slack_covers_the_roundings_of_the_bound_itself():
    assert SLACK - 1 > 1e6 * 2.0**-53


@pytest.mark.parametrize("dtype", FORMATS)
def test_a_product_of_matrices_stays_within_its_bound(dtype):
    rng = np.random.default_rng(21)
    a, b = (rng.standard_normal(shape).astype(DTYPES[dtype]) for shape in ((5, 33), (33, 7)))
    wide = np.float32 if a.dtype.itemsize == 2 else a.dtype
    computed = (a.astype(wide) @ b.astype(wide)).astype(a.dtype)
    first, second = (Rounded.exact(each.astype(np.float64), precision_of(dtype)) for each in (a, b))
    bound = first @ second
    with precision(200):
        error = largest_error(computed.astype(np.float64), to_balls(first.value) @ to_balls(second.value))
    assert 0.02 < (error / allowance(bound)).max() <= 1


def test_errors_of_both_factors_pass_through_a_product_of_matrices():
    model = precision_of("float64")
    a = Rounded(np.array([[1.0, -2.0]]), np.array([[1e-3, 2e-3]]), np.zeros((1, 2)), model)
    b = Rounded(np.array([[3.0], [5.0]]), np.array([[1e-2], [0.0]]), np.zeros((2, 1)), model)
    corners = [
        abs((1 + s * 1e-3) * (3 + t * 1e-2) + (-2 + r * 2e-3) * 5 + 7)
        for s in (-1, 1)
        for t in (-1, 1)
        for r in (-1, 1)
    ]
    assert max(corners) <= (a @ b).worst[0, 0] < 1.01 * max(corners)


def test_errors_of_one_factor_pass_through_a_product_with_exact_numbers():
    model = precision_of("float64")
    exact = Rounded.exact(np.array([[3.0, -5.0]]), model)
    wrong = Rounded(np.array([[1.0], [2.0]]), np.array([[1e-3], [2e-3]]), np.array([[1e-8], [3e-8]]), model)
    turned = (each.rearranged(np.transpose) for each in (wrong, exact))
    for product in (exact @ wrong, next(turned) @ next(turned)):
        assert product.worst[0, 0] == pytest.approx(3 * 1e-3 + 5 * 2e-3, rel=1e-9)
        assert product.square[0, 0] == pytest.approx(9 * 1e-8 + 25 * 3e-8, rel=1e-9)


def test_a_mapped_function_errs_by_what_it_is_told_and_its_ulps():
    model = precision_of("float32")
    x = Rounded(np.array([0.5]), np.array([1e-3]), np.array([1e-8]), model)
    found = x.mapped(np.array([2.0]), np.array([4e-3]), np.array([4.0]))
    assert found.worst[0] == pytest.approx(4e-3 + 8 * model.stored.unit * (2.0 + 8e-3))
    assert found.square[0] == pytest.approx(16e-8, rel=1e-3)
