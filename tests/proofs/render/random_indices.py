"""Random small terms about indices: places in a range, parts of places, numbers, and comparisons of all of these."""

import random

from proofs.notation import delta, eq, join, ne, number, relation, split, sum_, value_of
from proofs.terms import Term, literal

from .random_terms import FREE, M, c, n, pairs, pi_n, q, w, z

i, m, four = FREE[n][0], FREE[M][0], number(4)


class Indices:
    """Random small terms about indices and the numbers 0, 1 and 2, so that two draws are often nearly the same."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def index(self, range_, depth):
        options = [lambda: literal(self.random.randrange(2 if range_ in (number(2), pairs, four) else 1), range_)]
        options += [lambda: self.random.choice(FREE[range_])] if range_ in FREE else []
        if depth:
            inner = lambda r: self.index(r, depth - 1)
            options += {
                n: [lambda: pi_n(inner(n))], M: [lambda: split(inner(pairs), 2)[0]],
                number(2): [lambda: split(inner(pairs), 2)[1], lambda: split(inner(four), 2)[self.random.randrange(2)]],
                pairs: [lambda: join(inner(M), inner(number(2)))], four: [lambda: join(inner(number(2)), inner(number(2)))],
            }[range_]  # fmt: skip
        return self.random.choice(options)()

    def any_index(self, depth):
        return self.index(self.random.choice([n, M, number(2), pairs, four]), depth)

    def real(self, depth):
        place = lambda: value_of(self.any_index(depth))
        options = [place, place, place, lambda: number(self.random.choice([0, 1, 1, -1, 2])), lambda: w]
        if depth:
            sub = lambda: self.real(depth - 1)
            options += [
                lambda: Term("add", (sub(), sub())), lambda: Term("add", (sub(), number(-1))), lambda: Term("add", (sub(), number(1))),
                lambda: Term("mul", (number(2), sub())), lambda: Term("mul", (sub(), sub())), lambda: -sub(), lambda: Term("power", (sub(), sub())),
                lambda: Term("mul", (sub(), Term("power", (sub(), number(-1))))), lambda: sum_(i, sub()), lambda: sum_(m, z[i] * sub()),
                lambda: z[self.index(n, depth - 1)], lambda: c[self.index(pairs, depth - 1)], lambda: q[self.index(n, 0), self.index(M, depth)],
                lambda: delta(self.index(pairs, depth - 1), self.index(pairs, depth - 1)),
            ]  # fmt: skip
        return self.random.choice(options)()

    def relation(self, depth):
        if self.random.random() < 0.5:
            range_ = self.random.choice([n, M, number(2), pairs, four])
            return self.random.choice([eq, ne])(self.index(range_, depth), self.index(range_, depth))
        return relation(self.random.choice(["eq", "ne", "le", "lt"]), self.real(depth), self.real(depth))

    def some(self, count):
        depths = [0, 1, 1, 2]
        drawn = (self.random.choice([self.real, self.relation])(self.random.choice(depths)) for _ in range(count))
        return list(dict.fromkeys(drawn))
