"""PyTorch's attention, in its kernels and written out, with its own autograd, never exceeds the bound in any dtype.

Run with `-s` to see the largest ratio of error to allowance of each.
"""

from time import process_time

import numpy as np
import pytest

from numeric.checker import Probe, check

torch = pytest.importorskip("torch", reason="all subjects are PyTorch's")

NAME, HEADS = "scaled_dot_product_attention", "multi_head_attention"
slow = pytest.mark.slow
DTYPES = ("float64", "float32", "float16", "bfloat16")


def kept(mask, causal, q, k):
    """None, or what broadcasts to the scores of q (..., n_q, d) and k."""
    if not causal:
        return mask
    triangle = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).tril()
    return triangle if mask is None else mask & triangle


def fused(q, k, v, mask=None, causal=False):
    keep = kept(mask, causal, q, k)
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=keep)


def fused_causal(q, k, v, causal=False):
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)


def math_backend(q, k, v, mask=None, causal=False):
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        return fused(q, k, v, mask, causal)


def masked_scores(q, k, mask, causal, fill):
    s = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    keep = kept(mask, causal, q, k)
    return s if keep is None else s.masked_fill(~keep, fill(s))


def least(s):
    return torch.finfo(s.dtype).min


def written_out(q, k, v, mask=None, causal=False):
    return masked_scores(q, k, mask, causal, least).softmax(-1) @ v


def composite_softmax(q, k, v, mask=None, causal=False):
    s = masked_scores(q, k, mask, causal, least)
    p = (s - s.amax(-1, keepdim=True)).exp()
    return p / p.sum(-1, keepdim=True) @ v


def normalised_last(q, k, v, mask=None, causal=False):
    s = masked_scores(q, k, mask, causal, least)
    p = (s - s.amax(-1, keepdim=True)).exp()
    return p @ v / p.sum(-1, keepdim=True)


def einsum(q, k, v, mask=None, causal=False):
    s = torch.einsum("...ia,...ja->...ij", q * q.shape[-1] ** -0.5, k)
    keep = kept(mask, causal, q, k)
    s = s if keep is None else torch.where(keep, s, least(s))
    return torch.einsum("...ij,...jc->...ic", s.softmax(-1), v)


def baddbmm(q, k, v, mask=None, causal=False):
    """One call for scale, product and mask, as in older code."""
    keep = kept(mask, causal, q, k)
    flat = [each.expand(*q.shape[:-2], *each.shape[-2:]).reshape(-1, *each.shape[-2:]) for each in (q, k, v)]
    shape = (*q.shape[:-1], k.shape[-2])
    bias = torch.zeros(shape, dtype=q.dtype)
    bias = bias if keep is None else bias.masked_fill(~keep, least(q))
    s = torch.baddbmm(bias.reshape(-1, *shape[-2:]), flat[0], flat[1].transpose(-1, -2), alpha=q.shape[-1] ** -0.5)
    return (s.softmax(-1) @ flat[2]).reshape(*q.shape[:-1], v.shape[-1])


ATTENTION = [fused, fused_causal, math_backend, written_out, composite_softmax, normalised_last, einsum, baddbmm]


def heads_of(z, count):
    return z.unflatten(-1, (count, -1)).transpose(-2, -3)


def multi_head(attention):
    def forward(x_q, x_kv, w_q, w_k, w_v, w_o, heads=2, kv_heads=None, mask=None, causal=False):
        groups = kv_heads or heads
        q, k, v = heads_of(x_q @ w_q, heads), heads_of(x_kv @ w_k, groups), heads_of(x_kv @ w_v, groups)
        k, v = (each.repeat_interleave(heads // groups, 1) for each in (k, v))
        keep = mask if mask is None or mask.ndim == 2 else mask[:, None]
        return attention(q, k, v, keep, causal).transpose(-2, -3).flatten(-2) @ w_o

    forward.__name__ = f"multi_head_{attention.__name__}"
    return forward


def module(x_q, x_kv, w_q, w_k, w_v, w_o, heads=2, mask=None, causal=False):
    """nn.MultiheadAttention, with the weights as they are: it keeps them transposed."""
    weights = torch.cat([w_q, w_k, w_v], 1).T
    keep = kept(mask, causal, x_q, x_kv)
    if keep is not None:
        keep = ~keep if keep.ndim == 2 else ~keep.repeat_interleave(heads, 0)
    zero = torch.zeros(3 * x_q.shape[-1], dtype=x_q.dtype)
    y, _ = torch.nn.functional.multi_head_attention_forward(
        x_q.transpose(0, 1), x_kv.transpose(0, 1), x_kv.transpose(0, 1), x_q.shape[-1], heads, weights, zero,
        None, None, False, 0.0, w_o.T, zero[: x_q.shape[-1]], attn_mask=keep, need_weights=False,
    )  # fmt: skip
    return y.transpose(0, 1)


def head_by_head(x_q, x_kv, w_q, w_k, w_v, w_o, heads=2, kv_heads=None, mask=None, causal=False):
    """The sum over the heads of what each gives, as in 'concat then project is a sum over heads'."""
    groups = kv_heads or heads
    columns = [each.chunk(count, -1) for each, count in ((w_q, heads), (w_k, groups), (w_v, groups))]
    rows, total = w_o.chunk(heads, 0), 0
    for head in range(heads):
        group = head // (heads // groups)
        q, k, v = x_q @ columns[0][head], x_kv @ columns[1][group], x_kv @ columns[2][group]
        total = total + written_out(q, k, v, mask, causal) @ rows[head]
    return total


def projected_by_einsum(x_q, x_kv, w_q, w_k, w_v, w_o, heads=2, kv_heads=None, mask=None, causal=False):
    groups = kv_heads or heads
    q = torch.einsum("bnd,dhw->bhnw", x_q, w_q.unflatten(-1, (heads, -1)))
    k, v = (torch.einsum("bnd,dgw->bgnw", x_kv, w.unflatten(-1, (groups, -1))) for w in (w_k, w_v))
    k, v = (each.repeat_interleave(heads // groups, 1) for each in (k, v))
    keep = mask if mask is None or mask.ndim == 2 else mask[:, None]
    return torch.einsum("bhnw,hwd->bnd", einsum(q, k, v, keep, causal), w_o.unflatten(0, (heads, -1)))


MULTI_HEAD = [*map(multi_head, (fused, math_backend, composite_softmax)), module, head_by_head, projected_by_einsum]
SUBJECTS = [*((NAME, each) for each in ATTENTION), *((HEADS, each) for each in MULTI_HEAD)]
DEFAULT = {("fused", "float32"), ("multi_head_fused", "float32")}


def cases():
    for contract, subject in SUBJECTS:
        for dtype in DTYPES:
            default = (subject.__name__, dtype) in DEFAULT
            yield pytest.param(
                contract, subject, dtype, marks=() if default else slow, id=f"{subject.__name__}-{dtype}"
            )


@pytest.mark.parametrize(("contract", "subject", "dtype"), list(cases()))
def test_the_bound_is_never_exceeded_nor_out_of_reach(contract, subject, dtype):
    ratios = {"values": [], "gradients": []}
    for seed in range(1 if (subject.__name__, dtype) in DEFAULT else 3):
        report = check(contract, subject, adapter="torch", dtype=dtype, seed=seed)
        report.raise_if_failed()
        for kind, found in ratios.items():
            found.append(report.finding(kind).evidence["worst"]["ratio"])
    for kind, found in ratios.items():
        print(f"{subject.__name__:28} {dtype:9} {kind:9} largest error / allowance {max(found):.3f}")
        assert 0.004 < max(found) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("sizes", [(1, 1, 1), (1, 300, 64), (64, 1, 5), (33, 257, 128), (1024, 40, 8), (40, 1024, 16)])
def test_sizes_from_one_to_a_thousand(sizes, dtype):
    n_q, n_k, d = sizes
    rng = np.random.default_rng(n_q)
    arrays = tuple(rng.standard_normal(shape) for shape in ((n_q, d), (n_k, d), (n_k, 5)))
    mask = rng.random((n_q, n_k)) < 0.7
    mask[:, 0] = True
    probes = ["generic*draw 0", Probe("large", arrays), Probe("large, masked", arrays, {"mask": mask, "causal": True})]
    for subject in (fused, composite_softmax):
        check(NAME, subject, adapter="torch", dtype=dtype, probes=probes).raise_if_failed()


@pytest.mark.slow
def test_eight_heads_of_512_tokens_get_their_exact_verdict_in_seconds():
    rng = np.random.default_rng(0)
    large = Probe("large", tuple(rng.standard_normal((8, 512, 64)) for _ in range(3)))
    start = process_time()
    report = check(NAME, fused, adapter="torch", dtype="float32", probes=[large])
    seconds = process_time() - start
    report.raise_if_failed()
    assert report.finding("gradients").evidence["probes"] == 3
    assert seconds < 40, "about 15 s on one core that others share; object arrays would take some minutes"


def test_softmax_of_minus_infinity_gives_nan_that_spoils_all_gradients():
    def naive(q, k, v, mask=None, causal=False):
        return masked_scores(q, k, mask, causal, lambda s: -torch.inf).softmax(-1) @ v

    report = check(NAME, naive, adapter="torch", probes=("generic*draw 0", "a fully masked row"))
    assert report.finding("values").verdict == "pass"
    assert report.finding("gradients").verdict == "fail"
    assert report.mistakes == (NAME + ".gradient_nan_of_masked_row",)
