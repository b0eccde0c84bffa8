"""Texts with one token changed, and whether such a text is only another name for a variable that occurs nowhere."""

from contextlib import suppress
from itertools import pairwise

from proofs.render.inverse import UnreadableError, latex
from proofs.render.inverse.forms import FORMS
from proofs.render.inverse.latex.tokens import tokens_of
from proofs.render.inverse.problems import Complaint
from proofs.render.inverse.tree import Derivative, Limit, Mean, Name, Place, Summation

RENAMED = Name("renamed")
BINDERS = (Summation, Mean, Derivative, Limit, Place)


def tokens(text):
    """What a text consists of, without its spaces; None where it has what no formula has."""
    try:
        return [(token.kind, token.text) for token in tokens_of(text)]
    except Complaint:
        return None


def pieces(text):
    """The tokens as they stand in the text, each with the space behind it."""
    starts = [token.at for token in tokens_of(text)]
    return [text[start:end] for start, end in pairwise(starts)]


def mutant(text, others, random):
    """The text with one token deleted, doubled, exchanged with its neighbour, or replaced by one of the others."""
    changed = pieces(text)
    k = random.randrange(len(changed))
    match random.randrange(4):
        case 0:
            del changed[k]
        case 1:
            changed.insert(k, changed[k])
        case 2:
            changed[k : k + 2] = reversed(changed[k : k + 2])
        case _:
            changed[k] = random.choice(others)
    return "".join(changed)


def mutants(text, others, random, count):
    """So many of them that are other sequences of tokens."""
    own = tokens(text)
    found = (mutant(text, others, random) for _ in range(count))
    return [m for m in found if tokens(m) != own]


def bare(tree, rename=None):
    """A raw tree without the places in the text; `rename` is what all that a binder introduces is called."""
    if isinstance(tree, Name) or not isinstance(tree, tuple):
        return tree
    if not hasattr(tree, "_fields"):
        return tuple(bare(part, rename) for part in tree)
    parts = {field: bare(value, rename) for field, value in tree._asdict().items() if field != "at"}
    if rename is not None and isinstance(tree, BINDERS):
        parts["name"] = rename
    return (type(tree).__name__, tuple(parts.items()))


def same_but_for_a_name(text, mutant, read=latex.read):
    """Whether the raw trees differ in names that binders introduce, and in nothing else."""
    one, other = _trees(text, read), _trees(mutant, read)
    both = one.keys() & other.keys()
    return any(bare(one[f], RENAMED) == bare(other[f], RENAMED) and bare(one[f]) != bare(other[f]) for f in both)


def _trees(text, read):
    """What a text is, in each form in which it can be read."""
    found = {}
    for form in FORMS:
        with suppress(UnreadableError):
            found[form] = read(text, form)
    return found
