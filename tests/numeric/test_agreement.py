"""The bridge: all theorems agree with the layers, and a mistake planted in a layer makes one of them disagree."""

import ast
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import numeric
from numeric.__main__ import app
from numeric.agreement import agree
from numeric.agreement import run as running
from numeric.agreement.comparison import Verdict
from numeric.agreement.folded import statement_of
from numeric.agreement.instances import written_out
from numeric.agreement.readings import all_readings
from numeric.agreement.run import LARGEST, all_layers, layers_of, public_functions
from numeric.layers import log_softmax, softmax
from proofs.commands.selection import UsageError
from proofs.evaluate import NoSample
from proofs.registry import all_claims

from .agreement.layer_mutants import MUTANTS as OF_LAYERS
from .agreement.layer_mutants import Coarse
from .agreement.mutants import MUTANTS as OF_VECTORS

ROOT = Path(numeric.__file__).parent
UNCALLED = {  # no theorem is about these; those of masking are parts that forward and attention call
    "decoder.backward", "decoder.layer_backward", "decoder.layer_forward", "dropout.draw", 
    "encoder.backward", "encoder.layer_backward", "encoder.layer_forward", "masking.both", "masking.largest_kept", "masking.padding",
    "masking.scores_to_weights", "masking.take_exponentials", "optimizer.accumulate", "optimizer.clip", "optimizer.global_norm",
    "optimizer.initial", "optimizer.mean_gradient", "optimizer.update", "positional_encoding.angles",
    "positional_encoding.backward", "positional_encoding.forward",
}  # fmt: skip


MUTANTS = [*OF_VECTORS, *OF_LAYERS]
PART = 8  # of the theorems by default, a third of a second for each ten


@pytest.fixture(scope="module")
def everything():
    """All theorems; only tests that are marked slow ask for it."""
    return agree(seeds=1)


@pytest.fixture(scope="module")
def some():
    """A part of the theorems that speak of a layer, and some that do not."""
    speaking = [claim.name for claim in all_claims() if layers_of(statement_of(claim))]
    return agree(" or ".join([*speaking[::PART], "position_rotations.generator_is_skew"]), 1)


@pytest.fixture
def run():
    return lambda *arguments: CliRunner().invoke(app, ["agree", *map(str, arguments)])


def test_some_theorems_agree(some):
    assert len(some.theorems) > 40
    assert [each.name for each in some.failed] == []
    assert some.verdict is Verdict.AGREES
    assert some.exit_code == 0
    _every_layer_spoken_of_is_called_and_every_figure_in_bounds(some)


@pytest.mark.slow
def test_every_theorem_agrees(everything):
    assert [each.name for each in everything.failed] == []
    _every_layer_spoken_of_is_called_and_every_figure_in_bounds(everything)


def _every_layer_spoken_of_is_called_and_every_figure_in_bounds(report):
    spoken_of = {claim.name: layers_of(statement_of(claim)) for claim in all_claims()}
    for each in report.theorems:
        assert {function.partition(".")[0] for function in each.functions} >= set(spoken_of[each.name])
        assert all(judgement.comparisons for judgement in each.judgements)
    assert max(each.widest for each in report.theorems) < 0.5e-20
    assert 0 < max(each.ratio for each in report.theorems) <= 1


@pytest.mark.slow
def test_every_theorem_is_either_evaluated_or_listed(everything):
    evaluated = [each.name for each in everything.theorems]
    named = [*evaluated, *everything.without_layer]
    assert sorted(named) == sorted(claim.name for claim in all_claims())
    assert {"softmax_jacobian.vjp", "rotary.isometry", "decoder.decoder_layer_is_causal"} <= set(evaluated)
    assert "softmax_bounds.uniform_entries_vanish" in everything.without_layer


def test_no_theorem_is_too_large():
    read = frozenset(all_readings())
    largest = max(
        written_out(statement_of(claim), read=read) for claim in all_claims() if layers_of(statement_of(claim))
    )
    assert LARGEST / 10 < largest < LARGEST


def test_a_theorem_that_is_too_large_is_listed(monkeypatch, run):
    monkeypatch.setattr(running, "LARGEST", 10)
    result = run("-k", "softmax.positive or softmax_jacobian.vjp", "--seeds", 1)
    assert result.exit_code == 2
    assert "matches only theorems that are too large to be written out: " in result.output + result.stderr


@pytest.mark.slow
def test_functions_that_no_theorem_calls_are_listed(everything):
    called = set().union(*(each.functions for each in everything.theorems))
    for layer in ("softmax", "log_softmax"):
        assert {f"{layer}.{name}" for name in ("forward", "jvp", "backward", "jacobian")} <= called
    for layer in all_layers():
        both = {f"{layer.__name__.rpartition('.')[2]}.{name}" for name in ("forward", "backward")}
        assert both <= called | UNCALLED
    assert {"rotary.forward", "rotary.backward", "positional_encoding.rotation"} <= called
    assert set(everything.uncalled) == public_functions() - called
    assert everything.uncalled == tuple(sorted(UNCALLED))


def test_public_functions_are_those_of_the_layers_and_of_what_else_is_read():
    found = public_functions()
    assert {"softmax.jacobian", "multi_head.attend", "encoder.forward", "optimizer.adam_step"} <= found
    assert not any(name.partition(".")[2].startswith("_") for name in found)
    assert "arithmetic.to_balls" not in found
    assert found >= UNCALLED


def test_which_layer_a_theorem_speaks_of_follows_from_its_definitions():
    spoken_of = {claim.name: layers_of(statement_of(claim)) for claim in all_claims()}
    assert spoken_of["softmax_derivatives.gradient_of_logsumexp"] == ("log_softmax", "softmax")
    assert spoken_of["rotary.rotary_is_inverse_shift"] == ("positional_encoding", "rotary")
    assert spoken_of["softmax_jacobian.quadratic_form_is_nonnegative"] == ("softmax",)  # through J alone
    assert spoken_of["position_rotations.generator_is_skew"] == ()


def test_the_derivative_of_the_layer_is_read_in_three_ways():
    [vjp] = agree("softmax_jacobian.vjp", 1).theorems
    assert {"softmax.jvp", "softmax.backward", "softmax.jacobian"} <= vjp.functions


# The tester, tested


def of_each_layer(mutants, count):
    """All mutants, those after the first `count` of a layer marked as slow."""
    seen = Counter()
    for mutant in mutants:
        seen[mutant.layer] += 1
        yield pytest.param(mutant, id=mutant.name, marks=[pytest.mark.slow] if seen[mutant.layer] > count else [])


@pytest.mark.parametrize("mutant", list(of_each_layer(MUTANTS, 2)))
def test_a_planted_mistake_is_seen(mutant, monkeypatch):
    mutant.plant(monkeypatch)
    report = agree(mutant.seen_by, 1)
    assert mutant.seen_by in [each.name for each in report.failed]
    assert report.exit_code == 1


def test_no_planted_mistake_is_listed_twice():
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)
    assert {mutant.seen_by for mutant in MUTANTS} <= {claim.name for claim in all_claims()}


def test_every_layer_that_is_read_has_four_planted_mistakes():
    planted = Counter(mutant.layer for mutant in MUTANTS)
    assert {reading.layer for reading in all_readings().values()} <= set(planted)
    assert min(planted.values()) >= 4


OF_NO_WEIGHT = {  # a row that is ignored: whatever its softmax is, it is multiplied by 0; and a witness that makes both sides one
    "feed_forward.position_wise",
    "loss_ignored_rows.ignored_row_changes_nothing", "loss_ignored_rows.ignored_row_has_zero_gradient",
}  # fmt: skip


@pytest.mark.slow
def test_every_theorem_sees_some_mistake(everything):
    asked_of = {each.name: each.layers for each in everything.theorems}
    blind = set(asked_of) - OF_NO_WEIGHT
    coarse = [Coarse(layer) for layer in dict.fromkeys(mutant.layer for mutant in MUTANTS)]
    for mutant in [*coarse, *MUTANTS]:
        layer = mutant.layer.__name__.rpartition(".")[2]
        asked = sorted(name for name in blind if layer in asked_of[name])
        with pytest.MonkeyPatch.context() as monkeypatch:
            mutant.plant(monkeypatch)
            blind -= {each.name for each in agree(" or ".join(asked)).failed} if asked else set()
    assert sorted(blind) == []


@pytest.mark.slow
def test_every_theorem_agrees_at_many_points():
    assert [each.name for each in agree(seeds=25).failed] == []


def test_a_mistake_that_only_whole_cotangents_show_is_seen(monkeypatch):
    """max(s g) is sum(s g) for every unit g, so unit cotangents would let it pass."""
    mutants = {mutant.name: mutant for mutant in MUTANTS}
    mutants["softmax: backward with max for sum"].plant(monkeypatch)
    mutants["log_softmax: backward with max for sum"].plant(monkeypatch)
    unit, weights = np.eye(3)[1], np.array([0.2, 0.3, 0.5])
    cache = softmax.forward(np.log(weights))[1]
    assert np.array_equal(softmax.backward(unit, cache), softmax.jacobian(cache)[1])
    failed = {each.name: each for each in agree("vjp or log_softmax_jacobian", 1).failed}
    [finding, *_] = failed["softmax_derivatives.log_softmax_jacobian"].findings
    assert "summed over i" in finding.message


def test_a_disagreement_is_told_with_both_sides_and_the_point(monkeypatch, run):
    monkeypatch.setattr(log_softmax, "backward", lambda g, c: -g)
    result = run("-k", "log_softmax_jacobian", "--seeds", 1)
    assert result.exit_code == 1
    told = " ".join(result.output.split())
    assert "softmax_derivatives.log_softmax_jacobian disagrees: " in told
    assert "left = right fails: left" in told
    assert "(derivative: backward)" in told
    assert "; at n = 5, " in told
    assert "Theorems that agree with the layers: 0 of 1, at 1 point each" in told


def test_a_layer_that_raises_is_told(monkeypatch, run):
    def broken(*arguments, **options):
        raise RuntimeError("planted")

    monkeypatch.setattr(softmax, "forward", broken)
    result = run("-k", "sums_to_one", "--seeds", 1)
    assert result.exit_code == 1
    assert "disagrees: softmax.forward raised RuntimeError: planted" in " ".join(result.output.split())


def test_a_theorem_that_no_point_suits_is_undecided(monkeypatch, run):
    def no_points(statement, seeds):
        raise NoSample("none of 2000 random points meets the hypotheses")

    monkeypatch.setattr(running, "points", no_points)
    result = run("-k", "sums_to_one")
    assert result.exit_code == 1
    assert "softmax.sums_to_one undecided: none of 2000 random points meets the hypotheses" in " ".join(
        result.output.split()
    )


def test_a_layer_that_is_spoken_of_and_not_called_leaves_it_undecided(monkeypatch, run):
    monkeypatch.setattr(running, "layers_of", lambda statement: ("rotary", "softmax"))
    result = run("-k", "sums_to_one", "--seeds", 1)
    assert result.exit_code == 1
    assert "softmax.sums_to_one undecided: nothing of rotary was called" in result.output


# The command


def test_the_table_has_80_columns_and_every_theorem(run):
    result = run("-k", "rotary or softmax_bounds.uniform", "--seeds", 1)
    lines = result.output.splitlines()
    assert result.exit_code == 0
    assert max(map(len, lines)) <= 80
    assert any(line.split()[:3] == ["isometry", "rotary", "M=5"] for line in lines)
    assert "Theorems that speak of no layer: softmax_bounds.uniform_entries_vanish" in result.output
    assert "Theorems that agree with the layers: 7 of 7, at 1 point each" in result.output


def test_json_has_every_theorem_with_its_figures(run):
    result = run("-k", "softmax_jacobian.vjp or trace or generator_is_skew", "--seeds", 2, "--json")
    data = json.loads(result.output)
    assert result.exit_code == 0
    assert (data["verdict"], data["seeds"], data["expression"]) == (
        "agrees",
        2,
        "softmax_jacobian.vjp or trace or generator_is_skew",
    )
    assert data["theorems_without_layer"] == ["position_rotations.generator_is_skew"]
    assert data["functions_without_theorem"] == []  # not asked, where not all theorems are
    theorems = {each["theorem"]: each for each in data["theorems"]}
    assert set(theorems) == {"softmax_jacobian.vjp", "softmax_jacobian.trace"}
    trace = theorems["softmax_jacobian.trace"]
    assert trace["layers"] == ["softmax"]
    assert trace["functions"] == ["softmax.backward", "softmax.forward", "softmax.jacobian", "softmax.jvp"]
    assert (trace["verdict"], trace["points"], trace["sizes"]) == ("agrees", 2, [{"n": 5}, {"n": 2}])
    assert 0 < trace["widest_radius"] < 1e-80
    assert 0 <= trace["float64_ratio"] <= 1
    assert trace["comparisons"] == 2 * 3 * 3  # points, and readings of either side
    assert trace["findings"] == []


def test_json_of_a_disagreement(run, monkeypatch):
    monkeypatch.setattr(softmax, "jacobian", lambda c: -c.s[:, None] * c.s)
    result = run("-k", "softmax_jacobian.trace", "--seeds", 1, "--json")
    data = json.loads(result.output)
    assert result.exit_code == 1
    assert data["verdict"] == data["theorems"][0]["verdict"] == "disagrees"
    assert {each["verdict"] for each in data["theorems"][0]["findings"]} == {"disagrees"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-k", "sofmax"), "error: -k 'sofmax' matches none of the "),
        (("-k", "(vjp"), "error: -k '(vjp': a bracket is not closed"),
        (("-k", "is_skew"), "error: -k 'is_skew' matches only theorems that speak of no layer: position_rotations.generator_is_skew"),
        (("--seeds", "0"), "error: --seeds is 0, needed at least 1: at no point nothing is evaluated"),
        (("--seeds", "many"), "Invalid value for '--seeds'"),
        (("vjp",), "unexpected extra argument"),
    ],
)  # fmt: skip
def test_wrong_use_exits_2_and_is_told(run, arguments, message):
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.output + result.stderr


def test_wrong_use_of_the_function_raises():
    with pytest.raises(UsageError, match="matches none of the"):
        agree("nothing_of_the_kind")
    with pytest.raises(AttributeError, match="has no attribute 'agre'"):
        numeric.agreement.agre


@pytest.mark.slow
def test_another_package_named_proofs_is_told(tmp_path):
    (tmp_path / "proofs").mkdir()
    (tmp_path / "proofs" / "__init__.py").write_text("")
    command = [sys.executable, "-m", "numeric", "agree", "-k", "vjp"]
    environment = {"PYTHONPATH": str(ROOT.parent), "PATH": ""}
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert (
        "error: No module named 'proofs.commands'. The theorems are in the package `proofs` of transformer-proofs"
        in ran.stderr
    )


# The bridge is the only one


def imported(path):
    """The absolute imports of a file, as (module, names)."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from ((alias.name, []) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module, [alias.name for alias in node.names]


def of_proofs(path):
    return [(module, names) for module, names in imported(path) if module.partition(".")[0] == "proofs"]


def test_the_bridge_uses_no_private_name_of_proofs():
    found = [each for path in (ROOT / "agreement").rglob("*.py") for each in of_proofs(path)]
    assert found
    assert [each for each in found if any(part.startswith("_") for part in [*each[0].split("."), *each[1]])] == []


def test_importing_numeric_and_its_other_commands_loads_no_proof():
    code = "import sys, numeric.__main__, numeric.checker; print(*{name.partition('.')[0] for name in sys.modules})"
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT.parent, capture_output=True, text=True, check=True)
    loaded = set(ran.stdout.split())
    assert "numeric" in loaded
    assert not loaded & {"proofs", "sympy", "torch", "jax"}
