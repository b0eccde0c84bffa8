"""Terms and statements as SymPy expressions, and back: for readers who work in SymPy, and as a third witness of the theorems.

No proof rests on this module: it alone imports SymPy here, and neither the kernel nor `import proofs` loads it.

to_sympy      In general: Sum over l = 0..n-1 of an Indexed z[l], KroneckerDelta(i, j, (0, n - 1)), a table as a Piecewise. As an
              instance, sizes={n: 4}: sums written out, z as the plain symbols z_0, ..., z_3, every free index at a value. Either
              way definitions are unfolded, a curve z[j, t] is a Function with a Derivative for its velocity, and a derivative
              stays a Derivative (in Subs, where its point is not its own variable) until `doit()` takes it.
instances     The conclusion of a statement at every value of its free indices and index maps.
from_sympy    The part of SymPy that this language has: numbers, symbols, +, *, powers, elementary functions, Indexed,
              KroneckerDelta, Sum over 0..size-1.

SymPy rearranges what it is given before anything here can see it: 0/x is 0, x - x is 0, (x + e)/(x + e) is 1, whatever x is.
So its form of a statement may say less than the statement, and `from_sympy` reads what SymPy kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import sympy
from sympy import S

from .binders import close
from .definitions import unfolded
from .kernel import Statement
from .terms import PI, Family, IndexMap, Term, TermError, apply_function, delta, extent, free, literal, named, number
from .terms import sort_of, value_of

_ASSUMPTIONS = {d: {d: True} for d in ("real", "nonnegative", "positive", "integer")}
_NATURAL = {"integer": True, "nonnegative": True}
_CONNECTIVES = {
    "add": sympy.Add, "mul": sympy.Mul, "power": sympy.Pow, "sqrt": sympy.sqrt, "exp": sympy.exp, "log": sympy.log, "sin": sympy.sin,
    "cos": sympy.cos, "tanh": sympy.tanh, "erf": sympy.erf, "abs": sympy.Abs, "max": sympy.Max, "implies": sympy.Implies,
}  # fmt: skip
_RELATIONS = {"eq": sympy.Eq, "ne": sympy.Ne, "le": sympy.Le, "lt": sympy.Lt}
_READ = {_CONNECTIVES[op]: op for op in ("add", "mul", "exp", "log", "sin", "cos", "tanh", "erf", "abs")}


class SympyFormError(TermError):
    """A term without a SymPy form, an instance without all its values, or a SymPy expression outside the language."""


def to_sympy(term: Term, sizes: Mapping[Any, int] | None = None, indices: Mapping[Any, Any] | None = None) -> Any:
    """A real term as a SymPy expression, a proposition as a SymPy relation, which is kept as it is written.

    `sizes` gives a number for every size symbol, `indices` one for every free index, and for an index map its values
    (pi(0), pi(1), ...). Keys are symbols or their names; a symbol that the term does not have is passed over.
    Raises SympyFormError for a value that is missing, unknown or out of range, for two things that would have one name in
    SymPy, for a function or a quantifier outside an instance, and where the term has no value (1/0).
    """
    if sizes is None and indices is not None:
        raise SympyFormError("an index has a value in an instance only: give sizes={...} too")
    symbols = free(term)
    counts = None if sizes is None else _counts(symbols, sizes)
    form = _Writer(symbols, counts, _by_symbol(symbols, indices or {}, "indices")).write(term, (), evaluate=False)
    if form.has(S.ComplexInfinity, S.NaN):
        raise SympyFormError(f"{term!r} has no value: in SymPy it is {form}")
    return form


def instances(statement: Statement, sizes: Mapping[Any, int]) -> Iterator[tuple[dict[Any, Any], Any]]:
    """Yields (assignment, relation): the conclusion at these sizes, for every value of its free indices and index maps.

    `to_sympy(h, sizes, assignment)` is a hypothesis there. Raises as `to_sympy` does, and for a map of real numbers.
    """
    symbols = statement.symbols()
    counts = _counts(symbols, sizes)
    chosen = sorted((s for s in symbols if isinstance(s, IndexMap) or s in _of("index", symbols)), key=_name)
    for values in product(*(_values(s, _Writer(symbols, counts, {})) for s in chosen)):
        assignment = dict(zip(chosen, values, strict=True))
        yield assignment, to_sympy(statement.conclusion, counts, assignment)


def _of(op: str, symbols: Iterable[Any]) -> list[Term]:
    return [s for s in symbols if isinstance(s, Term) and s.op == op]


def _name(symbol: Any) -> str:
    return named([symbol])


def _values(symbol: Any, writer: _Writer) -> Iterator[Any]:
    """All values of an index, or of a map from one range into another."""
    if isinstance(symbol, Term):
        yield from range(writer.count(symbol.args[0]))
    elif len(symbol.slots) != 1 or symbol.slots[0].op == "domain":
        raise SympyFormError(f"the values of {symbol.name} cannot be listed: needed a map from one range into another")
    elif symbol.bijective:
        yield from permutations(range(writer.count(symbol.target)))
    else:
        yield from product(range(writer.count(symbol.target)), repeat=writer.count(symbol.slots[0]))


def _by_symbol(symbols: Iterable[Any], given: Mapping[Any, Any], where: str) -> dict[Any, Any]:
    """The given values by symbol, where some of the keys are names."""
    by_name = {_name(s): s for s in symbols}
    for key in given:
        if isinstance(key, str) and key not in by_name:
            raise SympyFormError(f"{where}: nothing is named {key!r} here; there are {', '.join(sorted(by_name))}")
    return {by_name[k] if isinstance(k, str) else k: v for k, v in given.items()}


def _counts(symbols: Iterable[Any], sizes: Mapping[Any, int]) -> dict[Any, int]:
    found = _by_symbol(symbols, sizes, "sizes")
    for symbol in _of("size", symbols):
        name, least = symbol.data
        value = found.get(symbol)
        if type(value) is not int or value < least:
            raise SympyFormError(f"sizes: {name} is {value!r}; needed a whole number >= {least}, as sizes={{{name!r}: {least + 2}}}")
    return found


class _Writer:
    """Terms to SymPy. `counts` has the sizes of an instance and is None in general; `values` has its indices and index maps."""

    def __init__(self, symbols: Iterable[Any], counts: Mapping[Any, int] | None, values: Mapping[Any, Any]):
        self.counts, self.values = counts, values
        self.owners: dict[str, Any] = {}  # what each name of SymPy's stands for
        for symbol in symbols:
            self.own(_name(symbol), symbol)

    def own(self, name: str, owner: Any) -> str:
        if self.owners.setdefault(name, owner) != owner:
            raise SympyFormError(f"two things would be named {name} in SymPy, which could not tell them apart; rename one")
        return name

    def count(self, size: Term) -> int:
        return int(self.write(size, ()))

    def write(self, term: Term, bound: tuple[Any, ...], evaluate: bool = True) -> Any:
        """`bound` has what the binders around the term stand for, the innermost last."""
        if term.op in _CONNECTIVES:
            return _CONNECTIVES[term.op](*(self.write(a, bound) for a in term.args))
        match term.op:
            case "number":
                return sympy.Rational(term.data.numerator, term.data.denominator)
            case "pi":
                return S.Pi
            case "infinity":
                return S.Infinity
            case "bound":
                return bound[-1 - term.data]
            case "variable":
                return sympy.Symbol(term.data[0], **_ASSUMPTIONS[term.data[1]])
            case "size":
                sign = "positive" if term.data[1] else "nonnegative"
                given = None if self.counts is None else self.counts[term]
                return sympy.Symbol(term.data[0], integer=True, **{sign: True}) if given is None else sympy.Integer(given)
            case "relation":
                left, right = (self.write(a, bound) for a in term.args)
                return _RELATIONS[term.data](left, right, evaluate=evaluate)
            case "table":
                return self.table(term, bound)
            case "when":
                condition, then, otherwise = (self.write(a, bound) for a in term.args)
                return sympy.Piecewise((then, condition), (otherwise, True))
            case "apply":
                return self.write(unfolded(term), bound)
            case "family":
                return self.family(term.data, [self.write(a, bound) for a in term.args])
            case "sum" | "derivative" | "tends" | "forall":
                return self.binder(term, bound)
            case "function" | "domain":
                raise SympyFormError(f"{term!r} is neither a number nor a proposition: apply the function")
        return self.place(term, bound)

    def place(self, term: Term, bound: tuple[Any, ...]) -> Any:
        """An index, as a whole number or an expression for one."""
        parts = [self.write(a, bound) for a in term.args]
        match term.op:
            case "value":
                return parts[0]
            case "literal":
                return sympy.Integer(term.data)
            case "join":
                return parts[0] * parts[2] + parts[1]
            case "quotient":
                return sympy.floor(parts[0] / parts[1])
            case "remainder":
                return sympy.Mod(parts[0], parts[1])
            case "delta":
                size = sort_of(term.args[0])
                return sympy.KroneckerDelta(*parts)
            case "index":
                return self.chosen(term, term.data, (), parts[0]) if self.counts else sympy.Symbol(term.data, **_NATURAL)
            case "map":
                return self.chosen(term.data, term.data.name, parts, self.write(term.data.target, ()))
        raise SympyFormError(f"{term!r}: no SymPy form for a node {term.op!r}")
