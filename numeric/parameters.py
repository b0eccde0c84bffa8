"""The parameters of a model as a tree: dicts with names, lists with layers, arrays at the leaves. Gradients are alike.

    {"embedding": {"table": E}, "encoder": {"layers": [{"self_attention": {"w_q": W, ...}, ...}, ...]}}
    flat: {"embedding.table": E, "encoder.layers.0.self_attention.w_q": W, ...}

The name of a leaf is the path to it, its parts joined by dots; a part of digits is a place in a list. So that a name
says which is which, no key of a dict is empty, has a dot or consists of digits; and no branch is empty, or it got lost.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

Tree = dict[str, Any]  # inside, lists too


def flatten(tree: Tree) -> dict[str, Any]:
    """The leaves by their names, in the order of the tree. The arrays are the same ones, not copies.

    Raises TypeError or ValueError for a leaf that is no array, a key that cannot be part of a name, an empty branch.
    """
    return dict(_leaves(tree, ""))


def unflatten(flat: Mapping[str, Any]) -> Tree:
    """The tree that `flatten` took apart; names may come in any order, as they do from files.

    Raises ValueError where names contradict each other, or a list has gaps.
    """
    nested: dict[str, Any] = {}
    for name, leaf in flat.items():
        *path, last = _parts(name)
        branch = nested
        for depth, part in enumerate(path):
            branch = branch.setdefault(part, {})
            if not isinstance(branch, dict):
                raise ValueError(f"unflatten: {name!r} goes on where {'.'.join(path[: depth + 1])!r} is a leaf already")
        if last in branch:
            raise ValueError(f"unflatten: {name!r} is a leaf, but another name goes on from there")
        branch[last] = leaf
    tree: Tree = _with_lists(nested, "")
    return tree


def map_leaves(function: Callable[..., Any], *trees: Tree) -> Any:
    """A tree of function(leaf, ...), called with the leaves that have the same name in each tree.

    Raises ValueError unless all trees have the same names.
    """
    first, *others = map(flatten, trees)
    for number, other in enumerate(others, 2):
        if other.keys() != first.keys():
            raise ValueError(
                f"map_leaves: tree {number} and the first one differ in {_listed(other.keys() ^ first.keys())}"
            )
    return unflatten({name: function(leaf, *(other[name] for other in others)) for name, leaf in first.items()})


def count(tree: Tree) -> int:
    """How many numbers there are in all arrays together."""
    return sum(int(leaf.size) for leaf in flatten(tree).values())


def _leaves(tree: Any, prefix: str) -> Iterator[tuple[str, Any]]:
    if isinstance(tree, dict | list):
        if not tree:
            raise ValueError(f"flatten: {_place(prefix)} is an empty {type(tree).__name__}, needed a leaf in it")
        items = enumerate(tree) if isinstance(tree, list) else ((_key(key, prefix), tree[key]) for key in tree)
        for part, branch in items:
            yield from _leaves(branch, f"{prefix}.{part}" if prefix else f"{part}")
    elif prefix and hasattr(tree, "shape"):
        yield prefix, tree
    else:
        raise TypeError(
            f"flatten: {_place(prefix)} is a {type(tree).__name__}, needed a dict, a list or, inside, an array"
        )


def _key(key: object, prefix: str) -> str:
    if not isinstance(key, str) or not key or "." in key or key.isdecimal():
        raise ValueError(f"flatten: {_place(prefix)} has the key {key!r}, needed a name without dots that is no number")
    return key


def _parts(name: str) -> list[str]:
    parts = name.split(".")
    if not all(parts):
        raise ValueError(f"unflatten: the name {name!r} has an empty part, needed names joined by single dots")
    return parts


def _with_lists(nested: dict[str, Any], prefix: str) -> Any:
    branches = {
        part: _with_lists(branch, f"{prefix}.{part}" if prefix else part) if isinstance(branch, dict) else branch
        for part, branch in nested.items()
    }
    if not any(part.isdecimal() for part in branches):
        return branches
    places = [str(place) for place in range(len(branches))]
    if branches.keys() != set(places):
        raise ValueError(
            f"unflatten: {_place(prefix)} has the parts {_listed(branches)}, needed {_listed(places)} for a list"
        )
    return [branches[place] for place in places]


def _place(prefix: str) -> str:
    return repr(prefix) if prefix else "the tree"


def _listed(names: Any) -> str:
    shown = ", ".join(islice(sorted(names), 4))
    return shown + (f" and {len(names) - 4} more" if len(names) > 4 else "")
