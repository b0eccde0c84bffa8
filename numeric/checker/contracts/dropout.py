"""dropout: x -> keep x / (1 - p) while training, where each entry of keep is 1 with probability 1 - p, else 0; x otherwise.

Which entries were kept is read off the output, whose other entries are 0; the probes have no 0 among their inputs. So each output
is judged exactly for its own mask, and so is the gradient of that very call; a backward written by hand is called right after its
forward. The law of the masks is judged by means over large outputs of two calls: the share kept, and how often neighbours along
either axis, and the two calls, agree, which is p^2 + (1 - p)^2 where all are independent.

The bound admits x / (1 - p), and x times the reciprocal, with 1 - p taken in the dtype or before it is rounded to it.
"""

from collections.abc import Sequence

import numpy as np

from ...layers import dropout
from ..contract import Bench, Contract, Input, Option, Options, Probe, Property, Pullback, Residual
from ..formats import Format, Precision
from ..rounding import Rounded, any_of
from ..statistic import Statistic
from ._dropout_mistakes import FITS, MEAN, MISTAKES, VARIANCE, drawn_mask

SIDE = 1024  # of the square outputs by which a law is judged
SHAPE = (17, 19)  # large enough for a mask that drops nothing by chance to be out of the question


def rescaled_or_dropped(bench: Bench, rng: np.random.Generator) -> Residual:
    """y (y (1 - p) - x) = 0 while training."""
    x = bench.rounded(_entries(rng, SHAPE))
    y, allowed = bench.output(x, training=True)
    kept = 1 - bench.options["p"]
    return y * (y * kept - x), np.abs(y) * kept * allowed + 4 * 2.0**-53 * np.abs(y) * (np.abs(x) + np.abs(y))


def identity_at_evaluation(bench: Bench, rng: np.random.Generator) -> Residual:
    x = bench.rounded(_entries(rng, SHAPE))
    y, allowed = bench.output(x, training=False)
    return y - x, allowed


def identity_gradient_at_evaluation(bench: Bench, rng: np.random.Generator) -> Residual:
    x, dy = (bench.rounded(_entries(rng, SHAPE)) for _ in range(2))
    [(dx, allowed)] = bench.gradients(dy, x, training=False)
    return dx - dy, allowed


class Dropout(Contract):
    name = "dropout"
    summary = "each entry dropped with probability p, or kept and divided by 1 - p, while training; as it is otherwise"
    inputs = (Input("x", "(...)"),)
    output = "(...), like x"
    options = (
        Option("p", 0.1, (0.0, 0.1, 0.5), "the probability with which an entry is dropped"),
        Option("training", True, (True, False), "whether entries are dropped at all"),
    )
    gradient_theorem = "dropout.gradient_is_masked_cotangent"
    mistakes = MISTAKES
    fits = FITS

    def layer(
        self,
        x: np.ndarray,
        *,
        p: float,
        training: bool,
        keep: np.ndarray | None = None,
        keep_dx: np.ndarray | None = None,
    ) -> tuple[np.ndarray, Pullback]:
        """For the mask that was drawn; `keep_dx`, that of the gradient, is for the formulas of mistakes."""
        kept = np.ones(x.shape, bool) if keep is None or not training else keep
        y, cache = dropout.forward(x, kept, p if training else 0.0)
        return y, lambda dy: (dropout.backward(dy, cache),)

    def bound(
        self,
        precision: Precision,
        x: np.ndarray,
        *,
        p: float,
        training: bool,
        keep: np.ndarray | None = None,
        keep_dx: np.ndarray | None = None,
    ) -> Rounded:
        given = Rounded.exact(x if keep is None or not training else x * keep, precision)
        if not training or p == 0:
            return given
        before = Rounded.given(1 - p, precision)
        within = Rounded.exact(1.0, precision) - Rounded.given(p, precision)
        ways = [given / before, given / within]
        ways += [given * share.reciprocal() for share in (before, within)]
        return any_of([*ways, given * Rounded.given(1 / (1 - p), precision)]).returned()

    def gradient_bounds(
        self,
        precision: Precision,
        dy: np.ndarray,
        x: np.ndarray,
        *,
        p: float,
        training: bool,
        keep: np.ndarray | None = None,
        keep_dx: np.ndarray | None = None,
    ) -> tuple[Rounded, ...]:
        return (self.bound(precision, dy, p=p, training=training, keep=keep),)

    def random(self, *, p: float, training: bool) -> bool:
        return training and p > 0

    def drawn(
        self, output: np.ndarray, gradients: Sequence[np.ndarray], x: np.ndarray, *, p: float, training: bool
    ) -> Options:
        keep_dx = gradients[0] if gradients else output
        return {"keep": output != 0, "keep_dx": keep_dx != 0}

    def draw(self, rng: np.random.Generator, x: np.ndarray, *, p: float, training: bool) -> Options:
        return {"keep": drawn_mask(rng, x.shape, p), "keep_dx": drawn_mask(rng, x.shape, p)}

    def draws(self, rng: np.random.Generator, form: Format, options: Options) -> list[Probe]:
        x = _entries(rng, (SIDE, SIDE))
        rates = dict.fromkeys((options["p"], 0.1, 0.5))
        return [Probe(f"draws ({SIDE}, {SIDE}), p = {p!r}", (x,), {"p": p, "training": True}) for p in rates if p > 0]

    def statistics(
        self, outputs: Sequence[np.ndarray], x: np.ndarray, *, p: float, training: bool
    ) -> tuple[Statistic, ...]:
        """Neighbours are paired off, so that the pairs are independent."""
        first, second = (output != 0 for output in outputs[:2])
        agree = p**2 + (1 - p) ** 2
        along_last = first[:, 0::2] == first[:, 1::2]
        along_first = first[0::2] == first[1::2]
        return (
            Statistic("share of entries kept", MEAN, first.mean(), 1 - p, first.size),
            Statistic(
                "share of neighbours along the last axis that are both kept or both dropped",
                VARIANCE,
                along_last.mean(),
                agree,
                along_last.size,
                2.0,
            ),
            Statistic(
                "share of neighbours along the first axis that are both kept or both dropped",
                VARIANCE,
                along_first.mean(),
                agree,
                along_first.size,
                2.0,
            ),
            Statistic(
                "share of entries that two calls both keep or both drop",
                VARIANCE,
                (first == second).mean(),
                agree,
                first.size,
                2.0,
            ),
        )

    def generic(self, rng: np.random.Generator, form: Format, options: Options) -> list[Probe]:
        return [Probe(f"generic {SHAPE}", (_entries(rng, SHAPE),))]

    def structured(self, rng: np.random.Generator, form: Format, options: Options) -> list[Probe]:
        large, small = form.largest / 8, 8 * form.tiny
        probes = [
            Probe("ones", (np.ones(SHAPE),)),
            Probe("one key", (np.ones((1, 1)),)),
            Probe("large", (large * rng.uniform(0.5, 1.0, (5, 3)),)),
            Probe("small", (small * rng.uniform(1.0, 2.0, (5, 3)),)),
            Probe("one entry", (_entries(rng, (1,)),)),
            Probe("one axis (311,)", (_entries(rng, (311,)),)),
            Probe("four axes", (_entries(rng, (2, 3, 5, 7)),)),
        ]
        layouts = ("strided", "read-only")
        return probes + [Probe(layout, (_entries(rng, SHAPE),), layout=layout) for layout in layouts]

    properties = (
        Property(
            "rescaled or dropped",
            MEAN,
            "an output is neither 0 nor x / (1 - p) while training",
            rescaled_or_dropped,
            options=("training",),
        ),
        Property(
            "identity at evaluation",
            "dropout.rate_zero_is_identity",
            "without training the output is not the input",
            identity_at_evaluation,
            options=("training",),
        ),
        Property(
            "gradient at evaluation",
            "dropout.rate_zero_is_identity",
            "without training the gradient is not the cotangent",
            identity_gradient_at_evaluation,
            of_gradient=True,
            options=("training",),
        ),
    )


def _entries(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """From 0.5 to 2, of either sign: none is 0."""
    return np.asarray(rng.choice([-1.0, 1.0], shape) * rng.uniform(0.5, 2.0, shape))


CONTRACT = Dropout()
