"""By default a part of the long lists of cases; `--all` takes every one."""

from pathlib import Path

import pytest

HERE = Path(__file__).parent

# one in so many of a file's tests is run by default
THINNED = {
    "test_field_cases.py": 6,
    "test_attention_field_cases.py": 8,
    "test_jax.py": 12,
    "test_dropout.py": 6,
    "test_kill_matrix.py": 3,
    "test_vectors.py": 4,
    "test_two_mistakes.py": 5,
    "test_no_false_alarm.py": 4,
    "test_gelu.py": 4,
    "test_transformer.py": 5,
    "test_encoder_layer.py": 5,
    "test_decoder_layer.py": 5,
    "test_attention_in_torch.py": 4,
    "test_norms_in_torch.py": 4,
    "test_layer_norm_gradients.py": 3,
    "test_add_and_norm.py": 3,
    "test_swiglu.py": 3,
    "test_silu.py": 3,
    "test_cross_entropy_faults.py": 3,
    "test_scaled_dot_product_attention.py": 3,
    "test_multi_head_attention.py": 3,
    "test_survey.py": 3,
    "test_answers.py": 3,
    "test_torch.py": 2,
    "test_sweep.py": 2,
    "test_checks_of.py": 3,
    "test_positional_encoding.py": 2,
    "test_model.py": 3,
    "test_training_command.py": 2,
    "test_optimizer.py": 2,
    "test_spelling.py": 2,
    "test_matmul.py": 3,
    "test_decoding.py": 2,
    "test_mutants.py": 2,
    "test_attention.py": 3,
    "test_masking.py": 3,
    "test_multi_head.py": 3,
    "test_feed_forward.py": 3,
    "test_activations.py": 3,
    "test_layer_norm.py": 3,
    "test_rms_norm.py": 3,
    "test_cross_entropy.py": 3,
    "test_residual.py": 3,
    "test_blocked_attention.py": 3,
    "test_agreement.py": 2,
    "test_rotary.py": 2,
    "test_torch_weights.py": 2,
    "test_softmax.py": 2,
}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    numeric = [item for item in items if item.path.is_relative_to(HERE) and not item.get_closest_marker("slow")]
    for name, step in THINNED.items():
        fast = [item for item in numeric if item.path.name == name]
        for place, item in enumerate(fast):
            if place % step:
                item.add_marker(pytest.mark.slow)
