"""What a folder of figures holds: an SVG file each, an index of them, and the mistakes that the checker knows.

figures.json    {"language", "seed", "mistakes": the name of the other file, "figures": [..]}; of a figure the name, file, width
                and height, in units of its own, title, caption, alt and theorems. The three texts have each the key in the
                catalogue, plain text, and HTML with the tags i, sub and sup alone
mistakes.json   a list of {"contract", "id", "kind", "of", "says", "theorem", "twins"}, in English, as the command
                `python -m numeric mistakes --list --json` has it

The same names, language and seed give the same bytes.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ..checker.contracts import contract_named, contract_names
from ..checker.mistakes_command import catalogued
from .catalogue import Words
from .figure import Drawn, Figure, drawn

INDEX, MISTAKES = "figures.json", "mistakes.json"
Before = Callable[[int, str], None]


def documents(figures: Sequence[Figure], language: str, seed: int, before: Before | None = None) -> dict[str, str]:
    """The text of each file, by its name. `before` is told the number and name of each figure that is about to be drawn."""
    words, done = Words(language), []
    for number, figure in enumerate(figures):
        if before is not None:
            before(number, figure.name)
        done.append(drawn(figure, words, seed))
    texts = {each.figure.file: each.svg for each in done}
    return {**texts, INDEX: _json(index_of(done, language, seed)), MISTAKES: _json(list(mistakes()))}


def index_of(done: Sequence[Drawn], language: str, seed: int) -> dict[str, Any]:
    return {
        "language": language,
        "seed": seed,
        "mistakes": MISTAKES,
        "figures": [each.as_dict() for each in done],
    }


def mistakes() -> Iterator[dict[str, Any]]:
    """Every known mistake of every contract, with the theorem that it breaks, or that makes it right but for rounding."""
    for name in contract_names():
        contract = contract_named(name)
        yield from (catalogued(contract, known) for known in contract.mistakes)


def write(folder: Path, texts: dict[str, str]) -> None:
    """Into a folder that exists; raises OSError."""
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


def _json(data: Any) -> str:
    return json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
