"""`ckptctl history`."""

from __future__ import annotations

from typing import Annotated

import typer

from ckptctl.cli import _options as o
from ckptctl.cli._verb import verb
from ckptctl.errors import ExitCode
from ckptctl.report.lines import line
from ckptctl.report.words import count


def register(app: typer.Typer) -> None:
    """Add the verb to the app."""
    verb(
        app,
        "history",
        examples=(
            "ckptctl history ~/ray_results/tune_lr",
            "ckptctl history ~/ray_results/tune_lr --json",
            "ckptctl history ~/ray_results/tune_lr --prune",
        ),
        exits=(0, 2, 10, 11),
    )(history)


def history(
    location: o.Location,
    *,
    prune: Annotated[
        bool,
        typer.Option(
            "--prune",
            help="Drop the journals that can no longer be undone, and list those.",
            rich_help_panel="Safety",
        ),
    ] = False,
    dry_run: o.DryRun = False,
    yes: o.Yes = False,
    no_lock: o.NoLock = False,
    form: o.Format = "text",
    json: o.Json = False,
    out: o.OutFile = None,
    quiet: o.Quiet = False,
    verbose: o.Verbose = 0,
    color: o.Color = "auto",
    config: o.Config = None,
) -> ExitCode:
    """List what was applied here, the newest first.

    With --prune only the applies whose journals can no longer be undone, because something else
    changed what they left; these are dropped.
    """
    from ckptctl import api
    from ckptctl.report import history as as_text

    console = o.console(form, json, out, quiet, verbose, color)
    names = api.prunable(location) if prune else ()
    entries = tuple(e for e in api.history(location) if not prune or e.name in names)
    if console.structured:
        console.listing(as_text.document(location, entries))
    elif quiet:
        console.paths(entry.plan_id for entry in reversed(entries))
    elif prune and not entries:
        console.answer([line(_nothing(len(names)))])
    else:
        console.answer(as_text.render(entries, console.answer_page))
    if names and not dry_run:
        if not yes:
            console.confirm("\nDrop these?")
        dropped = api.prune(location, no_lock=no_lock)
        console.note([line(f"{count(len(dropped), 'journal')} dropped")])
    return ExitCode.DONE


def _nothing(leftovers: int) -> str:
    if leftovers:
        return f"{count(leftovers, 'leftover')} of applies that never began"
    return "every apply can still be undone"
