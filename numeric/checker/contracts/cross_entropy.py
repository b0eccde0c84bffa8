"""cross_entropy: logits (N, C), targets (N,) -> the mean over the N' rows that count of -sum_c y_ic log s_ic, a scalar.

y_ic = (1 - e) [c = t_i] + e / C with the smoothing e; a row whose target is `ignore_index` does not count. Which evaluation
orders the bound admits says `_cross_entropy_orders`. Where no row counts there is no mean, hence no reference and no such probe.
"""

import numpy as np

from ...layers import cross_entropy
from ..contract import Bench, Contract, Input, Option, Options, Probe, Property, Pullback, Residual
from ..formats import Format, Precision
from ..rounding import Rounded
from . import _targets
from ._cross_entropy_mistakes import FITS, MISTAKES
from ._cross_entropy_orders import gradient_bound, loss_bound
from ._targets import IGNORED

OWN_UNIT = 2.0**-53


def shift_invariance(bench: Bench, rng: np.random.Generator) -> Residual:
    targets = _targets.drawn_targets(rng, (4, 9), bench.options["ignore_index"])
    grid, shift = rng.integers(-12, 13, (4, 9)) / 4, {"float64": 1024.0, "float32": 128.0}.get(bench.format.name, 32.0)
    first, allowed = bench.output(grid, targets)
    second, allowed_shifted = bench.output(grid + shift, targets)
    return second - first, allowed + allowed_shifted


def equal_logits(bench: Bench, rng: np.random.Generator) -> Residual:
    """log C, whatever the targets."""
    targets = _targets.drawn_targets(rng, (4, 7), bench.options["ignore_index"])
    loss, allowed = bench.output(np.full((4, 7), 0.75), targets)
    return loss - np.log(7.0), allowed + 8 * OWN_UNIT * np.log(7.0)


def splits_of_a_batch(bench: Bench, rng: np.random.Generator) -> Residual:
    """N L = N_1 L_1 + N_2 L_2, with N_1 = 2 and N_2 = 5."""
    z, targets = _targets.drawn(bench, rng, (7, 5))
    whole, allowed = bench.output(z, targets)
    (first, allowed_first), (second, allowed_second) = (
        bench.output(z[part], targets[part]) for part in (slice(2), slice(2, None))
    )
    own = 8 * OWN_UNIT * 7 * abs(whole)
    return 7 * whole - 2 * first - 5 * second, 7 * allowed + 2 * allowed_first + 5 * allowed_second + own


def ignored_rows_do_not_matter(bench: Bench, rng: np.random.Generator) -> Residual:
    z, targets = _targets.drawn(bench, rng, (7, 5))
    padded = np.array(targets)
    padded[[1, 4, 6]] = IGNORED
    counted = padded != IGNORED
    alone, allowed_alone = bench.output(z[counted], targets[counted], ignore_index=IGNORED)
    among, allowed = bench.output(z, padded, ignore_index=IGNORED)
    return alone - among, allowed + allowed_alone


def permutation_of_classes(bench: Bench, rng: np.random.Generator) -> Residual:
    """A class that is ignored stays in its place."""
    z, targets = _targets.drawn(bench, rng, (4, 7))
    order = np.arange(7)
    moved = order != bench.options["ignore_index"]
    order[moved] = np.roll(order[moved], 3)
    first, allowed = bench.output(z, targets)
    second, allowed_permuted = bench.output(z[:, order], np.argsort(order)[targets])
    return second - first, allowed + allowed_permuted


def gradient_sums_to_zero(bench: Bench, rng: np.random.Generator) -> Residual:
    z, targets = _targets.drawn(bench, rng, (4, 7))
    [(dz, allowed)] = bench.gradients(bench.rounded(rng.standard_normal(())), z, targets)
    return dz.sum(-1), allowed.sum(-1) + 7 * OWN_UNIT * np.abs(dz).sum(-1)


def gradient_at_equal_logits(bench: Bench, rng: np.random.Generator) -> Residual:
    """(1 - e) (1 / C - [c = t]) / N."""
    targets = _targets.drawn_targets(rng, (4, 7), bench.options["ignore_index"])
    dloss, e = bench.rounded(np.asarray(rng.uniform(0.5, 2))), bench.options["label_smoothing"]
    [(dz, allowed)] = bench.gradients(dloss, np.full((4, 7), 0.75), targets)
    expected = dloss * (1 - e) * (1 / 7 - np.eye(7)[targets]) / 4
    return dz - expected, allowed + 8 * OWN_UNIT * np.abs(expected)


class CrossEntropy(Contract):
    name = "cross_entropy"
    summary = "the mean over rows of -log softmax(logits) at the target, where rows may be ignored and targets smoothed"
    inputs = (Input("logits", "(N, C)"), Input("targets", "(N,)", floating=False))
    output = "()"
    options = (
        Option("ignore_index", None, (None, IGNORED), "rows with this target do not count", may_be_absent=True),
        Option("label_smoothing", 0.0, (0.0, 0.1), "the share of each target that goes to all classes alike"),
    )
    gradient_theorem = "loss_rows.valid_row_gradient"
    mistakes = MISTAKES
    fits = FITS

    def layer(
        self, logits: np.ndarray, targets: np.ndarray, *, ignore_index: int | None, label_smoothing: float
    ) -> tuple[np.ndarray, Pullback]:
        """Without ignore_index a target that is no class is an error."""
        absent = int(targets.min(initial=0)) - 1
        ignored = absent if ignore_index is None else ignore_index
        loss, cache = cross_entropy.forward(logits, targets, ignored, label_smoothing)
        return loss, lambda dloss: (cross_entropy.backward(dloss, cache),)

    def bound(
        self,
        precision: Precision,
        logits: np.ndarray,
        targets: np.ndarray,
        *,
        ignore_index: int | None,
        label_smoothing: float,
    ) -> Rounded:
        counted = _targets.counted(targets, ignore_index)
        return loss_bound(precision, logits[counted], targets[counted], label_smoothing).returned()

    def gradient_bounds(
        self,
        precision: Precision,
        dy: np.ndarray,
        logits: np.ndarray,
        targets: np.ndarray,
        *,
        ignore_index: int | None,
        label_smoothing: float,
    ) -> tuple[Rounded, ...]:
        counted = _targets.counted(targets, ignore_index)
        of_counted = gradient_bound(precision, dy, logits[counted], targets[counted], label_smoothing).returned()

        def among_zeros(part: np.ndarray) -> np.ndarray:
            whole = np.zeros(logits.shape)
            whole[counted] = part
            return whole

        return (of_counted.rearranged(among_zeros),)

    def generic(self, rng: np.random.Generator, form: Format, options: Options) -> list[Probe]:
        return _targets.generic(rng, options)

    def structured(self, rng: np.random.Generator, form: Format, options: Options) -> list[Probe]:
        return _targets.structured(rng, form, options)

    properties = (
        Property("shift invariance", "softmax.shift_invariance", "CE(z + c) = CE(z) fails", shift_invariance),
        Property(
            "equal logits",
            "loss_bounds.uniform_logits_give_log_of_classes",
            "with equal logits the loss is not log C",
            equal_logits,
        ),
        Property(
            "splits of a batch",
            "loss_reductions.overall_mean_weighs_the_batches",
            "N L = N_1 L_1 + N_2 L_2 fails: the loss is no mean over rows",
            splits_of_a_batch,
        ),
        Property(
            "ignored rows do not matter",
            "loss_ignored_rows.ignored_row_changes_nothing",
            "the loss changes when ignored rows are taken away",
            ignored_rows_do_not_matter,
            options=("ignore_index",),
        ),
        Property(
            "permutation of classes",
            "softmax.permutation_equivariance",
            "permuting the classes of logits and targets changes the loss",
            permutation_of_classes,
        ),
        Property(
            "gradient sums to 0",
            "softmax.sums_to_one",
            "the rows of the gradient do not sum to 0: s and y do not both sum to 1 there",
            gradient_sums_to_zero,
            of_gradient=True,
        ),
        Property(
            "gradient at equal logits",
            "loss.label_smoothing",
            "with equal logits the gradient is not (1 - e) (1 / C - [c = t]) / N",
            gradient_at_equal_logits,
            of_gradient=True,
        ),
    )


CONTRACT = CrossEntropy()
