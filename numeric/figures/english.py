"""The messages of the figures in English; markup.py says what *k* and d_[k] are."""

MESSAGES = {
    "axis.position": "position",
    "axis.pair": "pair *m* of columns",
    "axis.offset": "offset *k* of the positions",
    "axis.scale": "scale *b* of the logits",
    "axis.largest_entry": "largest |*J*_[ij](*b z*)|",
    "axis.d_k": "width *d*_[k]",
    "positional_encoding.title": "Positional encoding: a shift is a rotation",
    "positional_encoding.pair": "pair {m}",
    "positional_encoding.caption": (
        "Above, the encoding of {positions} positions in {width} columns, from −1 (blue) to 1 (orange); column pair "
        "*m* has the frequency ω_[m]. Below, four of its pairs (sin, cos) as hands of clocks: from position *t* = "
        "{t} (grey) to *t* + *k* (blue), *k* = {k}, each turns by the angle *k* ω_[m], whatever *t* is. All these "
        "turns together are the matrix T^[(k)]."
    ),
    "positional_encoding.alt": (
        "A map of stripes that grow longer from the first column pair to the last; and four circles on which the "
        "same step of {k} positions turns the pairs 0, 1, 2 and 3 by {angles}."
    ),
    "position_similarity.title": "Similarity depends on the offset only",
    "position_similarity.upward": "dot product of PE_[p] and PE_[p+k]",
    "position_similarity.start": "*p* = {p}",
    "position_similarity.caption": (
        "Dot products of the encodings of *p* and *p* + *k* ({width} columns), for three positions *p* far from each "
        "other. All lie on one curve, Σ_[m] cos(ω_[m] *k*): the position itself cancels, a step back is as similar "
        "as a step forth, and every encoding has the squared length {largest}."
    ),
    "position_similarity.alt": (
        "A symmetric curve with its peak of {largest} at offset 0 falls to about {far} at offset {furthest}; "
        "circles, squares and triangles for the positions 0, 100 and 1000 lie on it."
    ),
    "softmax_temperature.title": "The Jacobian of softmax by temperature",
    "softmax_temperature.weights": "weights *s*, and *J*_[ij] = *s*_[i](δ_[ij] − *s*_[j]) below them",
    "softmax_temperature.caption": (
        "Softmax of the logits {logits} divided by the temperature *T*: the weights as bars, and the Jacobian with "
        "respect to the divided logits, from −1/4 (blue) to 1/4 (orange). It is symmetric and its rows sum to 0. The "
        "colder, the nearer the weights are to one-hot, and the nearer the Jacobian is to 0."
    ),
    "softmax_temperature.alt": (
        "Four panels. At temperature 8 the weights are nearly equal, at 1/16 one of them is nearly 1; the largest "
        "entry of the Jacobian goes from {largest_0} over {largest_1} and {largest_2} to {largest_3}."
    ),
    "softmax_saturation.title": "Gradients vanish, unless there is a tie",
    "softmax_saturation.strict": "one maximum",
    "softmax_saturation.tied": "two logits tied: tends to 1/4",
    "softmax_saturation.bound": "proved: ≤ (*n* − 1) *e*^[−bg]",
    "softmax_saturation.caption": (
        "The largest entry of the Jacobian of softmax as the logits grow. With logits ({strict_logits}) the maximum "
        "is strict, with a gap *g* = {gap} to the next, and the entries stay below the proved bound. With "
        "({tied_logits}) two logits share the maximum, and the Jacobian keeps the entry 1/4, however large the "
        "logits are: that large scores have vanishing gradients is false without the word strict."
    ),
    "softmax_saturation.alt": (
        "On a logarithmic axis the curve of a strict maximum falls along a straight line below its bound, to "
        "{strict} at scale {scale}; the curve of two tied logits rises to {tied} and stays there."
    ),
    "score_variance.title": "Why scores are divided by √*d*_[k]",
    "score_variance.upward": "variance of a score",
    "score_variance.plain": "*q* · *k*, proved: *d*_[k]",
    "score_variance.scaled": "*q* · *k* / √*d*_[k], proved: 1",
    "score_variance.normal": "normal entries",
    "score_variance.signs": "random signs",
    "score_variance.caption": (
        "The variance of scores over {pairs} random queries and keys for each width *d*_[k], and the values that it "
        "is proved to have (dashed). Query and key are independent; of their entries only means and second moments "
        "count, so that random signs give the same as normal numbers."
    ),
    "score_variance.alt": (
        "On logarithmic axes the marks without the factor lie on the line *d*_[k], from 1 to {largest}; those with "
        "it lie on the level line 1."
    ),
    "attention_masks.title": "Which keys a query keeps",
    "attention_masks.causal": "causal",
    "attention_masks.padding": "padding",
    "attention_masks.both": "both",
    "attention_masks.pad": "padding",
    "attention_masks.kept": "kept",
    "attention_masks.dropped": "dropped: its weight is 0",
    "attention_masks.axes": "a row for each query *i*, a column for each key *j*",
    "attention_masks.caption": (
        "Attention masks for {n} tokens, of which the last {padded} are padding. A causal mask keeps the keys *j* ≤ "
        "*i*, a padding mask the keys that are no padding, both together what both keep. A dropped key has the "
        "weight 0 exactly, and the weights of those kept sum to 1."
    ),
    "attention_masks.alt": (
        "Three grids of queries by keys. The causal one is filled on and below the diagonal, the padding one in the "
        "first {left} columns, the third where both are."
    ),
    "error_allowances.title": "Right, unstable and wrong, by the checker",
    "error_allowances.right": "right: {verdict}",
    "error_allowances.unstable": "unstable, mean *x*^[2] − (mean *x*)^[2]: {verdict}",
    "error_allowances.wrong": "wrong, divides by *d* − 1: {verdict}",
    "error_allowances.allowance": "largest error of a probe, in units of its allowance",
    "error_allowances.caption": (
        "The largest error of each of {probes} probes of three layer normalisations in float32, in units of its "
        "allowance, a bound on what rounding can do. The right one stays within 1 everywhere. The one-pass variance "
        "is right on paper and loses its digits at {unstable} probes; the unbiased variance is wrong at {wrong}. The "
        "checker calls them {names}. Probes at 0 have no error at all."
    ),
    "error_allowances.alt": (
        "Three bands of marks on a logarithmic axis. In the first all marks lie left of the allowance; in the second "
        "{unstable} lie to the right of it, some of them far; in the third {wrong} do."
    ),
    "verdict.pass": "pass",
    "verdict.inconclusive": "inconclusive",
    "verdict.variant": "variant",
    "verdict.fail": "fail",
    "verdict.error": "error",
}
