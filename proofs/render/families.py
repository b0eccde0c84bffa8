"""What a family says of itself: a title, and the sections of the header of its file."""

from __future__ import annotations

import functools
import importlib
import inspect
import re
from collections.abc import Mapping
from typing import NamedTuple

from ..kernel import Theorem
from .catalogues import ENGLISH, Catalogue
from .names import RenderError

AXIOMS = "axioms"
_SECTION = re.compile(r"(?m)^([A-Z][a-z]+) {2,}")


class About(NamedTuple):
    """A family in prose. `hypothesis` is one that several of its theorems name, as (H); `reference` names papers and places."""

    family: str
    title: str
    introduction: str
    scope: str | None
    hypothesis: str | None
    reference: str | None


def about(family: str, catalogue: Catalogue = ENGLISH) -> About:
    """A family of theorems/, or `axioms`, in the words of a catalogue; raises RenderError where there is no such family."""
    english = sections(family)

    def said(name: str) -> str | None:
        return catalogue.sentence(family, name, english[name]) if name in english else None

    introduction = catalogue.sentence(family, "introduction", english["introduction"])
    title = catalogue.text(f"titles.{family}")
    return About(family, title, introduction, said("scope"), said("hypothesis"), said("reference"))


def source_of(axiom: Theorem, catalogue: Catalogue = ENGLISH) -> str:
    """Where an axiom is proved; raises RenderError for a theorem that is proved here."""
    if axiom.source is None:
        raise RenderError(f"{axiom.name} is proved here and has no source; needed an axiom of proofs/axioms.py")
    return catalogue.sentence(AXIOMS, f"sources.{axiom.name.partition('.')[2]}", axiom.source)


@functools.cache
def sections(family: str) -> Mapping[str, str]:
    """The prose in the header of a family's file, in English: introduction, scope, reference and, of some, hypothesis."""
    place = "proofs.axioms" if family == AXIOMS else f"proofs.theorems.{family}"
    try:
        module = importlib.import_module(place)
    except ModuleNotFoundError:
        raise RenderError(f"no family {family!r} in proofs/theorems; `python -m proofs list` names them") from None
    header = inspect.cleandoc(module.__doc__ or "")
    introduction, *rest = _SECTION.split(header)
    found = {"introduction": _one_line(introduction.partition("\n\n")[0]).removeprefix("TRUSTED. ")}
    for name, text in zip(rest[::2], rest[1::2], strict=True):
        if name in ("Scope", "Hypothesis", "Reference"):
            found[name.lower()] = _one_line(text)
    return found


def _one_line(text: str) -> str:
    return " ".join(text.split())
