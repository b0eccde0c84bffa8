"""By default a part of the long lists of cases; `--all` takes every one."""

import pytest

# one in so many of a file's tests is run by default
THINNED = {
    "test_field_cases.py": 8,
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
}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for name, step in THINNED.items():
        fast = [item for item in items if item.path.name == name and not item.get_closest_marker("slow")]
        for place, item in enumerate(fast):
            if place % step:
                item.add_marker(pytest.mark.slow)
