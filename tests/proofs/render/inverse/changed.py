"""Formulas with one token changed, or one space."""


def mutant(text, pieces, others, random):
    """The text with one piece deleted, doubled, exchanged with its neighbour, or replaced by or put beside another one."""
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


def mutants(text, pieces, others, random, count):
    return [m for m in (mutant(text, pieces, others, random) for _ in range(count)) if m != text]
