"""`graph`: every arrow is a citation in a step, and every citation an arrow."""

import json
import re

from proofs.commands import graph
from proofs.registry import all_claims

from .command_line import run

_ARROW = re.compile(r"^  (\w+) --> (\w+)$", re.MULTILINE)
_NODE = re.compile(r'^ +(\w+)(?:\["|\(\[")(\w+)(?:"\]|"\]\))$', re.MULTILINE)


def claim(name):
    return next(c for c in all_claims() if c.name == name)


def test_arrows_are_the_citations_of_the_steps():
    theorem = claim("softmax_jacobian.jvp").theorem
    text = graph.of_theorems(graph.reached([theorem]))
    arrows = set(_ARROW.findall(text))
    assert ("softmax_jacobian__jacobian", "softmax_jacobian__jvp") in arrows
    assert ("softmax_jacobian__along_a_curve", "softmax_jacobian__jvp") in arrows
    assert ("softmax_jacobian__jacobian", "softmax_jacobian__along_a_curve") in arrows
    assert len(arrows) == len(graph.edges(graph.reached([theorem])))


def test_what_a_theorem_rests_on_comes_with_it_and_nothing_else():
    found = {t.name for t in graph.reached([claim("softmax_jacobian.rows_sum_to_zero").theorem])}
    assert found == {"softmax_jacobian.rows_sum_to_zero", "softmax_jacobian.jacobian", "softmax.sums_to_one"}


def test_base_and_step_of_an_induction_are_cited():
    arrows = graph.edges([claim("residual.stack_unrolls").theorem])
    assert {cited for cited, _ in arrows} == {"residual.stack_base", "residual.stack_step"}


def test_nodes_stand_in_the_boxes_of_their_families():
    result = run("graph", "-k", "softmax_jacobian.rows_sum_to_zero")
    lines = result.stdout.splitlines()
    assert lines[0] == "flowchart LR"
    box = lines.index('  subgraph softmax_jacobian_family["softmax_jacobian"]')
    assert lines[box + 1 : box + 3] == [
        '    softmax_jacobian__jacobian["jacobian"]',
        '    softmax_jacobian__rows_sum_to_zero["rows_sum_to_zero"]',
    ]
    assert lines[box + 3] == "  end"
    nodes = {node for node, _ in _NODE.findall(result.stdout)}
    assert {end for arrow in _ARROW.findall(result.stdout) for end in arrow} <= nodes


def test_axioms_are_round():
    result = run("graph", "-k", "positions_are_distinct or standard_frequencies")
    assert "([" in result.stdout
    assert "axioms_family" not in result.stdout


def test_families_are_counted():
    theorems = graph.reached([claim("softmax_jacobian.rows_sum_to_zero").theorem])
    assert graph.of_families(theorems).splitlines() == [
        "flowchart LR",
        '  softmax_family["softmax"]',
        '  softmax_jacobian_family["softmax_jacobian"]',
        "  softmax_family -->|1| softmax_jacobian_family",
    ]


def test_plain_data():
    data = json.loads(run("graph", "-k", "softmax_jacobian.rows_sum_to_zero", "--json").stdout)
    assert {t["name"] for t in data["theorems"]} >= {"softmax.sums_to_one"}
    assert {"cited": "softmax.sums_to_one", "by": "softmax_jacobian.rows_sum_to_zero"} in data["citations"]


def test_nothing_that_matches():
    result = run("graph", "-k", "no_such_theorem", code=2)
    assert "matches none" in result.stderr
