r"""A row of weight 0 is ignored by the mean loss: it has no gradient, and what stands in it does not count.

Definitions   masked_loss, of loss_rows.py; here L = masked_loss(w, Z, Y)
Statements    ignored_row_has_zero_gradient    w_i = 0: dL/dZ_ij = 0
              ignored_row_changes_nothing      w_i = 0: other logits and targets in row i leave L as it is
Scope         N >= 2 rows, one of them at least of positive weight; any number of classes; any targets.
Reference     Bridle 1990 for the loss of a row.
"""

from ..notation import (
    delta,
    derivative,
    eq,
    family,
    function,
    index,
    j,
    l,
    lt,
    n,
    size,
    sum_,
    t,
    when,
)  # fmt: skip
from ..registry import Statement, theorem
from .loss import CE
from .loss_rows import masked_loss, row, row_gradient, rows
from .softmax_jacobian import s

many = size("N", minimum=2)  # beside the ignored row there is one that counts
i, k = index("i", many), index("k", many)
w = family("w", many, domain="nonnegative")
Z, Y = family("Z", many, n), family("Y", many, n)
count = sum_(k, w[k])
partial = derivative(t, masked_loss(w, function([k, l], Z[k, l] + t * (delta(k, i) * delta(l, j))), Y), 0)
error = sum_(l, Y[i, l]) * s(row(Z, i), j) - Y[i, j]
some_row = lt(0, count)
ignored = [some_row, eq(w[i], 0)]
some_w = {w: function(k, w[k] * (1 - delta(k, i)))}  # every w with w_i = 0 has this form


@theorem(
    eq(partial, 0),
    given=ignored,
    witness=some_w,
    near_miss=[error / count, (Statement(eq(partial, 0), (some_row,)), {w: function(k, w[k] + 1)})],
)
def ignored_row_has_zero_gradient(proof):
    "A row of weight 0 has gradient 0, whatever its targets."
    proof.equals(w[i] * error / count, row_gradient, at={rows: many})
    proof.equals(0 * error / count, "congruence", then="given")
    proof.closes("ring")


def others(term):
    """The sum of a term over the rows other than i, with their weights."""
    return sum_(k, (1 - delta(k, i)) * w[k] * term)


new_z, new_y = family("z", n), family("y", n)
changed_Z = function([k, l], when(eq(k, i), new_z[l], Z[k, l]))
changed_Y = function([k, l], when(eq(k, i), new_y[l], Y[k, l]))
unchanged = eq(masked_loss(w, changed_Z, changed_Y), masked_loss(w, Z, Y))


@theorem(
    unchanged,
    given=ignored,
    witness=some_w,
    near_miss=[0, (Statement(unchanged, (some_row,)), {w: function(k, w[k] + 1)})],
)
def ignored_row_changes_nothing(proof):
    "The logits and targets of a row of weight 0 do not count."
    changed = CE(function(l, when(eq(k, i), new_z[l], Z[k, l])), function(l, when(eq(k, i), new_y[l], Y[k, l])))
    kept, new, old = CE(row(Z, k), row(Y, k)), CE(new_z, new_y), CE(row(Z, i), row(Y, i))
    proof.equals(sum_(k, w[k] * changed) / count, "definition", of=masked_loss)
    proof.equals((others(changed) + w[i] * new) / count, "finite_sum")
    proof.equals((others(changed) + 0 * new) / count, "congruence", then="given")
    proof.equals((others(changed) + 0 * old) / count, "ring")
    proof.equals((others(kept) + 0 * old) / count, "congruence", then="cases", inner={"on": (k, i), "then": "ring"})
    proof.equals((others(kept) + w[i] * old) / count, "congruence", then="given")
    proof.equals(sum_(k, w[k] * kept) / count, "finite_sum")
    proof.closes("definition", of=masked_loss)
