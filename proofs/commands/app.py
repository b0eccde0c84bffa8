"""The command line: what each subcommand takes, and what its exit code says.

Exit codes   0 all is proved   1 not all is   2 wrong usage: nothing was tried   130 interrupted by Ctrl-C
"""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console
from rich.text import Text

from ..claims import CLAIMS
from ..kernel import ProofError, Theorem
from ..registry import Claim, all_claims
from ..render.catalogues import Catalogue, CatalogueError, in_language, languages
from ..render.gate import GateError
from ..render.names import RenderError
from ..render.numbering import NUMBERINGS, ZERO_BASED
from ..render.source import latex_source
from . import check, claims, graph, listing, render, show, trust
from .outcomes import told
from .selection import UsageError, named, of_names, selected

app = typer.Typer(
    add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False, context_settings={"help_option_names": ["-h", "--help"]},
    help="Proves theorems about the Transformer, for arbitrary sizes. No command: check.",
)  # fmt: skip

Expression = Annotated[
    str | None, typer.Option("-k", metavar="EXPR", help="only names that match: softmax and not limit")
]
Jobs = Annotated[int, typer.Option("--jobs", metavar="N", min=1, help="processes to prove in")]
AsJson = Annotated[bool, typer.Option("--json", help="plain data")]
Language = Annotated[str, typer.Option("--lang", metavar="LANG", help=f"language: {', '.join(languages())}")]
Notation = Annotated[str, typer.Option("--notation", metavar="NOTATION", help=f"of indices: {', '.join(NUMBERINGS)}")]
Name = Annotated[str, typer.Argument(metavar="NAME", help="family.theorem, or theorem where one family has it")]


@app.callback(invoke_without_command=True)
def default(context: typer.Context, expression: Expression = None, jobs: Jobs = 1, as_json: AsJson = False) -> None:
    if context.invoked_subcommand is None:
        check_command(None, expression, jobs, as_json)
    elif expression is not None or jobs != 1 or as_json:
        _refuse(f"options stand after the command: python -m proofs {context.invoked_subcommand} ...")


@app.command("check")
def check_command(
    path: Annotated[
        Path | None, typer.Argument(metavar="PATH.py", help="prove the theorems of this file instead")
    ] = None,
    expression: Expression = None,
    jobs: Jobs = 1,
    as_json: AsJson = False,
) -> None:
    """Prove everything, or a file of your own."""
    chosen = _asked(lambda: check.chosen(path, expression))
    try:
        outcome = check.run(chosen, jobs, path)
    except BrokenProcessPool:
        typer.echo(
            "error: a process ended before its proofs did, perhaps for want of memory; try fewer --jobs", err=True
        )
        raise typer.Exit(1) from None
    if as_json:
        typer.echo(check.as_json(outcome, [] if path else claims.decided_by(outcome.rows)))
    else:
        check.show(outcome, _console())
    raise typer.Exit(outcome.exit_code)


@app.command("list")
def list_command(expression: Expression = None, as_json: AsJson = False, lang: Language = "en") -> None:
    """Name every theorem, with its statement; proves nothing."""
    catalogue = _in(lang)
    chosen = _asked(lambda: selected(all_claims(), expression))
    if as_json:
        _print_json({"theorems": listing.listed(chosen, catalogue)})
    else:
        listing.show_list(chosen, _console(), catalogue)


@app.command("show")
def show_command(
    name: Name,
    latex: Annotated[bool, typer.Option("--latex", help="formulas as LaTeX, to paste into a document")] = False,
    as_json: AsJson = False,
    lang: Language = "en",
    notation: Notation = ZERO_BASED.name,
) -> None:
    """Print a theorem with its steps and near misses."""
    catalogue, numbering = _in(lang), _asked(lambda: render.numbered(notation))
    theorem = _proved(name, as_json)
    try:
        if as_json:
            _print_json(show.described(theorem, latex, catalogue, numbering))
        elif latex:
            typer.echo(latex_source(theorem, catalogue, numbering))
        else:
            show.show_theorem(theorem, _console(), catalogue, numbering)
    except (GateError, RenderError) as problem:
        _failed("refused", theorem.name, str(problem), as_json)


@app.command("trust")
def trust_command(name: Name, as_json: AsJson = False, lang: Language = "en") -> None:
    """Print all that a theorem rests on."""
    catalogue = _in(lang)
    theorem = _proved(name, as_json)
    if as_json:
        _print_json(trust.resting(theorem, catalogue))
    else:
        trust.show_trust(theorem, _console(), catalogue)


@app.command("claims")
def claims_command(as_json: AsJson = False, lang: Language = "en") -> None:
    """Print what the documents claim, and what came of it."""
    catalogue = _in(lang)
    rows = claims.decided_rows(catalogue)
    if as_json:
        _print_json({"claims": rows})
    else:
        claims.show_claims(rows, _console(), catalogue)
    raise typer.Exit(1 if any(row["verdict"] == "failed" for row in rows) else 0)


@app.command("graph")
def graph_command(
    expression: Expression = None,
    by_family: Annotated[bool, typer.Option("--families", help="one node per family")] = False,
    as_json: AsJson = False,
) -> None:
    """Print what rests on what, as Mermaid text."""
    chosen = _asked(lambda: selected(all_claims(), expression))
    theorems = graph.reached([_theorem_of(claim, as_json) for claim in chosen])
    if as_json:
        _print_json(graph.as_data(theorems))
    else:
        typer.echo(graph.of_families(theorems) if by_family else graph.of_theorems(theorems))


@app.command("render")
def render_command(
    target: Annotated[str, typer.Option("--to", metavar="TARGET", help="tex, pdf, html or markdown")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="the folder to write into")],
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="theorems, families or claims; all where none is named")
    ] = None,
    layout: Annotated[
        str | None, typer.Option(metavar="LAYOUT", help="of fragments: wide, or column for two-column papers")
    ] = None,
    language: Annotated[
        str | None, typer.Option("--lang", metavar="LANG", help="en or ko; a site has both unless one is named")
    ] = None,
    figures: Annotated[
        Path | None, typer.Option(metavar="DIR", help="what `python -m numeric figures` wrote, for pdf and html")
    ] = None,
    engine: Annotated[
        str | None, typer.Option(metavar="ENGINE", help="of a pdf: typst, or latexmk where LaTeX is installed")
    ] = None,
    notation: Notation = ZERO_BASED.name,
    as_json: AsJson = False,
) -> None:
    """Write theorems for people to read, each formula checked against its proof."""
    chosen = _asked(lambda: of_names(all_claims(), names or [], {c.id: c.theorems for c in CLAIMS}))
    request = _asked(lambda: render.requested(target, out, layout, language, figures, engine, notation))
    outcome = render.run(chosen, target, request)
    if as_json:
        typer.echo(render.as_json(outcome))
    else:
        render.show(outcome, _console())
    raise typer.Exit(outcome.exit_code)


def _proved(name: str, as_json: bool) -> Theorem:
    return _theorem_of(_asked(lambda: named(all_claims(), name)), as_json)


def _theorem_of(claim: Claim, as_json: bool) -> Theorem:
    try:
        return claim.theorem
    except ProofError as problem:
        _failed("failed", claim.name, told(problem, claim), as_json)


def _failed(status: str, name: str, message: str, as_json: bool) -> NoReturn:
    if as_json:
        _print_json({"name": name, "status": status, "message": message})
    else:
        _console().print(Text(f"{status.upper()} {name}\n{message}", "bold red"))
    raise typer.Exit(1) from None


def _asked(find: Callable[[], Any]) -> Any:
    try:
        return find()
    except UsageError as problem:
        _refuse(str(problem))


def _in(language: str) -> Catalogue:
    try:
        return in_language(language)
    except CatalogueError as problem:
        _refuse(str(problem))


def _refuse(problem: str) -> NoReturn:
    typer.echo(f"error: {problem}", err=True)
    raise typer.Exit(2)


def _print_json(value: dict[str, Any]) -> None:
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2))


def _console() -> Console:
    return Console(highlight=False)
