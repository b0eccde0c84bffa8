# mypy: disable-error-code="arg-type"
# (wrong arguments are passed on purpose, to see what is said of them)
import builtins
import itertools
import json
import math
import os
import pickle
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from numeric import checkpoint
from numeric.arithmetic import to_balls
from numeric.checkpoint import CheckpointError, load, save
from numeric.optimizer import initial, update
from numeric.parameters import flatten

SETTINGS = {"step": 7, "rate": 1e-9, "names": ["만", None, True], "rng": np.random.default_rng(1).bit_generator.state}
TREE = {
    "file": np.arange(3),  # names that numpy.savez takes for its own arguments
    "allow_pickle": np.array(2.5),
    "layers": [{"w": np.arange(6, dtype=np.float32).reshape(2, 3)}, {"w": np.zeros((0, 4), np.float16)}],
    "checkpoint": {"json": np.array([True, False])},
    "한": np.array([[1, 255]], np.uint8),
}


@pytest.fixture(params=[".npz", ".safetensors"])
def path(request, tmp_path):
    if request.param == ".safetensors":
        pytest.importorskip("safetensors")
    return tmp_path / f"model{request.param}"


def same(one, other):
    """The same names in the same order, and arrays of the same dtype, shape and bytes."""
    one, other = flatten(one), flatten(other)
    return list(one) == list(other) and all(
        (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())
        for a, b in zip(one.values(), other.values(), strict=True)
    )


def outcome(path, tree, settings):
    """Does the file give this tree and these settings, is it refused, or does it give others?"""
    try:
        found, told = load(path)
    except CheckpointError:
        return "refused"
    return "as saved" if same(found, tree) and told == settings else "others"


def test_what_was_saved_is_loaded(path):
    save(str(path), TREE, SETTINGS)
    tree, settings = load(path)
    assert same(tree, TREE) and settings == SETTINGS and isinstance(tree["layers"], list)
    assert os.listdir(path.parent) == [path.name]
    for array in flatten(tree).values():
        array[...] = 1  # writable, and no window on the file
    assert same(load(path)[0], TREE)


def test_any_bits_come_back(path):
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, -1 / 3])
    special[4:5].view(np.int64)[0] ^= 3  # another NaN
    save(path, {"x": special, "f": special.astype(np.float32)}, {})
    assert same(load(path)[0], {"x": special, "f": special.astype(np.float32)})


def test_layout_and_byte_order_are_not_kept_but_the_numbers_are(path):
    array = np.arange(24.0).reshape(4, 6)
    save(path, {"f": np.asfortranarray(array), "part": array[::2, ::-3], "big": array.astype(">f4"), "t": array.T}, {})
    tree, _ = load(path)
    assert same(tree, {"f": array, "part": array[::2, ::-3].copy(), "big": array.astype("f"), "t": array.T.copy()})


def test_npz_is_what_numpy_reads(tmp_path):
    save(tmp_path / "x.npz", TREE, SETTINGS)
    with np.load(tmp_path / "x.npz", allow_pickle=False) as archive:
        assert np.array_equal(archive["layers.0.w"], TREE["layers"][0]["w"])
        assert json.loads(archive["checkpoint.json"])["settings"] == SETTINGS


def test_safetensors_is_what_others_read(tmp_path):
    others = pytest.importorskip("safetensors.numpy")
    save(tmp_path / "x.safetensors", TREE, SETTINGS)
    assert np.array_equal(others.load_file(tmp_path / "x.safetensors")["layers.0.w"], TREE["layers"][0]["w"])


def test_training_goes_on_from_a_checkpoint_as_if_nothing_had_happened(path):
    params, gradient = (
        {"a": [np.ones((2, 3), np.float32)]},
        {"a": [np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)]},
    )
    params, state = update(params, gradient, initial(params), 0.1)
    save(path, {"params": params, "m": state.m, "v": state.v}, {"step": state.step})
    tree, settings = load(path)
    again = update(tree["params"], gradient, state._replace(step=settings["step"], m=tree["m"], v=tree["v"]), 0.1)
    expected = update(params, gradient, state, 0.1)
    assert same(again[0], expected[0]) and same(again[1].v, expected[1].v) and again[1].step == 2


# Interrupted saves


def old_one_is_kept(function, path, place, name, error, monkeypatch, calls=1):
    """Is the old checkpoint there, and nothing else, when a certain call of place.name has raised `error`?"""
    save(path, TREE, {"step": 1})
    original, count = getattr(place, name), itertools.count(1)

    def interrupted(*arguments, **more):
        if next(count) == calls:
            raise error
        return original(*arguments, **more)

    with monkeypatch.context() as patch:
        patch.setattr(place, name, interrupted)
        with pytest.raises(type(error)):
            function(path, {"other": [np.ones(3), np.ones(2)]}, {"step": 2})
    return os.listdir(path.parent) == [path.name] and outcome(path, TREE, {"step": 1}) == "as saved"


INTERRUPTIONS = [KeyboardInterrupt(), OSError(28, "No space left on device"), MemoryError()]


@pytest.mark.parametrize(("place", "name"), [(os, "replace"), (os, "fsync"), (checkpoint.zlib, "crc32")])
@pytest.mark.parametrize("error", INTERRUPTIONS, ids=repr)
def test_an_interrupted_save_leaves_the_old_checkpoint(place, name, error, path, monkeypatch):
    assert old_one_is_kept(save, path, place, name, error, monkeypatch)


@pytest.mark.parametrize("error", INTERRUPTIONS, ids=repr)
def test_a_save_interrupted_between_two_arrays_leaves_the_old_checkpoint(error, tmp_path, monkeypatch):
    assert old_one_is_kept(save, tmp_path / "x.npz", np.lib.format, "write_array", error, monkeypatch, calls=2)


def test_a_save_straight_into_the_file_does_not(path, monkeypatch):
    def careless(path, tree, settings):
        with open(path, "wb") as file:
            checkpoint.FORMATS[path.suffix][0](file, flatten(tree), json.dumps(settings))
            os.fsync(file.fileno())

    assert not old_one_is_kept(careless, path, os, "fsync", KeyboardInterrupt(), monkeypatch)


def killed_while_saving(path, seconds):
    """Starts a process that saves without end, and kills it some time after its first checkpoint."""
    code = (
        "import sys, itertools, numpy as np\nfrom numeric.checkpoint import save\n"
        "for n in itertools.count(): save(sys.argv[1], {'x': np.full(300_000, float(n))}, {'n': n})"
    )
    root = Path(checkpoint.__file__).parents[1]
    process = subprocess.Popen([sys.executable, "-c", code, str(path)], cwd=root)
    while not path.exists() and process.poll() is None:
        time.sleep(0.01)
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    return process.wait()


@pytest.mark.slow
@pytest.mark.parametrize("seconds", np.linspace(0.1, 0.2, 6))
def test_a_killed_process_leaves_a_whole_checkpoint(seconds, path):
    assert killed_while_saving(path, seconds) == -signal.SIGKILL
    tree, settings = load(path)
    assert (tree["x"] == settings["n"]).all() and settings["n"] > 0
    save(path, TREE, SETTINGS)  # what the killed one may have left behind is in nobody's way
    assert outcome(path, TREE, SETTINGS) == "as saved"


# Damaged and foreign files


SMALL = {"a": np.arange(3.0), "b": [np.ones((1, 2), np.int8)]}
EVERY = [pytest.param(1, marks=pytest.mark.slow), 31]


@pytest.mark.parametrize("every", EVERY)
def test_a_truncated_file_is_seen_at_every_length(every, path):
    save(path, SMALL, SETTINGS)
    whole = path.read_bytes()
    for length in (*range(0, len(whole), every), len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(CheckpointError, match=rf"{path} (cannot be read as|is a .* without checkpoint.json)"):
            load(path)


def gets_through(path, tree, settings, every, mask):
    """At how many places a changed byte makes `load` give something else without an error."""
    save(path, tree, settings)
    whole, count = path.read_bytes(), 0
    for place in range(0, len(whole), every):
        damaged = bytearray(whole)
        damaged[place] ^= mask
        path.write_bytes(damaged)
        count += outcome(path, tree, settings) == "others"
    return count


@pytest.mark.parametrize("every", EVERY)
@pytest.mark.parametrize("mask", [0xFF, 1, 0x20])
def test_a_changed_byte_is_seen_wherever_it_matters(every, mask, path):
    """Some bytes of a zip archive say nothing (times, attributes): then what is loaded is what was saved."""
    assert gets_through(path, SMALL, SETTINGS, every, mask) == 0


def test_without_checksums_changed_bytes_would_get_through(tmp_path, monkeypatch):
    pytest.importorskip("safetensors")
    monkeypatch.setattr(checkpoint, "_checksum", lambda array: 0)
    assert gets_through(tmp_path / "x.safetensors", SMALL, {}, 1, 1) >= sum(
        leaf.nbytes for leaf in flatten(SMALL).values()
    )


def other_members(path, **members):
    """The archive with some of its members exchanged, added or, for None, left out."""
    with zipfile.ZipFile(path) as archive:
        old = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in (old | members).items():
            if content is not None:
                archive.writestr(name, content)


DOCUMENT = {"format": checkpoint.FORMAT, "settings": {}, "arrays": {}}


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"file.npy": None}, r"lacks arrays or has others, as file \(1 such in all\)"),
        ({"more.npy": b"\x93NUMPY"}, "cannot be read as .npz .*damaged"),
        (
            {"checkpoint.json": None},
            "is a .npz file without checkpoint.json, needed a file that numeric.checkpoint.save",
        ),
        ({"checkpoint.json": "{}"}, "cannot be read as .npz .KeyError: 'format'"),
        ({"checkpoint.json": "[]"}, "cannot be read as .npz .TypeError"),
        ({"checkpoint.json": b"\xff"}, "cannot be read as .npz .UnicodeDecodeError"),
        (
            {"checkpoint.json": json.dumps(DOCUMENT | {"format": "transformer-proofs checkpoint 2"})},
            "has the format .*2', needed .*1'",
        ),
        ({"checkpoint.json": json.dumps(DOCUMENT)}, r"lacks arrays or has others, as allow_pickle \(6 such in all\)"),
    ],
)
def test_an_archive_that_is_no_checkpoint_is_refused(members, message, tmp_path):
    path = tmp_path / "x.npz"
    save(path, TREE, SETTINGS)
    other_members(path, **members)
    with pytest.raises(CheckpointError, match=message):
        load(path)


class Trap:
    """Unpickling it leaves a file behind."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def test_nothing_is_unpickled(tmp_path):
    path, sprung = tmp_path / "x.npz", tmp_path / "sprung"
    array = np.empty(1, object)
    array[0] = Trap(sprung)
    save(path, {"x": np.ones(1)}, {})
    np.save(tmp_path / "array.npy", array, allow_pickle=True)
    other_members(path, **{"x.npy": (tmp_path / "array.npy").read_bytes()})
    with pytest.raises(CheckpointError, match=r"cannot be read as .npz .ValueError: Object arrays cannot be loaded"):
        load(path)
    path.write_bytes(pickle.dumps(Trap(sprung)))
    with pytest.raises(CheckpointError, match="File is not a zip file"):
        load(path)
    assert not sprung.exists()


def test_foreign_files_are_refused(path):
    for content in (b"", b"hello", b"\x93NUMPY\x01\x00", bytes(1000), b"\xff" * 1000):
        path.write_bytes(content)
        with pytest.raises(CheckpointError, match=f"cannot be read as {path.suffix} .*it may be cut off or damaged"):
            load(path)
    if path.suffix == ".npz":
        np.savez(path, x=np.ones(2))
    else:
        path.write_bytes(pytest.importorskip("safetensors.numpy").save({"x": np.ones(2)}))
    with pytest.raises(CheckpointError, match=f"is a {path.suffix} file without checkpoint.json"):
        load(path)


def test_one_format_under_the_name_of_the_other_is_refused(tmp_path):
    pytest.importorskip("safetensors")
    one, other = tmp_path / "a.npz", tmp_path / "a.safetensors"
    save(one, TREE, SETTINGS)
    save(other, TREE, SETTINGS)
    contents = one.read_bytes(), other.read_bytes()
    one.write_bytes(contents[1])
    other.write_bytes(contents[0])
    for path in (one, other):
        with pytest.raises(CheckpointError, match=f"cannot be read as {path.suffix}"):
            load(path)


# Errors

ONE = {"a": [np.ones(1)]}


@pytest.mark.parametrize(
    ("tree", "settings", "error", "message"),
    [
        (
            {"a": [to_balls([1.0])]},
            {},
            TypeError,
            "a.0 has dtype object, needed bool, .* balls with numeric.arithmetic.to_floats",
        ),
        (
            {"a": np.ones(1, ml_dtypes.bfloat16)},
            {},
            TypeError,
            "a has dtype bfloat16, needed .* convert it with .astype",
        ),
        ({"a": np.ones(1, complex)}, {}, TypeError, "a has dtype complex128"),
        ({"a": np.array(["x"])}, {}, TypeError, "a has dtype <U1"),
        ({}, {}, ValueError, "the tree is an empty dict"),
        (ONE, [1], TypeError, "settings is a list, needed a dict"),
        (ONE, {"a": np.int64(1)}, TypeError, "settings cannot be written as JSON: Object of type int64"),
        (ONE, {"a": math.nan}, ValueError, "settings cannot be written as JSON: Out of range float"),
        (
            ONE,
            {"size": (1, 2)},
            ValueError,
            r"not give settings\['size'\] back as it is, \(1, 2\); needed lists for tuples",
        ),
        (ONE, {"b": {3: 1}}, ValueError, r"settings\['b'\] back as it is, \{3: 1\}; .*strings for the keys"),
        (ONE, {3: 1}, ValueError, r"settings\[3\] back as it is"),
    ],
)
def test_what_cannot_be_stored_gets_a_clear_error_and_touches_nothing(tree, settings, error, message, path):
    save(path, ONE, {})
    with pytest.raises(error, match=message):
        save(path, tree, settings)
    assert outcome(path, ONE, {}) == "as saved" and os.listdir(path.parent) == [path.name]


def test_wrong_places_get_a_clear_error(tmp_path):
    for call in (lambda name: save(tmp_path / name, ONE, {}), lambda name: load(tmp_path / name)):
        with pytest.raises(ValueError, match=r"model.pt has the suffix '.pt', needed one of .npz, .safetensors"):
            call("model.pt")
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*away, needed for x.npz; create it first"):
        save(tmp_path / "away" / "x.npz", ONE, {})
    with pytest.raises(
        FileNotFoundError, match=r"x.npz does not exist, needed a file that numeric.checkpoint.save wrote"
    ):
        load(tmp_path / "x.npz")
    (tmp_path / "folder.npz").mkdir()
    with pytest.raises(IsADirectoryError):
        load(tmp_path / "folder.npz")


def test_a_link_stays_a_link(path):
    link = path.with_name(f"latest{path.suffix}")
    link.symlink_to(path)
    save(link, TREE, SETTINGS)
    assert link.is_symlink() and same(load(path)[0], TREE)


def test_without_safetensors_the_error_says_what_to_install(tmp_path, monkeypatch):
    def missing(name, *rest, original=builtins.__import__, **more):
        if name.partition(".")[0] == "safetensors":
            raise ModuleNotFoundError("No module named 'safetensors'", name="safetensors")
        return original(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", missing)
    for call in (lambda: save(tmp_path / "x.safetensors", ONE, {}), lambda: load(tmp_path / "x.safetensors")):
        with pytest.raises(ModuleNotFoundError, match=r"pip install 'transformer-proofs\[train\]', or use .npz"):
            call()
    save(tmp_path / "x.npz", ONE, {})
    assert same(load(tmp_path / "x.npz")[0], ONE)
