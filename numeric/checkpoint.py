"""Checkpoints: a tree of arrays and the settings that go with it, in one file, `.npz` or `.safetensors` by its name.

    .npz            a zip archive of NumPy's .npy files; numpy.load reads it, needs nothing
    .safetensors    needs the package safetensors; other frameworks read it

The names of the arrays are those of `numeric.parameters.flatten`; the settings, in JSON, stand beside them under
"checkpoint.json", with a checksum of every array, so that a damaged file is seen. Nothing is ever pickled: loading a
stranger's file runs none of its code. A file is written under another name in the same folder, and takes its own name
only when it is complete; whatever interrupts a save leaves the checkpoint before it as it was.
"""

import json
import os
import secrets
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from .parameters import Tree, flatten, unflatten

NAME = "checkpoint"
FORMAT = "transformer-proofs checkpoint 1"
DOCUMENT, CHECKSUM = "checkpoint.json", "crc32"
DTYPES = frozenset(map(np.dtype, "? b B h H i I l L q Q e f d".split()))
FROM_SAVE = "needed a file that numeric.checkpoint.save wrote"

Arrays = dict[str, np.ndarray]


class CheckpointError(ValueError):
    """The file is no checkpoint, or it is damaged."""


def save(path: str | os.PathLike[str], tree: Tree, settings: dict[str, Any]) -> None:
    """Write a checkpoint, in place of the one there was under this name.

    Arrays may be booleans, integers, float16, float32 or float64. Settings are what JSON gives back as it was: dicts
    with strings for keys, lists, strings, finite numbers, booleans and None. Raises TypeError or ValueError for other
    things, FileNotFoundError without the folder, and ModuleNotFoundError without safetensors where it is needed.
    """
    target = Path(path).resolve()
    write, _ = _format_of(target)
    arrays = {name: _storable(name, leaf) for name, leaf in flatten(tree).items()}
    checksums = {name: _checksum(array) for name, array in arrays.items()}
    document = json.dumps({"format": FORMAT, "settings": _plain(settings), "arrays": checksums}, ensure_ascii=False)
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"{NAME}: there is no folder {target.parent}, needed for {target.name}; create it first"
        )
    unfinished = target.with_name(f".{target.name}.{secrets.token_hex(4)}.unfinished")
    try:
        with open(unfinished, "xb") as file:
            write(file, arrays, document)
            file.flush()
            os.fsync(file.fileno())  # else, after a power failure, the new name might stand for nothing
        os.replace(unfinished, target)
    finally:
        unfinished.unlink(missing_ok=True)


def load(path: str | os.PathLike[str]) -> tuple[Any, dict[str, Any]]:
    """The tree and the settings as they were saved; the arrays are the caller's, in memory and writable.

    Raises FileNotFoundError, CheckpointError for what is no checkpoint or is damaged, ValueError for another suffix,
    and ModuleNotFoundError without safetensors where it is needed.
    """
    source = Path(path)
    _, read = _format_of(source)
    if not source.exists():
        raise FileNotFoundError(f"{NAME}: {source} does not exist, {FROM_SAVE}")
    with open(source, "rb") as file:  # raises what the file system says: no permission, a folder
        try:
            arrays, document = read(file)
            described = _described(source, document)
            return unflatten(_verified(source, arrays, described["arrays"])), described["settings"]
        except CheckpointError:
            raise
        except Exception as error:  # readers raise nearly anything on bytes that are none of theirs
            raise CheckpointError(
                f"{NAME}: {source} cannot be read as {source.suffix} ({type(error).__name__}: {error}), {FROM_SAVE}; "
                "it may be cut off or damaged"
            ) from error


def _described(source: Path, document: str | None) -> dict[str, Any]:
    if document is None:
        raise CheckpointError(f"{NAME}: {source} is a {source.suffix} file without {DOCUMENT}, {FROM_SAVE}")
    described: dict[str, Any] = json.loads(document)
    if described["format"] != FORMAT:
        raise CheckpointError(f"{NAME}: {source} has the format {described['format']!r}, needed {FORMAT!r}")
    return described


def _verified(source: Path, arrays: Arrays, checksums: dict[str, int]) -> Arrays:
    """The arrays in the order in which they were saved. Raises CheckpointError unless they are all as they were."""
    if arrays.keys() != checksums.keys():
        odd = sorted(arrays.keys() ^ checksums.keys())
        count = f"({len(odd)} such in all)"
        raise CheckpointError(f"{NAME}: {source} lacks arrays or has others, as {odd[0]} {count}, {FROM_SAVE}")
    for name, checksum in checksums.items():
        if _checksum(arrays[name]) != checksum:
            raise CheckpointError(
                f"{NAME}: {source} is damaged: {name} is not what was saved; take an older checkpoint"
            )
    return {name: arrays[name] for name in checksums}


# The two formats


def _write_npz(file: BinaryIO, arrays: Arrays, document: str) -> None:
    with zipfile.ZipFile(file, "w") as archive:  # numpy.savez would take a leaf named "file" for an argument of its own
        archive.writestr(DOCUMENT, document)
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


def _read_npz(file: BinaryIO) -> tuple[Arrays, str | None]:
    with zipfile.ZipFile(file) as archive:
        names = archive.namelist()
        if DOCUMENT not in names:
            return {}, None
        arrays = {}
        for name in names:
            if name != DOCUMENT:
                with archive.open(name) as member:
                    arrays[name.removesuffix(".npy")] = np.lib.format.read_array(member, allow_pickle=False)
        return arrays, archive.read(DOCUMENT).decode()


def _write_safetensors(file: BinaryIO, arrays: Arrays, document: str) -> None:
    from safetensors.numpy import save as serialised

    # unlike a zip archive the format guards nothing of what it holds
    file.write(serialised(arrays, {DOCUMENT: document, CHECKSUM: str(zlib.crc32(document.encode()))}))


def _read_safetensors(file: BinaryIO) -> tuple[Arrays, str | None]:
    from safetensors import safe_open

    with safe_open(file.name, framework="numpy") as content:
        metadata = content.metadata() or {}
        document = metadata.get(DOCUMENT)
        if document is None:
            return {}, None
        if str(zlib.crc32(document.encode())) != metadata.get(CHECKSUM):
            raise ValueError(f"the checksum of {DOCUMENT} is another one")
        return {name: np.array(content.get_tensor(name)) for name in content.keys()}, document  # noqa: SIM118


Format = tuple[Callable[[BinaryIO, Arrays, str], None], Callable[[BinaryIO], tuple[Arrays, str | None]]]
FORMATS: dict[str, Format] = {
    ".npz": (_write_npz, _read_npz),
    ".safetensors": (_write_safetensors, _read_safetensors),
}


def _format_of(path: Path) -> Format:
    if path.suffix not in FORMATS:
        raise ValueError(f"{NAME}: {path} has the suffix {path.suffix!r}, needed one of {', '.join(FORMATS)}")
    if path.suffix == ".safetensors":
        try:
            import safetensors  # noqa: F401
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                f"{NAME}: the package safetensors is not installed, needed for {path}; "
                "pip install 'transformer-proofs[train]', or use .npz"
            ) from error
    return FORMATS[path.suffix]


# What is stored


def _storable(name: str, leaf: Any) -> np.ndarray:
    """The array as both formats take it: in C order, the lowest byte first."""
    array = np.asarray(leaf)
    if array.dtype.newbyteorder("=") not in DTYPES:
        raise TypeError(
            f"{NAME}: {name} has dtype {array.dtype}, needed bool, integers, float16, float32 or float64; "
            "convert it with .astype, or balls with numeric.arithmetic.to_floats"
        )
    return np.asarray(array, array.dtype.newbyteorder("<"), order="C")


def _checksum(array: np.ndarray) -> int:
    return zlib.crc32(array.tobytes(), zlib.crc32(f"{array.dtype.str} {array.shape}".encode()))


def _plain(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings that JSON gives back as they are. Raises TypeError or ValueError."""
    if not isinstance(settings, dict):
        raise TypeError(f"{NAME}: settings is a {type(settings).__name__}, needed a dict")
    try:
        returned = json.loads(json.dumps(settings, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise type(error)(f"{NAME}: settings cannot be written as JSON: {error}") from error
    changed = [key for key, value in settings.items() if key not in returned or returned[key] != value]
    if changed:
        raise ValueError(
            f"{NAME}: JSON would not give settings[{changed[0]!r}] back as it is, {settings[changed[0]]!r}; "
            "needed lists for tuples and strings for the keys of dicts"
        )
    return settings
