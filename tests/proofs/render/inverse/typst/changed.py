"""Typst formulas with one token changed."""

import re
from functools import partial

from proofs.render.inverse.typst import read

from .. import changed, mutations

TOKEN = re.compile(r'"[^"]*"|[A-Za-z]+|[0-9]+|\|->|->|=>|<=|>=|!=|:=|.', re.DOTALL)
pieces = TOKEN.findall


def mutants(text, others, random, count):
    return changed.mutants(text, pieces, others, random, count)


same_but_for_a_name = partial(mutations.same_but_for_a_name, read=read)
