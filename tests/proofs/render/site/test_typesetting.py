"""Prose around formulas."""

import pytest

pytest.importorskip("math_core", reason="formulas become MathML by math-core")
pytest.importorskip("markupsafe", reason="the site's templates are Jinja's")

from proofs.render.parts import Formula, Words
from proofs.render.site.typesetting import Typesetter, breakable, coded, prose


def typesetter():
    return Typesetter({"softmax.positive": "softmax.html#positive"}.get)


def test_words_are_escaped_and_names_of_theorems_are_links():
    found = typesetter().line((Words("by "), Words("softmax.positive"), Words(" & <others>")))
    assert found == ('by <a class="name" href="softmax.html#positive">softmax.<wbr>positive</a> &amp; &lt;others&gt;')


def test_formulas_are_kept_in_order_with_their_latex():
    set_ = typesetter()
    found = set_.line((Words("at "), Formula("x < y"), Words(", "), Formula("z"))) + set_.display("y")
    assert set_.formulas == ["x < y", "z", "y"]
    assert 'data-latex="x &lt; y"' in found
    assert found.count("<math") == 3


def test_no_line_starts_with_a_comma():
    found = typesetter().line((Formula("x"), Words(", and "), Formula("y")))
    assert "</math>,</span> and " in found


def test_a_definition_is_as_large_as_on_a_line_of_its_own():
    found = typesetter().large((Formula("x"), Words(", where "), Formula("y")))
    assert found.count('displaystyle="true"') == 1
    assert found.index("displaystyle") < found.index("where")


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("T^(k) is T^(-k)", "T<sup>(k)</sup> is T<sup>(−k)</sup>"),
        ("any n_q, d_k >= 1", "any n<sub>q</sub>, d<sub>k</sub> ≥ 1"),
        ("W_Q and PE_(t+k)", "W<sub>Q</sub> and PE<sub>t+k</sub>"),
        ("G_ic <script>", "G<sub>ic</sub> &lt;script&gt;"),
        ("softmax_jacobian stays, and so does feed_forward_ik", "softmax_jacobian stays, and so does feed_forward_ik"),
        ("10000^(2i/d)", "10000<sup>(2i/d)</sup>"),
        ("e^S_il > 0", "e<sup>S<sub>il</sub></sup> &gt; 0"),
        ("J g -> 0, u != 0", "J g → 0, u ≠ 0"),
        ("가중치 d_v개, e^z로, J_00", "가중치 d<sub>v</sub>개, e<sup>z</sup>로, J<sub>00</sub>"),
    ],
)
def test_prose(text, html):
    assert prose(text) == html


def test_code_and_names():
    assert coded("run `a < b` now") == "run <code>a &lt; b</code> now"
    assert breakable("a_b.c") == "a_<wbr>b.<wbr>c"
