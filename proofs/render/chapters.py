"""The order in which a site or a document presents families: chapters, from what the input is to what the model is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

CHAPTERS = (
    ("positions", "positional_encoding position_rotations position_similarity relative_position shift_instances"
     " rotary"),
    ("softmax", "softmax softmax_jacobian softmax_derivatives softmax_bounds softmax_saturation softmax_ties"
     " online_softmax"),
    ("attention", "attention attention_scores score_counterexamples attention_gradients attention_identities"
     " attention_stability tiled_attention self_attention self_attention_gradients"),
    ("masks", "masking masked_attention finite_masks masking_leaks causal_masking causal_attention"
     " causal_self_attention causal_alignments cached_decoding"),
    ("heads", "multi_head multi_head_gradients multi_head_groups"),
    ("normalisation", "layer_norm layer_norm_jacobian layer_norm_null_space layer_norm_gradients layer_norm_bounds"
     " layer_norm_scale rms_norm rms_norm_gradients residual residual_norm"),
    ("feed_forward", "feed_forward feed_forward_gradients feed_forward_balance activations activation_bounds dropout"),
    ("loss", "loss loss_rows loss_ignored_rows loss_reductions loss_bounds loss_double_softmax training"
     " training_schedule"),
    ("model", "embedding encoder decoder_sublayers decoder transformer"),
    ("axioms", "axioms"),
)  # fmt: skip


def chapters(families: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """Each chapter with those of its families that there are; a family of no chapter is in the chapter `others`."""
    present = set(families)
    known = {name for _, names in CHAPTERS for name in names.split()}
    for title, names in (*CHAPTERS, ("others", " ".join(sorted(present - known)))):
        found = [name for name in names.split() if name in present]
        if found:
            yield title, found
