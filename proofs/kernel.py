"""TRUSTED. Statements, steps and Theorem: the only way from a proof script to something proved.

A proof function never meets the kernel. It writes a script, which is data: the next term, the name of a rule from the closed
table or an earlier theorem, and arguments. The kernel then runs the script against the statement, and against every near
miss, which the same script must fail to prove. What was checked is kept, and that record is what is printed.

The seal keeps mistakes out, not hostile Python: code that patches this module can make anything a Theorem.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple
from weakref import WeakSet

from .binders import substitute
from .definitions import Definition
from .evaluate import NoSample, Sampler, holds_at
from .rules import LIMIT_RULES, RULES, check_rule, check_theorem
from .rules.context import Context, Refused
from .rules.defined import check_defined, opened_limit
from .rules.limit import check_limit, check_squeeze
from .rules.substitution import Instance, specialised
from .terms import PROP, Family, IndexMap, Term, TermError, as_term, free, sort_of
from .well_typed import check_entry

SAMPLES = 6  # random admissible points at which every statement is also evaluated


class ProofError(Exception):
    """A statement that cannot stand, or a proof that does not prove it. `residue` is what is left over, if anything."""

    def __init__(self, message: str, residue: Term | None = None):
        super().__init__(message)
        self.residue = residue


class Link(NamedTuple):
    """One line of a script. `after` is None for the statement's own right side."""

    relation: str | None
    after: Term | None
    reason: Any  # the name of a rule, or a Theorem
    arguments: Mapping[str, Any]
    using: tuple[Any, ...]  # theorems, or (theorem, {symbol: value}), whose conclusions the rule may use


class Specialised(NamedTuple):
    """A universal hypothesis of the statement at these values, outermost first, as something that a step uses."""

    hypothesis: Term
    values: tuple[Any, ...]


class Step(NamedTuple):
    """One line of a checked proof."""

    before: Term
    relation: str
    after: Term
    reason: Any
    arguments: Mapping[str, Any]
    using: tuple[Theorem, ...]


class Script:
    """What a proof function writes on."""

    def __init__(self) -> None:
        self.links: list[Link] = []

    def equals(self, after: Any, reason: Any, *, using: Any = (), **arguments: Any) -> None:
        """Extends the chain by `= after`, because of a rule, or of an earlier theorem at stated values (at={...})."""
        self._add("eq", as_term(after), reason, using, arguments)

    def at_most(self, after: Any, reason: Any = "order", *, using: Any = (), **arguments: Any) -> None:
        """Extends the chain by `<= after`."""
        self._add("le", as_term(after), reason, using, arguments)

    def less_than(self, after: Any, reason: Any = "order", *, using: Any = (), **arguments: Any) -> None:
        """Extends the chain by `< after`."""
        self._add("lt", as_term(after), reason, using, arguments)

    def closes(self, reason: Any, *, using: Any = (), **arguments: Any) -> None:
        """The last link. Its right side comes from the statement, so that a near miss meets the same rule."""
        self._add(None, None, reason, using, arguments)

    def _add(self, name: str | None, after: Term | None, reason: Any, using: Any, arguments: dict[str, Any]) -> None:
        many = using if isinstance(using, list | tuple) and not _is_cited_at(using) else (using,)
        self.links.append(Link(name, after, reason, MappingProxyType(arguments), tuple(many)))


def _is_cited_at(using: Any) -> bool:
    return isinstance(using, tuple) and len(using) == 2 and isinstance(using[1], Mapping)


class Statement(NamedTuple):
    """What is claimed: for all values of the free symbols that meet the hypotheses, the conclusion."""

    conclusion: Term
    hypotheses: tuple[Term, ...] = ()

    def symbols(self) -> frozenset[Any]:
        return frozenset().union(free(self.conclusion), *map(free, self.hypotheses))


_SEAL = object()
_proved: WeakSet[Theorem] = WeakSet()


class Theorem:
    """A checked statement. Only `prove` and `cite` of this module make one; it cannot be changed, copied or pickled."""

    __slots__ = ("name", "says", "conclusion", "hypotheses", "steps", "near_misses", "source", "__weakref__")

    name: str
    says: str
    conclusion: Term
    hypotheses: tuple[Term, ...]
    steps: tuple[Step, ...]
    near_misses: tuple[NearMiss, ...]
    source: str | None  # of an axiom: where it is proved

    def __init__(self, seal: object, **values: Any):
        if seal is not _SEAL:
            raise TypeError("a Theorem comes out of a checked proof; write one with @theorem")
        for slot, value in values.items():
            object.__setattr__(self, slot, value)
        _proved.add(self)

    def __init_subclass__(cls) -> None:
        raise TypeError("a Theorem is what the kernel proved: no class can be made of it")

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("a Theorem cannot be changed")

    def __reduce__(self) -> Any:
        raise TypeError("a Theorem cannot be copied or pickled; prove it again")

    @property
    def is_axiom(self) -> bool:
        return self.source is not None

    @property
    def uses(self) -> tuple[Theorem, ...]:
        """The theorems and axioms that its steps cite, read off the steps."""
        cited = [t for s in self.steps for t in (*s.using, s.reason, *_carried(s.arguments)) if isinstance(t, Theorem)]
        return tuple(dict.fromkeys(cited))

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules that its steps cite."""
        named = [r for s in self.steps for r in (s.reason, *_carried(s.arguments)) if isinstance(r, str)]
        return tuple(dict.fromkeys(named))

    @property
    def statement(self) -> Statement:
        return Statement(self.conclusion, self.hypotheses)

    @property
    def is_general(self) -> bool:
        """Whether it holds for arbitrary sizes: computed from the ranges that the statement speaks of."""
        symbols = self.statement.symbols()
        fixed = any(_has_literal_range(t) for t in (self.conclusion, *self.hypotheses))
        return not fixed or any(isinstance(s, Term) and s.op == "size" for s in symbols)

    def __repr__(self) -> str:
        return f"⊢ {self.name}: {self.says}"


class Twin(NamedTuple):
    """A near miss to be refused, with values at which it is false where random ones would not do."""

    statement: Statement
    false_at: Mapping[Any, Any] = MappingProxyType({})


class NearMiss(NamedTuple):
    """A false twin of a statement, and what its proof by the same script leaves over."""

    conclusion: Term
    hypotheses: tuple[Term, ...]
    residue: Term
    message: str


def _has_literal_range(term: Term) -> bool:
    sizes = term.args[:1] if term.op in ("index", "literal", "sum") else term.args[:-1] if term.op == "function" else ()
    return any(s.op == "number" for s in sizes) or any(map(_has_literal_range, term.args))


def _carried(arguments: Mapping[str, Any]) -> list[Any]:
    """The rules and theorems that a step applies at a place."""
    inner = _carried(arguments["inner"]) if "inner" in arguments else []
    return [*([arguments["then"]] if "then" in arguments else []), *inner]


def require_theorem(value: Any) -> Theorem:
    """The value, or the theorem it stands for, if the kernel made it; raises ProofError for anything else."""
    value = value if isinstance(value, Theorem) else getattr(value, "theorem", value)
    if type(value) is not Theorem or value not in _proved:
        raise ProofError(f"{value!r} is no Theorem that this kernel proved")
    return value


def prove(
    name: str,
    statement: Statement,
    write: Callable[[Script], None],
    *,
    near_misses: Iterable[Statement | Twin],
    witness: Mapping[Any, Any] | None = None,
    on_proved: Callable[[], None] = lambda: None,
) -> Theorem:
    """Runs a script against its statement and its near misses.

    `witness` gives values that meet the hypotheses, for the random points. `on_proved` is called between the proof and the
    near misses. Raises ProofError where anything does not hold.
    """
    script = Script()
    write(script)
    links = tuple(script.links)
    try:
        steps = check(statement, links)
        _confirm(statement, witness)
    except (Refused, TermError, NoSample) as problem:
        raise ProofError(f"{name}: {problem}", getattr(problem, "residue", None)) from problem
    except ProofError as problem:
        raise ProofError(f"{name}: {problem}", problem.residue) from problem
    on_proved()
    wanted = [m if isinstance(m, Twin) else Twin(m) for m in near_misses]
    twins = tuple(_refuted(name, statement, m.statement, links, {**(witness or {}), **m.false_at}) for m in wanted)
    if not twins:
        raise ProofError(f"{name} has no near miss: name a twin, one edit away and false, that the same proof must refuse")
    says = inspect.cleandoc(write.__doc__ or "")
    return Theorem(_SEAL, name=name, says=says, conclusion=statement.conclusion, hypotheses=statement.hypotheses,
                   steps=steps, near_misses=twins, source=None)  # fmt: skip


def cite(name: str, statement: Statement, says: str, source: str) -> Theorem:
    """An axiom: a fact that is cited and not proved here. Only axioms.py calls this, as a test confirms."""
    check_statement(statement)
    return Theorem(_SEAL, name=name, says=says, conclusion=statement.conclusion, hypotheses=statement.hypotheses,
                   steps=(), near_misses=(), source=source)  # fmt: skip


def _confirm(statement: Statement, witness: Mapping[Any, Any] | None) -> None:
    """The second opinion: the statement at random admissible points. Raises where it is false, or no point is found."""
    sampler = Sampler(statement, witness or {})
    for seed in range(SAMPLES):
        point = sampler.point(seed)
        if not holds_at(statement.conclusion, point):
            raise ProofError(f"the statement is false at {point}", statement.conclusion)


def _refuted(
    name: str, statement: Statement, twin: Statement, links: tuple[Link, ...], at: Mapping[Any, Any]
) -> NearMiss:
    """The record of a near miss; raises ProofError unless it is well-typed, false somewhere, and refused with a residue."""
    if twin == statement:
        raise ProofError(f"{name}: a near miss is the statement itself")
    try:
        check_statement(twin)
        sampler = Sampler(twin, at)
        points = [sampler.point(seed) for seed in range(2 * SAMPLES)]
    except (Refused, TermError, NoSample) as problem:
        raise ProofError(f"{name}: the near miss is no statement: {problem}") from problem
    if all(holds_at(twin.conclusion, p) for p in points):
        raise ProofError(f"{name}: the near miss is not false at any sampled point", twin.conclusion)
    try:
        check(twin, links)
    except Refused as refusal:
        return NearMiss(twin.conclusion, twin.hypotheses, refusal.residue, str(refusal))
    except (ProofError, TermError) as problem:
        raise ProofError(f"{name}: an error is no refusal of the near miss: {problem}") from problem
    raise ProofError(f"{name}: its proof also 'proves' the near miss", twin.conclusion)


def check_statement(statement: Statement) -> Context:
    """Raises unless a statement is well-typed, defined under its hypotheses and not empty; gives its context."""
    if type(statement) is not Statement or type(statement.hypotheses) is not tuple:
        raise TermError(f"{statement!r} is not a Statement with a tuple of hypotheses")
    check_entry(tuple(statement))
    conclusion = statement.conclusion
    names: dict[str, Any] = {}
    for symbol in statement.symbols():
        spelled = symbol.name if isinstance(symbol, Family | IndexMap) else _name(symbol)
        if names.setdefault(spelled, symbol) != symbol:
            raise TermError(f"{spelled} stands for two symbols: with different assumptions, or over different ranges")
    for definition in set().union(*map(_definitions, (conclusion, *statement.hypotheses))):
        if names.setdefault(definition.name, definition) is not definition:
            raise TermError(f"{definition.name} stands for two things: for a definition, and for another one or a symbol")
    context = Context().knowing(statement.symbols())
    for hypothesis in statement.hypotheses:
        if sort_of(hypothesis) != PROP or hypothesis.loose:
            raise TermError(f"{hypothesis!r} is no hypothesis")
        check_defined(hypothesis, context)
        context = context.given([hypothesis])
    if conclusion.op not in ("relation", "tends") or conclusion.loose:
        raise TermError(f"{conclusion!r} is no conclusion: needed an equation, an inequality or a limit")
    check_defined(conclusion, context)
    left, right = conclusion.args[0], conclusion.args[-1]
    if left == right:
        raise ProofError("both sides are the same term, so nothing is said; keep definitions folded", left)
    if conclusion in statement.hypotheses:
        raise ProofError("the conclusion is one of the hypotheses", conclusion)
    return context


def _name(symbol: Term) -> str:
    return str(symbol.data) if symbol.op == "index" else str(symbol.data[0])


def _definitions(term: Term) -> set[Definition]:
    own = {term.data} if term.op == "apply" else set()
    return own.union(*map(_definitions, term.args))


def check(statement: Statement, links: tuple[Link, ...]) -> tuple[Step, ...]:
    """The steps of a script that proves the statement; raises Refused, or another error, where it does not."""
    context = check_statement(statement)
    links = tuple(map(_entered, links))
    if not links:
        raise ProofError("the proof is empty")
    if statement.conclusion.op == "tends":
        return _check_limit(statement.conclusion, links, context)
    left, right = statement.conclusion.args
    name = statement.conclusion.data
    return tuple(_check_chain(left, right, name, links, context))


def _entered(link: Link) -> Link:
    """The link over well-typed terms, its theorems proved ones, its arguments out of the author's reach."""
    if type(link) is not Link or type(link.relation) not in (str, type(None)):
        raise ProofError(f"{link!r} is no link of a script")
    check_entry(link.after)
    reason = link.reason if type(link.reason) is str else require_theorem(link.reason)
    return Link(link.relation, link.after, reason, _resolved(link.arguments), tuple(map(_entered_use, link.using)))


def _entered_use(use: Any) -> Any:
    """A theorem with the values it is used at, or a specialised hypothesis."""
    if type(use) is Specialised:
        check_entry(tuple(use))
        return Specialised(use.hypothesis, tuple(use.values))
    theorem, at = use if _is_cited_at(use) else (use, {})
    check_entry(at)
    return require_theorem(theorem), _frozen(at)


def _check_chain(left: Term, right: Term, name: str, links: tuple[Link, ...], context: Context) -> Iterable[Step]:
    """The links of a chain from left to right, which together give the relation."""
    term, strict = left, False
    steps = []
    for k, link in enumerate(links):
        if link.relation is None and k != len(links) - 1:
            raise ProofError("closes() is the last link")
        if link.relation not in (None, "eq", "le", "lt"):
            raise ProofError(f"{link.relation!r} is no relation of a link")
        after = right if link.after is None else link.after
        step_relation = link.relation or _closing(link, name, strict)
        if not _may_use(step_relation, name):
            raise ProofError(f"a step {step_relation!r} has no place in a proof of {name!r}")
        steps.append(_check_link(term, after, step_relation, link, context))
        term, strict = after, strict or step_relation in ("lt", "ne")
    if links[-1].relation is not None and term != right:
        raise Refused("the chain stops short of the right side", term - right)
    if name in ("lt", "ne") and not strict:
        raise ProofError("the chain proves ≤, where < (or ≠) is claimed")
    return steps


def _closing(link: Link, name: str, strict: bool) -> str:
    """The relation of the last link: as weak as suffices."""
    reason, arguments = link.reason, link.arguments
    while reason in ("cases", "congruence") and "then" in arguments:
        reason, arguments = arguments["then"], arguments.get("inner", {})
    gives_order = reason == "order" if isinstance(reason, str) else reason.conclusion.data != "eq"
    if name == "eq" or not gives_order:
        return "eq"
    return "le" if name == "lt" and strict else name


def _may_use(step: str, name: str) -> bool:
    return step in {"eq": ("eq",), "le": ("eq", "le", "lt"), "lt": ("eq", "le", "lt"), "ne": ("eq", "ne")}[name]


def _check_link(before: Term, after: Term, name: str, link: Link, context: Context) -> Step:
    if sort_of(after) != "real" or after.loose:
        raise TermError(f"{after!r} is not a real number")
    inside, used = _with_facts(link, context)
    context.check_known(after)
    check_defined(after, inside)
    arguments, reason = link.arguments, link.reason
    if isinstance(reason, str):
        if reason not in RULES:
            raise ProofError(f"{reason!r} is no rule; the table has {', '.join(RULES)}")
        check_rule(reason, before, after, name, inside, arguments)
    else:
        check_theorem(reason, before, after, name, inside, arguments)
    return Step(before, name, after, reason, MappingProxyType(dict(arguments)), used)


def _resolved(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments, well-typed, with every theorem that is applied at a place checked to be one."""
    found: dict[str, Any] = {}
    for name, value in arguments.items():
        if name == "inner":
            found[name] = _resolved(value)
        elif name == "then" and type(value) is not str:
            found[name] = require_theorem(value)
        else:
            check_entry(value)
            found[name] = _frozen(value)
    return found


def _frozen(value: Any) -> Any:
    """A copy that its author cannot change."""
    if isinstance(value, Mapping):
        return MappingProxyType({k: _frozen(v) for k, v in value.items()})
    return tuple(map(_frozen, value)) if isinstance(value, list | tuple) else value


def _with_facts(link: Link, context: Context) -> tuple[Context, tuple[Theorem, ...]]:
    """The context with the conclusions of the cited theorems, whose hypotheses must hold here."""
    used = []
    for citation in link.using:
        if isinstance(citation, Specialised):
            context = context.given([specialised(citation.hypothesis, citation.values, context)])
            continue
        theorem, at = citation if _is_cited_at(citation) else (citation, {})
        used.append(require_theorem(theorem))
        context = context.given([Instance(used[-1], at, context).fact()])
    return context, tuple(used)


def _check_limit(conclusion: Term, links: tuple[Link, ...], context: Context) -> tuple[Step, ...]:
    """Equations that hold near the target, then one rule for limits."""
    variable, body, inside = opened_limit(conclusion, context)
    written = Term("variable", (), (conclusion.hints[0], "real"))
    if written in free(conclusion).union(*map(free, context.facts)):
        raise TermError(f"{written!r} is bound by the limit, and free elsewhere in the statement")
    here = {written: variable}
    *equations, last = links
    steps = []
    for link in equations:
        if link.relation != "eq" or link.after is None:
            raise ProofError("before the limit is taken, only equations")
        moved = link._replace(after=substitute(link.after, here), arguments=_moved(link.arguments, here))
        step = _check_link(body, moved.after, "eq", _cited_at(moved, here), inside)  # type: ignore[arg-type]
        body = step.after
        steps.append(_shown(step, variable, written))
    if last.reason not in LIMIT_RULES or last.after is not None:
        raise ProofError(f"a limit closes with {' or '.join(LIMIT_RULES)}, found {last.reason!r}")
    target, value = conclusion.args[1:]
    near, used = _with_facts(_cited_at(last, here), inside)
    arguments = {k: substitute(as_term(v), here) for k, v in last.arguments.items()}
    needed = {"limit": set(), "squeeze": {"lower", "upper"}}[last.reason]
    if set(arguments) != needed:
        raise TermError(f"{last.reason} takes {', '.join(sorted(needed)) or 'no arguments'}; found {', '.join(arguments)}")
    if last.reason == "limit":
        check_limit(body, variable, target, value, near)
    else:
        for bound in arguments.values():
            near.check_known(bound)
            check_defined(bound, near)
        check_squeeze(body, variable, target, value, near, arguments["lower"], arguments["upper"])
    steps.append(_shown(Step(body, "tends", value, last.reason, last.arguments, used), variable, written))
    return tuple(steps)


def _cited_at(link: Link, here: Mapping[Term, Term]) -> Link:
    """The same link, with the written variable of a limit replaced in the values of its citations."""
    using = tuple(
        (c[0], _moved(c[1], here)) if _is_cited_at(c) else c for c in link.using
    )
    return link._replace(using=using)


def _moved(value: Any, here: Mapping[Term, Term]) -> Any:
    if isinstance(value, Term):
        return substitute(value, here)
    if isinstance(value, Mapping):
        return {k: _moved(v, here) for k, v in value.items()}
    return value


def _shown(step: Step, variable: Term, written: Term) -> Step:
    """The step as it was written: over the variable that the limit binds."""
    back = {variable: written}
    return step._replace(before=substitute(step.before, back), after=substitute(step.after, back))

