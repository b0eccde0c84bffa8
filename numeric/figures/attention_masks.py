"""What attention masks keep: causal, padding, and both."""

import numpy as np

from ..layers import masking
from .catalogue import Words
from .drawing import Drawing
from .figure import Figure

PAD = 0
TOKENS = np.array([5, 7, 9, 3, 4, PAD, PAD, PAD])


def masks() -> dict[str, np.ndarray]:
    """(n, n) each, True where the query of a row keeps the key of a column."""
    n = len(TOKENS)
    causal = masking.causal(n)
    padding = np.broadcast_to(masking.padding(TOKENS, PAD), (n, n))
    return {"causal": causal, "padding": padding, "both": masking.both(causal, padding)}


def draw(words: Words, seed: int) -> Drawing:
    drawing, size, n = Drawing(210), 12.0, len(TOKENS)
    top = 70.0
    drawing.label(4, 36, words("attention_masks.axes"), "soft", size="small")
    for place, (name, keep) in enumerate(masks().items()):
        left = 22 + place * 115.0
        drawing.label(left + size * n / 2, top - 8, words(f"attention_masks.{name}"), anchor="middle")
        for (i, j), kept in np.ndenumerate(keep):
            corner = left + size * j, top + size * i
            if kept:
                drawing.rectangle((corner[0] + 0.5, corner[1] + 0.5), size - 1, size - 1, "one full")
            else:
                drawing.circle((corner[0] + size / 2, corner[1] + size / 2), 1.2, "faint full")
        for j, token in enumerate(TOKENS.tolist()):
            if token == PAD:
                drawing.line(
                    (left + size * j + 2, top + size * n + 4), (left + size * (j + 1) - 2, top + size * n + 4), "two"
                )
        drawing.label(left + size * n, top + size * n + 17, words("attention_masks.pad"), "soft", "end", "small")
    bottom = top + size * n + 24
    drawing.rectangle((22, bottom), size - 1, size - 1, "one full")
    drawing.label(38, bottom + 10, words("attention_masks.kept"))
    drawing.circle((122, bottom + 6), 1.2, "faint full")
    drawing.label(130, bottom + 10, words("attention_masks.dropped"))
    padded = int((TOKENS == PAD).sum())
    drawing.numbers.update(n=f"{n}", padded=f"{padded}", left=f"{n - padded}")
    return drawing


FIGURE = Figure(
    "attention_masks",
    (
        "masking.zero_weight_on_masked",
        "masking.masked_weights_sum_to_one",
        "causal_masking.causal_output_ignores_future",
        "masked_attention.extra_padding_changes_nothing",
    ),
    draw,
)
