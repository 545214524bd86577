"""`ckptctl rename`."""

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
        "rename",
        examples=(
            "ckptctl rename runs/tune_lr --to 'checkpoint_{training_iteration:06d}-{loss:.4f}'",
            "ckptctl rename runs/tune_lr --to 'checkpoint_{index:06d}-{eval/acc:.3f}' --dry-run",
            "ckptctl rename runs/tune_lr --to 'checkpoint_{training_iteration:06d}' --yes",
        ),
        exits=WRITES,
    )(rename)


def rename(
    locations: o.Locations,
    *,
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="TEMPLATE",
            help="Literal text and {field:spec}; fields are index, training_iteration, trial_id, "
            "timestamp, and every reported metric. Or @name of one that ckptctl.toml has.",
            rich_help_panel="Names",
            show_default=False,
        ),
    ],
    on_missing: o.OnMissing = "error",
    allow_reorder: o.AllowReorder = False,
    layout: o.LayoutName = None,
    trial: o.TrialGlob = None,
    dry_run: o.DryRun = False,
    yes: o.Yes = False,
    check: o.Check = False,
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
    """Give checkpoint folders names made from metrics; every record follows.

    The plan is printed first. It is refused where two names collide, a metric is missing, a
    reader could not find a name, or names would not sort in the order of the saves.
    """
    from ckptctl import api
    from ckptctl.cli._flow import Consent, Planned, carry_out, planned

    console = o.console(form, json, out, quiet, verbose, color)
    settings = o.settings(config)
    template = settings.template(to)
    lenient = o.one_of("--on-missing", on_missing, ("error", "skip")) == "skip"
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

    def make(location: str) -> list[Planned]:
        return [
            (
                experiment,
                api.plan_rename(
                    experiment,
                    template=template,
                    trial=trial,
                    on_missing="skip" if lenient else "error",
                    allow_reorder=allow_reorder,
                ),
            )
            for experiment in api.experiments(
                location,
                layout=layout,
                trial=trial,
                required=settings.required,
                executor=executor,
            )
        ]

    plans, failures = planned(locations, make, console, consent)
    return carry_out("rename", plans, console, consent, failures=failures)
