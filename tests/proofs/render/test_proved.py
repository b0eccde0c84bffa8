"""What the reason of a step has to say, read off the step."""

from proofs import Specialised
from proofs.kernel import Step
from proofs.notation import (
    Definition,
    curve,
    eq,
    exp,
    family,
    forall,
    function,
    i,
    index,
    j,
    l,
    le,
    n,
    number,
    size,
    sum_,
    variable,
    z,
)
from proofs.render.proved import (
    Assigned,
    Cited,
    Named,
    States,
    Values,
    definitions_of,
    normal,
    reason,
    spoken_of,
    symbols_of,
)
from proofs.terms import permutation
from proofs.theorems.softmax import positive, softmax, sums_to_one

c, M = variable("c"), size("M")
ONE, OTHER = sums_to_one.theorem, positive.theorem


def step(cause, arguments=None, using=()):
    return Step(z[i], "eq", z[j], cause, arguments or {}, using)


def said(cause, arguments=None, using=()):
    return list(reason(step(cause, arguments, using)))


def test_rules():
    assert said("ring") == said("limit") == []
    assert said("definition", {"of": softmax}) == [Named(softmax)]
    assert said("definition", {"of": (softmax, softmax)}) == [Named(softmax)] * 2
    assert said("order", {"difference": c}) == [Values((c,))]
    assert said("order") == []
    assert said("squeeze", {"upper": c, "lower": -c}) == [Values((-c,)), Values((c,))]
    assert said("cases", {"on": (i, j), "then": "ring"}) == [States(eq(i, j))]
    assert said("cases", {"on": le(c, 0), "then": "ring"}) == [States(le(c, 0))]
    assert said("cases", {"on": i, "then": "definition", "inner": {"of": softmax}}) == [Values((i,)), Named(softmax)]
    assert said("congruence", {"then": ONE, "at": {i: j}}) == [Cited(ONE), Assigned(ONE, i, j)]


def test_theorems():
    assert said(ONE, {"at": {z: family("x", n), n: n}}) == [
        Cited(ONE), Assigned(ONE, z, family("x", n)), Assigned(ONE, n, n),
    ]  # fmt: skip
    assert said("order", using=(ONE, (OTHER, {i: j}))) == [Cited(ONE), Cited(OTHER), Assigned(OTHER, i, j)]
    given = forall(l, le(z[l], c))
    assert said("order", using=(Specialised(given, (i,)),)) == [States(given), Values((i,))]
    cited = {"step": (OTHER, {}), "base": (ONE, {i: j}), "over": (i, j), "on": n}
    assert said("induction", cited) == [
        Values((n,)), Values((i,)), Values((j,)), Cited(ONE), Assigned(ONE, i, j), Cited(OTHER),
    ]  # fmt: skip


def test_values_as_terms():
    pi = permutation("pi", n)
    assert normal(z) == function(l, z[l])
    assert normal(pi) is pi
    assert normal(2) == number(2)
    assert normal(c) is c


def test_what_steps_speak_of():
    m = index("m", M)
    own = Definition("own", [c], exp(c))
    steps = [
        step("cases", {"on": (l, l), "then": "definition", "inner": {"of": own}}),
        step(ONE, {"at": {z: family("x", M)}}),
    ]
    symbols, definitions = spoken_of(steps)
    assert symbols == {i, j, l, n, z, M, family("x", M)}
    assert definitions == {own}
    assert symbols_of([curve("y", n), m]) == {curve("y", n), n, m, M}


def test_definitions_rest_on_others():
    inner = Definition("inner", [c], c + 1)
    guard = Definition("guard", [c], c + 2)
    outer = Definition("outer", [c], inner(c), requires=[le(0, guard(c))])
    assert definitions_of([sum_(l, outer(z[l]))]) == {outer, inner, guard}
    assert definitions_of([z[i]]) == set()
