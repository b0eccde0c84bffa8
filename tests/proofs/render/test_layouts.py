"""The printers are closed: they have words for each node of the language, and for nothing else."""

import ast
from pathlib import Path

import pytest

import proofs
from proofs.notation import n, number, variable
from proofs.render import Latex, Notation, RenderError, Typst, Unicode
from proofs.render.layouts import LAYOUTS
from proofs.terms import FUNCTIONS, Term

PACKAGE = Path(proofs.__file__).parent
PRINTERS = (Unicode, Latex, Typst)


def nodes_built_in(path):
    """The kinds of node that a module writes down: Term("sum", ...)."""
    for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "Term" and call.args:
            if isinstance(call.args[0], ast.Constant):
                yield call.args[0].value


def test_table_is_the_language():
    language = {op for name in ("terms", "binders", "definitions") for op in nodes_built_in(PACKAGE / f"{name}.py")}
    assert set(LAYOUTS) == language | set(FUNCTIONS)
    assert {"sum", "expect", "space", "derivative", "apply", "tends", "domain"} <= language


@pytest.mark.parametrize("printer", PRINTERS)
def test_unknown_node(printer):
    with pytest.raises(RenderError, match="no words for a node 'integral'"):
        printer(Notation([]))(Term("add", (number(1), Term("integral", (number(2),)))))


@pytest.mark.parametrize("printer", PRINTERS)
def test_unknown_domain(printer):
    with pytest.raises(RenderError, match="no words for the domain 'complex'"):
        printer(Notation([]))(Term("domain", (), "complex"))


@pytest.mark.parametrize("printer", PRINTERS)
def test_loose_bound_variable(printer):
    with pytest.raises(RenderError, match="is bound by nothing here"):
        printer(Notation([]))(Term("bound", (), 0))


@pytest.mark.parametrize("printer", PRINTERS)
@pytest.mark.parametrize("op", ["add", "mul"])
def test_sum_of_one_part(printer, op):
    x = variable("x")
    with pytest.raises(RenderError, match="has 1 parts; a sum or a product has at least two"):
        printer(Notation([x]))(Term(op, (x,)))


@pytest.mark.parametrize("printer", PRINTERS)
def test_unknown_relation(printer):
    with pytest.raises(RenderError, match="no sign for the relation 'approx'"):
        printer(Notation([n]))(Term("relation", (n, n), "approx"))
