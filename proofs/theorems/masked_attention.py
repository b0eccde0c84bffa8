r"""Masked attention: its output, keys that are added with mask 0, and what moves with one key.

Definitions   masked_attention(Q, K, V, M, i, c)   sum_j masked_softmax(scores of row i, row i of M)_j V_jc
Statements    masked_output                    O_ic = sum_j M_ij e^S_ij V_jc / sum_j M_ij e^S_ij
              sum_under_padding                M_il = sum_u delta_(e(u) l) m_iu gives
                                               sum_l M_il e^S_il x_l = sum_u m_iu e^S_i,e(u) x_e(u)
              extra_padding_changes_nothing    ... and the output of Q, K, V, M is that of Q, K o e, V o e, m
              gradient_at_one_key              d O_ic / dt along K_ra + t x_a, V_rc + t y_c, for one r, is
                                               P_ir (<Q_i, x> / sqrt(d_k) (V_rc - O_ic) + y_c), P the masked weights
Scope         Any n_q, n_k, d_k, d_v >= 1 and any mask of non-negative weights under which row i keeps a key:
              sum_l M_il e^S_il > 0. The padded mask is m on the keys e(u) that were there, wherever they now stand, and
              0 on all others. In the last theorem x and y are any vectors: it gives dO/dK and dO/dV.
Reference     Vaswani et al. 2017, section 3.2.3.
"""

from ..notation import (
    Definition,
    choice,
    delta,
    derivative,
    eq,
    exp,
    family,
    forall,
    function,
    index,
    lt,
    n,
    size,
    sqrt,
    sum_,
    t,
)
from ..registry import theorem
from .attention import K, Q, S, V, a, attention, c, d_k, d_v, i, j, l, n_k, n_q, row
from .masking import e, few, g, m, masked, n_kept, sum_over_a_list

M = family("M", n_q, n_k, domain="nonnegative")
mask_row = function(l, M[i, l])


def under_mask(queries, keys, mask, values):
    """The sum over the keys of values(l), under the masked exponentials of the scores of query i."""
    l = index("l", mask.slots[1])
    return sum_(l, mask[i, l] * exp(S(queries, keys, i, l)) * values(l))


def mass(queries, keys, mask):
    """The sum that the weights of query i are divided by."""
    l = index("l", mask.slots[1])
    return sum_(l, mask[i, l] * exp(S(queries, keys, i, l)))


bottom = mass(Q, K, M)
some_kept = lt(0, bottom)
masked_attention = Definition(
    "masked_attention",
    [Q, K, V, M, i, c],
    sum_(j, masked(row, mask_row, j) * V[j, c]),
    requires=[some_kept],
    says="the output at query i under a mask",
)
O = masked_attention(Q, K, V, M, i, c)
top = under_mask(Q, K, M, lambda k: V[k, c])


@theorem(eq(O, top / bottom), given=[some_kept], near_miss=sum_(l, exp(S(Q, K, i, l)) * V[l, c]) / bottom)
def masked_output(proof):
    "The output is the mean of the values under the masked exponentials of the scores."
    proof.equals(sum_(j, M[i, j] * exp(S(Q, K, i, j)) / bottom * V[j, c]), "definition", of=(masked_attention, masked))
    proof.closes("finite_sum")


# --- padding ----------------------------------------------------------------------------------------------------------

n_old = size("n_old")
u = index("u", n_old)
place = choice("e", n_old, target=n_k)
old_M = family("m", n_q, n_old, domain="nonnegative")
old_K, old_V = function([u, a], K[place(u), a]), function([u, c], V[place(u), c])
before_padding = masked_attention(Q, old_K, old_V, old_M, i, c)
padded_with_zeros = sum_(u, delta(place(u), l) * old_M[i, u])
padded = forall(l, eq(M[i, l], padded_with_zeros))
padding = {M: function([i, l], padded_with_zeros)}
x = family("x", n_k)


@theorem(
    eq(under_mask(Q, K, M, lambda k: x[k]), under_mask(Q, old_K, old_M, lambda u: x[place(u)])),
    given=[padded],
    witness=padding,
    near_miss=eq(sum_(l, exp(S(Q, K, i, l)) * x[l]), under_mask(Q, old_K, old_M, lambda u: x[place(u)])),
)
def sum_under_padding(proof):
    "A sum under a padded mask is the sum before the padding."
    listed = {n_kept: n_old, few: function(u, old_M[i, u]), e: place}
    at = {**listed, n: n_k, m: mask_row, g: function(l, exp(S(Q, K, i, l)) * x[l])}
    proof.equals(sum_(u, old_M[i, u] * exp(S(Q, K, i, place(u))) * x[place(u)]), sum_over_a_list, at=at)
    proof.closes("definition", of=S)


@theorem(
    eq(O, before_padding),
    given=[padded, some_kept, lt(0, mass(Q, old_K, old_M))],
    witness=padding,
    near_miss=eq(attention(Q, K, V, i, c), before_padding),
)
def extra_padding_changes_nothing(proof):
    "Keys that are added with mask 0, anywhere in the list, do not change the output."
    old_top = under_mask(Q, old_K, old_M, lambda u: V[place(u), c])
    old_bottom = under_mask(Q, old_K, old_M, lambda u: 1)
    ones = {"at": {i: i, x: function(l, 1)}}
    proof.equals(top / bottom, masked_output)
    proof.equals(old_top / bottom, sum_under_padding, at={i: i, x: function(l, V[l, c])})
    proof.equals(old_top / old_bottom, "congruence", then=sum_under_padding, inner=ones)
    proof.closes(masked_output, at={n_k: n_old, K: old_K, V: old_V, M: old_M})


# --- gradient ---------------------------------------------------------------------------------------------------------

r = index("r", n_k)
key_step, value_step = family("x", d_k), family("y", d_v)
moved_K = function([l, a], K[l, a] + t * (delta(l, r) * key_step[a]))
moved_V = function([l, c], V[l, c] + t * (delta(l, r) * value_step[c]))
velocity = derivative(t, masked_attention(Q, moved_K, moved_V, M, i, c), 0)
weight = masked(row, mask_row, r)
push = sum_(a, Q[i, a] * key_step[a]) / sqrt(d_k)


@theorem(
    eq(velocity, weight * (push * (V[r, c] - O) + value_step[c])),
    given=[some_kept],
    near_miss=[weight * (push * V[r, c] + value_step[c]), weight * (push * (V[r, c] - O) - value_step[c])],
)
def gradient_at_one_key(proof):
    "The output moves with one key and its value in proportion to the weight of that key."
    w, w_moved = (lambda l, keys=keys: M[i, l] * exp(S(Q, keys, i, l)) for keys in (K, moved_K))
    move = lambda l: sum_(a, Q[i, a] * (delta(l, r) * key_step[a])) / sqrt(d_k)
    d_weight = lambda l: w(l) * (move(l) / bottom - sum_(l, w(l) * move(l)) / bottom**2)
    moving = sum_(j, w_moved(j) / sum_(l, w_moved(l)) * (V[j, c] + t * (delta(j, r) * value_step[c])))
    proof.equals(derivative(t, moving, 0), "definition", of=(masked_attention, masked))
    proof.equals(sum_(j, d_weight(j) * V[j, c] + w(j) / bottom * (delta(j, r) * value_step[c])), "derivative")
    proof.equals(w(r) / bottom * (push * (V[r, c] - top / bottom) + value_step[c]), "finite_sum")
    proof.equals(w(r) / bottom * (push * (V[r, c] - O) + value_step[c]), masked_output)
    proof.closes("definition", of=masked)
