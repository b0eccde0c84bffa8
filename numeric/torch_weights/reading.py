"""From PyTorch: state dicts, or modules, as our parameters."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..arithmetic import BFLOAT16
from ..layers.multi_head import Weights
from ..parameters import unflatten
from .correspondence import (
    DECODER,
    DECODER_LAYER,
    ENCODER,
    ENCODER_LAYER,
    PACKED,
    SEPARATE,
    SEPARATED,
    TRANSFORMER,
    Entry,
    Kind,
    is_final_norm,
)
from .fitting import require_fit


def from_multihead_attention(source: Any, n_heads: int | None = None, prefix: str = "") -> Weights:
    """The weights of an nn.MultiheadAttention, of n_heads heads: as many groups of keys and values, n_groups = n_heads.

    `source` is a state dict of tensors or NumPy arrays, or the module. With a prefix ("decoder.attn.") only the names
    that begin with it count, without it. n_heads is not used, only checked: it must divide d, and agree with a
    module's. Without biases (bias=False) they are None. With kdim and vdim, w_k is (kdim, d) and w_v (vdim, d);
    multi_head.forward reads one m, so that kdim = vdim, or else m is key and value side by side, and w_k has vdim rows
    of zeros below, w_v kdim above.

    Raises TypeError or ValueError, which lists all names and shapes that do not fit, and for add_bias_kv and
    add_zero_attn; the latter leaves no trace in a state dict, so only a module can be refused for it.
    """
    function = "from_multihead_attention"
    state = _state(function, source, n_heads, prefix)
    kind = SEPARATED if any(name in state for name in SEPARATE) else PACKED
    return Weights(**_converted(function, kind, state, n_heads))


def from_encoder_layer(source: Any, n_heads: int | None = None, prefix: str = "") -> dict[str, Any]:
    """An nn.TransformerEncoderLayer as {"self_attention": ..., "self_attention_norm": ..., "feed_forward": ..., ...}.

    Arguments and errors are those of `from_multihead_attention`. With bias=False the attention has no biases; those of
    the feed-forward layer and the norms, which our layers need, are zeros, which is the same function.
    """
    return _tree("from_encoder_layer", ENCODER_LAYER, source, n_heads, prefix)


def from_decoder_layer(source: Any, n_heads: int | None = None, prefix: str = "") -> dict[str, Any]:
    """An nn.TransformerDecoderLayer: as `from_encoder_layer`, and "cross_attention" with "cross_attention_norm"."""
    return _tree("from_decoder_layer", DECODER_LAYER, source, n_heads, prefix)


def from_encoder(source: Any, n_heads: int | None = None, prefix: str = "") -> dict[str, Any]:
    """An nn.TransformerEncoder as {"layers": [...], "norm": ...}; "norm" if it has one. See `from_encoder_layer`."""
    return _tree("from_encoder", ENCODER, source, n_heads, prefix)


def from_decoder(source: Any, n_heads: int | None = None, prefix: str = "") -> dict[str, Any]:
    """An nn.TransformerDecoder as {"layers": [...], "norm": ...}; "norm" if it has one. See `from_encoder_layer`."""
    return _tree("from_decoder", DECODER, source, n_heads, prefix)


def from_transformer(source: Any, n_heads: int | None = None, prefix: str = "") -> dict[str, Any]:
    """An nn.Transformer as {"encoder": {"layers": [...], "norm": ...}, "decoder": ...}. See `from_encoder_layer`.

    For a custom encoder or decoder, take `from_encoder` or `from_decoder` with prefix="encoder." or "decoder.".
    """
    return _tree("from_transformer", TRANSFORMER, source, n_heads, prefix)


def _tree(function: str, kind: Kind, source: Any, n_heads: int | None, prefix: str) -> dict[str, Any]:
    tree: Any = unflatten(_converted(function, kind, _state(function, source, n_heads, prefix), n_heads))
    return tree


def _converted(
    function: str, kind: Kind, state: Mapping[str, np.ndarray], n_heads: int | None
) -> dict[str, np.ndarray]:
    entries = kind.entries(state)
    biased = any(name.endswith("bias") and not is_final_norm(name) for name in state)
    present = [entry for entry in entries if biased or not entry.is_bias or _own_bias(entry, state)]
    shapes = {entry.theirs: entry.their_shape for entry in present}
    sizes = require_fit(function, kind.module, state, shapes)
    if n_heads is not None and (n_heads < 1 or sizes["d"] % n_heads):
        raise ValueError(f"{function}: n_heads is {n_heads}, needed a divisor of d = {sizes['d']}")
    dtype = next(iter(state.values())).dtype
    arrays = {}
    for entry in entries:
        if entry in present:
            arrays[entry.ours] = _ours(entry, state[entry.theirs])
        elif not entry.is_attention_bias:
            arrays[entry.ours] = np.zeros([sizes[size] for size in entry.shape], dtype)
    return arrays


def _own_bias(entry: Entry, state: Mapping[str, np.ndarray]) -> bool:
    """The final norm is given to a stack ready-made, and has a bias also where the layers have none."""
    return is_final_norm(entry.theirs) and entry.theirs in state


def _ours(entry: Entry, theirs: np.ndarray) -> np.ndarray:
    rows = theirs if entry.part is None else np.split(theirs, 3)[entry.part]
    return np.array(rows.T, order="C")  # a copy: an optimiser that works in place must not reach the module


def _state(function: str, source: Any, n_heads: int | None, prefix: str) -> dict[str, np.ndarray]:
    if hasattr(source, "state_dict"):
        _require_plain(function, source, n_heads)
        source = source.state_dict()
    if not isinstance(source, Mapping):
        raise TypeError(f"{function}: source is a {type(source).__name__}, needed a state dict or a module")
    names = [name for name in source if str(name).startswith(prefix)]
    if not names:
        examples = ", ".join(map(str, list(source)[:3])) or "none at all"
        raise ValueError(f"{function}: no name begins with {prefix!r}; there are {examples}")
    return {str(name).removeprefix(prefix): _array(function, str(name), source[name]) for name in names}


def _array(function: str, name: str, value: Any) -> np.ndarray:
    if isinstance(value, np.ndarray):
        return value
    if not hasattr(value, "detach"):
        raise TypeError(
            f"{function}: {name} is a {type(value).__name__}, needed a tensor or a NumPy array; "
            "of a checkpoint pass the state dict that is in it"
        )
    tensor = value.detach().cpu()
    # PyTorch hands out no NumPy array of bfloat16; float32 holds the same numbers
    return tensor.float().numpy().astype(BFLOAT16) if str(tensor.dtype) == "torch.bfloat16" else tensor.numpy()


def _require_plain(function: str, module: Any, n_heads: int | None) -> None:
    """What a state dict does not show."""
    for name, part in module.named_modules():
        place = f"{function}: {name or 'the module'}"
        if getattr(part, "add_zero_attn", False):
            raise ValueError(f"{place} has add_zero_attn=True, a key and value of zeros, which multi_head has not")
        if getattr(part, "elementwise_affine", True) is False:
            raise ValueError(f"{place} has elementwise_affine=False, needed a norm with weight and bias")
        heads = getattr(part, "num_heads", n_heads)
        if n_heads is not None and heads != n_heads:
            raise ValueError(f"{place} has {heads} heads, but n_heads is {n_heads}")
