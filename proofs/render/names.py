"""Names on a page: every symbol has one spelling, and no two symbols share one.

Greek words become Greek letters, in a whole name or before a label: omega, omega_0. Where two symbols would be spelled
alike (other assumptions, another range, or `omega` beside `ω`), the later one gets a prime; so does a symbol that has the
name of a function of the language. A bound variable is named after its hint, with primes where a symbol of the page or a
binder around it has that name: nothing is captured on paper either.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from ..terms import FUNCTIONS, Family, IndexMap, Term, free, kinds, named

GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "zeta": "ζ", "eta": "η", "theta": "θ",
    "iota": "ι", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "pi": "π", "rho": "ρ", "sigma": "σ",
    "tau": "τ", "upsilon": "υ", "phi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω", "Gamma": "Γ", "Delta": "Δ",
    "Theta": "Θ", "Lambda": "Λ", "Xi": "Ξ", "Pi": "Π", "Upsilon": "Υ", "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω",
}  # fmt: skip

RESERVED = frozenset({*FUNCTIONS, "max", "mod", "lim"})
_NO_INDEX = RESERVED | {"π"}


class RenderError(TypeError):
    """Something that the page has no words for; a printer says so rather than print something else."""


class Spelling(NamedTuple):
    """How a name is written: `stem` may end in a label, as in d_k; `dotted` marks the derivative of a curve."""

    stem: str
    primes: int = 0
    dotted: bool = False

    @property
    def base(self) -> str:
        return self.stem.partition("_")[0] or self.stem

    @property
    def label(self) -> str:
        return self.stem[len(self.base) + 1 :]


@lru_cache(maxsize=4096)
def stem(name: str) -> str:
    """The spelling of a name, without primes."""
    plain = re.sub(r"^\d+", "", name)
    if plain != name and len(plain) == 2 and plain[1] in "pqrx":  # a name that the rules made up, met in a residue
        plain = plain[0]
    base, underscore, label = (plain or "j").partition("_")
    base = "Sigma" if base == "Σ" else base  # which is the sign of a sum
    return GREEK.get(base, base) + underscore + label


def symbol_name(symbol: Any) -> str:
    """The declared name of a free symbol or a definition."""
    if isinstance(symbol, Term):
        return str(symbol.data) if symbol.op == "index" else str(symbol.data[0])
    return str(symbol.name)


def is_velocity(symbol: Any) -> bool:
    """Whether a family is the derivative d_z of a curve z, along its last slot."""
    along_real = isinstance(symbol, Family) and bool(symbol.slots) and symbol.slots[-1].op == "domain"
    return along_real and symbol.name.startswith("d_") and len(symbol.name) > 2


@lru_cache(maxsize=1 << 14)  # a term of a step is met again in the next step, and in the tables of all that follows
def definitions_in(term: Term) -> tuple[Any, ...]:
    """The definitions that a term speaks of, each once, in order."""
    return tuple(dict.fromkeys(_definitions(term)))


def _definitions(term: Term) -> Iterator[Any]:
    if "apply" in kinds(term):
        if term.op == "apply":
            yield term.data
        for part in term.args:
            yield from _definitions(part)


@lru_cache(maxsize=1 << 14)
def _spoken_of(term: Term) -> tuple[Any, ...]:
    """The free symbols of a term, by name, and then its definitions."""
    return (*sorted(free(term), key=lambda s: (named([s]), repr(s))), *definitions_in(term))


class Notation:
    """The symbol table of a page: which symbols it speaks of, and how each is spelled."""

    def __init__(self, symbols: Iterable[Any], with_pi: bool = False):
        """Symbols that come first keep their plain names. `with_pi`: the number pi occurs, so no index map is spelled so."""
        self._spelled: dict[Any, Spelling] = {}
        self._taken: set[Spelling] = set()
        self._declare(symbols, with_pi)

    def _declare(self, symbols: Iterable[Any], with_pi: bool) -> None:
        for symbol in symbols:
            if symbol not in self._spelled:
                self._spelled[symbol] = self._fresh(_plain(symbol, with_pi), ())
                self._taken.add(self._spelled[symbol])
            if isinstance(symbol, Family) and symbol.derivative is not None:
                self._declare((symbol.derivative,), with_pi)

    @classmethod
    def of(cls, *terms: Term) -> Notation:
        """The symbols and definitions of some terms, those of the first term first."""
        return cls((s for term in terms for s in _spoken_of(term)), any("pi" in kinds(term) for term in terms))

    def extended(self, *terms: Term, symbols: Iterable[Any] = ()) -> Notation:
        """The table with the symbols of more terms, and more symbols; what was spelled keeps its spelling.

        It is this very table where it has them all.
        """
        result = Notation(())
        result._spelled, result._taken = dict(self._spelled), set(self._taken)
        result._declare((*(s for term in terms for s in _spoken_of(term)), *symbols), with_pi=True)
        return result if len(result._spelled) > len(self._spelled) else self

    def only(self, *symbols: Iterable[Any]) -> Notation:
        """The same spellings, of these symbols and no others."""
        result = Notation(())
        result._spelled = {s: self[s] for group in symbols for s in group}
        result._taken = set(result._spelled.values())
        return result

    def __getitem__(self, symbol: Any) -> Spelling:
        if symbol not in self._spelled:
            raise RenderError(
                f"{symbol_name(symbol)} is not in the symbol table of this page; declare it in its Notation"
            )
        return self._spelled[symbol]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Notation) and self._items() == other._items()

    def __hash__(self) -> int:
        return hash(self._items())

    def _items(self) -> tuple[tuple[Any, Spelling], ...]:
        return tuple(self._spelled.items())

    def symbols(self) -> tuple[Any, ...]:
        """In the order in which they were declared; definitions among them."""
        return tuple(self._spelled)

    def bound(self, hint: str, scope: tuple[Spelling, ...]) -> Spelling:
        """A name for a bound variable that neither a symbol of the page nor a binder around it has."""
        spelling = Spelling(stem(hint))
        if "_" in hint and any(spelling.stem.startswith(s.stem + "_") for s in self._taken):  # x_i, where x is a family
            spelling = Spelling(spelling.base)
        if spelling.stem in _NO_INDEX:
            spelling = spelling._replace(primes=1)
        return self._fresh(spelling, scope)

    def has_labelled(self, spelling: Spelling) -> bool:
        """Whether some name is this one and a label, so that x_i could be the symbol x_i as well as an entry of x."""
        return any(s.stem.startswith(spelling.stem + "_") for s in self._taken)

    def _fresh(self, spelling: Spelling, scope: tuple[Spelling, ...]) -> Spelling:
        while spelling in self._taken or spelling in scope:
            spelling = spelling._replace(primes=spelling.primes + 1)
        return spelling


def _plain(symbol: Any, with_pi: bool) -> Spelling:
    """The spelling of a symbol where no other one has it."""
    spelling = (
        Spelling(stem(symbol.name[2:]), dotted=True) if is_velocity(symbol) else Spelling(stem(symbol_name(symbol)))
    )
    return spelling._replace(primes=1) if _is_reserved(symbol, spelling, with_pi) else spelling


def _is_reserved(symbol: Any, spelling: Spelling, with_pi: bool) -> bool:
    if spelling.stem == "π":
        return with_pi or not isinstance(symbol, IndexMap)
    if spelling.stem == "δ":  # with two indices it would be Kronecker's
        return len(getattr(symbol, "slots", getattr(symbol, "parameters", ()))) == 2
    return spelling.stem in RESERVED
