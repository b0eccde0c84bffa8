"""Correct implementations, all contracts together: rearranged, tiled, fused, by einsum, with other sums, in PyTorch and JAX.

They are those of the tests of each contract. `sizes` has probes of sizes 1 to 1024.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from numeric.checker import Probe

from .contracts import test_add_and_norm as residual
from .contracts import test_attention_in_torch as torch_attention
from .contracts import test_cross_entropy as cross_entropy
from .contracts import test_dropout as dropout
from .contracts import test_embedding as embedding
from .contracts import test_feed_forward as feed_forward
from .contracts import test_gelu as gelu
from .contracts import test_layer_norm as layer_norm
from .contracts import test_layer_norm_gradients as layer_norm_gradients
from .contracts import test_log_softmax as log_softmax
from .contracts import test_multi_head_attention as multi_head
from .contracts import test_norms_in_torch as torch_norms
from .contracts import test_positional_encoding as positions
from .contracts import test_relu as relu
from .contracts import test_rms_norm as rms_norm
from .contracts import test_rotary as rotary
from .contracts import test_scaled_dot_product_attention as attention
from .contracts import test_silu as silu
from .contracts import test_softmax as softmax
from .contracts import test_softmax_gradients as softmax_gradients
from .contracts import test_swiglu as swiglu
from .test_never_exceeded import log_softmax_torch, softmax_composite, softmax_torch
from .test_never_exceeded import rotary as rotary_torch

ALL = ("float64", "float32", "float16", "bfloat16")
DTYPES = {"float64": np.float64, "float32": np.float32, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16}
LENGTHS = (1, 2, 3, 8, 17, 64, 257, 1024)
SMALL = ("*draw 0", "[!46g]*", "gap*", "gradient*")  # of softmax: neither 4 x 4096 nor 4096 x 3


@dataclass(frozen=True)
class Correct:
    """`forward` and `backward`, made for a dtype where they need to know it."""

    contract: str
    name: str
    forward: Callable[..., Any]
    backward: Callable[..., Any] | None = None
    adapter: str = "numpy"
    dtypes: tuple[str, ...] = ALL
    probes: tuple[str, ...] | None = None
    longest: int = 1024
    made_for_dtype: bool = False

    def for_dtype(self, dtype: str) -> Callable[..., Any]:
        return self.forward(dtype) if self.made_for_dtype else self.forward


def _each(contract: str, forwards: Any, backwards: Any = (None,), **more: Any) -> list[Correct]:
    """Every forward, with the backwards by turns; and every backward, if there are more of those."""
    named = list(forwards.items()) if isinstance(forwards, dict) else [(_name(each), each) for each in forwards]
    found = []
    for number in range(max(len(named), len(backwards))):
        name, forward = named[number % len(named)]
        backward = backwards[number % len(backwards)]
        label = name if backward is None else f"{name}, {_name(backward)}"
        label = f"{label}, in {more['adapter']}" if "adapter" in more else label
        found.append(Correct(contract, label, forward, backward, **more))
    return found


def _name(function: Any) -> str:
    return getattr(function, "__name__", type(function).__name__)


def _encoding(way: Callable[..., Any]) -> Callable[..., Any]:
    """Angles in float32 at least, rounded once at the end."""

    def of(dtype: str) -> Callable[..., Any]:
        wide = np.float64 if dtype == "float64" else np.float32
        return lambda length, d_model, base=10000.0: way(wide)(length, d_model, base).astype(DTYPES[dtype])

    return of


def _layer(mask: Any, scale: Any) -> tuple[Any, Any]:
    one = dropout.Layer(mask, scale)
    return one.forward, one.backward


CORRECT = [
    *(
        Correct("positional_encoding", _name(way), _encoding(way), made_for_dtype=True)
        for way in (positions.by_exp, positions.by_power, positions.by_negative_power, positions.by_reciprocal)
    ),
    *_each("rotary", [rotary.stored_cosines, rotary.complex_product, rotary.rotate_half_by_pairs, rotary.matrices], [rotary.turned_back]),
    Correct("rotary", "torch", rotary_torch, adapter="torch"),
    *_each("softmax", softmax.RIGHT, softmax_gradients.RIGHT_BACKWARD[:2], probes=SMALL),
    *_each("softmax", [softmax_torch, softmax_composite], adapter="torch", probes=SMALL),
    *_each("log_softmax", [log_softmax.right, log_softmax.shift_first], [log_softmax.backward_from_weights, log_softmax.backward_from_output], probes=SMALL),
    Correct("log_softmax", "torch", log_softmax_torch, adapter="torch", probes=SMALL),
    *_each("scaled_dot_product_attention", attention.RIGHT, longest=257),
    *_each("scaled_dot_product_attention", [attention.least_number_filled_in], [attention.row_term_of_weights, attention.row_term_of_output, attention.products_apart], longest=257),
    *_each("scaled_dot_product_attention", [torch_attention.written_out, torch_attention.composite_softmax, torch_attention.einsum], adapter="torch", longest=257),
    *_each("multi_head_attention", multi_head.RIGHT, longest=64),
    *_each("layer_norm", layer_norm.RIGHT, layer_norm_gradients.RIGHT[:3]),
    *_each("layer_norm", [torch_norms.layer_norm_by_variance, torch_norms.layer_norm_by_steps], adapter="torch"),
    *_each("rms_norm", rms_norm.RIGHT, rms_norm.RIGHT_BACKWARD[:3]),
    *_each("rms_norm", [torch_norms.rms_norm, torch_norms.rms_norm_by_steps, torch_norms.rms_norm_llama], adapter="torch"),
    *_each("add_and_norm", dict(zip(residual.NAMES, residual.RIGHT, strict=True)), [residual.by_vjp, residual.as_autograd]),
    *_each("relu", relu.RIGHT),
    *_each("gelu", gelu.ACCURATE | gelu.LOSING),
    *_each("gelu", gelu.TORCH, adapter="torch"),
    *_each("silu", silu.RIGHT),
    *_each("silu", silu.TORCH, adapter="torch"),
    *_each("swiglu", swiglu.RIGHT),
    *_each("swiglu", swiglu.TORCH, adapter="torch"),
    *_each("feed_forward", feed_forward.RIGHT),
    *_each("feed_forward", [feed_forward.functional, feed_forward.composite, feed_forward.modules], adapter="torch"),
    *_each("embedding", [embedding.indexed, embedding.taken, embedding.scaled_table, embedding.one_hot, embedding.in_wide], [embedding.added, embedding.one_hot_product]),
    *_each("embedding", [embedding.of_torch, embedding.one_hot_of_torch], adapter="torch", dtypes=("float64", "float32")),
    *_each("cross_entropy", cross_entropy.RIGHT, [cross_entropy.gradient, cross_entropy.gradient_divided_last], probes=cross_entropy.SMALL),
    *_each("cross_entropy", cross_entropy.TORCH, adapter="torch", probes=cross_entropy.SMALL),
    *(Correct("dropout", f"{_name(mask)}, {_name(scale)}", *_layer(mask, scale), probes=dropout.FEW) for mask, scale in dropout.RIGHT),
]  # fmt: skip


def sizes(contract: str, longest: int, rng: np.random.Generator) -> list[Probe]:
    """One probe for each length that runs through a sum, or, where there is none, through the array."""
    lengths = [n for n in LENGTHS if n <= longest]
    return [Probe(f"generic {n}", _inputs(contract, n, rng)) for n in lengths]


def _inputs(contract: str, n: int, rng: np.random.Generator) -> tuple[Any, ...]:
    normal = rng.standard_normal
    if contract == "positional_encoding":
        return n, 8
    if contract == "rotary":
        return normal((n, 6)), np.arange(n) + 3
    if contract == "scaled_dot_product_attention":
        return normal((3, 5)), normal((n, 5)), 0.5 + normal((n, 2))
    if contract == "multi_head_attention":
        return normal((1, 2, 8)), normal((1, n, 8)), *(normal((8, 8)) / 3 for _ in range(4))
    if contract == "layer_norm":
        return normal((2, n)), normal(n), normal(n)
    if contract == "rms_norm":
        return normal((2, n)), normal(n)
    if contract == "add_and_norm":
        return normal((2, n)), rng.integers(-4, 5, (2, n)) / 8, normal(n), normal(n)
    if contract == "swiglu":
        return normal((2, n)), normal((2, n))
    if contract == "feed_forward":
        d, f = (n, 5) if n % 2 else (4, n)
        return normal((2, d)), normal((d, f)) / d**0.5, normal(f), normal((f, d)) / f**0.5, normal(d)
    if contract == "embedding":
        return rng.integers(0, 7, n), normal((7, 5))
    if contract == "cross_entropy":
        return 2 * normal((3, n)), rng.integers(0, n, 3)
    return (2 * normal((2, n)),)
