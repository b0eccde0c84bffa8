"""The front end for LaTeX: texts as raw trees."""

from .grammar import FORMS, SIGNS, read

__all__ = ["FORMS", "SIGNS", "read"]
