"""What signs stand for that a reader may not expect: each printed from a term and read back, like every other formula."""

from __future__ import annotations

from ...notation import (
    ANY_REAL,
    delta,
    derivative,
    expectation,
    family,
    function,
    i,
    index,
    j,
    join,
    outcome,
    size,
    space,
    split,
    t,
    value_of,
    variable,
    z,
)
from ...terms import Term, free
from ..inverse import formulas, typst
from ..inverse.symbol_table import Table
from ..inverse.symbols import written
from ..names import Notation, symbol_name
from ..page_items import GateError
from ..typst import Typst

_M = size("M")
_u = outcome("u", space("U"))
SIGNS: tuple[tuple[str, Term], ...] = (
    ("delta", delta(i, j)),
    ("function", function(j, z[j] + variable("c"))),
    ("index_as_number", value_of(join(index("m", _M), index("a", 2)))),
    ("remainder", value_of(split(index("c", 2 * _M), 2)[1])),
    ("derivative", derivative(t, family("f", ANY_REAL)[t], 0)),
    ("mean", expectation(_u, family("R", space("U"))[_u])),
)


def signs() -> list[tuple[str, str]]:
    """Names of messages, each with the formula that it explains. Raises GateError where one says something else."""
    return [(name, _printed(name, term)) for name, term in SIGNS]


def _printed(name: str, term: Term) -> str:
    text = Typst(Notation.of(term))(term)
    table = Table({written(symbol_name(s)): s for s in free(term)})
    said = formulas.value(text, table, z if term.op == "function" else t, typst.read)
    if said != term:
        raise GateError(f"the sign {name}: {text} says {said!r}, and not {term!r}")
    return text
