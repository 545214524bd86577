"""`ckptctl rules`."""

from __future__ import annotations

from typing import Annotated

import typer

from ckptctl.cli import _options as o
from ckptctl.cli._verb import verb
from ckptctl.errors import ExitCode


def register(app: typer.Typer) -> None:
    """Add the verb to the app."""
    verb(
        app,
        "rules",
        examples=("ckptctl rules", "ckptctl rules CKP101", "ckptctl rules --json"),
        exits=(0, 2),
    )(rules)


def rules(
    code: Annotated[
        str | None,
        typer.Argument(metavar="[CODE]", help="A code or a rule name.", show_default=False),
    ] = None,
    *,
    form: o.Format = "text",
    json: o.Json = False,
    out: o.OutFile = None,
    quiet: o.Quiet = False,
    verbose: o.Verbose = 0,
    color: o.Color = "auto",
    config: o.Config = None,
) -> ExitCode:
    """List the findings that exist, or explain one."""
    from ckptctl import api
    from ckptctl.report import rules as as_text

    console = o.console(form, json, out, quiet, verbose, color)
    chosen = api.rules() if code is None else (api.rule(code),)
    if console.structured:
        console.listing(as_text.document(chosen))
    elif quiet:
        console.paths(rule.code for rule in chosen)
    elif code is None:
        console.answer(as_text.listing(chosen, console.answer_page))
    else:
        console.answer(as_text.explanation(chosen[0], console.answer_page))
    return ExitCode.DONE
