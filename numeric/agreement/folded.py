"""The theorems of the embedding, with names for what layers compute.

proofs/theorems/embedding.py writes the entries of a table out, E[tok(i), a], and the logits as sums. Here they have names, so that they
can be read; unfolded, these statements are those of the theorems, term by term (a test compares them).
"""

from collections.abc import Callable
from functools import cache

from proofs.kernel import Statement
from proofs.notation import Definition, Term, delta, derivative, eq, family, function, i, n, sum_, t
from proofs.registry import Claim
from proofs.theorems import embedding
from proofs.theorems.embedding import A, D, E, G, a, d, fixed, k, moved, scale, scattered, squares, tok, u, v

Entry = Callable[[Term, Term], Term]

H = family("H", n, d)
lookup = Definition("lookup", [E, u, a], E[u, a], says="row u of a table")
scaled_lookup = Definition("scaled_lookup", [E, u, a], scale * E[u, a], says="sqrt(d) times row u of a table")
logits = Definition("logits", [H, E, i, u], sum_(a, H[i, a] * E[u, a]), says="hidden states times the rows of a table")


def _found(table: Entry, named: Definition = lookup) -> Entry:
    """The entries of a table by the name of a lookup."""
    return lambda row, column: named(function([u, a], table(u, a)), row, column)


def _gradient(inputs: Entry, outputs: Entry) -> Term:
    """That of the loss with one table at the input and one at the output."""
    hidden = function([i, a], sum_(k, A[i, k] * _found(inputs)(tok(k), a)))
    of_output = function([u, a], outputs(u, a))
    return derivative(t, sum_((i, u), D[i, u] * logits(hidden, of_output, i, u)), 0)


@cache
def _conclusions() -> dict[str, Term]:
    whole, _input, _output = (_gradient(*pair) for pair in ((moved, moved), (moved, fixed), (fixed, moved)))
    scaled = _found(moved, scaled_lookup)
    squares_of_scaled = sum_(a, _found(fixed, scaled_lookup)(v, a) ** 2)
    return {
        "lookup_is_one_hot_product": eq(_found(fixed)(tok(i), a), sum_(v, delta(tok(i), v) * E[v, a])),
        "gradient_scatters_and_adds": eq(derivative(t, sum_((i, a), G[i, a] * _found(moved)(tok(i), a)), 0), scattered),
        "input_gradient": eq(_input, embedding.from_input),
        "output_gradient": eq(_output, embedding.from_output),
        "tied_weights_add_gradients": eq(whole, _input + _output),
        "tied_gradient": eq(whole, embedding.from_input + embedding.from_output),
        "scaled_embedding_gradient": eq(derivative(t, sum_((i, a), G[i, a] * scaled(tok(i), a)), 0), scale * scattered),
        "scaled_embedding_norm": eq(squares_of_scaled, d * squares),
        "scaled_embedding_has_norm_of_d": eq(squares_of_scaled, d),
    }


def statement_of(claim: Claim) -> Statement:
    """What the claim states, with names for what the embedding computes."""
    named = _conclusions() if claim.family == "embedding" else {}
    conclusion = named.get(claim.name.partition(".")[2], claim.statement.conclusion)
    return claim.statement._replace(conclusion=conclusion)
