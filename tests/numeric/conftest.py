"""By default a part of the long lists of cases; `--all` takes every one."""

from collections import defaultdict
from pathlib import Path

import pytest

HERE = Path(__file__).parent

# one in so many of a file's tests is run by default
THINNED = {
    "checker/adapters/test_jax.py": 12,
    "checker/adapters/test_torch.py": 2,
    "checker/contracts/test_add_and_norm.py": 3,
    "checker/contracts/test_attention_field_cases.py": 8,
    "checker/contracts/test_attention_in_torch.py": 4,
    "checker/contracts/test_cross_entropy.py": 3,
    "checker/contracts/test_cross_entropy_faults.py": 3,
    "checker/contracts/test_decoder_layer.py": 5,
    "checker/contracts/test_dropout.py": 6,
    "checker/contracts/test_encoder_layer.py": 5,
    "checker/contracts/test_feed_forward.py": 3,
    "checker/contracts/test_gelu.py": 4,
    "checker/contracts/test_layer_norm.py": 3,
    "checker/contracts/test_layer_norm_gradients.py": 3,
    "checker/contracts/test_multi_head_attention.py": 3,
    "checker/contracts/test_norms_in_torch.py": 4,
    "checker/contracts/test_positional_encoding.py": 2,
    "checker/contracts/test_rms_norm.py": 3,
    "checker/contracts/test_rotary.py": 2,
    "checker/contracts/test_scaled_dot_product_attention.py": 3,
    "checker/contracts/test_silu.py": 3,
    "checker/contracts/test_softmax.py": 2,
    "checker/contracts/test_swiglu.py": 3,
    "checker/contracts/test_transformer.py": 5,
    "checker/subjects/test_jax.py": 12,
    "checker/subjects/test_torch.py": 2,
    "checker/test_answers.py": 3,
    "checker/test_checks_of.py": 3,
    "checker/test_conforming.py": 3,
    "checker/test_erring.py": 3,
    "checker/test_field_cases.py": 6,
    "checker/test_kill_matrix.py": 3,
    "checker/test_no_false_alarm.py": 4,
    "checker/test_reverse.py": 3,
    "checker/test_survey.py": 3,
    "checker/test_sweep.py": 2,
    "checker/test_two_mistakes.py": 5,
    "checker/test_vectors.py": 4,
    "gradients/test_mutants.py": 2,
    "layers/test_activations.py": 3,
    "layers/test_attention.py": 3,
    "layers/test_blocked_attention.py": 3,
    "layers/test_cross_entropy.py": 3,
    "layers/test_dropout.py": 6,
    "layers/test_feed_forward.py": 3,
    "layers/test_layer_norm.py": 3,
    "layers/test_masking.py": 3,
    "layers/test_multi_head.py": 3,
    "layers/test_positional_encoding.py": 2,
    "layers/test_residual.py": 3,
    "layers/test_rms_norm.py": 3,
    "layers/test_rotary.py": 2,
    "layers/test_softmax.py": 2,
    "test_agreement.py": 2,
    "test_decoding.py": 2,
    "test_matmul.py": 3,
    "test_model.py": 3,
    "test_optimizer.py": 2,
    "test_spelling.py": 2,
    "test_torch_weights.py": 2,
    "test_training_command.py": 2,
}
STEPS = {HERE / name: step for name, step in THINNED.items()}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    fast = defaultdict(list)
    for item in items:
        if item.path in STEPS and not item.get_closest_marker("slow"):
            fast[item.path].append(item)
    for path, found in fast.items():
        for place, item in enumerate(found):
            if place % STEPS[path]:
                item.add_marker(pytest.mark.slow)
