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
        **_attention("self_attention", (w_q, w_k, w_v, w_o)),
        **_norm("self_attention_norm", gain1, bias1),
        **_feed_forward(w1, b1, w2, b2),
        **_norm("feed_forward_norm", gain2, bias2),
    }
    left_out = _left_out(mask, False, x, x, heads)
    return _run(module, correspondence.ENCODER_LAYER.entries(()), weights, (x,), {"src_mask": left_out})


def decoder_layer(
    x: Any,
    memory: Any,
    self_attention: Sequence[Any],
    cross_attention: Sequence[Any],
    gain1: Any,
    bias1: Any,
    gain2: Any,
    bias2: Any,
    w1: Any,
    b1: Any,
    w2: Any,
    b2: Any,
    gain3: Any,
    bias3: Any,
    heads: int = 2,
    mask: Any = None,
    memory_mask: Any = None,
    activation: str = "relu",
    order: str = "post",
    eps: float = 1e-5,
) -> Any:
    """The weights of either attention as (w_q, w_k, w_v, w_o). PyTorch's layer is causal if its mask says so, as is usual."""
    from torch import nn

    module = nn.TransformerDecoderLayer(x.shape[-1], heads, len(b1), **_settings(activation, order, eps)).eval()
    weights = {
        **_attention("self_attention", self_attention),
        **_norm("self_attention_norm", gain1, bias1),
        **_attention("cross_attention", cross_attention),
        **_norm("cross_attention_norm", gain2, bias2),
        **_feed_forward(w1, b1, w2, b2),
        **_norm("feed_forward_norm", gain3, bias3),
    }
    masks = {
        "tgt_mask": _left_out(mask, True, x, x, heads),
        "memory_mask": _left_out(memory_mask, False, x, memory, heads),
    }
    return _run(module, correspondence.DECODER_LAYER.entries(()), weights, (x, memory), masks)


def transformer(
    src: Any,
    tgt: Any,
    params: Mapping[str, Any],
    heads: int = 2,
    src_mask: Any = None,
    order: str = "post",
    eps: float = 1e-5,
) -> Any:
    """Logits; parameters by the names of `numeric.parameters.flatten`, with one table for sources, targets and logits.

    src_mask (B, n) is True at the tokens that may be attended to.
    """
    import torch
    from torch import nn

    table = params["embedding.table"]
    width, hidden = table.shape[-1], len(params["encoder.layers.0.feed_forward.b_1"])
    settings = _settings("relu", order, eps)
    stacks: dict[str, Any] = {}
    kinds: tuple[tuple[str, Any, Any], ...] = (
        ("encoder", nn.TransformerEncoderLayer, nn.TransformerEncoder),
        ("decoder", nn.TransformerDecoderLayer, nn.TransformerDecoder),
    )
    for side, layer, stack in kinds:
        norm = nn.LayerNorm(width, eps, device="meta") if f"{side}.norm.gain" in params else None
        layers = {name.split(".")[2] for name in params if name.startswith(f"{side}.layers.")}
        stacks[f"custom_{side}"] = stack(layer(width, heads, hidden, **settings), len(layers), norm)
    module = nn.Transformer(width, heads, dim_feedforward=hidden, **stacks, **settings).eval()
    entries = [
        entry._replace(ours=f"{side}.{entry.ours}", theirs=f"{side}.{entry.theirs}")
        for side, kind in (("encoder", correspondence.ENCODER), ("decoder", correspondence.DECODER))
        for entry in kind.entries([name.removeprefix(f"{side}.") for name in params if name.startswith(f"{side}.")])
    ]
    left_out = None if src_mask is None else ~src_mask
    causal = ~torch.ones(tgt.shape[1], tgt.shape[1], dtype=torch.bool).tril()
    masks = {"tgt_mask": causal, "src_key_padding_mask": left_out, "memory_key_padding_mask": left_out}
    inputs = tuple(_embedded(ids, table) for ids in (src, tgt))
    return _run(module, entries, params, inputs, masks) @ table.mT


def _embedded(ids: Any, table: Any) -> Any:
    """sqrt(d) times the rows, plus sines and cosines by turns; angles in float32 at least."""
    import torch

    width = table.shape[-1]
    wide = torch.float64 if table.dtype == torch.float64 else torch.float32
    angles = torch.arange(ids.shape[-1], dtype=wide)[:, None] / 10000 ** (torch.arange(0, width, 2, dtype=wide) / width)
    positions = torch.stack([angles.sin(), angles.cos()], -1).flatten(1).to(table.dtype)
    return width**0.5 * table[ids] + positions


def _settings(activation: str, order: str, eps: float) -> dict[str, Any]:
    return {
        "dropout": 0.0,
        "activation": activation,
        "norm_first": order == "pre",
        "layer_norm_eps": eps,
        "batch_first": True,
        "device": "meta",  # its own weights are not used
    }


def _attention(place: str, weights: Sequence[Any]) -> dict[str, Any]:
    return {f"{place}.{name}": each for name, each in zip(ATTENTION, weights, strict=True)}


def _norm(place: str, gain: Any, bias: Any) -> dict[str, Any]:
    return {f"{place}.gain": gain, f"{place}.bias": bias}


def _feed_forward(w1: Any, b1: Any, w2: Any, b2: Any) -> dict[str, Any]:
    return {"feed_forward.W_1": w1, "feed_forward.b_1": b1, "feed_forward.W_2": w2, "feed_forward.b_2": b2}


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
