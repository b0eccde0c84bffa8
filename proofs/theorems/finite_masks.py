r"""Finite masks -B: how much weight they leave to the masked keys, and where they do not work.

Definitions   keep(i)                          1 where key i is kept, 0 where it is masked
              softcap(c, x)                    c tanh(x / c)
Statements    low_scores_have_low_weights      y_i <= low and best <= y_r give softmax(y)_i <= e^(low - best)
              masked_weight_is_small           the same of (1 - keep_i) softmax(y)_i, if y_l <= low for masked keys
              masked_share_is_small            sum over masked softmax(y)_l <= #masked e^(low - best), likewise
              masked_score                     z_i - B (1 - keep_i) = z_i - B for a masked key
              kept_score                       z_i - B (1 - keep_i) = z_i for a kept key
              finite_mask_leak                 sum over masked softmax(z - B (1 - keep))_l <= #masked e^(top - B - best)
                                               where z_l <= top for masked keys and best <= z_r for a kept one
              replaced_masked_score            keep_i z_i - (1 - keep_i) B = -B for a masked key
              replaced_kept_score              keep_i z_i - (1 - keep_i) B = z_i for a kept key
              replace_mask_leak                with -B in place of the masked scores: at most #masked e^(-B - best)
              uniformly_masked_row_is_unmasked  softmax(z - B) = softmax(z)
              mask_before_softcap_leaks        e^(-2c) / n <= softmax(softcap(c, z - B (1 - keep)))_i for every key
Scope         Any n >= 1, real scores and any real B; c > 0.
Reference     Vaswani et al. 2017, section 3.2.3, for -oo; Gemma Team 2024 (arXiv:2408.00118), section 2, for softcaps.
"""

from ..kernel import Specialised
from ..notation import (
    Definition,
    eq,
    exp,
    family,
    forall,
    function,
    i,
    l,
    le,
    n,
    number,
    r,
    sum_,
    tanh,
    variable,
    z,
)
from ..registry import theorem
from .masking import B, keep, kept, lowered, penalised
from .softmax import c as shift
from .softmax import s, shift_invariance

y = family("y", n)
low, best, top = variable("low"), variable("best"), variable("top")
is_masked, is_kept = eq(keep(i), 0), eq(keep(i), 1)
some_key_is_best = le(best, y[r])
masked_are_low = forall(l, le(y[l], low), where=[eq(keep(l), 0)])
number_masked = sum_(l, 1 - keep(l))
masked_share = lambda scores: sum_(l, (1 - keep(l)) * s(scores, l))


@theorem(le(s(y, i), exp(low - best)), given=[le(y[i], low), some_key_is_best], near_miss=exp(low - best) / 2)
def low_scores_have_low_weights(proof):
    "A score of at most low, beside one of at least best, has a weight of at most e^(low - best)."
    proof.equals(exp(y[i]) / sum_(l, exp(y[l])), "definition", of=s)
    proof.at_most(exp(y[i]) / exp(y[r]), "order")
    proof.at_most(exp(low) / exp(best), "order")
    proof.closes("exp_log")


@theorem(
    le((1 - keep(i)) * s(y, i), (1 - keep(i)) * exp(low - best)),
    given=[masked_are_low, some_key_is_best],
    near_miss=(1 - keep(i)) * exp(best - low),
)
def masked_weight_is_small(proof):
    "If the masked scores are at most low, this holds of every masked key."
    facts = [Specialised(masked_are_low, (i,)), (low_scores_have_low_weights, {i: i, r: r})]
    proof.closes("cases", on=kept(i), then="order", using=facts)


@theorem(
    le(masked_share(y), number_masked * exp(low - best)),
    given=[masked_are_low, some_key_is_best],
    near_miss=number_masked * exp(best - low),
)
def masked_share_is_small(proof):
    "Together the masked keys have at most the weight e^(low - best) times their number."
    proof.at_most(sum_(l, (1 - keep(l)) * exp(low - best)), "order", using=[(masked_weight_is_small, {r: r})])
    proof.closes("finite_sum")


# --- -B added, or put in place ----------------------------------------------------------------------------------------

kept_is_best = [eq(keep(r), 1), le(best, z[r])]
all_scores = lambda value: {z: function(l, value), best: number(value)}


@theorem(eq(lowered(i), z[i] - B), given=[is_masked], near_miss=z[i])
def masked_score(proof):
    "A masked score is lowered by B."
    proof.equals(z[i] - B * (1 - 0), "congruence", then="given")
    proof.closes("ring")


@theorem(eq(lowered(i), z[i]), given=[is_kept], near_miss=z[i] - B)
def kept_score(proof):
    "A kept score stays."
    proof.equals(z[i] - B * (1 - 1), "congruence", then="given")
    proof.closes("ring")


@theorem(
    le(masked_share(penalised), number_masked * exp(top - B - best)),
    given=[forall(l, le(z[l], top), where=[eq(keep(l), 0)]), *kept_is_best],
    near_miss=(number_masked * exp(top + B - best), {**all_scores(0), top: number(0), B: number(-2)}),
)
def finite_mask_leak(proof):
    "With -B added to the masked scores, what leaks is at most e^(top - B - best) per masked key."
    proof.closes(masked_share_is_small, at={y: penalised, low: top - B, r: r}, using=[masked_score, kept_score])


def replaced(position):
    """The score, with -B in its place where the key is masked."""
    return keep(position) * z[position] - (1 - keep(position)) * B


substituted = function(l, replaced(l))


@theorem(eq(replaced(i), -B), given=[is_masked], near_miss=z[i] - B)
def replaced_masked_score(proof):
    "A masked score is -B."
    proof.equals(0 * z[i] - (1 - 0) * B, "congruence", then="given")
    proof.closes("ring")


@theorem(eq(z[i], replaced(i)), given=[is_kept], near_miss=-B)
def replaced_kept_score(proof):
    "A kept score stays."
    proof.equals(1 * z[i] - (1 - 1) * B, "ring")
    proof.closes("congruence", then="given")


@theorem(
    le(masked_share(substituted), number_masked * exp(-B - best)),
    given=kept_is_best,
    near_miss=(number_masked * exp(-B), {**all_scores(-2), B: number(2)}),
)
def replace_mask_leak(proof):
    "With -B in place of the masked scores, what leaks is at most e^(-B - best) per masked key."
    facts = [replaced_masked_score, replaced_kept_score]
    proof.closes(masked_share_is_small, at={y: substituted, low: -B, r: r}, using=facts)


# --- where they do not work -------------------------------------------------------------------------------------------


@theorem(eq(s(function(l, z[l] - B), i), s(z, i)), near_miss=exp(-B) * s(z, i))
def uniformly_masked_row_is_unmasked(proof):
    "If every key of a row is masked by -B, the weights are those without a mask."
    proof.closes(shift_invariance, at={shift: -B})


cap, x = variable("c", "positive"), variable("x")
softcap = Definition("softcap", [cap, x], cap * tanh(x / cap), says="x, kept between -c and c")
capped = function(l, softcap(cap, lowered(l)))


@theorem(le(exp(-2 * cap) / n, s(capped, i)), near_miss=le(exp(2 * cap) / n, s(capped, i)))
def mask_before_softcap_leaks(proof):
    "If the mask is added before the softcap, every key, masked or kept, has at least the weight e^(-2c) / n at any B."
    raw = lambda k: exp(cap * tanh(lowered(k) / cap))
    proof.equals(exp(-cap) / (n * exp(cap)), "exp_log")
    proof.equals(exp(-cap) / sum_(l, exp(cap)), "finite_sum")
    proof.at_most(raw(i) / sum_(l, raw(l)), "order")
    proof.closes("definition", of=(s, softcap))
