"""What is random on purpose is held to a bound on chance: seldom exceeded by chance, and soon by a wrong law."""

import math

import numpy as np
import pytest

from numeric.checker.contracts import contract_named
from numeric.checker.draws import CHANCE, Sample, allowed, finding_of_draws
from numeric.checker.formats import FORMATS
from numeric.checker.statistic import Statistic

DOUBLE = FORMATS["float64"]
CONTRACT = contract_named("dropout")
SIDE = 300


def sample(mask, p=0.1, side=SIDE):
    rng = np.random.default_rng(5)
    x = rng.uniform(1, 2, (side, side))
    outputs = tuple(x * mask(rng, x.shape, p) for _ in range(2))
    return Sample(f"p = {p}", (x,), {"p": p, "training": True}, outputs)


def independent(rng, shape, p):
    return rng.random(shape) >= p


@pytest.mark.parametrize("p", [0.01, 0.1, 0.5, 0.9])
@pytest.mark.parametrize("trials", [10, 1000, 100000])
def test_the_bound_holds_for_the_binomial_law_with_the_chance_that_it_states(p, trials):
    from scipy.stats import binom

    reach = allowed(Statistic("share", "", 0.0, p, trials, slope=0.0), DOUBLE)
    outside = binom.cdf(math.ceil((p - reach) * trials) - 1, trials, p) + binom.sf(
        math.floor((p + reach) * trials), trials, p
    )
    assert outside <= CHANCE


def test_half_of_the_bound_would_not_do():
    from scipy.stats import binom

    half = allowed(Statistic("share", "", 0.0, 0.5, 100, slope=0.0), DOUBLE) / 2
    assert binom.sf(math.floor((0.5 + half) * 100), 100, 0.5) > 1e5 * CHANCE


def test_coarse_probabilities_are_allowed_for_by_the_unit_of_the_dtype():
    one = Statistic("share", "", 0.0, 0.5, 10**6, slope=2.0)
    assert allowed(one, FORMATS["bfloat16"]) - allowed(one, DOUBLE) == pytest.approx(2 * 2.0**-8, rel=1e-9)


def test_a_right_law_passes():
    finding = finding_of_draws(CONTRACT, [sample(independent), sample(independent, 0.5)], DOUBLE)
    assert finding.verdict == "pass"
    assert "8 means over" in finding.message
    assert finding.evidence["chance_of_a_false_alarm"] <= 1e-8


WRONG = {
    "dropout.keeps_with_probability_p": lambda rng, shape, p: rng.random(shape) < p,
    "dropout.drops_nothing": lambda rng, shape, p: np.ones(shape, bool),
    "dropout.same_mask_every_time": lambda rng, shape, p: independent(np.random.default_rng(11), shape, p),
    "dropout.shared_along_last_axis": lambda rng, shape, p: independent(rng, (shape[0], 1), p) & np.ones(shape, bool),
    "dropout.shared_along_first_axis": lambda rng, shape, p: independent(rng, (1, shape[1]), p) & np.ones(shape, bool),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_law_is_named(name):
    finding = finding_of_draws(CONTRACT, [sample(WRONG[name]), sample(WRONG[name], 0.5)], DOUBLE)
    assert (finding.verdict, finding.mistake) == ("fail", name)
    assert finding.message.startswith(f"{name}: it ")


def test_a_law_that_is_not_known_fails_without_a_name():
    finding = finding_of_draws(CONTRACT, [sample(lambda rng, shape, p: independent(rng, shape, 0.13))], DOUBLE)
    assert (finding.verdict, finding.mistake) == ("fail", None)
    assert "share of entries kept, probe 'p = 0.1': found 0.8" in finding.message
    assert "expected 0.9, where chance allows 0.011 (probability 1e-09)" in finding.message
