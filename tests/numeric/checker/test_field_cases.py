"""Every fault of field_cases.json, at the inputs at which people met it, gets the verdict that it should.

field_cases/ holds small implementations by kind. What a status asks for:

    math          fail, and the mistake is named
    numeric       fail, or a pass that says what was lost, in the dtype and at the probe that show it
    convention    variant, and a pass once accepted
    false alarm   pass
    rounding      pass
    crash         error, and what it raised
    checker       asserted of the checker itself
"""

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from numeric.checker.contracts import contract_named

from .field_cases import attention, blocks, dropout, losses, masks, norms, positions, practice, softmax
from .field_cases.case import Judged, Numbers

KINDS = (positions, softmax, masks, attention, dropout, norms, losses, blocks, practice)
FIELD = {each["id"]: each for each in json.loads(Path(__file__).with_name("field_cases.json").read_text())}
CASES = {name: steps for kind in KINDS for name, steps in kind.CASES.items()}

VERDICTS = {
    "math": {"fail"},
    "numeric": {"fail", "error"},
    "convention": {"variant"},
    "false alarm": {"pass"},
    "rounding": {"pass"},
    "crash": {"error"},
    "checker": set(),
}
# no contract has what they are about, or CHECKER.md says otherwise
OTHERWISE = {
    "MK2": "a fully masked row has no reference: named in a note",
    "MK4": "a fully masked row has no reference: named in a note, and its NaN in the gradients",
    "MK5": "an infinity in NumPy, an error in PyTorch",
    "MK16": "ALiBi's slopes: judged as attention with two more features",
    "AC3": "accuracy, not an error: a pass that names the formula",
    "AC5": "the wrong sign is a fault, few digits are accuracy",
    "CK4": "of differences, which are not needed",
    "CK6": "inconclusive: random, not wrong",
    "CK7": "at a probe of its own",
    "MH8": "random as softmax, right as dropout",
    "RS6": "a first loss, beside its bounds",
}
# a third of a second or more each: --all runs them
LONG = "PE10 SM1 SM3 SM5 SM7 SM8 SM11 MK1 MK5 MK16 SC1 MH5 MH8 GR4 GR8 LN7 LN8 LN14 AC2 CE1 CE6 RS3 CK2 CK9".split()


def test_every_field_case_is_tested_once():
    assert set(CASES) == set(FIELD) and len(FIELD) == 73
    assert sum(len(kind.CASES) for kind in KINDS) == len(CASES)


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.slow if name in LONG else ()) for name in FIELD])
def test_field_case(name):
    for step in CASES[name]:
        step.require() if isinstance(step, (Judged, Numbers)) else step()


@pytest.mark.parametrize("name", [name for name in FIELD if name not in OTHERWISE])
def test_the_verdict_is_what_the_status_asks_for(name):
    judged = [step for step in CASES[name] if isinstance(step, Judged)]
    wanted = VERDICTS[FIELD[name]["status"]]
    assert not wanted or any(step.verdict in wanted for step in judged)
    if FIELD[name]["status"] in ("math", "numeric"):
        assert any(step.mistakes or step.says for step in judged if step.verdict in wanted) or name == "AC7"


def test_every_wrong_formula_and_every_convention_is_a_known_mistake():
    """But for those of quantities that no contract has: slopes of ALiBi, soft caps, first losses; and a random output is none."""
    unnamed = {"MK16", "AC7", "RS6", "MH8"}
    for name, each in FIELD.items():
        if each["status"] in ("math", "convention"):
            named = [
                f"{step.contract}.{id}" for step in CASES[name] if isinstance(step, Judged) for id in step.mistakes
            ]
            assert bool(named) == (name not in unnamed), name
            for one in named:
                assert one in {known.id for known in contract_named(one.partition(".")[0]).mistakes}


@pytest.mark.parametrize("name", [name for name, each in FIELD.items() if each["values"].startswith("right")])
def test_right_values_are_reproduced(name):
    """By the exact reference where a contract has the quantity, and by a step of its own else."""
    steps: Iterable = CASES[name]
    own = {"RO1", "MH2", "MH5", "MK16", "LN11", "AC7"}
    assert any(isinstance(step, Numbers) for step in steps) or name in own
