"""What of a theorem is evaluated: the instances of its statement that the layers can be asked about.

- A family of frequencies becomes the one that the layers have, base^(-m/M), and a place among them a whole number.
- A curve becomes p + q t + r sin t, with random families p, q, r.
- Other symbols that only few values suit become the claim's witness.
- A mask, or targets, become once more those that a layer has (hardened.py).
- An equation whose left side is a derivative is evaluated once more for each free index, contracted with a random family:
  d/dt sum_i c_i y_i = sum_i c_i dy_i/dt. So a backward meets whole cotangents, and not unit ones alone.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from math import prod
from typing import Any

from proofs.binders import as_function, derivative, function, opened, substitute, sum_
from proofs.definitions import Definition, unfolded
from proofs.kernel import Statement
from proofs.notation import eq, sin
from proofs.registry import Claim
from proofs.terms import Family, Term, family, free, index, value_of, variable
from proofs.theorems.positional_encoding import frequency
from proofs.theorems.positional_encoding import w as frequencies

from .evaluation import parameters
from .folded import statement_of
from .hardened import hard_choices


def instances(claim: Claim) -> list[tuple[str, Statement]]:
    """Statements that follow from the claim's by substitution, each with what was done to it."""
    statement = statement_of(claim)
    chosen = {s: as_function(v) if isinstance(s, Family) else v for s, v in claim.witness.items()}
    found = _of_layers(statement, chosen)
    hard = hard_choices(applications(statement), chosen)
    if not hard:
        return [("", found), *contracted(found)]
    hardened = _of_layers(statement, {**chosen, **hard})
    label = "with masks and targets of zeros and ones"
    both = ((f"{label}, {summed}", statement) for summed, statement in contracted(hardened))
    return [("", found), *contracted(found), (label, hardened), *both]


def _of_layers(statement: Statement, chosen: Mapping[Any, Term]) -> Statement:
    of_layer = frequency_families(statement)
    symbols = statement.symbols()
    found = replaced(statement, {s: v for s, v in chosen.items() if s in symbols and s not in of_layer})
    return replaced(found, {**standard_frequencies(found), **explicit_curves(found)})


def replaced(statement: Statement, values: Mapping[Any, Any]) -> Statement:
    conclusion, hypotheses = statement
    return Statement(substitute(conclusion, values), tuple(substitute(h, values) for h in hypotheses))


def applications(statement: Statement) -> list[Term]:
    """Every use of a definition in the conclusion and the hypotheses; the definitions stay folded."""
    return [term for part in (statement.conclusion, *statement.hypotheses) for term in _applied(part)]


def definitions_of(statement: Statement, read: frozenset[Definition] = frozenset()) -> frozenset[Definition]:
    """Every definition that the statement's conclusion speaks of, and those inside others; but none inside those in `read`."""
    return frozenset().union(*(_unfolding_to(a.data, read) for a in _applied(statement.conclusion)))


@cache
def _unfolding_to(definition: Definition, read: frozenset[Definition]) -> frozenset[Definition]:
    inside = () if definition in read else _applied(definition.body)
    return frozenset({definition}).union(*(_unfolding_to(a.data, read) for a in inside))


def _applied(term: Term) -> Iterator[Term]:
    if term.op == "apply":
        yield term
    for argument in term.args:
        yield from _applied(argument)


def frequency_families(statement: Statement) -> frozenset[Family]:
    """The families that are handed on as frequencies."""
    found = set()
    for term in applications(statement):
        for parameter, value in zip(term.data.parameters, parameters(term), strict=True):
            if parameter == frequencies and value.args[-1].op == "family":
                found.add(value.args[-1].data)
    return frozenset(found)


def standard_frequencies(statement: Statement) -> dict[Any, Term]:
    """The layers' frequencies for those families, with one random base for all, and an index for each real place."""
    base = 100 * variable("base_of_the_layer", "positive")
    values: dict[Any, Term] = {}
    for each in frequency_families(statement):
        m = index("m", each.slots[0])
        values[each] = function(m, frequency(base, each.slots[0], value_of(m)))
    for term in applications(statement):
        if term.data is frequency:
            _, pairs, place = parameters(term)
            reals = (s for s in free(place) if isinstance(s, Term) and s.op == "variable")
            values.update({s: value_of(index(s.data[0], pairs)) for s in reals})
    return values


def explicit_curves(statement: Statement) -> dict[Any, Term]:
    values: dict[Any, Term] = {}
    time, moment = variable("time"), variable("moment")
    for curve in statement.symbols():
        if isinstance(curve, Family) and curve.derivative is not None:
            places = [index(f"k_{n}", size) for n, size in enumerate(curve.slots[:-1])]
            start, speed, bend = (
                family(f"{curve.name}_{part}", *curve.slots[:-1]) for part in ("start", "speed", "bend")
            )
            at = tuple(places)
            path = start[at] + speed[at] * time + bend[at] * sin(time)
            values[curve] = function([*places, time], path)
            values[curve.derivative] = function([*places, moment], derivative(time, path, moment))
    return values


def contracted(statement: Statement) -> Iterator[tuple[str, Statement]]:
    conclusion = statement.conclusion
    left = conclusion.args[0]
    if conclusion.op != "relation" or conclusion.data != "eq" or left.op != "derivative":
        return
    body, point = left.args
    elsewhere = free(point).union(*map(free, statement.hypotheses))
    for i in sorted(
        (s for s in free(body) if isinstance(s, Term) and s.op == "index" and s not in elsewhere), key=repr
    ):
        weight = family(f"weight_of_{i.data}", i.args[0])[i]
        (moment,), inside = opened(left, lambda hint: f"moment_of_{hint}")
        summed = derivative(moment, sum_(i, weight * inside), point)
        yield f"summed over {i.data}", statement._replace(conclusion=eq(summed, sum_(i, weight * conclusion.args[1])))


def written_out(statement: Statement, count: int = 3, read: frozenset[Definition] = frozenset()) -> int:
    """The operations of a statement with every size at least `count`, definitions unfolded at each of their uses.

    Those in `read` are not unfolded, and count as much as their arguments: once, where these depend on no bound variable.
    """
    parts = (statement.conclusion, *statement.hypotheses)
    once = frozenset().union(*(_fixed_arguments(part, read) for part in parts)) if read else ()
    return sum(_operations(term, count, read) for term in (*parts, *once))


@cache
def _operations(term: Term, count: int, read: frozenset[Definition]) -> int:
    if term.op == "apply":
        if term.data not in read:
            return _operations(unfolded(term), count, read)
        return 1 + sum(_operations(a, count, read) for a in term.args if a.loose)
    if term.op in ("sum", "forall", "function") and term.args[0].op != "domain":
        *ranges, body = term.args
        return prod(_extent(size, count) for size in ranges) * _operations(body, count, read)
    inside = 1 + sum(_operations(part, count, read) for part in term.args)
    return 3 * inside if term.op == "derivative" else inside


@cache
def _fixed_arguments(term: Term, read: frozenset[Definition]) -> frozenset[Term]:
    if term.op == "apply" and term.data not in read:
        return _fixed_arguments(unfolded(term), read)
    own = (a for a in term.args if term.op == "apply" and not a.loose)
    return frozenset(own).union(*(_fixed_arguments(a, read) for a in term.args))


def _extent(size: Term, count: int) -> int:
    if size.op in ("number", "size"):
        return int(size.data) if size.op == "number" else max(count, size.data[1])
    parts = [_extent(part, count) for part in size.args]
    return sum(parts) if size.op == "add" else prod(parts)
