"""Every theorem that a finding of the checker names is one that `python -m proofs show` knows."""

import pytest

from numeric.checker import contract_names
from numeric.checker.contracts import contract_named
from proofs.registry import all_claims

KNOWN = {c.name for c in all_claims()}


@pytest.mark.parametrize("name", contract_names())
def test_theorems_of_a_contract_exist(name):
    contract = contract_named(name)
    named = {p.theorem for p in contract.properties} | ({contract.gradient_theorem} - {None})
    assert named
    assert named <= KNOWN
