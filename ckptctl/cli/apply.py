"""`ckptctl apply`."""

from __future__ import annotations

from typing import Annotated

import typer

from ckptctl.cli import _options as o
from ckptctl.cli._verb import WRITES, verb
from ckptctl.errors import ExitCode, LocationError


def register(app: typer.Typer) -> None:
    """Add the verb to the app."""
    verb(
        app,
        "apply",
        examples=(
            "ckptctl reindex ~/ray_results/tune_lr -n --plan-out plan.json",
            "ckptctl apply plan.json",
            "ckptctl apply plan.json --yes --json",
        ),
        exits=WRITES,
    )(apply)


def apply(
    plan_file: Annotated[
        str, typer.Argument(metavar="PLAN.json", help="A plan saved with --plan-out.")
    ],
    *,
    dry_run: o.DryRun = False,
    yes: o.Yes = False,
    check: o.Check = False,
    allow_live: o.AllowLive = False,
    quiet_period: o.QuietPeriod = 60.0,
    no_lock: o.NoLock = False,
    executor: o.Executor = "local",
    form: o.Format = "text",
    json: o.Json = False,
    out: o.OutFile = None,
    quiet: o.Quiet = False,
    verbose: o.Verbose = 0,
    color: o.Color = "auto",
    config: o.Config = None,
) -> ExitCode:
    """Apply a saved plan; it is refused if what it was made from has changed."""
    from ckptctl import api
    from ckptctl.cli._flow import Consent, carry_out

    console = o.console(form, json, out, quiet, verbose, color)
    consent = Consent(
        dry_run=dry_run,
        yes=yes,
        check=check,
        allow_live=allow_live,
        quiet_period=quiet_period,
        no_lock=no_lock,
        executor=o.executor(executor),
    )
    plan = api.plan_from_json(_read(plan_file), source=plan_file)
    found = api.experiment_at(plan.location, executor=executor)
    return carry_out("apply", [(found, plan)], console, consent)


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        reason = error.strerror or str(error)
        raise LocationError(f"cannot read {path}: {reason}", location=path) from error
