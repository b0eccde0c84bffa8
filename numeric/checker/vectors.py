"""Vectors for programs in any language: inputs, exact outputs and gradients, and what rounding may do to them; docs/vectors.md.

K/input/NAME, K/option/NAME, K/cotangent            what case K asks
K/output/high, low, allowance                       high + low is exact to about 32 digits
K/gradient/NAME/high, low, allowance                the gradients of <cotangent, output>
vectors                                             a document in JSON, as bytes
"""

import json
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any

import numpy as np

from .adapters.numpy import DTYPES
from .array_files import Arrays
from .bench import REFERENCES
from .contract import Options
from .enclosure import Exact, NoEnclosure
from .formats import precision_of
from .plain import plain
from .questions import Case, Setting, StandIn, asked, key_of
from .rounding import allowance
from .usage import UsageError

FORMAT, VERSION = "transformer-proofs vectors", 1
DOCUMENT = "vectors"


def vectors(setting: Setting) -> tuple[int, Iterator[Arrays]]:
    """How many cases there are, and the arrays of each; those of the first hold the document too. Raises UsageError."""
    stand_in = asked(setting)
    return len(stand_in.cases), _arrays(setting, stand_in)


def _arrays(setting: Setting, stand_in: StandIn) -> Iterator[Arrays]:
    text = json.dumps(document_of(setting, stand_in.cases), allow_nan=False)
    document = {DOCUMENT: np.frombuffer(text.encode(), np.uint8)}
    for number, case in enumerate(stand_in.cases):
        asks, answers = _question(setting, case), _truth(setting, stand_in, case)
        yield {**document, **{f"{number}/{name}": array for name, array in (*asks, *answers)}}
        document = {}


def _question(setting: Setting, case: Case) -> Iterator[tuple[str, np.ndarray]]:
    for each, value in zip(setting.contract.inputs, case.inputs, strict=True):
        yield f"input/{each.name}", _stored(value, setting)
    for name, value in case.options.items():
        if isinstance(value, np.ndarray):
            yield f"option/{name}", _stored(value, setting)
        elif isinstance(value, bool | int | float):  # a number such as eps is none of the arrays, and is not rounded
            yield f"option/{name}", np.asarray(value)
    if case.dy is not None:
        yield "cotangent", _stored(case.dy, setting)


def _truth(setting: Setting, stand_in: StandIn, case: Case) -> Iterator[tuple[str, np.ndarray]]:
    """Not a number where no enclosure was found, which a judgement calls inconclusive."""
    contract, bench = setting.contract, setting.bench(stand_in, precision_of(setting.form.name))
    names, bounds = ["output"], [bench.bound(case.inputs, case.options)]
    if case.dy is not None:
        names += [f"gradient/{each.name}" for each in contract.inputs if each.floating]
        bounds += bench.gradient_bounds(case.dy, case.inputs, case.options)
    allowed = [allowance(bound) for bound in bounds]
    try:
        exact = [REFERENCES.value(contract, case.inputs, case.options, allowed[0])]
        if case.dy is not None:
            exact += REFERENCES.gradients(contract, case.dy, case.inputs, case.options, allowed[1:])
    except NoEnclosure:
        exact = [Exact(*[np.full(each.shape, np.nan)] * 3) for each in allowed]
    for name, truth, allowance_there in zip(names, exact, allowed, strict=True):
        yield f"{name}/high", truth.high
        yield f"{name}/low", truth.low
        yield f"{name}/allowance", allowance_there


def _stored(value: Any, setting: Setting) -> np.ndarray:
    """As an implementation would receive it."""
    array = np.asarray(value)
    if array.dtype.kind == "f":
        return array.astype(DTYPES[setting.form.name])
    return array.astype(np.bool_ if array.dtype.kind == "b" else np.int64)


# The document


def document_of(setting: Setting, cases: Sequence[Case]) -> dict[str, Any]:
    """What stands in a file beside its arrays."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "contract": setting.contract.name,
        "dtype": setting.form.name,
        "seed": setting.seed,
        "options": dict(setting.options),
        "probes": None if setting.probes is None else list(setting.probes),
        "digest": digest_of(setting, cases),
        "cases": [
            {"name": case.name, "options": _plain(case.options), "gradients": case.dy is not None} for case in cases
        ],
    }


def digest_of(setting: Setting, cases: Sequence[Case]) -> str:
    """Of the questions: two files with one digest ask the same."""
    digest = sha256(f"{setting.contract.name} {setting.form.name} ".encode())
    for case in cases:
        digest.update(key_of(case.inputs, case.options, case.dy).encode())
    return digest.hexdigest()


def document_in(array: np.ndarray) -> dict[str, Any]:
    """The document from its bytes. Raises UsageError."""
    try:
        document = json.loads(array.astype(np.uint8, casting="safe").tobytes())
    except (ValueError, TypeError) as error:
        raise UsageError(
            f"its array 'vectors' is no JSON in bytes: {error}; copy it from the vectors as it is"
        ) from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise UsageError("its array 'vectors' is not that of `python -m numeric vectors`; copy it from there as it is")
    if document.get("version") != VERSION:
        raise UsageError(f"its vectors have version {document.get('version')!r}, needed {VERSION}; write them anew")
    return document


def _plain(options: Options) -> dict[str, Any]:
    """Arrays among them stand in arrays of their own."""
    return {name: "array" if isinstance(value, np.ndarray) else plain(value) for name, value in options.items()}
