"""PyTorch's modules as functions of their weights, which come as our matrices (x @ W) and vectors; masks are True where one may attend."""

from collections.abc import Mapping, Sequence
from typing import Any

from ...torch_weights import correspondence
from ...torch_weights.correspondence import Entry

ATTENTION = ("w_q", "w_k", "w_v", "w_o")


def multi_head_attention(
    x_q: Any,
    x_kv: Any,
    w_q: Any,
    w_k: Any,
    w_v: Any,
    w_o: Any,
    heads: int = 2,
    mask: Any = None,
    causal: bool = False,
    *,
    need_weights: bool = True,
) -> Any:
    """Where no weights are needed it goes another way, through scaled_dot_product_attention."""
    from torch import nn

    module = nn.MultiheadAttention(x_q.shape[-1], heads, batch_first=True, device="meta")
    weights = dict(zip(ATTENTION, (w_q, w_k, w_v, w_o), strict=True))
    keywords = {"attn_mask": _left_out(mask, causal, x_q, x_kv, heads), "need_weights": need_weights}
    return _run(module, correspondence.PACKED.entries(()), weights, (x_q, x_kv, x_kv), keywords)[0]


def encoder_layer(
    x: Any,
    w_q: Any,
    w_k: Any,
    w_v: Any,
    w_o: Any,
    gain1: Any,
    bias1: Any,
    w1: Any,
    b1: Any,
    w2: Any,
    b2: Any,
    gain2: Any,
    bias2: Any,
    heads: int = 2,
    mask: Any = None,
    activation: str = "relu",
    order: str = "post",
    eps: float = 1e-5,
) -> Any:
    from torch import nn

    module = nn.TransformerEncoderLayer(x.shape[-1], heads, len(b1), **_settings(activation, order, eps)).eval()
    weights = {
        **_under("self_attention", zip(ATTENTION, (w_q, w_k, w_v, w_o), strict=True)),
        **_under("self_attention_norm", (("gain", gain1), ("bias", bias1))),
        **_under("feed_forward", (("W_1", w1), ("b_1", b1), ("W_2", w2), ("b_2", b2))),
        **_under("feed_forward_norm", (("gain", gain2), ("bias", bias2))),
    }
    left_out = _left_out(mask, False, x, x, heads)
    return _run(module, correspondence.ENCODER_LAYER.entries(()), weights, (x,), {"src_mask": left_out})


def _settings(activation: str, order: str, eps: float) -> dict[str, Any]:
    return {
        "dropout": 0.0,
        "activation": activation,
        "norm_first": order == "pre",
        "layer_norm_eps": eps,
        "batch_first": True,
        "device": "meta",  # its own weights are not used
    }


def _under(place: str, named: Any) -> dict[str, Any]:
    return {f"{place}.{name}": array for name, array in named}


def _run(module: Any, entries: Sequence[Entry], weights: Mapping[str, Any], inputs: Any, keywords: Any) -> Any:
    from torch.func import functional_call

    return functional_call(module, state(entries, weights), inputs, keywords)


def state(entries: Sequence[Entry], named: Mapping[str, Any]) -> dict[str, Any]:
    """A state dict of tensors that autograd follows back to the named ones; biases that are not named are zero."""
    import torch

    query = next(each for name, each in named.items() if name.endswith("w_q"))
    parts: dict[str, list[Any]] = {}
    for entry in entries:
        ours = named.get(entry.ours)
        if ours is None:
            ours = torch.zeros(len(query), dtype=query.dtype)
        parts.setdefault(entry.theirs, []).append(ours.mT if ours.ndim > 1 else ours)
    return {name: torch.cat(each) for name, each in parts.items()}


def _left_out(mask: Any, causal: bool, x_q: Any, x_kv: Any, heads: int) -> Any:
    """PyTorch's mask, True where one may not attend: (n_q, n_k), or (B heads, n_q, n_k)."""
    import torch

    n_q, n_k = x_q.shape[-2], x_kv.shape[-2]
    triangle = torch.ones(n_q, n_k, dtype=torch.bool).tril() if causal else None
    if mask is None:
        return None if triangle is None else ~triangle
    keep = mask if triangle is None else mask & triangle
    return ~keep if keep.ndim == 2 else ~keep.repeat_interleave(heads, 0)
