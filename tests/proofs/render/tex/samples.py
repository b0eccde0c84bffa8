"""Theorems with formulas of every shape that is hard to set, and their formulas."""

import functools

from proofs.registry import all_claims
from proofs.render.latex import Latex
from proofs.render.page_formulas import formulas_of
from proofs.render.theorem import page

NAMES = (
    "softmax_jacobian.jacobian",  # short
    "softmax_jacobian.instance_of_four",  # a matrix with wide cells
    "shift_instances.instance_of_eight",  # a matrix of eight columns
    "attention_scores.tail_is_at_most_pairs",  # cases with wide conditions, a wide difference in a reason
    "online_softmax.online_softmax_equals_softmax",  # hypotheses, several functions
    "tiled_attention.attention_in_blocks",  # wide exponents
    "multi_head_gradients.gradient_of_query_projection",  # brackets in brackets in a fraction
    "decoder.decoder_layer_is_causal",  # long lists of arguments
    "layer_norm_null_space.null_vectors_are_constant",  # theorems named in a refusal
)


@functools.cache
def claims():
    return {claim.name: claim for claim in all_claims()}


def theorem(name):
    return claims()[name].theorem


@functools.cache
def formulas(name):
    return tuple(dict.fromkeys(formulas_of(page(theorem(name), Latex))))
