"""State dicts as PyTorch writes them, of random numbers and without PyTorch."""

import numpy as np

D, D_FF = 4, 6

PACKED = {"in_proj_weight": (3 * D, D), "in_proj_bias": (3 * D,), "out_proj.weight": (D, D), "out_proj.bias": (D,)}
SEPARATE = {
    "q_proj_weight": (D, D),
    "k_proj_weight": (D, 3),
    "v_proj_weight": (D, 5),
    "in_proj_bias": (3 * D,),
    "out_proj.weight": (D, D),
    "out_proj.bias": (D,),
}
FEED_FORWARD = {
    "linear1.weight": (D_FF, D),
    "linear1.bias": (D_FF,),
    "linear2.weight": (D, D_FF),
    "linear2.bias": (D,),
}
NORM = {"weight": (D,), "bias": (D,)}


def under(prefix, shapes):
    return {f"{prefix}.{name}": shape for name, shape in shapes.items()}


ENCODER_LAYER = under("self_attn", PACKED) | FEED_FORWARD | under("norm1", NORM) | under("norm2", NORM)
DECODER_LAYER = (
    under("self_attn", PACKED)
    | under("multihead_attn", PACKED)
    | FEED_FORWARD
    | under("norm1", NORM)
    | under("norm2", NORM)
    | under("norm3", NORM)
)


def stack(layer, norm=True):
    return under("layers.0", layer) | under("layers.1", layer) | (under("norm", NORM) if norm else {})


SHAPES = {
    "multihead_attention": PACKED,
    "encoder_layer": ENCODER_LAYER,
    "decoder_layer": DECODER_LAYER,
    "encoder": stack(ENCODER_LAYER),
    "decoder": stack(DECODER_LAYER),
    "transformer": under("encoder", stack(ENCODER_LAYER)) | under("decoder", stack(DECODER_LAYER)),
}


def random(shapes, dtype=np.float32, bias=True):
    draw = np.random.default_rng(0)
    kept = {name: shape for name, shape in shapes.items() if bias or not name.endswith("bias")}
    return {name: draw.normal(size=shape).astype(dtype) for name, shape in kept.items()}


def identical(one, other):
    """The same names in the same order, and the same bits."""
    return list(one) == list(other) and all(
        a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
        for a, b in zip(one.values(), other.values(), strict=True)
    )
