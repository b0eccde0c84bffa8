"""Probes of functions of logits (N, C) and integer targets (N,): cross_entropy."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..contract import Bench, Options, Probe
from ..formats import Format
from ..usage import UsageError

IGNORED = -100
SHAPES = ((5, 7), (3, 11), (13, 4))


def counted(targets: np.ndarray, ignore_index: int | None) -> np.ndarray:
    """Which rows count."""
    return np.ones(targets.shape, bool) if ignore_index is None else np.asarray(targets != ignore_index)


def ignored_of(options: Mapping[str, Any]) -> int:
    """The target that is ignored, where one is."""
    given = options["ignore_index"]
    if given is None:
        return IGNORED
    if isinstance(given, bool) or not isinstance(given, int):
        raise UsageError(f"ignore_index={given!r}: needed an integer, or None where every row counts")
    return given


def drawn_targets(rng: np.random.Generator, shape: tuple[int, ...], ignored: int | None) -> np.ndarray:
    """None of them ignored."""
    rows, classes = shape
    among = np.setdiff1d(np.arange(classes), [] if ignored is None else [ignored])
    return rng.choice(among, rows)


def drawn(bench: Bench, rng: np.random.Generator, shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Logits and targets, none of which is ignored."""
    return bench.rounded(2 * rng.standard_normal(shape)), drawn_targets(rng, shape, bench.options["ignore_index"])


def generic(rng: np.random.Generator, options: Options) -> list[Probe]:
    """Where rows may be ignored, two in five are, the first among them, and never all."""
    probes = []
    for rows, classes in SHAPES:
        targets = drawn_targets(rng, (rows, classes), options["ignore_index"])
        if options["ignore_index"] is not None:
            targets[[0, *rng.choice(np.arange(1, rows), 2 * rows // 5 - 1, replace=False)]] = ignored_of(options)
        probes.append(Probe(f"generic ({rows}, {classes})", (2.5 * rng.standard_normal((rows, classes)), targets)))
    return probes


def structured(rng: np.random.Generator, form: Format, options: Options) -> list[Probe]:
    quarters = rng.integers(-12, 13, (3, 9)) / 4  # on a grid so coarse that the offset is added without rounding
    offset, huge = 2.0 ** (form.bits // 2), min(1e8, form.largest / 4)
    rows: list[tuple[str, Any, Any]] = [
        ("sure of the target", [[10, 0, 0, 0]], [0]),
        ("target far below", [[-431, 279, 427]], [0]),
        ("gap of 1000", [[1000, 0], [0, 1000], [0, 1000]], [1, 1, 0]),
        ("both -10000", [[-1e4, -1e4]], [1]),
        ("equal and huge", [[huge, huge, huge]], [2]),
        ("ties", [[3, 3, 0, 3, -1], [2, 2, 2, 2, 2], [0, 0, -700, 0, 1]], [1, 4, 2]),
        ("large offset", quarters + offset, [2, 8, 5]),
        ("large negative offset", quarters - offset, [2, 8, 5]),
        ("huge logits", 100 * rng.standard_normal((3, 9)), [1, 1, 7]),
        ("every target the last class", rng.standard_normal((4, 3)), [2, 2, 2, 2]),
        ("single class", rng.standard_normal((4, 1)), [0, 0, 0, 0]),
    ]
    for name, shape in (("one row", (1, 9)), ("4 x 4096", (4, 4096)), ("512 x 5", (512, 5))):
        rows.append((name, 2 * rng.standard_normal(shape), drawn_targets(rng, shape, None)))
    given = options["ignore_index"]
    probes = [Probe(name, _of(logits, targets, given)) for name, logits, targets in rows]
    smoothed = ("target far below", "large offset", "huge logits", "4 x 4096")
    settings = {"label_smoothing": 0.1}
    probes += [Probe(f"{each.name}, smoothed", each.inputs, settings) for each in probes if each.name in smoothed]
    probes += [
        Probe(layout, _of(2 * rng.standard_normal((5, 7)), rng.integers(0, 7, 5), given), layout=layout)
        for layout in ("strided", "read-only")
    ]
    some_count = [each for each in probes if counted(each.inputs[1], given).any()]
    return some_count + _with_ignored_rows(rng, ignored_of(options))


def _with_ignored_rows(rng: np.random.Generator, ignored: int) -> list[Probe]:
    rows: list[tuple[str, Any, Sequence[int]]] = [
        ("a padded row", [[0, 0], [0, 0]], [1]),
        ("one row in six counts", 2 * rng.standard_normal((6, 5)), [0, 1, 2, 3, 5]),
        ("ignored rows with large logits", [[0, 1, -1], [3e4, -3e4, 0], [2, 0, 1]], [1]),
    ]
    probes = []
    for name, logits, places in rows:
        z = np.asarray(logits, dtype=np.float64)
        targets = drawn_targets(rng, z.shape, ignored)
        targets[places] = ignored
        probes.append(Probe(name, (z, targets), {"ignore_index": ignored}))
    return probes


def _of(logits: Any, targets: Any, without: int | None) -> tuple[np.ndarray, np.ndarray]:
    """As arrays; a target that would be ignored becomes the next class."""
    z, t = np.asarray(logits, dtype=np.float64), np.array(targets)
    return z, t if without is None else np.where(t == without, (t + 1) % z.shape[-1], t)
