"""The commands `check` and `contracts` of `python -m numeric`."""

import json
from typing import Annotated, Any

import typer

from .answers import check_answers
from .array_files import is_array_file
from .contract import Contract
from .contracts import contract_named, contract_names
from .options import parsed_options
from .presenting import Html, Junit, only_reports_on_stdout, require_writable, show_all, write
from .report import Report
from .run import check, checks_of
from .survey_command import require_group, survey_command
from .targets import loaded, loaded_beside
from .usage import UsageError


def check_command(
    target: Annotated[
        str,
        typer.Argument(
            metavar="PACKAGE.MODULE:NAME",
            help="the implementation; or torch or jax, for all of theirs; or a file of answers to `vectors`",
        ),
    ],
    contract: Annotated[
        str | None, typer.Option("--as", metavar="CONTRACT", help="what it should be; see `contracts`")
    ] = None,
    backward: Annotated[
        str | None, typer.Option(metavar="[PACKAGE.MODULE:]NAME", help="its hand-written gradients")
    ] = None,
    adapter: Annotated[str | None, typer.Option(help="numpy, torch or jax; found out by default")] = None,
    dtype: Annotated[str, typer.Option(help="float64, float32, float16 or bfloat16")] = "float64",
    precision: Annotated[
        str | None, typer.Option(metavar="STORED[/WIDE]", help="of intermediates, and of sums")
    ] = None,
    option: Annotated[list[str] | None, typer.Option(metavar="NAME=VALUE", help="fix an option")] = None,
    accept: Annotated[list[str] | None, typer.Option(metavar="ID", help="a variant that counts as a pass")] = None,
    probe: Annotated[
        list[str] | None, typer.Option(metavar="PATTERN", help="run only these probes and properties")
    ] = None,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="the report as JSON")] = False,
    junit: Junit = None,
    html: Html = None,
) -> None:
    """Judge an implementation. Exit code: 0 pass, 1 fail, error or variant, 2 wrong usage, 3 inconclusive."""
    try:
        require_writable(junit, html)
        if contract is None and is_array_file(target):
            raise UsageError(f"{target} is a file of answers, and it is not said to what; add --as CONTRACT")
        if contract is None:
            require_group(target, [backward, adapter, option, accept, probe])
            raise typer.Exit(survey_command(target, dtype, precision, seed, as_json, junit, html))
        if is_array_file(target):
            _require_none({"backward": backward, "adapter": adapter, "option": option, "probe": probe, "seed": seed})
            report = check_answers(target, contract, precision=precision, accept=tuple(accept or ()))
            _require_dtype(dtype, report)
        else:
            with only_reports_on_stdout():
                module, forward = loaded(target)
                gradient = loaded_beside(backward, module) if backward else None
                report = check(
                    contract,
                    forward,
                    backward=gradient,
                    adapter=adapter,
                    dtype=dtype,
                    precision=precision,
                    options=parsed_options(option),
                    accept=tuple(accept or ()),
                    seed=seed,
                    probes=probe or None,
                )
        write([report], junit, html)
    except UsageError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(2) from error
    if as_json:
        typer.echo(report.to_json())
    else:
        show_all([report])
    raise typer.Exit(report.verdict.exit_code)


def _require_none(given: dict[str, Any]) -> None:
    """Of a file of answers, these are settled by the vectors."""
    for name, value in given.items():
        if value:
            raise UsageError(
                f"--{name} is not for a file of answers: the vectors that it answers settle it; leave it out"
            )


def _require_dtype(dtype: str, report: Report) -> None:
    if dtype not in ("float64", report.dtype):
        raise UsageError(f"--dtype is {dtype}, and {report.subject} answers vectors in {report.dtype}; leave it out")


def contracts_command(as_json: Annotated[bool, typer.Option("--json", help="as JSON")] = False) -> None:
    """List the contracts: signatures, shapes, defaults, probed values, checks."""
    contracts = [contract_named(name) for name in contract_names()]
    if as_json:
        typer.echo(json.dumps([described(contract) for contract in contracts], indent=2))
        return
    typer.echo("\n\n".join(text_of(contract) for contract in contracts))


def described(contract: Contract) -> dict[str, Any]:
    """A contract as plain data."""
    return {
        "name": contract.name,
        "summary": contract.summary,
        "signature": contract.signature,
        "inputs": [{"name": each.name, "shape": each.shape, "gradient": each.floating} for each in contract.inputs],
        "output": contract.output,
        "options": [
            {"name": each.name, "default": each.default, "probed": list(each.probed), "meaning": each.meaning}
            for each in contract.options
        ],
        "variants": list(contract.variants),
        "checks": checks_of(contract.name),
    }


def text_of(contract: Contract) -> str:
    rows = [(each.name, each.shape) for each in contract.inputs]
    rows.append(("returns", contract.output))
    for each in contract.options:
        probed = ", ".join(repr(value) for value in each.probed)
        rows.append((each.name, f"default {each.default!r}; probed {probed}; {each.meaning}"))
    return "\n".join([contract.signature, f"  {contract.summary}", *(f"  {name:<12} {text}" for name, text in rows)])
