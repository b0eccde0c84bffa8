"""The drawn masks: who keeps whom, and that a dropped key has no weight."""

import numpy as np
import pytest

from numeric.figures import attention_masks as figure
from numeric.figures.catalogue import Words
from numeric.layers import masking

from .reading_svg import centre, of_kind

N = len(figure.TOKENS)


def assert_masks():
    masks = figure.masks()
    for i in range(N):
        for j in range(N):
            past, word = j <= i, figure.TOKENS[j] != figure.PAD
            assert [masks[name][i, j] for name in ("causal", "padding", "both")] == [past, word, past and word]


def test_the_masks_keep_what_they_should():
    assert_masks()


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("causal", lambda n: np.tri(n, k=-1, dtype=bool)),
        ("causal", lambda n: np.tri(n, dtype=bool).T),
        ("padding", lambda tokens, pad: (tokens == pad)[None]),
        ("both", lambda one, other: one | other),
    ],
    ids=["without the diagonal", "the future", "the padding alone", "either"],
)
def test_a_wrong_mask_is_seen(monkeypatch, name, wrong):
    monkeypatch.setattr(masking, name, wrong)
    with pytest.raises(AssertionError):
        assert_masks()


@pytest.mark.parametrize("name", ["causal", "padding", "both"])
def test_dropped_keys_have_weight_0_and_the_others_sum_to_1(name):
    keep = figure.masks()[name]
    weights, _ = masking.forward(np.random.default_rng(0).standard_normal((N, N)), keep)
    assert ((weights == 0) == ~keep).all()
    # (n - 1) u for the sum of the weights, and n + 2 roundings of what each of them is: N. J. Higham, section 3.1
    assert np.abs(weights.sum(-1) - 1).max() <= 2 * (N + 1) * 2.0**-53


def test_each_cell_is_drawn_as_kept_or_dropped():
    drawing = figure.draw(Words("en"), 0)
    squares, dots = (
        {centre(each) for each in of_kind(drawing, tag, kind)} for tag, kind in (("rect", "one"), ("circle", "faint"))
    )
    for place, keep in enumerate(figure.masks().values()):
        for (i, j), kept in np.ndenumerate(keep):
            cell = 22 + 115 * place + 12 * (j + 0.5), 70 + 12 * (i + 0.5)
            assert cell in (squares if kept else dots) and cell not in (dots if kept else squares)
    count = sum(int(keep.sum()) for keep in figure.masks().values())
    assert (len(squares), len(dots)) == (count + 1, 3 * N * N - count + 1)  # one more each in the legend
