"""A lookup is read as numeric.layers.embedding.forward, where every token stands twice, as the mean of its two outputs.

So the backward pass has cotangents to add up.
"""

from functools import partial

import numpy as np
from flint import arb

from proofs.terms import Term

from ...checker.rounding import Rounded
from ...layers import embedding
from ..arrays import applied, array
from ..bounds import moved, root
from ..calls import LayerFunction
from ..differentials import LayerFunctions
from ..evaluation import Environment, Evaluation, Read, parameters
from ..folded import lookup, scaled_lookup
from ..tape import Number, add, multiply

LAYER = embedding

Tokens = tuple[int, ...]


def _forward(table: np.ndarray, *, tokens: Tokens, scaled: bool) -> np.ndarray:
    return embedding.forward(table, np.array(tokens), scaled)[0]


def _backward(table: np.ndarray, dy: np.ndarray, *, tokens: Tokens, scaled: bool) -> np.ndarray:
    return embedding.backward(dy, embedding.forward(table, np.array(tokens), scaled)[1])


def _forward_bound(table: Rounded, *, tokens: Tokens, scaled: bool) -> Rounded:
    rows = moved(table, lambda x: x[list(tokens)])
    return rows * root(table.value.shape[1], table) if scaled else rows


def _backward_bound(table: Rounded, dy: Rounded, *, tokens: Tokens, scaled: bool) -> Rounded:
    named = np.array(tokens) == np.arange(len(table.value))[:, None]
    # a row of zeros and ones for each row of the table; sums of so few terms in any order
    gathered = moved(dy, lambda x: np.where(named[:, :, None], x[None], 0.0)).sum(1)
    sums = moved(gathered, lambda x: x[:, 0])
    return sums * root(table.value.shape[1], table) if scaled else sums


FUNCTIONS = LayerFunctions(
    LayerFunction("embedding.forward", _forward, _forward_bound),
    LayerFunction("embedding.backward", _backward, _backward_bound),
)


def _read(scaled: bool, evaluation: Evaluation, application: Term, environment: Environment) -> Number:
    table_term, row, column = parameters(application)

    def compute() -> np.ndarray:
        table = array(evaluation, table_term, environment)
        tokens = (*range(len(table)), *reversed(range(len(table))))
        return applied(evaluation, FUNCTIONS, [table], tokens=tokens, scaled=scaled)[0]

    output = evaluation.shared(f"embedding, scaled {scaled}", (table_term,), environment, compute)
    place, feature = evaluation.place(row, environment), evaluation.place(column, environment)
    return multiply(1 / arb(2), add(output[place, feature], output[len(output) - 1 - place, feature]))


READINGS: dict[object, Read] = {lookup: partial(_read, False), scaled_lookup: partial(_read, True)}
