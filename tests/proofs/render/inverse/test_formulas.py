"""What a text means with a table of symbols, and what is wrong with a text that means nothing."""

import pytest

from proofs.notation import (
    INFINITY,
    PI,
    cos,
    curve,
    derivative,
    eq,
    forall,
    function,
    index,
    join,
    le,
    lt,
    ne,
    number,
    permutation,
    sin,
    sum_,
    tends,
    value_of,
    variable,
    when,
)  # fmt: skip
from proofs.render import Latex, Notation
from proofs.render.inverse import UnreadableError, fragment
from proofs.render.inverse.formulas import assigned, definition, value, values
from proofs.terms import Term, literal

from ..random_terms import FREE, M, U, W, c, f, mean, n, omega, onehot, pi_n, q, softmax, t, w, x, x_i, z
from ..test_injective import PAGE
from .spelled_table import table_of

TABLE = table_of(PAGE)
i, j, l = FREE[n]
m, a, u = FREE[M][0], FREE[number(2)][0], FREE[U][0]


def mul(*parts):
    return Term("mul", parts)


MEANINGS = {
    r"x_{\mathrm{i}}": x_i,
    r"x_{i}": x[i],
    r"i": value_of(i),
    r"i = j": eq(i, j),
    r"[i] = [j]": eq(value_of(i), value_of(j)),
    r"i = 0": eq(i, literal(0, n)),
    r"[i] = 0": eq(value_of(i), 0),
    r"i \le j": le(value_of(i), value_of(j)),
    r"[2 m + a]": value_of(join(m, a)),
    r"2 m + a": 2 * value_of(m) + value_of(a),
    r"c_{2 m + a}": c[join(m, a)],
    r"2 m + a = 0": eq(2 * value_of(m) + value_of(a), 0),
    r"(2 m + a)_{2 M} = 0": eq(join(m, a), literal(0, 2 * M)),
    r"\sum_{l'=0}^{n - 1} z_{l'}": sum_(index("k", n), z[index("k", n)]),
    r"\forall k \ne i\colon z_{k} \le w": forall(index("k", n), le(z[index("k", n)], w), where=[ne(index("k", n), i)]),
    r"\operatorname{mean}(z)": mean(z),
    r"\operatorname{mean}(k \mapsto z_{k} + w)": mean(function(index("k", n), z[index("k", n)] + w)),
    r"\operatorname{mean}(k < M \mapsto w)": mean(function(index("k", M), w)),
    r"\pi": PI,
    r"\begin{cases} w, & w \le t \\ t, & w > t \end{cases}": when(le(w, t), w, t),
    r"\begin{cases} w, & w < t \\ t, & w \ge t \end{cases}": when(lt(w, t), w, t),
    r"\begin{cases} w, & i \ne j \\ t, & i = j \end{cases}": when(ne(i, j), w, t),
    r"\sin(\omega t) \cos(\omega w)": mul(sin(omega * t), cos(omega * w)),
    r"-2 w": mul(number(-2), w),
    r"-w t": mul(number(-1), w, t),
    r"t - 2 w": t - 2 * w,
    r"\frac{2 w}{t}": mul(number(2), w, Term("power", (t, number(-1)))),
    r"\frac{\mathrm{d}}{\mathrm{d} t} \left[f(t)\right]": derivative(t, f[t], t),
    r"\frac{\mathrm{d}}{\mathrm{d} s'} \left[f(s')\right]_{s' = t}": derivative(variable("s"), f[variable("s")], t),
    r"\lim_{t' \to \infty} f(t') = w": tends(variable("t"), f[variable("t")], INFINITY, w),
}


@pytest.mark.parametrize("text", MEANINGS)
def test_meaning(text):
    assert fragment(text, TABLE) == MEANINGS[text]


def test_ranges_are_found_by_use():
    """An index that is used, one that is compared, one that is part of 2 m + a, one whose function is passed on."""
    k, b, e = index("k", n), index("b", 2), index("e", M)
    for term in (
        forall(k, forall(e, le(q[k, e], w))),
        forall(b, forall(e, le(c[join(e, b)], w))),
        forall(k, eq(pi_n(k), i)),
        mean(function(k, softmax(z, k))),
        mean(function(k, softmax(function(l, z[l] + z[k]), k))),
        sum_(e, onehot(e, literal(0, M))),
    ):
        assert fragment(Latex(PAGE)(term), TABLE) == term


NONSENSE = {
    r"y + b": ("y has 1 subscripts and 1 arguments", 1),
    r"b": ("b is not declared", 1),
    r"z": ("z has 1 subscripts and 0 arguments", 1),
    r"z_{i j}": ("z has 1 subscripts and 0 arguments", 1),
    r"z_{m}": ("this index is of another range: found M, needed n", 4),
    r"z_{w}": ("w is no index", 4),
    r"z_{5}": ("5|not known to be in the range", 1),
    r"w_{i}": ("w takes neither indices nor arguments", 1),
    r"w(t)": ("w takes neither indices nor arguments", 1),
    r"\mathit{tied}_{i}": ("the map tied takes no subscripts", 1),
    r"\operatorname{softmax}(z)": ("softmax takes 1 arguments and 1 subscripts here", 1),
    r"\operatorname{softmax}(w)_{i}": ("w is no function", 24),
    r"\operatorname{softmax}_{i}(z)": ("the subscripts of softmax stand behind its arguments", 1),
    r"\operatorname{mean}(q)": ("q needs 1 subscripts to be a function of 1 arguments", 21),
    r"\operatorname{mean}(k \mapsto w)": ("nothing tells the range of this index", 1),
    r"\operatorname{mean}(t' \in \mathbf{R} \mapsto f(t'))": ("a function of numbers and one of indices are not alike", 21),
    r"\operatorname{unknown}(z)": ("unknown is not declared", 1),
    r"\delta_{i m}": ("this index is of another range: found M, needed n", 11),
    r"\forall k\colon w \le t": ("nothing tells the range of this index", 9),
    r"\forall k \in n\colon z_{k} \le t": ("needed a probability space", 15),
    r"\forall k < U\colon w \le t": ("U is a space, and no number", 13),
    r"\sum_{i=0}^{n - 1} z_{i} w": None,
    r"z_{i} + \sum_{i=0}^{n - 1} z_{i}": ("i is bound here, and stands for a symbol of the page elsewhere", 9),
    r"\sum_{k=0}^{n - 1} \sum_{k=0}^{n - 1} z_{k}": ("k is bound already", 20),
    r"\sum_{k=0}^{n} z_{k}": (r"this index is of another range: found add\(n, 1\), needed n", 19),
    r"\sum_{k=0}^{n - 2} z_{k}": ("this is the last index of no range", 13),
    r"\sum_{k=0}^{n + 1 - 1} z_{k}": ("this last index is written in a shorter way", 13),
    r"\sum_{k=0}^{w - 1} z_{k}": ("w is not a size", 13),
    r"x_{\mathrm{i}} = i = j": ("found '=', needed the end", 20),
    r"i = w": ("w is no index", 5),
    r"[i] \le w": ("needed brackets only around 2 m", 1),
    r"[w] = 2": ("w is no index", 2),
    r"w \Rightarrow t": ("a guard is a relation", 1),
    r"(w \le t) w": ("needed a number", 2),
    r"w^{-1}": ("the power -1 is written with a bar", 1),
    r"-0": ("zero has no sign", 2),
    r"-1 w": ("needed brackets around a factor -1", 2),
    r"(-2) w": ("this minus belongs before the product", 1),
    r"w + (-1) t": ("this minus belongs before the product", 5),
    r"\tfrac{2}{4}": ("a small fraction is a number in lowest terms", 1),
    r"\tfrac{2}{1}": ("a small fraction is a number in lowest terms, and no whole one", 1),
    r"\tfrac{2}{0}": ("a small fraction is a number in lowest terms", 1),
    r"\log(w, t)": ("log takes one argument, found 2", 1),
    r"\begin{bmatrix} w & t \end{bmatrix}_{0}": ("a matrix has rows of one length and two subscripts", 1),
    r"\begin{bmatrix} w & t \\ w \end{bmatrix}_{0, 0}": ("a matrix has rows of one length", 1),
    r"\mathbf{E}_{u' \in n}\left[w\right]": ("needed a probability space", 20),
    r"u": ("an outcome of U|not an index|other sorts", 1),
    r"\frac{\mathrm{d}}{\mathrm{d} n} \left[w\right]": ("n is no variable", 1),
    r"\frac{\mathrm{d}}{\mathrm{d} b} \left[w\right]": ("b is not declared", 1),
    r"U": ("U is a space, and no number", 1),
    r"\begin{cases} w, & i = j \\ t, & i = j \end{cases}": ("this is not the opposite of the other condition", 34),
    r"\begin{cases} w, & i = j \\ t, & j \ne i \end{cases}": ("this is not the opposite of the other condition", 34),
    r"\begin{cases} w, & w \le t \\ t, & w \ge t \end{cases}": ("this is not the opposite of the other condition", 36),
    r"\begin{cases} w, & w > t \\ t, & w \le t \end{cases}": ("needed a relation", 20),
}  # fmt: skip


@pytest.mark.parametrize("text", [text for text, wrong in NONSENSE.items() if wrong])
def test_nonsense(text):
    problem, at = NONSENSE[text]
    with pytest.raises(UnreadableError, match=problem) as found:
        fragment(text, TABLE)
    assert found.value.at + 1 == at


def test_a_bound_name_may_be_that_of_a_symbol_which_the_formula_does_not_speak_of():
    assert fragment(r"\sum_{i=0}^{n - 1} z_{i} w", TABLE) == sum_(l, z[l] * w)


# --- values -----------------------------------------------------------------------------------------------------------


def test_values():
    assert value(r"z", TABLE, x) == function(l, z[l])
    assert value(r"l' \mapsto z_{l'} + w", TABLE, x) == function(l, z[l] + w)
    assert value(r"i", TABLE, j) == i
    assert value(r"i", TABLE, w) == value_of(i)
    assert value(r"0_{n}", TABLE, i) == literal(0, n)
    assert value(r"\pi'", TABLE, permutation("pi", n)) == pi_n
    assert value(r"n", TABLE, M) == n
    assert value(r"W", TABLE, U) == W
    assert values(r"i, w + 1, z", TABLE, (j, t, x)) == (i, w + 1, function(l, z[l]))


def test_values_of_another_sort():
    for text, symbol in ((r"w", x), (r"w", i), (r"z", w), (r"w", pi_n), (r"n", U), (r"l' \mapsto w", w)):
        with pytest.raises(UnreadableError):
            value(text, TABLE, symbol)
    with pytest.raises(UnreadableError, match="found 2 values, needed 1"):
        values("i, j", TABLE, (i,))


def test_names_that_stand_alone():
    assert definition(r"\operatorname{softmax}", TABLE) == softmax
    for text in (r"\operatorname{softmax}(z)", r"z", r"\operatorname{unknown}", r"2"):
        with pytest.raises(UnreadableError):
            definition(text, TABLE)
    with pytest.raises(UnreadableError, match="π' takes neither indices nor arguments"):
        value(r"\pi'(i)", TABLE, pi_n)


def test_assignments():
    theirs = table_of(Notation.of(softmax(z, i) + curve("y", n)[i, t]))
    assert assigned(r"z := x", theirs, TABLE) == (z, function(l, x[l]))
    assert assigned(r"i := 0_{n}", theirs, TABLE) == (i, literal(0, n))
    with pytest.raises(UnreadableError, match="w is no symbol of the theorem that is cited"):
        assigned(r"w := t", theirs, TABLE)


def test_the_table_is_all_that_is_known():
    lone = table_of(Notation.of(z[i]))
    assert fragment("z_{i}", lone) == z[i]
    with pytest.raises(UnreadableError, match="w is not declared"):
        fragment("z_{i} w", lone)
