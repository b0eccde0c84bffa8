"""True statements that follow from an earlier theorem at random values."""

from __future__ import annotations

from functools import cache
from random import Random
from typing import Any

from proofs.binders import as_function, function, substitute, sum_
from proofs.kernel import Script, Statement, Theorem, prove
from proofs.notation import Definition, absolute, eq, exp, le, lt
from proofs.terms import Family, Term, free, number

from .vocabulary import INDICES, A, Case, a, b, c, leaf, n, positive, turned, u, x, y

_i, _j, _k = INDICES
share = Definition("share", [u, _i], u[_i] / sum_(_k, u[_k]))


def _proved(
    name: str, conclusion: Term, near_miss: Term, *links: tuple[Any, dict[str, Any]], given: tuple[Term, ...] = ()
) -> Theorem:
    def write(script: Script) -> None:
        for after, reason in links[:-1]:
            script.equals(after, **reason)
        script.closes(**links[-1][1])

    return prove(name, Statement(conclusion, given), write, near_misses=[Statement(near_miss, given)])


@cache
def theorems() -> dict[str, Theorem]:
    unfolded = sum_(_i, u[_i] / sum_(_k, u[_k]))
    return {
        "square": _proved(
            "square",
            eq((a + b) ** 2, a**2 + 2 * a * b + b**2),
            eq((a + b) ** 2, a**2 + b**2),
            (None, {"reason": "ring"}),
        ),
        "shift": _proved(
            "shift",
            eq(sum_(_i, x[_i] + b), sum_(_i, x[_i]) + n * b),
            eq(sum_(_i, x[_i] + b), b),
            (None, {"reason": "finite_sum"}),
        ),
        "total": _proved(
            "total",
            eq(sum_(_i, share(u, _i)), 1),
            eq(sum_(_i, share(u, _i)), n),
            (unfolded, {"reason": "definition", "of": share}),
            (None, {"reason": "finite_sum"}),
        ),
        "share": _proved(
            "share",
            eq(share(u, _j) * sum_(_k, u[_k]), u[_j]),
            eq(share(u, _j), u[_j]),
            (None, {"reason": "definition", "of": share}),
        ),
        "mean": _proved(
            "mean", le(2 * a * b, a**2 + b**2), le(a * b, 0), (None, {"reason": "order", "difference": (a - b) ** 2})
        ),
        "sign": _proved(
            "sign", eq(absolute(a), a), eq(absolute(a), -a), (None, {"reason": "order"}), given=(lt(0, a),)
        ),
    }


def substitution(rng: Random, depth: int) -> Case:
    s, t, v = leaf(rng), leaf(rng), positive(rng)
    i, j, k = rng.sample(INDICES, 3)
    entry = rng.choice([exp(x[i]), u[i] * c, c + y[i] ** 2, u[i] / u[j]])
    if rng.random() < 0.1:
        return Case(le(2 * s * v + t, s**2 + v**2 + t), theorems()["mean"], {"at": {a: s, b: v}})
    name, at = rng.choice(
        [
            ("square", {a: s, b: t}),
            ("shift", {x: function(i, entry), b: v}),
            ("total", {u: function(i, entry)}),
            ("share", {_j: k}),
            ("share", {u: function(i, entry), _j: k}),
            ("sign", {a: v}),
        ]
    )
    left, right = substitute(
        theorems()[name].conclusion, {f: as_function(e) if isinstance(f, Family) else e for f, e in at.items()}
    ).args
    if name == "share" and rng.random() < 0.5:
        at = {f: e for f, e in at.items() if f != _j}  # holds for every j, and is found at k
    place = rng.choice(
        [
            lambda r: r,
            lambda r: Term("add", (t, Term("mul", (number(-3), r)))),
            lambda r: Term("mul", (s, r)),
            lambda r: sum_(i, Term("mul", (r, A[i, j]))),
            lambda r: sum_(j, exp(r) * y[j]),
        ]
    )
    conclusion = eq(*turned(rng, (place(left), place(right))))
    bound = set().union(*map(free, at.values())) - free(conclusion) if at else set()
    if bound:  # the values speak of a bound index, so the theorem is applied there
        return Case(conclusion, "congruence", {"then": theorems()[name], "at": at})
    return Case(conclusion, theorems()[name], {"at": at})
