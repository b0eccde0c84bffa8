"""TRUSTED. The closed language of terms: immutable trees that own their binders.

A bound variable is a number that counts the binders between it and its own (de Bruijn), a free one is a name. So two terms
that differ in bound names only are the same term, and a bound index can never meet a free one of the same name. Nothing is
rearranged on construction, so J_ij = J_ji cannot silently become X = X, nor 0/x become 0.

Sorts         real; index, into a range {0, ..., size - 1}; outcome, of a probability space; function, as an argument of a
              definition; proposition. An outcome is an index whose range is a space: it can be taken, and compared with nothing
Meaning       a sum over an empty range is 0; a quotient, root, logarithm, power or derivative outside its domain has no
              meaning, and `rules.defined` refuses a term in which that may happen. A family with an outcome among its slots
              is a random variable with a finite second moment; expect is the integral over its space, of mass 1
Length        one file on purpose: the kinds of terms, their sorts and the functions that build them are read together
Reference     de Bruijn 1972, Lambda calculus notation with nameless dummies
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import prod
from typing import Any

REAL, PROP, FUNCTION = "real", "proposition", "function"
DOMAINS = ("real", "nonnegative", "positive", "integer")
RELATIONS = {"eq": "=", "ne": "≠", "le": "≤", "lt": "<"}
FUNCTIONS = ("exp", "log", "sqrt", "sin", "cos", "tanh", "erf", "abs")


class TermError(TypeError):
    """An ill-typed or inadmissible term: refused where it enters."""


@dataclass(frozen=True)
class Family:
    """A free family, one value per tuple of slots: z[j], q[i, a], z[j, t]. A slot is the size of its range, or `ANY_REAL`.

    `derivative` makes it a differentiable curve along its last slot, which is real.
    """

    name: str
    slots: tuple[Term, ...]
    domain: str = "real"
    derivative: Family | None = None

    def __getitem__(self, indices: Any) -> Term:
        given = indices if isinstance(indices, tuple) else (indices,)
        return Term("family", _slotted(self.name, self.slots, given), self)


@dataclass(frozen=True)
class IndexMap:
    """A free map into a range: a permutation pi(j), or a choice mu(u) of an index for every real u."""

    name: str
    slots: tuple[Term, ...]
    target: Term
    bijective: bool = False

    def __call__(self, *arguments: Any) -> Term:
        return Term("map", _slotted(self.name, self.slots, arguments), self)


_BINDING = ("sum", "expect", "forall", "derivative", "tends", "function")


@lru_cache(maxsize=256)
def _binders(op: str, count: int) -> tuple[int, ...]:
    match op:
        case "sum" | "expect" | "forall":  # size, space or domain; body
            return (0, 1)
        case "derivative":  # body, point
            return (1, 0)
        case "tends":  # body, target, value
            return (1, 0, 0)
        case "function":  # the size or domain of each slot, body
            return (*(0,) * (count - 1), count - 1)
    return (0,) * count


class Term:
    """An immutable node. `hints` are the names that a binder is printed with; they do not count in a comparison."""

    __slots__ = ("op", "args", "data", "hints", "loose", "_hash", "_free", "_key", "_kinds", "_sort")

    op: str
    args: tuple[Term, ...]
    data: Any
    hints: tuple[str, ...]
    loose: int  # binders outside this node that its bound variables still need
    _free: frozenset[Any] | None
    _key: str | None
    _kinds: frozenset[str] | None
    _sort: Any  # of a closed term that `well_typed` has checked

    _hash: int

    def __new__(cls, op: str, args: tuple[Term, ...] = (), data: Any = None, hints: tuple[str, ...] = ()) -> Term:
        self = object.__new__(cls)
        loose = data + 1 if op == "bound" else 0
        if op in _BINDING:
            for a, b in zip(args, _binders(op, len(args)), strict=True):
                loose = max(loose, a.loose - b)
        else:
            for a in args:
                if a.loose > loose:
                    loose = a.loose
        _op(self, op)
        _args(self, args)
        _data(self, data)
        _hints(self, hints)
        _loose(self, loose)
        _hashed(self, hash((op, args, data)))
        _found_free(self, None)
        _found_key(self, None)
        _found_kinds(self, None)
        found_sort(self, None)
        return self

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("a term cannot be changed")

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Term) or self._hash != other._hash:
            return False
        return self.op == other.op and self.data == other.data and self.args == other.args

    def binders(self) -> tuple[int, ...]:
        """How many binders of this node each child stands under."""
        return _binders(self.op, len(self.args))

    def size_places(self) -> range:
        """Which arguments are sizes: parts of a type, that no rule may rewrite."""
        match self.op:
            case "index" | "literal" | "sum" | "expect" | "forall":
                return range(1)
            case "join":
                return range(2, 4)
            case "quotient" | "remainder":
                return range(1, 3)
            case "function":
                return range(len(self.args) - 1)
            case "apply":
                return range(len(self.data.sizes))
        return range(0)

    def rebuilt(self, args: Iterable[Term]) -> Term:
        found = tuple(args)
        if len(found) == len(self.args):
            for a, b in zip(found, self.args, strict=True):
                if a is not b:
                    break
            else:
                return self
        return Term(self.op, found, self.data, self.hints)

    def __add__(self, other: Any) -> Term:
        return Term("add", (*_parts("add", self), real(other)))

    def __radd__(self, other: Any) -> Term:
        return Term("add", (real(other), *_parts("add", self)))

    def __sub__(self, other: Any) -> Term:
        return self + -real(other)

    def __rsub__(self, other: Any) -> Term:
        return real(other) + -self

    def __mul__(self, other: Any) -> Term:
        return Term("mul", (*_parts("mul", self), *_parts("mul", real(other))))

    def __rmul__(self, other: Any) -> Term:
        return Term("mul", (real(other), *_parts("mul", self)))

    def __truediv__(self, other: Any) -> Term:
        return self * real(other) ** -1

    def __rtruediv__(self, other: Any) -> Term:
        return self**-1 if other == 1 else real(other) * self**-1

    def __pow__(self, exponent: Any) -> Term:
        return Term("power", (real(self), real(exponent)))

    def __neg__(self) -> Term:
        return number(-self.data) if self.op == "number" else Term("mul", (number(-1), *_parts("mul", self)))

    def __bool__(self) -> bool:
        raise TermError("a term is not true or false: ask the kernel, or compare with == or `is`")

    def __repr__(self) -> str:
        return key(self)


# what fills the slots of a new term, once
_op, _args, _data, _hints, _loose, _hashed, _found_free, _found_key, _found_kinds, found_sort = (
    vars(Term)[slot].__set__ for slot in Term.__slots__
)


def _parts(op: str, term: Term) -> tuple[Term, ...]:
    return term.args if term.op == op else (real(term),)


def free(term: Term) -> frozenset[Any]:
    """The free symbols: variables, sizes, spaces, indices, families, index maps; those of the sizes of a symbol included."""
    if term._free is None:
        found: set[Any] = set().union(*map(free, term.args))
        if term.op in ("variable", "size", "space", "index"):
            found.add(term)
        elif term.op in ("family", "map"):
            found |= {term.data} | {s for e in extents(term.data) for s in free(e)}
        _found_free(term, frozenset(found))
    return term._free  # type: ignore[return-value]


class Same:
    """A term as a key that only this very node has: equal terms may differ in the names that their binders are written with."""

    __slots__ = ("term",)

    def __init__(self, term: Term):
        self.term = term

    def __hash__(self) -> int:
        return id(self.term)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.term is other.term


def kinds(term: Term) -> frozenset[str]:
    """The kinds of nodes that occur in a term, definitions not unfolded."""
    if term._kinds is None:
        _found_kinds(term, frozenset({term.op}).union(*map(kinds, term.args)))
    return term._kinds  # type: ignore[return-value]


def key(term: Term) -> str:
    """One spelling per term; it orders terms, and names them in messages."""
    if term._key is None:
        data = getattr(term.data, "name", term.data)
        text = (
            term.op if data is None else str(data) if term.op in ("number", "family", "apply") else f"{term.op}:{data}"
        )
        if term.op in ("variable", "size", "space", "index"):
            text = data if isinstance(data, str) else data[0]
        elif term.args:
            text += f"({', '.join(map(key, term.args))})"
        _found_key(term, text)
    return term._key  # type: ignore[return-value]


def named(symbols: Iterable[Any]) -> str:
    return ", ".join(sorted(s.name if isinstance(s, Family | IndexMap) else key(s) for s in symbols))


def checked_name(name: str) -> str:
    if type(name) is not str or not name.isidentifier():
        raise TermError(f"{name!r} is not a name: needed letters, digits and underscores, not starting with a digit")
    return name


# --- sorts ------------------------------------------------------------------------------------------------------------


def sort_of(term: Term) -> Any:
    """REAL, PROP or FUNCTION; for an index, the size of its range; None where only the context tells."""
    match term.op:
        case "index" | "literal":
            return term.args[0]
        case "map":
            return term.data.target
        case "join":
            return product_of_sizes(term.args[2], term.args[3])
        case "quotient":
            return term.args[2]
        case "remainder":
            return term.args[1]
        case "relation" | "tends" | "forall" | "implies":
            return PROP
        case "function":
            return FUNCTION
        case "bound" | "infinity" | "domain" | "space":
            return None
    return REAL


def spelled_sort(sort: Any) -> str:
    if isinstance(sort, Term) and sort.op == "space":
        return f"an outcome of {sort!r}"
    return f"an index into a range of size {sort!r}" if isinstance(sort, Term) else f"of the sort {sort}"


def as_term(value: Any) -> Term:
    return value if isinstance(value, Term) else number(value)


def real(value: Any) -> Term:
    term = as_term(value)
    if sort_of(term) != REAL:
        raise TermError(f"{term!r} is not a real number, but {spelled_sort(sort_of(term))}")
    return term


def _slotted(name: str, slots: tuple[Term, ...], given: tuple[Any, ...]) -> tuple[Term, ...]:
    """The arguments of a family or an index map, each of the sort of its slot."""
    if len(given) != len(slots):
        raise TermError(f"{name} has {len(slots)} slots, found {len(given)} arguments")
    values = []
    for slot, value in zip(slots, given, strict=True):
        if isinstance(value, int) and slot.op != "domain":
            value = literal(value, slot)
        needed, term = (REAL if slot.op == "domain" else slot), as_term(value)
        if sort_of(term) != needed:
            raise TermError(f"{name}: {term!r} is {spelled_sort(sort_of(term))}; needed {spelled_sort(needed)}")
        values.append(term)
    return tuple(values)


def extents(symbol: Any) -> tuple[Term, ...]:
    """The sizes (or domains) that belong to a symbol or a function, slot by slot."""
    if isinstance(symbol, Family):
        return symbol.slots
    if isinstance(symbol, IndexMap):
        return (*symbol.slots, symbol.target)
    if symbol.op == "function":
        return symbol.args[:-1]
    sort = sort_of(symbol)
    return (sort,) if isinstance(sort, Term) else ()


def size_symbols(symbol: Any) -> set[Term]:
    own = {symbol} if isinstance(symbol, Term) and symbol.op == "size" else set()
    return own | {s for extent in extents(symbol) for s in free(extent)}


# --- symbols and constructors -----------------------------------------------------------------------------------------


def number(value: Any) -> Term:
    if isinstance(value, bool) or not isinstance(value, int | Fraction):
        raise TermError(f"{value!r} is not a rational number; a float has no place in a proof")
    return Term("number", (), Fraction(value))


def rational(numerator: int, denominator: int) -> Term:
    return number(Fraction(numerator, denominator))


def variable(name: str, domain: str = "real") -> Term:
    if domain not in DOMAINS:
        raise TermError(f"{name}: {domain!r} is not a domain; needed one of {', '.join(DOMAINS)}")
    return Term("variable", (), (checked_name(name), domain))


def size(name: str, minimum: int = 1) -> Term:
    """A whole number >= minimum, as a range and as a number."""
    if minimum < 0:
        raise TermError(f"{name}: a size is at least 0, found the minimum {minimum}")
    return Term("size", (), (checked_name(name), minimum))


def space(name: str) -> Term:
    """A probability space, the range of an outcome; random variables over different spaces are independent."""
    return Term("space", (), (checked_name(name),))


def outcome(name: str, of: Term) -> Term:
    if of.op != "space":
        raise TermError(f"{of!r} is not a probability space")
    return Term("index", (of,), checked_name(name))


def is_outcome(sort: Any) -> bool:
    """Whether a sort is that of an outcome, which has no number, and is equal to no other for sure."""
    return isinstance(sort, Term) and sort.op == "space"


def extent(value: Any) -> Term:
    """A size: a whole number, a size symbol, or a sum or product of sizes."""
    term = as_term(value)
    whole = term.op == "number" and term.data.denominator == 1 and term.data >= 0
    if not (whole or term.op == "size" or (term.op in ("add", "mul") and all(extent(a) is a for a in term.args))):
        raise TermError(f"{term!r} is not a size: needed a whole number, a size symbol, or a sum or product of them")
    return term


def index(name: str, size_of_range: Any) -> Term:
    return Term("index", (extent(size_of_range),), checked_name(name))


def family(name: str, *slots: Any, domain: str = "real") -> Family:
    found = tuple(s if isinstance(s, Term) and s.op in ("domain", "space") else extent(s) for s in slots)
    if domain not in DOMAINS:
        raise TermError(f"{name}: {domain!r} is not a domain; needed one of {', '.join(DOMAINS)}")
    return Family(checked_name(name), found, domain)


def curve(name: str, *slots: Any) -> Family:
    """z[j, t], differentiable in t, with the derivative d_z[j, t]."""
    whole = (*map(extent, slots), ANY_REAL)
    return Family(checked_name(name), whole, "real", Family("d_" + name, whole))


def permutation(name: str, size_of_range: Any) -> IndexMap:
    return IndexMap(checked_name(name), (extent(size_of_range),), extent(size_of_range), bijective=True)


def choice(name: str, *slots: Any, target: Any) -> IndexMap:
    return IndexMap(checked_name(name), slots, extent(target))


def least(size: Term) -> int:
    """The smallest value of a size, whose parts are sizes and whole numbers >= 0; -1 of anything else."""
    if size.op == "number":
        return int(size.data) if size.data.denominator == 1 and size.data >= 0 else -1
    if size.op == "size":
        return int(size.data[1])
    parts = list(map(least, size.args)) if size.op in ("add", "mul") else [-1]
    if min(parts, default=-1) < 0:
        return -1
    return sum(parts) if size.op == "add" else prod(parts)


def literal(position: int, size_of_range: Any) -> Term:
    """The index `position` of a range; the range must be known to be that long."""
    whole = extent(size_of_range)
    if not 0 <= position < least(whole):
        raise TermError(f"{position} is not known to be an index into a range of size {whole!r}")
    return Term("literal", (whole,), position)


def product_of_sizes(minor: Term, major: Term) -> Term:
    """The size of a range of pairs: a number where both are."""
    if minor.op == major.op == "number":
        return number(minor.data * major.data)
    return Term("mul", (minor, major))


def join(major: Term, minor: Term) -> Term:
    """The index major * (size of minor's range) + minor, such as column 2m + a."""
    for part in (major, minor):
        if not isinstance(sort_of(part), Term) or is_outcome(sort_of(part)):
            raise TermError(f"{part!r} is not an index, but {spelled_sort(sort_of(part))}")
    return Term("join", (major, minor, sort_of(minor), sort_of(major)))


def split(column: Term, minor: Any) -> tuple[Term, Term]:
    """Quotient and remainder of an index into a range of size minor * major: the inverse of `join`."""
    step, whole = extent(minor), sort_of(column)
    major = None
    if isinstance(whole, Term) and whole.op == "mul" and len(whole.args) == 2 and whole.args[0] == step:
        major = whole.args[1]
    elif isinstance(whole, Term) and whole.op == step.op == "number" and step.data and whole.data % step.data == 0:
        major = number(whole.data / step.data)
    if major is None:
        raise TermError(f"{column!r} is {spelled_sort(whole)}; needed a range of {step!r} times another size")
    return Term("quotient", (column, step, major)), Term("remainder", (column, step, major))


def value_of(position: Term) -> Term:
    """An index as a number."""
    if not isinstance(sort_of(position), Term) or is_outcome(sort_of(position)):
        raise TermError(f"{position!r} is not an index")
    return Term("value", (position,))


def apply_function(op: str, argument: Any) -> Term:
    return Term(op, (real(argument),))


def maximum(*values: Any) -> Term:
    return Term("max", tuple(map(real, values)))


def delta(i: Term, j: Term) -> Term:
    """1 if i = j, else 0, for two indices into one range."""
    _same_range("delta", i, j)
    return Term("delta", (i, j))


def _same_range(what: str, i: Term, j: Term) -> None:
    left, right = sort_of(i), sort_of(j)
    if not isinstance(left, Term) or left != right or is_outcome(left):
        raise TermError(f"{what}: {i!r} is {spelled_sort(left)}, but {j!r} is {spelled_sort(right)}")


def relation(name: str, left: Any, right: Any) -> Term:
    left, right = as_term(left), as_term(right)
    if name in ("eq", "ne") and isinstance(sort_of(left), Term):
        _same_range(name, left, right)
        return Term("relation", (left, right), name)
    return Term("relation", (real(left), real(right)), name)


def when(condition: Term, then: Any, otherwise: Any) -> Term:
    """Piecewise: `then` where the relation holds, else `otherwise`."""
    if condition.op != "relation":
        raise TermError(f"{condition!r} is not a relation")
    return Term("when", (condition, real(then), real(otherwise)))


def implies(guard: Term, body: Term) -> Term:
    for part in (guard, body):
        if sort_of(part) != PROP:
            raise TermError(f"{part!r} is not a proposition, but {spelled_sort(sort_of(part))}")
    return Term("implies", (guard, body))


def table(entries: Any, *indices: Any) -> Term:
    """An entry of an explicit vector or matrix, rows first."""
    nested = isinstance(entries[0], list | tuple)
    rows = [list(r) for r in entries] if nested else [[e] for e in entries]
    shape = (len(rows), len(rows[0])) if nested else (len(rows),)
    if len({len(r) for r in rows}) != 1:
        raise TermError("a matrix needs rows of one length")
    flat = tuple(real(e) for r in rows for e in r)
    return Term("table", flat + _slotted("table", tuple(map(number, shape)), indices), shape)


ANY_REAL = Term("domain", (), "real")  # stands where a size would, for a slot or a binder that ranges over the reals
ZERO, ONE, PI, INFINITY = number(0), number(1), Term("pi"), Term("infinity")
