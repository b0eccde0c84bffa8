"""transformer: src ids (B, n), tgt ids (B, m), params -> logits (B, m, V); two layers of encoder and of decoder each.

    memory = encoder(sqrt(d) table[src] + PE)       logits = decoder(sqrt(d) table[tgt] + PE, memory) table^T

The decoder's position i attends to those up to i, and predicts what comes after it: tgt is what it reads, not shifted
here. The table serves both inputs and the output. Attention has no biases, the activation is relu, the positional
encoding that of `positional_encoding`. With order "pre" a norm follows the last layer of each stack, with "post" none.
`params` is a dict of arrays, named as those of numeric.model. Gradients are a dict alike.
The orders that the bounds admit are those of `_transformer_orders`.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from ... import decoder, encoder, model
from ...layers import masking, unembedding
from ...parameters import flatten
from ..contract import Contract, Input, Option, Options, Probe, Pullback
from ..formats import Format, Precision
from ..memo import Latest
from ..pairing import pairwise
from ..rounding import Rounded
from . import _transformer_orders, _transformer_probes
from ._layer_parameters import choices
from ._transformer_mistakes import FITS, MISTAKES
from ._transformer_parameters import NAMES, in_order, present, shape_of, tree
from .add_and_norm import ORDER
from .encoder_layer import HEADS
from .layer_norm import EPS

SRC_MASK = Option("src_mask", None, _transformer_probes.WORDS, "True where a source token may be attended to, (B, n)")


class Transformer(Contract):
    name = "transformer"
    summary = "encoder and decoder, two layers each, from tokens to logits, with one table for all three"
    inputs = (
        Input("src", "(B, n) integers from 0 to V - 1", floating=False),
        Input("tgt", "(B, m) integers from 0 to V - 1", floating=False),
        *(Input(name, shape_of(name)) for name in NAMES),
    )
    parameters = ("src", "tgt", "params: dict")
    output = "(B, m, V)"
    options = (HEADS, SRC_MASK, ORDER, EPS)
    generic_draws = 2  # each probe has many layers, and hence many chances to be wrong
    gradient_theorem = "embedding.tied_weights_add_gradients"
    properties = _transformer_probes.PROPERTIES
    mistakes = MISTAKES
    fits = FITS

    def combinations(self, grid: Mapping[str, Sequence[Any]]) -> Iterable[Options]:
        """So many that any two values meet."""
        return [
            dict(each)
            for each in pairwise([dict(zip(grid, values, strict=True)) for values in product(*grid.values())])
        ]

    def arguments(self, arrays: Sequence[Any]) -> tuple[Any, ...]:
        return arrays[0], arrays[1], present(arrays[2:])

    def arrays(self, arguments: Sequence[Any]) -> tuple[Any, ...]:
        src, tgt, params = arguments
        return src, tgt, *in_order(params)

    def gradients_of(self, returned: Sequence[Any]) -> Sequence[Any]:
        if len(returned) != 1 or not isinstance(returned[0], Mapping):
            raise ValueError("needed one dict, of the gradients of the parameters by their names")
        return in_order(returned[0])

    def packed(self, gradients: Sequence[Any]) -> tuple[Any, ...]:
        return (present(gradients),)

    def layer(
        self, src: np.ndarray, tgt: np.ndarray, *arrays: Any, heads: int, src_mask: Any, order: str, eps: float
    ) -> tuple[np.ndarray, Pullback]:
        params, config = tree(arrays), choices(heads, "relu", order, eps)
        keep, table = keys(src_mask), params["embedding"]["table"]
        x, embedded_src = model.embed(params, src, config)
        memory, encoded = encoder.forward(x, params["encoder"], config, keep)
        x, embedded_tgt = model.embed(params, tgt, config)
        y, decoded = decoder.forward(x, params["decoder"], config, masking.causal(tgt.shape[1]), memory, keep)
        z, read = unembedding.forward(y, table)

        def pullback(dz: np.ndarray) -> tuple[np.ndarray, ...]:
            dy, dtable = unembedding.backward(dz, read)
            dx, dmemory, of_decoder = decoder.backward(dy, decoded)
            assert dmemory is not None
            dtable = dtable + model.pull_embed(dx, embedded_tgt)
            dx, of_encoder = encoder.backward(dmemory, encoded)
            dtable = dtable + model.pull_embed(dx, embedded_src)
            gradients = {"embedding": {"table": dtable}, "encoder": of_encoder, "decoder": of_decoder}
            return tuple(in_order(flatten(gradients)))

        return z, pullback

    def bound(
        self, precision: Precision, src: np.ndarray, tgt: np.ndarray, *arrays: Any, src_mask: Any, **options: Any
    ) -> Rounded:
        return _latest(precision, src, tgt, arrays, src_mask, options)[0].returned()

    def gradient_bounds(
        self,
        precision: Precision,
        dy: np.ndarray,
        src: np.ndarray,
        tgt: np.ndarray,
        *arrays: Any,
        src_mask: Any,
        **options: Any,
    ) -> tuple[Rounded, ...]:
        _, y, table, pull_decoder, pull_encoder = _latest(precision, src, tgt, arrays, src_mask, options)
        dz = Rounded.exact(dy, precision)
        dtgt, dmemory, of_decoder = pull_decoder(dz @ table)
        dsrc, _, of_encoder = pull_encoder(dmemory)
        dtable = _transformer_orders.gradient_of_table([(dsrc, src), (dtgt, tgt)], table, y, dz)
        found = {"embedding.table": dtable, **of_encoder, **of_decoder}
        nothing = Rounded.exact(np.zeros(0), precision)
        return tuple(found.get(name, nothing).returned() for name in NAMES)

    def generic(self, rng: np.random.Generator, form: Format, options: Options) -> list[Probe]:
        return _transformer_probes.generic(rng, form, options)

    def structured(self, rng: np.random.Generator, form: Format, options: Options) -> list[Probe]:
        return _transformer_probes.structured(rng, form, options) if options["src_mask"] is None else []


def keys(src_mask: Any) -> Any:
    """(B, n) as a mask of keys."""
    return None if src_mask is None else src_mask[:, None, :]


Bounds = tuple[Rounded, Rounded, Rounded, Any, Any]
LATEST: Latest[Bounds] = Latest()


def _latest(
    precision: Precision, src: np.ndarray, tgt: np.ndarray, arrays: Any, src_mask: Any, options: Options
) -> Bounds:
    key = (precision, src, tgt, *arrays, src_mask, *sorted(options.items()))
    return LATEST.recall(key, lambda: _forward(precision, src, tgt, arrays, src_mask, options))


def _forward(
    precision: Precision, src: np.ndarray, tgt: np.ndarray, arrays: Sequence[Any], src_mask: Any, options: Options
) -> Bounds:
    """Logits, the last hidden states, the table, and the pulls of decoder and encoder."""
    p = {name: Rounded.exact(each, precision) for name, each in present(arrays).items()}
    table, keep = p["embedding.table"], keys(src_mask)
    memory, pull_encoder = _transformer_orders.encoder(p, _transformer_orders.embedded(table, src), keep, **options)
    y, pull_decoder = _transformer_orders.decoder(
        p, _transformer_orders.embedded(table, tgt), memory, masking.causal(tgt.shape[1]), keep, **options
    )
    return _transformer_orders.logits(y, table), y, table, pull_decoder, pull_encoder


CONTRACT = Transformer()
