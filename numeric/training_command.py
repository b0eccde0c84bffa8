"""The command `train` of `python -m numeric`."""

import json
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from . import spelling, training
from .initialisation import initial_loss
from .spelling import PAD
from .training import Progress, Run, Settings
from .training_plot import plot_loss, require_plotting
from .training_report import described, lines_of

EXPECTED_OVER = 200  # numbers, for what the first loss should be

OF_THE_RUN = (  # options that a saved run brings with it
    "language",
    "seed",
    "rows",
    "micro_batches",
    "warmup",
    "factor",
    "clip",
    "limit",
    "held_out",
    "d_model",
    "d_ff",
    "heads",
    "layers",
    "norm",
    "dropout",
    "smoothing",
)


def train_command(
    context: typer.Context,
    language: Annotated[str, typer.Option(help="en or ko")] = "en",
    steps: Annotated[int, typer.Option(min=1, help="in all, those of a resumed run included")] = 1000,
    save: Annotated[
        Path | None, typer.Option(metavar="FILE", help="write the run to this .npz or .safetensors")
    ] = None,
    resume: Annotated[Path | None, typer.Option(metavar="FILE", help="go on from a saved run, and save to it")] = None,
    every: Annotated[int, typer.Option(min=1, help="steps between two lines, and two saves")] = 100,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    rows: Annotated[int, typer.Option(help="numbers in a batch")] = 64,
    micro_batches: Annotated[int, typer.Option(help="parts of a batch, for less memory")] = 1,
    warmup: Annotated[int, typer.Option(help="steps until the learning rate falls")] = 300,
    factor: Annotated[float, typer.Option(help="times the learning rate of the paper")] = 0.25,
    clip: Annotated[float, typer.Option(help="the largest norm of a gradient")] = 1.0,
    limit: Annotated[int, typer.Option(help="numbers are below it")] = 10**6,
    held_out: Annotated[int, typer.Option(help="numbers never trained on")] = 2000,
    d_model: Annotated[int, typer.Option(help="width of the model")] = 64,
    d_ff: Annotated[int, typer.Option(help="width of the feed-forward layers")] = 256,
    heads: Annotated[int, typer.Option(help="of each attention")] = 4,
    layers: Annotated[int, typer.Option(help="of encoder and decoder each")] = 2,
    norm: Annotated[str, typer.Option(help="post or pre")] = "post",
    dropout: Annotated[float, typer.Option(help="rate")] = 0.0,
    smoothing: Annotated[float, typer.Option(help="of the labels")] = 0.0,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="the loss as .svg, .png or .pdf")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="plain data")] = False,
) -> None:
    """Train a model to spell numbers, then test it on those held out.

    Ctrl-C stops after the step, and saves. Exit code: 0 done, 1 stopped for an infinite gradient or a failed save, 2
    wrong usage, 130 stopped by Ctrl-C.
    """
    try:
        _require_fitting(context, save, resume)
        if plot is not None:
            require_plotting(plot)
        if resume is not None:
            run = training.resume(resume)
            if run.state.step > steps:
                raise ValueError(f"--steps is {steps}, needed at least {run.state.step}, the step that {resume} is at")
        else:
            more = {"norm": norm, "dropout": dropout, "smoothing": smoothing}
            config = training.config_for(language, d_model, d_ff, heads, layers, **more)
            settings = Settings(language, rows, micro_batches, warmup, factor, clip, seed, limit, held_out)
            run = training.begin(config, settings)
        target = save or resume
        if target is not None:
            training.save(target, run)  # a place that cannot be written to is better known now
    except (ValueError, TypeError, OSError, ModuleNotFoundError) as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(2) from error
    say: Callable[[str], None] = (lambda line: None) if as_json else typer.echo
    raise typer.Exit(_trained(run, steps, every, target, say, plot, as_json))


def _trained(
    run: Run, steps: int, every: int, target: Path | None, say: Callable[[str], None], plot: Path | None, as_json: bool
) -> int:
    """Trains, saves, tests and reports; the exit code."""
    history: list[Progress] = []
    expected = expected_at_first(run)
    if expected is not None:
        say(f"the first loss should lie between {expected[0]:.3f} and {expected[1]:.3f} (numeric/initialisation.py)")
    with interruption_deferred() as interrupted:
        try:
            for after, progress in progressing(run, steps, every, say):
                run, stops = after, interrupted()
                history.append(progress)
                if target is not None and (stops or run.state.step == steps or run.state.step % every == 0):
                    training.save(target, run)
                if stops:
                    return _stopped(run, target)
        except (FloatingPointError, OSError) as error:
            saved = f"; {target} holds the run at its last save" if target is not None else ""
            typer.echo(f"error: at step {run.state.step}: {error}{saved}", err=True)
            return 1
    if plot is not None and history:
        try:
            plot_loss(plot, history, expected, f"spelling numbers, {run.settings.language}")
        except OSError as error:
            typer.echo(f"error: --plot: {error}", err=True)
            return 1
    score = training.score(run, run.split.held_out)
    if as_json:
        typer.echo(json.dumps(described(run, history, score), indent=2))
    else:
        say("\n".join(lines_of(run, score)))
    return 0


def _stopped(run: Run, target: Path | None) -> int:
    where = f"; it goes on with --resume {target}" if target is not None else ", and nothing is saved; see --save"
    typer.echo(f"stopped at step {run.state.step}{where}", err=True)
    return 130


def progressing(run: Run, steps: int, every: int, say: Callable[[str], None]) -> Iterator[tuple[Run, Progress]]:
    """The run after each step, with a line now and then, and on a terminal a bar."""
    started, tokens = time.perf_counter(), 0
    with bar() as shown:
        task = shown.add_task("training", total=steps, completed=run.state.step, loss="")
        while run.state.step < steps:
            run, progress = training.advance(run)
            tokens += progress.tokens
            shown.update(task, completed=progress.step, loss=f"loss {progress.loss:.3g}")
            if progress.step % every == 0 or progress.step == steps:
                now = time.perf_counter()
                speed = tokens / (now - started)
                say(
                    f"step {progress.step:>6}   loss {progress.loss:<8.4g}   rate {progress.rate:<8.3g}   "
                    f"gradient {progress.norm:<8.3g}   {speed:,.0f} tokens/s"
                )
                started, tokens = now, 0
            yield run, progress


def bar() -> Bar:
    """Of steps; it shows on a terminal only, below the lines, and leaves nothing behind."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[loss]}"))
    return Bar(*columns, TimeRemainingColumn(), console=console, transient=True, disable=not console.is_terminal)


def expected_at_first(run: Run) -> tuple[float, float] | None:
    """Bounds on the expected loss of the first step, over all seeds; None where a run goes on."""
    if run.state.step:
        return None
    sample = spelling.draw(np.random.default_rng(run.settings.seed), EXPECTED_OVER, run.split)
    src, tgt = spelling.batch(sample, run.words)
    read, met, rows = 0, 0, 0
    for source, target in zip(src, tgt, strict=True):
        for place in range(1, int(np.count_nonzero(target != PAD))):
            seen = {*source[source != PAD].tolist(), *target[:place].tolist()}
            read, met, rows = read + len(seen), met + (int(target[place]) in seen), rows + 1
    return initial_loss(run.config, read / rows, met / rows)


@contextmanager
def interruption_deferred() -> Iterator[Callable[[], bool]]:
    """Ctrl-C inside is only noted, lest it leaves a step half done; what is given says whether there was one.

    A second one interrupts at once.
    """
    noted: list[int] = []

    def note(number: int, frame: Any) -> None:
        if noted:
            raise KeyboardInterrupt
        noted.append(number)

    if threading.current_thread() is not threading.main_thread():  # where no handler can be set
        yield lambda: False
        return
    before = signal.signal(signal.SIGINT, note)
    try:
        yield lambda: bool(noted)
    finally:
        signal.signal(signal.SIGINT, before)


# Arguments


def _require_fitting(context: typer.Context, save: Path | None, resume: Path | None) -> None:
    if resume is not None:
        given = [name for name in OF_THE_RUN if _was_given(context, name)]
        if given:
            option = f"--{given[0].replace('_', '-')}"
            raise ValueError(
                f"{option} and --resume exclude each other: {resume} says how it is trained; leave {option} out"
            )
    if save is not None and save != resume and save.exists():
        raise ValueError(f"{save} exists already; needed a new name, or --resume {save} to go on from it")


def _was_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"
