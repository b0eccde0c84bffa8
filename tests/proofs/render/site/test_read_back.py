"""Nothing of a formula is lost or moved on its way to MathML: each loss that is planted is seen."""

import random
from copy import deepcopy
from xml.etree.ElementTree import Element, fromstring, tostring

import pytest

from proofs.registry import all_claims
from proofs.render.latex import Latex
from proofs.render.names import RenderError
from proofs.render.page_formulas import formulas_of
from proofs.render.site.mathml import mathml
from proofs.render.site.read_back import UnfaithfulError, require_faithful, tokens_of_latex, tokens_of_mathml
from proofs.render.theorem import page

pytest.importorskip("math_core", reason="formulas become MathML by math-core")

FORMULAS = (
    r"\operatorname{J}(z)_{i j} = \operatorname{softmax}(z)_{i} (\delta_{i j} - \operatorname{softmax}(z)_{j})",
    r"\frac{\mathrm{d}}{\mathrm{d} t} \left[\frac{\mathrm{e}^{z_{i} + t \delta_{i j}}}{\sum_{l=0}^{n - 1} \mathrm{e}^{z_{l}}}\right]_{t = 0}",
    r"\begin{bmatrix} \sin(\omega_{m} (p + k)) & -1 \\ \tfrac{1}{2} & \sqrt{x' + \dot{z}_{i}''} \end{bmatrix}_{a b}",
    r"\begin{cases} K_{\mathrm{Q\text{-}Z}, i}, & i \bmod 2 < 1 \\ \left|x\right|, & i \bmod 2 \ge 1 \end{cases}",
    r"\forall j \ne k\colon \mathbf{E}_{u \in U}\left[X_{\lfloor c / 2 \rfloor}\right] \le \mathit{gain}_{\mathrm{1}} \Rightarrow 0 < 10000",
    r"\lim_{t \to \infty} \operatorname{log-softmax}(l < n \mapsto t \cdot 2 z_{l})_{i} = \max(\phi, \Phi)",
    r"\exp\!\left(-\frac{x^{2}}{2}\right) \in \mathbf{R}_{\ge 0}, x_{0_{n}, 2 m + a} := \log(\erf(x))".replace(r"\erf", r"\operatorname{erf}"),
)  # fmt: skip


def damaged(math, rng):
    """The MathML with one token or element deleted, doubled, exchanged with its neighbour, renamed or set otherwise."""
    changed = deepcopy(math)
    parents = [e for e in changed.iter() if len(e)]
    parent = rng.choice(parents)
    k = rng.randrange(len(parent))
    kind = rng.randrange(4)
    if kind == 0:
        parent.remove(parent[k])
    elif kind == 1:
        parent.insert(k, deepcopy(parent[k]))
    elif kind == 2 and len(parent) > 1:
        other = (k + 1) % len(parent)
        parent[k], parent[other] = deepcopy(parent[other]), deepcopy(parent[k])
    else:
        leaf = rng.choice([e for e in changed.iter() if not len(e)])
        leaf.text = (leaf.text or "") + rng.choice("xy12=")
    return changed


def texts(math):
    """Those of all tokens in order, without the invisible ones."""
    return [t for t in math.itertext() if t.strip("\u2061\u2063 ")]


@pytest.mark.parametrize("latex", FORMULAS)
def test_every_construct_of_the_printer_is_read_back(latex):
    assert tokens_of_latex(latex) == tokens_of_mathml(fromstring(mathml(latex)))


@pytest.mark.parametrize("latex", FORMULAS)
def test_a_planted_loss_is_seen(latex):
    """Every damage is refused, but for those that change no token: spaces, and rows that hold nothing else."""
    rng, math = random.Random(0), fromstring(mathml(latex))
    seen = 0
    for _ in range(200):
        changed = damaged(math, rng)
        try:
            require_faithful(latex, changed)
        except UnfaithfulError:
            seen += 1
        else:
            assert texts(changed) == texts(math), tostring(changed, encoding="unicode")
    assert seen > 140


@pytest.mark.parametrize(
    ("latex", "wrong"),
    [
        ("x", "<math><mi mathvariant='normal'>x</mi></math>"),
        (r"\mathrm{x}", "<math><mi>x</mi></math>"),
        ("x_{i}", "<math><mi>x</mi><mi>i</mi></math>"),
        ("x_{i}", "<math><msup><mi>x</mi><mi>i</mi></msup></math>"),
        (r"\frac{1}{2}", "<math><mfrac displaystyle='false'><mn>1</mn><mn>2</mn></mfrac></math>"),
        (r"\left(x\right)", "<math><mo stretchy='false'>(</mo><mi>x</mi><mo stretchy='false'>)</mo></math>"),
        (r"\mathbf{R}", "<math><mi mathvariant='normal'>R</mi></math>"),
        (r"\dot{x}", "<math><mi>x</mi></math>"),
        (r"\operatorname{layer-norm}", "<math><mi>layer\u2212norm</mi></math>"),
    ],
)
def test_another_look_is_another_formula(latex, wrong):
    with pytest.raises(UnfaithfulError):
        require_faithful(latex, fromstring(wrong))


def test_message_says_what_where_found_and_needed():
    with pytest.raises(UnfaithfulError) as caught:
        require_faithful("x + y", fromstring("<math><mi>x</mi><mo>+</mo><mi>z</mi></math>"))
    assert str(caught.value) == (
        "the MathML of x + y differs from it at token 3: found 'italic z', needed 'italic y'; mend proofs/render/site/mathml.py"
    )


def test_an_unknown_element_is_refused():
    math = Element("math")
    math.append(Element("mphantom"))
    with pytest.raises(UnfaithfulError, match="found <mphantom> in MathML"):
        require_faithful("x", math)


def test_latex_that_cannot_be_read_is_an_error():
    with pytest.raises(RenderError, match=r"math-core cannot read \\nonsense"):
        mathml(r"\nonsense{x}")


@pytest.mark.slow
def test_every_formula_of_the_catalogue_is_read_back():
    """`mathml` raises otherwise."""
    formulas = {f for c in all_claims() for f in formulas_of(page(c.theorem, Latex))}
    assert len(formulas) > 4000
    assert all(mathml(f).startswith("<math") for f in formulas)
