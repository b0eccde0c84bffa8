"""No correct implementation is called wrong: all of correct_variants.py, in four dtypes, at ten seeds, at sizes 1 to 1024.

By default each is run once, in one dtype or another; --all runs them all, and each at all probes in one dtype. In the others
those are run by the tests of each contract.
"""

import numpy as np
import pytest

pytest.importorskip("torch", reason="some of them are PyTorch's")

from numeric.checker import check

from .correct_variants import ALL, CORRECT, sizes

slow = pytest.mark.slow
SEEDS = 10
ONE_DRAW = ("generic*draw 0",)
AT_LEAST = 40
CONTRACTS = (
    "positional_encoding rotary softmax log_softmax scaled_dot_product_attention multi_head_attention layer_norm rms_norm "
    "add_and_norm relu gelu silu swiglu feed_forward embedding cross_entropy dropout"
)


def every():
    for number, one in enumerate(CORRECT):
        for place, dtype in enumerate(one.dtypes):
            default = place == number % len(one.dtypes) and (one.contract != "dropout" or one.name.startswith("octets"))
            yield pytest.param(one, dtype, marks=() if default else slow, id=f"{one.contract}-{one.name}-{dtype}")


def judged(one, dtype, seed, probes):
    with np.errstate(all="ignore"):
        settings = {"backward": one.backward, "adapter": one.adapter, "dtype": dtype}
        return check(one.contract, one.for_dtype(dtype), seed=seed, probes=probes, **settings)


def test_there_are_enough_of_them_and_of_every_contract():
    assert len(CORRECT) >= AT_LEAST
    assert len({(one.contract, one.name) for one in CORRECT}) == len(CORRECT)
    assert {one.contract for one in CORRECT} >= set(CONTRACTS.split())
    assert sum(one.dtypes == ALL for one in CORRECT) >= AT_LEAST


@pytest.mark.parametrize(("one", "dtype"), list(every()))
def test_passes_once(one, dtype):
    """Dropout at all its probes, since the laws of a draw take all of them."""
    judged(one, dtype, 0, one.probes if one.contract == "dropout" else ONE_DRAW).raise_if_failed()


@slow
@pytest.mark.parametrize(("one", "dtype"), [pytest.param(*each.values, id=each.id) for each in every()])
def test_passes_at_every_seed_and_size(one, dtype):
    for seed in range(1, SEEDS):
        judged(one, dtype, seed, ONE_DRAW).raise_if_failed()
    if one.contract != "dropout":
        found = sizes(one.contract, one.longest, np.random.default_rng(11))
        judged(one, dtype, 0, found).raise_if_failed()


@slow
@pytest.mark.parametrize(
    "one", [one for one in CORRECT if one.contract != "dropout"], ids=lambda one: f"{one.contract}-{one.name}"
)
def test_passes_at_structured_probes_and_properties(one):
    dtype = one.dtypes[CORRECT.index(one) % len(one.dtypes)]
    judged(one, dtype, 0, one.probes).raise_if_failed()


@slow
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("contract", ["softmax", "log_softmax", "relu", "silu"])
def test_jax_passes(contract, dtype):
    pytest.importorskip("jax", reason="these are JAX's")
    from numeric.checker.subjects import group_named

    one = next(each for each in group_named("jax") if each.contract == contract)
    for seed in range(SEEDS):
        check(contract, one.forward, adapter="jax", dtype=dtype, seed=seed, probes=ONE_DRAW).raise_if_failed()
