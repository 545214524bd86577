"""`ckptctl policy`."""

from __future__ import annotations

import typer

from ckptctl.cli import _options as o
from ckptctl.cli._settings import LEVELS
from ckptctl.cli._verb import verb
from ckptctl.errors import ExitCode


def register(app: typer.Typer) -> None:
    """Add the verb to the app."""
    verb(
        app,
        "policy",
        examples=(
            "ckptctl policy ~/ray_results/tune_lr",
            "ckptctl policy s3://bucket/lightning_run --fail-on warning",
            "ckptctl policy ~/ray_results/tune_lr --json | jq '.findings[].message'",
        ),
        exits=(0, 1, 2, 10),
        done="shown; no finding at or above --fail-on",
        one="findings at or above --fail-on",
    )(policy)


def policy(
    location: o.Location,
    *,
    layout: o.LayoutName = None,
    trial: o.TrialGlob = None,
    fail_on: o.FailOn = "error",
    executor: o.Executor = "local",
    form: o.Format = "text",
    json: o.Json = False,
    out: o.OutFile = None,
    quiet: o.Quiet = False,
    verbose: o.Verbose = 0,
    color: o.Color = "auto",
    config: o.Config = None,
) -> ExitCode:
    """Show which settings decide what is saved, kept and deleted, and where they disagree.

    Stage by stage: Lightning's callbacks, what is reported, Ray's CheckpointConfig, and what Tune
    ranks trials by. Of each setting it says whether this trainer reads it, and in which file it
    stands. For Train V2, which leaves no settings on disk, the ranking is inferred from the order
    of the recorded checkpoints, and said to be. With --quiet only the codes of the findings.
    """
    from ckptctl import api
    from ckptctl.cli._progress import counter
    from ckptctl.report import policy as as_text
    from ckptctl.report import renderers

    limit = LEVELS.index(o.one_of("--fail-on", fail_on, LEVELS))
    console = o.console(form, json, out, quiet, verbose, color)
    o.executor(executor)
    with counter(console) as watch:
        told = api.policy(location, layout=layout, trial=trial, watch=watch, executor=executor)
        found = as_text.Policy(told=told)
    if console.structured:
        console.write(renderers.POLICY[console.form](found))
    elif quiet:
        console.paths(sorted({finding.code for finding in found.findings}))
    else:
        console.answer(as_text.render(found, console.answer_page))
    bad = fail_on != "never" and any(f.severity.rank <= limit for f in found.findings)
    return ExitCode.FINDINGS if bad else ExitCode.DONE
