"""Every known mistake of every contract is found by a default run, and named as itself."""

import re

import numpy as np
import pytest

from numeric.checker.contracts import contract_named, contract_names
from numeric.checker.kill_matrix import judged, planted, row_of
from numeric.checker.mistake import Instability, Mistake, Variant
from numeric.checker.run import check
from proofs.registry import all_claims

EVERY = [(name, known) for name in contract_names() for known in contract_named(name).mistakes]
IDS = [known.id for _, known in EVERY]
DTYPES = ("float64", "float32")
WHOLE = ("encoder_layer", "decoder_layer", "transformer")  # each variant is told from many others, which takes seconds
STRUCTURES = 100  # mistakes and variants that differ in structure, all contracts together, at least


def planted_ones():
    """In float64 and in float32, and what shows in 16 bits only, there."""
    for name, known in EVERY:
        shown = getattr(known, "dtypes", DTYPES)
        for dtype in [each for each in DTYPES if each in shown] or shown:
            slow = pytest.mark.slow if name in WHOLE else ()
            yield pytest.param(name, known, dtype, marks=slow, id=f"{known.id}-{dtype}")


@pytest.mark.cases(6)
@pytest.mark.parametrize(("name", "known", "dtype"), list(planted_ones()))
def test_a_planted_mistake_is_found_and_named(name, known, dtype):
    row = row_of(known, judged(contract_named(name), known, dtype), dtype)
    assert row.detected, row
    assert row.recognised, row


VARIANTS = [
    pytest.param(name, known, marks=pytest.mark.slow if name in WHOLE else (), id=known.id)
    for name, known in EVERY
    if isinstance(known, Variant) and known.of == "values"
]


@pytest.mark.cases(4)
@pytest.mark.parametrize(("name", "known"), VARIANTS)
def test_an_accepted_variant_passes(name, known):
    forward, _ = planted(contract_named(name), known)
    report = check(name, forward, adapter="numpy", accept=(known.id,))
    assert report.finding("values").verdict == "variant"
    assert report.verdict == "pass", str(report)
    assert known.converter and known.converter.rstrip(". ") in report.finding("values").message


# their formulas add up in 16 bits, where the right one would fail too; and one takes no 16 bits
NOT_IN_16_BITS = {
    "layer_norm.one_plus_gain": "fail",
    "rms_norm.one_plus_gain": "fail",
    "transformer.positions_in_halves": "error",
}


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize(("name", "known"), VARIANTS)
def test_an_accepted_variant_passes_in_other_dtypes(name, known, dtype):
    forward, _ = planted(contract_named(name), known, dtype)
    with np.errstate(all="ignore"):
        report = check(name, forward, adapter="numpy", dtype=dtype, accept=(known.id,))
    wanted = NOT_IN_16_BITS.get(known.id, "pass") if dtype == "bfloat16" else "pass"
    assert report.verdict == wanted, str(report)


def test_they_differ_in_structure():
    """Those count once, all together, that break one theorem, or of which the same is said but for numbers, as of a slip that a
    layer shares with a part of it: so no two that are counted differ in a constant only, or are one slip in two contracts."""
    kind: dict[str, str] = {}

    def first(key):
        while kind.setdefault(key, key) != key:
            key = kind[key]
        return key

    mistakes = [known for _, known in EVERY if isinstance(known, Mistake)]
    for known in mistakes:
        for key in (known.theorem, re.sub(r"[0-9.]+", "#", known.says)):
            kind[first(key)] = first(known.id)
    assert len({first(known.id) for known in mistakes}) >= STRUCTURES


def test_ids_are_unique_and_twins_exist():
    assert len(set(IDS)) == len(IDS)
    for name, known in EVERY:
        among = {each.id: each for each in contract_named(name).mistakes}
        for twin in getattr(known, "twins", ()):
            assert known.id in among[twin].twins, f"{known.id} names {twin}, which does not name it back"


def test_each_names_a_theorem_that_exists():
    theorems = {claim.name for claim in all_claims()}
    for _, known in EVERY:
        assert known.theorem in theorems, known.id
        assert isinstance(known, (Mistake, Instability)) and known.says and not known.says.endswith("."), known.id
