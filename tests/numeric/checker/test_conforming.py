"""Accepting variants makes no pass of what is neither right nor one of them, and none of them fails."""

from functools import partial

import numpy as np
import pytest

from numeric.checker import Probe, check
from numeric.checker.contracts import contract_named, contract_names
from numeric.checker.contracts._elementwise import TAIL
from numeric.checker.enclosure import NoEnclosure, References
from numeric.checker.formats import FORMATS, precision_of
from numeric.checker.kill_matrix import planted
from numeric.checker.mistake import Instability, Variant
from numeric.checker.rounding import allowance
from numeric.layers import activations

slow = pytest.mark.slow
CONTRACTS = ("encoder_layer", "layer_norm", "softmax", "gelu", "scaled_dot_product_attention", "rotary", "add_and_norm")
TIMES = (2, 4, 10, 100)  # allowances
VARIANTS = [
    (name, each)
    for name in contract_names()
    for each in contract_named(name).mistakes
    if isinstance(each, Variant) and each.of == "values"
]


def off_by(times, values, allowed):
    """One entry off by so many allowances: the one whose allowance is the median."""
    changed = np.array(values, np.float64)
    order = np.argsort(np.where(np.isfinite(allowed), allowed, np.inf), axis=None)
    bounded = int(np.isfinite(allowed).sum())
    if bounded:
        place = np.unravel_index(order[bounded // 2], allowed.shape)
        changed[place] += times * allowed[place]
    return changed.astype(values.dtype)


def implemented(name, dtype, error, at=None, variant=None):
    """Forward and backward, right or a variant's, but for what `error` makes of values and allowances of the output; `at` is the
    only probe that shows it. The first gradient has it where it is the right one's."""
    contract, model = contract_named(name), precision_of(dtype)
    defaults = {each.name: each.default for each in contract.options}
    as_variant = planted(contract, variant, dtype)[0] if variant else None

    def forward(*arguments, **options):
        inputs, settings = contract.arrays(arguments), {**defaults, **options}
        values = as_variant(*arguments, **options) if as_variant else contract.layer(*inputs, **settings)[0]
        if at and not all(
            np.array_equal(given, np.asarray(there).astype(given.dtype)) if isinstance(given, np.ndarray) else True
            for given, there in zip(inputs, at.inputs, strict=True)
        ):
            return values
        return error(values, allowance(contract.bound(model, *contract.as_floats(inputs), **settings)))

    def backward(dy, *arguments, **options):
        inputs, settings = contract.arrays(arguments), {**defaults, **options}
        first, *others = contract.layer(*inputs, **settings)[1](dy)
        bounds = contract.gradient_bounds(model, dy.astype(np.float64), *contract.as_floats(inputs), **settings)
        return contract.packed([error(first, allowance(bounds[0])), *others])

    return forward, backward


def judged(name, forward, dtype, **settings):
    with np.errstate(all="ignore"):
        return check(name, forward, adapter="numpy", dtype=dtype, accept=contract_named(name).variants, **settings)


def require_unnamed(report, kind):
    """A right formula that lost its digits it may be: an error of one entry at one probe does not tell."""
    assert report.finding(kind).verdict == report.verdict == "fail", str(report)
    known = {each.id: each for each in contract_named(report.contract).mistakes}
    assert all(isinstance(known[each], Instability) for each in report.mistakes), str(report)


def thinned(*fast):
    """Those of a few contracts by default, the others with --all."""
    return [
        pytest.param(name, dtype, marks=() if name in fast else slow, id=f"{name}-{dtype}")
        for name in CONTRACTS
        for dtype in ("float32", "bfloat16")
    ]


@pytest.mark.parametrize("times", TIMES)
@pytest.mark.parametrize(("name", "dtype"), thinned("gelu"))
def test_one_entry_off_is_no_variant(name, dtype, times):
    forward, _ = implemented(name, dtype, partial(off_by, times))
    require_unnamed(judged(name, forward, dtype), "values")


@pytest.mark.parametrize("times", TIMES)
@pytest.mark.parametrize(("name", "dtype"), thinned("gelu"))
def test_one_entry_off_at_a_mild_probe_is_no_variant(name, dtype, times):
    """Of numbers a tenth as large as usual, at which formulas differ little."""
    contract = contract_named(name)
    settings = {each.name: each.default for each in contract.options}
    for draw in range(3):
        probe = contract.generic(np.random.default_rng(draw), FORMATS[dtype], settings)[0]
        pairs = zip(probe.inputs, contract.inputs, strict=True)
        mild = Probe("mild", tuple(value / 10 if each.floating else value for value, each in pairs), probe.options)
        forward, _ = implemented(name, dtype, partial(off_by, times), mild)
        for probes in ([mild], [mild, "generic*draw 0"]):
            report = judged(name, forward, dtype, probes=probes)
            require_unnamed(report, "values")
            assert report.finding("values").evidence["failed_probes"] == ["mild"]


@pytest.mark.parametrize("name", [pytest.param(each, marks=() if each == "gelu" else slow) for each in CONTRACTS])
def test_a_relative_error_everywhere_is_no_variant(name):
    """In 16 bits one of 1e-4 is less than rounding."""
    forward, _ = implemented(name, "float32", lambda values, allowed: values * np.float32(1 + 1e-4))
    require_unnamed(judged(name, forward, "float32"), "values")


@pytest.mark.parametrize("times", TIMES)
@pytest.mark.parametrize(("name", "dtype"), thinned("gelu"))
def test_a_gradient_off_in_one_entry_is_no_variant(name, dtype, times):
    forward, _ = implemented(name, dtype, partial(off_by, 0))
    _, backward = implemented(name, dtype, partial(off_by, times))
    require_unnamed(judged(name, forward, dtype, backward=backward), "gradients")


SOME = ("gelu.sigmoid", "layer_norm.one_plus_gain", "rotary.half_split", "swiglu.gate_second")


@pytest.mark.parametrize(
    ("name", "known"),
    [
        pytest.param(name, known, id=known.id, marks=() if known.id in SOME else slow)
        for name, known in VARIANTS
        if name != "transformer"
    ],
)
def test_an_error_in_a_variant_is_seen(name, known):
    """Its rounding is bounded less sharply than that of the right one: here ten allowances of that are beyond it."""
    for times, verdict in ((0, "pass"), (10, "fail")):
        forward, _ = implemented(name, "float32", partial(off_by, times), variant=known)
        report = judged(name, forward, "float32")
        assert report.verdict == verdict, str(report)
    told = report.finding("values").message
    assert known.id not in report.mistakes or f"but not within rounding.\nFrom {known.id} it is furthest at" in told


def tanh_gelu(x):
    return activations.forward("gelu_tanh", x)[0]


def backward_of_tanh(dy, x, off=0.0):
    [dx] = activations.backward(dy, activations.forward("gelu_tanh", x)[1])
    dx[(0,) * dx.ndim] += dx.dtype.type(off)
    return dx


def as_autograd_has_it(dy, x):
    """With 1 - tanh^2, in the dtype throughout."""
    kind = x.dtype.type
    factor, cubic = kind((2 / np.pi) ** 0.5), kind(0.044715)
    t = np.tanh(factor * (x + cubic * x * x * x))
    slope = kind(0.5) * x * (kind(1) - t * t) * (factor * (kind(1) + kind(3) * cubic * x * x))
    return dy * (kind(0.5) * (kind(1) + t) + slope)


@pytest.mark.parametrize("dtype", FORMATS)
def test_gradients_of_a_variant_are_judged_entry_by_entry(dtype):
    settings = {"dtype": dtype, "accept": ("gelu.tanh",), "probes": ("generic*",)}
    for backward in (backward_of_tanh, as_autograd_has_it):
        report = check("gelu", tanh_gelu, backward=backward, **settings)
        assert report.verdict == "pass", str(report)
    # about 1 is what these slopes are, so that this is a hundred units roundoff of them
    backward = partial(backward_of_tanh, off=100 * FORMATS[dtype].unit)
    report = check("gelu", tanh_gelu, backward=backward, **settings)
    assert report.finding("gradients").verdict == report.verdict == "fail", str(report)


def test_gradients_off_by_more_than_rounding_are_told_of():
    backward = partial(backward_of_tanh, off=2e-14)
    report = check("gelu", tanh_gelu, backward=backward, accept=("gelu.tanh",), probes=("generic*draw 0",))
    gradients = report.finding("gradients")
    assert gradients.message.startswith(
        "as the output: they are the gradients of gelu.tanh, but not within rounding.\n"
        "From gelu.tanh it is furthest at index (0, 0"
    )
    assert (gradients.verdict, gradients.mistake, report.verdict) == ("fail", "gelu.tanh", "fail")


@slow
def test_of_variants_that_do_equally_well_the_accepted_one_is_named():
    """In bfloat16 post-norm differs by less than rounding from post-norm with norms before the sublayers as well."""
    [both] = [known for _, known in VARIANTS if known.id == "encoder_layer.both_norms"]
    forward, _ = implemented("encoder_layer", "bfloat16", partial(off_by, 0), variant=both)
    for accepted in ((), ("encoder_layer.both_norms",), ("encoder_layer.post_norm",)):
        report = check("encoder_layer", forward, adapter="numpy", dtype="bfloat16", accept=accepted)
        assert report.verdict == ("pass" if accepted else "variant"), str(report)
        assert set(report.mistakes[:1]) >= set(accepted)


def test_where_there_is_no_exact_reference_nothing_is_accepted(monkeypatch):
    of_values = References.value

    def unknown_at_the_tail(self, contract, inputs, *others):
        if np.ravel(inputs[0])[0] == TAIL[0]:
            raise NoEnclosure
        return of_values(self, contract, inputs, *others)

    settings = {"accept": ("gelu.tanh",), "probes": ("generic*draw 0", "negative tail")}
    check("gelu", tanh_gelu, **settings).raise_if_failed()
    monkeypatch.setattr(References, "value", unknown_at_the_tail)
    report = check("gelu", tanh_gelu, **settings)
    assert report.finding("values").verdict == report.verdict == "fail"
    assert "Not compared, since there is no exact reference: 'negative tail'." in report.finding("values").message


@slow
def test_gradients_follow_an_accepted_variant_which_the_output_is_as_well_as_right():
    """In bfloat16 a whole layer is pre-norm within rounding even where it is not; its gradients are not."""
    contract = contract_named("decoder_layer")
    defaults = {each.name: each.default for each in contract.options}

    def layer(arguments, options):
        return contract.layer(*contract.arrays(arguments), **{**defaults, **options, "order": "pre"})

    def forward(*arguments, **options):
        return layer(arguments, options)[0]

    def backward(dy, *arguments, **options):
        return contract.packed(layer(arguments, options)[1](dy))

    settings = {"backward": backward, "adapter": "numpy", "dtype": "bfloat16"}
    report = check("decoder_layer", forward, accept=("decoder_layer.pre_norm",), **settings)
    assert (report.finding("values").verdict, report.finding("gradients").verdict) == ("pass", "variant"), str(report)
    assert report.verdict == "pass"
    assert check("decoder_layer", forward, accept=("decoder_layer.post_norm",), **settings).verdict == "fail"


@slow
@pytest.mark.parametrize("dtype", ["float64", "bfloat16"])
def test_where_a_variant_has_no_reference_nothing_is_asked_of_it(dtype):
    """Of more queries than keys the first keep none, aligned lower right: NaN, here and in the gradients that come through them."""
    torch = pytest.importorskip("torch", reason="gradients by its autograd")

    def lower_right(q, k, v, mask=None, causal=False):
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        if mask is not None:
            kept = mask if mask.ndim == 2 else mask.reshape(len(mask), *(1,) * (scores.ndim - 3), *mask.shape[1:])
            scores = scores.masked_fill(~kept, -torch.inf)
        if causal:
            triangle = torch.ones(scores.shape[-2:], dtype=torch.bool).tril(scores.shape[-1] - scores.shape[-2])
            scores = scores.masked_fill(~triangle, -torch.inf)
        return torch.softmax(scores, -1) @ v

    name = "scaled_dot_product_attention"
    report = check(name, lower_right, adapter="torch", dtype=dtype, accept=(f"{name}.lower_right",))
    assert report.verdict == "pass", str(report)
    assert "NaN at" in report.finding("values").message and "NaN at" in report.finding("gradients").message
    assert report.finding("gradients").mistake == f"{name}.lower_right"

    def nan_elsewhere(q, k, v, mask=None, causal=False):
        y = lower_right(q, k, v, mask, causal)
        return torch.where(torch.arange(y.shape[-2])[:, None] == y.shape[-2] - 1, y * torch.nan, y) if causal else y

    assert check(name, nan_elsewhere, adapter="torch", dtype=dtype, accept=(f"{name}.lower_right",)).verdict == "fail"


def test_right_values_with_the_gradients_of_a_variant_are_none():
    def gelu(x):
        return activations.forward("gelu", x)[0]

    report = check("gelu", gelu, backward=backward_of_tanh, accept=("gelu.tanh",), probes=("generic*",))
    assert report.finding("values").verdict == "pass"
    assert report.finding("gradients").verdict == report.verdict == "fail"
    assert report.mistakes == ("gelu.gradient_of_tanh",)


def test_a_variant_that_is_the_right_function_at_the_options_asked_for_is_none():
    """Post-norm was asked for, and post-norm is accepted whatever was asked for: an error is an error."""
    forward, _ = implemented("add_and_norm", "float32", partial(off_by, 3))
    report = judged("add_and_norm", forward, "float32", options={"order": "post"})
    require_unnamed(report, "values")
