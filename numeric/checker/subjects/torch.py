"""PyTorch's functions, and its modules with the contract's weights in place of their own; without dropout, batch first."""

from functools import partial
from typing import Any

from ..ready import Ready
from ._torch_modules import decoder_layer, encoder_layer, multi_head_attention, transformer


def ready() -> list[Ready]:
    import torch.nn.functional as f

    functional = ("softmax", "log_softmax", "relu", "silu", "gelu", "cross_entropy", "embedding", "dropout")
    return [
        *(Ready(f"nn.functional.{name}", name, getattr(f, name)) for name in functional),
        Ready("nn.functional.gelu, tanh", "gelu", lambda x: f.gelu(x, approximate="tanh"), accept=("gelu.tanh",)),
        Ready("nn.functional.layer_norm", "layer_norm", layer_norm),
        Ready("nn.functional.rms_norm", "rms_norm", rms_norm),
        Ready("nn.functional.scaled_dot_product_attention", "scaled_dot_product_attention", attention),
        Ready("nn.MultiheadAttention", "multi_head_attention", multi_head_attention),
        Ready(
            "nn.MultiheadAttention, bare",
            "multi_head_attention",
            partial(multi_head_attention, need_weights=False),
        ),
        Ready("nn.TransformerEncoderLayer", "encoder_layer", encoder_layer),
        Ready("nn.TransformerDecoderLayer", "decoder_layer", decoder_layer),
        Ready("nn.Transformer", "transformer", transformer),
    ]


def layer_norm(x: Any, gain: Any, bias: Any, eps: float = 1e-5) -> Any:
    import torch.nn.functional as f

    return f.layer_norm(x, gain.shape, gain, bias, eps)


def rms_norm(x: Any, gain: Any, eps: float = 1e-5) -> Any:
    import torch.nn.functional as f

    return f.rms_norm(x, gain.shape, gain, eps)


def attention(q: Any, k: Any, v: Any, mask: Any = None, causal: bool = False) -> Any:
    """It takes a mask or `is_causal`, not both."""
    import torch
    import torch.nn.functional as f

    if mask is None:
        return f.scaled_dot_product_attention(q, k, v, is_causal=causal)
    keep = mask & torch.ones(mask.shape[-2:], dtype=torch.bool).tril() if causal else mask
    if keep.ndim == 3:  # the batch comes first, the mask is the same for whatever axes q has between
        keep = keep.reshape(len(keep), *(1,) * (q.ndim - 3), *keep.shape[1:])
    return f.scaled_dot_product_attention(q, k, v, attn_mask=keep)
