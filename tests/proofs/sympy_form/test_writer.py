"""What a term becomes in SymPy, node by node; no name is captured or confused; and what has no form is refused."""

import subprocess
import sys
from pathlib import Path

import pytest
import sympy
from sympy import Derivative, IndexedBase, KroneckerDelta, Limit, Piecewise, Subs, Sum, Symbol

import proofs
from proofs.binders import substitute
from proofs.definitions import Definition
from proofs.kernel import Statement
from proofs.notation import (
    ANY_REAL,
    INFINITY,
    PI,
    M,
    choice,
    curve,
    delta,
    derivative,
    eq,
    erf,
    exp,
    expectation,
    family,
    forall,
    function,
    i,
    index,
    j,
    join,
    l,
    le,
    log,
    lt,
    maximum,
    n,
    ne,
    number,
    outcome,
    permutation,
    rational,
    sin,
    size,
    space,
    split,
    sqrt,
    sum_,
    t,
    table,
    tanh,
    tends,
    value_of,
    variable,
    when,
    z,
)  # fmt: skip
from proofs.sympy_form import SympyFormError, instances, to_sympy

softmax = Definition("softmax", [z, i], exp(z[i]) / sum_(l, exp(z[l])))
path, pi, x = curve("y", n), permutation("pi", n), variable("x")
m, a, c = index("m", M), index("a", 2), index("c", 2 * M)
b = index("b", 3)

N = Symbol("n", integer=True, positive=True)
I, J, L = (Symbol(name, integer=True, nonnegative=True) for name in "ijl")
T, X = Symbol("t", real=True), Symbol("x", real=True)
Z = IndexedBase("z", (N,), real=True)
CURVE = sympy.Function("y", real=True)
z0, z1, z2 = (Symbol(f"z_{k}", real=True) for k in range(3))


@pytest.mark.parametrize(
    ("term", "form"),
    [
        (softmax(z, i), sympy.exp(Z[I]) / Sum(sympy.exp(Z[L]), (L, 0, N - 1))),
        (delta(i, j) * z[j], KroneckerDelta(I, J, (0, N - 1)) * Z[J]),
        (sum_(l, delta(l, i)), Sum(KroneckerDelta(I, L, (0, N - 1)), (L, 0, N - 1))),
        (rational(2, 3) * PI * value_of(i) ** n, sympy.Rational(2, 3) * sympy.pi * I**N),
        (sqrt(x) + maximum(x, 1), sympy.sqrt(X) + sympy.Max(X, 1)),
        (when(le(x, 0), 0, tanh(x)), Piecewise((0, X <= 0), (sympy.tanh(X), True))),
        (derivative(t, t * erf(t), t), Derivative(T * sympy.erf(T), T)),
        (derivative(t, t * x, 0), Subs(Derivative(T * X, T), T, 0)),
        (derivative(t, sin(t) * t, x), Subs(Derivative(T * sympy.sin(T), T), T, X)),
        (path[i, t] * path.derivative[j, t], CURVE(I, T) * Derivative(CURVE(J, T), T)),
        (path.derivative[i, number(0)], Subs(Derivative(CURVE(I, T), T), T, 0)),
        (z[pi(i)], Z[sympy.Function("pi", integer=True, nonnegative=True)(I)]),
        (tends(t, 1 / t, INFINITY, 0), sympy.Eq(Limit(1 / T, T, sympy.oo), 0, evaluate=False)),
        (tends(t, t * x, x, 0), sympy.Eq(Limit(T * X, T, X, "+-"), 0, evaluate=False)),
        (lt(x, x), sympy.Lt(X, X, evaluate=False)),
        (eq(x, 1 + x), sympy.Eq(X, 1 + X, evaluate=False)),
    ],
)
def test_the_general_form(term, form):
    assert to_sympy(term) == form


@pytest.mark.parametrize(
    ("term", "indices", "form"),
    [
        (softmax(z, i), {i: 1}, sympy.exp(z1) / (sympy.exp(z0) + sympy.exp(z1) + sympy.exp(z2))),
        (z[i] * delta(i, j), {i: 1, j: 2}, 0),
        (sum_(l, z[pi(l)] * value_of(l)), {"pi": (1, 2, 0)}, z2 + 2 * z0),
        (value_of(join(m, a)), {"m": 2, "a": 1}, 5),
        (value_of(split(c, 2)[0]) + 10 * value_of(split(c, 2)[1]), {c: 5}, 12),
        (table([[1, 2], [3, 4]], a, 0), {a: 1}, 3),
        (table([[1, 2, 3], [4, 5, 6]], a, b), {a: 1, b: 0}, 4),
        (when(eq(i, j), x, 1 / value_of(i)), {i: 0, j: 0}, X),
        (table([x, 1 / value_of(i)], a), {a: 0, i: 0}, X),
        (n + M, {}, 6),
        (
            derivative(t, path[i, t] ** 2, x),
            {i: 2},
            Subs(Derivative(sympy.Function("y_2", real=True)(T) ** 2, T), T, X),
        ),
        (forall(l, le(z[l], 1)), {}, sympy.And(z0 <= 1, z1 <= 1, z2 <= 1)),
    ],
)
def test_an_instance_is_written_out(term, indices, form):
    sizes = dict.fromkeys((n, M), 3)
    assert to_sympy(term, sizes, indices) == form


def test_symbols_keep_their_assumptions():
    domains = {d: to_sympy(variable("v", d)) for d in ("real", "nonnegative", "positive", "integer")}
    assert domains["real"].is_real
    assert domains["real"].is_positive is None
    assert domains["nonnegative"].is_nonnegative
    assert domains["positive"].is_positive
    assert domains["integer"].is_integer
    assert to_sympy(family("u", n, domain="positive")[i], {n: 2}, {i: 0}).is_positive
    assert to_sympy(size("k", 0)).is_positive is None
    assert to_sympy(size("k", 0)).is_nonnegative


def test_a_binder_never_captures():
    """SymPy's own substitution does; a bound name that is free elsewhere gets a prime."""
    inner = sum_(j, z[i] * z[j])
    term = sum_(i, z[i]) * inner
    assert to_sympy(term) == Sum(Z[Symbol("i'", **I.assumptions0)], (Symbol("i'", **I.assumptions0), 0, N - 1)) * Sum(
        Z[I] * Z[J], (J, 0, N - 1)
    )
    nested = to_sympy(sum_(i, z[i] * sum_(l, softmax(z, i) * z[l])), {n: 2})
    s = [sympy.exp(v) / (sympy.exp(z0) + sympy.exp(z1)) for v in (z0, z1)]
    assert sympy.expand(nested - (z0 * s[0] + z1 * s[1]) * (z0 + z1)) == 0
    apart = sum_(l, z[l]) + sum_(l, 2 * z[l]) ** 2
    assert to_sympy(apart) == Sum(Z[L], (L, 0, N - 1)) + Sum(2 * Z[L], (L, 0, N - 1)) ** 2
    moved = substitute(derivative(t, t * x, t), {x: t})
    assert to_sympy(moved).doit() == T
    crossed = derivative(t, t * derivative(variable("s"), variable("s") * t, x), x)
    assert to_sympy(crossed).doit() == 2 * X


def test_instances_are_all_assignments_that_the_hypotheses_allow():
    no_form = forall(variable("u"), le(x, variable("u")))
    statement = Statement(eq(z[i] * z[pi(j)], 0), (ne(i, j), le(x, 0), no_form))
    found = list(instances(statement, {"n": 3}))
    assert len(found) == 3 * 2 * 6
    assert len({tuple(sorted((str(k), v) for k, v in a.items())) for a, _ in found}) == len(found)
    assignment, relation = found[0]
    assert assignment == {i: 0, j: 1, pi: (0, 1, 2)}
    assert relation == sympy.Eq(z0 * z1, 0)
    assert list(instances(Statement(eq(z[i], size("k", 0))), {n: 2, "k": 0}))[1][1].rhs == 0


MU = choice("mu", ANY_REAL, target=n)
U_OUTCOME, R = outcome("u", space("U")), family("R", space("U"))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: to_sympy(z[i], {}), "sizes: n is None; needed a whole number >= 1, as in sizes={'n': 3}"),
        (lambda: to_sympy(z[i], {n: 0}, {i: 0}), "sizes: n is 0; needed a whole number >= 1"),
        (lambda: to_sympy(z[i], {"m": 2}), "sizes: nothing is named 'm' here; there is i, n, z"),
        (lambda: to_sympy(z[i], {n: 2}), "indices: i is None; needed a whole number below 2"),
        (lambda: to_sympy(z[i], {n: 2}, {i: 2}), "indices: i is 2; needed a whole number below 2"),
        (lambda: to_sympy(z[i], {n: 2}, {i: True}), "indices: i is True; needed a whole number below 2"),
        (lambda: to_sympy(z[pi(i)], {n: 2}, {i: 1, pi: (0,)}), "indices: pi is (0,); needed at each place a whole number"),
        (lambda: to_sympy(z[i], indices={i: 0}), "indices have values in an instance only: give sizes={...} too"),
        (lambda: to_sympy(function(i, z[i])), "has no SymPy form of its own: apply the function to its arguments"),
        (lambda: to_sympy(sum_(i, z[i]).args[1]), "has no SymPy form of its own: it lacks the binder around it"),
        (lambda: to_sympy(forall(i, le(z[i], 1))), "for all i: SymPy has no quantifier"),
        (lambda: to_sympy(forall(x, le(x, 1)), {}), "for all x: SymPy has no quantifier"),
        (lambda: to_sympy(1 / (x - x)), "has no real value: SymPy makes it zoo"),
        (lambda: to_sympy(log(number(-2))), "has no real value: SymPy makes it log(2) + I*pi"),
        (lambda: to_sympy(z[i] + variable("z_0"), {n: 2}, {i: 0}), "two things would be named z_0 in SymPy"),
        (lambda: to_sympy(z[i] + variable("z")), "two things would be named z in SymPy"),
        (lambda: to_sympy(expectation(U_OUTCOME, R[U_OUTCOME])), "an expectation over U: SymPy has random symbols of known distributions only"),
        (lambda: to_sympy(x + sum_(i, z[i] * expectation(U_OUTCOME, number(1))), {n: 2}), "an expectation over U"),
        (lambda: to_sympy(exp(expectation(U_OUTCOME, R[U_OUTCOME] ** 2)), {}), "an expectation over U"),
        (lambda: to_sympy(R[U_OUTCOME]), "no SymPy form for a node 'space'"),
        (lambda: list(instances(Statement(le(R[U_OUTCOME], 1)), {})), "no SymPy form for a node 'space'"),
        (lambda: list(instances(Statement(eq(z[MU(x)], 0)), {n: 2})), "the values of mu cannot be listed"),
    ],
)  # fmt: skip
def test_what_has_no_form_is_refused(call, message):
    with pytest.raises(SympyFormError) as caught:
        call()
    assert message in str(caught.value)


def test_a_symbol_that_a_term_does_not_have_is_passed_over():
    assert to_sympy(x, {n: 2, M: 3}, {i: 0, pi: (1, 0)}) == X


def test_nothing_else_loads_sympy():
    program = (
        "import sys, proofs, proofs.kernel, proofs.commands.app, proofs.registry as r; [c.theorem for c in r.all_claims()[:3]]; "
        "sys.exit('sympy' in sys.modules)"
    )
    root = Path(proofs.__file__).parent
    assert subprocess.run([sys.executable, "-c", program], cwd=root.parent, check=False).returncode == 0
    users = {f.relative_to(root).parts[0] for f in root.rglob("*.py") if _imports_sympy(f.read_text(encoding="utf-8"))}
    assert users == {"sympy_form"}


def _imports_sympy(source):
    return any(line.split()[:2] in (["import", "sympy"], ["from", "sympy"]) for line in source.splitlines())
