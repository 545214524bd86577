"""`ckptctl reindex`."""

from __future__ import annotations

from typing import Annotated

import typer

from ckptctl.cli import _options as o
from ckptctl.cli._verb import WRITES, verb
from ckptctl.errors import ExitCode


def register(app: typer.Typer) -> None:
    """Add the verb to the app."""
    verb(
        app,
        "reindex",
        examples=(
            "ckptctl reindex ~/ray_results/tune_lr",
            "ckptctl reindex ~/ray_results/tune_lr --check",
            "ckptctl reindex ~/ray_results/tune_lr --by training_iteration",
        ),
        exits=WRITES,
    )(reindex)


def reindex(
    locations: o.Locations,
    *,
    by: Annotated[
        str | None,
        typer.Option(
            "--by",
            metavar="POLICY",
            help="Renumber the folders: sequential, training_iteration or another metric, ray-2.6, "
            "module:function of your own, called with (metrics, previous_index), or @name of one "
            "that ckptctl.toml has.",
            rich_help_panel="Indices",
        ),
    ] = None,
    relocate: Annotated[
        bool,
        typer.Option(
            "--relocate",
            help="Rewrite recorded roots to where the experiment lies now.",
            rich_help_panel="Indices",
        ),
    ] = False,
    allow_reorder: o.AllowReorder = False,
    layout: o.LayoutName = None,
    trial: o.TrialGlob = None,
    deep: o.Deep = False,
    dry_run: o.DryRun = False,
    yes: o.Yes = False,
    check: o.Check = False,
    unsafe: o.Unsafe = False,
    quarantine: o.Quarantine = False,
    allow_live: o.AllowLive = False,
    quiet_period: o.QuietPeriod = 60.0,
    no_lock: o.NoLock = False,
    keep_going: o.KeepGoing = False,
    plan_out: o.PlanOut = None,
    executor: o.Executor = "local",
    form: o.Format = "text",
    json: o.Json = False,
    out: o.OutFile = None,
    quiet: o.Quiet = False,
    verbose: o.Verbose = 0,
    color: o.Color = "auto",
    config: o.Config = None,
) -> ExitCode:
    """Make the records agree with the folders; with --by, renumber the folders too.

    Without --by no folder moves. The plan is printed first.
    """
    from ckptctl import api
    from ckptctl.cli._flow import Consent, Planned, carry_out, planned
    from ckptctl.cli._policy import policy

    console = o.console(form, json, out, quiet, verbose, color)
    consent = Consent(
        dry_run=dry_run,
        yes=yes,
        check=check,
        keep_going=keep_going,
        allow_live=allow_live,
        quiet_period=quiet_period,
        no_lock=no_lock,
        plan_out=plan_out,
        executor=o.executor(executor),
    )
    settings = o.settings(config)
    chosen = policy(by, settings)

    def make(location: str) -> list[Planned]:
        return [
            (
                experiment,
                api.plan_reindex(
                    experiment,
                    by=chosen,
                    trial=trial,
                    allow_reorder=allow_reorder,
                    unsafe=unsafe,
                    relocate=relocate,
                    quarantine=quarantine,
                ),
            )
            for experiment in api.experiments(
                location,
                layout=layout,
                trial=trial,
                deep=deep,
                required=settings.required,
                executor=executor,
            )
        ]

    plans, failures = planned(locations, make, console, consent)
    return carry_out("reindex", plans, console, consent, failures=failures)
