"""The errors of three layer normalisations in float32 in units of what rounding allows, as the checker finds them.

One is right, one is right on paper and loses its digits, one is wrong. All three are judged by `numeric.checker.check`.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from ..checker.contracts import contract_named
from ..checker.drawing import told
from ..checker.kill_matrix import Implementation, planted
from ..checker.run import check
from ..checker.verdict import Verdict
from .axes import Scale, powers_of_ten
from .catalogue import Words
from .drawing import Drawing
from .figure import Figure

CONTRACT, DTYPE = "layer_norm", "float32"
KINDS = (  # of an implementation: the mistake in it, and how its probes are marked
    ("right", None, "circle", "one"),
    ("unstable", "layer_norm.one_pass_variance", "triangle", "ink"),
    ("wrong", "layer_norm.unbiased_variance", "square", "two"),
)
TOP, LANE, BAND = 32.0, 66.0, 42.0  # where the lanes begin, their height, and how much of it the marks have
NOTHING, INFINITE = 14.0, 346.0  # where no error at all stands, and an infinite one


class Judged(NamedTuple):
    """`ratios` are the largest error of each probe by its allowance."""

    verdict: Verdict
    mistakes: tuple[str, ...]
    ratios: dict[str, float]

    @property
    def beyond(self) -> int:
        """How many probes have an error that rounding does not explain."""
        return sum(ratio > 1 for ratio in self.ratios.values())


def judged(mistake: str | None, seed: int) -> Judged:
    """The verdict on our own layer, or on one with this mistake."""
    report = check(CONTRACT, implementation(mistake), adapter="numpy", dtype=DTYPE, seed=seed)
    return Judged(report.verdict, report.mistakes, report.pictures["values"].ratios)


def implementation(mistake: str | None) -> Implementation:
    contract = contract_named(CONTRACT)
    if mistake is None:
        return lambda *inputs, **options: contract.layer(*inputs, **options)[0]
    [known] = [each for each in contract.mistakes if each.id == mistake]
    return planted(contract, known, DTYPE)[0]


def draw(words: Words, seed: int) -> Drawing:
    drawing = Drawing(TOP + LANE * len(KINDS) + 42)
    found = [judged(mistake, seed) for _, mistake, _, _ in KINDS]
    x = _scale(found)
    _axis(drawing, words, x, {_place(x, ratio) for each in found for ratio in each.ratios.values()})
    for lane, ((kind, _, shape, colour), each) in enumerate(zip(KINDS, found, strict=True)):
        top = TOP + LANE * (lane + 1) - BAND
        verdict = words(f"verdict.{each.verdict}")
        drawing.label(4, top - 8, words(f"error_allowances.{kind}", verdict=verdict))
        step = (BAND - 10) / (len(each.ratios) - 1)
        for number, (probe, ratio) in enumerate(each.ratios.items()):
            place = _place(x, ratio), top + 5 + step * number
            drawing.mark(shape, place, f"{colour} full", f"{probe}: {told(ratio)}")
    probes, unstable, wrong = len(found[0].ratios), found[1].beyond, found[2].beyond
    names = ", ".join(name for each in found for name in each.mistakes)
    drawing.numbers.update(probes=f"{probes}", unstable=f"{unstable}", wrong=f"{wrong}", names=names)
    return drawing


def _scale(found: Sequence[Judged]) -> Scale:
    """Of all decades in which there is an error, neither 0 nor infinite."""
    finite = [ratio for each in found for ratio in each.ratios.values() if 0 < ratio < math.inf]
    low, high = math.floor(math.log10(min(finite))), math.ceil(math.log10(max(finite)))
    return Scale(10.0**low, 10.0**high, 36, 324, logarithmic=True)


def _place(x: Scale, ratio: float) -> float:
    if ratio == 0:
        return NOTHING
    return INFINITE if math.isinf(ratio) else x.at(ratio)


def _axis(drawing: Drawing, words: Words, x: Scale, used: set[float]) -> None:
    """Behind the marks of each lane; the allowance, 1, stands out."""
    bottom = TOP + LANE * len(KINDS)
    low, high = (round(math.log10(each)) for each in (x.low, x.high))
    for value, text in powers_of_ten([k for k in range(low, high + 1) if k % 2 == 0]):
        for lane in range(len(KINDS)):
            end = TOP + LANE * (lane + 1)
            drawing.line((x.at(value), end - BAND), (x.at(value), end), "ink dashed" if value == 1 else "grid")
        drawing.label(x.at(value), bottom + 14, text, "soft", "middle", "small")
    for place, text in ((NOTHING, "0"), (INFINITE, "∞")):
        if place in used:
            drawing.label(place, bottom + 14, text, "soft", "middle", "small")
    drawing.label((x.start + x.end) / 2, bottom + 32, words("error_allowances.allowance"), anchor="middle")


FIGURE = Figure(
    "error_allowances",
    ("layer_norm.variance", "layer_norm.shift_invariance", "layer_norm_scale.unbiased_variance_ratio"),
    draw,
)
