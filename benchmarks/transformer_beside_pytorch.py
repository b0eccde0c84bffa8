"""Our layers beside PyTorch eager, forward and backward, on the same threads with the same weights; results compared.

    python benchmarks/transformer_beside_pytorch.py                 # encoder layer, decoder layer, whole model; float32, float64
    python benchmarks/transformer_beside_pytorch.py --only layers   # the encoder layer alone, the three shapes of the bar
    python benchmarks/transformer_beside_pytorch.py --only growth   # attention: time and memory as n grows

Runs are paired, ours and PyTorch's in turn, and the figure is the median of the ratios. `products` is the time that the matrix
products of the encoder layer alone take with np.matmul, in the same run. Both results are compared with ours in float64.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

THREADS = int(os.environ.get("BENCHMARK_THREADS", "2"))
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = str(THREADS)  # before NumPy and PyTorch start their threads

import numpy as np  # noqa: E402

from numeric import decoder, encoder  # noqa: E402
from numeric.layers import attention, blocked_attention, masking  # noqa: E402
from numeric.model import Config  # noqa: E402
from numeric.parameters import map_leaves  # noqa: E402
from numeric.torch_weights import from_decoder_layer, from_encoder_layer, from_transformer  # noqa: E402


class Shape(NamedTuple):
    B: int
    n: int
    d: int
    h: int
    d_ff: int

    def __str__(self) -> str:
        return f"({', '.join(map(str, self))})"


BAR = (Shape(8, 128, 512, 8, 2048), Shape(2, 512, 512, 8, 2048), Shape(4, 32, 64, 4, 128))
LAYERS_OF_MODEL = 2
GROWTH = (512, 1024, 2048, 4096, 8192, 16384)
WIDTH_OF_HEAD = 64

Run = Callable[[], Any]


class Case(NamedTuple):
    """Both sides as calls that return the output and the gradient of the input; and what the products alone take."""

    name: str
    ours: Run
    theirs: Run
    reference: Run  # ours in float64
    products: Run | None


def cases(shape: Shape, dtype: str, only_layers: bool) -> Iterator[Case]:
    yield _encoder_layer(shape, dtype)
    if not only_layers:
        yield _decoder_layer(shape, dtype)
        yield _model(shape, dtype)


def _encoder_layer(shape: Shape, dtype: str) -> Case:
    import torch

    torch.manual_seed(0)
    kind = getattr(torch, dtype)
    module = torch.nn.TransformerEncoderLayer(shape.d, shape.h, shape.d_ff, 0.0, batch_first=True, dtype=kind)
    params, config = from_encoder_layer(module), _config(shape)
    x, dy = _normal(shape, dtype, 2)

    def ours_in(params: Any, x: np.ndarray, dy: np.ndarray) -> Run:
        def run() -> tuple[np.ndarray, np.ndarray]:
            y, cache = encoder.layer_forward(x, params, config)
            return y, encoder.layer_backward(dy, cache)[0]

        return run

    theirs = _torch_run(module, [x], dy, lambda x: module(x))
    reference = ours_in(*_doubled(params, x, dy))
    return Case("encoder layer", ours_in(params, x, dy), theirs, reference, _products(shape, dtype))


def _decoder_layer(shape: Shape, dtype: str) -> Case:
    import torch

    torch.manual_seed(0)
    kind = getattr(torch, dtype)
    module = torch.nn.TransformerDecoderLayer(shape.d, shape.h, shape.d_ff, 0.0, batch_first=True, dtype=kind)
    params, config = {"layers": [from_decoder_layer(module)]}, _config(shape)
    x, memory, dy = _normal(shape, dtype, 3)
    keep = masking.causal(shape.n)

    def ours_in(params: Any, x: np.ndarray, memory: np.ndarray, dy: np.ndarray) -> Run:
        def run() -> tuple[np.ndarray, np.ndarray]:
            y, cache = decoder.forward(x, params, config, keep, memory)
            return y, decoder.backward(dy, cache)[0]

        return run

    hidden = torch.from_numpy(~keep)
    theirs = _torch_run(module, [x, memory], dy, lambda x, memory: module(x, memory, tgt_mask=hidden))
    return Case(
        "decoder layer", ours_in(params, x, memory, dy), theirs, ours_in(*_doubled(params, x, memory, dy)), None
    )


def _model(shape: Shape, dtype: str) -> Case:
    import torch

    torch.manual_seed(0)
    kind = getattr(torch, dtype)
    module = torch.nn.Transformer(
        shape.d, shape.h, LAYERS_OF_MODEL, LAYERS_OF_MODEL, shape.d_ff, 0.0, batch_first=True, dtype=kind
    )
    params, config = from_transformer(module), _config(shape)
    src, tgt, dy = _normal(shape, dtype, 3)
    keep = masking.causal(shape.n)

    def ours_in(params: Any, src: np.ndarray, tgt: np.ndarray, dy: np.ndarray) -> Run:
        def run() -> tuple[np.ndarray, np.ndarray]:
            memory, encoded = encoder.forward(src, params["encoder"], config)
            y, decoded = decoder.forward(tgt, params["decoder"], config, keep, memory)
            dtgt, dmemory, _ = decoder.backward(dy, decoded)
            encoder.backward(dmemory, encoded)
            return y, dtgt

        return run

    hidden = torch.from_numpy(~keep)
    theirs = _torch_run(module, [tgt, src], dy, lambda tgt, src: module(src, tgt, tgt_mask=hidden))
    return Case("whole model", ours_in(params, src, tgt, dy), theirs, ours_in(*_doubled(params, src, tgt, dy)), None)


def _config(shape: Shape) -> Config:
    sizes = {"d_model": shape.d, "d_ff": shape.d_ff, "n_heads": shape.h, "n_layers": LAYERS_OF_MODEL}
    return Config(form="encoder-decoder", vocabulary=2, **sizes)


def _normal(shape: Shape, dtype: str, count: int) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.standard_normal((shape.B, shape.n, shape.d)).astype(dtype) for _ in range(count)]


def _doubled(*trees: Any) -> list[Any]:
    return list(map_leaves(lambda array: array.astype(np.float64), list(trees)))


def _torch_run(module: Any, inputs: list[np.ndarray], dy: np.ndarray, call: Callable[..., Any]) -> Run:
    import torch

    tensors = [torch.from_numpy(each.copy()).requires_grad_(True) for each in inputs]
    cotangent = torch.from_numpy(dy)

    def run() -> tuple[np.ndarray, np.ndarray]:
        for each in (module, *tensors):
            each.zero_grad() if hasattr(each, "zero_grad") else setattr(each, "grad", None)
        y = call(*tensors)
        y.backward(cotangent)
        return y.detach().numpy(), tensors[0].grad.numpy()

    return run


def _products(shape: Shape, dtype: str) -> Run:
    """Every matrix product of an encoder layer, forward and backward, and nothing else."""
    rng = np.random.default_rng(0)

    def normal(*sizes: int) -> np.ndarray:
        return rng.standard_normal(sizes).astype(dtype)

    rows = shape.B * shape.n
    x, hidden = normal(rows, shape.d), normal(rows, shape.d_ff)
    w, w_1, w_2 = normal(shape.d, shape.d), normal(shape.d, shape.d_ff), normal(shape.d_ff, shape.d)
    heads, scores = normal(shape.B, shape.h, shape.n, shape.d // shape.h), normal(shape.B, shape.h, shape.n, shape.n)

    def run() -> None:
        for _ in range(4):  # the projections: y, dx, dw
            x @ w, x @ w.T, x.T @ x
        x @ w_1, hidden @ w_1.T, x.T @ hidden
        hidden @ w_2, x @ w_2.T, hidden.T @ x
        for _ in range(2):  # scores and the gradient of the weights
            heads @ heads.swapaxes(-1, -2)
        for _ in range(2):  # y and dq
            scores @ heads
        for _ in range(2):  # dk and dv
            scores.swapaxes(-1, -2) @ heads

    return run


class Figures(NamedTuple):
    case: str
    shape: str
    dtype: str
    ratio: float  # ours / PyTorch's, the median of pairs
    to_products: float | None
    milliseconds: float  # ours, the median
    error: float  # ours: the distance from float64 of y and dx, as a share of their norm
    their_error: float


def measured(case: Case, shape: Shape, dtype: str, seconds: float) -> Figures:
    errors = [_distance(run(), case.reference()) for run in (case.ours, case.theirs)]
    ratios, of_products, ours = [], [], []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(ratios) < 5:
        sides = [case.ours, case.theirs] if len(ratios) % 2 else [case.theirs, case.ours]
        took = {id(side): _timed(side) for side in sides}
        ours.append(took[id(case.ours)])
        ratios.append(took[id(case.ours)] / took[id(case.theirs)])
        if case.products:
            of_products.append(took[id(case.ours)] / _timed(case.products))
    products = statistics.median(of_products) if of_products else None
    return Figures(
        case.name, str(shape), dtype, statistics.median(ratios), products, 1e3 * statistics.median(ours), *errors
    )


def _timed(run: Run) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def _distance(found: Any, reference: Any) -> float:
    return max(float(np.linalg.norm(a - b) / np.linalg.norm(b)) for a, b in zip(found, reference, strict=True))


# Attention as n grows, each in a process of its own, whose peak memory is its own


def grown(kind: str, n: int) -> dict[str, float]:
    """Seconds and the peak of memory above the start, of one forward and backward pass."""
    command = [sys.executable, __file__, "--grow", kind, "--n", str(n)]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    if found.returncode:
        return {"seconds": float("nan"), "megabytes": float("nan")}
    return dict(json.loads(found.stdout))


def grow(kind: str, n: int) -> dict[str, float]:
    rng = np.random.default_rng(0)
    q, k, v, dy = (rng.standard_normal((1, 1, n, WIDTH_OF_HEAD)).astype(np.float32) for _ in range(4))
    run = _attention_of(kind, q, k, v, dy)
    before = _peak_memory()
    seconds = _timed(run)
    return {"seconds": seconds, "megabytes": (_peak_memory() - before) / 1024}


def _peak_memory() -> int:
    """In kilobytes. `ru_maxrss` would count what the parent held before this program began, where Linux can tell better."""
    if sys.platform == "linux":
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _attention_of(kind: str, q: np.ndarray, k: np.ndarray, v: np.ndarray, dy: np.ndarray) -> Run:
    if kind == "PyTorch":
        import torch

        torch.set_num_threads(THREADS)
        tensors = [torch.from_numpy(each).requires_grad_(True) for each in (q, k, v)]
        attend = torch.nn.functional.scaled_dot_product_attention
        return lambda: attend(*tensors).backward(torch.from_numpy(dy))
    layer = {"plain": attention, "blocked": blocked_attention}[kind]
    return lambda: layer.backward(dy, layer.forward(q, k, v)[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=("layers", "growth"))
    parser.add_argument("--seconds", type=float, default=8.0, help="of each case, at least")
    parser.add_argument("--grow", choices=("plain", "blocked", "PyTorch"), help=argparse.SUPPRESS)
    parser.add_argument("--n", type=int, default=512, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.grow:
        print(json.dumps(grow(options.grow, options.n)))
        return
    if options.only != "growth":
        _print_cases(options.seconds, options.only == "layers")
    if options.only != "layers":
        _print_growth()


def _print_cases(seconds: float, only_layers: bool) -> None:
    import torch

    torch.set_num_threads(THREADS)
    print(
        f"{'case':<14} {'(B, n, d, h, d_ff)':<24} {'dtype':<8} {'ours/PyTorch':>12} {'/products':>10} {'ms':>8}  errors"
    )
    for dtype in ("float32", "float64"):
        for shape in BAR:
            for case in cases(shape, dtype, only_layers):
                f = measured(case, shape, dtype, seconds)
                products = "" if f.to_products is None else f"{f.to_products:.2f}"
                print(
                    f"{f.case:<14} {f.shape:<24} {f.dtype:<8} {f.ratio:>12.2f} {products:>10} {f.milliseconds:>8.1f}"
                    f"  {f.error:.0e}, PyTorch {f.their_error:.0e}",
                    flush=True,
                )


def _print_growth() -> None:
    kinds = ("plain", "blocked", "PyTorch")
    print("\nattention, one head of width 64, float32, forward and backward: seconds / peak megabytes")
    print(f"{'n':>6} " + " ".join(f"{kind:>18}" for kind in kinds))
    for n in GROWTH:
        figures = [grown(kind, n) for kind in kinds]
        print(f"{n:>6} " + " ".join(f"{f['seconds']:>9.2f} /{f['megabytes']:>7.0f}" for f in figures), flush=True)


if __name__ == "__main__":
    main()
