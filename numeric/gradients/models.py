"""The cases of encoder, decoder and whole models: tiny ones of each form, differentiated by every parameter.

Between them they have both norms, grouped heads, biases, dropout, smoothing, pads in source and target, and two
layers of a decoder, so that a memory is read twice. Tokens repeat, and some of the vocabulary does not occur.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from .. import decoder, encoder, model
from ..config import Config
from ..layers import masking
from ..parameters import flatten, unflatten
from .case import Case, Shape

SOURCE = np.array([[3, 1, 4, 1], [5, 2, 0, 0]])  # 0 is the pad
TARGET = np.array([[1, 3, 3, 2], [1, 2, 0, 0]])
SIZES: dict[str, Any] = {"vocabulary": 7, "d_model": 4, "d_ff": 3, "n_heads": 2, "n_layers": 2}
SCALE = 0.3  # balls widen less on their way through many layers than at 1
KEEP = masking.padding(SOURCE, 0)


def model_cases() -> list[Case]:
    translator = Config("encoder-decoder", **SIZES)
    shallow = replace(translator, n_layers=1)
    grouped = Config(
        "encoder-decoder", **SIZES, n_groups=1, norm="pre", activation="gelu", attention_biases=True, smoothing=0.25
    )
    tagger = Config("encoder", **SIZES, activation="gelu_tanh", attention_biases=True, smoothing=0.25)
    continuing = Config("decoder", **SIZES, norm="pre", activation="silu", dropout=0.25)
    return [
        _encoder("post", translator),
        _encoder("pre_grouped", grouped),
        _decoder("post", translator),
        _decoder("pre_grouped", grouped),
        _model("encoder_decoder", shallow),
        _model("grouped_pre_norm", grouped),
        _model("encoder_post", tagger),
        _model("decoder_dropout", continuing),
    ]


def _parameters(config: Config, stack: str = "") -> dict[str, Shape]:
    """The shapes of the model's parameters, or of those of one stack, by their names there."""
    named = flatten(model.initialise(config, 0, np.float64))
    return {name.removeprefix(stack): array.shape for name, array in named.items() if name.startswith(stack)}


def _tree(names: list[str], arrays: tuple[np.ndarray, ...]) -> Any:
    return unflatten(dict(zip(names, arrays, strict=True)))


def _leaves(names: list[str], gradients: Any) -> list[np.ndarray]:
    """In the order of the names. Raises ValueError where the tree of gradients has others."""
    flat = flatten(gradients)
    if flat.keys() != set(names):
        raise ValueError(f"gradients: they differ from the parameters in {sorted(flat.keys() ^ set(names))}")
    return [flat[name] for name in names]


def _encoder(variant: str, config: Config) -> Case:
    shapes = _parameters(config, "encoder.")
    names = list(shapes)

    def forward(x: np.ndarray, *arrays: np.ndarray) -> tuple[np.ndarray, Any]:
        return encoder.forward(x, _tree(names, arrays), config, KEEP)

    def backward(cotangent: np.ndarray, cache: Any) -> Any:
        dx, gradients = encoder.backward(cotangent, cache)
        return dx, _leaves(names, gradients)

    return Case(
        "encoder", variant, {"x": (2, 4, config.d_model), **shapes}, forward, backward, entries=False, scale=SCALE
    )


def _decoder(variant: str, config: Config) -> Case:
    shapes = _parameters(config, "decoder.")
    names, keep = list(shapes), masking.causal(3)

    def forward(x: np.ndarray, memory: np.ndarray, *arrays: np.ndarray) -> tuple[np.ndarray, Any]:
        return decoder.forward(x, _tree(names, arrays), config, keep, memory, KEEP)

    def backward(cotangent: np.ndarray, cache: Any) -> Any:
        dx, dmemory, gradients = decoder.backward(cotangent, cache)
        return dx, dmemory, _leaves(names, gradients)

    inputs: dict[str, Shape] = {"x": (2, 3, config.d_model), "memory": (2, 4, config.d_model)}
    return Case("decoder", variant, {**inputs, **shapes}, forward, backward, entries=False, scale=SCALE)


def _model(variant: str, config: Config) -> Case:
    shapes = _parameters(config)
    names = list(shapes)
    source = None if config.form == "decoder" else SOURCE

    def forward(*arrays: np.ndarray) -> tuple[np.ndarray, Any]:
        # the same entries are dropped at every call
        return model.forward(_tree(names, arrays), source, TARGET, config, np.random.default_rng(2))

    def backward(cotangent: np.ndarray, cache: Any) -> Any:
        return _leaves(names, model.backward(cache, cotangent))

    return Case("model", variant, shapes, forward, backward, entries=False, scale=SCALE)
