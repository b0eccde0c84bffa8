r"""Two causal masks for n_q queries and n_k keys: aligned at the first query and key, or at the last ones.

Definitions   upper_left(i, j)                 1 where j <= i, else 0: the first query keeps the first key alone
              lower_right(i, j)                1 where j <= i + n_k - n_q, else 0: the last query keeps all keys
Statements    causal_alignments_agree          n_q = n_k gives upper_left_ij = lower_right_ij
              causal_alignments_differ         n_q = p + n_k gives lower_right_00 < upper_left_00
              causal_alignments_differ_with_more_keys   n_k = p + n_q gives upper_left_01 < lower_right_01
              upper_left_keeps_the_first_key   upper_left_i0 = 1
              lower_right_keeps_the_first_key  lower_right_i0 = 1, where n_q <= i + n_k
              lower_right_row_is_empty         lower_right_ij = 0 for every j, where i + n_k < n_q
              indices_start_at_zero            0 <= i
              one_index_stays_below            n_q = 1: m >= n_q gives #(i: m <= i) = 0
              one_more_index_stays_below       m >= n_q + 1 gives #(i < n_q + 1: m <= i) = 0, if this holds for n_q
              indices_stay_below               m >= n_q gives #(i < n_q: m <= i) = 0
              lower_right_has_empty_rows       n_q = p + n_k: #(i: row i does not keep the first key) = p
Scope         Any n_q, n_k, p >= 1. A row of lower_right that does not keep the first key is empty, as shown.
Reference     Vaswani et al. 2017, section 3.2.3, where n_q = n_k; torch.nn.attention.bias has causal_upper_left and
              causal_lower_right.
"""

from ..kernel import Statement
from ..notation import Definition, eq, index, le, literal, lt, number, size, sum_, value_of, variable, when
from ..registry import theorem

n_q, n_k, p = size("n_q"), size("n_k"), size("p")
i, j = index("i", n_q), index("j", n_k)
upper_left = Definition(
    "upper_left", [i, j], when(le(value_of(j), value_of(i)), 1, 0), says="the causal mask that starts at the first key"
)
lower_right = Definition(
    "lower_right",
    [i, j],
    when(le(value_of(j) + n_q, value_of(i) + n_k), 1, 0),
    says="the causal mask that ends at the last key",
)
first_key = literal(0, n_k)
same = eq(upper_left(i, j), lower_right(i, j))


@theorem(same, given=[eq(n_q, n_k)], near_miss=Statement(same, (le(n_q, n_k),)))
def causal_alignments_agree(proof):
    "With as many queries as keys the two are the same mask."
    upto_i = le(value_of(j), value_of(i))
    proof.equals(when(upto_i, 1, 0), "definition", of=upper_left)
    proof.equals(when(le(value_of(j) + n_q, value_of(i) + n_k), 1, 0), "cases", on=upto_i, then="order")
    proof.closes("definition", of=lower_right)


first_of_more = literal(0, p + n_k)


@theorem(
    lt(lower_right(first_of_more, first_key), upper_left(first_of_more, first_key)),
    near_miss=lt(upper_left(first_of_more, first_key), lower_right(first_of_more, first_key)),
)
def causal_alignments_differ(proof):
    "With more queries than keys only the first of them lets the first query keep the first key."
    proof.equals(when(le(p + n_k, n_k), 1, 0), "definition", of=lower_right)
    proof.less_than(when(le(0, 0), 1, 0), "order")
    proof.closes("definition", of=upper_left)


first_query, second_key = literal(0, n_q), literal(1, p + n_q)


@theorem(
    lt(upper_left(first_query, second_key), lower_right(first_query, second_key)),
    near_miss=lt(lower_right(first_query, second_key), upper_left(first_query, second_key)),
)
def causal_alignments_differ_with_more_keys(proof):
    "With more keys than queries only the second of them lets the first query keep a second key."
    proof.equals(when(le(1, 0), 1, 0), "definition", of=upper_left)
    proof.less_than(when(le(1 + n_q, p + n_q), 1, 0), "order")
    proof.closes("definition", of=lower_right)


# --- rows -------------------------------------------------------------------------------------------------------------


@theorem(eq(upper_left(i, first_key), 1), near_miss=0)
def upper_left_keeps_the_first_key(proof):
    "Aligned at the first key, every row keeps it."
    proof.equals(when(le(0, value_of(i)), 1, 0), "definition", of=upper_left)
    proof.closes("order")


@theorem(eq(lower_right(i, first_key), 1), given=[le(n_q, value_of(i) + n_k)], near_miss=0)
def lower_right_keeps_the_first_key(proof):
    "Aligned at the last key, a row keeps the first key unless it is one of the first n_q - n_k."
    proof.equals(when(le(n_q, value_of(i) + n_k), 1, 0), "definition", of=lower_right)
    proof.closes("order")


@theorem(eq(lower_right(i, j), 0), given=[lt(value_of(i) + n_k, n_q)], near_miss=eq(upper_left(i, j), 0))
def lower_right_row_is_empty(proof):
    "Each of those first rows keeps no key at all."
    proof.equals(when(le(value_of(j) + n_q, value_of(i) + n_k), 1, 0), "definition", of=lower_right)
    proof.closes("order")


# --- how many ---------------------------------------------------------------------------------------------------------

m = variable("m")


@theorem(le(0, value_of(i)), near_miss=lt(0, value_of(i)))
def indices_start_at_zero(proof):
    "No index is negative."
    proof.closes("order")


def not_below(length):
    """How many indices of a range are at least m, for an m that is no smaller than its length; 0 for another m."""
    k = index("k", length)
    return when(le(length, m), sum_(k, when(le(m, value_of(k)), 1, 0)), 0)


@theorem(eq(not_below(number(1)), 0), near_miss=when(le(m, 1), 1, 0))
def one_index_stays_below(proof):
    "In a range of one, fewer than 1 index stands before an index."
    proof.equals(when(le(1, m), when(le(m, 0), 1, 0), 0), "finite_sum")
    proof.closes("cases", on=le(1, m), then="order")


@theorem(eq(not_below(n_q + 1), 0), given=[eq(not_below(n_q), 0)], near_miss=when(le(m, n_q + 1), 1, 0))
def one_more_index_stays_below(proof):
    "With one index more, fewer than the new length stand before the new one."
    k, longer = index("k", n_q), le(n_q + 1, m)
    counted = sum_(k, when(le(m, value_of(k)), 1, 0)) + when(le(m, n_q), 1, 0)
    proof.equals(when(longer, counted, 0), "finite_sum")
    proof.equals(when(longer, not_below(n_q), 0), "cases", on=longer, then="order")
    proof.equals(when(longer, 0, 0), "congruence", then="given")
    proof.closes("cases", on=longer, then="order")


@theorem(eq(not_below(n_q), 0), near_miss=when(le(m, n_q), 1, 0))
def indices_stay_below(proof):
    "Fewer indices stand before an index than its range is long."
    proof.closes("induction", on=n_q, base=(one_index_stays_below, {}), step=(one_more_index_stays_below, {}))


row = index("i", p + n_k)


@theorem(eq(sum_(row, 1 - lower_right(row, first_key)), p), near_miss=n_k)
def lower_right_has_empty_rows(proof):
    "With p more queries than keys exactly p rows do not keep the first key, and so no key."
    k, q = index("k", p), index("q", n_k)
    early = sum_(k, when(le(p + n_k, value_of(k) + n_k), 1, 0))
    reach = le(p, value_of(k))
    reached = sum_(k, when(reach, 1, 0))
    proof.equals(sum_(row, 1 - when(le(p + n_k, value_of(row) + n_k), 1, 0)), "definition", of=lower_right)
    proof.equals(p - early + n_k - sum_(q, when(le(p + n_k, p + value_of(q) + n_k), 1, 0)), "finite_sum")
    proof.equals(p - early + n_k - sum_(q, 1), "order", using=[(indices_start_at_zero, {n_q: n_k})])
    proof.equals(p - reached + n_k - sum_(q, 1), "congruence", then="cases", inner={"on": reach, "then": "order"})
    proof.equals(p - when(le(p, p), reached, 0) + n_k - sum_(q, 1), "order")
    proof.equals(p - 0 + n_k - sum_(q, 1), indices_stay_below, at={n_q: p, m: p})
    proof.closes("finite_sum")
