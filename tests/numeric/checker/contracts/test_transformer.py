"""Right Transformers pass in whatever order they are evaluated; wrong ones do not, and are told what is wrong."""

import numpy as np
import pytest

from numeric.checker import Probe, check
from numeric.checker.contracts import contract_named
from numeric.checker.contracts._transformer_parameters import FINAL, NAMES, in_order, present
from numeric.checker.contracts._transformer_probes import inputs
from numeric.checker.formats import FORMATS, precision_of
from numeric.checker.rounding import allowance
from numeric.config import Config
from numeric.initialisation import initialise
from numeric.model import logits
from numeric.parameters import flatten, unflatten

from .plain_layers import RIGHT

slow = pytest.mark.slow
CONTRACT = contract_named("transformer")
EVERY_DTYPE = ["float64", *(pytest.param(dtype, marks=slow) for dtype in ("float32", "float16", "bfloat16"))]
FEW = ("generic*draw 0",)
SETTING = {"heads": 2, "src_mask": None, "order": "post", "eps": 1e-5}


def own(src, tgt, params, **options):
    return CONTRACT.layer(src, tgt, *in_order(params), **{**SETTING, **options})[0]


def own_backward(dz, src, tgt, params, **options):
    return present(CONTRACT.layer(src, tgt, *in_order(params), **{**SETTING, **options})[1](dz))


@pytest.mark.parametrize("dtype", EVERY_DTYPE)
@pytest.mark.parametrize("name", ["plain", *(pytest.param(each, marks=slow) for each in list(RIGHT)[1:])])
def test_every_right_order_of_evaluation_passes(name, dtype):
    report = check("transformer", RIGHT[name].transformer, adapter="numpy", dtype=dtype, probes=FEW)
    report.raise_if_failed()
    assert 0.001 < report.finding("values").evidence["worst"]["ratio"] < 1


@slow
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("name", RIGHT)  # varies first: at a probe, bound and reference are computed once
def test_every_right_order_passes_a_whole_run(name, dtype, seed):
    check("transformer", RIGHT[name].transformer, adapter="numpy", dtype=dtype, seed=seed).raise_if_failed()


@slow
@pytest.mark.parametrize("dtype", EVERY_DTYPE)
def test_the_gradients_of_our_own_layers_pass(dtype):
    report = check("transformer", own, backward=own_backward, adapter="numpy", dtype=dtype, probes=FEW)
    report.raise_if_failed()
    assert 0.02 < report.finding("gradients").evidence["worst"]["ratio"] < 1


@slow
def test_our_own_model_passes():
    """With its own order of steps, for sources whose token 0 is padding."""

    def forward(src, tgt, params, order="post", eps=1e-5, heads=2):
        table = params["embedding.table"]
        hidden = len(params["encoder.layers.0.feed_forward.b_1"])
        # a token more, for padding, which occurs nowhere
        padded = {**params, "embedding.table": np.concatenate([np.zeros((1, table.shape[1])), table])}
        config = Config("encoder-decoder", len(table) + 1, table.shape[1], hidden, heads, 2, norm=order, eps=eps)
        return logits(unflatten(padded), src + 1, tgt + 1, config)[..., 1:]

    check("transformer", forward, adapter="numpy", probes=FEW).raise_if_failed()


def test_its_parameters_are_those_of_our_model():
    for order in ("post", "pre"):
        drawn = initialise(Config("encoder-decoder", 7, 4, 5, 2, 2, norm=order), 0)
        arrays = inputs(np.random.default_rng(0), FORMATS["float64"], {**SETTING, "order": order}, 2, 4, 3)[2:]
        named = present(arrays)
        assert {name: each.shape for name, each in named.items()} == {
            n: each.shape for n, each in flatten(drawn).items()
        }
        assert set(NAMES) - set(named) == (set(FINAL) if order == "post" else set())
        assert all(np.array_equal(one, other) for one, other in zip(in_order(named), arrays, strict=True))
    assert CONTRACT.signature.startswith("transformer(src, tgt, params: dict, *, heads=2, src_mask=None")


def test_a_dict_of_gradients_with_other_names_is_told_of():
    with pytest.raises(ValueError, match=r"missing is 'embedding.table', 61 such in all"):
        in_order({"table": np.zeros(3)})
    with pytest.raises(ValueError, match=r"needed one dict"):
        CONTRACT.gradients_of([np.zeros(3)])

    def backward(dz, src, tgt, params, **options):
        found = own_backward(dz, src, tgt, params, **options)
        return {name.replace("W_1", "w1"): each for name, each in found.items()}

    report = check("transformer", own, backward=backward, adapter="numpy", probes=FEW)
    assert "missing is 'encoder.layers.0.feed_forward.W_1', 4 such in all" in report.finding("calls").message


@slow
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("order", ["post", "pre"])
def test_twice_the_bound_in_one_entry_is_seen(dtype, order):
    model, options = precision_of(dtype), {**SETTING, "order": order}
    arrays = inputs(np.random.default_rng(3), FORMATS[dtype], options, 2, 4, 3)
    probe = Probe("planted", arrays, {"order": order})

    def off(array, bound, factor):
        wrong = array.astype(np.float64)
        wrong.flat[5] += factor * allowance(bound).flat[5]
        return wrong.astype(array.dtype)

    def floats(src, tgt, params):
        return CONTRACT.as_floats((src, tgt, *in_order(params)))

    def verdicts(factor):
        def forward(*arguments, **chosen):
            bound = CONTRACT.bound(model, *floats(*arguments), **{**SETTING, **chosen})
            return off(own(*arguments, **chosen), bound, factor)

        def backward(dz, *arguments, **chosen):
            bounds = CONTRACT.gradient_bounds(
                model, dz.astype(np.float64), *floats(*arguments), **{**SETTING, **chosen}
            )
            found = own_backward(dz, *arguments, **chosen)
            return {**found, NAMES[0]: off(found[NAMES[0]], bounds[0], factor)}

        report = check(
            "transformer",
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


def test_one_in_1e10_is_seen_in_float64():
    def wrong(*arguments, **options):
        z = own(*arguments, **options)
        return z * np.where(np.arange(z.shape[-1]) == 1, 1 + 1e-10, 1.0)

    assert check("transformer", wrong, adapter="numpy", probes=FEW).verdict == "fail"


@slow
def test_a_new_nn_transformer_has_norms_of_its_own_after_post_norm():
    torch = pytest.importorskip("torch", reason="the module is PyTorch's")
    from numeric.checker.subjects import _torch_modules

    def forward(src, tgt, params, heads=2):
        width = params["embedding.table"].shape[-1]
        plain = {"gain": torch.ones(width, dtype=torch.float64), "bias": torch.zeros(width, dtype=torch.float64)}
        extra = {f"{stack}.norm.{name}": each for stack in ("encoder", "decoder") for name, each in plain.items()}
        return _torch_modules.transformer(src, tgt, {**params, **extra}, heads)

    report = check("transformer", forward, adapter="torch", options={"order": "post"}, probes=FEW)
    assert (report.verdict, report.mistakes[0]) == ("variant", "transformer.norms_after_post")
    assert "set encoder.norm and decoder.norm to None" in report.finding("values").message


@slow
def test_a_factor_of_the_embeddings_is_fitted():
    def forward(src, tgt, params, heads=2):
        """Times 3, where sqrt(d) is 2, and read out by the table as it is."""
        scaled = {**params, "embedding.table": 1.5 * params["embedding.table"]}
        return RIGHT["plain"].transformer(src, tgt, scaled, heads) / 1.5

    report = check("transformer", forward, adapter="numpy", options={"order": "post"}, probes=FEW)
    assert "factor of the embeddings = 3 gives" in report.finding("values").message


def test_autograd_need_not_reach_norms_that_are_not_there():
    torch = pytest.importorskip("torch", reason="autograd is PyTorch's")
    from numeric.checker.adapters import adapter_named
    from numeric.checker.subject import Subject
    from numeric.checker.subjects._torch_modules import transformer

    arrays = inputs(np.random.default_rng(3), FORMATS["float64"], SETTING, 2, 4, 3)
    subject = Subject(CONTRACT, transformer, None, adapter_named("torch"), FORMATS["float64"])
    found = subject.gradients(np.ones((2, 3, 7)), arrays, SETTING, "contiguous")
    assert [each.shape for each in found] == [each.shape for each in arrays[2:]]
    assert all(each.any() or not each.size for each in found)
    assert torch.is_grad_enabled()
