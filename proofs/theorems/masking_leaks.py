r"""Masking by a factor: on the scores it leaves masked keys the weight of a score of 0, on the weights it loses mass.

Definitions   keep(i)                          1 where key i is kept, 0 where it is masked
              scaled(f)                        the scores: z_l where key l is kept, f z_l where it is masked
              damped(i)                        s_i where key i is kept, f s_i where it is masked, s = softmax(z)
Statements    weights_under_a_factor           softmax(scaled(f))_i = (keep_i e^z_i + (1 - keep_i) e^(f z_i)) / T, where
                                               T = sum_l (keep_l e^z_l + (1 - keep_l) e^(f z_l))
              weight_of_a_masked_key           ... = e^(f z_i) / T for a masked key
              weight_of_a_kept_key             ... = e^z_j / T for a kept key
              multiplying_scores_leaks         f = 0 gives a masked key the weight e^0 / (sum over kept e^z_l + #masked)
              tiny_factors_leak                which is the limit for f -> 0 too
              masked_outweighs_negative_scores  f = 0 gives a masked key more weight than a kept one with z_j < 0
              instance_of_six                  (.43, -.21, .99, 0, 0, 0): each 0 has 1/(3 + e^.43 + e^-.21 + e^.99)
              damped_weights_sum               sum_i damped_i = 1 - (1 - f) sum over masked s_l
              masked_share_is_positive         0 < sum over masked s_l, if some key is masked
              damped_weights_fall_short        sum_i damped_i < 1, if some key is masked and f < 1
              multiplying_weights_leaks        f s_i <= damped_i / sum_l damped_l for a masked key, 0 < f < 1
Scope         Any n >= 1 and real scores; f is any real number where nothing is said of it.
Reference     Vaswani et al. 2017, section 3.2.3, sets masked scores to -oo instead.
"""

from ..kernel import Statement
from ..notation import (
    eq,
    exp,
    function,
    i,
    index,
    j,
    l,
    le,
    lt,
    number,
    r,
    rational,
    sum_,
    table,
    tends,
    variable,
    z,
)
from ..registry import theorem
from .masking import keep, kept
from .softmax import positive, s, sums_to_one

f = variable("f")
is_masked, is_kept = eq(keep(i), 0), eq(keep(j), 1)

# --- a factor on the scores -------------------------------------------------------------------------------------------


def scaled(factor):
    """The scores, the masked ones times a factor."""
    return function(l, z[l] * (keep(l) + (1 - keep(l)) * factor))


def exponential(k, factor):
    """e^z_k where key k is kept, e^(f z_k) where it is masked."""
    return keep(k) * exp(z[k]) + (1 - keep(k)) * exp(factor * z[k])


T, T_at_0 = (sum_(l, exponential(l, factor)) for factor in (f, 0))
plain = sum_(l, keep(l) * exp(z[l]) + (1 - keep(l)))


@theorem(eq(s(scaled(f), i), exponential(i, f) / T), near_miss=keep(i) * exp(z[i]) / T)
def weights_under_a_factor(proof):
    "With a factor f on the masked scores, a kept key enters as e^z and a masked one as e^(f z)."
    raw = lambda k: exp(z[k] * (keep(k) + (1 - keep(k)) * f))
    by_cases = {"on": kept(l), "then": "ring"}
    proof.equals(raw(i) / sum_(l, raw(l)), "definition", of=s)
    proof.equals(raw(i) / T, "congruence", then="cases", inner=by_cases)
    proof.closes("cases", on=kept(i), then="ring")


@theorem(eq(s(scaled(f), i), exp(f * z[i]) / T), given=[is_masked], near_miss=exp(z[i]) / T)
def weight_of_a_masked_key(proof):
    "A masked key has the weight e^(f z) over the sum."
    proof.equals(exponential(i, f) / T, weights_under_a_factor)
    proof.equals((0 * exp(z[i]) + (1 - 0) * exp(f * z[i])) / T, "congruence", then="given")
    proof.closes("ring")


@theorem(eq(s(scaled(f), j), exp(z[j]) / T), given=[is_kept], near_miss=exp(f * z[j]) / T)
def weight_of_a_kept_key(proof):
    "A kept key has the weight e^z over the same sum."
    proof.equals(exponential(j, f) / T, weights_under_a_factor)
    proof.equals((1 * exp(z[j]) + (1 - 1) * exp(f * z[j])) / T, "congruence", then="given")
    proof.closes("ring")


@theorem(eq(s(scaled(0), i), 1 / plain), given=[is_masked], near_miss=0)
def multiplying_scores_leaks(proof):
    "A masked key whose score is multiplied by 0 has the weight e^0 over the sum, and not 0."
    proof.equals(exp(0 * z[i]) / T_at_0, weight_of_a_masked_key, at={f: 0})
    proof.closes("ring")


@theorem(tends(f, s(scaled(f), i), 0, 1 / plain), given=[is_masked], near_miss=0)
def tiny_factors_leak(proof):
    "As the factor tends to 0, the weight of a masked key tends to that value, and not to 0."
    proof.equals(exp(f * z[i]) / T, weight_of_a_masked_key, at={f: f})
    proof.closes("limit")


@theorem(
    lt(s(scaled(0), j), s(scaled(0), i)),
    given=[is_masked, is_kept, lt(z[j], 0)],
    near_miss=lt(s(scaled(0), i), s(scaled(0), j)),
)
def masked_outweighs_negative_scores(proof):
    "With the factor 0 a masked key has more weight than a kept key with a negative score."
    proof.equals(exp(z[j]) / T_at_0, weight_of_a_kept_key, at={f: 0})
    proof.less_than(exp(0 * z[i]) / T_at_0, "order")
    proof.closes(weight_of_a_masked_key, at={f: 0})


k = index("k", 6)
six_scores = [rational(x, 100) for x in (43, -21, 99, 32, -35, 4)]
six = function(k, table(six_scores, k) * table([1, 1, 1, 0, 0, 0], k))
six_kept = [exp(x) for x in six_scores[:3]]


@theorem(
    eq(s(six, k), table([*six_kept, 1, 1, 1], k) / (sum(six_kept) + 3)),
    near_miss=table([*six_kept, 0, 0, 0], k) / sum(six_kept),
)
def instance_of_six(proof):
    "Scores .43, -.21, .99 are kept and .32, -.35, .04 multiplied by 0: these three have the weight of a score 0."
    raw = lambda k: exp(table(six_scores, k) * table([1, 1, 1, 0, 0, 0], k))
    proof.equals(raw(k) / sum_(k, raw(k)), "definition", of=s)
    proof.closes("cases", on=k, then="finite_sum")


# --- a factor on the weights ------------------------------------------------------------------------------------------


def damped(k):
    """The weight of key k, times f where it is masked."""
    return (keep(k) + (1 - keep(k)) * f) * s(z, k)


masked_share = sum_(l, (1 - keep(l)) * s(z, l))
some_masked = eq(keep(r), 0)
falls_short = lt(sum_(i, damped(i)), 1)


@theorem(eq(sum_(i, damped(i)), 1 - (1 - f) * masked_share), near_miss=1 - f * masked_share)
def damped_weights_sum(proof):
    "With a factor f on the masked weights, the weights lose 1 - f of what the masked keys had."
    proof.equals(sum_(i, s(z, i)) - (1 - f) * masked_share, "finite_sum")
    proof.closes(sums_to_one)


@theorem(lt(0, masked_share), given=[some_masked], near_miss=lt(s(z, r), masked_share))
def masked_share_is_positive(proof):
    "If some key is masked, the masked keys have a share of the weights without a mask."
    proof.less_than((1 - 0) * s(z, r), "order", using=positive)
    proof.equals((1 - keep(r)) * s(z, r), "congruence", then="given")
    proof.closes("order", using=positive)


@theorem(falls_short, given=[some_masked, lt(f, 1)], near_miss=Statement(falls_short, (some_masked,)))
def damped_weights_fall_short(proof):
    "Then the weights sum to less than 1, if f < 1."
    proof.equals(1 - (1 - f) * masked_share, damped_weights_sum)
    proof.closes("order", difference=(1 - f) * masked_share, using=[(masked_share_is_positive, {r: r})])


@theorem(
    le(f * s(z, i), damped(i) / sum_(l, damped(l))),
    given=[is_masked, lt(0, f), lt(f, 1)],
    near_miss=le(s(z, i), damped(i) / sum_(l, damped(l))),
)
def multiplying_weights_leaks(proof):
    "Divided by their new sum, the weights still give a masked key at least f times what it had without a mask."
    proof.equals((0 + (1 - 0) * f) * s(z, i), "ring")
    proof.equals(damped(i), "congruence", then="given")
    proof.equals(damped(i) / number(1), "ring")
    proof.closes("order", using=[positive, (damped_weights_fall_short, {r: i})])
