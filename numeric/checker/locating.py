"""Where an array is wrong, when that is a pattern a person can use: which places along which axis, which triangle."""

import numpy as np

MOST = 4  # places that are listed one by one


def located(wrong: np.ndarray) -> str:
    """A phrase for a boolean array, such as "only at index 0 of axis -2"; empty where everything is wrong, or nothing."""
    if wrong.ndim == 0 or wrong.all() or not wrong.any():
        return ""
    phrases = [phrase for axis in range(-wrong.ndim, 0) if (phrase := _along(wrong, axis))]
    if wrong.ndim >= 2 and not phrases:
        phrases = [_triangle(wrong)]
    share = f"{int(wrong.sum())} of {wrong.size} entries"
    return " and ".join([share, *(phrase for phrase in phrases if phrase)])


def _along(wrong: np.ndarray, axis: int) -> str:
    other = tuple(a for a in range(wrong.ndim) if a != axis + wrong.ndim)
    places = np.flatnonzero(wrong.any(other))
    size = wrong.shape[axis]
    if len(places) == size:
        return ""
    if (
        size >= 4
        and len(places) >= 2
        and len(set(places % 2)) == 1
        and len(places) == len(range(places[0] % 2, size, 2))
    ):
        return f"only at {'odd' if places[0] % 2 else 'even'} places of axis {axis}"
    if len(places) > MOST:
        missing = np.setdiff1d(np.arange(size), places)
        if len(missing) <= MOST:
            return f"everywhere but at {_listed(missing, size)} of axis {axis}"
        return (
            f"only from {places[0]} to {places[-1]} of axis {axis}" if len(places) == places[-1] - places[0] + 1 else ""
        )
    return f"only at {_listed(places, size)} of axis {axis}"


def _listed(places: np.ndarray, size: int) -> str:
    names = ["the last" if place == size - 1 and place > 0 else str(place) for place in places]
    return "index " + ", ".join(names) if len(names) == 1 else "indices " + ", ".join(names)


def _triangle(wrong: np.ndarray) -> str:
    flat = wrong.reshape(-1, *wrong.shape[-2:]).any(0)
    if not np.tril(flat, -1).any() and not np.diag(flat).any():
        return "only above the diagonal of the last two axes"
    if not np.triu(flat, 1).any() and not np.diag(flat).any():
        return "only below the diagonal of the last two axes"
    return ""
