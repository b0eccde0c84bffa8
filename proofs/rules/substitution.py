"""TRUSTED. Earlier theorems at stated values: their symbols replaced, their hypotheses discharged, their sides exchanged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..binders import as_function, check_replacement, close, instantiate, resized, substitute
from ..terms import REAL, Family, IndexMap, Term, TermError, as_term, free, sort_of, spelled_sort
from .context import Context, Refused
from .defined import check_defined, check_domain
from .derivative import differentiate
from .normal import Normal, plain
from .polynomial import as_sum
from .sign import Sign


class Instance:
    """A theorem with some symbols replaced; `pattern` are the indices that it still holds for all values of."""

    def __init__(self, theorem: Any, at: Mapping[Any, Any], context: Context):
        self.name, self.context = theorem.name, context
        symbols = set().union(free(theorem.conclusion), *map(free, theorem.hypotheses))
        replacement = {s: _value(s, v) for s, v in at.items()}
        for symbol in replacement:
            if symbol not in symbols:
                raise TermError(f"{self.name} does not speak of {getattr(symbol, 'name', symbol)!r}")
        _add_derivatives(replacement, symbols, context, self.name)
        context.check_known(*replacement.values(), *_staying(symbols, replacement))
        left = sorted(
            (s for s in symbols if isinstance(s, Term) and s.op == "index" and s not in replacement), key=repr
        )
        # a symbol that is left must not meet one of the same name, of which more is known here
        renamed = {
            s: Term("index", (substitute(s.args[0], replacement),), f"{context.depth + k:03d}{s.data}p")
            for k, s in enumerate(left)
        }
        replacement.update(renamed)
        check_replacement(replacement, self.name)
        for symbol, value in replacement.items():
            if symbol not in renamed and not isinstance(symbol, IndexMap):
                check_domain(symbol, value, context, self.name)
                _check_value_defined(value, context)
        self.pattern = tuple(renamed.values())
        self.hypotheses = tuple(substitute(h, replacement) for h in theorem.hypotheses)
        self.conclusion = substitute(theorem.conclusion, replacement)

    def discharged(self, binding: Mapping[Term, Term], context: Context) -> Term:
        """The conclusion at these values of the pattern's indices; raises Refused if a hypothesis is not known."""
        for hypothesis in self.hypotheses:
            condition = substitute(hypothesis, binding)
            if not Sign(context).holds(condition):
                raise Refused(f"a hypothesis of {self.name} is not known to hold", condition)
        return substitute(self.conclusion, binding)

    def fact(self) -> Term:
        """The conclusion for all values of the pattern's indices that meet the hypotheses."""
        inside = self.context.deeper(len(self.pattern))
        proposition = self.conclusion
        for hypothesis in reversed(self.hypotheses):
            if Sign(inside).holds(hypothesis):
                continue
            if hypothesis.op != "relation":
                raise Refused(f"a hypothesis of {self.name} is not known to hold", hypothesis)
            proposition = Term("implies", (hypothesis, proposition))
        for i in reversed(self.pattern):
            proposition = Term("forall", (i.args[0], close(proposition, (i,))), None, (i.data[3:-1],))
        return proposition


def _staying(symbols: set[Any], replacement: Mapping[Any, Any]) -> Iterator[Any]:
    """The symbols that are not replaced, over the ranges that they now have; indices apart, which hold for all values."""
    for symbol in symbols.difference(replacement):
        if isinstance(symbol, Family | IndexMap):
            yield resized(symbol, replacement)
        elif symbol.op != "index":
            yield symbol


def specialised(fact: Term, values: tuple[Any, ...], context: Context) -> Term:
    """A given universal fact at these values, outermost first; a guard that is known to hold is dropped."""
    if fact not in context.facts:
        raise Refused("not among the hypotheses", fact)
    for value in map(as_term, values):
        while fact.op == "implies" and Sign(context).holds(fact.args[0]):
            fact = fact.args[1]
        if fact.op != "forall":
            raise TermError(f"{fact!r} is no universal statement, and cannot be taken at {value!r}")
        range_ = fact.args[0]
        needed = REAL if range_.op == "domain" else range_
        if sort_of(value) != needed:
            raise TermError(f"{value!r} is {spelled_sort(sort_of(value))}; needed {spelled_sort(needed)}")
        if range_.op == "domain":
            check_domain(Term("variable", (), (fact.hints[0], range_.data)), value, context, "a hypothesis")
        context.check_known(value)
        check_defined(value, context)
        fact = instantiate(fact.args[1], (value,))
    while fact.op == "implies" and Sign(context).holds(fact.args[0]):
        fact = fact.args[1]
    return fact


def _check_value_defined(value: Term, context: Context) -> None:
    if value.op == "function":
        _, value, context = context.opened(value)
    check_defined(value, context)


def _value(symbol: Any, value: Any) -> Any:
    if isinstance(symbol, Family):
        return as_function(value)
    return value if isinstance(symbol, IndexMap) else as_term(value)


def _add_derivatives(replacement: dict[Any, Any], symbols: set[Any], context: Context, name: str) -> None:
    """A curve is replaced together with its derivative, which is computed here, or compared with the one that is given."""
    for symbol in list(replacement):
        if not isinstance(symbol, Family) or symbol.derivative is None:
            continue
        bound, body, inside = context.opened(replacement[symbol])
        d, conditions = differentiate(body, bound[-1], inside)
        for condition in conditions:
            if not Sign(inside).holds(condition):
                raise Refused(f"{name}: not known to be differentiable", condition)
        given = replacement.get(symbol.derivative)
        if given is None:
            closed = close(d, bound)
            replacement[symbol.derivative] = Term(
                "function", (*symbol_ranges(bound), closed), None, replacement[symbol].hints
            )
        else:
            gap = Normal(("sums",), inside).difference(d, context.opened(given)[1])
            if gap:
                raise Refused(f"{name}: {symbol.derivative.name} is not the derivative that is needed", as_sum(gap))
    for symbol in symbols:
        lost = isinstance(symbol, Family) and symbol.derivative in replacement and symbol not in replacement
        if lost:
            raise TermError(f"{name}: {symbol.derivative.name} cannot be replaced without {symbol.name}")


def symbol_ranges(symbols: tuple[Term, ...]) -> list[Term]:
    return [s.args[0] if s.op == "index" else Term("domain", (), s.data[1]) for s in symbols]


def check_substitution(
    before: Term, after: Term, relation: str, context: Context, instance: Instance, backwards: bool = False
) -> None:
    """Raises Refused unless the theorem's sides, exchanged somewhere, or added to both, turn before into after."""
    if instance.conclusion.op != "relation" or sort_of(instance.conclusion.args[0]) != "real":
        raise TermError(f"{instance.name} is no equation or inequality, and cannot be a step of a chain")
    if _is_difference(before, after, relation, context, instance, backwards):
        return
    if relation != "eq" or instance.conclusion.data != "eq":
        raise Refused(f"{instance.name} does not give this step", after - before)
    count, context = [0], context.deeper(len(instance.pattern))
    new = [_rewritten(side, instance, backwards, context, count) for side in (before, after)]
    if not count[0]:
        raise Refused(f"the left side of {instance.name} does not occur", after - before)
    gaps = [plain(context).difference(*pair) for pair in ((new[0], new[1]), (new[0], after), (before, new[1]))]
    if all(gaps):
        gap = gaps[0]
        raise Refused(f"not closed by {instance.name}; what is left over", as_sum(gap))


def _is_difference(
    before: Term, after: Term, relation: str, context: Context, instance: Instance, backwards: bool
) -> bool:
    conclusion = instance.conclusion
    left, right = conclusion.args[::-1] if backwards else conclusion.args
    fits = conclusion.data == relation or (relation == "le" and conclusion.data in ("eq", "lt"))
    if not fits or (backwards and conclusion.data != "eq"):
        return False
    binding = _match(left, before, set(instance.pattern), {})
    if binding is None:
        binding = _match(right, after, set(instance.pattern), {})
    if binding is None:
        binding = {}
    if len(binding) < len(instance.pattern):
        return False
    left, right = substitute(left, binding), substitute(right, binding)
    if plain(context).difference(after - before, right - left):
        return False
    instance.discharged(binding, context)
    return True


def _rewritten(term: Term, instance: Instance, backwards: bool, context: Context, count: list[int]) -> Term:
    left, right = instance.conclusion.args[::-1] if backwards else instance.conclusion.args
    binding = _match(left, term, set(instance.pattern), {})
    if binding is not None and len(binding) == len(instance.pattern):
        instance.discharged(binding, context)
        count[0] += 1
        return substitute(right, binding)
    return context.rebuilt(term, lambda part, inside: _rewritten(part, instance, backwards, inside, count))


def _match(pattern: Term, term: Term, symbols: set[Term], binding: dict[Term, Term]) -> dict[Term, Term] | None:
    """The indices for which the pattern is this very term."""
    if pattern in symbols:
        if term.loose or sort_of(term) != sort_of(pattern) or binding.get(pattern, term) != term:
            return None
        return {**binding, pattern: term}
    if pattern.op != term.op or pattern.data != term.data or len(pattern.args) != len(term.args):
        return None
    found: dict[Term, Term] | None = binding
    for p, t in zip(pattern.args, term.args, strict=True):
        found = _match(p, t, symbols, found) if found is not None else None
    return found
