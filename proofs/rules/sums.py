"""TRUSTED. Finite sums in normal form: each is split into connected multiple sums, which are named canonically.

A multiple sum is connected when no factor can be pulled out of it and it is no product of sums; so
sum_i sum_j a_i b_j, a product, and sum_i sum_j a_i b_ij, which is none, have each one form.

Expectations, where their law is allowed, are sums of mass 1 over outcomes, which no law tells apart: Fubini's theorem exchanges
them, since `rules.defined` admits only what is integrable.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, permutations, product
from typing import TYPE_CHECKING, Any

from ..binders import close, substitute
from ..terms import Term, free, join, key, least, literal
from .context import Context
from .facts import replaced
from .polynomial import Coefficient, Monomial, Polynomial, add, as_product, factors

if TYPE_CHECKING:
    from .normal import Normal

LITERAL_LIMIT = 16  # a sum over at most so many literal indices is written out
EXCHANGE_LIMIT = 4  # more indices than so many, alike in a multiple sum, keep the order in which they come


def polynomial(normal: Normal, term: Term, at: Context) -> Polynomial:
    size = term.args[0]
    (i,), opened, inside = at.opened(term)
    if size.op == "add" and _is_valued_only(opened, i):
        return normal.polynomial(_without_last(size, i, opened), at)
    if size.op == "mul" and len(size.args) == 2 and _is_split(opened, i):
        return normal.polynomial(_mixed_radix(term, i, opened), at)
    total: Polynomial = {}
    for monomial, c in normal.polynomial(opened, inside).items():
        total = add(total, _of_product(normal, size, i, monomial, at, inside), c)
    return total


def _is_split(term: Term, i: Term) -> bool:
    """Whether the index occurs as a quotient or a remainder, or is compared with a join."""
    if term.op in ("quotient", "remainder") and term.args[0] == i:
        return True
    if term.op == "delta" and i in term.args and any(a.op == "join" for a in term.args):
        return True
    return any(_is_split(a, i) for a in term.args)


def _is_valued_only(term: Term, i: Term) -> bool:
    """Whether the index occurs as a number only, so that it may range over fewer or more values."""
    if i not in free(term) or (term.op == "value" and term.args[0] == i):
        return True
    return term != i and all(_is_valued_only(a, i) for a in term.args)


def _without_last(size: Term, i: Term, opened: Term) -> Term:
    """sum over i < a + b of f(i) = sum over i < a of f(i) + sum over i < b of f(a + i), for two sizes or more."""
    total: list[Term] = []
    before: list[Term] = []
    for part in size.args:
        j = Term("index", (part,), i.data)
        shifted = Term("add", (*before, Term("value", (j,)))) if before else Term("value", (j,))
        body = replaced(opened, Term("value", (i,)), shifted)
        total.append(Term("sum", (part, close(body, (j,))), None, (i.data[3:] or "j",)))
        before.append(part)
    return Term("add", tuple(total))


def _mixed_radix(term: Term, i: Term, opened: Term) -> Term:
    """sum over c of f(c) = sum over m and a of f(minor * m + a)."""
    minor, major = term.args[0].args
    m, a = Term("index", (major,), i.data + "q"), Term("index", (minor,), i.data + "r")
    body = substitute(opened, {i: join(m, a)})
    inner = Term("sum", (minor, close(body, (a,))), None, ("a",))
    return Term("sum", (major, close(inner, (m,))), None, ("m",))


def _of_product(normal: Normal, size: Term, i: Term, monomial: Monomial, at: Context, inside: Context) -> Polynomial:
    """The sum over i of one product of atoms; `inside` is the context under the binder."""
    dependent = frozenset((t, e) for t, e in monomial if i in free(t))
    rest: Polynomial = {monomial - dependent: 1}
    if size.op != "space" and least(size) < 1:
        normal.doubt(t for t, _ in monomial - dependent)
    if not dependent and size.op == "space":
        return rest
    if not dependent:
        return normal.product(rest, normal.polynomial(size, at), at)
    for t, e in factors(dependent):
        if t.op == "delta" and e == 1 and i in t.args:
            other = t.args[1] if t.args[0] == i else t.args[0]
            if i not in free(other):
                left = substitute(as_product(dependent - {(t, e)}), {i: other})
                return normal.product(rest, normal.polynomial(left, at), at)
    if size.op == "number" and size.data <= LITERAL_LIMIT:
        written: Polynomial = {}
        for k in range(int(size.data)):
            term = substitute(as_product(dependent), {i: literal(k, size)})
            written = add(written, normal.polynomial(term, at))
        return normal.product(rest, written, at)
    body = _without_permutation(as_product(dependent), i)
    if body is not None:
        renamed = _bound(i, body)
        return normal.product(rest, normal.polynomial(renamed, at), at)
    return normal.product(rest, {frozenset({(_multiple(normal, i, dependent, inside), 1)}): 1}, at)


def _without_permutation(term: Term, i: Term) -> Term | None:
    """The term with j for pi(j), if the index occurs in no other way and pi is a bijection of its range."""
    mapped = _permuted(term, i)
    if mapped is None:
        return None

    def renamed(t: Term) -> Term:
        return i if t == mapped else t.rebuilt(map(renamed, t.args))

    hidden = Term("index", i.args, i.data + "x")
    stripped = replaced(term, mapped, hidden)
    return None if i in free(stripped) else renamed(term)


def _permuted(term: Term, i: Term) -> Term | None:
    if term.op == "map" and term.args == (i,) and term.data.bijective and term.data.target == i.args[0]:
        return term
    return next((found for a in term.args if (found := _permuted(a, i)) is not None), None)


def _multiple(normal: Normal, i: Term, product: Monomial, inside: Context) -> Term:
    """The canonical atom of the sum over i of a product: inner sums are merged, the order of the indices is fixed."""
    indices, parts, deep = [i], [], inside
    for t, e in factors(product):
        if t.op not in normal.folded or e < 0:
            parts.append((t, e))
            continue
        for _ in range(e):
            body = t
            while body.op in normal.folded:
                (j,), body, deep = deep.opened(body)
                indices.append(j)
            parts += [_as_factor(f) for f in (body.args if body.op == "mul" else (body,))]
    candidates = (_nested(order, indices, parts, normal, deep) for order in _orders(indices, parts))
    return min(candidates, key=key)


def _orders(indices: list[Term], parts: list[tuple[Term, int]]) -> Iterable[tuple[Term, ...]]:
    """The orders to choose from: by range, then by how the product speaks of an index; only those alike change places."""
    alike: dict[Any, list[Term]] = {}
    for i in indices:
        spoken = sorted((_outline(t, i, indices), e) for t, e in parts if i in free(t))
        alike.setdefault((key(i.args[0]), tuple(spoken)), []).append(i)
    groups = [alike[k] for k in sorted(alike)]
    if max(map(len, groups)) > EXCHANGE_LIMIT:
        return [tuple(i for group in groups for i in group)]
    return (tuple(chain(*order)) for order in product(*map(permutations, groups)))


def _outline(term: Term, i: Term, indices: list[Term]) -> str:
    """A spelling that does not depend on the names of these indices: i is a star, another one its range."""
    if term == i:
        return "*"
    if term in indices:
        return f"<{key(term.args[0])}>"
    if not term.args or not free(term).intersection(indices):
        return key(term)
    parts = [_outline(a, i, indices) for a in term.args]
    if term.op in ("add", "mul", "delta"):
        parts.sort()
    return f"{term.op}:{getattr(term.data, 'name', term.data)}({', '.join(parts)})"


def _as_factor(term: Term) -> tuple[Term, int]:
    if term.op == "power" and term.args[1].op == "number" and term.args[1].data.denominator == 1:
        return term.args[0], int(term.args[1].data)
    return term, 1


def _nested(
    order: tuple[Term, ...], names: list[Term], parts: list[tuple[Term, int]], normal: Normal, deep: Context
) -> Term:
    """The multiple sum with `order` outermost first; its indices take the names in that order before it is sorted."""
    renaming = {old: Term("index", old.args, new.data) for old, new in zip(order, names, strict=True)}
    product = Term("mul", tuple(substitute(t if e == 1 else t**e, renaming) for t, e in parts))
    body = as_product(*_single(normal.polynomial(product, deep)))
    for old in reversed(order):
        body = _bound(renaming[old], body)
    return body


def _bound(i: Term, body: Term) -> Term:
    """The sum of the body over an index, or its expectation over an outcome."""
    op = "expect" if i.args[0].op == "space" else "sum"
    return Term(op, (i.args[0], close(body, (i,))), None, (i.data[3:] or "j",))


def _single(p: Polynomial) -> tuple[Monomial, Coefficient]:
    ((monomial, c),) = p.items()
    return monomial, c
