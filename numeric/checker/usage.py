"""Wrong use of the checker: an error that says what, where, what was found, what is needed, and the nearest right name."""

from collections.abc import Iterable
from difflib import get_close_matches

MOST_NAMES = 20  # in one message


class UsageError(ValueError):
    """The question was put wrongly, so nothing was judged (exit code 2)."""


def unknown(kind: str, found: object, known: Iterable[str]) -> UsageError:
    """The error for a name that is not among the known ones, with a guess at the one that was meant."""
    names = list(known)
    close = get_close_matches(str(found), names, n=1)
    guess = f"; did you mean {close[0]!r}?" if close else "."
    shown = ", ".join(names[:MOST_NAMES]) or "none yet"
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return UsageError(f"unknown {kind} {found!r}{guess} Known: {shown}{more}.")
