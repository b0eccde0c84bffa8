"""What goes wrong between the tokens and the first layers of a Transformer, for `_transformer_mistakes`."""

from typing import Any

import numpy as np

from ...arithmetic import widen
from ...layers import positional_encoding
from ._attention_formulas import root
from ._tape import Node
from ._transformer_wiring import Transformer


def encoding(t: Transformer, positions: np.ndarray) -> Any:
    return positional_encoding.encode(positions, t.width, dtype=widen(t.table.value).dtype)


def plus(x: Node, encoding: Any) -> Node:
    return x + Node(np.broadcast_to(encoding, x.value.shape))


def halves(t: Transformer, ids: np.ndarray) -> Node:
    code = encoding(t, np.arange(ids.shape[1]))
    return plus(t.look_up(ids), np.concatenate([code[:, 0::2], code[:, 1::2]], -1))


def over_batch(t: Transformer, ids: np.ndarray) -> Node:
    return plus(t.look_up(ids), encoding(t, np.arange(len(ids)))[:, None])


def last_position(t: Transformer, ids: np.ndarray) -> Node:
    return plus(t.look_up(ids), encoding(t, np.array([ids.shape[1]])))


def positions_scaled(t: Transformer, ids: np.ndarray) -> Node:
    return t.embed(ids, scaled=False).times(root(t.width, t.table.value))


def scaled_twice(t: Transformer, ids: np.ndarray) -> Node:
    return plus(t.look_up(ids).times(root(t.width, t.table.value)), encoding(t, np.arange(ids.shape[1])))


def divided(t: Transformer, ids: np.ndarray) -> Node:
    factor = 1 / root(t.width, t.table.value)
    return plus(t.look_up(ids, scaled=False).times(factor), encoding(t, np.arange(ids.shape[1])))


def shifted(ids: np.ndarray) -> np.ndarray:
    """To the right, the token 0 first."""
    return np.concatenate([np.zeros((len(ids), 1), ids.dtype), ids[:, :-1]], 1)
