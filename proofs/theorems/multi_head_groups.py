r"""Heads in groups that share keys and values (grouped-query attention): the gradients of a group add up.

Definitions   q = (f,w) = f R + w              head w of group f: queries Q_q of its own, keys and values K_f, V_f
              L = sum_q L_q                    the loss of all heads, where L_q = loss(Q_q, K_f, V_f, G_q)
Statements    grouped_keys_gradient_sums_over_group     dL/dK_f = sum_w dL_(f,w)/dK, each head with its own keys
              grouped_values_gradient_sums_over_group   dL/dV_f = sum_w dL_(f,w)/dV, each with its own values
Scope         Any number F >= 1 of groups of R >= 1 heads, any n_q, n_k, d_k, d_v >= 1; F = 1 is multi-query attention.
Reference     Shazeer 2019 (arXiv:1911.02150) for one group; Ainslie et al. 2023 (arXiv:2305.13245) for groups.
"""

from ..notation import delta, derivative, eq, family, function, index, join, literal, size, split, sqrt, sum_, t
from ..registry import theorem
from .attention import K, P, Q, V, a, c, d_k, d_v, e, i, j, l, n_k, n_q
from .attention_gradients import G, K_t, Q_t, V_t, dS, gradient_of_keys, gradient_of_values, loss, loss_along_inputs, u

F, R = size("F"), size("R")
q, f, k, w = index("q", R * F), index("f", F), index("k", F), index("w", R)
group = split(q, R)[0]
Q_q, G_q = family("Q", R * F, n_q, d_k), family("G", R * F, n_q, d_v)
K_f, V_f = family("K", F, n_k, d_k), family("V", F, n_k, d_v)
keys, values = lambda f: K_f[f, j, a], lambda f: V_f[f, j, c]
key_step, value_step = delta(j, l) * delta(a, e), delta(j, l) * delta(c, u)


def attended(q, keys, values):
    """Of head q: queries, keys (a term at j, a), values (a term at j, c), and the cotangent of the output."""
    queries, cotangent = function([i, a], Q_q[q, i, a]), function([i, c], G_q[q, i, c])
    return queries, function([j, a], keys), function([j, c], values), cotangent


def along(q, keys, values):
    """The curves of head q whose keys, or values, move with t."""
    queries, cotangent = function([i, a, t], Q_q[q, i, a]), function([i, c], G_q[q, i, c])
    return {Q_t: queries, K_t: function([j, a, t], keys), V_t: function([j, c, t], values), G: cotangent, t: 0}


def resting(f, w):
    """Head w of group f, with the keys and the values of the group."""
    return attended(join(f, w), keys(f), values(f))


at_rest = dict(zip((Q, K, V, G), resting(f, w), strict=True))


def own_keys(w):
    """The gradient of the loss of head w of group f with respect to keys that are its own, at those of the group."""
    return derivative(t, loss(*attended(join(f, w), keys(f) + t * key_step, values(f))), 0)


def own_values(w):
    """The same with respect to values that are its own."""
    return derivative(t, loss(*attended(join(f, w), keys(f), values(f) + t * value_step)), 0)


def shared_keys(k, step=t):
    """The keys of group k after a step along entry (l, e) of those of group f."""
    return keys(k) + step * delta(k, f) * key_step


def shared_values(k):
    """The values of group k after a step along entry (l, u) of those of group f."""
    return values(k) + t * delta(k, f) * value_step


def dK(k, w, j, a, keys):
    """The cotangent of the keys of head w of group k."""
    return sum_(i, dS(*attended(join(k, w), keys, values(k)), i, j) * Q_q[join(k, w), i, a]) / sqrt(d_k)


def step_heads(proof, keys, values):
    """The loss of all heads, written by groups, is differentiated head by head."""
    of_head = loss(*attended(join(k, w), keys, values))
    proof.equals(derivative(t, sum_((k, w), of_head), 0), "finite_sum")
    proof.equals(sum_((k, w), derivative(t, of_head, 0)), "derivative")


@theorem(
    eq(derivative(t, sum_(q, loss(*attended(q, shared_keys(group), values(group)))), 0), sum_(w, own_keys(w))),
    near_miss=[own_keys(literal(0, R)), sum_(w, own_keys(w)) / R],
)
def grouped_keys_gradient_sums_over_group(proof):
    "The gradient with respect to shared keys is the sum of those that the heads have for keys of their own."
    step_heads(proof, shared_keys(k), values(k))
    part = lambda keys: sum_((k, w, j, a), dK(k, w, j, a, keys) * (delta(k, f) * key_step))
    at = along(join(k, w), shared_keys(k), values(k))
    proof.equals(part(shared_keys(k, step=0)), "congruence", then=loss_along_inputs, at=at)
    proof.equals(part(keys(k)), "ring")
    proof.equals(sum_(w, dK(f, w, l, e, keys(f))), "finite_sum")
    proof.closes("congruence", then=gradient_of_keys, at=at_rest)


@theorem(
    eq(derivative(t, sum_(q, loss(*attended(q, keys(group), shared_values(group)))), 0), sum_(w, own_values(w))),
    near_miss=[own_values(literal(0, R)), sum_(w, own_values(w)) / R],
)
def grouped_values_gradient_sums_over_group(proof):
    "The gradient with respect to shared values is the sum of those that the heads have for values of their own."
    step_heads(proof, keys(k), shared_values(k))
    dV = lambda k, j, c: sum_(i, P(*resting(k, w)[:2], i, j) * G_q[join(k, w), i, c])
    at = along(join(k, w), keys(k), shared_values(k))
    part = sum_((k, w, j, c), dV(k, j, c) * (delta(k, f) * value_step))
    proof.equals(part, "congruence", then=loss_along_inputs, at=at)
    proof.equals(sum_(w, dV(f, l, u)), "finite_sum")
    proof.closes("congruence", then=gradient_of_values, at=at_rest)
