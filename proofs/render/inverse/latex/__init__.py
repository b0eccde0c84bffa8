"""The front end for LaTeX: texts as raw trees."""

from .grammar import SIGNS, read

__all__ = ["SIGNS", "read"]
