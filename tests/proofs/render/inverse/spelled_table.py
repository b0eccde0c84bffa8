"""The table that a page would declare, for terms that stand on no page."""

from proofs.definitions import Definition
from proofs.render.inverse import Table
from proofs.render.inverse.tree import Name


def table_of(notation, first=0):
    """The names of a notation, as they look, with their symbols."""
    return Table({_looks(symbol, notation[symbol]): symbol for symbol in notation.symbols()}, first)


def _looks(symbol, spelling):
    if isinstance(symbol, Definition):
        return Name(spelling.stem, primes=spelling.primes, upright=True)
    return Name(spelling.base, spelling.label, spelling.primes, spelling.dotted)
