"""Decoding token by token, with the keys and values of earlier tokens kept.

    state = start(params, src, config, rows, capacity)      encodes src, and keeps its keys and values for every layer
    z = advance(params, state, tokens, config)              the logits after the next tokens; keeps theirs as well

Each position is computed once, from the keys and values kept before it, in place of all positions at every step
(Shazeer 2019, section 2.4). The logits are those of model.logits, by cached_decoding_equals_full, which is proved in
proofs/theorems/cached_decoding.py.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from . import decoder, model, sublayers
from .arithmetic import zeros
from .config import Config
from .layers import masking, multi_head, residual, unembedding
from .layers._arguments import require_size
from .parameters import Tree

NAME = "incremental"


class Kept(NamedTuple):
    """Keys and values of one attention."""

    keys: np.ndarray  # (B, F, 1, n, d_k)
    values: np.ndarray  # (B, F, 1, n, d_v)

    def of_rows(self, rows: np.ndarray) -> "Kept":
        return Kept(self.keys[rows], self.values[rows])


@dataclass
class State:
    """What is known of the tokens so far; `advance` writes to it."""

    own: list[Kept]  # of each layer, for `capacity` tokens, the first `length` of them filled
    memory: list[Kept] | None  # of each layer, from the encoder
    memory_keep: np.ndarray | None  # (B, 1, m)
    shown: np.ndarray  # which tokens are not pad                           (B, capacity)
    length: int = 0

    def select(self, rows: np.ndarray) -> "State":
        """The state of these rows, in this order; a row may be named more than once."""
        memory = None if self.memory is None else [kept.of_rows(rows) for kept in self.memory]
        memory_keep = None if self.memory_keep is None else self.memory_keep[rows]
        return State([kept.of_rows(rows) for kept in self.own], memory, memory_keep, self.shown[rows], self.length)


def start(params: Tree, src: np.ndarray | None, config: Config, rows: int, capacity: int) -> State:
    """The state before the first of `capacity` tokens, for `rows` sequences; src (rows, m), or None without an encoder.

    Raises TypeError or ValueError unless the form has a decoder, and the parameters and src are what it needs.
    """
    rows, capacity = require_size(NAME, "rows", rows), require_size(NAME, "capacity", capacity)
    if config.form == "encoder":
        raise ValueError(f"{NAME}: form is 'encoder', needed one with a decoder")
    if config.form == "decoder" and src is not None:
        raise ValueError(f"{NAME}: src was given, needed None for the form 'decoder'; a prompt goes through `advance`")
    model.require_parameters(params, config)
    dtype, layers = params["embedding"]["table"].dtype, params["decoder"]["layers"]
    shape = (rows, config.groups, 1, capacity, config.d_k)
    own = [Kept(zeros(shape, dtype), zeros(shape, dtype)) for _ in layers]
    shown = np.zeros((rows, capacity), np.bool_)
    if config.form == "decoder":
        return State(own, None, None, shown)
    source = model.require_tokens("src", src)
    if len(source) != rows:
        raise ValueError(f"{NAME}: src has shape {source.shape}, needed ({rows}, m), a row for each sequence")
    memory, keep, _ = model.encode(params, source, config)
    read = [_keys_and_values(memory, layer["cross_attention"], config) for layer in layers]
    return State(own, read, keep, shown)


def advance(params: Tree, state: State, tokens: np.ndarray, config: Config) -> np.ndarray:
    """The logits (B, n, V) after each of the next n tokens (B, n), which the state then knows too.

    Raises TypeError or ValueError unless tokens are integers below V, a row for each of the state, and there is room.
    """
    rows, capacity = state.shown.shape
    model.require_tokens("tokens", tokens)
    first, last = state.length, state.length + tokens.shape[1]
    if len(tokens) != rows or last > capacity:
        raise ValueError(
            f"{NAME}: tokens has shape {tokens.shape}, needed ({rows}, n) with n <= {capacity - first}, "
            f"since the state has {rows} rows and {first} of {capacity} places filled"
        )
    x, _ = model.embed(params, tokens, config, start=first)
    state.shown[:, first:last] = tokens != config.pad
    causal = masking.causal(last - first, last, lower_right=True)
    seen = masking.both(causal, state.shown[:, None, :last])
    keep = None if seen.all() else seen
    for place, layer in enumerate(params["decoder"]["layers"]):
        own = _self_attention(layer["self_attention"], state.own[place], first, keep, config)
        across = None
        if state.memory is not None:
            across = _attention(layer["cross_attention"], state.memory[place], state.memory_keep, config)
        x, _ = decoder.layer_forward(x, layer, config, own, across)
    state.length = last
    y, _ = sublayers.final_norm(x, params["decoder"], config)
    return unembedding.forward(y, params["embedding"]["table"])[0]


def _keys_and_values(m: np.ndarray, params: Tree, config: Config) -> Kept:
    return Kept(*multi_head.keys_and_values(m, multi_head.Weights(**params), config.n_heads, config.n_groups))


def _self_attention(params: Tree, kept: Kept, first: int, keep: np.ndarray | None, config: Config) -> residual.Sublayer:
    """Writes the keys and values of the tokens it is given behind the `first` ones, and attends to all of them."""

    def attend(u: np.ndarray) -> tuple[np.ndarray, None]:
        last = first + u.shape[-2]
        for buffer, new in zip(kept, _keys_and_values(u, params, config), strict=True):
            buffer[..., first:last, :] = new
        filled = Kept(*(buffer[..., :last, :] for buffer in kept))
        return _attention(params, filled, keep, config)(u)

    return attend


def _attention(params: Tree, kept: Kept, keep: np.ndarray | None, config: Config) -> residual.Sublayer:
    weights = multi_head.Weights(**params)
    return lambda u: (multi_head.attend(u, *kept, weights, config.n_heads, keep), None)
