"""`ckptctl undo` and `ckptctl resume`: the two ways out of an apply."""

from __future__ import annotations

from typing import Annotated

import typer

from ckptctl.cli import _options as o
from ckptctl.cli._verb import WRITES, verb
from ckptctl.errors import ExitCode
from ckptctl.model.plan import Outcome, Plan
from ckptctl.report.lines import line


def register(app: typer.Typer) -> None:
    """Add the verbs to the app."""
    verb(
        app,
        "undo",
        examples=(
            "ckptctl undo ~/ray_results/tune_lr",
            "ckptctl undo ~/ray_results/tune_lr 4be1e9b0c2aa",
            "ckptctl undo ~/ray_results/tune_lr -n",
        ),
        exits=WRITES,
    )(undo)
    verb(
        app,
        "resume",
        examples=(
            "ckptctl resume ~/ray_results/tune_lr",
            "ckptctl resume ~/ray_results/tune_lr --yes --json",
        ),
        exits=(0, 2, 10, 11, 12, 13),
    )(resume)


def undo(
    location: o.Location,
    plan_id: Annotated[
        str | None,
        typer.Argument(
            metavar="[PLAN_ID]",
            help="Which apply to take back, by `ckptctl history`; without it the last one.",
            show_default=False,
        ),
    ] = None,
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
    """Take back the last apply, or the one that is named; to undo an undo is to do it again.

    It is refused where something changed since, with a list of what did.
    """
    from ckptctl import api
    from ckptctl.cli._flow import Consent, carry_out
    from ckptctl.cli._progress import Bar

    console = o.console(form, json, out, quiet, verbose, color)
    consent = Consent(
        dry_run=dry_run,
        yes=yes,
        check=check,
        allow_live=allow_live,
        quiet_period=quiet_period,
        executor=o.executor(executor),
    )

    def act(plan: Plan, progress: Bar | None) -> Outcome:
        return api.undo(
            plan.location,
            plan_id=plan.undoes,
            allow_live=allow_live,
            quiet_period=quiet_period,
            no_lock=no_lock,
            progress=progress,
            executor=executor,
        )

    plan = api.plan_undo(location, plan_id=plan_id, executor=executor)
    plans = []
    if plan is not None:
        plans = [(api.experiment_at(plan.location, executor=executor), plan)]
    if plan is None:
        console.note([line(f"{location}: nothing is left to undo")])
    return carry_out("undo", plans, console, consent, act=act, closes=True)


def resume(
    location: o.Location,
    *,
    dry_run: o.DryRun = False,
    yes: o.Yes = False,
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
    """Finish an apply that was interrupted, or its way back.

    Steps that are done are not done again.
    """
    from ckptctl import api
    from ckptctl.cli._flow import Consent, carry_out
    from ckptctl.cli._progress import Bar

    console = o.console(form, json, out, quiet, verbose, color)
    consent = Consent(dry_run=dry_run, yes=yes, allow_live=True, executor=o.executor(executor))

    def act(plan: Plan, progress: Bar | None) -> Outcome:
        return api.resume(plan.location, no_lock=no_lock, progress=progress, executor=executor)

    plan = api.plan_resume(location, executor=executor)
    plans = []
    if plan is not None:
        plans = [(api.experiment_at(plan.location, executor=executor), plan)]
    if plan is None:
        console.note([line(f"{location}: nothing is pending")])
    return carry_out("resume", plans, console, consent, act=act, closes=True)
