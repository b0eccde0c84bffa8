"""A layer of the decoder is read as numeric.decoder.forward with one layer; and, in a second reading, by its definition."""

from typing import Any

import numpy as np

from proofs.terms import Term
from proofs.theorems.decoder import decoder_layer

from ... import decoder
from ...checker.rounding import Rounded
from ..arrays import applied, constant, varies
from ..calls import LayerFunction
from ..differentials import LayerFunctions
from ..evaluation import Environment, Evaluation, parameters
from ..tape import Number
from .encoder import (
    BY_DEFINITION,
    STACK,
    WHOLE,
    Choices,
    attended_bound,
    attention_parameters,
    fed_bound,
    feed_forward_parameters,
    layer_arrays,
    norm_parameters,
)
from .masking import Mask, as_array, causal_keep

LAYER = decoder


def _forward(x: np.ndarray, memory: np.ndarray, *arrays_and_eps: np.ndarray, n_heads: int, keep: Mask) -> np.ndarray:
    *arrays, eps = arrays_and_eps
    layer = {
        "self_attention": attention_parameters(arrays[:4]),
        "self_attention_norm": norm_parameters(arrays[4:6]),
        "cross_attention": attention_parameters(arrays[6:10]),
        "cross_attention_norm": norm_parameters(arrays[10:12]),
        "feed_forward": feed_forward_parameters(arrays[12:16]),
        "feed_forward_norm": norm_parameters(arrays[16:]),
    }
    config: Any = Choices(n_heads, eps.item())
    return decoder.forward(x, {"layers": [layer]}, config, as_array(keep), memory)[0]


def _bound(x: Rounded, memory: Rounded, *arrays_and_eps: Rounded, n_heads: int, keep: Mask) -> Rounded:
    *arrays, eps = arrays_and_eps
    own = attended_bound(x, x, arrays[:6], eps, n_heads, keep)
    return fed_bound(attended_bound(own, memory, arrays[6:12], eps, n_heads, None), arrays[12:], eps)


FUNCTIONS = LayerFunctions(LayerFunction("decoder.forward", _forward, _bound))


def _read(evaluation: Evaluation, application: Term, environment: Environment) -> Number | None:
    *terms, eps, i, b = parameters(application)

    def compute() -> np.ndarray | None:
        arrays, n_heads = layer_arrays(evaluation, terms, environment)
        if varies(arrays) or evaluation.choices.choose(STACK, (WHOLE, BY_DEFINITION)) == BY_DEFINITION:
            return None
        keep = causal_keep(evaluation, len(arrays[0]))
        constants = [constant(evaluation, eps, environment)]
        return applied(evaluation, FUNCTIONS, arrays, constants, n_heads=n_heads, keep=keep)[0]

    output = evaluation.shared("decoder", (*terms, eps), environment, compute)
    return None if output is None else output[evaluation.place(i, environment), evaluation.place(b, environment)]


READINGS = {decoder_layer: _read}
