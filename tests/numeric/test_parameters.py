# mypy: disable-error-code="arg-type"
# (wrong arguments are passed on purpose, to see what is said of them)
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from numeric.parameters import count, flatten, map_leaves, unflatten

E, W, G = np.ones((3, 2)), np.zeros((2, 2)), np.arange(2)
TREE = {"embedding": {"table": E}, "encoder": {"layers": [{"w_q": W, "norm": {"gain": G}}, {"w_q": W + 1}]}}
NAMES = ["embedding.table", "encoder.layers.0.w_q", "encoder.layers.0.norm.gain", "encoder.layers.1.w_q"]

keys = st.sampled_from(["a", "b_1", "W", "1a"])
branches = st.recursive(
    st.integers(0, 9).map(np.asarray),
    lambda inner: st.lists(inner, min_size=1, max_size=3) | st.dictionaries(keys, inner, min_size=1, max_size=3),
    max_leaves=6,
)
trees = st.dictionaries(keys, branches, min_size=1, max_size=3)


def test_names_are_paths_in_the_order_of_the_tree():
    flat = flatten(TREE)
    assert list(flat) == NAMES
    assert flat["embedding.table"] is E and flat["encoder.layers.0.w_q"] is W


@settings(max_examples=40, deadline=None)
@given(trees)
def test_unflatten_undoes_flatten_whatever_the_order_of_the_names(tree):
    flat = flatten(tree)
    assert unflatten(flat) == tree
    assert unflatten(dict(sorted(flat.items(), reverse=True))) == tree
    assert list(flatten(unflatten(flat))) == list(flat)


def test_a_list_of_more_than_ten_keeps_its_order():
    tree = {"layers": [{"bias": np.asarray(place)} for place in range(12)]}
    assert [int(layer["bias"]) for layer in unflatten(flatten(tree))["layers"]] == list(range(12))


def test_a_function_meets_the_leaves_of_the_same_name():
    other = unflatten(dict(reversed(flatten(TREE).items())))  # its names in another order
    mapped = map_leaves(lambda a, b: (a.shape, a is b), TREE, other)
    assert mapped["encoder"]["layers"][0] == {"w_q": ((2, 2), True), "norm": {"gain": ((2,), True)}}
    assert map_leaves(lambda a: a + 1, TREE)["embedding"]["table"].tolist() == [[2, 2]] * 3


def test_count_counts_numbers():
    assert count(TREE) == 6 + 4 + 2 + 4
    assert count({"one": np.asarray(3.0)}) == 1


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: flatten(E), TypeError, "flatten: the tree is a ndarray, needed a dict, a list or, inside, an array"),
        (lambda: flatten({"a": {"b": 1.0}}), TypeError, "flatten: 'a.b' is a float, needed a dict, a list or"),
        (lambda: flatten({"a": (E, W)}), TypeError, "flatten: 'a' is a tuple"),
        (lambda: flatten({"a": None}), TypeError, "flatten: 'a' is a NoneType"),
        (lambda: flatten({}), ValueError, "flatten: the tree is an empty dict, needed a leaf in it"),
        (lambda: flatten({"a": {"layers": []}}), ValueError, "flatten: 'a.layers' is an empty list"),
        (lambda: flatten({"a.b": E}), ValueError, "flatten: the tree has the key 'a.b', needed a name without dots"),
        (lambda: flatten({"a": {"0": E}}), ValueError, "flatten: 'a' has the key '0', needed a name"),
        (lambda: flatten({"a": {"": E}}), ValueError, "flatten: 'a' has the key ''"),
        (lambda: flatten({0: E}), ValueError, "flatten: the tree has the key 0"),
        (lambda: unflatten({"a..b": E}), ValueError, "unflatten: the name 'a..b' has an empty part"),
        (lambda: unflatten({"a": E, "a.b.c": W}), ValueError, "unflatten: 'a.b.c' goes on where 'a' is a leaf"),
        (lambda: unflatten({"a.b.c": W, "a.b": E}), ValueError, "unflatten: 'a.b' is a leaf, but another name goes on"),
        (
            lambda: unflatten({"a.0": E, "a.2": E}),
            ValueError,
            "unflatten: 'a' has the parts 0, 2, needed 0, 1 for a list",
        ),
        (lambda: unflatten({"a.0": E, "a.b": E}), ValueError, "unflatten: 'a' has the parts 0, b, needed 0, 1"),
        (lambda: unflatten({"a.00": E}), ValueError, "unflatten: 'a' has the parts 00, needed 0"),
        (
            lambda: unflatten({f"a.{i}": E for i in range(1, 9)}),
            ValueError,
            "has the parts 1, 2, 3, 4 and 4 more, needed 0, 1, 2, 3 and 4 more for a list",
        ),
        (
            lambda: map_leaves(np.add, {"a": E, "b": E}, {"a": E, "c": E}),
            ValueError,
            "map_leaves: tree 2 and the first one differ in b, c",
        ),
    ],
)
def test_bad_input_gets_a_clear_error(call, error, message):
    with pytest.raises(error, match=message):
        call()
