"""The loss of a run as a picture, by matplotlib (the extra `plots`)."""

from collections.abc import Sequence
from pathlib import Path

from .training import Progress

FORMATS = (".svg", ".png", ".pdf")
SMOOTHED_OVER = 20  # steps


def require_plotting(path: Path) -> None:
    """Raises ValueError for a format that is not one of FORMATS, ModuleNotFoundError without matplotlib."""
    if path.suffix not in FORMATS:
        raise ValueError(f"--plot is {path}, needed a name that ends in {', '.join(FORMATS)}")
    try:
        import matplotlib  # noqa: F401
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "--plot needs matplotlib, which is not installed: pip install 'transformer-proofs[plots]'"
        ) from error


def plot_loss(path: Path, history: Sequence[Progress], expected: tuple[float, float] | None, title: str) -> None:
    """Write the loss of each step on a logarithmic axis, a running mean, and what the first loss was expected to be.

    `expected` are bounds on the first loss (numeric.initialisation.initial_loss). Raises as `require_plotting`, and OSError.
    """
    require_plotting(path)
    from matplotlib.figure import Figure

    steps, losses = [each.step for each in history], [each.loss for each in history]
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.add_subplot()
    axes.plot(steps, losses, color="0.75", linewidth=0.8, label="each step")
    axes.plot(steps, running_mean(losses), color="tab:blue", label=f"mean of {SMOOTHED_OVER} steps")
    if expected is not None:
        axes.axhspan(*expected, color="tab:orange", alpha=0.3, label="expected at the start")
    axes.set(xlabel="step", ylabel="cross-entropy, nats a token", yscale="log", title=title)
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path)


def running_mean(losses: Sequence[float]) -> list[float]:
    """The mean of up to SMOOTHED_OVER losses that end at each step."""
    parts = (losses[max(0, end - SMOOTHED_OVER) : end] for end in range(1, len(losses) + 1))
    return [sum(part) / len(part) for part in parts]
