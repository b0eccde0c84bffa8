"""Consequences of theorems about attention, each measured on random queries, keys and values."""

import numpy as np

from ..contract import Bench, Property, Residual
from ._attention_probes import Arrays, inputs

OWN_UNIT = 2.0**-53  # the checker adds up residuals in float64


def arrays_of(bench: Bench, rng: np.random.Generator, n_q: int = 4, n_k: int = 6) -> Arrays:
    q, k, v = (bench.rounded(each) for each in inputs(rng, (2,), n_q, n_k, 5, 3))
    return q, k, v


def cotangent(bench: Bench, rng: np.random.Generator, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    return bench.rounded(rng.standard_normal((*q.shape[:-1], v.shape[-1])))


def within_values(bench: Bench, rng: np.random.Generator) -> Residual:
    q, k, v = arrays_of(bench, rng)
    y, allowed = bench.output(q, k, v, mask=None)
    low, high = v.min(-2, keepdims=True), v.max(-2, keepdims=True)
    return np.maximum(y - high, 0) + np.maximum(low - y, 0), allowed


def values_shift(bench: Bench, rng: np.random.Generator) -> Residual:
    q, k, _ = arrays_of(bench, rng)
    v = rng.integers(-8, 9, (2, 6, 3)) / 4  # on a grid so coarse that the shift is added without rounding
    first, allowed = bench.output(q, k, v, mask=None)
    second, allowed_shifted = bench.output(q, k, v + 4, mask=None)
    return second - first - 4, allowed + allowed_shifted + 2 * OWN_UNIT * (np.abs(first) + np.abs(second))


def keys_shift(bench: Bench, rng: np.random.Generator) -> Residual:
    q, _, v = arrays_of(bench, rng)
    k, shift = rng.integers(-8, 9, (2, 6, 5)) / 4, rng.integers(-8, 9, 5) / 4
    first, allowed = bench.output(q, k, v, mask=None)
    second, allowed_shifted = bench.output(q, k + shift, v, mask=None)
    return second - first, allowed + allowed_shifted


def key_permutation(bench: Bench, rng: np.random.Generator) -> Residual:
    q, k, v = arrays_of(bench, rng)
    order = np.roll(np.arange(k.shape[-2]), 2)
    first, allowed = bench.output(q, k, v, mask=None)
    second, allowed_permuted = bench.output(q, k[:, order], v[:, order], mask=None)
    return second - first, allowed + allowed_permuted


def query_permutation(bench: Bench, rng: np.random.Generator) -> Residual:
    q, k, v = arrays_of(bench, rng)
    order = np.roll(np.arange(q.shape[-2]), 1)
    first, allowed = (part[:, order] for part in bench.output(q, k, v, mask=None))
    second, allowed_permuted = bench.output(q[:, order], k, v, mask=None)
    return second - first, allowed + allowed_permuted


def batch_independence(bench: Bench, rng: np.random.Generator) -> Residual:
    q, k, v = arrays_of(bench, rng)
    among, allowed = (part[1:] for part in bench.output(q, k, v, mask=None))
    alone, allowed_alone = bench.output(q[1:], k[1:], v[1:], mask=None)
    return alone - among, allowed + allowed_alone


def future_is_ignored(bench: Bench, rng: np.random.Generator) -> Residual:
    q, k, v = arrays_of(bench, rng, 6, 6)
    later_k, later_v = (bench.rounded(np.where(np.arange(6)[:, None] > 2, -2 * each + 1, each)) for each in (k, v))
    first, allowed = bench.output(q, k, v, mask=None, causal=True)
    second, allowed_changed = bench.output(q, later_k, later_v, mask=None, causal=True)
    return (second - first)[:, :3], (allowed + allowed_changed)[:, :3]


def padding_changes_nothing(bench: Bench, rng: np.random.Generator) -> Residual:
    q, k, v = arrays_of(bench, rng)
    more_k, more_v = (np.concatenate([each, 3 * each[:, :2]], -2) for each in (k, v))
    mask = np.broadcast_to(np.arange(8) < 6, (4, 8)).copy()
    first, allowed = bench.output(q, k, v, mask=None)
    second, allowed_padded = bench.output(q, bench.rounded(more_k), bench.rounded(more_v), mask=mask)
    return second - first, allowed + allowed_padded


def step_by_step(bench: Bench, rng: np.random.Generator) -> Residual:
    """What a query attends to under a causal mask are the keys up to it, as in decoding with a cache."""
    q, k, v = arrays_of(bench, rng, 5, 5)
    whole, allowed = bench.output(q, k, v, mask=None, causal=True)
    steps = [bench.output(q[:, i : i + 1], k[:, : i + 1], v[:, : i + 1], mask=None) for i in range(5)]
    stepped, allowed_stepped = (np.concatenate(parts, -2) for parts in zip(*steps, strict=True))
    return stepped - whole, allowed + allowed_stepped


# Of gradients


def future_gets_no_gradient(bench: Bench, rng: np.random.Generator) -> Residual:
    q, k, v = arrays_of(bench, rng, 6, 6)
    dy = np.where(np.arange(6)[:, None] < 3, cotangent(bench, rng, q, v), 0.0)
    _, (dk, allowed_k), (dv, allowed_v) = bench.gradients(dy, q, k, v, mask=None, causal=True)
    residual, allowed = (np.concatenate(parts, -1) for parts in ((dk, dv), (allowed_k, allowed_v)))
    return residual[:, 3:], allowed[:, 3:]


def masked_keys_get_no_gradient(bench: Bench, rng: np.random.Generator) -> Residual:
    q, k, v = arrays_of(bench, rng)
    mask = rng.random((4, 6)) < 0.6
    mask[:, 0], mask[:, 2:4] = True, False
    found = bench.gradients(cotangent(bench, rng, q, v), q, k, v, mask=mask)
    residual, allowed = (np.concatenate(parts, -1) for parts in zip(*found[1:], strict=True))
    return residual[:, 2:4], allowed[:, 2:4]


def key_gradients_sum_to_zero(bench: Bench, rng: np.random.Generator) -> Residual:
    q, k, v = arrays_of(bench, rng)
    _, (dk, allowed), _ = bench.gradients(cotangent(bench, rng, q, v), q, k, v, mask=None)
    return dk.sum(-2), allowed.sum(-2) + dk.shape[-2] * OWN_UNIT * np.abs(dk).sum(-2)


def value_gradients_sum_to_cotangent(bench: Bench, rng: np.random.Generator) -> Residual:
    q, k, v = arrays_of(bench, rng)
    dy = cotangent(bench, rng, q, v)
    _, _, (dv, allowed) = bench.gradients(dy, q, k, v, mask=None)
    own = (dv.shape[-2] + dy.shape[-2]) * OWN_UNIT * (np.abs(dv).sum(-2) + np.abs(dy).sum(-2))
    return dv.sum(-2) - dy.sum(-2), allowed.sum(-2) + own


def queries_and_keys_balance(bench: Bench, rng: np.random.Generator) -> Residual:
    q, k, v = arrays_of(bench, rng)
    (dq, allowed_q), (dk, allowed_k), _ = bench.gradients(cotangent(bench, rng, q, v), q, k, v, mask=None)
    left, right = q.swapaxes(-1, -2) @ dq, dk.swapaxes(-1, -2) @ k
    size = np.abs(q).swapaxes(-1, -2) @ np.abs(dq) + np.abs(dk).swapaxes(-1, -2) @ np.abs(k)
    allowed = np.abs(q).swapaxes(-1, -2) @ allowed_q + allowed_k.swapaxes(-1, -2) @ np.abs(k)
    return left - right, allowed + 16 * OWN_UNIT * size


PROPERTIES = (
    Property("outputs lie within the values", "attention.output_is_convex_combination", "an output lies above or below all values of its column: the weights are negative or do not sum to 1", within_values),
    Property("a constant added to the values", "attention_identities.attention_shift", "attention(q, k, v + c) = attention(q, k, v) + c fails: the weights do not sum to 1", values_shift),
    Property("a vector added to every key", "attention_identities.key_shift_invariance", "adding one vector to every key changes the output", keys_shift),
    Property("key permutation invariance", "attention.permutation_invariance", "permuting keys and values together changes the output", key_permutation, only_at={"causal": False}),
    Property("query permutation equivariance", "attention.query_permutation_equivariance", "permuting the queries does not permute the output", query_permutation, only_at={"causal": False}),
    Property("batch independence", "attention.own_query_suffices", "an output changes when the others of the batch are taken away", batch_independence),
    Property("causality", "causal_masking.causal_output_ignores_future", "outputs change when later keys and values do", future_is_ignored, options=("causal",)),
    Property("padding invariance", "masked_attention.extra_padding_changes_nothing", "masked keys and values, added at the end, change the output", padding_changes_nothing, options=("mask",)),
    Property("step by step", "cached_decoding.cached_decoding_equals_full", "under a causal mask, a query's output is not that of the keys up to it", step_by_step, options=("causal",)),
    Property("causality of gradients", "causal_masking.causal_gradient_ignores_future", "keys or values get a gradient from outputs before them", future_gets_no_gradient, True, ("causal",)),
    Property("masked keys get no gradient", "masked_attention.gradient_at_one_key", "keys or values that no query keeps get a gradient", masked_keys_get_no_gradient, True, ("mask",)),
    Property("key gradients sum to 0", "attention_identities.key_bias_has_zero_gradient", "the gradients of all keys do not sum to 0: rows of the scores' gradient do not", key_gradients_sum_to_zero, True),
    Property("value gradients sum to the cotangent", "attention_identities.value_gradient_mass", "the gradients of all values do not sum to those of all outputs", value_gradients_sum_to_cotangent, True),
    Property("queries and keys balance", "attention_identities.query_key_balance", "q^T dq = dk^T k fails", queries_and_keys_balance, True),
)  # fmt: skip
