"""The files of a language, each read once.

<language>/reasons.toml            messages: a name and a text with places, squeeze = "by squeezing between {lower} and {upper}"
<language>/sentences/softmax.toml  sentences: a table with the English, which is written elsewhere, and the translation
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Iterator, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from types import MappingProxyType
from typing import Any, NamedTuple

from .templates import CatalogueError

_HERE = files(__package__)
_SENTENCES = "sentences"


class Sentence(NamedTuple):
    english: str
    translated: str


@functools.cache
def languages() -> tuple[str, ...]:
    """The languages that there is a folder for, English first."""
    found = sorted(entry.name for entry in _HERE.iterdir() if entry.joinpath("reasons.toml").is_file())
    return ("en", *(name for name in found if name != "en"))


@functools.cache
def messages(language: str) -> Mapping[str, str]:
    """Every message of a language under its file and name, as reasons.squeeze; raises CatalogueError for one that is no text."""
    found: dict[str, str] = {}
    for entry in _HERE.joinpath(language).iterdir():
        if entry.name.endswith(".toml"):
            for name, text in _read(entry).items():
                if not isinstance(text, str):
                    raise CatalogueError(f"{language}/{entry.name}: {name} is {text!r}; needed a text in quotes")
                found[f"{entry.name.removesuffix('.toml')}.{name}"] = text
    return MappingProxyType(found)


@functools.cache
def sentences(language: str, group: str) -> Mapping[str, Sentence]:
    """The sentences of one file under their names, as theorems.positive; none where there is no such file."""
    entry = _HERE.joinpath(language, _SENTENCES, f"{group}.toml")
    if not entry.is_file():
        return MappingProxyType({})
    place = f"{language}/{_SENTENCES}/{group}.toml"
    return MappingProxyType(dict(_leaves(_read(entry), language, place, "")))


def groups(language: str) -> tuple[str, ...]:
    """The files of sentences that a language has."""
    folder = _HERE.joinpath(language, _SENTENCES)
    return tuple(sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml")))


def _leaves(table: Mapping[str, Any], language: str, place: str, above: str) -> Iterator[tuple[str, Sentence]]:
    for name, value in table.items():
        if not isinstance(value, dict):
            raise CatalogueError(f"{place}: {above}{name} is {value!r}; needed a table with en and {language}")
        if "en" not in value:
            yield from _leaves(value, language, place, f"{above}{name}.")
        elif set(value) != {"en", language} or not all(isinstance(text, str) for text in value.values()):
            raise CatalogueError(f"{place}: {above}{name} has {', '.join(value)}; needed texts for en and {language}")
        else:
            yield above + name, Sentence(value["en"], value[language])


def _read(entry: Traversable) -> dict[str, Any]:
    try:
        return tomllib.loads(entry.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as problem:
        raise CatalogueError(f"{entry}: {problem}") from None
