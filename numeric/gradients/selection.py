"""Which cases are meant: `-k "multi_head and not grouped"`, substrings of their names, in either case."""

import ast
import re
from collections.abc import Sequence

from .case import Case


class UsageError(Exception):
    """A command that asks for what there is not; the message says what there is."""


_WORD = re.compile(r"[^\s()]+")
_OPERATORS = ("and", "or", "not")
_PARTS = (ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.Name, ast.Load)


def selected(cases: Sequence[Case], expression: str | None) -> list[Case]:
    """Those whose name matches. Raises UsageError where none does, or the expression is none."""
    if expression is None:
        return list(cases)
    words: dict[str, str] = {}
    tree = _parsed(expression, words)
    found = [case for case in cases if _holds(tree, {key: word in case.name.lower() for key, word in words.items()})]
    if not found:
        layers = ", ".join(dict.fromkeys(case.layer for case in cases))
        raise UsageError(f"-k {expression!r} matches none of the {len(cases)} cases; there are cases of {layers}")
    return found


def _parsed(expression: str, words: dict[str, str]) -> ast.expr:
    """The expression with a name for each word, which `words` then gives."""

    def named(word: re.Match[str]) -> str:
        if word[0] in _OPERATORS:
            return word[0]
        name = f"word{len(words)}"
        words[name] = word[0].lower()
        return name

    try:
        tree = ast.parse(_WORD.sub(named, expression).strip(), mode="eval").body
    except SyntaxError:
        tree = None
    if tree is None or not all(isinstance(node, _PARTS) for node in ast.walk(tree)):
        raise UsageError(f"-k {expression!r} is no expression; needed names with and, or, not and brackets")
    return tree


def _holds(tree: ast.expr, matches: dict[str, bool]) -> bool:
    if isinstance(tree, ast.BoolOp):
        join = all if isinstance(tree.op, ast.And) else any
        return join(_holds(part, matches) for part in tree.values)
    if isinstance(tree, ast.UnaryOp):
        return not _holds(tree.operand, matches)
    return isinstance(tree, ast.Name) and matches[tree.id]
