"""The front end for Typst: texts as raw trees."""

from .grammar import SIGNS, read

__all__ = ["SIGNS", "read"]
