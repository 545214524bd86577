"""`ckptctl migrate`."""

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
        "migrate",
        examples=(
            "ckptctl scan ~/ray_results/tune_lr --for-ray 2.60.0",
            "ckptctl migrate ~/ray_results/tune_lr --to-ray 2.60.0 -n",
            "ckptctl migrate ~/ray_results/tune_lr --to-ray 2.60.0 --to-pyarrow 18",
        ),
        exits=WRITES,
    )(migrate)


def migrate(
    locations: o.Locations,
    *,
    to_ray: Annotated[
        str,
        typer.Option(
            "--to-ray",
            metavar="VERSION",
            help="The Ray that is to go on from here.",
            rich_help_panel="Target",
        ),
    ],
    to_pyarrow: Annotated[
        str | None,
        typer.Option(
            "--to-pyarrow",
            metavar="VERSION",
            help="The pyarrow beside it; without, the one of that Ray's time.",
            rich_help_panel="Target",
        ),
    ] = None,
    to_python: Annotated[
        str | None,
        typer.Option(
            "--to-python",
            metavar="VERSION",
            help="The Python that it runs on: functions that are kept by value are for one only.",
            rich_help_panel="Target",
        ),
    ] = None,
    layout: o.LayoutName = None,
    dry_run: o.DryRun = False,
    yes: o.Yes = False,
    check: o.Check = False,
    unsafe: o.Unsafe = False,
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
    """Carry the records over to another Ray, so that it goes on instead of starting over.

    No folder moves. The plan is printed first, and undo takes it back byte for byte.
    """
    from ckptctl import api
    from ckptctl.cli._flow import Consent, Planned, carry_out, planned

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
    required = o.settings(config).required

    def make(location: str) -> list[Planned]:
        return [
            (
                experiment,
                api.plan_migrate(
                    experiment,
                    to_ray=to_ray,
                    to_pyarrow=to_pyarrow,
                    to_python=to_python,
                    unsafe=unsafe,
                ),
            )
            for experiment in api.experiments(
                location,
                layout=layout,
                collect_globals=True,
                required=required,
                executor=executor,
            )
        ]

    plans, failures = planned(locations, make, console, consent)
    return carry_out("migrate", plans, console, consent, failures=failures)
