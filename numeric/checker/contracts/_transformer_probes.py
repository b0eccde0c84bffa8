"""Probes and properties of a Transformer."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..contract import Bench, Options, Probe, Property, Residual
from ..formats import Format
from ..usage import UsageError
from ._layer_parameters import width_of
from ._transformer_parameters import NAMES, drawn

WORDS = (None, "padding")
Inputs = tuple[Any, ...]


def width(heads: Any) -> int:
    """Even, since positions are encoded in pairs: 4, or what so many heads divide. Raises UsageError."""
    width_of(heads)
    return 4 if 4 % heads == 0 else 2 * heads


def inputs(
    rng: np.random.Generator, form: Format, options: Mapping[str, Any], batch: int, n: int, m: int, vocabulary: int = 7
) -> Inputs:
    d = width(options["heads"])
    ids = [rng.integers(0, vocabulary, (batch, length)) for length in (n, m)]
    return *ids, *drawn(rng, form, options["order"], vocabulary, d, d + 1)


def mask_of(word: Any, rng: np.random.Generator, batch: int, n: int) -> Options:
    """The option at a generic probe. Raises UsageError."""
    if not isinstance(word, (str, type(None))) or word not in WORDS:
        raise UsageError(
            "src_mask can be fixed to None or 'padding'; to check one mask, give a Probe with its own inputs and "
            "options={'src_mask': array}"
        )
    if word is None:
        return {}
    lengths = rng.permutation(np.arange(n - batch, n)) if batch < n else rng.integers(1, n + 1, batch)
    return {"src_mask": np.arange(n) < lengths[:, None]}


def generic(rng: np.random.Generator, form: Format, options: Mapping[str, Any]) -> list[Probe]:
    batch, n, m = (2, 4, 3) if rng.random() < 0.5 else (2, 3, 5)
    settings = mask_of(options["src_mask"], rng, batch, n)
    return [Probe(f"generic {(batch, n, m)}", inputs(rng, form, options, batch, n, m), settings)]


def structured(rng: np.random.Generator, form: Format, options: Mapping[str, Any]) -> list[Probe]:
    equal, one = inputs(rng, form, options, 2, 3, 3), inputs(rng, form, options, 2, 3, 2)
    repeated = (np.full((2, 3), 4), np.full((2, 2), 4), *one[2:])
    gaps, left = (
        np.array([[True, False, True], [False, True, True]]),
        np.array([[False, False, True], [False, True, True]]),
    )
    return [
        Probe("one token each", inputs(rng, form, options, 1, 1, 1)),
        Probe("equal lengths", equal),
        Probe("source and target alike", (equal[0], equal[0].copy(), *equal[2:])),
        Probe("one token throughout", repeated),
        Probe("padding on the left", equal, {"src_mask": left}),
        Probe("gaps in the source", one, {"src_mask": gaps}),
        Probe("strided", one, layout="strided"),
        Probe("read-only", one, layout="read-only"),
    ]


# Properties


def arrays_of(bench: Bench, rng: np.random.Generator, m: int = 3) -> list[Any]:
    return [bench.rounded(each) for each in inputs(rng, bench.format, bench.options, 2, 4, m)]


def future_is_ignored(bench: Bench, rng: np.random.Generator) -> Residual:
    src, tgt, *params = arrays_of(bench, rng, 4)
    later = np.where(np.arange(4) > 1, (tgt + 1) % 7, tgt)
    first, allowed = bench.output(src, tgt, *params, src_mask=None)
    second, allowed_changed = bench.output(src, later, *params, src_mask=None)
    return (second - first)[:, :2], (allowed + allowed_changed)[:, :2]


def batch_independence(bench: Bench, rng: np.random.Generator) -> Residual:
    src, tgt, *params = arrays_of(bench, rng)
    among, allowed = (part[1:] for part in bench.output(src, tgt, *params, src_mask=None))
    alone, allowed_alone = bench.output(src[1:], tgt[1:], *params, src_mask=None)
    return alone - among, allowed + allowed_alone


def padding_changes_nothing(bench: Bench, rng: np.random.Generator) -> Residual:
    src, tgt, *params = arrays_of(bench, rng)
    more = np.concatenate([src, tgt[:, :2]], -1)
    mask = np.broadcast_to(np.arange(6) < 4, (2, 6)).copy()
    first, allowed = bench.output(src, tgt, *params, src_mask=None)
    second, allowed_padded = bench.output(more, tgt, *params, src_mask=mask)
    return second - first, allowed + allowed_padded


def masked_ids_are_immaterial(bench: Bench, rng: np.random.Generator) -> Residual:
    src, tgt, *params = arrays_of(bench, rng)
    mask = np.array([[True, False, True, True], [True, True, True, False]])
    first, allowed = bench.output(src, tgt, *params, src_mask=mask)
    second, allowed_other = bench.output(np.where(mask, src, (src + 1) % 7), tgt, *params, src_mask=mask)
    return second - first, allowed + allowed_other


def step_by_step(bench: Bench, rng: np.random.Generator) -> Residual:
    src, tgt, *params = arrays_of(bench, rng)
    whole, allowed = bench.output(src, tgt, *params, src_mask=None)
    steps = [[part[:, -1:] for part in bench.output(src, tgt[:, : i + 1], *params, src_mask=None)] for i in range(3)]
    stepped, allowed_stepped = (np.concatenate(parts, -2) for parts in zip(*steps, strict=True))
    return stepped - whole, allowed + allowed_stepped


def memory_is_read_by_attention_only(bench: Bench, rng: np.random.Generator) -> Residual:
    """Without the w_o of the attentions to it the source is immaterial."""
    src, tgt, *params = arrays_of(bench, rng)
    without = [
        0 * each if name.endswith("cross_attention.w_o") else each for name, each in zip(NAMES, params, strict=True)
    ]
    first, allowed = bench.output(src, tgt, *without, src_mask=None)
    second, allowed_other = bench.output((src + 1) % 7, tgt, *without, src_mask=None)
    return second - first, allowed + allowed_other


def tokens_not_named_get_only_what_logits_bring(bench: Bench, rng: np.random.Generator) -> Residual:
    """Where dz is 0 for a token, and it is neither in source nor target, its row has no gradient."""
    src, tgt, *params = arrays_of(bench, rng)
    dz = bench.rounded(rng.standard_normal((*tgt.shape, 7)))
    dz[..., 5] = 0
    (dtable, allowed), *_ = bench.gradients(dz, src % 5, tgt % 5, *params, src_mask=None)
    return dtable[5], allowed[5]


PROPERTIES = (
    Property("causality", "decoder.decoder_stack_is_causal", "logits change when later tokens of the target do", future_is_ignored),
    Property("step by step", "cached_decoding.cached_decoding_equals_full", "logits are not those of the target up to them", step_by_step),
    Property("batch independence", "attention.own_query_suffices", "logits change when the others of the batch are taken away", batch_independence),
    Property("padding invariance", "masked_attention.extra_padding_changes_nothing", "masked tokens of the source, added at its end, change the logits", padding_changes_nothing, options=("src_mask",)),
    Property("masked ids are immaterial", "masked_attention.masked_output", "which tokens of the source are masked changes the logits", masked_ids_are_immaterial, options=("src_mask",)),
    Property("memory read by attention only", "decoder_sublayers.cross_sublayer_acts_per_token", "with w_o zero in the attentions to it, the source still changes the logits", memory_is_read_by_attention_only),
    Property("unused rows get none", "embedding.gradient_scatters_and_adds", "a row of the table that no id names, and no cotangent, has a gradient", tokens_not_named_get_only_what_logits_bring, True),
)  # fmt: skip
