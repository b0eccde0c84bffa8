"""TRUSTED. Names for terms: softmax(z, i) stays a name until a step unfolds it, so that J_ij = J_ji says something."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from .binders import as_function, check_replacement, substitute
from .terms import Family, Same, Term, TermError, as_term, checked_name, extents, free, named, real, size_symbols


class Definition:
    """A name for a term: softmax(z, i). It stays a name until a step unfolds it; `requires` says where it is defined."""

    __slots__ = ("name", "parameters", "sizes", "body", "requires", "says")

    name: str
    parameters: tuple[Any, ...]
    sizes: tuple[Term, ...]
    body: Term
    requires: tuple[Term, ...]
    says: str

    def __init__(self, name: str, parameters: Iterable[Any], body: Any, requires: Iterable[Term] = (), says: str = ""):
        if hasattr(self, "name"):
            raise AttributeError(f"{self.name} is a definition, and cannot be changed")
        found, body, conditions = tuple(parameters), real(body), tuple(requires)
        sizes = tuple(sorted({s for p in found for s in size_symbols(p)}, key=repr))
        extra = free(body).union(*map(free, conditions)) - set(found) - set(sizes)
        if extra:
            raise TermError(f"{name}: {named(extra)} in its body are not among its parameters")
        values = (checked_name(name), found, sizes, body, conditions, says)
        for slot, value in zip(self.__slots__, values, strict=True):
            object.__setattr__(self, slot, value)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{self.name} is a definition, and cannot be changed")

    def __call__(self, *arguments: Any) -> Term:
        if len(arguments) != len(self.parameters):
            raise TermError(f"{self.name} takes {len(self.parameters)} arguments, found {len(arguments)}")
        binding: dict[Any, Term] = {}
        for p, a in zip(self.parameters, arguments, strict=True):
            binding[p] = as_function(a) if isinstance(p, Family) else as_term(a)
            for pattern, found in zip(extents(p), extents(binding[p]), strict=False):
                if pattern.op == "size":
                    binding.setdefault(pattern, found)
        missing = [s for s in self.sizes if s not in binding]
        if missing:
            raise TermError(f"{self.name}: no argument tells the size {named(missing)}")
        check_replacement(binding, self.name)
        return Term("apply", tuple(binding[k] for k in self.sizes + self.parameters), self)

    def binding(self, application: Term) -> dict[Any, Term]:
        """What each parameter, and each size, stands for in this application."""
        return dict(zip(self.sizes + self.parameters, application.args, strict=True))

    def __repr__(self) -> str:
        return self.name


def unfolded(application: Term) -> Term:
    """The body of a definition at the arguments of this application."""
    return _unfolded(Same(application))


@lru_cache(maxsize=4096)
def _unfolded(same: Same) -> Term:
    definition: Definition = same.term.data
    return substitute(definition.body, definition.binding(same.term))
