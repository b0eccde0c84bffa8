"""A layer of the encoder is read as numeric.encoder.forward with one layer; and, in a second reading, by its definition."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from proofs.terms import Term
from proofs.theorems.encoder import encoder_layer

from ... import encoder
from ...checker.rounding import Rounded
from ..arrays import applied, constant, read_all, side_by_side, varies
from ..calls import LayerFunction
from ..differentials import LayerFunctions
from ..evaluation import Environment, Evaluation, parameters
from ..tape import Number
from . import feed_forward, multi_head, residual
from .masking import Mask, as_array

LAYER = encoder
STACK, WHOLE, BY_DEFINITION = "stack", "whole", "definition"


class Choices(NamedTuple):
    """What a layer of a stack asks of its numeric.config.Config, which itself takes no odd d_model."""

    n_heads: int
    eps: Any
    n_groups: None = None
    norm: str = "post"
    activation: str = "relu"
    dropout: float = 0.0


def attention_parameters(arrays: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
    return dict(zip(("w_q", "w_k", "w_v", "w_o"), arrays, strict=True))


def norm_parameters(arrays: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
    return dict(zip(("gain", "bias"), arrays, strict=True))


def feed_forward_parameters(arrays: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
    return dict(zip(("W_1", "b_1", "W_2", "b_2"), arrays, strict=True))


def _forward(x: np.ndarray, *arrays_and_eps: np.ndarray, n_heads: int, keep: Mask) -> np.ndarray:
    *arrays, eps = arrays_and_eps
    layer = {
        "self_attention": attention_parameters(arrays[:4]),
        "self_attention_norm": norm_parameters(arrays[4:6]),
        "feed_forward": feed_forward_parameters(arrays[6:10]),
        "feed_forward_norm": norm_parameters(arrays[10:]),
    }
    config: Any = Choices(n_heads, eps.item())
    return encoder.forward(x, {"layers": [layer]}, config, as_array(keep))[0]


def attended_bound(
    x: Rounded, m: Rounded, parameters: Sequence[Rounded], eps: Rounded, n_heads: int, keep: Mask
) -> Rounded:
    """After attention of x to m, in a residual connection."""
    *matrices, gain, bias = parameters
    attended = multi_head.forward_bound(x, m, *matrices, n_heads=n_heads, keep=keep)
    return residual.forward_bound(x, attended, gain, bias, eps, placement="post")


def fed_bound(x: Rounded, parameters: Sequence[Rounded], eps: Rounded) -> Rounded:
    """After the feed-forward layer, in a residual connection."""
    *arrays, gain, bias = parameters
    return residual.forward_bound(x, feed_forward.forward_bound(x, *arrays), gain, bias, eps, placement="post")


def _bound(x: Rounded, *arrays_and_eps: Rounded, n_heads: int, keep: Mask) -> Rounded:
    *arrays, eps = arrays_and_eps
    return fed_bound(attended_bound(x, x, arrays[:6], eps, n_heads, keep), arrays[6:], eps)


FUNCTIONS = LayerFunctions(LayerFunction("encoder.forward", _forward, _bound))


def layer_arrays(
    evaluation: Evaluation, terms: Sequence[Term], environment: Environment
) -> tuple[list[np.ndarray], int]:
    """The arrays of a layer, those of the heads side by side, and the number of heads."""
    arrays = read_all(evaluation, terms, environment)
    n_heads = next(len(each) for each in arrays if each.ndim == 3)
    return [side_by_side(each) if each.ndim == 3 else each for each in arrays], n_heads


def _read(evaluation: Evaluation, application: Term, environment: Environment) -> Number | None:
    *terms, eps, i, b = parameters(application)

    def compute() -> np.ndarray | None:
        arrays, n_heads = layer_arrays(evaluation, terms, environment)
        if varies(arrays) or evaluation.choices.choose(STACK, (WHOLE, BY_DEFINITION)) == BY_DEFINITION:
            return None
        constants = [constant(evaluation, eps, environment)]
        return applied(evaluation, FUNCTIONS, arrays, constants, n_heads=n_heads, keep=None)[0]

    output = evaluation.shared("encoder", (*terms, eps), environment, compute)
    return None if output is None else output[evaluation.place(i, environment), evaluation.place(b, environment)]


READINGS = {encoder_layer: _read}
