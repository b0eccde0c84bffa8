"""Which probes fail, when that is a pattern a person can use: those with one value of an option, or of one kind, or all but a few."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from .record import Record

MOST = 4  # values or kinds that are listed


def failing_where(records: Sequence[Record]) -> str:
    """A phrase for the probes that failed, such as "just those with temperature=0.5 or 3.0"; empty where all or none did."""
    failed = [each for each in records if each.failed]
    passed = [each for each in records if not each.failed]
    if not failed or not passed:
        return ""
    names = sorted({name for record in records for name in record.options})
    for name in names:
        values = _separating(failed, passed, partial(_value, name))
        if values:
            return f"just those with {name}={_listed(values, 'or')}"
    kinds = _separating(failed, passed, lambda record: record.kind)
    if kinds:
        return f"just {_listed(kinds, 'and', quote=True)}"
    if len(passed) <= MOST:
        return f"all but {_listed([each.probe for each in passed], 'and', quote=True)}"
    for name in names if any(each.generic for each in failed) else ():  # others are run at few values
        every = {_value(name, record) for record in records}
        found = sorted({_value(name, record) for record in failed})
        if len(found) < len(every) and len(found) <= MOST:
            return f"all of them with {name}={_listed(found, 'or')}"
    kinds = list(dict.fromkeys(record.kind for record in failed))
    more = f" and {len(kinds) - MOST} other kinds" if len(kinds) > MOST else ""
    return f"such as {_listed(kinds[:MOST], ',' if more else 'and', quote=True)}{more}"


def _separating(failed: Sequence[Record], passed: Sequence[Record], key: Callable[[Record], str]) -> list[str]:
    """The keys of those that failed, if none that passed has one of them, and they are few."""
    keys = dict.fromkeys(map(key, failed))
    return [] if keys.keys() & set(map(key, passed)) or len(keys) > MOST else list(keys)


def _value(name: str, record: Record) -> str:
    value = record.options.get(name)
    return "an array" if isinstance(value, np.ndarray) else repr(value)


def _listed(words: Sequence[str], last: str, quote: bool = False) -> str:
    shown = [f"'{word}'" if quote else word for word in words]
    if len(shown) == 1 or last == ",":
        return ", ".join(shown)
    return f"{', '.join(shown[:-1])} {last} {shown[-1]}"
