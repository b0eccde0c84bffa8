# mypy: disable-error-code="arg-type"
# (wrong arguments are passed on purpose, to see what is said of them)
from dataclasses import FrozenInstanceError, asdict

import numpy as np
import pytest

from numeric.config import Config

GIVEN = {"form": "decoder", "vocabulary": 9, "d_model": 12, "d_ff": 5, "n_heads": 6, "n_layers": 1}


def test_what_follows_from_the_sizes():
    config = Config(**GIVEN)
    assert (config.d_k, config.groups) == (2, 6)
    assert Config(**GIVEN, n_groups=3).groups == 3


def test_it_is_plain_data_that_cannot_change():
    config = Config(**GIVEN, norm="pre", smoothing=0.1)
    assert Config(**asdict(config)) == config != Config(**GIVEN)
    with pytest.raises(FrozenInstanceError):
        config.d_model = 4


def test_the_limits_are_allowed():
    Config(**{**GIVEN, "vocabulary": 1, "d_ff": 1}, smoothing=1, dropout=0, n_groups=1)
    Config(**{**GIVEN, "d_model": np.int64(12)}, pad=8)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"form": "gpt"}, ValueError, "form is 'gpt', needed one of encoder-decoder, encoder, decoder"),
        ({"norm": "none"}, ValueError, "norm is 'none', needed one of post, pre"),
        ({"activation": "swiglu"}, ValueError, "activation is 'swiglu', needed one of relu, gelu, gelu_tanh, silu"),
        ({"vocabulary": 0}, ValueError, "vocabulary is 0, needed an integer of at least 1"),
        ({"d_ff": 2.0}, TypeError, "d_ff is 2.0, needed an integer"),
        ({"n_layers": True}, ValueError, "n_layers is True, needed an integer of at least 1"),
        ({"pad": -1}, ValueError, "pad is -1, needed an integer of at least 0"),
        ({"pad": 9}, ValueError, "pad is 9, needed a token below vocabulary, 9"),
        ({"d_model": 3, "n_heads": 3}, ValueError, "d_model is 3, needed an even number"),
        ({"n_heads": 5}, ValueError, "n_heads is 5, needed a divisor of d_model, 12"),
        ({"n_groups": 4}, ValueError, "n_groups is 4, needed a divisor of n_heads, 6"),
        ({"n_groups": 0}, ValueError, "n_groups is 0, needed an integer of at least 1"),
        ({"dropout": 1.0}, ValueError, "dropout is 1.0, needed 0 <= dropout < 1"),
        ({"dropout": "0.1"}, TypeError, "dropout is '0.1', needed a real number"),
        ({"smoothing": 1.5}, ValueError, "smoothing is 1.5, needed 0 <= smoothing <= 1"),
        ({"eps": 0.0}, ValueError, "eps is 0.0, needed a finite number above 0"),
        ({"eps": float("nan")}, ValueError, "eps is nan, needed a finite number above 0"),
        ({"base": float("inf")}, ValueError, "base is inf, needed a finite number above 0"),
        ({"attention_biases": 1}, TypeError, "attention_biases is 1, needed True or False"),
    ],
)
def test_what_does_not_fit_is_refused(changes, error, message):
    with pytest.raises(error, match="Config: " + message):
        Config(**{**GIVEN, **changes})
