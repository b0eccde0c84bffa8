"""python -m numeric: one line here for each subcommand; what it does stands beside what it commands."""

import typer

from .agreement.command import agree_command
from .checker.command import check_command, contracts_command
from .checker.mistakes_command import mistakes_command
from .checker.sweep_command import sweep_command
from .checker.vectors_command import vectors_command
from .figures.command import figures_command
from .gradients.command import gradients_command
from .training_command import train_command

app = typer.Typer(
    add_completion=False, no_args_is_help=True, help="The Transformer as arithmetic, and a judge of other people's."
)
app.command("check")(check_command)
app.command("contracts")(contracts_command)
app.command("mistakes")(mistakes_command)
app.command("sweep")(sweep_command)
app.command("vectors")(vectors_command)
app.command("agree")(agree_command)
app.command("gradients")(gradients_command)
app.command("figures")(figures_command)
app.command("train")(train_command)


def main() -> None:
    app(prog_name="python -m numeric")


if __name__ == "__main__":
    main()
