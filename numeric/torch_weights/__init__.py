"""Weights of PyTorch modules as our parameter trees, and back; each way exact, bit for bit.

    from_multihead_attention, to_multihead_attention    nn.MultiheadAttention          multi_head.Weights
    from_encoder_layer, to_encoder_layer                nn.TransformerEncoderLayer     one of tree["encoder"]["layers"]
    from_decoder_layer, to_decoder_layer                nn.TransformerDecoderLayer     one of tree["decoder"]["layers"]
    from_encoder, to_encoder                            nn.TransformerEncoder          tree["encoder"]
    from_decoder, to_decoder                            nn.TransformerDecoder          tree["decoder"]
    from_transformer, to_transformer                    nn.Transformer                 tree

`from_*` reads a state dict of tensors or of NumPy arrays (as from .npz and .safetensors files), or the module itself.
`to_*` writes a state dict of NumPy arrays; `as_tensors` makes tensors of them for `load_state_dict`. No array shares
memory with its source. PyTorch is imported by `as_tensors` alone.

PyTorch's linear maps are x W^T + b, with W of shape (out, in); ours are x W + b, so that each matrix is transposed. The
projections of queries, keys and values lie one above the other in in_proj_weight, unless keys or values have widths of
their own (kdim, vdim). What remains the caller's: n_heads, norm_first (our norm="pre"), activation, layer_norm_eps,
which no state dict holds; masks, which are True where PyTorch leaves a key *out* and where ours keep it; and
batch_first=True, the only layout that we have. A decoder without cross-attention (GPT-like) is an
nn.TransformerEncoder, run with a causal mask.
"""

from .reading import (
    from_decoder,
    from_decoder_layer,
    from_encoder,
    from_encoder_layer,
    from_multihead_attention,
    from_transformer,
)
from .writing import (
    as_tensors,
    to_decoder,
    to_decoder_layer,
    to_encoder,
    to_encoder_layer,
    to_multihead_attention,
    to_transformer,
)

__all__ = [
    "as_tensors",
    "from_decoder",
    "from_decoder_layer",
    "from_encoder",
    "from_encoder_layer",
    "from_multihead_attention",
    "from_transformer",
    "to_decoder",
    "to_decoder_layer",
    "to_encoder",
    "to_encoder_layer",
    "to_multihead_attention",
    "to_transformer",
]
