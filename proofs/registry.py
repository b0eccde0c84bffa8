"""Finds the theorems by walking theorems/: there is no list to keep by hand. A proof runs once, when it is first asked for."""

from __future__ import annotations

import functools
import gc
import importlib
import importlib.util
import inspect
import pkgutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from .kernel import ProofError, Script, Statement, Theorem, Twin, prove
from .scripts import carried
from .terms import PROP, Term, as_term, relation, sort_of

_USERS = "proofs_of_users"


class Claim:
    """A registered statement with its proof script; `theorem` is the proved Theorem.

    `seconds` is the time of the proof, `near_miss_seconds` that of its near misses, once it was asked for.
    """

    def __init__(self, write: Callable[[Script], None], statement: Statement, options: dict[str, Any]):
        self.write, self.statement, self._options = write, statement, options
        self.family = write.__module__.rpartition(".")[2]
        self.name = f"{self.family}.{write.__name__}"
        self.says = inspect.cleandoc(write.__doc__ or "")
        self.seconds = self.near_miss_seconds = 0.0
        self._theorem: Theorem | None = None
        self._failure: ProofError | None = None

    @property
    def witness(self) -> Mapping[Any, Any]:
        """Values of symbols that meet the hypotheses, where random ones would not."""
        return self._options["witness"] or {}

    @property
    def theorem(self) -> Theorem:
        """The proved theorem; raises ProofError, the same one each time, where the proof does not hold."""
        if self._failure is not None:
            raise self._failure
        if self._theorem is None:
            try:
                self._theorem = self._proved()
            except ProofError as failure:
                self._failure = failure
                raise
        return self._theorem

    def _proved(self) -> Theorem:
        for earlier in self.cited:  # so that the time of an earlier proof is not counted here
            _ = earlier.theorem
        start = proved = time.perf_counter()

        def on_proved() -> None:
            nonlocal proved
            proved = time.perf_counter()

        try:
            with _no_collection():
                return prove(self.name, self.statement, self._copied, on_proved=on_proved, **self._options)
        finally:
            self.seconds, self.near_miss_seconds = proved - start, time.perf_counter() - proved

    @functools.cached_property
    def _written(self) -> Script:
        script = Script()
        self.write(script)
        return script

    @property
    def _copied(self) -> Callable[[Script], None]:
        """Writes what `write` has written once, under its docstring."""

        @functools.wraps(self.write)
        def copy(script: Script) -> None:
            script.links.extend(self._written.links)

        return copy

    @functools.cached_property
    def cited(self) -> tuple[Claim, ...]:
        """The earlier claims that its script cites."""
        cited = [
            c[0] if isinstance(c, tuple) else c
            for link in self._written.links
            for c in (*link.using, link.reason, *carried(link.arguments))
        ]
        return tuple(dict.fromkeys(c for c in cited if isinstance(c, Claim)))

    @property
    def lines(self) -> tuple[Term, ...]:
        """The terms that its script passes through."""
        return tuple(link.after for link in self._written.links if link.after is not None)

    @property
    def twins(self) -> tuple[Twin, ...]:
        """The near misses that its proof has to refuse."""
        return self._options["near_misses"]

    def __repr__(self) -> str:
        return f"<{self.name}: {self.says}>"


@contextmanager
def _no_collection() -> Iterator[None]:
    """Without the garbage collector: terms are many and in no cycles, and looking for some took a tenth of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def theorem(
    conclusion: Term,
    *,
    given: Iterable[Term] = (),
    near_miss: Any,
    witness: Mapping[Any, Any] | None = None,
) -> Callable[[Callable[[Script], None]], Claim]:
    """Registers a statement with the proof script that follows it.

    `near_miss` is a false twin, one edit away: another right side, another conclusion, or a whole Statement; with values at
    which it is false, as a pair (twin, {symbol: value}), where random ones would not do; or a list of several.
    `witness` gives values of symbols that meet the hypotheses.
    """
    statement = Statement(conclusion, tuple(given))
    many = near_miss if isinstance(near_miss, list) else [near_miss]
    twins = tuple(_twin(statement, m) for m in many)

    def register(write: Callable[[Script], None]) -> Claim:
        return Claim(write, statement, {"near_misses": twins, "witness": witness})

    return register


def _twin(statement: Statement, near_miss: Any) -> Twin:
    if isinstance(near_miss, tuple) and not isinstance(near_miss, Statement):
        return _twin(statement, near_miss[0])._replace(false_at=near_miss[1])
    if isinstance(near_miss, Statement):
        return Twin(near_miss)
    near_miss = as_term(near_miss)
    if sort_of(near_miss) == PROP:
        return Twin(statement._replace(conclusion=near_miss))
    conclusion = statement.conclusion
    if conclusion.op == "tends":
        twin = conclusion.rebuilt((*conclusion.args[:2], near_miss))
    else:
        twin = relation(conclusion.data, conclusion.args[0], near_miss)
    return Twin(statement._replace(conclusion=twin))


def claims_of(module: ModuleType) -> list[Claim]:
    """The theorems that a module states, in the order in which it states them."""
    found = [c for c in vars(module).values() if isinstance(c, Claim) and c.write.__module__ == module.__name__]
    return list(dict.fromkeys(found))


def families() -> dict[str, ModuleType]:
    """The modules of theorems/, by name."""
    from . import theorems

    names = sorted(m.name for m in pkgutil.iter_modules(theorems.__path__))
    return {name: importlib.import_module(f"{theorems.__name__}.{name}") for name in names}


def all_claims() -> list[Claim]:
    """Every theorem of the catalogue, family by family."""
    return [c for module in families().values() for c in claims_of(module)]


def claims_in_file(path: Path) -> list[Claim]:
    """The theorems of a user's own file. Raises FileNotFoundError; the file's own errors come through."""
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file")
    name = f"{_USERS}.{path.stem}"  # so that no file of a user's stands for a module of the same name
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(f"{path}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return claims_of(module)
