"""The checker beside torch.autograd.gradcheck, and beside a rule of thumb: time, and the smallest error that each sees.

    python benchmarks/checker_beside_gradcheck.py              # all three tables; some minutes
    python benchmarks/checker_beside_gradcheck.py --quick      # one contract of each, few implementations

1. The same PyTorch function in float64, at the same small inputs, judged by gradcheck (slow, fast) and by `check`, at one probe
   and by default. Errors are planted in one entry, relative to it: of a gradient, by a backward that is off there; of the
   output, with a gradient that fits it. Times are seconds of the processor, medians, each at other inputs.
2. The same for the checker alone, all contracts, in units of what it allows, in four dtypes.
3. "At most twice the error of a reference in the same dtype": see rule_of_two.py.
"""

import os
import sys
import time
from collections.abc import Callable
from math import inf
from pathlib import Path
from statistics import median
from typing import Annotated, Any, NamedTuple

# one thread, so that the time of the processor is that of the work
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["MKL_NUM_THREADS"] = "1"
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import torch
import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table
from torch.autograd import gradcheck

from benchmarks.planted import Planted, smallest
from benchmarks.rule_of_two import Implementation, Outcome, judged, plain
from numeric.checker import Probe, check
from numeric.checker.contracts import contract_named, contract_names

torch.set_num_threads(1)
LEFT_OUT = ("dropout", "encoder_layer", "decoder_layer", "transformer")
DTYPES = ("float64", "float32", "float16", "bfloat16")
F = torch.nn.functional
Draw = Callable[[np.random.Generator], tuple[np.ndarray, ...]]


class Case(NamedTuple):
    contract: str
    forward: Callable[..., Any]
    draw: Draw
    options: dict[str, Any]


def multi_head(x_q: Any, x_kv: Any, w_q: Any, w_k: Any, w_v: Any, w_o: Any, heads: int = 2) -> Any:
    q, k, v = ((x @ w).unflatten(-1, (heads, -1)).transpose(1, 2) for x, w in ((x_q, w_q), (x_kv, w_k), (x_kv, w_v)))
    p = torch.softmax(q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5, -1)
    return (p @ v).transpose(1, 2).flatten(2) @ w_o


CASES = [
    Case("softmax", lambda z: torch.softmax(z, -1), lambda rng: (rng.standard_normal((3, 5)),), {"axis": -1, "temperature": 1.0}),
    Case("layer_norm", lambda x, g, b: F.layer_norm(x, g.shape, g, b), lambda rng: (rng.standard_normal((3, 5)), *rng.standard_normal((2, 5))), {"eps": 1e-5}),
    Case("scaled_dot_product_attention", F.scaled_dot_product_attention, lambda rng: (rng.standard_normal((4, 3)), rng.standard_normal((6, 3)), rng.standard_normal((6, 2))), {"mask": None, "causal": False}),
    Case("feed_forward", lambda x, w1, b1, w2, b2: torch.relu(x @ w1 + b1) @ w2 + b2, lambda rng: tuple(rng.standard_normal(s) for s in ((3, 4), (4, 5), (5,), (5, 4), (4,))), {"activation": "relu"}),
    Case("multi_head_attention", multi_head, lambda rng: (*rng.standard_normal((2, 1, 3, 4)), *rng.standard_normal((4, 4, 4))), {"heads": 2, "kv_heads": None, "mask": None, "causal": False}),
]  # fmt: skip


class Off(torch.autograd.Function):
    """The identity, with a backward that is off by `error` of itself in the first entry."""

    @staticmethod
    def forward(ctx: Any, x: Any, error: float) -> Any:
        ctx.error = error
        return x.clone()

    @staticmethod
    def backward(ctx: Any, dy: Any) -> Any:
        factor = torch.ones_like(dy)
        factor.view(-1)[0] += ctx.error
        return dy * factor, None


def with_gradient_off(case: Case, error: float) -> Callable[..., Any]:
    def forward(first: Any, *others: Any) -> Any:
        return case.forward(Off.apply(first, error), *others)

    return forward


def with_output_off(case: Case, error: float) -> Callable[..., Any]:
    def forward(*inputs: Any) -> Any:
        y = case.forward(*inputs)
        factor = torch.ones_like(y)
        factor.view(-1)[0] += error
        return y * factor

    return forward


# Judges: (function, inputs, options, contract) -> does it fail?


def by_gradcheck(fast: bool) -> Callable[..., bool]:
    def fails(forward: Any, inputs: Any, case: Case) -> bool:
        tensors = [torch.tensor(each, requires_grad=True) for each in inputs]
        return not gradcheck(forward, tensors, fast_mode=fast, raise_exception=False)

    return fails


def by_one_probe(forward: Any, inputs: Any, case: Case) -> bool:
    probes = [Probe("generic", inputs)]
    report = check(case.contract, forward, adapter="torch", options=case.options, probes=probes)
    return any(each.verdict == "fail" for each in report.findings)


def by_default(forward: Any, inputs: Any, case: Case) -> bool:
    seed = int(abs(inputs[0].flat[0]) * 1e6)
    return check(case.contract, forward, adapter="torch", options=case.options, seed=seed).verdict == "fail"


JUDGES: dict[str, Callable[..., bool]] = {
    "gradcheck": by_gradcheck(False),
    "gradcheck, fast": by_gradcheck(True),
    "check, one probe": by_one_probe,
    "check, default": by_default,
}


def first_table(cases: list[Case], runs: int) -> Table:
    table = Table("float64", "judged by", "seconds", "in gradient", "in output", title="Smallest error seen")
    for fails in JUDGES.values():
        _seconds(fails, cases[0], -1)  # imports, and what is compiled once
    for case in track(cases, "gradcheck", transient=True):
        for name, fails in JUDGES.items():
            seconds = [_seconds(fails, case, run) for run in range(runs)]
            found = (
                ["", ""]
                if name == "check, default"
                else [_least(fails, case, off) for off in (with_gradient_off, with_output_off)]
            )
            table.add_row(_short(case.contract), name, f"{median(seconds):.3f}", *found)
    return table


def _least(fails: Callable[..., bool], case: Case, off: Callable[[Case, float], Any]) -> str:
    inputs = case.draw(np.random.default_rng(0))
    error = smallest(lambda e: fails(off(case, e), inputs, case))
    return "none seen" if error == inf else f"{error:.1e}"


def _short(contract: str) -> str:
    return contract.replace("scaled_dot_product_", "").replace("_", " ")


def _seconds(fails: Callable[..., bool], case: Case, run: int) -> float:
    inputs = case.draw(np.random.default_rng(100 + run))
    start = time.process_time()
    if fails(case.forward, inputs, case):
        raise AssertionError(f"{case.contract}: a right implementation was called wrong")
    return time.process_time() - start


def second_table(contracts: list[str]) -> Table:
    table = Table("contract", "of", *DTYPES, title="Smallest error seen in one entry: relative, or in allowances")
    for name in track(contracts, "power", transient=True):
        for kind, array in (("output", -1), ("first gradient", 0)):
            planted = [Planted(name, dtype) for dtype in DTYPES]
            if array < planted[0].gradients:
                table.add_row(_short(name), kind, *(_power(each, array) for each in planted))
    return table


def _power(planted: Planted, array: int) -> str:
    if planted.dtype == "float64":
        return f"{smallest(lambda e: planted.detected(array, lambda value, allowed: e * value)):.1e}"
    times = smallest(lambda e: planted.detected(array, lambda value, allowed: e * allowed), 2.0**-6, 2.0**6)
    if times < inf:
        return f"{times:.2f}"
    beside = planted.detected(array, lambda value, allowed: 3 * planted.unit * abs(value))
    return "any other" if beside else "none seen"  # nothing is allowed where nothing rounds


def third_table(thin: int) -> Table:
    from tests.numeric.checker.correct_variants import CORRECT
    from tests.numeric.checker.field_cases.case import Judged
    from tests.numeric.checker.test_field_cases import CASES as FIELD

    steps = [step for steps in FIELD.values() for step in steps if isinstance(step, Judged) and step.adapter == "numpy"]
    faults = [
        Implementation(each.contract, each.forward, each.backward, each.dtype, each.options)
        for each in steps
        if each.verdict == "fail" and each.probes is None and each.contract != "dropout"
    ]
    right = [
        Implementation(each.contract, each.for_dtype(dtype), each.backward, dtype)
        for each in CORRECT
        for dtype in DTYPES[1:]
        if each.adapter == "numpy" and each.contract != "dropout" and dtype in each.dtypes and each.probes is None
    ]
    table = Table(
        "", "judged", "rule, generic probes", "rule, all probes", "ours", title="At most twice the reference's error"
    )
    for label, every in (("faults caught", faults), ("false alarms", right)):
        outcomes = [_outcome(each, CORRECT) for each in track(every[::thin], label, transient=True)]
        counts = (sum(getattr(each, name) for each in outcomes) for name in Outcome._fields)
        table.add_row(label, str(len(outcomes)), *map(str, counts))
    return table


def _outcome(one: Implementation, correct: Any) -> Outcome:
    return judged(one, plain(contract_named(one.contract), one.dtype, correct))


def main(quick: Annotated[bool, typer.Option(help="a little of each table")] = False) -> None:
    console = Console(width=80)
    contracts = [name for name in contract_names() if name not in LEFT_OUT]
    console.print(first_table(CASES[:1] if quick else CASES, 1 if quick else 5))
    console.print(second_table(contracts[:2] if quick else contracts))
    console.print(third_table(20 if quick else 1))


if __name__ == "__main__":
    typer.run(main)
