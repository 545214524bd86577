"""`ckptctl history`."""

from __future__ import annotations

import typer

from ckptctl.cli import _options as o
from ckptctl.cli._verb import verb
from ckptctl.errors import ExitCode


def register(app: typer.Typer) -> None:
    """Add the verb to the app."""
    verb(
        app,
        "history",
        examples=("ckptctl history EXP", "ckptctl history EXP --json"),
        exits=(0, 2, 10),
    )(history)


def history(
    location: o.Location,
    *,
    form: o.Format = "text",
    json: o.Json = False,
    out: o.OutFile = None,
    quiet: o.Quiet = False,
    verbose: o.Verbose = 0,
    color: o.Color = "auto",
) -> ExitCode:
    """List what was applied here, the newest first."""
    from ckptctl import api
    from ckptctl.report import history as as_text

    console = o.console(form, json, out, quiet, verbose, color)
    entries = api.history(location)
    if console.structured:
        console.listing(as_text.document(location, entries))
    elif quiet:
        console.paths(entry.plan_id for entry in reversed(entries))
    else:
        console.answer(as_text.render(entries, console.answer_page))
    return ExitCode.DONE
