"""One language: every piece of prose on a page, with its formulas in place."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

from ..parts import plain
from . import files
from .templates import CatalogueError, Parts, Said, Template, template


class Catalogue:
    """The prose of one language. Whatever it lacks is a CatalogueError that names the file to add it to."""

    def __init__(self, language: str):
        if language not in files.languages():
            raise CatalogueError(f"no catalogue for {language!r}; there is one for {', '.join(files.languages())}")
        self.language = language
        self._parsed: dict[str, Template] = {}

    def said(self, key: str, **values: Said) -> Parts:
        """The message of a key, as reasons.squeeze, with its places filled by words, formulas or whole lines of them."""
        try:
            return self._template(key).filled(values)
        except CatalogueError as problem:
            raise CatalogueError(f"{self.language}, {key}: {problem}") from None

    def text(self, key: str, **values: str) -> str:
        """The same as plain text."""
        return plain(self.said(key, **values))

    def joined(self, key: str, entries: Iterable[Said]) -> Parts:
        """Entries joined by a message with the places before and after."""
        parts: Parts | None = None
        for entry in entries:
            parts = self.said(key, before=parts, after=entry) if parts else self.said("lists.one", entry=entry)
        return parts or ()

    def listed(self, entries: Iterable[Said]) -> Parts:
        """Entries as in "a, b and c"."""
        *others, last = entries
        if not others:
            return self.joined("lists.comma", [last])
        return self.joined("lists.last", [self.joined("lists.comma", others), last])

    def sentence(self, group: str, name: str, english: str) -> str:
        """What an English sentence is in this language: itself in English, else the one that stands beside it in its file.

        Raises CatalogueError where the file lacks it, or translates another sentence than this one.
        """
        if self.language == "en":
            return english
        place = f"{self.language}/sentences/{group}.toml"
        found = files.sentences(self.language, group).get(name)
        wanted = " ".join(english.split())
        if found is None or not found.translated:
            raise CatalogueError(
                f'{place} has no {name}: add [{name}] with en = "{wanted}" and {self.language} = "..."'
            )
        if found.english != wanted:
            raise CatalogueError(
                f'{place} translates another sentence as {name}: "{found.english}"; it says "{wanted}" now: mend both'
            )
        return found.translated

    def theorem(self, name: str, says: str) -> str:
        """What a theorem family.theorem says, given its English sentence."""
        family, _, own = name.partition(".")
        return self.sentence(family, f"theorems.{own}", says)

    def refusal(self, message: str) -> str:
        """A message of the kernel, without what is left over; raises CatalogueError for one that no message is the pattern of."""
        if self.language == "en":
            return message
        for key, pattern in _patterns():
            if match := pattern.fullmatch(message):
                return self.text(key, **match.groupdict())
        raise CatalogueError(
            f"no message for {message!r}, which a rule says; add its pattern to refusals.toml of every language"
        )

    def _template(self, key: str) -> Template:
        if key not in self._parsed:
            found = files.messages(self.language).get(key, "")
            if not found:
                place, _, name = key.partition(".")
                raise CatalogueError(f"no such message; add {name} to {self.language}/{place}.toml")
            self._parsed[key] = template(found)
        return self._parsed[key]


@functools.cache
def in_language(language: str) -> Catalogue:
    """The catalogue of a language, as "ko"; raises CatalogueError where there is none."""
    return Catalogue(language)


@functools.cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """What the kernel says when it refuses a step, those with the fewest places first."""
    found = [(key, template(text)) for key, text in files.messages("en").items() if key.startswith("refusals.")]
    found.sort(key=lambda pair: len(pair[1].places))
    return tuple((key, re.compile(_expression(message))) for key, message in found)


def _expression(message: Template) -> str:
    return "".join(re.escape(words) + (f"(?P<{name}>.+?)" if name else "") for words, name in message.pieces)


ENGLISH = in_language("en")
