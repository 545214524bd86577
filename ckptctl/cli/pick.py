"""`ckptctl latest` and `ckptctl best`: one path a line, for scripts."""

from __future__ import annotations

from typing import Annotated

import typer

from ckptctl.cli import _options as o
from ckptctl.cli._picks import give, suggest
from ckptctl.cli._verb import verb
from ckptctl.errors import ExitCode
from ckptctl.model.experiment import Experiment


def register(app: typer.Typer) -> None:
    """Add the verbs to the app."""
    verb(
        app,
        "latest",
        examples=(
            "ckptctl latest ~/ray_results/tune_lr",
            "ckptctl latest ~/ray_results/tune_lr --trial 'c08b9_00000'",
        ),
        exits=(0, 1, 2, 10),
        done="every trial has an answer",
        one="no answer for some trial",
    )(latest)
    verb(
        app,
        "best",
        examples=(
            "ckptctl best ~/ray_results/tune_lr",
            "ckptctl best ~/ray_results/tune_lr --metric eval/acc --mode max",
        ),
        exits=(0, 1, 2, 10),
        done="every trial has an answer",
        one="no answer for some trial",
    )(best)


def latest(
    location: o.Location,
    *,
    layout: o.LayoutName = None,
    trial: o.TrialGlob = None,
    deep: o.Deep = False,
    executor: o.Executor = "local",
    form: o.Format = "text",
    json: o.Json = False,
    out: o.OutFile = None,
    quiet: o.Quiet = False,
    verbose: o.Verbose = 0,
    color: o.Color = "auto",
    config: o.Config = None,
) -> ExitCode:
    """Print the path of the newest complete checkpoint of each trial."""
    from ckptctl import api

    console = o.console(form, json, out, quiet, verbose, color)
    picks = [
        (experiment, own, ref.path if ref else None)
        for experiment in _read(location, layout, trial, deep, executor, config)
        for own, ref in api.latest(experiment, trial=trial)
    ]
    return give("latest", picks, console, "no complete checkpoint")


def best(
    location: o.Location,
    *,
    metric: Annotated[
        str | None,
        typer.Option(
            "--metric",
            metavar="M",
            help="The metric to rank by, if not the trial's own.",
            rich_help_panel="Ranking",
        ),
    ] = None,
    mode: Annotated[
        str | None,
        typer.Option(
            "--mode",
            metavar="min|max",
            help="Which end of the metric is best.",
            rich_help_panel="Ranking",
        ),
    ] = None,
    layout: o.LayoutName = None,
    trial: o.TrialGlob = None,
    deep: o.Deep = False,
    executor: o.Executor = "local",
    form: o.Format = "text",
    json: o.Json = False,
    out: o.OutFile = None,
    quiet: o.Quiet = False,
    verbose: o.Verbose = 0,
    color: o.Color = "auto",
    config: o.Config = None,
) -> ExitCode:
    """Print the path of the best checkpoint of each trial.

    Without --metric each trial is ranked by the metric and mode that its own records name.
    """
    from ckptctl import api

    console = o.console(form, json, out, quiet, verbose, color)
    if mode is not None:
        o.one_of("--mode", mode, ("min", "max"))
    picks = []
    experiments = _read(location, layout, trial, deep, executor, config)
    for experiment in experiments:
        for own, found in api.best(experiment, trial=trial, metric=metric, mode=mode):
            checkpoint = own.checkpoint(found.name) if found else None
            picks.append((experiment, own, checkpoint.path if checkpoint else None))
    code = give("best", picks, console, f"no checkpoint reports {metric or 'a ranking metric'}")
    if code is not ExitCode.DONE:
        suggest(metric, {n for e in experiments for n in api.metric_names(e)}, console)
    return code


def _read(  # noqa: PLR0917 - in the order of the help
    location: str,
    layout: str | None,
    trial: str | None,
    deep: bool,
    executor: str,
    config: str | None,
) -> tuple[Experiment, ...]:
    from ckptctl import api

    return api.experiments(
        location,
        layout=layout,
        trial=trial,
        deep=deep,
        required=o.settings(config).required,
        executor=o.executor(executor),
    )
