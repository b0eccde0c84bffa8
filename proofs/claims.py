"""The claims of the source documents, each tied to the theorems that decide it.

A claim is proved, proved as corrected (the sentence says how it must read), refuted, or open: not decided yet.
"""

from __future__ import annotations

from typing import NamedTuple

from .kernel import ProofError
from .registry import all_claims


class Claimed(NamedTuple):
    id: str
    claim: str
    verdict: str  # "proved", "proved as corrected", "refuted" or "open"
    sentence: str
    theorems: tuple[str, ...] = ()
    counterexample: str | None = None


def _position(*names: str) -> tuple[str, ...]:
    return tuple(f"positional_encoding.{name}" for name in names)


def _relative(*names: str) -> tuple[str, ...]:
    return tuple(f"relative_position.{name}" for name in names)


def _softmax(part: str, *names: str) -> tuple[str, ...]:
    return tuple(f"softmax_{part}.{name}" for name in names)


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
    Claimed("C5", "without positions the architecture cannot tell the order of its tokens", "open", "Needs attention."),
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
    *(
        Claimed(f"C{number}", claim, "open", "Needs attention.")
        for number, claim in (
            (7, "decoder-to-encoder attention of a recurrent net uses the decoder state as query"),
            (8, "d_k = d_v = d_model / heads"),
            (9, "Attention(Q, K, V) = softmax(Q K^T / sqrt(d_k) V), with V inside"),
        )
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
    *(
        Claimed(f"C{number}", claim, "open", "Needs attention, layer norm or feed-forward.")
        for number, claim in (
            (15, "hence scores are divided by sqrt(d_k)"),
            (16, "self-attention takes Q, K, V from one input, encoder-decoder attention K, V from the encoder"),
            (17, "in masked decoder attention tokens after t have no influence on output t"),
            (18, "masking multiplies with a very small number"),
            (19, "multi-head attention splits, attends in parallel, concatenates and projects"),
            (20, "the feed-forward network is FC, ReLU, FC"),
            (21, "layer normalisation runs over the feature axis"),
        )
    ),
    Claimed(
        "C22",
        "frequencies may be indexed from m = 1 with f_m = 1 / lambda_m (the translated post) or from i = 0 (the paper)",
        "proved as corrected",
        "The theorem holds for every frequency function; the angular frequency is 10000^(-2m/d), not its inverse.",
        _position("shift_is_rotation", "shift_from_index_one", "wavelengths_are_geometric", "longest_wavelength"),
    ),
)


class Decided(NamedTuple):
    """A claim with its verdict after its theorems were proved: "failed" if one of them does not hold."""

    claimed: Claimed
    verdict: str
    failed: tuple[str, ...]


def decided() -> tuple[Decided, ...]:
    """Proves what the claims rest on. Raises KeyError for a name that no theorem has."""
    claims = {c.name: c for c in all_claims()}
    rows = []
    for claimed in CLAIMS:
        failed = tuple(name for name in claimed.theorems if not _holds(claims[name]))
        rows.append(Decided(claimed, "failed" if failed else claimed.verdict, failed))
    return tuple(rows)


def _holds(claim: object) -> bool:
    try:
        return claim.theorem is not None  # type: ignore[attr-defined]
    except ProofError:
        return False
