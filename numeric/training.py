"""Training on the task of spelling.py, in steps of Adam; from a saved run on as if there had been no interruption.

    draw numbers -> micro-batches -> the gradient of their mean loss -> clip its norm -> Adam at a learning rate

A run is everything that the next step depends on: parameters, moments, the two generators, what is held out. It is
saved as a checkpoint (checkpoint.py). A resumed run takes, bit for bit, the steps that it would have taken without the
interruption, on the same machine with the same NumPy.
"""

import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from . import checkpoint, decoding, model, optimizer, spelling
from .checkpoint import CheckpointError
from .config import Config
from .layers import cross_entropy
from .layers._arguments import require_size
from .optimizer import State
from .parameters import Tree
from .spelling import BOS, EOS, PAD, Split, Vocabulary

NAME = "training"
SCORED_AT_ONCE = 250  # numbers
LONGEST = 20  # tokens; every name has less


@dataclass(frozen=True)
class Settings:
    """How to train. Raises TypeError or ValueError for a value that is out of range."""

    language: str = "en"
    rows: int = 64  # numbers in a batch
    micro_batches: int = 1  # parts of a batch that are computed one after the other, to need less memory
    warmup: int = 300  # steps until the learning rate is highest
    factor: float = 0.25  # times `optimizer.learning_rate`; at 1, as Vaswani et al. have it, narrow models are unsteady
    clip: float | None = 1.0  # the largest norm of a gradient; None: any
    seed: int = 0
    limit: int = spelling.LARGEST  # numbers are below it
    held_out: int = spelling.HELD_OUT  # so many of them are never trained on

    def __post_init__(self) -> None:
        for name in ("rows", "micro_batches", "warmup"):
            require_size(NAME, name, getattr(self, name))
        if self.micro_batches > self.rows:
            raise ValueError(f"{NAME}: micro_batches is {self.micro_batches}, needed at most rows, {self.rows}")
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or self.seed < 0:
            raise ValueError(f"{NAME}: seed is {self.seed!r}, needed an integer of at least 0")
        if not 0 < self.factor < math.inf:
            raise ValueError(f"{NAME}: factor is {self.factor}, needed a finite number above 0")
        if self.clip is not None and not 0 < self.clip < math.inf:
            raise ValueError(f"{NAME}: clip is {self.clip}, needed a finite number above 0, or None")


class Run(NamedTuple):
    """A run between two steps."""

    config: Config
    settings: Settings
    words: Vocabulary
    split: Split
    params: Tree
    state: State
    numbers: np.random.Generator  # draws the batches
    dropout: np.random.Generator


class Progress(NamedTuple):
    """What a step was like."""

    step: int
    loss: float  # of the batch, before the step
    rate: float
    norm: float  # of the gradient, before clipping
    tokens: int  # that the loss is a mean over


class Score(NamedTuple):
    """How well names are foretold, each token from the true ones before it."""

    loss: float  # a mean over all tokens, without smoothing
    tokens: float  # the share of tokens that are the likeliest ones
    right: np.ndarray  # which names are right as a whole                   (n,)


def config_for(
    language: str, d_model: int = 64, d_ff: int = 256, n_heads: int = 4, n_layers: int = 2, **more: Any
) -> Config:
    """An encoder-decoder with the vocabulary of the language; `more` are further fields of Config."""
    size = len(spelling.vocabulary(language).tokens)
    return Config("encoder-decoder", size, d_model, d_ff, n_heads, n_layers, pad=PAD, **more)


def begin(config: Config, settings: Settings) -> Run:
    """A run before its first step.

    Raises ValueError unless config has the form encoder-decoder and the vocabulary of the language, and as spelling.py.
    """
    words = spelling.vocabulary(settings.language)
    if (config.form, config.vocabulary, config.pad) != ("encoder-decoder", len(words.tokens), PAD):
        raise ValueError(
            f"{NAME}: config has form {config.form!r}, vocabulary {config.vocabulary} and pad {config.pad}, needed "
            f"'encoder-decoder', {len(words.tokens)} and {PAD} for language {settings.language!r}; see `config_for`"
        )
    split = spelling.split(settings.seed, settings.limit, settings.held_out)
    params = model.initialise(config, settings.seed)
    numbers, dropout = (np.random.default_rng([settings.seed, stream]) for stream in (1, 2))
    return Run(config, settings, words, split, params, optimizer.initial(params), numbers, dropout)


def advance(run: Run) -> tuple[Run, Progress]:
    """The run after one more step, whose arrays and generators are those of `run`, changed in place.

    Raises FloatingPointError, the parameters as before, where the gradient is not finite.
    """
    config, settings = run.config, run.settings
    numbers = spelling.draw(run.numbers, settings.rows, run.split)
    gradients, loss, tokens = gradient_of(run, numbers)
    gradients, norm = optimizer.clip(gradients, math.inf if settings.clip is None else settings.clip)
    rate = settings.factor * float(optimizer.learning_rate(config.d_model, settings.warmup, run.state.step + 1))
    params, state = optimizer.update(run.params, gradients, run.state, rate)
    return run._replace(params=params, state=state), Progress(state.step, float(loss), rate, norm, tokens)


def gradient_of(run: Run, numbers: np.ndarray) -> tuple[Tree, Any, int]:
    """The gradient of the mean loss over all tokens of the names, that loss, and how many tokens there are."""
    accumulated: Any = None
    losses = []
    for part in np.array_split(numbers, run.settings.micro_batches):
        src, tgt = spelling.batch(part, run.words)
        loss, cache = model.forward(run.params, src, tgt, run.config, run.dropout)
        accumulated = optimizer.accumulate(model.backward(cache), cache.tokens, accumulated)
        losses.append(loss * cache.tokens)
    return optimizer.mean_gradient(accumulated), sum(losses) / accumulated.tokens, accumulated.tokens


def score(run: Run, numbers: np.ndarray) -> Score:
    """How well the names of these numbers are foretold.

    A name is right when every token, eos included, is the likeliest one after the true tokens before it. That is when
    greedy decoding gives it (`names`): as long as it gives the true tokens, it goes on from them.
    """
    losses, hits, right = 0.0, [], []
    for start in range(0, len(numbers), SCORED_AT_ONCE):
        src, tgt = spelling.batch(numbers[start : start + SCORED_AT_ONCE], run.words)
        logits, targets = model.logits(run.params, src, tgt[:, :-1], run.config), tgt[:, 1:]
        counted = targets != PAD
        losses += float(cross_entropy.forward(logits, targets, PAD)[0]) * np.count_nonzero(counted)
        logits[..., PAD] = -np.inf  # which decoding never chooses
        hit = logits.argmax(-1) == targets
        hits.append(hit[counted])
        right.append((hit | ~counted).all(-1))
    every = np.concatenate(hits)
    return Score(losses / len(every), float(every.mean()), np.concatenate(right))


def names(run: Run, numbers: np.ndarray) -> list[str]:
    """What the model calls these numbers, decoded greedily; without a teacher, as it would be asked."""
    sources, _ = spelling.batch(numbers, run.words)
    rows = decoding.greedy(run.params, sources, run.config, BOS, EOS, LONGEST)
    return [spelling.decode(row, run.words) for row in rows]


# Saved runs


def save(path: str | Path, run: Run) -> None:
    """Write the run, to go on from. Raises as `checkpoint.save`."""
    tree = {"params": run.params, "m": run.state.m, "v": run.state.v, "held_out": run.split.held_out}
    settings = {
        "config": asdict(run.config),
        "training": asdict(run.settings),
        "step": run.state.step,
        "tokens": list(run.words.tokens),
        "numbers": run.numbers.bit_generator.state,
        "dropout": run.dropout.bit_generator.state,
    }
    checkpoint.save(path, tree, settings)


def resume(path: str | Path) -> Run:
    """The run that was saved. Raises as `checkpoint.load`, and CheckpointError for a checkpoint of something else."""
    tree, found = checkpoint.load(path)
    try:
        config, settings = Config(**found["config"]), Settings(**found["training"])
        words = Vocabulary(settings.language, tuple(found["tokens"]))
        numbers, dropout = (_generator(found[name]) for name in ("numbers", "dropout"))
        state = State(found["step"], tree["m"], tree["v"])
        run = Run(
            config, settings, words, Split(settings.limit, tree["held_out"]), tree["params"], state, numbers, dropout
        )
        model.require_parameters(run.params, config)
        if len(words.tokens) != config.vocabulary:
            raise ValueError(f"{len(words.tokens)} tokens for a vocabulary of {config.vocabulary}")
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(
            f"{NAME}: {path} is a checkpoint, but not of a run ({type(error).__name__}: {error}); needed one that "
            "numeric.training.save wrote"
        ) from error
    return run


def _generator(state: dict[str, Any]) -> np.random.Generator:
    rng = np.random.default_rng()
    rng.bit_generator.state = state
    return rng
