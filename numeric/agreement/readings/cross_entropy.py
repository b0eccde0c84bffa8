"""Cross-entropy is read as numeric.layers.cross_entropy.forward, which has one target class a row.

The loss is linear in the targets, so that of any targets y is made of those of the classes c, one row each,

    cross_entropy(z, y) = sum_c y_c L_c        cross_entropy(z, smoothed(y, e)) = sum_c y_c L_c(e) + e (1 - sum_c y_c) mean_c L_c

where L_c(e) is the layer's loss with the smoothing e, 0 <= e <= 1. The mean over rows is read whole where it is one of the layer's:
weights 0 (the row is ignored) and 1, and targets that name a class.
"""

from collections.abc import Sequence

import numpy as np
from flint import arb

from proofs.terms import Term
from proofs.theorems.loss import cross_entropy as of_one_row
from proofs.theorems.loss import smoothed
from proofs.theorems.loss_rows import masked_loss

from ...checker.rounding import Rounded
from ...layers import cross_entropy
from ..arrays import applied, array, full
from ..bounds import chosen, exact, moved
from ..calls import LayerFunction
from ..differentials import LayerFunctions
from ..evaluation import Environment, Evaluation, parameters
from ..tape import ONE, ZERO, Number, add, inner_product, multiply, total

LAYER = cross_entropy
IGNORED = -100

Targets = tuple[int, ...]


def _forward(z: np.ndarray, e: np.ndarray, *, targets: Targets) -> np.ndarray:
    return cross_entropy.forward(z, np.array(targets), IGNORED, e.item())[0]


def _backward(z: np.ndarray, e: np.ndarray, dloss: np.ndarray, *, targets: Targets) -> np.ndarray:
    return cross_entropy.backward(dloss, cross_entropy.forward(z, np.array(targets), IGNORED, e.item())[1])


def _counted(z: Rounded, targets: Targets) -> tuple[Rounded, np.ndarray, np.ndarray]:
    """The shifted logits of the rows that count, which rows these are, and where each has its target."""
    t = np.array(targets)
    counted = t != IGNORED
    shifted = moved(z, lambda x: x[counted]).below_maximum(-1)
    return shifted, counted, np.arange(z.value.shape[-1]) == t[counted][:, None]


def forward_bound(z: Rounded, e: Rounded, *, targets: Targets) -> Rounded:
    shifted, counted, at_target = _counted(z, targets)
    losses = -(exact(1, z) - e) * chosen(at_target, shifted, 0.0).sum(-1)
    if e.value > 0:
        losses = losses - e * shifted.sum(-1) / exact(z.value.shape[-1], z)
    of_rows = shifted.exp().sum(-1).log() + losses
    return moved(of_rows.sum(0) / exact(counted.sum(), z), lambda x: x[0, 0])


def backward_bound(z: Rounded, e: Rounded, dloss: Rounded, *, targets: Targets) -> Rounded:
    shifted, counted, at_target = _counted(z, targets)
    powers = shifted.exp()
    asked = exact(at_target, z) * (exact(1, z) - e)
    rows = powers / powers.sum(-1) - e / exact(z.value.shape[-1], z) - asked
    rows = rows * (dloss / exact(counted.sum(), z))

    def with_ignored(part: np.ndarray) -> np.ndarray:
        whole = np.zeros(z.value.shape)
        whole[counted] = part
        return whole

    return moved(rows, with_ignored)


FUNCTIONS = LayerFunctions(
    LayerFunction("cross_entropy.forward", _forward, forward_bound),
    LayerFunction("cross_entropy.backward", _backward, backward_bound),
)


def _losses(evaluation: Evaluation, z: Term, e: arb, environment: Environment) -> list[Number]:
    """L_c(e) for every class c."""
    logits = array(evaluation, z, environment)
    found = (
        applied(evaluation, FUNCTIONS, [logits[None]], [np.asarray(e, dtype=object)], targets=(c,))
        for c in range(len(logits))
    )
    return [loss.item() for (loss,) in found]


def _read(evaluation: Evaluation, application: Term, environment: Environment) -> Number:
    z, y = parameters(application)
    plain = evaluation.shared("losses", (z,), environment, lambda: _losses(evaluation, z, ZERO, environment))
    body = y.args[-1]
    e = _smoothing(evaluation, body, environment)
    if e is None:
        return inner_product(evaluation.vector(y, environment), plain)
    targets = evaluation.vector(parameters(body)[0], (*environment, 0))  # whichever class y is asked for
    missing = add(ONE, multiply(arb(-1), total(targets)))
    uniform = multiply(1 / arb(len(plain)), total(plain))
    hard = inner_product(targets, _losses(evaluation, z, e, environment))
    return add(hard, multiply(e, multiply(missing, uniform)))


def _smoothing(evaluation: Evaluation, body: Term, environment: Environment) -> arb | None:
    """The share e of targets that are spelled smoothed(y, e), where the layer has it."""
    if body.op != "apply" or body.data is not smoothed:
        return None
    e = evaluation.number(parameters(body)[1], (*environment, 0))
    return e if isinstance(e, arb) and e >= 0 and e <= 1 else None


def _read_mean(evaluation: Evaluation, application: Term, environment: Environment) -> Number | None:
    weights, logits, classes = parameters(application)
    w, Y = (array(evaluation, each, environment) for each in (weights, classes))
    targets = [_target(weight, row) for weight, row in zip(w, Y, strict=True)]
    if None in targets:
        return None
    Z = array(evaluation, logits, environment)
    return applied(evaluation, FUNCTIONS, [Z], [full((), ZERO)], targets=tuple(targets))[0].item()


def _target(weight: Number, row: Sequence[Number]) -> int | None:
    """The class of a row that has one and weighs 1, IGNORED for a row that weighs 0; None where it is neither."""
    numbers = [each for each in (weight, *row) if isinstance(each, arb)]
    if numbers and numbers[0] is weight and weight.is_zero():
        return IGNORED
    named = [c for c, each in enumerate(row) if each == 1]
    exact = len(numbers) == 1 + len(row) and all(each == 1 or each.is_zero() for each in numbers)
    return named[0] if exact and len(named) == 1 and weight == 1 else None


READINGS = {of_one_row: _read, masked_loss: _read_mean}
