"""What a page declares, read back into the symbols of a theorem."""

import pytest

from proofs.notation import ANY_REAL, choice, curve, family, index, outcome, permutation, size, space, variable
from proofs.registry import all_claims
from proofs.render import Latex, Notation
from proofs.render.declared import declarations
from proofs.render.inverse import DeclarationError, Table, UnreadableError
from proofs.render.inverse.declarations import DECLARED, introduced, table_of
from proofs.render.inverse.tree import Name
from proofs.render.parts import Formula
from proofs.terms import Family, IndexMap, Term

n, M, U = size("n"), size("M", 0), space("U")
KNOWN = Table({Name("n"): n, Name("M"): M, Name("U"): U})
SYMBOLS = [
    n, M, U, index("i", n), index("j", n), index("a", 2), outcome("u", U), variable("t"), variable("omega", "positive"),
    variable("x_i", "integer"), family("z", n), family("W_Q", n, 2 * M, domain="nonnegative"), family("q", n, U), curve("x", n),
    family("f", ANY_REAL), permutation("pi", n), choice("hi", U, ANY_REAL, target=2 * M), curve("V_t"),
]  # fmt: skip


def entries(symbols, printer=Latex):
    found = declarations(symbols, printer(Notation(symbols)))
    return [(d.kind, [p.text for p in d.parts if isinstance(p, Formula)]) for d in found]


def test_every_kind_is_read():
    found = entries(SYMBOLS)
    assert {kind for kind, _ in found} == set(DECLARED)
    table = table_of(found, SYMBOLS, Table({}))
    derivatives = {s.derivative for s in SYMBOLS if isinstance(s, Family) and s.derivative}
    assert set(table.entries.values()) == {*SYMBOLS, *derivatives}
    assert table.get(Name("V", "t", dotted=True)).name == "d_V_t"
    assert table.get(Name("x", "i")) == variable("x_i", "integer")


@pytest.mark.slow
def test_every_theorem_is_declared():
    for claim in all_claims():
        notation = Notation.of(claim.theorem.conclusion, *claim.theorem.hypotheses)
        symbols = [s for s in notation.symbols() if isinstance(s, Term | Family | IndexMap)]
        table = table_of(entries(symbols), symbols, Table({}))
        assert len(table.entries) == len(symbols)


def test_one_declaration():
    assert introduced("size", [r"0 \le M"], KNOWN) == [
        (Name("M"), size("M", 0).rebuilt(()).__class__("size", (), ("", 0)))
    ]
    (found,) = introduced("families", [r"q_{j k}(u) \in \mathbf{R}", r"j < n, u \in \mathbf{R}, k < 2 M"], KNOWN)
    assert found == (Name("q"), Family("", (n, ANY_REAL, 2 * M)))
    (mapped,) = introduced("map", [r"\mathit{hi}(k) < M", r"k \in U"], KNOWN)
    assert mapped == (Name("hi"), IndexMap("", (U,), M))


WRONG = {
    "size": [[r"n \le 1"], [r"1 < n"], [r"1 \le n", r"1 \le n"], [r"1 \le n_{i}"], [r"1 \le"]],
    "space": [[r"U_{i}"], [r"2"], []],
    "members": [[r"i, j"], [r"i_{j} < n"], [r"i \in n"], [r"i < U"], [r"i < b"], [r"i \in \mathbf{Q}"], [r"i < n + t"]],
    "families": [
        [r"z_{k} \in \mathbf{R}", r"j < n"], [r"z_{k j} \in \mathbf{R}", r"j < n, k < n"], [r"z_{k} < n", r"k < n"],
        [r"z_{k} \in \mathbf{R}", r"k"], [r"z_{k k} \in \mathbf{R}", r"k < n, k < n"], [r"z_{n} \in \mathbf{R}", r"n < n"],
        [r"z(k) \in \mathbf{R}", r"k < n"], [r"z_{k} \in \mathbf{R}", r"k \in U"], [r"z_{k}(u)_{j} \in \mathbf{R}", r"k < n"],
        [r"z_{k} \in \mathbf{R}"], [r"z_{2} \in \mathbf{R}", r"k < n"],
    ],
    "random": [[r"z_{k} \in \mathbf{R}", r"k < n"]],
    "curve": [
        [r"x_{k}(u) \in \mathbf{R}", r"k < n, u \in \mathbf{R}", "k", r"\dot{x}"],
        [r"x_{k} \in \mathbf{R}", r"k < n", "k", r"\dot{x}"],
        [r"x_{k}(u), y_{k}(u) \in \mathbf{R}", r"k < n, u \in \mathbf{R}", "u", r"\dot{x}"],
        [r"x_{k}(u) \in \mathbf{R}_{> 0}", r"k < n, u \in \mathbf{R}", "u", r"\dot{x}"],
        [r"x_{k}(u) \in \mathbf{R}", r"k < n, u \in \mathbf{R}", "u", r"\dot{x}(u)"],
    ],
    "map": [[r"\pi(k), \mu(k) < n", r"k < n"], [r"\pi_{k} < n", r"k < n"], [r"\pi(j) < n", r"k < n"], [r"\pi(k) \in U", r"k < n"]],
    "permutation": [[r"\pi(k) < M", r"k < n"], [r"\pi(j, k) < n", r"j < n, k < n"]],
    "constant": [[r"n"]],
}  # fmt: skip


@pytest.mark.parametrize(("kind", "texts"), [(kind, texts) for kind, many in WRONG.items() for texts in many])
def test_no_declaration(kind, texts):
    with pytest.raises(UnreadableError):
        introduced(kind, texts, KNOWN)


def test_other_symbols_than_the_theorem_has():
    found = entries([n, index("i", n)])
    with pytest.raises(DeclarationError, match=r"not declared: j \(an index below n\)"):
        table_of(found, [n, index("i", n), index("j", n)], Table({}))
    with pytest.raises(DeclarationError, match="i is declared as an index below n, and the theorem has no such symbol"):
        table_of(found, [n], Table({}))
    with pytest.raises(DeclarationError, match="n is declared as a size of at least 1"):
        table_of(found, [size("n", 2), index("i", n)], Table({}))
    with pytest.raises(DeclarationError, match="no such kinds of declarations: constant"):
        table_of([*found, ("constant", ["2"])], [n, index("i", n)], Table({}))
    with pytest.raises(DeclarationError, match="the theorem has no such symbol"):
        table_of([*found, *found[1:]], [n, index("i", n)], Table({}))
