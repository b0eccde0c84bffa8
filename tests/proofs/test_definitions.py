"""Definitions stay names until they are unfolded, and bring their sizes with their arguments."""

from __future__ import annotations

import pytest

from proofs.binders import function, sum_
from proofs.definitions import Definition, unfolded
from proofs.notation import delta, exp, family, index, size, variable
from proofs.terms import TermError, number

n, m = size("n"), size("m")
i, j, p = index("i", n), index("j", n), index("p", m)
a, z, A = variable("a"), family("z", n), family("A", n, n)
share = Definition("share", [z, i], exp(z[i]) / sum_(j, exp(z[j])))


def test_an_application_is_folded() -> None:
    assert share(z, i) != unfolded(share(z, i)) == exp(z[i]) / sum_(j, exp(z[j]))
    assert repr(share(z, i)).startswith("share(")


def test_the_size_comes_from_the_arguments() -> None:
    y = family("y", m)
    assert unfolded(share(y, p)) == exp(y[p]) / sum_(p, exp(y[p]))


def test_arguments_do_not_meet_the_names_of_the_body() -> None:
    """z_l := A_lj at i := j, where j is bound in the body."""
    found = unfolded(share(function(i, A[i, j]), j))
    assert found == exp(A[j, j]) / sum_(i, exp(A[i, j]))


def test_an_argument_under_a_binder_moves_under_those_of_the_body() -> None:
    scaled = Definition("scaled", [z, a], sum_(j, z[j] * a))
    total = sum_(i, scaled(z, A[i, i]))
    assert total.rebuilt((n, unfolded(total.args[1]))) == sum_([i, j], z[j] * A[i, i])


def test_under_a_binder() -> None:
    total = sum_(i, share(z, i) * delta(i, j))
    assert unfolded(total.args[1].args[0]).loose == 1


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: share(z), "share takes 2 arguments, found 1"),
        (
            lambda: share(z, p),
            "share: i := p: found an index into a range of size m, needed an index into a range of size n",
        ),
        (lambda: share(a, i), "a is not a family"),
        (lambda: Definition("f", [z], z[i]), "f: i in its body are not among its parameters"),
        (lambda: Definition("0f", [a], a), "is not a name"),
        (lambda: Definition("f", [i], number(1))(a), "f: no argument tells the size n"),
        (lambda: Definition("f", [a], i), "is not a real number"),
    ],
)
def test_mistakes(build: object, message: str) -> None:
    with pytest.raises(TermError) as refusal:
        build()  # type: ignore[operator]
    assert message in str(refusal.value)


def test_a_definition_cannot_be_changed() -> None:
    with pytest.raises(AttributeError, match="share is a definition, and cannot be changed"):
        share.body = a
