"""What is wrong with a text that cannot be read."""

from __future__ import annotations

_AROUND = 40


class UnreadableError(ValueError):
    """A formula that is not one, or that says nothing with the symbols at hand."""

    def __init__(self, problem: str, text: str, at: int):
        before, after = text[max(0, at - _AROUND) : at], text[at : at + _AROUND]
        start = "" if at <= _AROUND else "..."
        end = "..." if at + _AROUND < len(text) else ""
        super().__init__(f"{problem}, at character {at + 1}: {start}{before} >>> {after}{end}")
        self.problem, self.text, self.at = problem, text, at


class Complaint(Exception):
    """A problem with its place, until the text is known."""

    def __init__(self, problem: str, at: int):
        super().__init__(problem)
        self.problem, self.at = problem, at
