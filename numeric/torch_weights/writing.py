"""To PyTorch: our parameters as state dicts of NumPy arrays, and those as tensors."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..arithmetic import BFLOAT16
from ..layers.multi_head import Weights
from ..parameters import Tree, flatten
from .correspondence import DECODER, DECODER_LAYER, ENCODER, ENCODER_LAYER, PACKED, SEPARATED, TRANSFORMER, Entry, Kind
from .fitting import require_fit


def to_multihead_attention(weights: Weights, bias: bool | None = None) -> dict[str, np.ndarray]:
    """The state dict of an nn.MultiheadAttention; with in_proj_weight if w_q, w_k, w_v are all square, as in PyTorch.

    `bias` is the argument of that name of nn.MultiheadAttention; None: with biases if there is one. A bias that there
    is not is written as zeros; with bias=False, biases of zeros are left out, and others refused.

    Raises TypeError or ValueError, which lists all names and shapes that do not fit: n_groups must have been n_heads.
    """
    function = "to_multihead_attention"
    if not isinstance(weights, Weights):
        raise TypeError(f"{function}: weights is a {type(weights).__name__}, needed multi_head.Weights")
    present = {name: array for name, array in weights._asdict().items() if array is not None}
    widths = {np.shape(matrix)[:1] for matrix in weights[:3]}
    kind = PACKED if widths == {np.shape(weights.w_q)[-1:]} else SEPARATED
    return _written(function, kind, present, any(name.startswith("b_") for name in present) if bias is None else bias)


def to_encoder_layer(layer: Tree, bias: bool = True) -> dict[str, np.ndarray]:
    """The state dict of an nn.TransformerEncoderLayer from one layer's tree.

    `bias` is the argument of that name of the PyTorch class, which has all biases or none, those of the norms included.
    Biases that the attention lacks are written as zeros, which is the same function. With bias=False all biases are
    left out, and must be zeros or absent.

    Raises TypeError or ValueError, which lists all names and shapes that do not fit: n_groups must have been n_heads.
    """
    return _written("to_encoder_layer", ENCODER_LAYER, flatten(layer), bias)


def to_decoder_layer(layer: Tree, bias: bool = True) -> dict[str, np.ndarray]:
    """The state dict of an nn.TransformerDecoderLayer from one layer's tree; see `to_encoder_layer`."""
    return _written("to_decoder_layer", DECODER_LAYER, flatten(layer), bias)


def to_encoder(encoder: Tree, bias: bool = True) -> dict[str, np.ndarray]:
    """The state dict of an nn.TransformerEncoder from {"layers": ...[, "norm": ...]}; see `to_encoder_layer`.

    Without "norm" it has none. A decoder without cross-attention is an encoder here.
    """
    return _written("to_encoder", ENCODER, flatten(encoder), bias)


def to_decoder(decoder: Tree, bias: bool = True) -> dict[str, np.ndarray]:
    """The state dict of an nn.TransformerDecoder from {"layers": ...[, "norm": ...]}; see `to_encoder_layer`."""
    return _written("to_decoder", DECODER, flatten(decoder), bias)


def to_transformer(tree: Mapping[str, Any], bias: bool = True) -> dict[str, np.ndarray]:
    """The state dict of an nn.Transformer from {"encoder": ..., "decoder": ..., ...}, each with its "norm".

    Other branches are left out: nn.Transformer has no embedding. See `to_encoder_layer`.
    """
    sides = {side: tree[side] for side in ("encoder", "decoder") if side in tree}
    if len(sides) < 2:
        raise ValueError(f"to_transformer: the tree has {', '.join(tree) or 'no branch'}, needed encoder and decoder")
    return _written("to_transformer", TRANSFORMER, flatten(sides), bias)


def as_tensors(state: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """The same state dict with tensors, copies, for `module.load_state_dict`. Raises ImportError without PyTorch."""
    try:
        import torch
    except ImportError:
        raise ImportError(
            "as_tensors: PyTorch is not installed; pip install torch, or transformer-proofs[torch]"
        ) from None
    return {
        # PyTorch takes no NumPy array of bfloat16; float32 holds the same numbers
        name: torch.tensor(array.astype(np.float32)).bfloat16() if array.dtype == BFLOAT16 else torch.tensor(array)
        for name, array in state.items()
    }


def _written(function: str, kind: Kind, flat: Mapping[str, np.ndarray], bias: bool) -> dict[str, np.ndarray]:
    entries = kind.entries(flat)
    needed = [entry for entry in entries if entry.ours in flat or not entry.is_attention_bias]
    sizes = require_fit(function, kind.module, flat, {entry.ours: entry.our_shape for entry in needed})
    if not bias:
        _require_no_biases(function, entries, flat)
        entries = [entry for entry in entries if not entry.is_bias]
    dtype = next(iter(flat.values())).dtype
    parts: dict[str, list[np.ndarray]] = {}
    for entry in entries:
        ours = flat.get(entry.ours, np.zeros(sizes["d"], dtype))
        parts.setdefault(entry.theirs, []).append(ours.T)
    return {name: np.ascontiguousarray(np.concatenate(arrays)) for name, arrays in parts.items()}


def _require_no_biases(function: str, entries: list[Entry], flat: Mapping[str, np.ndarray]) -> None:
    for entry in entries:
        if entry.is_bias and np.any(flat.get(entry.ours, 0)):
            raise ValueError(
                f"{function}: {entry.ours} is not zero, so bias=False would change the function; pass bias=True"
            )
