"""The parameters that a model needs, those that it starts from, and the loss that it then starts from.

    table                   normal, mean 0, standard deviation 1/d
    projections, W_1, W_2   uniform in +-sqrt(6 / (rows + columns)): Glorot & Bengio 2010, equation 16
    gains 1, biases 0

With this table the first loss is that of a model that knows nothing, log V, up to terms that shrink with d and V. Let
y be the hidden state behind a row of logits z_c = <y, t_c>, S the k different tokens that the row reads, t its
target. Last came a layer norm with gain 1 and bias 0, so |y|^2 <= d; and y does not depend on the rows of the table
outside S. Hence

    c not in S   z_c, given y, is normal with mean 0 and variance |y|^2/d^2 <= 1/d, independently for each such c
    c in S       |z_c| <= sqrt(d) |t_c|, a function of d standard normals of slope 1/sqrt(d) and mean at most 1: so
                 |E z_c| <= 1, and E exp z_c <= exp(1 + 1/(2d)) (Boucheron, Lugosi & Massart 2013, theorem 5.5)

With label smoothing a the loss is log(sum_c exp z_c) - (1 - a) z_t - a mean(z). Both bounds on its expectation are
Jensen's: mean(exp z) is at least exp(mean z), and E log(mean(exp z)) at most log E mean(exp z). For t not in S

    log V - k/V <= E loss <= log V + 1/(2d) + log(1 + (exp(1) - 1) k/V) + a k/V

and for t in S each bound is farther out by 1 - a, for |E z_t| <= 1.

A standard deviation of 1/sqrt(d), which makes the entries of sqrt(d) table of size 1, would give the logits a variance
of 1, hence a loss of log V + 1/2; and to the token that a row stands for a logit of sqrt(d) times its share in y, which
no bound keeps small.
"""

import math
from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import DTypeLike

from .arithmetic import WORKING_DTYPE, convert
from .config import Config
from .layers._arguments import DTYPES
from .parameters import Tree, flatten, unflatten

Shapes = dict[str, tuple[int, ...]]


def initialise(config: Config, seed: int, dtype: DTypeLike = np.float32) -> Tree:
    """Parameters drawn as above, each rounded once to `dtype`; object gives balls, exactly the float64 numbers drawn.

    Raises TypeError for any other dtype.
    """
    if np.dtype(dtype) not in WORKING_DTYPE:
        raise TypeError(f"initialise: dtype is {np.dtype(dtype)}, needed {DTYPES}")
    rng = np.random.default_rng(seed)
    return unflatten({name: convert(_drawn(name, shape, rng), dtype) for name, shape in shapes(config).items()})


def _drawn(name: str, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    if name == "embedding.table":
        return rng.normal(0.0, 1 / shape[1], shape)
    if len(shape) == 2:
        bound = math.sqrt(6 / sum(shape))
        return rng.uniform(-bound, bound, shape)
    return np.ones(shape) if name.endswith(".gain") else np.zeros(shape)


def initial_loss(config: Config, read: float, met: float = 0.0) -> tuple[float, float]:
    """Bounds, derived above, on the expected loss of what `initialise` gives, over all seeds; dropout may be on.

    `read` is k, how many different tokens a row reads, on average over the rows; `met` the share of the rows whose
    target is among those that they read.
    """
    share = read / config.vocabulary
    known = math.log(config.vocabulary)
    own = met * (1 - config.smoothing)
    above = 1 / (2 * config.d_model) + math.log1p((math.e - 1) * share) + config.smoothing * share
    return known - share - own, known + above + own


def shapes(config: Config) -> Shapes:
    """The shapes of the parameters by their names, in the order in which they are drawn."""
    found: Shapes = {"embedding.table": (config.vocabulary, config.d_model)}
    for stack in stacks(config):
        found |= _stack(stack, config)
    return found


def stacks(config: Config) -> list[str]:
    """Which of encoder and decoder the form has."""
    return [name for name in ("encoder", "decoder") if name in config.form]


def require_parameters(params: Tree, config: Config) -> None:
    """The names and shapes that `config` asks for; biases of projections and final norms may be there in any case.

    Raises TypeError or ValueError.
    """
    found = {name: leaf.shape for name, leaf in flatten(params).items()}
    needed, allowed = _needed_and_allowed(config)
    for stack in stacks(config):
        norm = _under(f"{stack}.norm", _norm(config))
        needed = {**needed, **norm} if norm.keys() & found.keys() else needed
    for problem, names in (("lack", needed.keys() - found.keys()), ("have", found.keys() - allowed.keys())):
        if names:
            raise ValueError(
                f"model: the parameters {problem} {sorted(names)[0]!r} ({len(names)} such in all), against the Config"
            )
    for name, shape in found.items():
        if shape != allowed[name]:
            raise ValueError(f"model: {name} has shape {shape}, needed {allowed[name]} by the Config")


@lru_cache(maxsize=16)  # asked for at every forward pass
def _needed_and_allowed(config: Config) -> tuple[Shapes, Shapes]:
    return shapes(replace(config, attention_biases=False)), shapes(replace(config, attention_biases=True, norm="pre"))


def _stack(stack: str, config: Config) -> Shapes:
    attentions = ["self_attention"]
    if stack == "decoder" and config.form == "encoder-decoder":
        attentions.append("cross_attention")
    found: Shapes = {}
    for layer in range(config.n_layers):
        for name in attentions:
            found |= _under(f"{stack}.layers.{layer}.{name}", _attention(config))
            found |= _under(f"{stack}.layers.{layer}.{name}_norm", _norm(config))
        found |= _under(f"{stack}.layers.{layer}.feed_forward", _feed_forward(config))
        found |= _under(f"{stack}.layers.{layer}.feed_forward_norm", _norm(config))
    if config.norm == "pre":
        found |= _under(f"{stack}.norm", _norm(config))
    return found


def _attention(config: Config) -> Shapes:
    d, shared = config.d_model, config.groups * config.d_k
    matrices: Shapes = {"w_q": (d, d), "w_k": (d, shared), "w_v": (d, shared), "w_o": (d, d)}
    biases: Shapes = {name.replace("w", "b"): shape[1:] for name, shape in matrices.items()}
    return {**matrices, **biases} if config.attention_biases else matrices


def _feed_forward(config: Config) -> Shapes:
    d, d_ff = config.d_model, config.d_ff
    return {"W_1": (d, d_ff), "b_1": (d_ff,), "W_2": (d_ff, d), "b_2": (d,)}


def _norm(config: Config) -> Shapes:
    return {"gain": (config.d_model,), "bias": (config.d_model,)}


def _under(prefix: str, leaves: Shapes) -> Shapes:
    return {f"{prefix}.{name}": shape for name, shape in leaves.items()}
