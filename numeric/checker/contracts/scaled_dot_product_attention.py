"""scaled_dot_product_attention: q (..., n_q, d_k), k (..., n_k, d_k), v (..., n_k, d_v) -> softmax(q k^T / sqrt(d_k)) v.

The evaluation orders that the bound admits are those of `_attention_orders`. A query that keeps no key has no reference
(masking.fully_masked_row_has_no_limit); whatever it gives is noted, but NaN in the gradients of other rows is a fault.
"""

from typing import Any

import numpy as np

from ...layers import attention
from ..contract import Contract, Input, Options, Probe, Pullback
from ..formats import Format, Precision
from ..memo import Latest
from ..rounding import Rounded
from . import _attention_probes as probes
from ._attention_bounds import Attended, Matrices, attention_bound, gradient_bounds
from ._attention_properties import PROPERTIES
from ._masks import OPTIONS, drawn, empty_rows, in_place_of, kept, unfixed
from ._scaled_dot_product_attention_mistakes import FITS, MISTAKES


class ScaledDotProductAttention(Contract):
    name = "scaled_dot_product_attention"
    summary = "softmax over the keys of q k^T / sqrt(d_k), times v"
    inputs = (Input("q", "(..., n_q, d_k)"), Input("k", "(..., n_k, d_k)"), Input("v", "(..., n_k, d_v)"))
    output = "(..., n_q, d_v)"
    options = OPTIONS
    gradient_theorem = "attention_gradients.gradient_of_queries"
    properties = PROPERTIES
    mistakes = MISTAKES
    fits = FITS

    def layer(
        self, q: np.ndarray, k: np.ndarray, v: np.ndarray, *, mask: Any, causal: bool
    ) -> tuple[np.ndarray, Pullback]:
        y, cache = attention.forward(q, k, v, kept(mask, causal, _scores(q, k)))
        return y, lambda dy: attention.backward(dy, cache)

    def bound(
        self, precision: Precision, q: np.ndarray, k: np.ndarray, v: np.ndarray, *, mask: Any, causal: bool
    ) -> Rounded:
        return _forward(precision, q, k, v, mask, causal).y.returned()

    def gradient_bounds(
        self,
        precision: Precision,
        dy: np.ndarray,
        q: np.ndarray,
        k: np.ndarray,
        v: np.ndarray,
        *,
        mask: Any,
        causal: bool,
    ) -> tuple[Rounded, ...]:
        g, *given = (Rounded.exact(each, precision) for each in (dy, q, k, v))
        gradients = gradient_bounds(g, given[0], given[1], given[2], _forward(precision, q, k, v, mask, causal))
        return tuple(each.returned() for each in gradients)

    def without_reference(
        self, q: np.ndarray, k: np.ndarray, v: np.ndarray, *, mask: Any, causal: bool
    ) -> tuple[np.ndarray, ...]:
        rows = empty_rows(mask, causal, _scores(q, k))
        if rows is None:
            return ()
        y = np.broadcast_to(rows[..., None], (*rows.shape, v.shape[-1]))
        return y, np.broadcast_to(rows[..., None], q.shape), np.zeros(k.shape, bool), np.zeros(v.shape, bool)

    def put_in_place_of_reference(
        self, found: np.ndarray, q: np.ndarray, k: np.ndarray, v: np.ndarray, *, mask: Any, causal: bool
    ) -> str:
        rows = empty_rows(mask, causal, _scores(q, k))
        mean = np.broadcast_to(v.mean(-2, keepdims=True), found.shape)
        unmasked, _ = attention.forward(q, k, v)
        return in_place_of(found, rows, {"the mean of v": mean, "attention without a mask": unmasked})

    def generic(self, rng: np.random.Generator, form: Format, options: Options) -> list[Probe]:
        few = probes.inputs(rng, (2,), 5, 7, 3, 4)
        settings = drawn(options["mask"], options["causal"], rng, 2, 5, 7)
        found = [Probe("generic (2, 5, 7)", few, settings)]
        if options["mask"] != "padding":
            heads = probes.inputs(rng, (2, 3), 6, 4, 5, 2)
            settings = drawn(options["mask"], options["causal"], rng, 2, 6, 4)
            found.append(Probe("generic (2, 3, 6, 4)", heads, settings))
        return found

    def structured(self, rng: np.random.Generator, form: Format, options: Options) -> list[Probe]:
        return [*probes.unmasked(rng), *probes.masked(rng)] if unfixed(options) else []


def _scores(q: np.ndarray, k: np.ndarray) -> tuple[int, ...]:
    return (*np.broadcast_shapes(q.shape[:-2], k.shape[:-2]), q.shape[-2], k.shape[-2])


LATEST: Latest[Attended | Matrices] = Latest()


def _forward(
    precision: Precision, q: np.ndarray, k: np.ndarray, v: np.ndarray, mask: Any, causal: bool
) -> Attended | Matrices:
    def compute() -> Attended | Matrices:
        given = [Rounded.exact(each, precision) for each in (q, k, v)]
        return attention_bound(given[0], given[1], given[2], kept(mask, causal, _scores(q, k)))

    return LATEST.recall((precision, q, k, v, mask, causal), compute)


CONTRACT = ScaledDotProductAttention()
