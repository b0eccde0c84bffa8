"""The instances of a theorem in which masks and targets are those that a layer has.

- A mask of any weights becomes one of zeros and ones, which keeps a key or does not.
- Targets of any shares become a class for each row, and weights of rows zeros and ones.
- A share of smoothing, or a rate of dropout, becomes one between 0 and 1.
"""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from proofs.binders import function, substitute
from proofs.notation import choice, delta, lt, when
from proofs.terms import Family, Term, family, free, index
from proofs.theorems.dropout import dropout, mask, p
from proofs.theorems.loss import e, smoothed
from proofs.theorems.loss_rows import Y, masked_loss, w
from proofs.theorems.masked_attention import M, masked_attention

from .evaluation import parameters

MASKS, CLASSES = {masked_attention: M, masked_loss: w, dropout: mask}, {masked_loss: Y}
SHARES = {smoothed: e, dropout: p}


def hard_choices(applications: Iterable[Term], chosen: Mapping[Any, Term]) -> dict[Any, Term]:
    """What to put for the symbols inside these uses of definitions, in place of what was chosen for them."""
    values: dict[Any, Term] = {}
    for application in applications:
        if any(isinstance(s, Family) and not _has_values(s) for s in free(application)):
            continue  # a random mask, of which a hypothesis says how often it keeps an entry
        named = dict(zip(application.data.parameters, parameters(application), strict=True))
        for table, harden in ((MASKS, partial(_kept_or_not, chosen)), (CLASSES, _class_of_row), (SHARES, _share)):
            if application.data in table:
                symbols = free(named[table[application.data]])
                values.update({each: harden(each) for each in symbols if _has_values(each)})
    return values


def _has_values(symbol: Any) -> bool:
    """Is it a variable, or a family of them by indices?"""
    if isinstance(symbol, Family):
        return len(symbol.slots) > 0 and all(slot.op not in ("space", "domain") for slot in symbol.slots)
    return isinstance(symbol, Term) and symbol.op == "variable"


def _share(number: Term) -> Term:
    return 1 / (1 + number**2)


def _kept_or_not(chosen: Mapping[Any, Term], weights: Family) -> Term:
    """Kept where the chosen weights are above 0, or by chance."""
    places = [index(f"k_{n}", size) for n, size in enumerate(weights.slots)]
    at = tuple(places)
    if weights in chosen:
        kept = substitute(weights[at], {weights: chosen[weights]})
    else:
        kept = family(f"coin_of_{weights.name}", *weights.slots)[at]
    return function(places, when(lt(0, kept), 1, 0))


def _class_of_row(targets: Family) -> Term:
    *rows, classes = [index(f"k_{n}", size) for n, size in enumerate(targets.slots)]
    of_row = choice(f"class_of_{targets.name}", *targets.slots[:-1], target=targets.slots[-1])
    return function([*rows, classes], delta(classes, of_row(*rows)))
