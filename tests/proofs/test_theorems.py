"""One item per theorem: it is proved, and every near miss of it is refused with something left over."""

import re
from pathlib import Path

import pytest

from proofs.registry import all_claims, families
from proofs.terms import ZERO

CLAIMS = all_claims()


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda c: c.name)
def test_theorem(claim):
    theorem = claim.theorem
    assert theorem.steps
    assert theorem.says
    assert theorem.near_misses
    assert all(miss.residue != ZERO for miss in theorem.near_misses)


def test_names_are_unique():
    names = [c.name for c in CLAIMS]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("family", families(), ids=str)
def test_header_names_every_statement(family):
    """The header of a theorem file lists what it states, in that order, and nothing else."""
    module = families()[family]
    listed = _listed(module.__doc__ or "")
    stated = [c.name.rpartition(".")[2] for c in CLAIMS if c.family == family]
    assert listed == stated


@pytest.mark.parametrize("family", families(), ids=str)
def test_header_has_every_section(family):
    text = families()[family].__doc__ or ""
    for section in ("Definitions", "Statements", "Scope", "Reference"):
        assert section in text, section


def _listed(text):
    """The names in the Statements section of a header: the first words of its lines, up to two spaces."""
    lines = text.splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith("Statements"))
    end = next(k for k, line in enumerate(lines) if line.startswith("Scope"))
    heads = [
        line[14:].split("  ")[0].strip()
        for line in [lines[start].replace("Statements", " " * 10), *lines[start + 1 : end]]
    ]
    names = [name.strip() for head in heads for name in head.split(",")]
    return [name.split(" ")[0] for name in names if name and name.split(" ")[0].isidentifier()]


CATALOGUE = """
block_is_forced shift_is_rotation rotations_compose zero_shift_is_identity inverse_is_transpose_is_backward_shift
rotation_is_orthogonal determinant_is_one characteristic_polynomial generator similarity_depends_on_offset norm_squared
squared_distance relative_attention_is_realizable positions_are_distinct half_split_is_a_permutation
wavelengths_are_geometric score_depends_on_relative_position isometry rotary_is_inverse_shift
positive sums_to_one shift_invariance permutation_equivariance preserves_order two_classes_are_sigmoid jacobian symmetric
rows_sum_to_zero trace instance_of_four quadratic_form_is_variance vjp jvp gradient_of_logsumexp hessian_of_logsumexp
second_derivative log_softmax_jacobian scale_derivative entropy_decreases absolute_row_sum spectral_norm
vertex_has_zero_jacobian entries_near_vertex bounded_cotangent_vanishes strict_maximum tie_does_not_vanish
zero_scale_is_uniform uniform_entries dispersion_bounds perturbation
""".split()


@pytest.mark.parametrize("name", CATALOGUE)
def test_catalogue_name_exists(name):
    assert any(c.name.endswith("." + name) for c in CLAIMS)


LAYERS = sorted((Path(__file__).parents[2] / "numeric" / "layers").glob("[a-z]*.py"))


@pytest.mark.parametrize("layer", LAYERS, ids=lambda p: p.stem)
def test_layer_names_theorems_that_exist(layer):
    """The line 'Proved in proofs/theorems/FILE.py: NAMES.' of a layer's header."""
    text = layer.read_text(encoding="utf-8")
    family, names = re.search(r"^Proved in proofs/theorems/(\w+)\.py: (.*)\.$", text, re.MULTILINE).groups()
    assert {f"{family}.{name}" for name in names.split(", ")} <= {c.name for c in CLAIMS}


INSTANCES = {
    "shift_instances.instance_of_two", "shift_instances.instance_of_four", "shift_instances.instance_of_eight",
    "softmax.two_classes_are_sigmoid", "softmax_jacobian.instance_of_four", "softmax_saturation.middle_entry_rises_first",
    "softmax_ties.tie_of_two", "relative_position.quarter_turns_repeat",
    "relative_position.real_positions_may_coincide",
}  # fmt: skip


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda c: c.name)
def test_generality_is_computed(claim):
    assert claim.theorem.is_general == (claim.name not in INSTANCES)
