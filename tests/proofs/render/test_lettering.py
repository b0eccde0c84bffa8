"""Indices, exponents and signs in prose."""

import pytest

from proofs.render.lettering import lettered


def tex_like(text):
    return lettered(text, lambda words: words.replace("_", r"\_"), "_{{{}}}", "^{{{}}}")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("T^(-k), W_Q of d_model", "T^{(−k)}, W_{Q} of d_{model}"),
        ("PE_(t+k) and ds_i/dz_j", "PE_{t+k} and ds_{i}/dz_{j}"),
        ("e^S_il >= 0 -> oo", "e^{S_{il}} ≥ 0 → oo"),
        ("한 행의 d_v개, e^z로", "한 행의 d_{v}개, e^{z}로"),
        ("softmax_jacobian.trace and sum_i stay", r"softmax\_jacobian.trace and sum\_i stay"),
        ("J_00 = 1/4, x_100", r"J_{00} = 1/4, x\_100"),
    ],
)
def test_what_is_meant(text, found):
    assert tex_like(text) == found
