"""`ckptctl scan`."""

from __future__ import annotations

from typing import Annotated

import typer

from ckptctl.cli import _options as o
from ckptctl.cli._settings import LEVELS
from ckptctl.cli._verb import verb
from ckptctl.errors import ExitCode


def register(app: typer.Typer) -> None:
    """Add the verb to the app."""
    verb(
        app,
        "scan",
        examples=(
            "ckptctl scan ~/ray_results/tune_lr",
            "ckptctl scan ~/ray_results --select CKP1 --fail-on warning",
            "ckptctl scan ~/ray_results/tune_lr --json | jq '.summary'",
        ),
        exits=(0, 1, 2, 10),
        done="no finding at or above --fail-on",
        one="findings at or above --fail-on",
    )(scan)


def scan(
    locations: o.Locations,
    *,
    layout: o.LayoutName = None,
    trial: o.TrialGlob = None,
    select: o.Select = None,
    ignore: o.Ignore = None,
    fail_on: o.FailOn = "error",
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline",
            metavar="FILE",
            help="Leave out the findings that this file has: only new ones count.",
            rich_help_panel="Selection",
        ),
    ] = None,
    write_baseline: Annotated[
        str | None,
        typer.Option(
            "--write-baseline",
            metavar="FILE",
            help="Write a baseline that has all that is found now, and exit 0.",
            rich_help_panel="Selection",
        ),
    ] = None,
    for_ray: o.ForRay = None,
    for_pyarrow: o.ForPyarrow = None,
    deep: o.Deep = False,
    html: Annotated[
        str | None,
        typer.Option(
            "--html",
            metavar="FILE",
            help="Write a page with charts to a file too.",
            rich_help_panel="Output",
        ),
    ] = None,
    executor: o.Executor = "local",
    form: o.Format = "text",
    json: o.Json = False,
    out: o.OutFile = None,
    quiet: o.Quiet = False,
    verbose: o.Verbose = 0,
    color: o.Color = "auto",
    config: o.Config = None,
) -> ExitCode:
    """Show what is there, and where the records disagree with it. Never writes.

    Each trial is a row: its folders and the last index among them, then what each witness
    believes the last index to be: the driver's record of the trial, and the result log of the
    session. Findings follow, with the command that mends each.
    """
    from ckptctl.cli._scanning import Asked, carry_out

    console = o.console(form, json, out, quiet, verbose, color)
    asked = Asked(
        locations=locations,
        layout=layout,
        trial=trial,
        select=o.codes(select),
        ignore=o.codes(ignore),
        fail_on=o.one_of("--fail-on", fail_on, LEVELS),
        baseline=baseline,
        write_baseline=write_baseline,
        for_ray=for_ray,
        for_pyarrow=for_pyarrow,
        deep=deep,
        executor=o.executor(executor),
        html=html,
    )
    return carry_out(asked, console, o.settings(config))
