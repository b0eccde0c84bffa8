"""The front end for plain text: texts as raw trees, with the names that they may speak of."""

from .grammar import SIGNS, read

__all__ = ["SIGNS", "read"]
