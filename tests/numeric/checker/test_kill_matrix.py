"""Every known mistake of every contract is found by a default run, and named as itself."""

import functools

import pytest

from numeric.checker.contracts import contract_named, contract_names
from numeric.checker.kill_matrix import judged, planted, row_of
from numeric.checker.mistake import Instability, Mistake, Variant
from numeric.checker.run import check
from proofs.registry import all_claims

EVERY = [(name, known) for name in contract_names() for known in contract_named(name).mistakes]
IDS = [known.id for _, known in EVERY]
DTYPES = ("float64", "float32")
PER_CONTRACT = 3  # by default; --all takes every one
LONG = ("transformer.pre_norm", "decoder_layer.pre_norm")  # told from many others, which takes seconds
STRUCTURES = 100  # mistakes that differ in structure, all contracts together


def thinned():
    """All in float64, some of them slow; in float32 all slow; what shows in 16 bits only, there, slow too."""
    seen = {}
    for name, known in EVERY:
        seen[name] = seen.get(name, 0) + 1
        shown = getattr(known, "dtypes", DTYPES)
        for dtype in [each for each in DTYPES if each in shown] or shown:
            default = dtype == "float64" and seen[name] <= PER_CONTRACT and known.id not in LONG
            slow = () if default else pytest.mark.slow
            yield pytest.param(name, known, dtype, marks=slow, id=f"{known.id}-{dtype}")


@pytest.mark.parametrize(("name", "known", "dtype"), list(thinned()))
def test_a_planted_mistake_is_found_and_named(name, known, dtype):
    row = row_of(known, judged(contract_named(name), known, dtype), dtype)
    assert row.detected, row
    assert row.recognised, row


VARYING = [name for name in contract_names() if contract_named(name).variants]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name == "transformer" else ()) for name in VARYING]
)
def test_an_accepted_variant_passes(name):
    contract = contract_named(name)
    for known in contract.mistakes:
        if isinstance(known, Variant) and known.of == "values":
            forward, _ = planted(contract, known)
            report = check(name, forward, adapter="numpy", accept=(known.id,))
            assert report.finding("values").verdict == "variant"
            assert known.converter and known.converter.rstrip(". ") in report.finding("values").message


def test_ids_are_unique_and_twins_exist():
    assert len(set(IDS)) == len(IDS)
    for name, known in EVERY:
        among = {each.id: each for each in contract_named(name).mistakes}
        for twin in getattr(known, "twins", ()):
            assert known.id in among[twin].twins, f"{known.id} names {twin}, which does not name it back"


@functools.cache
def theorem_names():
    return {claim.name for claim in all_claims()}


@pytest.mark.parametrize(("name", "known"), EVERY, ids=IDS)
def test_each_names_a_theorem_that_exists(name, known):
    assert known.theorem in theorem_names()
    assert isinstance(known, (Mistake, Instability)) and known.says and not known.says.endswith(".")
