"""The command `vectors` of `python -m numeric`: what a program in any language is to compute, and how exactly."""

from pathlib import Path
from typing import Annotated

import typer

from .array_files import Arrays, is_array_file, write_arrays
from .options import parsed_options
from .progress import progress
from .questions import setting_of
from .usage import UsageError
from .vectors import vectors


def vectors_command(
    contract: Annotated[str, typer.Argument(metavar="CONTRACT", help="see `contracts`")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="an .npz or a .safetensors")],
    dtype: Annotated[str, typer.Option(help="float64, float32, float16 or bfloat16")] = "float64",
    seed: Annotated[int, typer.Option(min=0)] = 0,
    option: Annotated[list[str] | None, typer.Option(metavar="NAME=VALUE", help="fix an option")] = None,
    probe: Annotated[list[str] | None, typer.Option(metavar="PATTERN", help="only these probes and properties")] = None,
) -> None:
    """Write inputs, exact outputs and gradients, and allowances; `check ANSWERS --as CONTRACT` judges the answers.

    Exit code: 0 written, 2 wrong usage.
    """
    try:
        if not is_array_file(out.name) or not out.parent.is_dir():
            raise UsageError(f"cannot write {out}: needed an .npz or a .safetensors in a folder that exists")
        count, cases = vectors(setting_of(contract, dtype, parsed_options(option), seed, probe or None))
        arrays: Arrays = {}
        for case in progress(cases, count, "cases"):
            arrays |= case
        write_arrays(out, arrays)
    except UsageError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(2) from error
    typer.echo(f"{out}: {count} cases, {len(arrays)} arrays, {out.stat().st_size:,} bytes")
