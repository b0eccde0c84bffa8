"""Places of the nodes of a graph: edges lead to the right, boxes do not overlap, and no edge goes through a box."""

import random
from itertools import pairwise

import pytest

from proofs.render.site.layering import NODE, PASSAGE, layered, without_implied


def random_graph(seed):
    rng = random.Random(seed)
    nodes = [f"n{k}" for k in range(rng.randrange(2, 30))]
    pairs = [(a, b) for i, a in enumerate(nodes) for b in nodes[i + 1 :]]
    return nodes, rng.sample(pairs, min(len(pairs), rng.randrange(1, 40)))


def ways_out(edges, start):
    found, waiting = set(), [start]
    while waiting:
        node = waiting.pop()
        new = {b for a, b in edges if a == node} - found
        found |= new
        waiting += new
    return found


def test_an_implied_edge_is_left_out():
    assert without_implied([("a", "b"), ("b", "c"), ("a", "c"), ("c", "d"), ("a", "d")]) == [
        ("a", "b"),
        ("b", "c"),
        ("c", "d"),
    ]


@pytest.mark.parametrize("seed", range(30))
def test_what_is_left_implies_what_was_left_out(seed):
    nodes, edges = random_graph(seed)
    kept = without_implied(edges)
    assert set(kept) <= set(edges)
    assert all(ways_out(kept, node) == ways_out(edges, node) for node in nodes)


@pytest.mark.parametrize("seed", range(30))
def test_places(seed):
    nodes, edges = random_graph(seed)
    layout = layered(nodes, edges)
    assert sorted([*layout.places, *layout.alone]) == sorted(nodes)
    spots = {}
    for name, (column, height) in layout.places.items():
        spots[name] = (column, height, NODE)
    for edge, way in layout.ways.items():
        assert way[0] == layout.places[edge[0]]
        assert way[-1] == layout.places[edge[1]]
        assert [column for column, _ in way] == list(range(way[0][0], way[-1][0] + 1))
        spots |= {(edge, column): (column, height, PASSAGE) for column, height in way[1:-1]}
    in_columns = {}
    for column, height, size in spots.values():
        in_columns.setdefault(column, []).append((height, size))
    for column in in_columns.values():
        for (low, one), (high, other) in pairwise(sorted(column)):
            assert high - low >= (one + other) / 2 - 1e-6


def test_nodes_without_edges_are_named():
    assert layered(["a", "b", "c"], [("a", "c")]).alone == ("b",)
    assert layered(["a"], []).alone == ("a",)
