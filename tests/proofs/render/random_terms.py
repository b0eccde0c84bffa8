"""Random well-typed terms over one signature, full of names that are easily confused."""

import random

from proofs.notation import (
    ANY_REAL,
    INFINITY,
    PI,
    Definition,
    choice,
    curve,
    delta,
    derivative,
    exp,
    expectation,
    family,
    forall,
    function,
    implies,
    index,
    join,
    maximum,
    number,
    outcome,
    permutation,
    rational,
    relation,
    size,
    space,
    split,
    sum_,
    table,
    tends,
    value_of,
    variable,
    when,
)  # fmt: skip
from proofs.terms import FUNCTIONS, Term, apply_function, literal

n, M = size("n"), size("M")
d_k = size("d_k")
pairs = 2 * M
x_i, x_0, x1, w = variable("x_i"), variable("x_0"), variable("x1"), variable("w")
t, s, omega, eps, d = variable("t"), variable("s"), variable("omega"), variable("epsilon", "positive"), variable("d")
pi_n, tied = permutation("pi", n), choice("tied", n, target=2)
mu = choice("mu", ANY_REAL, target=n)
z, x, q, c = family("z", n), family("x", n), family("q", n, M), family("c", pairs)
delta_family, z_label, f = family("delta", n, n), family("z_q", n), family("f", ANY_REAL)
path = curve("y", n)
FREE = {n: [index(name, n) for name in "ijl"], M: [index("m", M), index("i_M", M)], pairs: [index("c_i", pairs)]}
FREE[number(2)] = [index("a", 2)]
U, W = space("U"), space("W")
FREE |= {U: [outcome("u", U), outcome("u_W", U)], W: [outcome("v", W)]}
R, key, both, hi = family("R", U), family("k", n, W), family("u_R", U, W), choice("hi", U, target=n)
p_i, p_j = FREE[n][0], FREE[n][1]
softmax = Definition("softmax", [z, p_i], exp(z[p_i]) / sum_(p_j, exp(z[p_j])))
J = Definition("J", [z, p_i, p_j], z[p_i] * z[p_j])
mean = Definition("mean", [z], sum_(p_j, z[p_j]) / n)
onehot = Definition("onehot", [p_i, p_j], delta(p_i, p_j))
gate = Definition("gate", [w, p_i], w * value_of(p_i))
exp_named = Definition("exp", [w], w)
SYMBOLS = [
    n, M, d_k, x_i, x_0, x1, w, t, s, omega, eps, d, pi_n, tied, mu, z, x, q, c, delta_family, z_label, f, path, path.derivative,
    U, W, R, key, both, hi, *(i for group in FREE.values() for i in group), softmax, J, mean, onehot, gate, exp_named,
]  # fmt: skip
OUTCOMES = {U: ["u", "i", "o"], W: ["v", "u"]}
BINDERS = {n: ["i", "l", "k", "z"], M: ["m", "k", "t"], pairs: ["c"], number(2): ["a"], number(3): ["b"]}


class Terms:
    """A source of random terms. `free` holds the index symbols that may be used, range by range."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)

    def number(self) -> Term:
        return self.random.choice(
            [number(0), number(1), number(2), number(-1), number(-3), rational(1, 2), rational(-2, 3), PI]
        )

    def dense(self, depth: int) -> Term:
        """Arithmetic over very few symbols, so that two draws are often nearly the same."""
        if depth == 0:
            return self.random.choice(
                [w, z[p_i], R[FREE[U][0]], number(1), number(2), number(-1), number(-2), rational(1, 2)]
            )
        sub = lambda: self.dense(self.random.randrange(depth))
        return self.random.choice([
            lambda: Term("add", (sub(), sub())), lambda: Term("mul", (sub(), sub())), lambda: Term("mul", (sub(), sub(), sub())),
            lambda: Term("power", (sub(), number(-1))), lambda: Term("power", (sub(), number(2))), lambda: -sub(),
            lambda: sum_(p_i, sub()), lambda: expectation(FREE[U][0], sub()), lambda: Term("exp", (sub(),)), lambda: derivative(w, sub(), w), lambda: Term("sqrt", (sub(),)),
        ])()  # fmt: skip

    def leaf(self, free) -> Term:
        choose = self.random.choice
        options = [
            self.number,
            lambda: choose([x_i, x_0, x1, w, t, s, omega, eps, d, n, M, d_k]),
            lambda: self.entry(free, 0),
        ]
        return choose(options)()

    def entry(self, free, depth) -> Term:
        i, j, m, col, u, v = (self.index(s, free, depth) for s in (n, n, M, pairs, U, W))
        real = self.real(free, depth) if depth else t
        return self.random.choice([
            lambda: z[i], lambda: x[i], lambda: q[i, m], lambda: c[col], lambda: delta_family[i, j], lambda: z_label[i], lambda: f[real],
            lambda: path[i, real], lambda: path.derivative[i, real], lambda: R[u], lambda: key[i, v],
            lambda: both[u, v], lambda: delta(i, j), lambda: delta(m, self.index(M, free, depth)),
            lambda: value_of(self.index(self.random.choice([n, M, pairs, number(2)]), free, depth)),
        ])()  # fmt: skip

    def index(self, size_, free, depth) -> Term:
        symbols = list(free.get(size_, []))
        if size_ in (n, M) or size_.op == "number":
            symbols.append(literal(0, size_))
        if depth > 0:
            if size_ == n:
                symbols += [
                    pi_n(self.index(n, free, depth - 1)),
                    mu(self.leaf(free)),
                    hi(self.index(U, free, depth - 1)),
                ]
            if size_ == pairs:
                symbols.append(join(self.index(M, free, depth - 1), self.index(number(2), free, depth - 1)))
            if size_ == M:
                symbols.append(split(self.index(pairs, free, depth - 1), 2)[0])
            if size_ == number(2):
                symbols += [split(self.index(pairs, free, depth - 1), 2)[1], tied(self.index(n, free, depth - 1))]
        return self.random.choice(symbols)

    def bound(self, free):
        size_ = self.random.choice(list(BINDERS))
        i = index(self.random.choice(BINDERS[size_]), size_)
        inside = {**free, size_: [i, *free.get(size_, [])]}
        return i, inside

    def expectation(self, free, depth) -> Term:
        space_ = self.random.choice(list(OUTCOMES))
        o = outcome(self.random.choice(OUTCOMES[space_]), space_)
        return expectation(o, self.real({**free, space_: [o, *free[space_]]}, depth))

    def function(self, free, depth) -> Term:
        i = index(self.random.choice(BINDERS[n]), n)
        inside = {**free, n: [i, *free[n]]}
        family_ = self.random.choice([z[i], z_label[i], softmax(z, i), J(z, p_i, i), delta_family[p_j, i], J(z, i, i)])
        return function(i, family_ if self.random.random() < 0.5 else self.real(inside, depth))

    def real(self, free=None, depth=2) -> Term:
        free = FREE if free is None else free
        if depth <= 0:
            return self.leaf(free)
        less = depth - 1
        sub = lambda: self.real(free, less)
        many = lambda: tuple(sub() for _ in range(self.random.randint(2, 3)))
        inverse = lambda: Term("power", (sub(), number(-1)))
        i, j = self.index(n, free, less), self.index(n, free, less)
        argument = lambda: self.function(free, less)
        return self.random.choice([
            lambda: Term("add", many()), lambda: Term("add", many()), lambda: Term("mul", many()), lambda: Term("mul", many()),
            lambda: Term("mul", self.shuffled((*many(), inverse()))), lambda: Term("mul", self.shuffled((self.number(), *many()))),
            lambda: -sub(), inverse, lambda: Term("power", (sub(), self.number())), lambda: Term("power", (sub(), sub())),
            lambda: apply_function(self.random.choice(FUNCTIONS), sub()), lambda: maximum(*many()), lambda: self.entry(free, depth),
            lambda: self.sum(free, less), lambda: self.expectation(free, less), lambda: self.expectation(free, less), lambda: self.derivative(free, less),
            lambda: self.table(free, less), lambda: when(self.relation(free, less), sub(), sub()),
            lambda: softmax(argument(), i), lambda: J(argument(), i, j), lambda: mean(argument()), lambda: onehot(i, j),
            lambda: gate(sub(), i), lambda: exp_named(sub()),
        ])()  # fmt: skip

    def shuffled(self, parts):
        return tuple(self.random.sample(parts, len(parts)))

    def sum(self, free, depth) -> Term:
        i, inside = self.bound(free)
        return sum_(i, self.real(inside, depth))

    def derivative(self, free, depth) -> Term:
        along = self.random.choice([t, omega, s, x_0])
        return derivative(along, self.real(free, depth), self.random.choice([number(0), along, self.leaf(free)]))

    def table(self, free, depth) -> Term:
        entries = [self.real(free, depth - 1) for _ in range(4)]
        a, b = (self.index(number(2), free, depth - 1) for _ in range(2))
        column = index("b", 4)
        return self.random.choice([
            lambda: table([entries[:2], entries[2:]], a, b), lambda: table(entries[:2], a),
            lambda: table([[e] for e in entries[:2]], a, 0), lambda: sum_(column, table(entries, column)),
        ])()  # fmt: skip

    def relation(self, free, depth) -> Term:
        if self.random.random() < 0.4:
            size_ = self.random.choice([n, M, number(2)])
            sides = (self.index(size_, free, depth), self.index(size_, free, depth))
            return relation(self.random.choice(["eq", "ne"]), *sides)
        return relation(self.random.choice(["eq", "ne", "le", "lt"]), self.real(free, depth), self.real(free, depth))

    def proposition(self, free=None, depth=2) -> Term:
        free = FREE if free is None else free
        if depth <= 0 or self.random.random() < 0.3:
            return self.relation(free, 1)
        i, inside = self.bound(free)
        u = variable("u", self.random.choice(["real", "positive", "integer", "nonnegative"]))
        guard = relation("ne", *self.shuffled((i, self.index(i.args[0], free, 1))))
        return self.random.choice([
            lambda: implies(self.proposition(free, depth - 1), self.proposition(free, depth - 1)),
            lambda: forall(i, self.proposition(inside, depth - 1)),
            lambda: forall(i, self.proposition(inside, depth - 1), where=[guard]),
            lambda: forall(u, relation("le", u, self.real(free, 1))),
            lambda: forall(FREE[U][0], relation("le", R[FREE[U][0]], self.real(free, 1))),
            lambda: tends(variable("t"), self.real(free, depth), self.random.choice([INFINITY, number(0), w]), self.leaf(free)),
        ])()  # fmt: skip
