"""Moments, their correction, the steps of Adam and its learning rate are read as the functions of numeric.optimizer of those names."""

from functools import partial

import numpy as np

from proofs.terms import Term
from proofs.theorems.training import adam_step, average, corrected
from proofs.theorems.training_schedule import learning_rate, minimum

from ... import optimizer
from ...checker.rounding import Rounded
from ..arrays import applied
from ..bounds import exact
from ..calls import LayerFunction
from ..differentials import LayerFunctions
from ..evaluation import Environment, Evaluation, Read, parameters
from ..tape import Number

LAYER = optimizer


def _average(beta: np.ndarray, moment: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    return optimizer.average(beta.item(), moment, gradient)


def _average_bound(beta: Rounded, moment: Rounded, gradient: Rounded) -> Rounded:
    return moment + (exact(1, beta) - beta) * (gradient - moment)


def _corrected(moment: np.ndarray, power: np.ndarray) -> np.ndarray:
    return optimizer.corrected(moment, power.item())


def _corrected_bound(moment: Rounded, power: Rounded) -> Rounded:
    return moment / (exact(1, power) - power)


def _adam_step(rate: np.ndarray, eps: np.ndarray, m: np.ndarray, v: np.ndarray) -> np.ndarray:
    return optimizer.adam_step(rate.item(), eps.item(), m, v)


def _root(x: Rounded) -> Rounded:
    return x ** exact(0.5, x)


def _adam_step_bound(rate: Rounded, eps: Rounded, m: Rounded, v: Rounded) -> Rounded:
    return -rate * m / (_root(v) + eps)


def _learning_rate(d: np.ndarray, w: np.ndarray, s: np.ndarray) -> np.ndarray:
    return np.asarray(optimizer.learning_rate(d.item(), w.item(), s.item()))


def _learning_rate_bound(d: Rounded, w: Rounded, s: Rounded) -> Rounded:
    return _minimum_bound(exact(1, s) / _root(s), s / (w * _root(w))) / _root(d)


def _minimum(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.asarray(optimizer.minimum(x.item(), y.item()))


def _minimum_bound(x: Rounded, y: Rounded) -> Rounded:
    """It moves at most as far as the one of the two that moves farther."""
    worst, square = (np.maximum(getattr(x, part), getattr(y, part)) for part in ("worst", "square"))
    return Rounded(np.minimum(x.value, y.value), worst, square, x.precision)


FUNCTIONS = {
    average: LayerFunction("optimizer.average", _average, _average_bound),
    corrected: LayerFunction("optimizer.corrected", _corrected, _corrected_bound),
    adam_step: LayerFunction("optimizer.adam_step", _adam_step, _adam_step_bound),
    learning_rate: LayerFunction("optimizer.learning_rate", _learning_rate, _learning_rate_bound),
    minimum: LayerFunction("optimizer.minimum", _minimum, _minimum_bound),
}


def _read(function: LayerFunction, evaluation: Evaluation, application: Term, environment: Environment) -> Number:
    numbers = (np.asarray(evaluation.number(each, environment), dtype=object) for each in parameters(application))
    return applied(evaluation, LayerFunctions(function), numbers)[0].item()


READINGS: dict[object, Read] = {definition: partial(_read, function) for definition, function in FUNCTIONS.items()}
