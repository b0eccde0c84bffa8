"""Runs LaTeX, and reads its log. A test without its program is skipped, and says which Debian package has it."""

import re
import shutil
import subprocess
import unicodedata
from pathlib import Path

import pytest

_PACKAGES = {"pdflatex": "texlive-latex-base", "latexmk": "latexmk", "pdftotext": "poppler-utils"}
_TROUBLE = re.compile(r"^! .*|.*(?:undefined|multiply.defined|may have changed).*", re.MULTILINE)
_OVERFULL = re.compile(r"Overfull \\[hv]box \(([\d.]+)pt too (?:wide|high)\)[^\n]*")


def needs(*programs):
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        pytest.skip(f"no {', '.join(missing)}; apt-get install {' '.join(_PACKAGES[program] for program in missing)}")


def run(folder, *command):
    """The output of a command in a folder; fails with it."""
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=600, check=False)
    output = done.stdout.decode(errors="replace")
    assert done.returncode == 0, output[-3000:]
    return output


def problems(log: Path):
    """Errors, references and citations that lead nowhere, and boxes that are more than 2 pt too large."""
    text = log.read_text(encoding="utf-8", errors="replace")
    trouble = [line for line in _TROUBLE.findall(text) if not line.startswith(("Package: ", "File: ", "("))]
    return trouble + [match[0] for match in _OVERFULL.finditer(text) if float(match[1]) > 2]


def words_of(pdf: Path):
    """The text of a PDF, with words that were hyphenated whole again."""
    text = run(pdf.parent, "pdftotext", "-raw", "-enc", "UTF-8", pdf.name, "-")
    return " ".join(unicodedata.normalize("NFKC", re.sub(r"-\n", "", text)).split())
