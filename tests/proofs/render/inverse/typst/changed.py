"""Typst formulas with one token changed."""

import re
from contextlib import suppress

from proofs.render.inverse import UnreadableError
from proofs.render.inverse.latex import FORMS
from proofs.render.inverse.typst import read

from ..mutations import RENAMED, bare

TOKEN = re.compile(r'"[^"]*"|[A-Za-z]+|[0-9]+|\|->|->|=>|<=|>=|!=|:=|.', re.DOTALL)
pieces = TOKEN.findall


def mutant(text, others, random):
    """The text with one token, or one space, deleted, doubled, exchanged with its neighbour, or replaced by another one."""
    changed = pieces(text)
    k = random.randrange(len(changed))
    match random.randrange(5):
        case 0:
            del changed[k]
        case 1:
            changed.insert(k, changed[k])
        case 2:
            changed[k : k + 2] = reversed(changed[k : k + 2])
        case 3:
            changed[k] = random.choice(others)
        case _:
            changed.insert(k, random.choice(others))
    return "".join(changed)


def mutants(text, others, random, count):
    return [m for m in (mutant(text, others, random) for _ in range(count)) if m != text]


def same_but_for_a_name(text, other):
    """Whether the raw trees differ in names that binders introduce, and in nothing else."""
    one, two = _trees(text), _trees(other)
    both = one.keys() & two.keys()
    return any(bare(one[f], RENAMED) == bare(two[f], RENAMED) and bare(one[f]) != bare(two[f]) for f in both)


def _trees(text):
    """What a text is, in each form in which it can be read."""
    found = {}
    for form in FORMS:
        with suppress(UnreadableError):
            found[form] = read(text, form)
    return found
