"""Which name of our tree is which name of a PyTorch state dict, in the order of the latter."""

from collections.abc import Callable, Collection
from typing import NamedTuple

Size = tuple[int, str]  # a factor and the name of a size: (3, "d") is 3 d

SEPARATE = ("q_proj_weight", "k_proj_weight", "v_proj_weight")
ATTENTION_BIASES = ("b_q", "b_k", "b_v", "b_o")


class Entry(NamedTuple):
    """An array of ours; theirs is its transpose, or holds three of those, one above the other."""

    ours: str
    theirs: str
    shape: tuple[str, ...]  # of ours
    part: int | None = None  # which of the three

    @property
    def our_shape(self) -> tuple[Size, ...]:
        return tuple((1, size) for size in self.shape)

    @property
    def their_shape(self) -> tuple[Size, ...]:
        first, *rest = reversed(self.shape)
        return ((1 if self.part is None else 3, first), *((1, size) for size in rest))

    @property
    def is_bias(self) -> bool:
        return self.theirs.endswith("bias")

    @property
    def is_attention_bias(self) -> bool:
        return self.ours.rpartition(".")[2] in ATTENTION_BIASES


class Kind(NamedTuple):
    """A PyTorch class, and its entries; the names that there are, on either side, tell how many layers it has."""

    module: str
    entries: Callable[[Collection[str]], list[Entry]]


def is_final_norm(name: str) -> bool:
    return "norm" in name.split(".")


def packed_attention() -> list[Entry]:
    weights = [Entry(f"w_{letter}", "in_proj_weight", ("d", "d"), part) for part, letter in enumerate("qkv")]
    return [*weights, *_remaining_attention()]


def separate_attention() -> list[Entry]:
    widths = zip("qkv", SEPARATE, ("d", "kdim", "vdim"), strict=True)
    return [*(Entry(f"w_{letter}", name, (width, "d")) for letter, name, width in widths), *_remaining_attention()]


def _remaining_attention() -> list[Entry]:
    biases = [Entry(f"b_{letter}", "in_proj_bias", ("d",), part) for part, letter in enumerate("qkv")]
    return [*biases, Entry("w_o", "out_proj.weight", ("d", "d")), Entry("b_o", "out_proj.bias", ("d",))]


def _under(ours: str, theirs: str, entries: list[Entry]) -> list[Entry]:
    return [entry._replace(ours=f"{ours}.{entry.ours}", theirs=f"{theirs}.{entry.theirs}") for entry in entries]


def _norm() -> list[Entry]:
    return [Entry("gain", "weight", ("d",)), Entry("bias", "bias", ("d",))]


def _feed_forward() -> list[Entry]:
    return [
        Entry("feed_forward.W_1", "linear1.weight", ("d", "d_ff")),
        Entry("feed_forward.b_1", "linear1.bias", ("d_ff",)),
        Entry("feed_forward.W_2", "linear2.weight", ("d_ff", "d")),
        Entry("feed_forward.b_2", "linear2.bias", ("d",)),
    ]


def _encoder_layer() -> list[Entry]:
    return [
        *_under("self_attention", "self_attn", packed_attention()),
        *_feed_forward(),
        *_under("self_attention_norm", "norm1", _norm()),
        *_under("feed_forward_norm", "norm2", _norm()),
    ]


def _decoder_layer() -> list[Entry]:
    return [
        *_under("self_attention", "self_attn", packed_attention()),
        *_under("cross_attention", "multihead_attn", packed_attention()),
        *_feed_forward(),
        *_under("self_attention_norm", "norm1", _norm()),
        *_under("cross_attention_norm", "norm2", _norm()),
        *_under("feed_forward_norm", "norm3", _norm()),
    ]


def _stack(layer: list[Entry], names: Collection[str], always_normed: bool = False) -> list[Entry]:
    # the number of places and not the last place: a gap then has names that are missing and names that are too many
    places = {name.split(".")[1] for name in names if name.startswith("layers.")}
    entries = [each for i in range(max(1, len(places))) for each in _under(f"layers.{i}", f"layers.{i}", layer)]
    if always_normed or any(map(is_final_norm, names)):
        entries += _under("norm", "norm", _norm())
    return entries


def _transformer(names: Collection[str]) -> list[Entry]:
    entries = []
    for side, layer in (("encoder", _encoder_layer()), ("decoder", _decoder_layer())):
        own = [name.removeprefix(f"{side}.") for name in names if name.startswith(f"{side}.")]
        entries += _under(side, side, _stack(layer, own, always_normed=True))
    return entries


PACKED = Kind("nn.MultiheadAttention", lambda names: packed_attention())
SEPARATED = Kind("nn.MultiheadAttention with kdim, vdim", lambda names: separate_attention())
ENCODER_LAYER = Kind("nn.TransformerEncoderLayer", lambda names: _encoder_layer())
DECODER_LAYER = Kind("nn.TransformerDecoderLayer", lambda names: _decoder_layer())
ENCODER = Kind("nn.TransformerEncoder", lambda names: _stack(_encoder_layer(), names))
DECODER = Kind("nn.TransformerDecoder", lambda names: _stack(_decoder_layer(), names))
TRANSFORMER = Kind("nn.Transformer", _transformer)
