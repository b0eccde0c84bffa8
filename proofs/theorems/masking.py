r"""Masked softmax, with masks that are finite weights: what it is equal to, and what it is the limit of.

Definitions   masked_softmax(z, m, i)          m_i e^z_i / sum_l m_l e^z_l, where some key is kept: sum_l m_l e^z_l > 0
              keep(i)                          1 where key i is kept, 0 where it is masked: a mask of zeros and ones
Statements    a_kept_key_suffices              sum_l m_l > 0 gives sum_l m_l p_l > 0, for positive p such as e^z
              masked_weights_sum_to_one        sum_i masked_softmax(z, m)_i = 1
              zero_weight_on_masked            m_i = 0 gives masked_softmax(z, m)_i = 0
              share_of_the_kept                sum_l m_l s_l = sum_l m_l e^z_l / sum_l e^z_l
              multiply_then_renormalise_is_equal   m_i s_i / sum_l m_l s_l = masked_softmax(z, m)_i
              masked_is_limit_of_finite_masks  softmax(z - B (1 - keep))_i -> masked_softmax(z, keep)_i as B -> oo
              adjoint                          sum_l (sum_u W_ul m_u) g_l = sum_u m_u sum_l W_ul g_l
              sum_over_a_list                  m_l = sum_u delta_(e(u) l) m'_u gives sum_l m_l g_l = sum_u m'_u g_e(u)
              a_listed_key_is_kept             1 <= keep(e(u)), e lists the kept keys
              masked_equals_softmax_over_kept  masked_softmax(z, keep)_e(u) = softmax(z o e)_u, e lists the kept keys
              fully_masked_row_has_no_limit    softmax(z + b)_i = p_i for b_l = log p_l - z_l - B and every B
Scope         Any n >= 1, real scores, a mask of non-negative weights; of zeros and ones where it is called keep. That e
              lists the kept keys means each of them once and no other key: keep(l) = sum_u delta_(e(u) l).
Reference     Vaswani et al. 2017, section 3.2.3, which sets masked scores to -oo.
"""

from ..notation import (
    INFINITY,
    Definition,
    choice,
    delta,
    eq,
    exp,
    family,
    forall,
    function,
    i,
    index,
    l,
    le,
    log,
    lt,
    n,
    r,
    size,
    sum_,
    tends,
    value_of,
    variable,
    z,
)
from ..registry import theorem
from .softmax import Z, s

m, p = family("m", n, domain="nonnegative"), family("p", n, domain="positive")
mass = sum_(l, m[l] * exp(z[l]))
some_kept = lt(0, mass)
masked = Definition(
    "masked_softmax", [z, m, i], m[i] * exp(z[i]) / mass, requires=[some_kept], says="the weight of key i under a mask"
)


@theorem(lt(0, sum_(l, m[l] * p[l])), given=[lt(0, sum_(l, m[l]))], near_miss=lt(sum_(l, m[l]), sum_(l, m[l] * p[l])))
def a_kept_key_suffices(proof):
    "If some key is kept, positive weights under the mask have a positive sum, by which one may divide."
    least = sum_(r, p[r] ** -1) ** -1
    proof.less_than(sum_(l, m[l]) * least, "order")
    proof.equals(sum_(l, m[l] * least), "finite_sum")
    proof.at_most(sum_(l, m[l] * (p[l] ** -1) ** -1), "order")
    proof.closes("finite_sum")


@theorem(eq(sum_(i, masked(z, m, i)), 1), given=[some_kept], near_miss=sum_(i, m[i]))
def masked_weights_sum_to_one(proof):
    "Masked weights sum to 1."
    proof.equals(sum_(i, m[i] * exp(z[i]) / mass), "definition", of=masked)
    proof.closes("finite_sum")


@theorem(
    eq(masked(z, m, i), 0),
    given=[some_kept, eq(m[i], 0)],
    near_miss=s(z, i),
    witness={m: function(l, (1 - delta(l, i)) * m[l])},
)
def zero_weight_on_masked(proof):
    "A key with mask 0 has weight 0, exactly."
    proof.equals(m[i] * exp(z[i]) / mass, "definition", of=masked)
    proof.equals(0 * exp(z[i]) / mass, "congruence", then="given")
    proof.closes("ring")


share = sum_(l, m[l] * s(z, l))


@theorem(eq(share, mass / Z), near_miss=mass)
def share_of_the_kept(proof):
    "The share of the weights that the mask leaves is the sum of the masked exponentials over that of all."
    proof.equals(sum_(l, m[l] * (exp(z[l]) / Z)), "definition", of=s)
    proof.closes("finite_sum")


@theorem(eq(m[i] * s(z, i) / share, masked(z, m, i)), given=[some_kept, lt(0, share)], near_miss=m[i] * s(z, i))
def multiply_then_renormalise_is_equal(proof):
    "Weights multiplied by the mask and divided by their new sum are the masked weights."
    proof.equals(m[i] * s(z, i) / (mass / Z), share_of_the_kept)
    proof.equals(m[i] * exp(z[i]) / mass, "definition", of=s)
    proof.closes("definition", of=masked)


# --- zeros and ones ---------------------------------------------------------------------------------------------------

kept, B = choice("kept", n, target=2), variable("B")


def keep(position):
    """1 where the key is kept, 0 where it is masked."""
    return value_of(kept(position))


def lowered(position):
    """The score, with -B added where the key is masked."""
    return z[position] - B * (1 - keep(position))


binary, penalised = function(l, keep(l)), function(l, lowered(l))
kept_mass = sum_(l, keep(l) * exp(z[l]))


@theorem(
    tends(B, s(penalised, i), INFINITY, masked(z, binary, i)), given=[lt(0, kept_mass)], near_miss=keep(i) * s(z, i)
)
def masked_is_limit_of_finite_masks(proof):
    "Masked softmax is the limit of softmax with -B added to the masked scores."
    by_cases = {"on": kept(l), "then": "ring"}
    rest = lambda k: (1 - keep(k)) * exp(z[k] - B)
    both = lambda k: keep(k) * exp(z[k]) + rest(k)
    proof.equals(exp(lowered(i)) / sum_(l, exp(lowered(l))), "definition", of=s)
    proof.equals(both(i) / sum_(l, exp(lowered(l))), "cases", on=kept(i), then="ring")
    proof.equals(both(i) / sum_(l, both(l)), "congruence", then="cases", inner=by_cases)
    proof.equals(both(i) / (kept_mass + sum_(l, rest(l))), "finite_sum")
    exact = masked(z, binary, i) * kept_mass
    proof.equals((exact + rest(i)) / (kept_mass + sum_(l, rest(l))), "definition", of=masked)
    proof.closes("limit")


n_kept = size("n_kept")
u, v = index("u", n_kept), index("v", n_kept)
e = choice("e", n_kept, target=n)
few, g = family("m_kept", n_kept, domain="nonnegative"), family("g", n)
W = family("W", n_kept, n)


@theorem(
    eq(sum_(l, sum_(u, W[u, l] * few[u]) * g[l]), sum_(u, few[u] * sum_(l, W[u, l] * g[l]))),
    near_miss=sum_(u, few[u]) * sum_(l, g[l]),
)
def adjoint(proof):
    "A matrix moves from one side of an inner product to the other."
    proof.closes("finite_sum")


spread_out = sum_(u, delta(e(u), l) * few[u])


@theorem(
    eq(sum_(l, m[l] * g[l]), sum_(u, few[u] * g[e(u)])),
    given=[forall(l, eq(m[l], spread_out))],
    near_miss=sum_(u, few[u]) * sum_(l, g[l]),
    witness={m: function(l, spread_out)},
)
def sum_over_a_list(proof):
    "A sum under a mask that is 0 off a list of keys is a sum over the list."
    proof.equals(sum_(l, spread_out * g[l]), "congruence", then="given")
    proof.equals(sum_(u, few[u] * sum_(l, delta(e(u), l) * g[l])), adjoint, at={W: function([u, l], delta(e(u), l))})
    proof.closes("finite_sum")


lists_the_kept = forall(l, eq(keep(l), sum_(u, delta(e(u), l))))


@theorem(le(1, keep(e(u))), given=[lists_the_kept], near_miss=le(2, keep(e(u))))
def a_listed_key_is_kept(proof):
    "A key on the list of the kept keys is kept."
    proof.equals(delta(e(u), e(u)), "ring")
    proof.at_most(sum_(v, delta(e(v), e(u))), "order")
    proof.closes("given")


@theorem(
    eq(masked(z, binary, e(u)), s(function(u, z[e(u)]), u)),
    given=[lists_the_kept, lt(0, kept_mass)],
    near_miss=s(z, e(u)),
)
def masked_equals_softmax_over_kept(proof):
    "The weights of the kept keys are the softmax of their scores alone."
    at = {m: binary, g: function(l, exp(z[l])), few: function(u, 1)}
    proof.equals(keep(e(u)) * exp(z[e(u)]) / kept_mass, "definition", of=masked)
    proof.equals(exp(z[e(u)]) / kept_mass, "cases", on=kept(e(u)), then="ring", using=[(a_listed_key_is_kept, {u: u})])
    proof.equals(exp(z[e(u)]) / sum_(u, 1 * exp(z[e(u)])), "congruence", then=sum_over_a_list, inner={"at": at})
    proof.closes("definition", of=s)


@theorem(
    eq(s(function(l, z[l] + (log(p[l]) - z[l] - B)), i), p[i]),
    given=[eq(sum_(l, p[l]), 1)],
    near_miss=s(z, i),
    witness={p: function(l, p[l] / sum_(r, p[r]))},
)
def fully_masked_row_has_no_limit(proof):
    "Masks that all tend to -oo can give any positive weights p at every B: with no key kept there is no limit."
    raw = lambda k: exp(z[k] + (log(p[k]) - z[k] - B))
    proof.equals(raw(i) / sum_(l, raw(l)), "definition", of=s)
    proof.equals(p[i] * exp(-B) / sum_(l, p[l] * exp(-B)), "exp_log")
    proof.equals(p[i] / sum_(l, p[l]), "finite_sum")
    proof.equals(p[i] / 1, "congruence", then="given")
    proof.closes("ring")
