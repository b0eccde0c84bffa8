"""multi_head_attention: x_q (B, n_q, d), x_kv (B, n_k, d) and four matrices, used as x @ w -> concat of the heads @ w_o.

Head h has columns h d / heads onwards of w_q; heads share keys and values in groups of neighbours, head h those of group
h // (heads / kv_heads). The orders that the bound admits are those of `_multi_head_orders`.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from ...layers import multi_head
from ..contract import Contract, Input, Option, Options, Probe, Pullback
from ..formats import Format, Precision
from ..memo import Latest
from ..pairing import pairwise
from ..rounding import Rounded
from . import _masks, _multi_head_probes
from ._multi_head_attention_mistakes import FITS, MISTAKES
from ._multi_head_orders import Bounds, backward_bounds, forward_bounds


class MultiHeadAttention(Contract):
    name = "multi_head_attention"
    summary = "attention of each head on its own projections, side by side, times w_o"
    inputs = (
        Input("x_q", "(B, n_q, d)"),
        Input("x_kv", "(B, n_k, d)"),
        Input("w_q", "(d, d)"),
        Input("w_k", "(d, kv_heads d / heads)"),
        Input("w_v", "(d, kv_heads d / heads)"),
        Input("w_o", "(d, d)"),
    )
    output = "(B, n_q, d)"
    options = (
        Option("heads", 2, (1, 2, 4), "into how many heads the columns are split"),
        Option(
            "kv_heads",
            None,
            (None, 1, 2),
            "how many of them keys and values have, a divisor of heads; None for as many",
        ),
        *_masks.OPTIONS,
    )
    gradient_theorem = "multi_head_gradients.gradient_of_query_projection"
    properties = _multi_head_probes.PROPERTIES
    mistakes = MISTAKES
    fits = FITS

    def combinations(self, grid: Mapping[str, Sequence[Any]]) -> Iterable[Options]:
        """Those whose heads can share keys and values so, and of these so many that any two values meet."""
        every = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
        return [dict(each) for each in pairwise([each for each in every if _shares(**each)] or every)]

    def layer(self, *inputs: Any, heads: int, kv_heads: int | None, mask: Any, causal: bool) -> tuple[Any, Pullback]:
        x, m, *weights = inputs
        keep = _keep(x, m, mask, causal)
        y, cache = multi_head.forward(x, m, multi_head.Weights(*weights), heads, kv_heads, keep)

        def pullback(dy: np.ndarray) -> tuple[np.ndarray, ...]:
            dx, dm, gradients = multi_head.backward(dy, cache)
            return dx, dm, *gradients[:4]

        return y, pullback

    def bound(self, precision: Precision, *inputs: Any, **options: Any) -> Rounded:
        return _forward(precision, inputs, options).y.returned()

    def gradient_bounds(
        self, precision: Precision, dy: np.ndarray, *inputs: Any, **options: Any
    ) -> tuple[Rounded, ...]:
        g, x, m, *weights = (Rounded.exact(each, precision) for each in (dy, *inputs))
        at = _forward(precision, inputs, options)
        return tuple(each.returned() for each in backward_bounds(g, x, m, tuple(weights), at))

    def without_reference(self, *inputs: Any, **options: Any) -> tuple[np.ndarray, ...]:
        x, m, *weights = inputs
        rows = _masks.empty_rows(options["mask"], options["causal"], _scores(x, m))
        if rows is None:
            return ()
        here = np.broadcast_to(rows[..., None], x.shape)
        return here, here, *(np.zeros(each.shape, np.bool_) for each in (m, *weights))

    def put_in_place_of_reference(self, found: np.ndarray, *inputs: Any, **options: Any) -> str:
        x, m, _, _, w_v, w_o = inputs
        heads, groups = _multi_head_probes.groups_of(options)
        rows = _masks.empty_rows(options["mask"], options["causal"], _scores(x, m))
        values = (m @ w_v).mean(-2, keepdims=True).reshape(len(m), 1, groups, -1)
        mean = np.repeat(values, heads // groups, -2).reshape(len(m), 1, -1) @ w_o
        unmasked, _ = self.layer(*inputs, **{**options, "mask": None, "causal": False})
        conventions = {
            "the mean of the values": np.broadcast_to(mean, found.shape),
            "attention without a mask": unmasked,
        }
        return _masks.in_place_of(found, rows, conventions)

    def generic(self, rng: np.random.Generator, form: Format, options: Options) -> list[Probe]:
        batch, n_q, n_k = (3, 5, 7) if rng.random() < 0.5 else (2, 6, 4)
        settings = _masks.drawn(options["mask"], options["causal"], rng, batch, n_q, n_k)
        arrays = _multi_head_probes.inputs(rng, options, batch, n_q, n_k)
        return [Probe(f"generic {(batch, n_q, n_k)}", arrays, settings)]

    def structured(self, rng: np.random.Generator, form: Format, options: Options) -> list[Probe]:
        return _multi_head_probes.structured(rng, options) if _masks.unfixed(options) else []


def _shares(heads: int, kv_heads: int | None, **others: Any) -> bool:
    return kv_heads is None or (heads % kv_heads == 0 and kv_heads < heads)


def _scores(x: np.ndarray, m: np.ndarray) -> tuple[int, ...]:
    return (*x.shape[:-1], m.shape[-2])


def _keep(x: np.ndarray, m: np.ndarray, mask: Any, causal: bool) -> Any:
    return _masks.kept(mask, causal, _scores(x, m))


LATEST: Latest[Bounds] = Latest()


def _forward(precision: Precision, inputs: Sequence[Any], options: Options) -> Bounds:
    def compute() -> Bounds:
        x, m, *weights = (Rounded.exact(each, precision) for each in inputs)
        keep = _keep(inputs[0], inputs[1], options["mask"], options["causal"])
        return forward_bounds(x, m, tuple(weights), *_multi_head_probes.groups_of(options), keep)

    return LATEST.recall((precision, *inputs, *sorted(options.items())), compute)


CONTRACT = MultiHeadAttention()
