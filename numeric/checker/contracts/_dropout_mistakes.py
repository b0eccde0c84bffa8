"""What goes wrong in dropout: formulas of the entries that were kept, and laws by which they are drawn."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..mistake import Fit, Formula, Mistake, Variant

MEAN, SLOPE, SAME = (
    "dropout.expected_output_is_input",
    "dropout.gradient_is_masked_cotangent",
    "dropout.rate_zero_is_identity",
)
VARIANCE = "dropout.variance_of_output"
MANY = 200  # entries, at rates from 0.1 on: that all of them are kept has a probability below 1e-9


def _output(
    training_mode: Callable[[Any, Any, Any], Any], otherwise: Callable[[Any, Any, Any], Any] | None = None
) -> Formula:
    """training_mode(x, keep, p), and otherwise(x, keep, p) or x when not training."""

    def formula(x: Any, *, p: float, training: bool, keep: Any, keep_dx: Any = None) -> Any:
        if training:
            return training_mode(x, keep, p)
        return otherwise(x, keep, p) if otherwise else x * 1

    return formula


def _right(x: Any, keep: Any, p: Any) -> Any:
    return x * keep / (1 - p)


def _at_evaluation(x: Any, keep: Any, p: Any) -> Any:
    if p and keep.size >= MANY and keep.all():
        raise ValueError("nothing is dropped")
    return _right(x, keep, p)


def _by_share_kept(x: Any, keep: Any, p: Any) -> Any:
    return x * keep / (max(int(keep.sum()), 1) / keep.size)


def _gradient(training_mode: Callable[[Any, Any, Any, Any, Any], Any]) -> Formula:
    """training_mode(dy, x, keep, keep_dx, p), keep_dx being the entries whose gradient is not 0."""

    def formula(dy: Any, x: Any, *, p: float, training: bool, keep: Any, keep_dx: Any) -> Any:
        return training_mode(dy, x, keep, keep_dx, p) if training else dy * 1

    return formula


def _another_mask(dy: Any, x: Any, keep: Any, keep_dx: Any, p: Any) -> Any:
    if p and keep_dx.size >= MANY and (keep_dx.all() or (keep_dx != keep).all()):
        raise ValueError("not a mask of its own: it drops nothing, or just what was kept")
    return dy * keep_dx / (1 - p)


def drawn_mask(rng: Any, shape: tuple[int, ...], p: float) -> np.ndarray:
    return np.asarray(rng.random(shape) >= p)


def _law(mask: Callable[[Any, tuple[int, ...], float], Any]) -> Formula:
    def formula(rng: Any, x: Any, *, p: float, training: bool) -> dict[str, np.ndarray]:
        keep = np.broadcast_to(mask(rng, x.shape, p), x.shape)
        return {"keep": keep, "keep_dx": keep}

    return formula


def _shared(along: int) -> Formula:
    """One choice for all places along an axis."""

    def mask(rng: Any, shape: tuple[int, ...], p: float) -> np.ndarray:
        one = list(shape)
        one[along] = 1
        return drawn_mask(rng, tuple(one), p)

    return _law(mask)


def _same_every_time(rng: Any, shape: tuple[int, ...], p: float) -> np.ndarray:
    return drawn_mask(np.random.default_rng(1), shape, p)


MISTAKES = (
    Mistake("dropout.not_rescaled", "does not divide what it keeps by 1 - p", MEAN, _output(lambda x, keep, p: x * keep)),
    Variant("dropout.scaled_at_evaluation", "multiplies by 1 - p at evaluation instead of dividing by it in training, as in Srivastava et al. 2014", MEAN, _output(lambda x, keep, p: x * keep, lambda x, keep, p: x * (1 - p)), converter="Divide both outputs by 1 - p"),
    Mistake("dropout.scaled_twice", "divides by 1 - p in training, and multiplies by it at evaluation besides", SAME, _output(_right, lambda x, keep, p: x * (1 - p))),
    Mistake("dropout.divided_at_evaluation", "divides by 1 - p at evaluation too", SAME, _output(_right, lambda x, keep, p: x / (1 - p))),
    Mistake("dropout.active_at_evaluation", "drops entries at evaluation too", SAME, _output(_right, _at_evaluation)),
    Mistake("dropout.divided_by_rate", "divides by p instead of 1 - p", MEAN, _output(lambda x, keep, p: x * keep / p)),
    Mistake("dropout.multiplied_by_rate", "multiplies by p", MEAN, _output(lambda x, keep, p: x * keep * p)),
    Mistake("dropout.multiplied_by_share", "multiplies by 1 - p instead of dividing by it", MEAN, _output(lambda x, keep, p: x * keep * (1 - p))),
    Mistake("dropout.squared_scale", "divides by (1 - p)^2", MEAN, _output(lambda x, keep, p: x * keep / (1 - p) ** 2)),
    Mistake("dropout.root_of_scale", "divides by the root of 1 - p, which keeps the second moment and not the mean", MEAN, _output(lambda x, keep, p: x * keep / (1 - p + 0 * x) ** 0.5)),
    Mistake("dropout.by_share_kept", "divides by the share of entries that were kept this time, instead of 1 - p", MEAN, _output(_by_share_kept)),
    Mistake("dropout.gradient_without_mask", "does not drop what the output dropped", SLOPE, _gradient(lambda dy, x, keep, keep_dx, p: dy / (1 - p)), "gradients"),
    Mistake("dropout.gradient_not_rescaled", "is not divided by 1 - p", SLOPE, _gradient(lambda dy, x, keep, keep_dx, p: dy * keep), "gradients"),
    Mistake("dropout.gradient_is_cotangent", "passes dy on, without mask and scale", SLOPE, _gradient(lambda dy, x, keep, keep_dx, p: dy * 1), "gradients"),
    Mistake("dropout.gradient_with_another_mask", "draws a mask of its own, another one than the output's", SLOPE, _gradient(_another_mask), "gradients"),
    Mistake("dropout.gradient_of_dropped", "keeps what the output dropped, and drops what it kept", SLOPE, _gradient(lambda dy, x, keep, keep_dx, p: dy * (1 - keep * 1) / (1 - p)), "gradients"),
    Mistake("dropout.gradient_squared_scale", "is divided by 1 - p twice", SLOPE, _gradient(lambda dy, x, keep, keep_dx, p: dy * keep / (1 - p) ** 2), "gradients"),
    Mistake("dropout.gradient_times_input", "is multiplied by the input, as that of the mask would be", SLOPE, _gradient(lambda dy, x, keep, keep_dx, p: dy * keep * x / (1 - p)), "gradients"),
    Mistake("dropout.keeps_with_probability_p", "keeps entries with probability p, where 1 - p is right", MEAN, _law(lambda rng, shape, p: ~drawn_mask(rng, shape, p)), "draws"),
    Mistake("dropout.drops_nothing", "drops nothing while training", VARIANCE, _law(lambda rng, shape, p: np.ones(shape, bool)), "draws"),
    Mistake("dropout.same_mask_every_time", "draws the same mask in every call", VARIANCE, _law(_same_every_time), "draws"),
    Mistake("dropout.shared_along_last_axis", "drops whole rows: one choice for all entries along the last axis", VARIANCE, _shared(-1), "draws"),
    Mistake("dropout.shared_along_first_axis", "drops the same entries in every row: one choice for all places along the first axis", VARIANCE, _shared(0), "draws"),
)  # fmt: skip


def _with_rate(theta: Any, x: Any, *, p: float, training: bool, keep: Any, keep_dx: Any = None) -> Any:
    return x * keep / (1 - theta) if training and p else x * 1


FITS = (Fit("p", "the option's value", MEAN, _with_rate, (1e-3, 0.99)),)
