"""The last index of a sum: one spelling for each size, and each size read back."""

from itertools import product

import pytest

from proofs.notation import index, number, sum_
from proofs.render import Latex, Notation, Typst
from proofs.render.inverse import UnreadableError, fragment, latex, typst
from proofs.terms import Term

from ..random_terms import M, n
from .spelled_table import table_of

PAGE = Notation([n, M])
TABLE = table_of(PAGE)
READERS = {Latex: latex.read, Typst: typst.read}


def ones(over):
    return Term("sum", (over, number(1)), None, ("l",))


LAST = {
    "n - 1": n,
    "2 n - 1": 2 * n,
    "n + M - 1": n + M,
    "n": n + 1,
    "2 n": 2 * n + 1,
    "n + M": n + M + 1,
    "n + 1": n + 2,
    "2 n + 1": 2 * n + 2,
    "2 (n + 1) - 1": 2 * (n + 1),
    "(n + 1) M - 1": (n + 1) * M,
    "1 + n - 1": 1 + n,
    "n + 0 - 1": Term("add", (n, number(0))),
    "n + 2 + 1 - 1": Term("add", (n, number(2), number(1))),
    "n + 2 + 1": Term("add", (n, number(2), number(2))),
    "(n + M) + 1 - 1": Term("add", (n + M, number(1))),
    "(n + M) + 1": Term("add", (n + M, number(2))),
    "2 + 1 - 1": Term("add", (number(2), number(1))),
    "4": number(5),
    "-1": number(0),
}


@pytest.mark.parametrize("last", LAST)
def test_lastindex(last):
    assert Latex(PAGE)(ones(LAST[last])) == rf"\sum_{{l=0}}^{{{last}}} 1"
    assert Typst(PAGE)(ones(LAST[last])) == f"sum_(l = 0)^({last}) 1"


@pytest.mark.parametrize("printer", READERS)
def test_every_size_has_one_of_its_own(printer):
    leaves = [n, M, *map(number, range(4))]
    small = [*leaves, *(Term(op, pair) for op in ("add", "mul") for pair in product(leaves, repeat=2))]
    sizes = {*small, *(Term("add", parts) for parts in product(small[::9], small[::5], leaves))}
    texts = {printer(PAGE)(ones(s)): s for s in sizes}
    assert len(texts) == len(sizes) > 400
    assert [(text, s) for text, s in texts.items() if fragment(text, TABLE, READERS[printer]) != ones(s)] == []


@pytest.mark.parametrize(
    "last", ["n + 1 - 1", "n + 2 - 1", "n + M + 1 - 1", "3 - 1", "n + 0", "n - 2", "n + 2 + 3 - 1", "n + -1", "0 - 1"]
)
def test_another_spelling_is_refused(last):
    with pytest.raises(UnreadableError):
        fragment(rf"\sum_{{l=0}}^{{{last}}} 1", TABLE)


def test_a_size_and_a_number():
    assert fragment(r"\sum_{l=0}^{n} 1", TABLE) == sum_(index("l", n + 1), number(1))
    assert fragment(r"\sum_{l=0}^{2} 1", TABLE) == sum_(index("l", 3), number(1))
