"""Right layers of a decoder pass in whatever order they are evaluated; wrong ones do not, and are told what is wrong."""

import numpy as np
import pytest

from numeric.checker import Probe, check
from numeric.checker.contracts import contract_named
from numeric.checker.contracts._decoder_layer_probes import inputs
from numeric.checker.formats import FORMATS, precision_of
from numeric.checker.rounding import allowance

from .plain_layers import RIGHT

slow = pytest.mark.slow
CONTRACT = contract_named("decoder_layer")
EVERY_DTYPE = ["float64", *(pytest.param(dtype, marks=slow) for dtype in ("float32", "float16", "bfloat16"))]
FEW = ("generic*draw 0",)
SETTING = {"heads": 2, "mask": None, "memory_mask": None, "activation": "relu", "order": "post", "eps": 1e-5}


def own(*arguments, **options):
    return CONTRACT.layer(*CONTRACT.arrays(arguments), **{**SETTING, **options})[0]


def own_backward(dy, *arguments, **options):
    return CONTRACT.packed(CONTRACT.layer(*CONTRACT.arrays(arguments), **{**SETTING, **options})[1](dy))


@pytest.mark.parametrize("dtype", EVERY_DTYPE)
@pytest.mark.parametrize("name", [*list(RIGHT)[:2], *(pytest.param(each, marks=slow) for each in list(RIGHT)[2:])])
def test_every_right_order_of_evaluation_passes(name, dtype):
    report = check("decoder_layer", RIGHT[name].decoder_layer, adapter="numpy", dtype=dtype, probes=FEW)
    report.raise_if_failed()
    assert 0.001 < report.finding("values").evidence["worst"]["ratio"] < 1


@slow
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("name", RIGHT)  # varies first: at a probe, bound and reference are computed once
def test_every_right_order_passes_a_whole_run(name, dtype, seed):
    check("decoder_layer", RIGHT[name].decoder_layer, adapter="numpy", dtype=dtype, seed=seed).raise_if_failed()


@slow
@pytest.mark.parametrize("dtype", EVERY_DTYPE)
def test_the_gradients_of_our_own_layer_pass(dtype):
    report = check(
        "decoder_layer", own, backward=own_backward, adapter="numpy", dtype=dtype, probes=("generic*draw 1",)
    )
    report.raise_if_failed()
    assert 0.05 < report.finding("gradients").evidence["worst"]["ratio"] < 1


@slow
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_every_size_passes(dtype):
    rng = np.random.default_rng(8)
    for batch, n, m, d, f, heads in (
        (1, 1, 1, 1, 1, 1),
        (1, 2, 5, 4, 2, 1),
        (2, 7, 3, 16, 32, 4),
        (1, 3, 5, 64, 128, 8),
    ):
        arrays = inputs(rng, FORMATS[dtype], SETTING, batch, n, m, d, f)
        probes = [Probe(f"generic {n, m, d, order}", arrays, {"order": order}) for order in ("post", "pre")]
        for forward, backward in ((own, own_backward), (RIGHT["side_by_side"].decoder_layer, None)):
            check(
                "decoder_layer",
                forward,
                backward=backward,
                adapter="numpy",
                dtype=dtype,
                options={"heads": heads},
                probes=probes,
            ).raise_if_failed()


@slow
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("order", ["post", "pre"])
def test_twice_the_bound_in_one_entry_is_seen(dtype, order):
    model = precision_of(dtype)
    probe = Probe("planted", inputs(np.random.default_rng(3), FORMATS[dtype], SETTING, 2, 4, 3), {"order": order})

    def off(array, bound, factor):
        wrong = array.astype(np.float64)
        wrong.flat[5] += factor * allowance(bound).flat[5]
        return wrong.astype(array.dtype)

    def verdicts(factor):
        def forward(*arguments, **chosen):
            floats = CONTRACT.as_floats(CONTRACT.arrays(arguments))
            return off(own(*arguments, **chosen), CONTRACT.bound(model, *floats, **{**SETTING, **chosen}), factor)

        def backward(dy, *arguments, **chosen):
            floats = CONTRACT.as_floats(CONTRACT.arrays(arguments))
            bounds = CONTRACT.gradient_bounds(model, dy.astype(np.float64), *floats, **{**SETTING, **chosen})
            dx, dmemory, *others = own_backward(dy, *arguments, **chosen)
            return dx, off(dmemory, bounds[1], factor), *others

        report = check(
            "decoder_layer",
            forward,
            backward=backward,
            adapter="numpy",
            dtype=dtype,
            options={"order": order},
            probes=[probe],
        )
        return report.finding("values").verdict, report.finding("gradients").verdict

    assert verdicts(0.0) == ("pass", "pass")
    # at one mild probe in float32 a variant may be as near as this
    assert set(verdicts(2.0)) <= {"fail", "variant"}


@slow
def test_one_in_1e10_is_seen_in_float64():
    def wrong(*arguments, **options):
        y = own(*arguments, **options)
        return y * np.where(np.arange(y.shape[-1]) == 1, 1 + 1e-10, 1.0)

    assert check("decoder_layer", wrong, adapter="numpy", probes=FEW).verdict == "fail"


@slow
def test_a_layer_that_is_not_causal_is_a_variant():
    torch = pytest.importorskip("torch", reason="the layer is PyTorch's")
    from numeric.checker.subjects import _torch_modules

    def bare(x, memory, own, across, *rest, heads=2, order="post"):
        """As nn.TransformerDecoderLayer is without a tgt_mask."""
        return _torch_modules.decoder_layer(x, memory, own, across, *rest, heads, None, None, "relu", order)

    left_out = _torch_modules._left_out
    torch.set_num_threads(1)
    try:
        _torch_modules._left_out = lambda mask, causal, *others: left_out(mask, False, *others)
        report = check("decoder_layer", bare, adapter="torch", probes=("generic*draw 0", "causality*"))
    finally:
        _torch_modules._left_out = left_out
    assert (report.verdict, report.mistakes[0]) == ("variant", "decoder_layer.not_causal")
    assert "np.tri" in report.finding("values").message
    assert report.finding("causality").verdict == report.finding("gradients").verdict == "variant"


def test_the_matrices_come_as_tuples():
    arrays = inputs(np.random.default_rng(3), FORMATS["float64"], SETTING, 2, 4, 3)
    arguments = CONTRACT.arguments(arrays)
    assert [len(each) for each in arguments[2:4]] == [4, 4] and len(arguments) == 14
    assert all(one is other for one, other in zip(CONTRACT.arrays(arguments), arrays, strict=True))
    assert "(self.w_q, self.w_k, self.w_v, self.w_o), (cross.w_q" in CONTRACT.signature
    with pytest.raises(ValueError, match=r"the matrices in two tuples of 4"):
        CONTRACT.gradients_of(arrays)
    flat = check(
        "decoder_layer",
        own,
        backward=lambda dy, *rest: CONTRACT.arrays(own_backward(dy, *rest)),
        adapter="numpy",
        probes=FEW,
    )
    assert "packed otherwise than its inputs" in flat.finding("calls").message


def test_masks_of_both_attentions_may_empty_a_row():
    mask, memory_mask = np.eye(4, dtype=bool), np.ones((4, 3), dtype=bool)
    mask[2, 2], memory_mask[1] = False, False
    arrays = inputs(np.random.default_rng(3), FORMATS["float64"], SETTING, 2, 4, 3)
    probe = Probe("empty rows", arrays, {"mask": mask, "memory_mask": memory_mask})

    def with_nan(*arguments, **options):
        return np.where(np.isin(np.arange(4), (1, 2))[:, None], np.nan, own(*arguments, **options))

    report = check("decoder_layer", with_nan, backward=own_backward, adapter="numpy", probes=[probe])
    assert report.verdict == "pass", str(report)
    assert "a fully masked row gives NaN" in report.finding("values").message
