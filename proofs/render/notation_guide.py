"""How a theorem is read: what stands at its headings, which notation was chosen, and what signs a reader may not expect.

Each sign is printed from a term and read back, like every other formula.
"""

from __future__ import annotations

from ..notation import (
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
from ..terms import Term, free
from .catalogues import Catalogue
from .inverse import UnreadableError, formulas
from .inverse.symbol_table import Table
from .inverse.symbols import written
from .names import Notation, symbol_name
from .numbering import ZERO_BASED, Numbering
from .page_items import INVERSES, GateError
from .structure import Printer

READING = ("for_all", "where", "then", "proof", "near_misses")
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


def read(catalogue: Catalogue, key: str) -> tuple[str, str]:
    """A heading of a theorem, and what stands there."""
    heading = catalogue.text(f"document.{key}" if key in ("near_misses", "cites") else f"headings.{key}")
    return heading, catalogue.text(f"document.reading_{key}")


def choices(catalogue: Catalogue, numbering: Numbering, with_figures: bool = False) -> list[tuple[str, str]]:
    """What authors write in different ways, and how it is written here. Figures are drawn once, for every notation."""
    keys = {"indices": numbering.name, "rows": "rows_chosen", "columns": "columns_chosen"}
    if with_figures and numbering is not ZERO_BASED:
        keys["figures"] = "figures_from_zero"
    return [(catalogue.text(f"notation.{name}"), catalogue.text(f"notation.{key}")) for name, key in keys.items()]


def signs(printer: type[Printer]) -> list[tuple[str, str]]:
    """Names of messages, each with the formula that it explains. Raises GateError where one says something else."""
    return [(name, _printed(name, term, printer)) for name, term in SIGNS]


def _printed(name: str, term: Term, printer: type[Printer]) -> str:
    inverse, text = INVERSES[printer], printer(Notation.of(term))(term)
    table = Table({written(symbol_name(s)): s for s in free(term)}, inverse.first)
    try:
        said = formulas.value(text, table, z if term.op == "function" else t, inverse.read)
    except UnreadableError as problem:
        raise GateError(f"the sign {name}: {problem}") from None
    if said != term:
        raise GateError(f"the sign {name}: {text} says {said!r}, and not {term!r}")
    return text
