"""`ckptctl latest` and `ckptctl best`: one path a line, for scripts."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Annotated

import typer

from ckptctl.cli import _options as o
from ckptctl.cli._console import Console
from ckptctl.cli._verb import verb
from ckptctl.errors import ExitCode
from ckptctl.model.experiment import Experiment, Trial
from ckptctl.report.lines import Span, Style, line

Picks = Sequence[tuple[Experiment, Trial, str | None]]


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
    )(latest)
    verb(
        app,
        "best",
        examples=(
            "ckptctl best ~/ray_results/tune_lr",
            "ckptctl best ~/ray_results/tune_lr --metric eval/acc --mode max",
        ),
        exits=(0, 1, 2, 10),
    )(best)


def latest(
    location: o.Location,
    *,
    layout: o.LayoutName = None,
    trial: o.TrialGlob = None,
    form: o.Format = "text",
    json: o.Json = False,
    out: o.OutFile = None,
    color: o.Color = "auto",
) -> ExitCode:
    """Print the path of the newest complete checkpoint of each trial."""
    from ckptctl import api

    console = o.console(form, json, out, False, 0, color)
    picks = [
        (experiment, own, ref.path if ref else None)
        for experiment in api.scan(location, layout=layout)
        for own, ref in api.latest(experiment, trial=trial)
    ]
    return _give("latest", picks, console, "no complete checkpoint")


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
    form: o.Format = "text",
    json: o.Json = False,
    out: o.OutFile = None,
    color: o.Color = "auto",
) -> ExitCode:
    """Print the path of the best checkpoint of each trial.

    Without --metric each trial is ranked by the metric and mode that its own records name.
    """
    from ckptctl import api

    console = o.console(form, json, out, False, 0, color)
    if mode is not None:
        o.one_of("--mode", mode, ("min", "max"))
    picks = []
    experiments = api.scan(location, layout=layout)
    for experiment in experiments:
        for own, found in api.best(experiment, trial=trial, metric=metric, mode=mode):
            checkpoint = own.checkpoint(found.name) if found else None
            picks.append((experiment, own, checkpoint.path if checkpoint else None))
    code = _give("best", picks, console, f"no checkpoint reports {metric or 'a ranking metric'}")
    if code is not ExitCode.DONE:
        names = {n for e in experiments for n in api.metric_names(e)}
        console.note([line(Span("help: ", Style.STRONG), _instead(metric, names), indent=2)])
    return code


def _instead(metric: str | None, names: set[str]) -> str:
    near = difflib.get_close_matches(metric or "", names, n=1)
    if near:
        return f"did you mean {near[0]}?"
    return f"--metric with one of {', '.join(sorted(names))}" if names else "no metric is recorded"


def _give(command: str, picks: Picks, console: Console, why_not: str) -> ExitCode:
    from ckptctl.report import document
    from ckptctl.report import json as as_json

    if console.json:
        console.write(as_json.render(document.picks_document(command, picks)))
    else:
        console.paths(f"{e.location.rstrip('/')}/{path}" for e, _, path in picks if path)
    without = [own for _, own, path in picks if path is None]
    for own in without:
        console.note([line(f"{own.trial_id or own.dirname}: {why_not}")])
    return ExitCode.FINDINGS if without or not picks else ExitCode.DONE
