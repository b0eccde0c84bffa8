"""Decoding: the tokens that a model gives one after another, chosen greedily or by beam search.

A sequence is what follows the prefix, which is bos, or for a decoder-only model bos and a prompt. It is complete when
it ends in eos, or has max_length tokens. Pad is no token of a sequence: it is never chosen, however probable.
"""

import math
from typing import NamedTuple

import numpy as np

from . import model
from .arithmetic import is_balls
from .config import Config
from .incremental import State, advance, start
from .layers import log_softmax
from .layers._arguments import require_indices, require_size
from .parameters import Tree

NAME = "decoding"


# Greedy


def greedy(params: Tree, src: np.ndarray | None, config: Config, bos: int, eos: int, max_length: int) -> np.ndarray:
    """For every row the sequence whose tokens are each the likeliest after those before; of equals the least.

    src (B, m) holds sources, or for a decoder-only model prompts, which follow bos; None is one prompt without a
    token. Rows are filled up with pad. Returns (B, n), n <= max_length, the tokens after the prefix, eos included,
    filled up too.
    Raises TypeError or ValueError unless the arguments are what config asks for, bos and eos tokens other than pad, and
    the parameters floats.
    """
    prefix, given = _prefix(params, src, config, bos, eos, max_length)
    rows, start_at = len(prefix), int(given.min())
    tokens = np.full((rows, prefix.shape[1] + max_length), config.pad)
    tokens[:, : prefix.shape[1]] = prefix
    source = src if config.form == "encoder-decoder" else None
    state = start(params, source, config, rows, tokens.shape[1] - 1)
    z = advance(params, state, tokens[:, :start_at], config)
    finished = np.zeros(rows, np.bool_)
    for at in range(start_at, tokens.shape[1]):
        # a prompt that is longer than others goes on while they are continued
        chooses = ~finished & (at >= given)
        tokens[chooses, at] = _without_pad(z[chooses, -1], config).argmax(-1)
        finished |= chooses & ((tokens[:, at] == eos) | (at + 1 == given + max_length))
        if finished.all():
            break
        z = advance(params, state, tokens[:, at : at + 1], config)
    sequences = np.stack([row[place : place + max_length] for row, place in zip(tokens, given, strict=True)])
    return sequences[:, : int((sequences != config.pad).sum(1).max())]


# Beam search


class Hypothesis(NamedTuple):
    """A sequence, what log probability the model gives it, and that divided by its length penalty."""

    tokens: tuple[int, ...]
    log_probability: float
    score: float


def length_penalty(length: int, alpha: float) -> float:
    """((5 + |Y|) / 6)^alpha, Wu et al. 2016 (arXiv:1609.08144), equation 14; 1 for alpha = 0. Tokens count with eos."""
    return float(((5 + length) / 6) ** alpha)


def beam_search(
    params: Tree,
    src: np.ndarray | None,
    config: Config,
    bos: int,
    eos: int,
    max_length: int,
    width: int = 4,
    alpha: float = 0.6,
) -> list[list[Hypothesis]]:
    """For every row the best `width` complete sequences that a beam comes upon, best score first.

    In each step the beam becomes the `width` likeliest continuations of what is in it; those that are complete leave
    it (Graves 2012, arXiv:1211.3711, algorithm 1; Sutskever et al. 2014, arXiv:1409.3215, section 3.2). Of equally
    likely ones those come first whose beginning did, then those with the lesser token. The search ends early where
    nothing in the beam can get among the best any more. With width 1 it gives what `greedy` gives, ties of rounded
    log probabilities aside. Arguments and errors are those of `greedy`; alpha >= 0.
    """
    prefix, given = _prefix(params, src, config, bos, eos, max_length)
    width = require_size(NAME, "width", width)
    if not alpha >= 0:
        raise ValueError(f"{NAME}: alpha is {alpha}, needed a number of at least 0")
    found = []
    for row, count in enumerate(given):
        source = src[row : row + 1] if src is not None and config.form == "encoder-decoder" else None
        state = start(params, source, config, 1, int(count) + max_length - 1)
        z = advance(params, state, prefix[row : row + 1, :count], config)
        found.append(_search(params, state, z, config, eos, max_length, width, alpha))
    return found


def _search(
    params: Tree, state: State, z: np.ndarray, config: Config, eos: int, max_length: int, width: int, alpha: float
) -> list[Hypothesis]:
    beam: list[tuple[int, ...]] = [()]
    before = np.zeros(1)
    complete: list[Hypothesis] = []
    for length in range(1, max_length + 1):
        log_p, _ = log_softmax.forward(z[:, -1].astype(np.float64))
        totals = _without_pad(before[:, None] + log_p, config)
        likeliest = np.argsort(-totals, axis=None, kind="stable")[: min(width, totals.size - len(beam))]
        parents, chosen = np.unravel_index(likeliest, totals.shape)
        longer = [(*beam[parent], int(token)) for parent, token in zip(parents, chosen, strict=True)]
        values = totals[parents, chosen]
        goes_on = (chosen != eos) & (length < max_length)
        penalty = length_penalty(length, alpha)
        complete += [
            Hypothesis(longer[i], float(values[i]), float(values[i]) / penalty) for i in np.flatnonzero(~goes_on)
        ]
        complete.sort(key=lambda hypothesis: -hypothesis.score)
        beam, before = [longer[i] for i in np.flatnonzero(goes_on)], values[goes_on]
        # no continuation is likelier than what it continues, and no penalty is greater than that of the greatest length
        best = before[0] / length_penalty(max_length, alpha) if beam else -math.inf
        if not beam or (len(complete) >= width and best <= complete[width - 1].score):
            break
        state = state.select(parents[goes_on])
        z = advance(params, state, chosen[goes_on][:, None], config)
    return complete[:width]


def _without_pad(values: np.ndarray, config: Config) -> np.ndarray:
    values = values.copy()
    values[..., config.pad] = -np.inf
    return values


# Arguments


def _prefix(
    params: Tree, src: np.ndarray | None, config: Config, bos: int, eos: int, max_length: int
) -> tuple[np.ndarray, np.ndarray]:
    """What comes before the sequences (B, p), and how many tokens of it each row has (B,)."""
    model.require_parameters(params, config)
    if is_balls(params["embedding"]["table"]):
        raise TypeError(f"{NAME}: the parameters hold balls, needed floats, since tokens are chosen by comparison")
    require_size(NAME, "max_length", max_length)
    for name, token in (("bos", bos), ("eos", eos)):
        require_indices(NAME, name, np.asarray([token]), config.vocabulary, "tokens")
        if token == config.pad:
            raise ValueError(f"{NAME}: {name} is {token}, needed a token other than pad")
    if config.form == "decoder" and src is None:
        src = np.array([[config.pad]])
    src = model.require_tokens("src", src)
    first = np.full((len(src), 1), bos)
    if config.form != "decoder":
        return first, np.ones(len(src), int)
    shown = np.not_equal(src, config.pad)
    lengths = shown.sum(1)
    if (shown != (np.arange(src.shape[1]) < lengths[:, None])).any():
        raise ValueError(f"{NAME}: src has a token behind a pad, needed prompts with all their pads at the end")
    return np.concatenate([first, src], 1), lengths + 1
