"""Probes and properties of multi-head attention."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..contract import Bench, Probe, Property, Residual
from ..usage import UsageError
from ._attention_probes import one_key_each, padding, random_mask

OWN_UNIT = 2.0**-53  # the checker adds up residuals in float64
Arrays = tuple[np.ndarray, ...]


def width_of(heads: int) -> int:
    """12, or what so many heads divide. Raises UsageError."""
    if not isinstance(heads, int) or isinstance(heads, bool) or heads < 1:
        raise UsageError(f"heads is {heads!r}, needed an integer of at least 1")
    return 12 if 12 % heads == 0 else 3 * heads


def groups_of(options: Mapping[str, Any]) -> tuple[int, int]:
    """Heads, and heads of keys and values."""
    heads, groups = options["heads"], options["kv_heads"]
    return heads, heads if groups is None else groups


def inputs(rng: np.random.Generator, options: Mapping[str, Any], batch: int, n_q: int, n_k: int, d: int = 0) -> Arrays:
    heads, groups = groups_of(options)
    d = d or width_of(heads)
    narrow = groups * d // heads
    tokens = [rng.standard_normal((batch, n, d)) for n in (n_q, n_k)]
    weights = [rng.standard_normal((d, columns)) / np.sqrt(d) for columns in (d, narrow, narrow, d)]
    return *tokens, *weights


def structured(rng: np.random.Generator, options: Mapping[str, Any]) -> list[Probe]:
    def drawn(batch: int, n_q: int, n_k: int, d: int = 0) -> Arrays:
        return inputs(rng, options, batch, n_q, n_k, d)

    heads, empty, whole = options["heads"], random_mask(rng, 5, 7), padding((4, 0), 5, 7)
    empty[2] = False
    large, few = drawn(2, 4, 6), inputs(rng, {**options, "heads": 4}, 1, 2, 3, 12)
    named: list[tuple[str, Arrays, dict[str, Any]]] = [
        ("one batch, one query", drawn(1, 1, 5), {}),
        ("one key", drawn(3, 4, 1), {}),
        ("one column a head", drawn(2, 3, 5, heads), {}),
        ("equal lengths", drawn(3, 6, 6), {}),
        ("all sizes equal", drawn(heads, heads, heads), {}),
        ("large scores", (4 * large[0], 4 * large[1], *large[2:]), {}),
        ("small scores", (large[0] / 8, *large[1:]), {}),
        ("small scores, 4 heads", (few[0] / 8, *few[1:]), {"heads": 4}),
        ("equal lengths, causal", drawn(3, 6, 6), {"causal": True}),
        ("more queries than keys, causal", drawn(2, 7, 4), {"causal": True}),
        ("equal lengths, random mask", drawn(3, 6, 6), {"mask": random_mask(rng, 6, 6)}),
        ("equal lengths, padding", drawn(3, 6, 6), {"mask": padding((4, 6, 3), 6, 6)}),
        ("padding on the left", drawn(3, 5, 7), {"mask": padding((4, 6, 3), 5, 7)[..., ::-1].copy()}),
        ("one key kept", drawn(2, 4, 6), {"mask": one_key_each(rng, 4, 6)}),
        ("a fully masked row", drawn(2, 5, 7), {"mask": empty}),
        ("one of the batch fully masked", drawn(2, 5, 7), {"mask": whole}),
        ("24 x 40, 48 columns", drawn(1, 24, 40, 4 * width_of(heads)), {}),
    ]
    probes = [Probe(name, arrays, settings) for name, arrays, settings in named]
    return probes + [Probe(layout, drawn(2, 4, 6), layout=layout) for layout in ("strided", "read-only")]


# Properties


def arrays_of(bench: Bench, rng: np.random.Generator, n_q: int = 4, n_k: int = 6) -> Arrays:
    return tuple(bench.rounded(each) for each in inputs(rng, bench.options, 2, n_q, n_k))


def cotangent(bench: Bench, rng: np.random.Generator, x: np.ndarray) -> np.ndarray:
    return bench.rounded(rng.standard_normal(x.shape))


def query_permutation(bench: Bench, rng: np.random.Generator) -> Residual:
    x, m, *weights = arrays_of(bench, rng)
    order = np.roll(np.arange(x.shape[-2]), 1)
    first, allowed = (part[:, order] for part in bench.output(x, m, *weights, mask=None))
    second, allowed_permuted = bench.output(x[:, order], m, *weights, mask=None)
    return second - first, allowed + allowed_permuted


def memory_permutation(bench: Bench, rng: np.random.Generator) -> Residual:
    x, m, *weights = arrays_of(bench, rng)
    order = np.roll(np.arange(m.shape[-2]), 2)
    first, allowed = bench.output(x, m, *weights, mask=None)
    second, allowed_permuted = bench.output(x, m[:, order], *weights, mask=None)
    return second - first, allowed + allowed_permuted


def batch_independence(bench: Bench, rng: np.random.Generator) -> Residual:
    x, m, *weights = arrays_of(bench, rng)
    among, allowed = (part[1:] for part in bench.output(x, m, *weights, mask=None))
    alone, allowed_alone = bench.output(x[1:], m[1:], *weights, mask=None)
    return alone - among, allowed + allowed_alone


def future_is_ignored(bench: Bench, rng: np.random.Generator) -> Residual:
    x, m, *weights = arrays_of(bench, rng, 6, 6)
    later = bench.rounded(np.where(np.arange(6)[:, None] > 2, 1 - 2 * m, m))
    first, allowed = bench.output(x, m, *weights, mask=None, causal=True)
    second, allowed_changed = bench.output(x, later, *weights, mask=None, causal=True)
    return (second - first)[:, :3], (allowed + allowed_changed)[:, :3]


def padding_changes_nothing(bench: Bench, rng: np.random.Generator) -> Residual:
    x, m, *weights = arrays_of(bench, rng)
    more = bench.rounded(np.concatenate([m, 3 * m[:, :2]], -2))
    mask = np.broadcast_to(np.arange(8) < 6, (4, 8)).copy()
    first, allowed = bench.output(x, m, *weights, mask=None)
    second, allowed_padded = bench.output(x, more, *weights, mask=mask)
    return second - first, allowed + allowed_padded


def step_by_step(bench: Bench, rng: np.random.Generator) -> Residual:
    x, m, *weights = arrays_of(bench, rng, 5, 5)
    whole, allowed = bench.output(x, m, *weights, mask=None, causal=True)
    steps = [bench.output(x[:, i : i + 1], m[:, : i + 1], *weights, mask=None) for i in range(5)]
    stepped, allowed_stepped = (np.concatenate(parts, -2) for parts in zip(*steps, strict=True))
    return stepped - whole, allowed + allowed_stepped


def in_other_order(blocks: int, order: np.ndarray) -> np.ndarray:
    """The columns of so many heads, each as wide as `order` leaves them, in that order of heads."""
    return np.arange(blocks).reshape(len(order), -1)[order].ravel()


def head_permutation(bench: Bench, rng: np.random.Generator) -> Residual:
    """Groups with their heads, so that a head keeps its keys and values."""
    x, m, w_q, w_k, w_v, w_o = arrays_of(bench, rng)
    _, groups = groups_of(bench.options)
    order = np.roll(np.arange(groups), 1)
    wide, narrow = (in_other_order(each.shape[1], order) for each in (w_q, w_k))
    first, allowed = bench.output(x, m, w_q, w_k, w_v, w_o, mask=None)
    permuted = w_q[:, wide], w_k[:, narrow], w_v[:, narrow], w_o[wide]
    second, allowed_permuted = bench.output(x, m, *permuted, mask=None)
    return second - first, allowed + allowed_permuted


def sum_over_heads(bench: Bench, rng: np.random.Generator) -> Residual:
    """Each head alone, through its own rows of w_o, the others zero."""
    x, m, w_q, w_k, w_v, w_o = arrays_of(bench, rng)
    heads, _ = groups_of(bench.options)
    y, allowed = bench.output(x, m, w_q, w_k, w_v, w_o, mask=None)
    total, size = np.zeros_like(y), np.abs(y)
    for head in range(heads):
        own = np.repeat(np.arange(heads) == head, len(w_o) // heads)[:, None]
        part, more = bench.output(x, m, w_q, w_k, w_v, np.where(own, w_o, 0.0), mask=None)
        total, size, allowed = total + part, size + np.abs(part), allowed + more
    return y - total, allowed + (heads + 1) * OWN_UNIT * size


def future_gets_no_gradient(bench: Bench, rng: np.random.Generator) -> Residual:
    x, m, *weights = arrays_of(bench, rng, 6, 6)
    dy = np.where(np.arange(6)[:, None] < 3, cotangent(bench, rng, x), 0.0)
    _, (dm, allowed), *_ = bench.gradients(dy, x, m, *weights, mask=None, causal=True)
    return dm[:, 3:], allowed[:, 3:]


def masked_tokens_get_no_gradient(bench: Bench, rng: np.random.Generator) -> Residual:
    x, m, *weights = arrays_of(bench, rng)
    mask = rng.random((4, 6)) < 0.6
    mask[:, 0], mask[:, 2:4] = True, False
    _, (dm, allowed), *_ = bench.gradients(cotangent(bench, rng, x), x, m, *weights, mask=mask)
    return dm[:, 2:4], allowed[:, 2:4]


def values_and_output_balance(bench: Bench, rng: np.random.Generator) -> Residual:
    """w_v^T dw_v = dw_o w_o^T for each head; over a group, the sum of the right sides."""
    arrays = arrays_of(bench, rng)
    w_v, w_o = arrays[4:]
    *_, (dw_v, allowed_v), (dw_o, allowed_o) = bench.gradients(cotangent(bench, rng, arrays[0]), *arrays, mask=None)
    heads, groups = groups_of(bench.options)
    width = len(w_o) // heads

    def by_group(columns: np.ndarray) -> np.ndarray:
        return columns.reshape(len(columns), groups, width).transpose(1, 2, 0)

    def by_head(rows: np.ndarray) -> np.ndarray:
        return rows.reshape(groups, heads // groups, width, -1)

    def product(left: np.ndarray, right: np.ndarray) -> np.ndarray:
        return (by_head(left) @ by_head(right).swapaxes(-1, -2)).sum(1)

    residual = by_group(w_v) @ by_group(dw_v).swapaxes(-1, -2) - product(dw_o, w_o)
    size = by_group(np.abs(w_v)) @ by_group(np.abs(dw_v)).swapaxes(-1, -2) + product(np.abs(dw_o), np.abs(w_o))
    allowed = by_group(np.abs(w_v)) @ by_group(allowed_v).swapaxes(-1, -2) + product(allowed_o, np.abs(w_o))
    return residual, allowed + 2 * len(w_o) * OWN_UNIT * size


PROPERTIES = (
    Property("query permutation equivariance", "self_attention.decoder_permutation_equivariance", "permuting the queries does not permute the output", query_permutation, only_at={"causal": False}),
    Property("memory permutation invariance", "self_attention.memory_permutation_invariance", "permuting the tokens of x_kv changes the output", memory_permutation, only_at={"causal": False}),
    Property("batch independence", "attention.own_query_suffices", "an output changes when the others of the batch are taken away", batch_independence),
    Property("head permutation invariance", "multi_head.head_permutation_invariance", "putting the heads into another order, in all four matrices, changes the output", head_permutation),
    Property("sum over heads", "multi_head.concat_then_project_is_sum_over_heads", "the output is not the sum of what each head gives through its own rows of w_o", sum_over_heads),
    Property("causality", "decoder_sublayers.causal_heads_ignore_future", "outputs change when later tokens of x_kv do", future_is_ignored, options=("causal",)),
    Property("padding invariance", "masked_attention.extra_padding_changes_nothing", "masked tokens, added at the end, change the output", padding_changes_nothing, options=("mask",)),
    Property("step by step", "cached_decoding.cached_decoding_equals_full", "under a causal mask, a query's output is not that of the tokens up to it", step_by_step, options=("causal",)),
    Property("causality of gradients", "causal_masking.causal_gradient_ignores_future", "tokens get a gradient from outputs before them", future_gets_no_gradient, True, ("causal",)),
    Property("masked tokens get no gradient", "masked_attention.gradient_at_one_key", "tokens that no query keeps get a gradient", masked_tokens_get_no_gradient, True, ("mask",)),
    Property("values and output balance", "multi_head_gradients.value_output_balance", "w_v^T dw_v = dw_o w_o^T fails", values_and_output_balance, True),
)  # fmt: skip
