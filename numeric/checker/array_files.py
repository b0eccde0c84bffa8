"""Named arrays in one file, `.npz` or `.safetensors` by its name; read without running anything of a stranger's, and never unpickled.

    .npz            a zip archive of NumPy's .npy files, stored without compression; bfloat16 as its bits in uint16
    .safetensors    eight bytes with the length of a header, the header in JSON, and the bytes of the arrays; no package is needed

Nothing is allocated for an array that the file does not hold in full, whatever its header says.
"""

import io
import json
import math
import os
import secrets
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from .adapters.numpy import DTYPES
from .usage import UsageError

Arrays = dict[str, np.ndarray]

BFLOAT16 = DTYPES["bfloat16"]
NAMES = {
    np.dtype("float64"): "F64",
    np.dtype("float32"): "F32",
    np.dtype("float16"): "F16",
    BFLOAT16: "BF16",
    np.dtype("int64"): "I64",
    np.dtype("int32"): "I32",
    np.dtype("uint8"): "U8",
    np.dtype("bool"): "BOOL",
}
BY_NAME = {name: dtype for dtype, name in NAMES.items()}
LONGEST_HEADER = 10**8
LARGEST_FILE = 2**33  # after decompression


def write_arrays(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """The file appears under its name when it is complete. Raises UsageError."""
    write, _ = _format_of(path)
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}.unfinished")
    try:
        with open(unfinished, "xb") as file:
            write(file, {name: np.ascontiguousarray(each).reshape(each.shape) for name, each in arrays.items()})
        os.replace(unfinished, path)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error
    finally:
        unfinished.unlink(missing_ok=True)


def read_arrays(path: Path) -> Arrays:
    """Raises UsageError for what cannot be read, is cut off, or holds anything but arrays of numbers."""
    _, read = _format_of(path)
    try:
        with open(path, "rb") as file:
            return read(file)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    except Exception as error:  # readers raise nearly anything on bytes that are none of theirs
        raise UsageError(
            f"{path} cannot be read as {path.suffix}: {error or type(error).__name__}; it is cut off, damaged, or of another format"
        ) from error


# .npz


def _write_npz(file: BinaryIO, arrays: Arrays) -> None:
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                stored = array.view(np.uint16) if array.dtype == BFLOAT16 else array
                np.lib.format.write_array(member, stored, allow_pickle=False)


def _read_npz(file: BinaryIO) -> Arrays:
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        if sum(each.file_size for each in members) > LARGEST_FILE:
            raise ValueError(f"it holds more than {LARGEST_FILE} bytes")
        return {each.filename.removesuffix(".npy"): _array_of(each.filename, archive.read(each)) for each in members}


def _array_of(name: str, content: bytes) -> np.ndarray:
    stream = io.BytesIO(content)
    try:
        version = np.lib.format.read_magic(stream)
    except ValueError:
        raise ValueError(f"{name!r} in it is no .npy file, so no array") from None
    header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, fortran, dtype = header(stream)
    if dtype.hasobject:
        raise ValueError(f"{name!r} holds Python objects, which would have to be unpickled; write plain arrays")
    data = content[stream.tell() :]
    if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != len(data):
        raise ValueError(f"{name!r} has {len(data)} bytes, needed those of shape {shape} in {dtype}")
    flat = np.frombuffer(data, dtype)
    return flat.reshape(shape[::-1]).T if fortran else flat.reshape(shape)


# .safetensors


def _write_safetensors(file: BinaryIO, arrays: Arrays) -> None:
    header, offset = {}, 0
    for name, array in arrays.items():
        end = offset + array.nbytes
        header[name] = {"dtype": NAMES[array.dtype], "shape": list(array.shape), "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    file.write(len(text).to_bytes(8, "little") + text)
    for array in arrays.values():
        file.write(array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes())


def _read_safetensors(file: BinaryIO) -> Arrays:
    size = os.fstat(file.fileno()).st_size
    length = int.from_bytes(file.read(8), "little")
    if not 0 < length <= min(LONGEST_HEADER, size - 8):
        raise ValueError(f"its header is said to have {length} bytes, and the file has {size}")
    header = json.loads(file.read(length))
    data = file.read()
    return {name: _tensor(name, entry, data) for name, entry in header.items() if name != "__metadata__"}


def _tensor(name: str, entry: dict[str, Any], data: bytes) -> np.ndarray:
    shape, offsets = entry["shape"], entry["data_offsets"]
    if entry["dtype"] not in BY_NAME:
        raise ValueError(f"{name!r} has dtype {entry['dtype']!r}, needed one of {', '.join(BY_NAME)}")
    dtype = BY_NAME[entry["dtype"]]
    if not all(type(each) is int and each >= 0 for each in (*shape, *offsets)):
        raise ValueError(f"{name!r} has shape {shape} and data_offsets {offsets}, needed integers from 0 on")
    first, end = offsets
    if end - first != math.prod(shape) * dtype.itemsize or end > len(data):
        raise ValueError(f"{name!r} lies at {offsets} of {len(data)} bytes, needed those of shape {shape} in {dtype}")
    return np.frombuffer(data[first:end], dtype.newbyteorder("<")).astype(dtype).reshape(shape)


FORMATS: dict[str, tuple[Callable[[BinaryIO, Arrays], None], Callable[[BinaryIO], Arrays]]] = {
    ".npz": (_write_npz, _read_npz),
    ".safetensors": (_write_safetensors, _read_safetensors),
}


def is_array_file(name: str) -> bool:
    return Path(name).suffix in FORMATS


def _format_of(path: Path) -> tuple[Callable[[BinaryIO, Arrays], None], Callable[[BinaryIO], Arrays]]:
    if path.suffix not in FORMATS:
        raise UsageError(f"{path} has the suffix {path.suffix!r}, needed one of {', '.join(FORMATS)}")
    return FORMATS[path.suffix]
