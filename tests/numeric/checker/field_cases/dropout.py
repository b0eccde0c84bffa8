"""Dropout as people got it wrong."""

import numpy as np

from .case import Judged

NAME = "dropout"
FEW = ("generic*draw 0", "[!g]*")


class Dropout:
    """Inverted dropout with a generator of its own; `always` drops at evaluation too."""

    def __init__(self, always=False):
        self.rng, self.always = np.random.default_rng(0), always

    def __call__(self, x, p=0.1, training=True):
        if not (training or self.always):
            return x.copy()
        return np.where(self.rng.random(x.shape) >= p, x / x.dtype.type(1 - p), x.dtype.type(0))


def dropped_weights(z, axis=-1, temperature=1.0, dropout=Dropout()):  # noqa: B008  one generator for all calls
    """Attention weights returned after dropout, as they are from a module in training mode."""
    p = np.exp((z - z.max(axis, keepdims=True)) / temperature)
    return dropout(p / p.sum(axis, keepdims=True), 0.2)


def one_key():
    found = {float(dropped_weights(np.zeros((1, 1)))[0, 0]) for _ in range(60)}
    assert found == {0.0, 1.25}


CASES = {
    "MH8": [  # 'weights returned after dropout': as softmax they are random, and as dropout of softmax right
        one_key,
        Judged("softmax", dropped_weights, "inconclusive", says=("random, not wrong", "switch off dropout")),
        Judged(NAME, Dropout(), "pass", probes=FEW),
    ],
    "MH9": [
        Judged(NAME, Dropout(always=True), "fail", ("active_at_evaluation",), ("at options where nothing is random",), probes=FEW),
    ],
}  # fmt: skip
