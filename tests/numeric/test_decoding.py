# mypy: disable-error-code="arg-type"
# (wrong arguments are passed on purpose, to see what is said of them)
import itertools
from dataclasses import replace

import numpy as np
import pytest

from numeric import decoding, incremental, model
from numeric.decoding import beam_search, greedy, length_penalty
from numeric.layers import log_softmax
from numeric.parameters import map_leaves

from .small_models import BOS, CONFIGS, EOS, PAD, sample

DECODING = {name: config for name, config in CONFIGS.items() if config.form != "encoder"}
EVERY = pytest.mark.parametrize("config", DECODING.values(), ids=DECODING)
TRANSLATOR, WRITER = CONFIGS["encoder-decoder, post"], CONFIGS["decoder, pre"]
SOURCES = np.array([[3, 1, 4], [6, 3, PAD], [5, PAD, PAD], [4, 4, 6]])  # prompts, for a decoder-only model
LENGTH = 6
VARIED = {"encoder-decoder, post": 25, "encoder-decoder, pre": 39, "decoder, post": 64, "decoder, pre": 62}  # seeds


def parameters(config, seed=None):
    """With the seeds above the rows of SOURCES end at different lengths, and some not at all."""
    name = f"{config.form}, {config.norm}"
    return sample(config, VARIED[name] if seed is None else seed, np.float64)


def log_probabilities(params, source, tokens, config):
    """Of each token to come after these, from all of them at once; source and tokens are lists without pads."""
    if config.form == "decoder":
        z = model.logits(params, None, np.array([[BOS, *source, *tokens]]), config)
    else:
        z = model.logits(params, np.array([source]), np.array([[BOS, *tokens]]), config)
    return log_softmax.forward(z[0, -1])[0]


def one_after_another(params, source, config):
    """Greedy decoding of one sequence, all of it computed anew for each token."""
    tokens = []
    while len(tokens) < LENGTH and tokens[-1:] != [EOS]:
        likeliest = log_probabilities(params, source, tokens, config)
        likeliest[PAD] = -np.inf
        tokens.append(int(likeliest.argmax()))
    return tokens


def without_pads(row):
    return [int(token) for token in row if token != PAD]


@EVERY
def test_greedy_takes_the_likeliest_token_in_every_row(config):
    params = parameters(config)
    expected = [one_after_another(params, without_pads(row), config) for row in SOURCES]
    found = greedy(params, SOURCES, config, BOS, EOS, LENGTH)
    assert [without_pads(row) for row in found] == expected
    lengths = {len(tokens) for tokens in expected}
    assert found.shape == (4, LENGTH) and max(lengths) == LENGTH and len(lengths) > 2
    for row, tokens in zip(found, expected, strict=True):
        assert (row[len(tokens) :] == PAD).all()


def all_as_long(*args, right=decoding._prefix):
    prefix, given = right(*args)
    return prefix, np.full_like(given, given.max())


def test_prompts_taken_for_equally_long_are_caught(monkeypatch):
    params = parameters(WRITER)
    expected = greedy(params, SOURCES, WRITER, BOS, EOS, LENGTH)
    monkeypatch.setattr(decoding, "_prefix", all_as_long)
    assert not np.array_equal(greedy(params, SOURCES, WRITER, BOS, EOS, LENGTH), expected)


@EVERY
def test_greedy_in_floats_of_other_sizes(config):
    for dtype in (np.float16, np.float32):
        found = greedy(sample(config, dtype=dtype), SOURCES, config, BOS, EOS, LENGTH)
        assert found.shape[0] == 4 and found.shape[1] <= LENGTH and ((found >= 0) & (found < 7)).all()


def favouring(token, params):
    """The same model with logits of 0, but for one token, which has the greatest one."""
    table = np.zeros_like(params["embedding"]["table"])
    norm = {"gain": np.zeros(4), "bias": np.ones(4)}  # every hidden state is (1, 1, 1, 1)
    table[token] = 1
    return {**params, "embedding": {"table": table}, "decoder": {**params["decoder"], "norm": norm}}


def test_pad_is_never_chosen():
    params = favouring(PAD, parameters(WRITER))
    assert model.logits(params, None, np.array([[BOS]]), WRITER).argmax() == PAD
    assert greedy(params, None, WRITER, BOS, EOS, 3).tolist() == [[1, 1, 1]]  # of equally likely tokens the least
    ((best, *_),) = beam_search(params, None, WRITER, BOS, EOS, 3, 3, alpha=0)
    assert best.tokens == (EOS,)
    # what it gives to pad, it does not give to others
    assert best.log_probability == log_softmax.forward(np.array([4.0, 0, 0, 0, 0, 0, 0]))[0][EOS]


def test_eos_ends_at_once():
    params = favouring(EOS, parameters(WRITER))
    assert greedy(params, SOURCES, WRITER, BOS, EOS, 9).tolist() == [[EOS]] * 4


def test_what_is_not_needed_is_not_computed(monkeypatch):
    given = []
    monkeypatch.setattr(decoding, "advance", lambda *args: given.append(args[2].shape) or incremental.advance(*args))
    greedy(favouring(EOS, parameters(WRITER)), SOURCES[[0, 3]], WRITER, BOS, EOS, 9)
    assert given == [(2, 4)]  # bos and the prompts, all at once


# Beam search


def enumerated(params, source, config, alpha, longest):
    """All complete sequences, best score first."""
    values = {}
    for length in range(1, longest + 1):
        sequences = np.array(list(itertools.product(range(1, config.vocabulary), repeat=length)))
        read = np.insert(sequences[:, :-1], 0, BOS, 1)
        log_p, _ = log_softmax.forward(model.logits(params, np.repeat([source], len(read), 0), read, config))
        for row, tokens in enumerate(map(tuple, sequences.tolist())):
            if EOS not in tokens[:-1] and (tokens[-1] == EOS or length == longest):
                values[tokens] = sum(log_p[row, i, token] for i, token in enumerate(tokens))
    return sorted(values, key=lambda tokens: -values[tokens] / length_penalty(len(tokens), alpha))


def by_definition(params, source, config, width, alpha):
    """Beam search, all computed anew for each step, and to the greatest length."""
    beam, complete = [((), 0.0)], []
    for length in range(1, LENGTH + 1):
        longer = []
        for tokens, before in beam:
            log_p = log_probabilities(params, source, list(tokens), config)
            longer += [((*tokens, token), before + log_p[token]) for token in range(1, config.vocabulary)]
        longer.sort(key=lambda pair: -pair[1])
        beam = []
        for tokens, value in longer[:width]:
            if tokens[-1] == EOS or length == LENGTH:
                complete.append((tokens, value / length_penalty(length, alpha)))
            else:
                beam.append((tokens, value))
    complete.sort(key=lambda pair: -pair[1])
    return [tokens for tokens, _ in complete[:width]]


def found_by(params, sources, config, width, alpha, length=LENGTH):
    return [
        [hypothesis.tokens for hypothesis in found]
        for found in beam_search(params, sources, config, BOS, EOS, length, width, alpha)
    ]


@EVERY
@pytest.mark.parametrize("alpha", [0.0, 0.6])
def test_a_beam_is_that_of_the_definition(config, alpha):
    params = parameters(config)
    for width in (2, 3):
        expected = [by_definition(params, without_pads(row), config, width, alpha) for row in SOURCES[1:3]]
        assert found_by(params, SOURCES[1:3], config, width, alpha) == expected


@EVERY
def test_a_beam_of_one_is_greedy(config):
    for seed in (None, 1):
        params = parameters(config, seed)
        expected = [[tuple(without_pads(row))] for row in greedy(params, SOURCES, config, BOS, EOS, LENGTH)]
        assert found_by(params, SOURCES, config, 1, 0.6) == expected


@pytest.mark.parametrize("alpha", [0.0, 2.0])
def test_a_beam_wide_enough_finds_the_best_of_all_sequences(alpha):
    config = replace(TRANSLATOR, vocabulary=5)
    params, source = parameters(config, 2), np.array([[3, 4]])
    (found,) = found_by(params, source, config, 4**4, alpha, 4)
    assert found == enumerated(params, [3, 4], config, alpha, 4)
    assert len(found) == 1 + 3 + 9 + 27 * 4


def test_the_penalty_changes_the_order():
    config = replace(TRANSLATOR, vocabulary=5)
    params = parameters(config, 2)
    short, long = (enumerated(params, [3, 4], config, alpha, 4)[0] for alpha in (0.0, 2.0))
    assert len(short) < len(long)


def test_the_score_is_the_log_probability_over_the_penalty():
    params = parameters(WRITER)
    (found,) = beam_search(params, SOURCES[:1], WRITER, BOS, EOS, LENGTH, 3, 0.6)
    assert len(found) == 3
    for tokens, log_probability, score in found:
        assert score == log_probability / length_penalty(len(tokens), 0.6)
        assert tokens[-1] == EOS or len(tokens) == LENGTH
    ((tokens, log_probability, _),) = beam_search(params, SOURCES[:1], WRITER, BOS, EOS, LENGTH, 1)[0]
    state = incremental.start(params, None, WRITER, 1, 9)
    z, expected = incremental.advance(params, state, np.array([[BOS, *SOURCES[0]]]), WRITER), 0.0
    for token in tokens:
        expected += float(log_softmax.forward(z[0, -1])[0][token])
        z = incremental.advance(params, state, np.array([[token]]), WRITER)
    assert log_probability == expected


def test_ties_are_broken_by_what_came_first():
    """All tokens equally likely: the beam keeps the lowest ones, sequences in the order of their tokens."""
    params = map_leaves(np.zeros_like, parameters(WRITER))
    (found,) = found_by(params, None, WRITER, 4, 0.0, 2)
    assert found == [(2,), (1, 1), (1, 2), (1, 3)]
    assert greedy(params, None, WRITER, BOS, EOS, 3).tolist() == [[1, 1, 1]]


def test_the_penalty_of_wu_et_al():
    assert length_penalty(1, 0.6) == 1.0 and length_penalty(7, 1) == 2.0 and length_penalty(9, 0) == 1.0
    assert length_penalty(19, 0.5) == 2.0


def test_a_search_ends_once_nothing_better_can_come(monkeypatch):
    steps = []
    monkeypatch.setattr(decoding, "advance", lambda *args: steps.append(1) or incremental.advance(*args))
    params = favouring(EOS, parameters(WRITER))
    params["embedding"]["table"][EOS] = 9
    beam_search(params, None, WRITER, BOS, EOS, 50, 2, 0.6)
    assert len(steps) < 5


# Errors

PARAMS = parameters(TRANSLATOR)


def call(function=greedy, src=SOURCES, config=TRANSLATOR, bos=BOS, eos=EOS, length=3, params=PARAMS, **more):
    return lambda: function(params, src, config, bos, eos, length, **more)


@pytest.mark.parametrize(
    ("run", "error", "message"),
    [
        (call(length=0), ValueError, "decoding: max_length is 0, needed an integer of at least 1"),
        (call(bos=PAD), ValueError, "decoding: bos is 0, needed a token other than pad"),
        (call(eos=7), ValueError, "decoding: eos holds 7, needed 0 <= eos < 7, the number of tokens"),
        (call(src=None), ValueError, r"model: src is None, needed integers \(B, n\)"),
        (call(src=SOURCES[0]), ValueError, r"model: src has shape \(3,\), needed \(B, n\)"),
        (call(params=sample(TRANSLATOR)), TypeError, "decoding: the parameters hold balls, needed floats, since"),
        (call(config=WRITER), ValueError, "model: the parameters lack"),
        (
            call(src=np.array([[3, PAD, 4]]), config=WRITER, params=parameters(WRITER)),
            ValueError,
            "decoding: src has a token behind a pad, needed prompts with all their pads at the end",
        ),
        (
            call(config=CONFIGS["encoder, post"], params=parameters(CONFIGS["encoder, post"], 0)),
            ValueError,
            "form is 'encoder', needed one with a decoder",
        ),
        (call(beam_search, width=0), ValueError, "decoding: width is 0, needed an integer of at least 1"),
        (call(beam_search, alpha=-1.0), ValueError, "decoding: alpha is -1.0, needed a number of at least 0"),
    ],
)  # fmt: skip
def test_bad_input_gets_a_clear_error(run, error, message):
    with pytest.raises(error, match=message):
        run()
