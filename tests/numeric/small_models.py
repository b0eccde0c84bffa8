"""Tiny models of every form, and batches for them whose rows have different lengths."""

import numpy as np

from numeric.arithmetic import radius, to_balls
from numeric.config import FORMS, Config
from numeric.initialisation import shapes
from numeric.parameters import unflatten

BOS, EOS, PAD = 1, 2, 0
SOURCE = np.array([[3, 1, 4], [6, 3, PAD]])
TARGET = np.array([[BOS, 4, 4, 6, EOS], [BOS, 5, EOS, PAD, PAD]])
TAGS = np.array([[5, PAD, 6], [2, PAD, PAD]])  # what an encoder predicts of SOURCE, some places left open

SIZES = {"vocabulary": 7, "d_model": 4, "d_ff": 5, "n_heads": 2, "n_layers": 2}
CONFIGS = {
    f"{form}, {norm}": Config(
        form, **SIZES, norm=norm, n_groups=1 if norm == "pre" else None, attention_biases=norm == "pre", smoothing=0.25
    )
    for form in FORMS
    for norm in ("post", "pre")
}


def batch(config):
    """src and tgt."""
    if config.form == "encoder":
        return SOURCE, TAGS
    return (None if config.form == "decoder" else SOURCE), TARGET


def sample(config, seed=0, dtype=object):
    """Parameters of no particular kind, none of them 0 or 1."""
    rng = np.random.default_rng(seed)
    flat = {name: rng.normal(0, 0.7, shape).round(3) for name, shape in shapes(config).items()}
    return unflatten(
        {name: to_balls(array) if dtype is object else array.astype(dtype) for name, array in flat.items()}
    )


def differ(one, other):
    """How many balls of the first do not overlap those of the second, or are too wide to tell."""
    one, other = (to_balls(np.atleast_1d(np.asarray(each, dtype=object))) for each in (one, other))
    assert one.shape == other.shape, (one.shape, other.shape)
    meets = np.frompyfunc(lambda a, b: a.overlaps(b), 2, 1)(one, other).astype(bool)
    return int(np.count_nonzero(~(meets & (radius(one) < 1e-20) & (radius(other) < 1e-20))))
