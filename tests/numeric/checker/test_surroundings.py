"""Implementations that print, fork, start threads or change settings: the run goes on as if nothing was."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from flint import ctx

from numeric.checker import check

ROOT = Path(__file__).parents[3]
FEW = ("generic*draw 0", "strided", "read-only", "ties", "slices sum to 1")


def softmax(z, axis=-1, temperature=1.0):
    p = np.exp((z - z.max(axis, keepdims=True)) / z.dtype.type(temperature))
    return p / p.sum(axis, keepdims=True)


def test_printing_does_not_mix_with_the_json(tmp_path):
    (tmp_path / "loud_subject.py").write_text(
        "import os, sys\nimport numpy as np\nprint('imported')\n"
        "def softmax(z, axis=-1, temperature=1.0):\n"
        "    print('in Python'); os.write(1, b'in C\\n'); sys.stdout.flush()\n"
        "    p = np.exp((z - z.max(axis, keepdims=True)) / temperature)\n"
        "    return p / p.sum(axis, keepdims=True)\n"
    )
    command = [sys.executable, "-m", "numeric", "check", "loud_subject:softmax", "--as", "softmax", "--json"]
    command += ["--probe", "generic*draw 0"]
    environment = {"PYTHONPATH": str(ROOT), "PATH": ""}
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0
    assert ran.stdout.startswith("{") and ran.stdout.endswith("}\n")
    assert {"imported", "in Python", "in C"} <= set(ran.stderr.split("\n"))


def test_an_output_that_is_closed_is_no_matter():
    def closing(z, axis=-1, temperature=1.0):
        sys.stdout = None
        try:
            print("nowhere")
        finally:
            sys.stdout = stdout
        return softmax(z, axis, temperature)

    stdout = sys.stdout
    check("softmax", closing, probes=FEW).raise_if_failed()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:os.fork", "ignore:This process .* is multi-threaded")
def test_a_child_that_it_forks_does_not_go_on_with_the_run(tmp_path):
    children = tmp_path / "children"
    children.touch()

    def forking(z, axis=-1, temperature=1.0):
        child = os.fork()
        if child:
            with children.open("a") as file:
                file.write(f"{child}\n")
        return softmax(z, axis, temperature)

    report = check("softmax", forking, adapter="numpy", probes=("ties", "strided"))
    report.raise_if_failed()
    ended = [os.waitpid(int(child), 0) for child in children.read_text().split()]
    assert len(ended) >= 3
    assert {os.waitstatus_to_exitcode(status) for _, status in ended} == {1}


def test_threads_of_its_own_are_its_own_business():
    def threaded(z, axis=-1, temperature=1.0):
        with ThreadPoolExecutor(2) as pool:
            return pool.submit(softmax, z, axis, temperature).result()

    check("softmax", threaded, probes=FEW).raise_if_failed()


def test_settings_that_it_changes_do_not_change_the_judgement():
    def careless(z, axis=-1, temperature=1.0):
        np.seterr(all="raise")
        np.random.seed(0)
        return softmax(z, axis, temperature)

    before, bits = np.geterr(), ctx.prec
    check("softmax", careless, probes=("generic*draw 0",)).raise_if_failed()
    assert (np.geterr(), ctx.prec) == (before, bits)
