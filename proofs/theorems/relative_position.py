r"""Attention by relative position, and which frequencies keep positions apart.

Definitions   score(w, k, p, q)                the dot product of the query T^(k) PE_p with the key PE_q
Hypothesis    (H)                              for every integer u != 0 some w_m u is no multiple of 2 pi; the index of such
                                               a frequency is written witness(u)
Statements    score_is_sum_of_cosines          the score is sum_m cos(w_m (p + k - q))
              relative_attention_is_realizable  the score is at most M, its value at q = p + k
              score_at_the_offset              at q = p + k the score is M
              gap_is_positive                  under (H), sum_m (1 - cos(w_m u)) > 0 for integers u != 0
              only_the_offset_attains_the_maximum   under (H), the score is below M for integers q != p + k
              positions_are_distinct           under (H), different integer positions have different encodings
              rational_frequency_keeps_positions_apart   (H) holds for a frequency a/b: (a/b) u is no multiple of 2 pi
              standard_frequencies_keep_positions_apart  and so for w_m = 10000^(-2m/d), where w_0 = 1
              quarter_turns_repeat             the single frequency pi/2 repeats every 4 positions
              real_positions_may_coincide      at d = 8 the positions 0 and 2000 pi have one encoding
Scope         Any number M >= 1 of pairs; real positions, integers where a line says so.
Reference     Vaswani et al. 2017, section 3.5 (hypothesis that attention by relative position is easy to learn).
"""

from ..axioms import angle, cosine_is_one_at_full_turns_only, denominator, numerator, pi_irrational
from ..kernel import Specialised, Statement
from ..notation import (
    ANY_REAL,
    PI,
    Definition,
    M,
    choice,
    cos,
    eq,
    forall,
    function,
    index,
    le,
    literal,
    lt,
    ne,
    number,
    rational,
    sin,
    sum_,
    table,
    value_of,
    variable,
)  # fmt: skip
from ..registry import theorem
from .position_similarity import cosines, similarity, similarity_depends_on_offset, squared_distance
from .positional_encoding import T, a, b, frequency, k, m, m1, p, pair, q, shift_is_rotation, w

query = sum_(m1, sum_(b, T(w, k, m, a, m1, b) * pair(w, m1, p, b)))
score = Definition("score", [w, k, p, q], sum_(m, sum_(a, query * pair(w, m, q, a))), says="query T^(k) PE_p, key PE_q")

u, turns = variable("u", "integer"), variable("r", "integer")
s, t, step = (variable(name, "integer") for name in ("s", "t", "k"))
witness = choice("witness", ANY_REAL, target=M)
H = forall(u, forall(turns, ne(w[witness(u)] * u, 2 * PI * turns)), where=[ne(u, 0)])
meets_H = {w: function(m, 1 + value_of(m))}  # every frequency is rational


@theorem(eq(score(w, k, p, q), cosines(p + k - q)), near_miss=cosines(p - k - q))
def score_is_sum_of_cosines(proof):
    "With the query map T^(k) and the identity as key map, the score depends on p + k - q alone."
    proof.equals(sum_(m, sum_(a, query * pair(w, m, q, a))), "definition", of=score)
    proof.equals(sum_(m, sum_(a, pair(w, m, p + k, a) * pair(w, m, q, a))), shift_is_rotation)
    proof.equals(similarity(w, p + k, q), "definition", of=similarity)
    proof.closes(similarity_depends_on_offset, at={p: p + k})


@theorem(le(score(w, k, p, q), M), near_miss=M - 1)
def relative_attention_is_realizable(proof):
    "One head can attend by relative position: no key scores more than the one at offset k."
    proof.equals(cosines(p + k - q), score_is_sum_of_cosines)
    proof.at_most(sum_(m, 1), "order")
    proof.closes("finite_sum")


@theorem(eq(score(w, k, p, p + k), M), near_miss=-M)
def score_at_the_offset(proof):
    "The key at offset k scores M."
    proof.equals(cosines(p + k - (p + k)), score_is_sum_of_cosines, at={q: p + k})
    proof.equals(cosines(0 * p), "ring")
    proof.equals(sum_(m, 1), "congruence", then="angles")
    proof.closes("finite_sum")


gap = sum_(m, 1 - cos(w[m] * u))
no_full_turn = Specialised(H, (u,))


def not_one(at):
    """cos(w u) is not 1 for the frequency that (H) names."""
    return cosine_is_one_at_full_turns_only, {angle: w[witness(at)] * at}


@theorem(lt(0, gap), given=[ne(u, 0), H], near_miss=[lt(2 * M, gap), (Statement(lt(0, gap), (H,)), {u: number(0)})],
         witness=meets_H)  # fmt: skip
def gap_is_positive(proof):
    "Under (H) not all cosines are 1."
    at = w[witness(u)] * u
    proof.less_than(1 - cos(at), "order", using=[no_full_turn, not_one(u)])
    proof.closes("order")


@theorem(
    lt(score(w, step, t, s), M),
    given=[ne(t + step - s, 0), H],
    near_miss=[-M, (Statement(lt(score(w, step, t, s), M), (H,)), {s: t + step})],
    witness=meets_H,
)
def only_the_offset_attains_the_maximum(proof):
    "Under (H) the key at offset k is the only one with the highest score."
    offset = t + step - s
    proof.equals(cosines(offset), score_is_sum_of_cosines, at={k: step, p: t, q: s})
    proof.less_than(cosines(offset) + sum_(m, 1 - cos(w[m] * offset)), "order", using=[(gap_is_positive, {u: offset})])
    proof.closes("finite_sum")


different = sum_(m, sum_(a, (pair(w, m, s, a) - pair(w, m, t, a)) ** 2))


@theorem(
    lt(0, different),
    given=[ne(s - t, 0), H],
    near_miss=[lt(4 * M, different), (Statement(lt(0, different), (H,)), {s: t})],
    witness=meets_H,
)
def positions_are_distinct(proof):
    "Under (H) two integer positions have the same encoding only if they are the same."
    proof.less_than(2 * sum_(m, 1 - cos(w[m] * (s - t))), "order", using=[(gap_is_positive, {u: s - t})])
    proof.equals(2 * M - 2 * cosines(s - t), "finite_sum")
    proof.closes(squared_distance, at={p: s, q: t})


over, under = variable("a", "integer"), variable("b", "integer")


@theorem(
    ne(over / under * u, 2 * PI * turns),
    given=[ne(over, 0), ne(under, 0), ne(u, 0)],
    near_miss=[
        (ne(over / under * u, turns), {under: number(1), turns: over * u}),
        (
            Statement(ne(over / under * u, 2 * PI * turns), (ne(over, 0), ne(under, 0))),
            {u: number(0), turns: number(0)},
        ),
    ],
)
def rational_frequency_keeps_positions_apart(proof):
    "A rational frequency other than 0 takes no integer but 0 to a multiple of 2 pi, since pi is irrational."
    fact = (pi_irrational, {denominator: 2 * under * turns, numerator: over * u})
    proof.closes("cases", on=eq(turns, 0), then="order", using=[fact])


standard_first = frequency(number(10000), M, value_of(literal(0, M)))


@theorem(
    ne(standard_first * u, 2 * PI * turns),
    given=[ne(u, 0)],
    near_miss=(Statement(ne(standard_first * u, 2 * PI * turns)), {u: number(0), turns: number(0)}),
)
def standard_frequencies_keep_positions_apart(proof):
    "The standard frequencies meet (H): the first one is 1."
    proof.equals(number(10000) ** (-value_of(literal(0, M)) / M) * u, "definition", of=frequency)
    proof.equals(number(1) / number(1) * u, "exp_log")
    proof.closes(rational_frequency_keeps_positions_apart, at={over: number(1), under: number(1)})


single = function(index("m", 1), PI / 2)
only = literal(0, 1)


@theorem(
    eq(pair(single, only, p + 4, a), pair(single, only, p, a)),
    near_miss=eq(pair(single, only, p + 2, a), pair(single, only, p, a)),
)
def quarter_turns_repeat(proof):
    "The frequency pi/2 alone repeats every 4 positions, so (H) is needed."
    angle_after, angle_before = PI / 2 * (p + 4), PI / 2 * p
    proof.equals(table([sin(angle_after), cos(angle_after)], a), "definition", of=pair)
    proof.equals(table([sin(angle_before), cos(angle_before)], a), "cases", on=a, then="angles")
    proof.closes("definition", of=pair)


four = index("m", 4)
decades = table([1, rational(1, 10), rational(1, 100), rational(1, 1000)], four)


@theorem(
    eq(pair(function(four, decades), four, 2000 * PI, a), pair(function(four, decades), four, number(0), a)),
    near_miss=eq(pair(function(four, decades), four, 1000 * PI, a), pair(function(four, decades), four, number(0), a)),
)
def real_positions_may_coincide(proof):
    "With the standard frequencies at d = 8, the positions 0 and 2000 pi have one encoding: the positions must be integers."

    def at(position):
        return table([sin(decades * position), cos(decades * position)], a)

    proof.equals(at(2000 * PI), "definition", of=pair)
    proof.equals(at(number(0)), "cases", on=four, then="cases", inner={"on": a, "then": "angles"})
    proof.closes("definition", of=pair)
