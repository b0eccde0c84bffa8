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
definition output_is_convex_combination single_query_is_recurrent_attention score_mean_is_zero score_variance_is_d_k
scaled_variance_is_one expected_squared_gap scaled_spread_is_bounded gap_bounds_the_jacobian gradient_of_values
gradient_of_weights gradient_of_scores gradient_of_queries gradient_of_keys self_attention_input_gradient
score_gradient_rows_sum_to_zero flash_row_term value_gradient_mass key_bias_has_zero_gradient query_key_balance
identical_keys identical_values permutation_invariance online_softmax_recurrence block_merge cached_decoding_equals_full
not_lipschitz oscillation_contracts masked_is_limit_of_finite_masks zero_weight_on_masked
masked_equals_softmax_over_kept multiply_then_renormalise_is_equal multiplying_scores_leaks multiplying_weights_leaks
finite_mask_leak causal_output_ignores_future causal_gradient_ignores_future first_output_is_first_value
extra_padding_changes_nothing fully_masked_row_has_no_limit mask_before_softcap_leaks causal_alignments_differ
dimensions concat_then_project_is_sum_over_heads one_head_is_plain_attention split_merge_is_identity parameter_count
head_permutation_invariance grouped_keys_gradient_sums_over_group value_output_balance
mean_is_zero variance jacobian_with_gain gain_gradient bias_gradient scale_law euler_identity null_space output_range
spectrum unbiased_variance_ratio acts_per_token value rms_output_bound relu_derivative relu_subgradient
relu_is_positively_homogeneous gelu_derivative gelu_tanh_derivative silu_derivative swiglu_derivative_in_gate
swiglu_derivative_in_value odd_part gradient_of_first_weights gradient_of_first_bias gradient_of_second_weights
gradient_of_second_bias gradient_of_input position_wise relu_balance residual_jacobian stack_unrolls
stack_jacobian_is_product residual_may_cancel post_norm_without_branch pre_norm_without_branch
lookup_is_one_hot_product gradient_scatters_and_adds tied_weights_add_gradients scaled_embedding_norm
cross_entropy_gradient label_smoothing cross_entropy_hessian cross_entropy_is_convex cross_entropy_is_nonnegative
uniform_logits_give_log_of_classes ignored_row_has_zero_gradient mean_of_means_is_not_the_mean double_softmax_range
gradient_one_norm bias_correction_is_exact_for_constant_gradient first_step schedule_branches_meet schedule_maximum
decoder_stack_is_causal encoder_stack_is_equivariant encoder_layer_parameters decoder_layer_parameters
encoder_layer_multiply_adds
""".split()


def test_catalogue_names_exist_and_are_general():
    """A name of the catalogue exists, and counts where it holds for arbitrary sizes."""
    assert len(set(CATALOGUE)) == len(CATALOGUE)
    assert set(CATALOGUE) <= {c.name.rpartition(".")[2] for c in CLAIMS}
    general = {c.name.rpartition(".")[2] for c in CLAIMS if c.name not in INSTANCES}
    assert set(CATALOGUE) - general <= {"two_classes_are_sigmoid", "instance_of_four"}
    assert len(general.intersection(CATALOGUE)) >= 120


LAYERS = sorted((Path(__file__).parents[2] / "numeric" / "layers").glob("[a-z]*.py"))


@pytest.mark.parametrize("layer", LAYERS, ids=lambda p: p.stem)
def test_layer_names_theorems_that_exist(layer):
    """The lines 'Proved in proofs/theorems/FILE.py: NAMES.' of a layer's header; it has one at least."""
    text = layer.read_text(encoding="utf-8")
    lines = re.findall(r"^Proved in proofs/theorems/(\w+)\.py: (.*)\.$", text, re.MULTILINE)
    named = {f"{family}.{name}" for family, names in lines for name in names.split(", ")}
    assert named
    assert named <= {c.name for c in CLAIMS}


INSTANCES = {
    "shift_instances.instance_of_two", "shift_instances.instance_of_four", "shift_instances.instance_of_eight",
    "softmax.two_classes_are_sigmoid", "softmax_jacobian.instance_of_four", "softmax_saturation.middle_entry_rises_first",
    "softmax_ties.tie_of_two", "relative_position.quarter_turns_repeat",
    "relative_position.real_positions_may_coincide", "loss_double_softmax.superadditive_base", "training.moment_base",
    "causal_attention.output_of_two_tokens", "causal_attention.order_of_two_tokens_matters",
    "score_counterexamples.products_have_mean_zero", "score_counterexamples.pairwise_independence_is_not_enough",
    "masking_leaks.instance_of_six", "causal_alignments.one_index_stays_below",
}  # fmt: skip


def test_generality_is_computed():
    assert {c.name for c in CLAIMS if not c.theorem.is_general} == INSTANCES
