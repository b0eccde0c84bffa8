"""The commands `check` and `contracts` of `python -m numeric`."""

import ast
import json
from typing import Annotated, Any

import typer

from .contract import Contract
from .contracts import contract_named, contract_names
from .presenting import Html, Junit, only_reports_on_stdout, require_writable, show_all, write
from .run import check, checks_of
from .targets import loaded, loaded_beside
from .usage import UsageError


def check_command(
    target: Annotated[str, typer.Argument(metavar="PACKAGE.MODULE:NAME", help="the implementation")],
    contract: Annotated[str, typer.Option("--as", metavar="CONTRACT", help="what it should be; see `contracts`")],
    backward: Annotated[
        str | None, typer.Option(metavar="[PACKAGE.MODULE:]NAME", help="its hand-written gradients")
    ] = None,
    adapter: Annotated[str | None, typer.Option(help="numpy or torch; found out by default")] = None,
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
                options=dict(parsed_option(text) for text in option or ()),
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


def parsed_option(text: str) -> tuple[str, Any]:
    """`eps=1e-6` as ("eps", 1e-6): a Python literal, or else the text itself."""
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise UsageError(f"option {text!r} is no NAME=VALUE; write --option temperature=0.5")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value
