"""Probes and properties of a layer of the encoder."""

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


def inputs(
    rng: np.random.Generator, form: Format, options: Mapping[str, Any], batch: int, n: int, d: int = 0, f: int = 0
) -> Arrays:
    d = d or width_of(options["heads"])
    first = [*projections(rng, form, d), *norm(rng, d)]
    return tokens(rng, batch, n, d), *first, *feed_forward(rng, form, d, f or d + 1), *norm(rng, d)


def generic(rng: np.random.Generator, form: Format, options: Mapping[str, Any]) -> list[Probe]:
    batch, n = (2, 4) if rng.random() < 0.5 else (3, 5)
    settings = _masks.drawn(options["mask"], False, rng, batch, n, n)
    settings.pop("causal")
    return [Probe(f"generic {(batch, n)}", inputs(rng, form, options, batch, n), settings)]


def structured(rng: np.random.Generator, form: Format, options: Mapping[str, Any]) -> list[Probe]:
    def drawn(batch: int, n: int, d: int = 0, f: int = 0) -> Arrays:
        return inputs(rng, form, options, batch, n, d, f)

    large, same, wide = drawn(2, 4), 2 * options["heads"], 2 * width_of(options["heads"])
    named: list[tuple[str, Arrays, dict[str, Any]]] = [
        ("one token", drawn(1, 1), {}),
        ("all sizes equal", drawn(same, same, same, same), {}),
        ("one hidden unit", drawn(2, 3, f=1), {}),
        ("large tokens", (8 * large[0], *large[1:]), {}),
        ("padding on the left", drawn(2, 4), {"mask": padding((3, 2), 4, 4)[..., ::-1].copy()}),
        ("one key kept", drawn(2, 4), {"mask": one_key_each(rng, 4, 4)}),
        (f"12 tokens, {wide} columns", drawn(1, 12, wide), {}),
    ]
    probes = [Probe(name, arrays, settings) for name, arrays, settings in named]
    return probes + [Probe(layout, drawn(2, 3), layout=layout) for layout in ("strided", "read-only")]


# Properties


def arrays_of(bench: Bench, rng: np.random.Generator, n: int = 4) -> Arrays:
    return tuple(bench.rounded(each) for each in inputs(rng, bench.format, bench.options, 2, n))


def cotangent(bench: Bench, rng: np.random.Generator, x: np.ndarray) -> np.ndarray:
    return bench.rounded(rng.standard_normal(x.shape))


def permutation_equivariance(bench: Bench, rng: np.random.Generator) -> Residual:
    x, *rest = arrays_of(bench, rng)
    first, allowed = (np.roll(part, 1, -2) for part in bench.output(x, *rest, mask=None))
    second, allowed_permuted = bench.output(np.roll(x, 1, -2), *rest, mask=None)
    return second - first, allowed + allowed_permuted


def batch_independence(bench: Bench, rng: np.random.Generator) -> Residual:
    x, *rest = arrays_of(bench, rng)
    among, allowed = (part[1:] for part in bench.output(x, *rest, mask=None))
    alone, allowed_alone = bench.output(x[1:], *rest, mask=None)
    return alone - among, allowed + allowed_alone


def padding_changes_nothing(bench: Bench, rng: np.random.Generator) -> Residual:
    x, *rest = arrays_of(bench, rng)
    more = np.concatenate([x, x[:, ::-1][:, :2]], -2)
    mask = np.broadcast_to(np.arange(6) < 4, (6, 6)).copy()
    first, allowed = bench.output(x, *rest, mask=None)
    second, allowed_padded = (part[:, :4] for part in bench.output(more, *rest, mask=mask))
    return second - first, allowed + allowed_padded


def without_sublayers(arrays: Arrays) -> Arrays:
    x, w_q, w_k, w_v, w_o, gain1, bias1, w1, b1, w2, b2, gain2, bias2 = arrays
    return x, w_q, w_k, w_v, 0 * w_o, gain1, bias1, w1, b1, 0 * w2, 0 * b2, gain2, bias2


def identity_of_pre_norm(bench: Bench, rng: np.random.Generator) -> Residual:
    x, *rest = without_sublayers(arrays_of(bench, rng))
    y, allowed = bench.output(x, *rest, order="pre")
    return y - x, allowed


def masked_token_gets_no_gradient(bench: Bench, rng: np.random.Generator) -> Residual:
    """From the outputs of other tokens, that is."""
    x, *rest = arrays_of(bench, rng)
    mask = np.broadcast_to(np.arange(4) != 2, (4, 4)).copy()
    mask[2, 2] = True
    dy = np.where(np.arange(4)[:, None] == 2, 0.0, cotangent(bench, rng, x))
    (dx, allowed), *_ = bench.gradients(dy, x, *rest, mask=mask)
    return dx[:, 2], allowed[:, 2]


def gradient_of_last_bias(bench: Bench, rng: np.random.Generator) -> Residual:
    """Of the last norm, or for pre-norm of the feed-forward layer."""
    x, *rest = arrays_of(bench, rng)
    dy = cotangent(bench, rng, x)
    found = bench.gradients(dy, x, *rest, mask=None)
    db, allowed = found[-1] if bench.options["order"] == "post" else found[10]
    return db - dy.sum((0, 1)), allowed + dy.size * OWN_UNIT * np.abs(dy).sum((0, 1))


PROPERTIES = (
    Property("permutation equivariance", "encoder.encoder_layer_is_equivariant", "permuting the tokens does not permute the output", permutation_equivariance),
    Property("batch independence", "attention.own_query_suffices", "an output changes when the others of the batch are taken away", batch_independence),
    Property("padding invariance", "masked_attention.extra_padding_changes_nothing", "masked tokens, added at the end, change the output", padding_changes_nothing, options=("mask",)),
    Property("zero sublayers", "residual_norm.pre_norm_without_branch", "with w_o, w2 and b2 zero, pre-norm does not give back x", identity_of_pre_norm, options=("order",)),
    Property("masked tokens get no gradient", "masked_attention.gradient_at_one_key", "a token that no other one keeps gets a gradient from their outputs", masked_token_gets_no_gradient, True, ("mask",)),
    Property("gradient of the last bias", "layer_norm_gradients.bias_gradient", "the gradient of the last bias that is added is not the sum of dy", gradient_of_last_bias, True),
)  # fmt: skip
