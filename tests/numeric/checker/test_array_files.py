"""Files of arrays: what is written is read, by others too; what is no such file is refused, and never run."""

import json
import pickle
import zipfile

import ml_dtypes
import numpy as np
import pytest

from numeric.checker import UsageError
from numeric.checker.array_files import is_array_file, read_arrays, write_arrays

ARRAYS = {
    "0/input/z": np.arange(6.0).reshape(2, 3),
    "0/input/z/low": np.float32([[1], [2]]),
    "half": np.float16([1.5]),
    "scalar": np.array(7),
    "mask": np.array([[True, False]]),
    "bytes": np.frombuffer(b"{}", np.uint8),
    "empty": np.zeros((0, 3)),
    "transposed": np.arange(6.0).reshape(2, 3).T,
}
SUFFIXES = [".npz", ".safetensors"]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_is_written_is_read(tmp_path, suffix):
    path = tmp_path / f"a{suffix}"
    write_arrays(path, ARRAYS)
    found = read_arrays(path)
    assert list(found) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape)
        np.testing.assert_array_equal(found[name], array)
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_bfloat16(tmp_path):
    array = np.array([1.0, -2.5], ml_dtypes.bfloat16)
    write_arrays(tmp_path / "a.safetensors", {"x": array})
    assert read_arrays(tmp_path / "a.safetensors")["x"].dtype == array.dtype
    write_arrays(tmp_path / "a.npz", {"x": array})
    np.testing.assert_array_equal(read_arrays(tmp_path / "a.npz")["x"], np.uint16([0x3F80, 0xC020]))


def test_others_read_and_write_them_too(tmp_path):
    write_arrays(tmp_path / "a.npz", ARRAYS)
    with np.load(tmp_path / "a.npz") as loaded:
        np.testing.assert_array_equal(loaded["0/input/z"], ARRAYS["0/input/z"])
    np.savez_compressed(tmp_path / "b.npz", x=np.asfortranarray(ARRAYS["0/input/z"]))
    np.testing.assert_array_equal(read_arrays(tmp_path / "b.npz")["x"], ARRAYS["0/input/z"])
    safetensors = pytest.importorskip("safetensors.numpy")
    write_arrays(tmp_path / "a.safetensors", ARRAYS)
    np.testing.assert_array_equal(safetensors.load_file(tmp_path / "a.safetensors")["half"], ARRAYS["half"])
    safetensors.save_file({"x": ARRAYS["half"]}, tmp_path / "b.safetensors", {"note": "metadata is ignored"})
    assert list(read_arrays(tmp_path / "b.safetensors")) == ["x"]


class Bomb:
    def __reduce__(self):
        return pytest.fail, ("it was unpickled",)


def header_of(entry, data=b"", length=None):
    text = json.dumps({"x": entry}).encode()
    return (len(text) if length is None else length).to_bytes(8, "little") + text + data


PLAIN = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
BAD_TENSORS = {
    "shorter than its data": header_of(PLAIN, b"1234"),
    "a header beyond the file": header_of(PLAIN, b"12345678", 10**6),
    "an enormous header": header_of(PLAIN, b"12345678", 2**63),
    "no bytes": b"",
    "no JSON": (2).to_bytes(8, "little") + b"{x",
    "a list": (2).to_bytes(8, "little") + b"[]",
    "an unknown dtype": header_of({**PLAIN, "dtype": "F8"}, b"12345678"),
    "a shape beyond its data": header_of({**PLAIN, "shape": [10**12]}, b"12345678"),
    "a negative shape": header_of({**PLAIN, "shape": [-2]}, b"12345678"),
    "a shape of floats": header_of({**PLAIN, "shape": [2.0]}, b"12345678"),
    "offsets in the header": header_of({**PLAIN, "data_offsets": [-8, 0]}, b"12345678"),
    "offsets of three": header_of({**PLAIN, "data_offsets": [0, 4, 8]}, b"12345678"),
    "no shape": header_of({"dtype": "F32", "data_offsets": [0, 8]}, b"12345678"),
    "a pickle": pickle.dumps(Bomb()),
}


@pytest.mark.parametrize("content", BAD_TENSORS.values(), ids=BAD_TENSORS)
def test_what_is_no_safetensors_is_refused(tmp_path, content):
    path = tmp_path / "a.safetensors"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=r"a\.safetensors cannot be read as \.safetensors: .*; it is cut off, damaged"):
        read_arrays(path)


def npy(header, data=b""):
    text = header.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + data


def archive(path, name, content):
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(name, content)
    return path.read_bytes()


def bad_archives(path):
    whole = archive(path, "x.npy", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", b"12345678"))
    np.savez(path, x=np.array([Bomb()], dtype=object))
    return {
        "nothing": b"",
        "cut off": whole[:-30],
        "cut off early": whole[:40],
        "damaged": whole.replace(b"12345678", b"12345679"),
        "a pickle": pickle.dumps(Bomb()),
        "an object array": path.read_bytes(),
        "a pickle within": archive(path, "x.npy", pickle.dumps(Bomb())),
        "a text within": archive(path, "readme.txt", b"hello"),
        "a shape beyond its data": archive(
            path, "x.npy", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,)}", b"12345678")
        ),
        "a negative shape": archive(path, "x.npy", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-2, -1)}", b"12345678")),
        "code in a header": archive(path, "x.npy", npy("__import__('pytest').fail('run')")),
    }  # fmt: skip


def test_what_is_no_npz_is_refused(tmp_path):
    for name, content in bad_archives(tmp_path / "made.npz").items():
        path = tmp_path / "a.npz"
        path.write_bytes(content)
        with pytest.raises(UsageError) as error:
            read_arrays(path)
        assert "a.npz cannot be read as .npz: " in str(error.value), name
        assert "; it is cut off, damaged" in str(error.value), name


def test_objects_are_refused_as_such(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.array([Bomb()], dtype=object))
    with pytest.raises(UsageError, match=r"'x\.npy' holds Python objects, which would have to be unpickled"):
        read_arrays(tmp_path / "a.npz")


def test_files_and_names(tmp_path):
    assert is_array_file("a.npz") and is_array_file("b/a.safetensors")
    assert not is_array_file("package.module:npz") and not is_array_file("a.npy")
    with pytest.raises(UsageError, match=r"cannot read .*none\.npz: No such file"):
        read_arrays(tmp_path / "none.npz")
    with pytest.raises(UsageError, match=r"has the suffix '\.npy', needed one of \.npz, \.safetensors"):
        read_arrays(tmp_path / "a.npy")
    with pytest.raises(UsageError, match=r"cannot write .*a\.npz: No such file"):
        write_arrays(tmp_path / "none" / "a.npz", {})
