"""A Transformer from tokens to the loss, forward and backward side by side; every step is a layer.

    x = dropout(sqrt(d) table[src] + PE)         m = encoder(x)               where there is a source
    x = dropout(sqrt(d) table[tgt] + PE)         y = decoder(x, m)            where there is a decoder
    z = y table^T                                L = cross-entropy of z and the targets that are not pad

Shapes: src, tgt (B, n), integers, rows of different lengths filled up with config.pad; z (B, n, V); L (), a mean over
all targets of the batch that count. encoder-decoder, decoder: tgt is [bos ... eos]; the model reads tgt[:, :-1] and
predicts tgt[:, 1:], each token from those before it. encoder: it reads src and predicts tgt at every position.
Pads are not attended to, and pads are no targets, so that filling up further changes nothing; in the softmax pad is a
class like any other. One table serves source, target and output (Vaswani et al. 2017, section 3.4), and its gradient
is the sum of the three. Parameters and gradients are trees (parameters.py) of floats or balls; initialisation.py has
their names and shapes.
"""

from typing import NamedTuple

import numpy as np
from flint import arb

from . import decoder, encoder
from .arithmetic import convert, zeros
from .config import Config as Config
from .initialisation import initialise as initialise
from .initialisation import require_parameters as require_parameters
from .initialisation import stacks
from .layers import cross_entropy, dropout, embedding, masking, positional_encoding, unembedding
from .layers._arguments import require_integers
from .parameters import Tree
from .sublayers import keep_some

NAME = "model"


class Embedded(NamedTuple):
    """What `embed` leaves for the way back."""

    lookup: embedding.Cache
    positions: positional_encoding.Cache
    thinned: dropout.Cache | None  # None where nothing was dropped


class Hidden(NamedTuple):
    """What lies between the tokens and the last hidden states; None for a stack that the form does not have."""

    source: tuple[Embedded, encoder.Cache] | None
    target: tuple[Embedded, decoder.Cache] | None


class Cache(NamedTuple):
    hidden: Hidden
    counted: np.ndarray  # which targets are not pad                        (B, n)
    output: unembedding.Cache
    loss: cross_entropy.Cache
    tokens: int  # how many targets count


def forward(
    params: Tree,
    src: np.ndarray | None,
    tgt: np.ndarray,
    config: Config,
    rng: np.random.Generator | None = None,
) -> tuple[np.ndarray, Cache]:
    """The loss and what `backward` needs. A generator means training: with dropout, at the rate config.dropout.

    Raises TypeError or ValueError unless the parameters are those that config asks for, src and tgt what its form
    needs, integers from 0 to V - 1, and one target at least is not pad.
    """
    require_parameters(params, config)
    tgt_in, targets = _shifted(tgt, config)
    _require_pair(src, tgt_in, config)
    if config.form == "encoder" and src is not None and targets.shape != src.shape:
        raise ValueError(f"{NAME}: tgt has shape {targets.shape}, needed {src.shape}, the shape of src")
    y, hidden = _hidden(params, src, tgt_in, config, rng)
    # what is not predicted needs no logits
    counted = targets != config.pad
    z, output = unembedding.forward(y[counted], params["embedding"]["table"])
    loss, last = cross_entropy.forward(z, targets[counted], config.pad, config.smoothing)
    return loss, Cache(hidden, counted, output, last, int(np.count_nonzero(counted)))


def backward(cache: Cache, dloss: float | arb | np.ndarray = 1.0) -> Tree:
    """The gradients of dloss * L, a tree like the parameters. They have the dtype of dloss, or else of the loss."""
    if not isinstance(dloss, np.ndarray):
        dloss = np.asarray(convert(dloss, cache.loss.loss.dtype))
    dz = cross_entropy.backward(dloss, cache.loss)
    drows, dtable = unembedding.backward(dz, cache.output)
    dy = zeros((*cache.counted.shape, drows.shape[-1]), drows.dtype)
    dy[cache.counted] = drows
    gradients: Tree = {}
    # forward: the table gave the source, the target and the logits; so now it takes the gradients of all three
    if cache.hidden.target is not None:
        embedded, decoded = cache.hidden.target
        dx, dmemory, gradients["decoder"] = decoder.backward(dy, decoded)
        dtable += pull_embed(dx, embedded)
        dy = dy if dmemory is None else dmemory
    if cache.hidden.source is not None:
        embedded, encoded = cache.hidden.source
        dx, dencoder = encoder.backward(dy, encoded)
        dtable += pull_embed(dx, embedded)
        gradients = {"encoder": dencoder, **gradients}
    return {"embedding": {"table": dtable}, **gradients}


def logits(params: Tree, src: np.ndarray | None, tgt_in: np.ndarray | None, config: Config) -> np.ndarray:
    """z (B, n, V) at every position of tgt_in, or for an encoder of src. Raises as `forward`."""
    require_parameters(params, config)
    _require_pair(src, tgt_in, config)
    y, _ = _hidden(params, src, tgt_in, config)
    return unembedding.forward(y, params["embedding"]["table"])[0]


# From tokens to hidden states


def encode(
    params: Tree, src: np.ndarray, config: Config, rng: np.random.Generator | None = None
) -> tuple[np.ndarray, np.ndarray | None, tuple[Embedded, encoder.Cache]]:
    """The memory (B, n, d), which of its rows to attend to, and what the way back needs."""
    x, embedded = embed(params, src, config, rng)
    keep = keep_tokens(src, config)
    memory, cache = encoder.forward(x, params["encoder"], config, keep, rng)
    return memory, keep, (embedded, cache)


def embed(
    params: Tree, tokens: np.ndarray, config: Config, rng: np.random.Generator | None = None, start: int = 0
) -> tuple[np.ndarray, Embedded]:
    """dropout(sqrt(d) table[tokens] + PE), of tokens that stand at the positions from `start` on."""
    x, lookup = embedding.forward(params["embedding"]["table"], tokens)
    x, positions = positional_encoding.forward(x, config.base, start)
    keep = keep_some(x.shape, config, rng)
    if keep is None:
        return x, Embedded(lookup, positions, None)
    x, thinned = dropout.forward(x, keep, config.dropout)
    return x, Embedded(lookup, positions, thinned)


def pull_embed(dx: np.ndarray, cache: Embedded) -> np.ndarray:
    """The gradient of the table."""
    if cache.thinned is not None:
        dx = dropout.backward(dx, cache.thinned)
    return embedding.backward(positional_encoding.backward(dx, cache.positions), cache.lookup)


def keep_tokens(tokens: np.ndarray, config: Config) -> np.ndarray | None:
    """The mask that hides pads, or None where there are none."""
    keep = masking.padding(tokens, config.pad)
    return None if keep.all() else keep


def _hidden(
    params: Tree,
    src: np.ndarray | None,
    tgt_in: np.ndarray | None,
    config: Config,
    rng: np.random.Generator | None = None,
) -> tuple[np.ndarray, Hidden]:
    """The last hidden states (B, n, d) of the target, or for an encoder of the source."""
    memory = keep = source = None
    if src is not None:
        memory, keep, source = encode(params, src, config, rng)
        if tgt_in is None:
            return memory, Hidden(source, None)
    tokens = require_tokens("tgt", tgt_in)
    x, embedded = embed(params, tokens, config, rng)
    own, shown = masking.causal(tokens.shape[1]), keep_tokens(tokens, config)
    own = own if shown is None else masking.both(own, shown)
    y, cache = decoder.forward(x, params["decoder"], config, own, memory, keep, rng)
    return y, Hidden(source, (embedded, cache))


# Arguments


def require_tokens(name: str, tokens: np.ndarray | None) -> np.ndarray:
    """Integers (B, n), at least one. Raises TypeError or ValueError."""
    if tokens is None:
        raise ValueError(f"{NAME}: {name} is None, needed integers (B, n)")
    require_integers(NAME, name, tokens)
    if tokens.ndim != 2 or 0 in tokens.shape:
        raise ValueError(f"{NAME}: {name} has shape {tokens.shape}, needed (B, n) with at least one row and one column")
    return tokens


def _shifted(tgt: np.ndarray, config: Config) -> tuple[np.ndarray | None, np.ndarray]:
    """What a decoder reads, and what is to be predicted."""
    require_tokens("tgt", tgt)
    if config.form == "encoder":
        return None, tgt
    if tgt.shape[1] < 2:
        raise ValueError(f"{NAME}: tgt has shape {tgt.shape}, needed two columns at least: one to read, one to predict")
    return tgt[:, :-1], tgt[:, 1:]


def _require_pair(src: np.ndarray | None, tgt: np.ndarray | None, config: Config) -> None:
    for name, tokens, stack in (("src", src, "encoder"), ("tgt", tgt, "decoder")):
        if stack in stacks(config):
            require_tokens(name, tokens)
        elif tokens is not None:
            raise ValueError(f"{NAME}: {name} was given, needed None for the form {config.form!r}")
    if src is not None and tgt is not None and len(src) != len(tgt):
        raise ValueError(f"{NAME}: src has {len(src)} rows and tgt {len(tgt)}, needed as many of each")
