"""The papers that theorems come from, as BibTeX and as a line to read. What is cited is read off the families' headers."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterable, Mapping
from importlib.resources import files
from types import MappingProxyType
from typing import NamedTuple

from ..kernel import Theorem
from .families import AXIOMS, sections
from .names import RenderError

_ASCII = {
    "é": r"{\'e}", "è": r"{\`e}", "ó": r"{\'o}", "Ł": r"{\L}", "π": r"$\pi$", "&": r"\&",
}  # fmt: skip


class Reference(NamedTuple):
    """A cited work: its key, how a header names it, its BibTeX type, and its fields in order."""

    key: str
    cited_as: tuple[str, ...]
    type: str
    fields: Mapping[str, str]

    @property
    def url(self) -> str | None:
        """Where it can be read, if it is known."""
        for field, start in (("eprint", "https://arxiv.org/abs/"), ("doi", "https://doi.org/"), ("url", "")):
            if field in self.fields:
                return start + self.fields[field]
        return None

    @property
    def line(self) -> str:
        """Authors. Title. Where it appeared, year."""
        people = self.fields["author"].replace("{", "").replace("}", "").split(" and ")
        places = ("journal", "booktitle", "publisher", "howpublished")
        where = [self.fields[f] for f in places if f in self.fields][:1]
        title = self.fields["title"] + ("" if self.fields["title"].endswith("?") else ".")
        return f"{', '.join(people)}. {title} {', '.join([*where, self.fields['year']])}."


@functools.cache
def references() -> Mapping[str, Reference]:
    """Every work of references.toml by its key."""
    assert __package__ is not None
    table = tomllib.loads(files(__package__).joinpath("references.toml").read_text(encoding="utf-8"))
    return MappingProxyType({key: _reference(key, dict(entry)) for key, entry in table.items()})


def _reference(key: str, entry: dict[str, object]) -> Reference:
    cited_as, kind = entry.pop("cited_as"), entry.pop("type")
    assert isinstance(cited_as, list)
    if kind == "misc" and "eprint" in entry:
        entry["howpublished"] = f"arXiv:{entry['eprint']}"  # the plain styles do not print an eprint
    fields = {name: " and ".join(value) if isinstance(value, list) else str(value) for name, value in entry.items()}
    return Reference(key, tuple(cited_as), str(kind), MappingProxyType(fields))


def citations(text: str) -> tuple[str | Reference, ...]:
    """A sentence in pieces: words, and each work where it is named, so that a page can link it."""
    named = {name: work for work in references().values() for name in work.cited_as}
    pattern = "|".join(re.escape(name) for name in sorted(named, key=len, reverse=True))
    return tuple(named.get(piece, piece) for piece in re.split(f"({pattern})", text) if piece)


def cited(text: str) -> tuple[str, ...]:
    """The keys of the works that a sentence names, in its order."""
    return tuple(dict.fromkeys(piece.key for piece in citations(text) if isinstance(piece, Reference)))


def cited_by(theorem: Theorem) -> tuple[str, ...]:
    """The keys of the works that a theorem comes from: those of its family's header, or the source of an axiom."""
    family = theorem.name.partition(".")[0]
    if theorem.source is not None or family == AXIOMS:
        return cited(theorem.source or "")
    return cited(sections(family).get("reference", ""))


def bibtex(keys: Iterable[str] | None = None) -> str:
    """A references.bib in plain ASCII with these works, or with all; raises RenderError for a key that is none."""
    known = references()
    wanted = list(known) if keys is None else sorted(set(keys))
    missing = [key for key in wanted if key not in known]
    if missing:
        raise RenderError(f"no reference {', '.join(missing)}; add it to proofs/render/references.toml")
    return "\n".join(map(_entry, (known[key] for key in wanted)))


def _entry(work: Reference) -> str:
    fields = dict(work.fields)
    fields["title"] = f"{{{fields['title']}}}"  # so that no style changes its capitals
    if "eprint" in fields:
        fields["archiveprefix"] = "arXiv"
    lines = [f"  {name} = {{{_ascii(value, name)}}}," for name, value in fields.items()]
    return "\n".join([f"@{work.type}{{{work.key},", *lines, "}", ""])


def _ascii(value: str, field: str) -> str:
    if field in ("url", "doi"):
        return value
    text = "".join(_ASCII.get(c, c) for c in value)
    if field == "pages":
        text = text.replace("-", "--")
    if not text.isascii():
        raise RenderError(f"no BibTeX for {[c for c in text if not c.isascii()]} of {value!r}; add it in references.py")
    return text
