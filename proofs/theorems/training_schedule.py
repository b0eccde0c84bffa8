r"""The learning rate with warm-up: where its two branches meet, and its maximum there.

Definitions   minimum(x, y)                    -max(-x, -y)
              learning_rate(d, w, s)           minimum(1/sqrt(s), s / (w sqrt(w))) / sqrt(d)
Statements    schedule_branches_meet           s / (w sqrt(w)) = 1/sqrt(s) at s = w
              linear_branch_at_most_peak       s <= w: s / (w sqrt(w)) <= 1/sqrt(w)
              linear_branch_is_lower           s <= w: s / (w sqrt(w)) <= 1/sqrt(s)
              falling_branch_at_most_peak      w <= s: 1/sqrt(s) <= 1/sqrt(w)
              linear_branch_is_higher          w <= s: 1/sqrt(s) <= s / (w sqrt(w))
              schedule_rises                   s <= w: learning_rate(s) = s / (w sqrt(w)) / sqrt(d)
              schedule_decays                  w <= s: learning_rate(s) = 1 / (sqrt(s) sqrt(d))
              schedule_peak                    learning_rate(w) = 1 / (sqrt(d) sqrt(w))
              lower_branch_at_most_peak        minimum(1/sqrt(s), s / (w sqrt(w))) <= 1/sqrt(w)
              schedule_maximum                 learning_rate(s) <= learning_rate(w)
Scope         Any real d > 0, number w > 0 of warm-up steps and step s > 0, whole ones included.
Reference     Vaswani et al. 2017, section 5.3, equation 3: d^(-1/2) min(s^(-1/2), s w^(-3/2)).
"""

from ..notation import Definition, eq, le, maximum, sqrt, variable
from ..registry import theorem

d, w, s = (variable(name, "positive") for name in "dws")
x, y = variable("x"), variable("y")
more = variable("m", "nonnegative")
before, after = {w: s + more}, {s: w + more}  # every s <= w, and every s >= w
minimum = Definition("minimum", [x, y], -maximum(-x, -y), says="the smaller one")


def rising(step):
    """The branch of the warm-up, times sqrt(d)."""
    return step / (w * sqrt(w))


def falling(step):
    """The branch after it, times sqrt(d)."""
    return 1 / sqrt(step)


learning_rate = Definition(
    "learning_rate", [d, w, s], minimum(falling(s), rising(s)) / sqrt(d), says="the learning rate at step s"
)


@theorem(eq(rising(w), falling(w)), near_miss=[falling(w) / w, w * falling(w)])
def schedule_branches_meet(proof):
    "The branches meet at the end of the warm-up."
    proof.closes("field")


@theorem(le(rising(s), falling(w)), given=[le(s, w)], near_miss=le(falling(w), rising(s)))
def linear_branch_at_most_peak(proof):
    "During the warm-up the linear branch is at most what the branches have in common."
    proof.at_most(rising(w), "order")
    proof.closes(schedule_branches_meet)


@theorem(le(rising(s), falling(s)), given=[le(s, w)], near_miss=le(falling(s), rising(s)))
def linear_branch_is_lower(proof):
    "During the warm-up the linear branch is the lower one."
    proof.at_most(falling(w), linear_branch_at_most_peak)
    proof.closes("order")


@theorem(le(falling(s), falling(w)), given=[le(w, s)], near_miss=le(falling(w), falling(s)))
def falling_branch_at_most_peak(proof):
    "After the warm-up the falling branch is at most what the branches have in common."
    proof.closes("order")


@theorem(le(falling(s), rising(s)), given=[le(w, s)], near_miss=le(rising(s), falling(s)))
def linear_branch_is_higher(proof):
    "After the warm-up the linear branch is the higher one."
    proof.at_most(falling(w), falling_branch_at_most_peak)
    proof.equals(rising(w), schedule_branches_meet, backwards=True)
    proof.closes("order")


@theorem(
    eq(learning_rate(d, w, s), rising(s) / sqrt(d)),
    given=[le(s, w)],
    witness=before,
    near_miss=[falling(s) / sqrt(d), rising(s)],
)
def schedule_rises(proof):
    "During the warm-up the learning rate is linear in the step."
    proof.equals(-maximum(-falling(s), -rising(s)) / sqrt(d), "definition", of=(learning_rate, minimum))
    proof.closes("order", using=linear_branch_is_lower)


@theorem(
    eq(learning_rate(d, w, s), falling(s) / sqrt(d)),
    given=[le(w, s)],
    witness=after,
    near_miss=[rising(s) / sqrt(d), falling(s)],
)
def schedule_decays(proof):
    "After the warm-up the learning rate falls with the inverse root of the step."
    proof.equals(-maximum(-falling(s), -rising(s)) / sqrt(d), "definition", of=(learning_rate, minimum))
    proof.closes("order", using=linear_branch_is_higher)


@theorem(eq(learning_rate(d, w, w), 1 / (sqrt(d) * sqrt(w))), near_miss=[1 / sqrt(d), 1 / (d * w)])
def schedule_peak(proof):
    "At the end of the warm-up the learning rate is 1/sqrt(d w)."
    proof.equals(falling(w) / sqrt(d), schedule_decays, at={s: w})
    proof.closes("field")


lower = minimum(falling(s), rising(s))


@theorem(le(lower, falling(w)), near_miss=[le(falling(w), lower), le(lower, falling(w) / 2)])
def lower_branch_at_most_peak(proof):
    "The lower branch is nowhere above the point where the branches meet."
    proof.equals(-maximum(-falling(s), -rising(s)), "definition", of=minimum)
    below = [linear_branch_at_most_peak, falling_branch_at_most_peak]
    facts = [linear_branch_is_lower, linear_branch_is_higher, *below]
    proof.closes("cases", on=le(s, w), then="order", using=facts)


@theorem(
    le(learning_rate(d, w, s), learning_rate(d, w, w)), near_miss=le(learning_rate(d, w, w), learning_rate(d, w, s))
)
def schedule_maximum(proof):
    "The learning rate is highest at the end of the warm-up."
    proof.equals(lower / sqrt(d), "definition", of=learning_rate)
    gap = (falling(w) - lower) / sqrt(d)
    proof.at_most(falling(w) / sqrt(d), "order", difference=gap, using=lower_branch_at_most_peak)
    proof.closes(schedule_decays, at={s: w})
