"""A term, or every instance of a statement, in SymPy; and the check of the values that an instance is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import permutations, product
from typing import Any

from sympy import S

from ..kernel import Statement
from ..terms import IndexMap, Term, free, named
from .writer import SympyFormError, Writer


def to_sympy(term: Term, sizes: Mapping[Any, int] | None = None, indices: Mapping[Any, Any] | None = None) -> Any:
    """A real term as a SymPy expression, an index as an integer one, a proposition as a relation that is kept as written.

    `sizes` gives a number for every size symbol, `indices` one for every free index, and for an index map its values
    (pi(0), pi(1), ...). Keys are symbols or their names; a symbol that the term does not have is passed over.
    Raises SympyFormError for a value that is missing, unknown or out of range, for two things that would have one name in
    SymPy, for a function, for a quantifier that is not over a range of known size, and where SymPy finds no real value (1/0).
    """
    if sizes is None and indices is not None:
        raise SympyFormError("indices have values in an instance only: give sizes={...} too")
    if term.loose:
        raise SympyFormError(f"{term!r} has no SymPy form of its own: it lacks the binder around it")
    symbols = free(term)
    counts = None if sizes is None else _counts(symbols, sizes)
    form = Writer(symbols, counts, _by_symbol(symbols, indices or {}, "indices")).write(term, (), evaluate=False)
    if form.has(S.ComplexInfinity, S.NaN, S.ImaginaryUnit):
        raise SympyFormError(f"{term!r} has no real value: SymPy makes it {form}")
    return form


def instances(statement: Statement, sizes: Mapping[Any, int]) -> Iterator[tuple[dict[Any, Any], Any]]:
    """Yields (assignment, relation): the conclusion at these sizes, for every value of its free indices and index maps.

    A value is left out where it alone makes a hypothesis false, such as i != j; hypotheses about real numbers are for the
    reader to meet, and `to_sympy(h, sizes, assignment)` is one of them at this place.
    Raises as `to_sympy` does, and for an index map whose argument is real.
    """
    symbols = statement.symbols()
    counts = _counts(symbols, sizes)
    chosen = sorted(
        (s for s in symbols if isinstance(s, IndexMap) or (isinstance(s, Term) and s.op == "index")), key=_name
    )
    for values in product(*(_values(s, Writer(symbols, counts, {})) for s in chosen)):
        assignment = dict(zip(chosen, values, strict=True))
        if not any(_fails(h, Writer(symbols, counts, assignment)) for h in statement.hypotheses):
            yield assignment, to_sympy(statement.conclusion, counts, assignment)


def _fails(hypothesis: Term, writer: Writer) -> bool:
    return not _quantifies_reals(hypothesis) and writer.write(hypothesis) == S.false


def _quantifies_reals(term: Term) -> bool:
    return (term.op == "forall" and term.args[0].op == "domain") or any(map(_quantifies_reals, term.args))


def _values(symbol: Any, writer: Writer) -> Iterable[Any]:
    """All values of an index, or of a map from one range into another."""
    if isinstance(symbol, Term):
        return range(writer.write(symbol.args[0]))
    target = range(writer.write(symbol.target))
    if symbol.bijective:
        return permutations(target)
    if len(symbol.slots) != 1 or symbol.slots[0].op == "domain":
        raise SympyFormError(f"the values of {symbol.name} cannot be listed: needed a map from one range into another")
    return product(target, repeat=int(writer.write(symbol.slots[0])))


def _name(symbol: Any) -> str:
    return named([symbol])


def _by_symbol(symbols: Iterable[Any], given: Mapping[Any, Any], where: str) -> dict[Any, Any]:
    """The given values by symbol, where some of the keys are names."""
    by_name = {_name(s): s for s in symbols}
    for key in given:
        if isinstance(key, str) and key not in by_name:
            raise SympyFormError(
                f"{where}: nothing is named {key!r} here; there is {', '.join(sorted(by_name)) or 'no symbol'}"
            )
    return {by_name[k] if isinstance(k, str) else k: v for k, v in given.items()}


def _counts(symbols: Iterable[Any], sizes: Mapping[Any, int]) -> dict[Any, int]:
    found = _by_symbol(symbols, sizes, "sizes")
    for symbol in (s for s in symbols if isinstance(s, Term) and s.op == "size"):
        (name, least), value = symbol.data, found.get(symbol)
        if type(value) is not int or value < least:
            raise SympyFormError(
                f"sizes: {name} is {value!r}; needed a whole number >= {least}, as in sizes={{{name!r}: {least + 2}}}"
            )
    return found
