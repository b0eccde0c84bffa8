"""A small site for every test, and the whole one for the slow tests, each built once. `seconds` are those of the processor."""

import gc
import time
from collections import namedtuple

import pytest

from proofs.registry import all_claims
from proofs.render.catalogues import ENGLISH, in_language

FAMILIES = ("softmax_jacobian", "relative_position")  # the latter rests on axioms
Built = namedtuple("Built", "folder summary theorems progress seconds")
CATALOGUES = (ENGLISH, in_language("ko"))


def built(folder, theorems, figures=None):
    from proofs.render import site

    told, start = [], time.process_time()
    summary = site.build(theorems, folder, CATALOGUES, figures, lambda done, total: told.append((done, total)))
    return Built(folder, summary, theorems, told, time.process_time() - start)


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    needs_packages()
    theorems = [c.theorem for c in all_claims() if c.family in FAMILIES]
    return built(tmp_path_factory.mktemp("small") / "site", theorems)


@pytest.fixture(scope="session")
def whole(tmp_path_factory):
    needs_packages()
    from numeric.figures.collection import chosen
    from numeric.figures.index import documents, write

    figures = tmp_path_factory.mktemp("figures")
    for language in ("en", "ko"):
        (figures / language).mkdir()
        write(figures / language, documents(chosen(()), language, 0))
    theorems = [c.theorem for c in all_claims()]
    gc.collect()
    return built(tmp_path_factory.mktemp("whole") / "site", theorems, figures)


def needs_packages():
    pytest.importorskip("jinja2", reason="the site's templates are Jinja's")
    pytest.importorskip("math_core", reason="formulas become MathML by math-core")
