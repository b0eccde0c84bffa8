"""Probes and properties of a layer of the decoder."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..contract import Bench, Probe, Property, Residual
from ..formats import Format
from . import _masks
from ._attention_probes import one_key_each, padding
from ._layer_parameters import feed_forward, norm, projections, tokens, width_of
from ._multi_head_probes import OWN_UNIT

Arrays = tuple[np.ndarray, ...]
FREE = {"mask": None, "memory_mask": None}


def inputs(
    rng: np.random.Generator,
    form: Format,
    options: Mapping[str, Any],
    batch: int,
    n: int,
    m: int,
    d: int = 0,
    f: int = 0,
) -> Arrays:
    d = d or width_of(options["heads"])
    read = [tokens(rng, batch, length, d) for length in (n, m)]
    attentions = [*projections(rng, form, d), *projections(rng, form, d), *norm(rng, d), *norm(rng, d)]
    return *read, *attentions, *feed_forward(rng, form, d, f or d + 1), *norm(rng, d)


def generic(rng: np.random.Generator, form: Format, options: Mapping[str, Any]) -> list[Probe]:
    batch, n, m = (2, 4, 3) if rng.random() < 0.5 else (2, 3, 5)
    own = _masks.drawn(options["mask"], True, rng, batch, n, n).get("mask")
    across = _masks.drawn(options["memory_mask"], False, rng, batch, n, m).get("mask")
    settings = {"mask": own, "memory_mask": across}
    drawn = {name: mask for name, mask in settings.items() if mask is not None}
    return [Probe(f"generic {(batch, n, m)}", inputs(rng, form, options, batch, n, m), drawn)]


def structured(rng: np.random.Generator, form: Format, options: Mapping[str, Any]) -> list[Probe]:
    def drawn(batch: int, n: int, m: int, d: int = 0, f: int = 0) -> Arrays:
        return inputs(rng, form, options, batch, n, m, d, f)

    large = drawn(2, 3, 4)
    named: list[tuple[str, Arrays, dict[str, Any]]] = [
        ("one token", drawn(1, 1, 3), {}),
        ("one token of memory", drawn(2, 3, 1), {}),
        ("equal lengths", drawn(2, 4, 4), {}),
        ("memory alike", (large[0], large[0][:, :3].copy(), *large[2:]), {}),
        ("one hidden unit", drawn(2, 3, 2, f=1), {}),
        ("large tokens", (8 * large[0], 8 * large[1], *large[2:]), {}),
        ("memory padded on the left", drawn(2, 3, 4), {"memory_mask": padding((3, 2), 3, 4)[..., ::-1].copy()}),
        ("one key kept", drawn(2, 3, 4), {"memory_mask": one_key_each(rng, 3, 4), "mask": np.eye(3, dtype=np.bool_)}),
        ("equal lengths, masks", drawn(2, 4, 4), {"mask": padding((4, 3), 4, 4), "memory_mask": padding((2, 3), 4, 4)}),
        ("9 x 12 tokens", drawn(1, 9, 12, 2 * width_of(options["heads"])), {}),
    ]
    probes = [Probe(name, arrays, settings) for name, arrays, settings in named]
    return probes + [Probe(layout, drawn(2, 3, 2), layout=layout) for layout in ("strided", "read-only")]


# Properties


def arrays_of(bench: Bench, rng: np.random.Generator, n: int = 4, m: int = 3) -> Arrays:
    return tuple(bench.rounded(each) for each in inputs(rng, bench.format, bench.options, 2, n, m))


def cotangent(bench: Bench, rng: np.random.Generator, x: np.ndarray) -> np.ndarray:
    return bench.rounded(rng.standard_normal(x.shape))


def future_is_ignored(bench: Bench, rng: np.random.Generator) -> Residual:
    x, *rest = arrays_of(bench, rng, 5)
    later = np.where(np.arange(5)[:, None] > 2, x[:, ::-1], x)
    first, allowed = bench.output(x, *rest, **FREE)
    second, allowed_changed = bench.output(later, *rest, **FREE)
    return (second - first)[:, :3], (allowed + allowed_changed)[:, :3]


def step_by_step(bench: Bench, rng: np.random.Generator) -> Residual:
    x, *rest = arrays_of(bench, rng)
    whole, allowed = bench.output(x, *rest, **FREE)
    steps = [[part[:, -1:] for part in bench.output(x[:, : i + 1], *rest, **FREE)] for i in range(4)]
    stepped, allowed_stepped = (np.concatenate(parts, -2) for parts in zip(*steps, strict=True))
    return stepped - whole, allowed + allowed_stepped


def memory_permutation(bench: Bench, rng: np.random.Generator) -> Residual:
    x, memory, *rest = arrays_of(bench, rng)
    first, allowed = bench.output(x, memory, *rest, **FREE)
    second, allowed_permuted = bench.output(x, np.roll(memory, 1, -2), *rest, **FREE)
    return second - first, allowed + allowed_permuted


def batch_independence(bench: Bench, rng: np.random.Generator) -> Residual:
    x, memory, *rest = arrays_of(bench, rng)
    among, allowed = (part[1:] for part in bench.output(x, memory, *rest, **FREE))
    alone, allowed_alone = bench.output(x[1:], memory[1:], *rest, **FREE)
    return alone - among, allowed + allowed_alone


def memory_padding_changes_nothing(bench: Bench, rng: np.random.Generator) -> Residual:
    x, memory, *rest = arrays_of(bench, rng)
    more = np.concatenate([memory, x[:, :2]], -2)
    mask = np.broadcast_to(np.arange(5) < 3, (4, 5)).copy()
    first, allowed = bench.output(x, memory, *rest, **FREE)
    second, allowed_padded = bench.output(x, more, *rest, mask=None, memory_mask=mask)
    return second - first, allowed + allowed_padded


def memory_is_read_once(bench: Bench, rng: np.random.Generator) -> Residual:
    """Through the attention to it: without its w_o the memory is immaterial."""
    x, memory, *rest = arrays_of(bench, rng)
    rest[7] = 0 * rest[7]
    first, allowed = bench.output(x, memory, *rest, **FREE)
    second, allowed_other = bench.output(x, memory[::-1], *rest, **FREE)
    return second - first, allowed + allowed_other


def identity_of_pre_norm(bench: Bench, rng: np.random.Generator) -> Residual:
    x, memory, *rest = arrays_of(bench, rng)
    for place in (3, 7, 14, 15):  # w_o of both, w2 and b2
        rest[place] = 0 * rest[place]
    y, allowed = bench.output(x, memory, *rest, order="pre")
    return y - x, allowed


def future_gets_no_gradient(bench: Bench, rng: np.random.Generator) -> Residual:
    x, *rest = arrays_of(bench, rng, 5)
    dy = np.where(np.arange(5)[:, None] < 3, cotangent(bench, rng, x), 0.0)
    (dx, allowed), *_ = bench.gradients(dy, x, *rest, **FREE)
    return dx[:, 3:], allowed[:, 3:]


def masked_memory_gets_no_gradient(bench: Bench, rng: np.random.Generator) -> Residual:
    x, *rest = arrays_of(bench, rng)
    mask = np.broadcast_to(np.arange(3) != 1, (4, 3)).copy()
    _, (dmemory, allowed), *_ = bench.gradients(cotangent(bench, rng, x), x, *rest, mask=None, memory_mask=mask)
    return dmemory[:, 1], allowed[:, 1]


def gradient_of_last_bias(bench: Bench, rng: np.random.Generator) -> Residual:
    """Of the last norm, or for pre-norm of the feed-forward layer."""
    x, *rest = arrays_of(bench, rng)
    dy = cotangent(bench, rng, x)
    found = bench.gradients(dy, x, *rest, **FREE)
    db, allowed = found[-1] if bench.options["order"] == "post" else found[17]
    return db - dy.sum((0, 1)), allowed + dy.size * OWN_UNIT * np.abs(dy).sum((0, 1))


PROPERTIES = (
    Property("causality", "decoder.decoder_layer_is_causal", "outputs change when later tokens do", future_is_ignored),
    Property("step by step", "cached_decoding.cached_decoding_equals_full", "an output is not that of the tokens up to it", step_by_step),
    Property("memory permutation invariance", "self_attention.memory_permutation_invariance", "permuting the tokens of the memory changes the output", memory_permutation),
    Property("batch independence", "attention.own_query_suffices", "an output changes when the others of the batch are taken away", batch_independence),
    Property("padding invariance", "masked_attention.extra_padding_changes_nothing", "masked tokens of the memory, added at its end, change the output", memory_padding_changes_nothing, options=("memory_mask",)),
    Property("memory read once", "decoder_sublayers.cross_sublayer_acts_per_token", "with w_o zero in the attention to it, the memory still changes the output", memory_is_read_once),
    Property("zero sublayers", "residual_norm.pre_norm_without_branch", "with both w_o, w2 and b2 zero, pre-norm does not give back x", identity_of_pre_norm, options=("order",)),
    Property("causality of gradients", "causal_masking.causal_gradient_ignores_future", "tokens get a gradient from outputs before them", future_gets_no_gradient, True),
    Property("masked memory gets no gradient", "masked_attention.gradient_at_one_key", "tokens of the memory that are masked get a gradient", masked_memory_gets_no_gradient, True, ("memory_mask",)),
    Property("gradient of the last bias", "layer_norm_gradients.bias_gradient", "the gradient of the last bias that is added is not the sum of dy", gradient_of_last_bias, True),
)  # fmt: skip
