# mypy: disable-error-code="arg-type"
# (wrong arguments are passed on purpose, to see what is said of them)
import builtins
import json
import random

import numpy as np
import pytest

pytest.importorskip("num2words")

from numeric import spelling
from numeric.spelling import BOS, EOS, PAD, SPECIAL, Split, batch, decode, draw, encode, spell, split, vocabulary

SOME = random.Random(0).sample(range(10**6), 20_000)
PART = 4000  # of them by default


@pytest.fixture(scope="module", params=["en", "ko"])
def language(request):
    return request.param


@pytest.fixture(scope="module", params=[PART, pytest.param(len(SOME), marks=pytest.mark.slow)])
def names(language, request):
    """The small numbers, and some others."""
    return {number: spell(number, language) for number in [*range(1200), *SOME[: request.param]]}


@pytest.fixture(scope="module")
def parted():
    return split(0)


@pytest.mark.parametrize(
    ("number", "english", "korean"),
    [
        (0, "zero", "영"),
        (10, "ten", "십"),
        (45, "forty-five", "사십오"),
        (3107, "three thousand, one hundred and seven", "삼천백칠"),
        (10001, "ten thousand and one", "만 일"),
        (999_999, "nine hundred and ninety-nine thousand, nine hundred and ninety-nine", "구십구만 구천구백구십구"),
    ],
)
def test_names(number, english, korean):
    assert spell(number, "en") == english and spell(np.int64(number), "ko") == korean


@pytest.mark.parametrize(
    ("text", "language", "tokens"),
    [
        ("3107", "en", "3|1|0|7"),
        ("forty-five", "en", "forty|-|five"),
        ("three thousand, one hundred and seven", "en", "three| thousand|,| one| hundred| and| seven"),
        ("삼천백칠", "ko", "삼|천|백|칠"),
        ("만 일", "ko", "만| |일"),
        ("10", "ko", "1|0"),
    ],
)
def test_tokens(text, language, tokens):
    words = vocabulary(language)
    assert [words.tokens[i] for i in encode(text, words)] == tokens.split("|")


def test_every_name_has_tokens_that_give_it_back(language, names):
    """`encode` raises where a token is unknown."""
    words = vocabulary(language)
    for number, name in names.items():
        assert decode([BOS, *encode(name, words), EOS, PAD], words) == name
        assert decode(encode(number, words), words) == str(number)


# A name below a million is made of two parts: of the thousands in English, of the ten thousands in Korean.
GROUPS = {"en": (1000, "one thousand"), "ko": (10_000, "만")}


def test_names_are_made_of_two_parts_and_all_parts_have_tokens(language, names):
    group, one = GROUPS[language]
    words = vocabulary(language)
    rests = [spell(group + rest, language).removeprefix(one) for rest in range(group)]
    heads = [spell(group * head, language) for head in range(1, 10**6 // group)]
    alone = [spell(number, language) for number in range(group)]
    assert all(decode(encode(part, words), words) == part for part in (*heads, *rests, *alone))
    for number, name in names.items():
        head, rest = divmod(number, group)
        assert head == 0 or name == heads[head - 1] + rests[rest]


def test_the_vocabulary_is_fixed_and_has_nothing_to_spare(language, names):
    words = vocabulary(language)
    assert len(words.tokens) == len(set(words.tokens)) == {"en": 73, "ko": 28}[language]
    assert words.tokens[:13] == (*SPECIAL, *"0123456789")
    used = {token for name in names.values() for token in encode(name, words)}
    assert used == set(range(13, len(words.tokens)))


def test_a_vocabulary_that_lacks_a_word_is_seen():
    full = vocabulary("en")
    lacking = full._replace(tokens=tuple(token for token in full.tokens if token != " ninety"))
    with pytest.raises(ValueError, match="has ' ninety', which is no token"):
        encode(spell(190, "en"), lacking)


# Splitting and drawing


def lengths(numbers):
    return np.bincount([len(str(number)) for number in numbers], minlength=7)[1:].tolist()


@pytest.mark.slow
def test_held_out_numbers_have_all_lengths(parted):
    assert parted.held_out.shape == (2000,) and len(set(parted.held_out)) == 2000
    counts = lengths(parted.held_out)
    assert counts[:4] == [0, 4, 45, 450] and sorted(counts[4:]) == [750, 751] and (parted.held_out < 10**6).all()


@pytest.mark.parametrize(
    ("limit", "held_out", "counts"),
    [(1000, 30, [0, 4, 26]), (150, 4, [0, 2, 2]), (20, 1, None), (100, 4, [0, 4]), (10**6, 7, [0, 2, 2, 1, 1, 1])],
)
def test_held_out_numbers_below_other_limits(limit, held_out, counts):
    if counts is None:
        with pytest.raises(ValueError, match="held_out is 1, needed at most 0 of the numbers below 20; raise limit"):
            split(0, limit, held_out)
    else:
        found = split(0, limit, held_out).held_out
        assert found.max() < limit and sum(lengths(found)) == held_out and lengths(found)[: len(counts)] == counts


def test_nothing_held_out_is_drawn_and_everything_else_is():
    small = split(3, 1000, 49)
    drawn = set(draw(np.random.default_rng(0), 60_000, small).tolist())
    assert drawn == set(range(1000)) - set(small.held_out.tolist())


def test_a_draw_that_forgot_what_is_held_out_would_be_seen(parted):
    drawn = draw(np.random.default_rng(0), 60_000, Split(parted.limit, np.empty(0, np.int64)))
    assert np.isin(drawn, parted.held_out).any()
    assert not np.isin(draw(np.random.default_rng(0), 60_000, parted), parted.held_out).any()


def test_lengths_are_drawn_in_proportion_to_themselves(parted):
    """And the numbers of a length evenly: all counts within six standard deviations.

    By Bernstein's inequality a sound draw leaves those with a probability of 2 exp(-18 / (1 + 2 / 34)) < 1e-7.
    """
    count = 42_000
    drawn = draw(np.random.default_rng(1), count, parted)
    kept = np.array([1, 86 / 90, *[0.95] * 2, 1 - 750 / 9e4, 1 - 750 / 9e5])  # what is not held out
    share = np.arange(1, 7) * kept / (np.arange(1, 7) * kept).sum()
    deviation = np.sqrt(count * share * (1 - share))
    assert (np.abs(lengths(drawn) - count * share) < 6 * deviation).all()
    six = drawn[drawn >= 10**5]
    first = np.bincount(six // 10**5)[1:]
    assert (np.abs(first - len(six) / 9) < 6 * np.sqrt(len(six) / 9 * 8 / 9)).all()


def test_a_seed_determines_everything(parted):
    again = split(0)
    assert np.array_equal(again.held_out, parted.held_out) and not np.array_equal(split(1).held_out, parted.held_out)
    first, second, other = (draw(np.random.default_rng(seed), 50, parted) for seed in (7, 7, 8))
    assert np.array_equal(first, second) and not np.array_equal(first, other)


def test_draws_go_on_from_a_saved_state(parted):
    rng = np.random.default_rng(5)
    draw(rng, 33, parted)
    saved = json.loads(json.dumps(rng.bit_generator.state))
    expected = draw(rng, 40, parted)
    restored = np.random.default_rng()
    restored.bit_generator.state = saved
    assert np.array_equal(draw(restored, 40, parted), expected)


def test_a_batch_is_padded_digits_and_names(language):
    words, numbers = vocabulary(language), [7, 999_999, 20]
    source, target = batch(numbers, words)
    assert source.shape == (3, 6) and source.dtype == target.dtype == np.int64
    assert source[0].tolist() == [words.tokens.index("7"), *5 * [PAD]] and (source[1] != PAD).all()
    for row, number in enumerate(numbers):
        assert decode(source[row], words) == str(number) and decode(target[row], words) == spell(number, language)
        end = target[row].tolist().index(EOS)
        assert target[row, 0] == BOS and (target[row, end + 1 :] == PAD).all() and (target[row, :end] != PAD).all()
    assert target[1, -1] == EOS


def test_decoding_stops_at_the_first_eos():
    words = vocabulary("ko")
    assert decode(np.array([BOS, *encode("십", words), EOS, *encode("일", words)]), words) == "십"
    assert decode([], words) == ""


# Errors


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: spell(-1, "en"), ValueError, "spelling: number is -1, needed 0 <= number < 1,000,000"),
        (lambda: spell(10**6, "en"), ValueError, "number is 1000000, needed 0 <= number < 1,000,000"),
        (lambda: spell(1.5, "en"), TypeError, "number is 1.5, needed an integer"),
        (lambda: spell(True, "en"), TypeError, "number is True, needed an integer"),
        (lambda: spell(1, "fr"), ValueError, "language is 'fr', needed one of en, ko"),
        (lambda: vocabulary("EN"), ValueError, "language is 'EN', needed one of en, ko"),
        (
            lambda: encode("two dozen", vocabulary("en")),
            ValueError,
            "'two dozen' has ' dozen', which is no token .* 'en'",
        ),
        (lambda: encode("one  two", vocabulary("en")), ValueError, "has ' ', which is no token"),
        (lambda: encode("One", vocabulary("en")), ValueError, "has 'O', which is no token"),
        (lambda: encode("-3!", vocabulary("ko")), ValueError, "has '-', which is no token of the language 'ko'"),
        (lambda: encode("<pad>", vocabulary("en")), ValueError, "has '<', which is no token"),
        (lambda: decode([3, 73], vocabulary("en")), ValueError, "73 is no id, needed 0 <= id < 73"),
        (lambda: decode([-1], vocabulary("en")), ValueError, "-1 is no id"),
        (lambda: batch([], vocabulary("en")), ValueError, "numbers is empty, needed at least one for a batch"),
        (lambda: batch([10**6], vocabulary("en")), ValueError, "number is 1000000"),
        (lambda: split(0, 10**6 + 1), ValueError, "limit is 1000001, needed at most 1,000,000"),
        (
            lambda: split(0, 1000),
            ValueError,
            "held_out is 2000, needed at most 49 of the numbers below 1000; raise limit",
        ),
        (lambda: split(0, 0), ValueError, "limit is 0, needed an integer of at least 1"),
        (lambda: draw(np.random.default_rng(0), 0, split(0)), ValueError, "count is 0, needed"),
    ],
)
def test_bad_input_gets_a_clear_error(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_without_num2words_the_error_says_what_to_install(monkeypatch):
    def missing(name, *rest, original=builtins.__import__, **more):
        if name == "num2words":
            raise ModuleNotFoundError("No module named 'num2words'", name="num2words")
        return original(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(
        ModuleNotFoundError, match=r"needed to spell numbers; pip install 'transformer-proofs\[train\]'"
    ):
        spelling.spell(1, "en")
