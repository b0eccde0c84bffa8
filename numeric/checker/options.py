"""Options of a contract as they are written on a command line."""

import ast
from collections.abc import Iterable
from typing import Any

from .usage import UsageError


def parsed_options(texts: Iterable[str] | None) -> dict[str, Any]:
    """Raises UsageError."""
    return dict(parsed_option(text) for text in texts or ())


def parsed_option(text: str) -> tuple[str, Any]:
    """`eps=1e-6` as ("eps", 1e-6): a Python literal, or else the text itself. Raises UsageError."""
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise UsageError(f"option {text!r} is no NAME=VALUE; write --option temperature=0.5")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value
