"""-k expressions, and names with hints."""

from typing import NamedTuple

import pytest

from proofs.commands.selection import UsageError, named, selected


class Item(NamedTuple):
    name: str


ITEMS = [Item(name) for name in ("softmax.positive", "softmax.jacobian", "rotary.isometry", "rotary.positive")]


def names(expression):
    return [item.name for item in selected(ITEMS, expression)]


@pytest.mark.parametrize(
    ("expression", "count"),
    [
        (None, 4), ("softmax", 2), ("SoftMax", 2), ("not softmax", 2), ("softmax and positive", 1), ("isometry or jacobian", 2),
        ("not (softmax or isometry)", 1), ("softmax and not positive or isometry", 2), ("rotary.pos", 1), ("not not rotary", 2),
    ],
)  # fmt: skip
def test_expression(expression, count):
    assert len(names(expression)) == count


def test_order_is_kept():
    assert names("positive or jacobian") == ["softmax.positive", "softmax.jacobian", "rotary.positive"]


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("soft and", "it ends where a name should stand; needed names with and, or, not and brackets"),
        ("or soft", "found 'or' where a name should stand"), ("(soft", "a bracket is not closed"),
        ("soft max", "found 'max' where the expression should end"), ("soft)", r"found '\)' where the expression should end"),
        ("()", r"found '\)' where a name should stand"), ("", "it ends where a name should stand"),
        ("layer", "-k 'layer' matches none of the 4 theorems; `python -m proofs list` names them"),
    ],
)  # fmt: skip
def test_wrong_expression(expression, message):
    with pytest.raises(UsageError, match=message):
        names(expression)


def test_name():
    assert named(ITEMS, "softmax.jacobian") == named(ITEMS, "jacobian") == ITEMS[1]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("positive", "'positive' is in several families: say which, as softmax.positive or rotary.positive"),
        ("jacobain", "no theorem is named 'jacobain'; did you mean softmax.jacobian?"),
        ("softmax.isometry", "did you mean rotary.isometry"), ("zzz", "no theorem is named 'zzz'; `python -m proofs list` names them"),
    ],
)  # fmt: skip
def test_wrong_name(name, message):
    with pytest.raises(UsageError, match=message):
        named(ITEMS, name)
