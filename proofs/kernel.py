"""TRUSTED. Theorem, and the only two ways to one: a script that was checked, and a cited axiom.

A proof function never meets the kernel. It writes a script, which is data: the next term, the name of a rule from the closed
table or an earlier theorem, and arguments. The kernel then runs the script against the statement, and against every near
miss, which the same script must fail to prove. What was checked is kept, and that record is what is printed.

The seal keeps mistakes out, not hostile Python: code that patches this module can make anything a Theorem.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any
from weakref import WeakKeyDictionary

from .chain import Checked, check_links, check_statement
from .evaluate import NoSample
from .rules.context import Refused
from .rules.normal import plain
from .sampler import Sampler, holds_at
from .scripts import Link, NearMiss, ProofError, Script, Specialised, Statement, Step, Twin, carried, is_cited_at
from .terms import Term, TermError
from .well_typed import check_entry

SAMPLES = 3  # random admissible points at which every statement is also evaluated
TRIES = 24  # points at which a near miss may turn out false

_SEAL = object()
_proved: WeakKeyDictionary[Theorem, Statement] = WeakKeyDictionary()  # what each one said when it was proved


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
        _proved[self] = self.statement

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
        using = [use[0] for s in self.steps for use in s.using]
        reasons = [r for s in self.steps for r in (s.reason, *carried(s.arguments))]
        cited = [t for t in (*using, *reasons) if isinstance(t, Theorem)]
        return tuple(dict.fromkeys(cited))

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules that its steps cite."""
        named = [r for s in self.steps for r in (s.reason, *carried(s.arguments)) if isinstance(r, str)]
        return tuple(dict.fromkeys(named))

    @property
    def statement(self) -> Statement:
        return Statement(self.conclusion, self.hypotheses)

    @property
    def is_general(self) -> bool:
        """Whether it holds for arbitrary sizes."""
        return self.statement.is_general

    def __repr__(self) -> str:
        return f"⊢ {self.name}: {self.says}"


def require_theorem(value: Any) -> Theorem:
    """The value, or the theorem it stands for, if the kernel made it; raises ProofError for anything else."""
    value = value if isinstance(value, Theorem) else getattr(value, "theorem", value)
    said = _proved.get(value) if type(value) is Theorem else None
    if said is None or said != value.statement:
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
    checked: Checked = {}
    plain.cache_clear()  # so that what is left over is spelled as in this proof, and not as in an earlier one
    try:
        links = tuple(map(_entered, script.links))
        steps = check_links(statement, links, checked)
        _confirm(statement, witness)
    except (Refused, TermError, NoSample) as problem:
        raise ProofError(f"{name}: {problem}", getattr(problem, "residue", None)) from problem
    except ProofError as problem:
        raise ProofError(f"{name}: {problem}", problem.residue) from problem
    on_proved()
    wanted = [m if isinstance(m, Twin) else Twin(m) for m in near_misses]
    twins = tuple(
        _refuted(name, statement, m.statement, links, {**(witness or {}), **m.false_at}, checked) for m in wanted
    )
    if not twins:
        raise ProofError(
            f"{name} has no near miss: name a twin, one edit away and false, that the same proof must refuse"
        )
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
    name: str,
    statement: Statement,
    twin: Statement,
    links: tuple[Link, ...],
    at: Mapping[Any, Any],
    checked: Checked,
) -> NearMiss:
    """The record of a near miss; raises ProofError unless it is well-typed, false somewhere, and refused with a residue."""
    if twin == statement:
        raise ProofError(f"{name}: a near miss is the statement itself")
    try:
        check_statement(twin)
        sampler = Sampler(twin, at)
        is_false = any(not holds_at(twin.conclusion, sampler.point(seed)) for seed in range(TRIES))
    except (Refused, TermError, NoSample) as problem:
        raise ProofError(f"{name}: the near miss is no statement: {problem}") from problem
    if not is_false:
        raise ProofError(f"{name}: the near miss is not false at any sampled point", twin.conclusion)
    try:
        check_links(twin, links, checked)
    except Refused as refusal:
        return NearMiss(twin.conclusion, twin.hypotheses, refusal.residue, str(refusal))
    except (ProofError, TermError) as problem:
        raise ProofError(f"{name}: an error is no refusal of the near miss: {problem}") from problem
    raise ProofError(f"{name}: its proof also 'proves' the near miss", twin.conclusion)


def check(statement: Statement, links: tuple[Link, ...]) -> tuple[Step, ...]:
    """The steps of a script that proves the statement; raises Refused, or another error, where it does not."""
    plain.cache_clear()
    return check_links(statement, tuple(map(_entered, links)), {})


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
    return _entered_citation(use)


def _entered_citation(use: Any) -> Any:
    """A theorem with the values of its symbols."""
    theorem, at = use if is_cited_at(use) else (use, {})
    check_entry(at)
    return require_theorem(theorem), _frozen(at)


def _resolved(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments, well-typed, with every theorem that is applied at a place checked to be one."""
    found: dict[str, Any] = {}
    for name, value in arguments.items():
        if name == "inner":
            found[name] = _resolved(value)
        elif name == "then" and type(value) is not str:
            found[name] = require_theorem(value)
        elif name in ("base", "step"):
            found[name] = _entered_citation(value)
        else:
            check_entry(value)
            found[name] = _frozen(value)
    return found


def _frozen(value: Any) -> Any:
    """A copy that its author cannot change."""
    if isinstance(value, Mapping):
        return MappingProxyType({k: _frozen(v) for k, v in value.items()})
    return tuple(map(_frozen, value)) if isinstance(value, list | tuple) else value


__all__ = [
    "Link", "NearMiss", "ProofError", "Script", "Specialised", "Statement", "Step", "Theorem", "Twin", "check",
    "check_statement", "cite", "prove", "require_theorem",
]  # fmt: skip
