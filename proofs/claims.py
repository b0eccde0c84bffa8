"""The claims of the source documents, each tied to the theorems that decide it.

A claim is proved, proved as corrected (the sentence says how it must read), or refuted, with a counterexample in numbers.

Length        one table, read from top to bottom
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from .kernel import ProofError
from .registry import all_claims


class Claimed(NamedTuple):
    id: str
    claim: str
    verdict: str  # "proved", "proved as corrected" or "refuted"
    sentence: str
    theorems: tuple[str, ...] = ()
    counterexample: str | None = None


def _position(*names: str) -> tuple[str, ...]:
    return tuple(f"positional_encoding.{name}" for name in names)


def _relative(*names: str) -> tuple[str, ...]:
    return tuple(f"relative_position.{name}" for name in names)


def _softmax(part: str, *names: str) -> tuple[str, ...]:
    return tuple(f"softmax_{part}.{name}" for name in names)


def _in(family: str, *names: str) -> tuple[str, ...]:
    return tuple(f"{family}.{name}" for name in names)


CLAIMS = (
    Claimed(
        "C1",
        "PE has sines in even columns and cosines in odd ones, with the angle pos / 10000^(2i/d)",
        "proved",
        "For even d, columns counted from 0; the sine and the cosine of a pair share their exponent.",
        _position("even_columns_are_sines", "odd_columns_are_cosines"),
    ),
    Claimed(
        "C2",
        "for every fixed offset k, PE_(t+k) is a linear function of PE_t",
        "proved",
        "One matrix T^(k) serves all t; k and t may be any real numbers, 0 and negative ones included.",
        _position("shift_is_rotation", "shift_is_rotation_by_columns"),
    ),
    Claimed(
        "C3",
        "T^(k) is block diagonal: d/2 rotations of size 2 x 2, and zero elsewhere",
        "proved",
        "In the interleaved layout, where the two columns of a pair are neighbours.",
        (
            *_position("shift_is_rotation_by_columns"),
            *(f"shift_instances.instance_of_{d}" for d in ("two", "four", "eight")),
        ),
    ),
    Claimed(
        "C4",
        "T^(k) does not depend on t; it follows from the addition theorems",
        "proved",
        "Derived and not only verified: what maps pair(t) to pair(t + k) at two positions is this rotation.",
        _position("block_is_forced", "block_shifts_pair", "shift_is_rotation"),
    ),
    Claimed(
        "C5",
        "without positions the architecture cannot tell the order of its tokens",
        "proved as corrected",
        "The encoder cannot: permuted tokens have permuted outputs, through any number of layers. Under a causal mask it is"
        " false: the mask itself tells the order.",
        (
            *_in("self_attention", "permutation_equivariance", "without_positions_order_is_lost"),
            *_in("encoder", "encoder_layer_is_equivariant", "encoder_stack_is_equivariant"),
            *_in("causal_attention", "output_of_two_tokens", "order_of_two_tokens_matters"),
        ),
        "causal, numbers as tokens, all weights 1: (0, 1) gives (0, .7311) and (1, 0) gives (1, .5)",
    ),
    Claimed(
        "C6",
        "the encoding makes attention by relative position easy to learn",
        "proved",
        "One head can hold it: with W_Q built from T^(k) the key at offset k has the highest score, for integer positions"
        " under (H) it alone.",
        _relative(
            "relative_attention_is_realizable",
            "score_at_the_offset",
            "only_the_offset_attains_the_maximum",
            "standard_frequencies_keep_positions_apart",
        ),
        "(H) is needed: with the one frequency pi/2 the positions 0 and 4 have the same encoding",
    ),
    Claimed(
        "C7",
        "decoder-to-encoder attention of a recurrent net has the decoder state as query, all encoder states as keys and"
        " values",
        "proved",
        "It is attention with n_q = 1 and K = V, for scaled dot products.",
        _in("attention", "single_query_is_recurrent_attention", "permutation_invariance"),
    ),
    Claimed(
        "C8",
        "d_k = d_v = d_model / heads; the weights of a head are d_model x d_v",
        "proved",
        "Where h divides d: then the heads side by side are d wide, and there are 4 d^2 weights whatever h is.",
        _in("multi_head", "dimensions", "parameter_count"),
    ),
    Claimed(
        "C9",
        "Attention(Q, K, V) = softmax(Q K^T / sqrt(d_k) V), as typeset, with weights in [0, 1]",
        "proved as corrected",
        "V stands outside of the softmax. With V inside it is the d_v features of a row that sum to 1, and not the keys.",
        _in(
            "attention",
            "definition",
            "weight_is_positive",
            "weights_sum_to_one",
            "output_is_convex_combination",
            "softmax_inside_sums_to_one",
        ),
        "one key, d_v = 1, V = (5): the output is 5; as typeset it is softmax of one number, 1",
    ),
    Claimed(
        "C10",
        "the larger the scale of softmax's input, the nearer large entries are to 1 and small ones to 0",
        "proved as corrected",
        "Only a unique maximum tends to 1, and it alone does so monotonically; a middle entry may rise first; ties stay.",
        (
            *_softmax("saturation", "weights_tend_to_one_hot", "strict_maximum", "maximum_weight_grows"),
            *_softmax("saturation", "initial_slope", "middle_entry_rises_first"),
            *_softmax("ties", "tied_weights"),
        ),
        "z = (2, 3/2, 0): the middle weight is .3333 at scale 0, .3628 at scale 1/2 and .0067 at scale 10",
    ),
    Claimed("C11", "ds_i/dz_j = s_i (1{i = j} - s_j)", "proved", "For any n >= 1.", _softmax("jacobian", "jacobian")),
    Claimed(
        "C12",
        "that Jacobian is symmetric (the 4 x 4 case is written out)",
        "proved",
        "For any n, and the instance n = 4.",
        _softmax("jacobian", "symmetric", "instance_of_four"),
    ),
    Claimed(
        "C13",
        "dL/dz_j is column j of J against dL/ds, that is dL/dz = J^T dL/ds = J dL/ds",
        "proved",
        "For any cotangent; it equals s_j (g_j - <s, g>).",
        _softmax("jacobian", "gradient_is_jacobian_times_cotangent", "vjp"),
    ),
    Claimed(
        "C14",
        "as the entries of s approach 0 or 1 the whole Jacobian goes to 0: gradients vanish",
        "proved as corrected",
        "J does, with |J_ij| <= eps (1 - eps). At a tie it does not; and J g -> 0 needs g bounded: the gradient of"
        " cross-entropy survives.",
        (
            *_softmax("bounds", "entries_near_vertex", "vertex_has_zero_jacobian", "bounded_cotangent_vanishes"),
            *_softmax("bounds", "cross_entropy_gradient_survives"),
            *_softmax("saturation", "strict_maximum_jacobian", "jacobian_vanishes", "scaled_jacobian_vanishes"),
            *_softmax("ties", "tie_does_not_vanish", "tied_limit_is_positive", "tie_of_two"),
        ),
        "two equal logits: J_00 = 1/4 at every scale; z = (0, 40), target 0: |J| is about 7e-18, yet J g = (-1, 1)",
    ),
    Claimed(
        "C15",
        "hence scores are divided by sqrt(d_k)",
        "proved as corrected",
        "White, independent queries and keys give scores of variance d_k, scaled ones of variance 1 and a bounded spread,"
        " which keeps the Jacobian from vanishing. That unscaled scores saturate does not follow from moments.",
        (
            *_in("attention_scores", "score_mean_is_zero", "score_variance_is_d_k", "scaled_variance_is_one"),
            *_in("attention_scores", "expected_squared_gap", "scaled_squared_gap", "scaled_spread_is_bounded"),
            *_in("attention_scores", "gap_bounds_the_jacobian"),
            *_in("score_counterexamples", "sparse_vectors_are_white", "sparse_scores_are_mostly_zero"),
            *_in("score_counterexamples", "products_have_mean_zero", "pairwise_independence_is_not_enough"),
        ),
        "d_k = 64, q and k of length 8 along random signed axes: a score has variance 64, yet it is 0 with probability 63/64",
    ),
    Claimed(
        "C16",
        "self-attention takes Q, K, V from one input, encoder-decoder attention K, V from the encoder and Q from the decoder",
        "proved",
        "Self-attention is cross-attention of an input with itself; in the gradient its three paths add up.",
        (
            *_in("self_attention", "self_attention_is_cross_attention_with_itself", "memory_permutation_invariance"),
            *_in("self_attention_gradients", "self_attention_input_gradient", "encoder_input_gradient"),
        ),
    ),
    Claimed(
        "C17",
        "in masked decoder attention the tokens after t have no influence on output t",
        "proved",
        "The mask includes the diagonal. It holds for the gradient too, and through any number of decoder layers.",
        (
            *_in("causal_masking", "causal_output_ignores_future", "causal_gradient_ignores_future"),
            *_in("causal_attention", "is_masked_attention", "ignores_future", "first_output_is_first_value"),
            *_in("decoder", "decoder_layer_is_causal", "decoder_stack_is_causal"),
        ),
    ),
    Claimed(
        "C18",
        "masking multiplies with a very small number, so that what is masked counts as nearly 0",
        "refuted",
        "A score that is multiplied by 0 keeps the weight e^0. Weights may be multiplied by 0 and then renormalised, which is"
        " exact; without that the rows fall short of 1, and a small factor leaks even so. Masks add -B, with B large.",
        (
            *_in("masking_leaks", "multiplying_scores_leaks", "tiny_factors_leak", "instance_of_six"),
            *_in("masking_leaks", "damped_weights_fall_short", "multiplying_weights_leaks"),
            *_in("masking", "multiply_then_renormalise_is_equal", "masked_is_limit_of_finite_masks"),
            *_in("finite_masks", "finite_mask_leak", "replace_mask_leak"),
        ),
        "scores .43, -.21, .99 kept, .32, -.35, .04 multiplied by 0: each masked key has .1244; z = (1, 2, 6), the last weight"
        " multiplied by 1e-3 and renormalised: .0384",
    ),
    Claimed(
        "C19",
        "multi-head attention splits into d/h features, attends in parallel, concatenates and projects with W_O",
        "proved",
        "Concatenating and projecting is a sum over the heads; splitting and merging undo each other.",
        _in(
            "multi_head",
            "concat_then_project_is_sum_over_heads",
            "split_merge_is_identity",
            "merge_split_is_identity",
            "one_projection_then_split",
            "one_head_is_plain_attention",
        ),
    ),
    Claimed(
        "C20",
        "the feed-forward network is FC, ReLU, FC: seq x d to seq x d_ff to seq x d",
        "proved",
        "For any d_ff (2048 in the paper); it acts on each position by itself.",
        _in("feed_forward", "position_wise", "permutation_equivariance", "parameter_count"),
    ),
    Claimed(
        "C21",
        "sublayers have residual connections; layer normalisation runs over the feature axis, not over the batch",
        "proved",
        "The Jacobian of a residual layer is I + J_f; the normalised features of a token depend on that token alone.",
        (
            *_in("residual", "residual_jacobian", "stack_unrolls", "stack_jacobian_is_product"),
            *_in("layer_norm", "mean_is_zero", "variance", "acts_per_token"),
        ),
    ),
    Claimed(
        "C22",
        "frequencies may be indexed from m = 1 with f_m = 1 / lambda_m (the translated post) or from i = 0 (the paper)",
        "proved as corrected",
        "The theorem holds for every frequency function; the angular frequency is 10000^(-2m/d), not its inverse.",
        _position("shift_is_rotation", "shift_from_index_one", "wavelengths_are_geometric", "longest_wavelength"),
        "d = 8, m = 1: the angular frequency is .1, the wavelength 62.83; its inverse 10 would give .6283",
    ),
)


class Decided(NamedTuple):
    """A claim with its verdict after its theorems were proved: "failed" if one of them does not hold."""

    claimed: Claimed
    verdict: str
    failed: tuple[str, ...]


def decided(names: Collection[str] | None = None) -> tuple[Decided, ...]:
    """Proves what the claims rest on, or those claims that some theorem of these names decides.

    Raises KeyError for a name that no theorem has.
    """
    claims = {c.name: c for c in all_claims()}
    rows = []
    for claimed in CLAIMS:
        if names is not None and not any(name in names for name in claimed.theorems):
            continue
        failed = tuple(name for name in claimed.theorems if not _holds(claims[name]))
        rows.append(Decided(claimed, "failed" if failed else claimed.verdict, failed))
    return tuple(rows)


def _holds(claim: object) -> bool:
    try:
        return claim.theorem is not None  # type: ignore[attr-defined]
    except ProofError:
        return False
