"""Changes of a term in one place, mostly into something that is easily printed alike."""

from collections.abc import Iterator

from proofs.binders import lift
from proofs.notation import number
from proofs.terms import FUNCTIONS, Term, TermError, apply_function
from proofs.well_typed import sort

from .random_terms import (
    FREE,
    M,
    U,
    W,
    d,
    d_k,
    delta_family,
    eps,
    exp_named,
    n,
    omega,
    p_i,
    pairs,
    path,
    q,
    t,
    w,
    x,
    x1,
    x_0,
    x_i,
    z,
    z_label,
)  # fmt: skip


def edited(term: Term) -> Iterator[Term]:
    """Well-typed terms that differ from this one in one place, mostly by something that is easily printed alike."""
    for variant in _edits(term):
        try:
            sort(variant)
        except (TermError, IndexError):
            continue
        if variant != term and not _has_lone_part(variant):
            yield variant


def _has_lone_part(term: Term) -> bool:
    """A sum or a product of one part, which no constructor makes, and no printer takes."""
    return (term.op in ("add", "mul") and len(term.args) < 2) or any(map(_has_lone_part, term.args))


def _edits(term: Term) -> Iterator[Term]:
    yield from _here(term)
    if term.op == "index":
        return  # over another range it would be another symbol
    for k, part in enumerate(term.args):
        for variant in _edits(part):
            yield Term(term.op, (*term.args[:k], variant, *term.args[k + 1 :]), term.data, term.hints)


def _here(term: Term) -> Iterator[Term]:
    op, args = term.op, term.args
    for k in range(len(args) - 1):
        yield Term(op, (*args[:k], args[k + 1], args[k], *args[k + 2 :]), term.data, term.hints)
    if op in ("add", "mul"):
        yield Term("mul" if op == "add" else "add", args)
        if len(args) > 2:
            yield from (Term(op, (Term(op, args[:2]), *args[2:])), Term(op, (*args[:-2], Term(op, args[-2:]))))
        yield from (Term(op, (number(1), *args)), Term(op, (*args, number(1))))
        if op == "mul" and args[-1].op in ("sum", "expect"):
            bound, body = args[-1].args
            yield Term(
                args[-1].op, (bound, Term("mul", (*(lift(a, 1) for a in args[:-1]), body))), None, args[-1].hints
            )
    yield from _same_value(term)
    yield from _other_symbol(term)


def _same_value(term: Term) -> Iterator[Term]:
    """Terms that mean the same, or nearly, and are not the same."""
    op, args = term.op, term.args
    if op == "number":
        yield from (number(term.data + 1), number(-term.data), Term("mul", (number(-1), number(-term.data))))
        yield Term("mul", (number(term.data.numerator), Term("power", (number(term.data.denominator), number(-1)))))
    if op == "mul" and args[0].op == "number":
        yield from (
            Term("mul", (number(-1), number(-args[0].data), *args[1:])),
            Term("mul", (args[0], Term("mul", args[1:]))),
        )
    if op == "mul" and args[0] == number(-1):
        yield Term("mul", (number(-1), Term("mul", (number(1), *args[1:]))))
    if op == "power":
        yield from (Term("mul", (number(1), term)), Term("power", (args[0], number(-2))), Term("mul", args))
    if op == "value" and args[0].op == "join":
        major, minor, step, _ = args[0].args
        yield Term("add", (Term("mul", (step, Term("value", (major,)))), Term("value", (minor,))))
    if op == "value" and args[0].op == "literal":
        yield number(args[0].data)
    if op == "relation" and args[0].op == args[1].op == "value":
        yield Term("relation", (args[0].args[0], args[1].args[0]), term.data)
    if op == "derivative":
        yield args[1]
    if op in FUNCTIONS:
        yield apply_function("log" if op == "exp" else "exp", args[0])
    if op == "exp":
        yield exp_named(args[0])


def _other_symbol(term: Term) -> Iterator[Term]:
    op, args = term.op, term.args
    if op in ("literal", "sum", "forall"):
        for size_ in (n, M, pairs, number(2), number(3)):
            yield Term(op, (size_, *args[1:]), term.data, term.hints)
    if op in ("sum", "expect"):
        yield from (Term("sum", (n, args[1]), None, term.hints), Term("expect", (U, args[1]), None, term.hints))
        yield from (Term("expect", (W, args[1]), None, term.hints), Term(op, args, None, ("u",)))
    if op == "index":
        yield from (i for i in FREE[args[0]] if i != term)
    if op == "bound" and term.data:
        yield Term("bound", (), term.data - 1)
    if op == "variable":
        yield from (v for v in (x_i, x_0, x1, w, t, omega, eps, d, d_k, x[p_i], x[0], path[p_i, term]) if v != term)
    if op == "family" and term.data.slots == (n,):
        yield from (Term("family", args, other) for other in (z, x, z_label))
    if op in ("delta", "family") and len(args) == 2:
        yield from (Term("delta", args), Term("family", args, delta_family), Term("family", args, q))
    if op == "relation":
        yield from (Term(op, args, other) for other in ("eq", "ne", "le", "lt"))
