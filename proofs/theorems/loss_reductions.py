r"""Why a mean of batch means is not the mean over all tokens.

Definitions   batch_mean(w, x, b)              m_b = sum_p w_bp x_bp / c_b, where c_b = sum_p w_bp counts the tokens
              mean_of_means(w, x)              sum_b m_b / B
              overall_mean(w, x)               sum_bp w_bp x_bp / sum_b c_b
Statements    overall_mean_weighs_the_batches  overall mean = sum_b c_b m_b / sum_b c_b
              mean_of_means_with_equal_counts  c_b = c for all b: mean of means = overall mean
              difference_is_a_covariance       overall - mean of means = sum_b (c_b - c) m_b / (B c), c = sum_b c_b / B
              difference_for_two_batches       B = 2: that is (c_0 - c_1) (m_0 - m_1) / (2 (c_0 + c_1))
              product_is_not_zero              a b / c != 0 where a != 0, b != 0, c > 0
              mean_of_means_is_not_the_mean    B = 2, c_0 != c_1, m_0 != m_1: mean of means != overall mean
Scope         Any numbers of batches and places, any losses x; weights w >= 0, 0 and 1 for a mask, in no batch all 0.
Reference     Vaswani et al. 2017, section 5.1, whose batches hold about equal numbers of tokens, not equal ones.
"""

from ..notation import Definition, eq, family, forall, function, index, literal, lt, ne, number, size, sum_, variable
from ..registry import Statement, theorem

batches, places = size("B"), size("P")
b, q = index("b", batches), index("p", places)
m, x = family("w", batches, places, domain="nonnegative"), family("x", batches, places)
tokens = sum_(q, m[b, q])
all_tokens = sum_(b, tokens)
counted = forall(b, lt(0, tokens))
batch_mean = Definition(
    "batch_mean", [m, x, b], sum_(q, m[b, q] * x[b, q]) / tokens, requires=[lt(0, tokens)], says="the mean over batch b"
)
mean_of_means = Definition(
    "mean_of_means",
    [m, x],
    sum_(b, batch_mean(m, x, b)) / batches,
    requires=[counted],
    says="what a loop over batches averages",
)
overall_mean = Definition(
    "overall_mean",
    [m, x],
    sum_((b, q), m[b, q] * x[b, q]) / all_tokens,
    requires=[lt(0, all_tokens)],
    says="the mean over all tokens",
)
mean_b = batch_mean(m, x, b)


@theorem(
    eq(overall_mean(m, x), sum_(b, tokens * mean_b) / all_tokens),
    given=[counted],
    near_miss=[sum_(b, tokens * mean_b), sum_(b, mean_b) / all_tokens],
)
def overall_mean_weighs_the_batches(proof):
    "The mean over all tokens weighs the mean of a batch by its number of tokens."
    proof.equals(sum_(b, tokens * (sum_(q, m[b, q] * x[b, q]) / tokens)) / all_tokens, "definition", of=overall_mean)
    proof.closes("definition", of=batch_mean)


size_of_batch = variable("c", "positive")


@theorem(
    eq(mean_of_means(m, x), overall_mean(m, x)),
    given=[counted, forall(b, eq(tokens, size_of_batch))],
    witness={m: function([b, q], size_of_batch / places)},
    near_miss=[sum_(b, mean_b), 0],
)
def mean_of_means_with_equal_counts(proof):
    "The mean of the batch means is the mean over all tokens if all batches hold equally many."
    proof.equals(sum_(b, mean_b) / batches, "definition", of=mean_of_means)
    proof.equals(sum_(b, size_of_batch * mean_b) / sum_(b, size_of_batch), "finite_sum")
    proof.equals(sum_(b, tokens * mean_b) / all_tokens, "congruence", then="given")
    proof.closes(overall_mean_weighs_the_batches)


average = all_tokens / batches
covariance = sum_(b, (tokens - average) * mean_b) / batches


@theorem(
    eq(overall_mean(m, x) - mean_of_means(m, x), covariance / average),
    given=[counted],
    near_miss=[0, covariance, -covariance / average],
)
def difference_is_a_covariance(proof):
    "The two differ by the covariance of the batch sizes and the batch means, in units of the mean size."
    means = sum_(b, mean_b) / batches
    proof.equals(sum_(b, tokens * mean_b) / all_tokens - mean_of_means(m, x), overall_mean_weighs_the_batches)
    proof.equals(sum_(b, tokens * mean_b) / all_tokens - means, "definition", of=mean_of_means)
    proof.closes("finite_sum")


m2, x2 = family("w", 2, places, domain="nonnegative"), family("x", 2, places)
b2 = index("b", 2)
tokens_0, tokens_1 = (sum_(q, m2[k, q]) for k in range(2))
mean_0, mean_1 = (batch_mean(m2, x2, literal(k, 2)) for k in range(2))
counted_2 = forall(b2, lt(0, sum_(q, m2[b2, q])))
shift = (tokens_0 - tokens_1) * (mean_0 - mean_1) / (2 * (tokens_0 + tokens_1))


@theorem(
    eq(overall_mean(m2, x2) - mean_of_means(m2, x2), shift),
    given=[counted_2],
    near_miss=[-shift, (tokens_0 - tokens_1) * (mean_0 - mean_1), (tokens_0 - tokens_1) / (2 * (tokens_0 + tokens_1))],
)
def difference_for_two_batches(proof):
    "For two batches the difference is the product of the differences in size and in mean, in units of both sizes."
    two = sum_(b2, sum_(q, m2[b2, q]))
    covariance = sum_(b2, (sum_(q, m2[b2, q]) - two / 2) * batch_mean(m2, x2, b2)) / 2
    proof.equals(covariance / (two / 2), difference_is_a_covariance, at={batches: 2, m: m2, x: x2})
    proof.closes("finite_sum")


first, second, scale = variable("a"), variable("b"), variable("c", "positive")


@theorem(
    ne(first * second / scale, 0),
    given=[ne(first, 0), ne(second, 0)],
    near_miss=(Statement(ne(first * second / scale, 0), (ne(first, 0),)), {second: number(0)}),
)
def product_is_not_zero(proof):
    "A product of factors other than 0 is not 0."
    proof.closes("order")


differ = ne(mean_of_means(m2, x2), overall_mean(m2, x2))
other_sizes, other_means = ne(tokens_0 - tokens_1, 0), ne(mean_0 - mean_1, 0)


@theorem(
    differ,
    given=[counted_2, other_sizes, other_means],
    near_miss=(Statement(differ, (counted_2, other_means)), {m2: function([b2, q], 1)}),
)
def mean_of_means_is_not_the_mean(proof):
    "For two batches of other sizes and other means the mean of the means is not the mean."
    overall = overall_mean(m2, x2)
    proof.equals(overall - (overall - mean_of_means(m2, x2)), "ring")
    proof.equals(overall - shift, difference_for_two_batches)
    at = {first: tokens_0 - tokens_1, second: mean_0 - mean_1, scale: 2 * (tokens_0 + tokens_1)}
    proof.closes("order", using=(product_is_not_zero, at))
