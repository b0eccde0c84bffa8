"""A task to train on: numbers, digit by digit, to their names in English or Korean.

    3107        source  3|1|0|7
    English     target  three| thousand|,| one| hundred| and| seven
    Korean      target  삼|천|백|칠

Names are those of the package num2words, for whole numbers below 1,000,000. A source has a token for each digit. A
target is cut so that its tokens, joined, give the exact text back: in English words with the space before them, hyphens
and commas, in Korean syllables and spaces. Source and target share one vocabulary, as they share the model's embedding.

A number's length is its count of digits. Nine in ten numbers below a million have six; so that short ones are learnt,
and tested, too,

    training    draws a length first, L digits with a probability in proportion to L, then a number of that length
    held out    are as many numbers of each length, but at most one in twenty, so none of the ten with one digit
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from .layers._arguments import require_size

NAME = "spelling"
LARGEST = 10**6  # no number is as large
PIECES = {"en": re.compile(r"[0-9]| ?[a-z]+|-|,"), "ko": re.compile(r"[0-9 가-힣]")}  # what a token is made of
PAD, BOS, EOS = 0, 1, 2
SPECIAL = ("<pad>", "<bos>", "<eos>")
HELD_OUT = 2000
SHARE = 20  # one in so many numbers of a length is held out, at most


class Vocabulary(NamedTuple):
    """The tokens of a language: the three special ones, the ten digits, then the pieces of its numerals in order."""

    language: str
    tokens: tuple[str, ...]  # the place of a token is its id


class Split(NamedTuple):
    """The numbers below `limit`, parted into those to train on and those never trained on."""

    limit: int
    held_out: np.ndarray  # in ascending order                              (n,)


# Words


def spell(number: int, language: str) -> str:
    """The name of a number. Raises TypeError or ValueError unless 0 <= number < 1,000,000 and language is en or ko.

    Raises ModuleNotFoundError without num2words.
    """
    _require_language(language)
    if isinstance(number, bool) or not isinstance(number, int | np.integer):
        raise TypeError(f"{NAME}: number is {number!r}, needed an integer")
    if not 0 <= number < LARGEST:
        raise ValueError(f"{NAME}: number is {number}, needed 0 <= number < {LARGEST:,}")
    try:
        from num2words import num2words
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{NAME}: the package num2words is not installed, needed to spell numbers; "
            "pip install 'transformer-proofs[train]'"
        ) from error
    return str(num2words(int(number), lang=language))


@cache
def vocabulary(language: str) -> Vocabulary:
    """The tokens of all names of numbers below 1,000,000. Raises as `spell`.

    They are gathered from the numbers below 200, which have every unit, teen and ten at the start, after a space and
    after a hyphen, and from the sums of two powers of ten, which have every larger word and what stands between words.
    """
    powers = [10**k for k in range(6)]
    numbers = {*range(200), *(a + b for a in powers for b in powers if a + b < LARGEST)}
    pieces = {piece for number in numbers for piece in _cut(spell(number, language), language)}
    return Vocabulary(language, (*SPECIAL, *"0123456789", *sorted(pieces)))


def encode(text: str | int, words: Vocabulary) -> list[int]:
    """The ids of a text of digits or words, without bos and eos. Raises ValueError where it is not made of tokens."""
    ids = _ids(words)
    pieces = _cut(str(text), words.language)
    unknown = [piece for piece in pieces if piece not in ids]
    if unknown:
        raise ValueError(
            f"{NAME}: {text!r} has {unknown[0]!r}, which is no token of the language {words.language!r}; "
            "needed digits, or a name as `spell` gives it"
        )
    return [ids[piece] for piece in pieces]


def decode(ids: Iterable[int], words: Vocabulary) -> str:
    """The text up to the first eos, without bos and pad. Raises ValueError for an id that is none."""
    pieces = []
    for number in map(int, ids):
        if not 0 <= number < len(words.tokens):
            raise ValueError(
                f"{NAME}: {number} is no id, needed 0 <= id < {len(words.tokens)}, the size of the vocabulary"
            )
        if number == EOS:
            break
        if number not in (PAD, BOS):
            pieces.append(words.tokens[number])
    return "".join(pieces)


@cache
def _ids(words: Vocabulary) -> Mapping[str, int]:
    return {token: number for number, token in enumerate(words.tokens) if token not in SPECIAL}


def _cut(text: str, language: str) -> list[str]:
    """The pieces of a text; what fits no pattern is a piece as well, lest it be lost."""
    pieces, end = [], 0
    for match in PIECES[language].finditer(text):
        pieces += [text[end : match.start()], match[0]]
        end = match.end()
    return [piece for piece in (*pieces, text[end:]) if piece]


# Numbers


def split(seed: int, limit: int = LARGEST, held_out: int = HELD_OUT) -> Split:
    """Which numbers below `limit` are held out; the same for the same seed.

    Raises TypeError or ValueError unless 1 <= limit <= 1,000,000 and there are as many to hold out.
    """
    limit, held_out = require_size(NAME, "limit", limit), require_size(NAME, "held_out", held_out)
    if limit > LARGEST:
        raise ValueError(f"{NAME}: limit is {limit}, needed at most {LARGEST:,}")
    ranges = _by_length(limit)
    most = sum(len(numbers) // SHARE for numbers in ranges)
    if held_out > most:
        raise ValueError(
            f"{NAME}: held_out is {held_out}, needed at most {most} of the numbers below {limit}; raise limit"
        )
    rng, chosen, left = np.random.default_rng(seed), [], held_out
    # the smallest range first: what it cannot give is shared by the others
    for others, numbers in zip(range(len(ranges), 0, -1), sorted(ranges, key=len), strict=True):
        count = min(len(numbers) // SHARE, -(-left // others))
        chosen.append(rng.choice(numbers, count, replace=False))
        left -= count
    return Split(limit, np.sort(np.concatenate(chosen)))


def draw(rng: np.random.Generator, count: int, among: Split) -> np.ndarray:
    """`count` numbers to train on, none of them held out; one may come twice.

    What a continuation needs to draw the same is `rng.bit_generator.state`, a dict that JSON can hold.
    """
    count = require_size(NAME, "count", count)
    ranges = _by_length(among.limit)
    lengths = np.arange(1, len(ranges) + 1)
    starts, ends = (np.array([getattr(numbers, end) for numbers in ranges]) for end in ("start", "stop"))
    drawn = np.empty(0, dtype=np.int64)
    while len(drawn) < count:  # a length keeps nineteen in twenty, so few are drawn again
        length = rng.choice(len(ranges), count - len(drawn), p=lengths / lengths.sum())
        numbers = rng.integers(starts[length], ends[length])
        drawn = np.concatenate([drawn, numbers[~np.isin(numbers, among.held_out)]])
    return drawn


def batch(numbers: Sequence[int] | np.ndarray, words: Vocabulary) -> tuple[np.ndarray, np.ndarray]:
    """Source and target as integers (B, n), padded at the end; a target is bos, the name, eos. Raises as `spell`."""
    if len(numbers) == 0:
        raise ValueError(f"{NAME}: numbers is empty, needed at least one for a batch")
    sources = [encode(int(number), words) for number in numbers]
    targets = [[BOS, *encode(spell(number, words.language), words), EOS] for number in numbers]
    return _padded(sources), _padded(targets)


def _padded(rows: list[list[int]]) -> np.ndarray:
    array = np.full((len(rows), max(map(len, rows))), PAD, dtype=np.int64)
    for i, row in enumerate(rows):
        array[i, : len(row)] = row
    return array


def _by_length(limit: int) -> list[range]:
    """The numbers below `limit` with one digit, with two, ..."""
    ends = [*(10**k for k in range(1, len(str(limit - 1)))), limit]
    return [range(start, end) for start, end in zip([0, *ends], ends, strict=False)]


def _require_language(language: str) -> None:
    if language not in PIECES:
        raise ValueError(f"{NAME}: language is {language!r}, needed one of {', '.join(PIECES)}")
