"""Typst formulas with one token changed."""

import re
from functools import partial

from proofs.render.inverse.typst import read

from .. import mutations

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


same_but_for_a_name = partial(mutations.same_but_for_a_name, read=read)
