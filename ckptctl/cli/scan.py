"""`ckptctl scan`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ckptctl.cli import _options as o
from ckptctl.cli._console import Console
from ckptctl.cli._verb import verb
from ckptctl.errors import CkptctlError, ExitCode, LocationError

if TYPE_CHECKING:
    from ckptctl.report.renderers import Scan

_LEVELS = ("error", "warning", "info", "never")


def register(app: typer.Typer) -> None:
    """Add the verb to the app."""
    verb(
        app,
        "scan",
        examples=(
            "ckptctl scan ~/ray_results/tune_lr",
            "ckptctl scan ~/ray_results --select CKP1 --fail-on warning",
            "ckptctl scan ~/ray_results/tune_lr --json | jq '.summary'",
            "ckptctl scan ~/ray_results --html report.html",
        ),
        exits=(0, 1, 2, 10),
    )(scan)


def scan(
    locations: o.Locations,
    *,
    layout: o.LayoutName = None,
    trial: o.TrialGlob = None,
    select: o.Select = None,
    ignore: o.Ignore = None,
    fail_on: o.FailOn = "error",
    html: Annotated[
        str | None,
        typer.Option(
            "--html",
            metavar="FILE",
            help="Write a page with charts to a file too.",
            rich_help_panel="Output",
        ),
    ] = None,
    form: o.Format = "text",
    json: o.Json = False,
    out: o.OutFile = None,
    quiet: o.Quiet = False,
    verbose: o.Verbose = 0,
    color: o.Color = "auto",
) -> ExitCode:
    """Show what is there, and where the records disagree with it. Never writes.

    Each trial is a row: its folders and the last index among them, then what each witness
    believes the last index to be: the driver's record of the trial, and the result log of the
    session. Findings follow, with the command that mends each.
    """
    from ckptctl import api
    from ckptctl.cli._failure import report
    from ckptctl.report.renderers import Scan

    console = o.console(form, json, out, quiet, verbose, color)
    o.one_of("--fail-on", fail_on, _LEVELS)
    chosen, ignored = o.codes(select), o.codes(ignore)
    experiments, findings, failures = [], [], []
    for location in locations:
        try:
            audited = api.audit(location, layout=layout, trial=trial, select=chosen, ignore=ignored)
        except CkptctlError as error:
            failures.append(error)
            continue
        experiments += [experiment for experiment, _ in audited]
        findings += [finding for _, found in audited for finding in found]
    bad = [f for f in findings if fail_on != "never" and f.severity.rank <= _LEVELS.index(fail_on)]
    if failures and len(locations) == 1:
        raise failures[0]
    rules = api.rules(select=chosen, ignore=ignored)
    found = Scan(experiments=experiments, findings=findings, rules=rules)
    if quiet and not console.structured:
        console.paths(dict.fromkeys(f.experiment for f in bad))
    else:
        _answer(found, console)
    if html is not None:
        _page(found, html)
    for failure in failures:
        report(failure, console)
    if failures:
        return failures[0].exit_code
    return ExitCode.FINDINGS if bad else ExitCode.DONE


def _answer(found: Scan, console: Console) -> None:
    from ckptctl.cli._github import summarise
    from ckptctl.report import github, renderers
    from ckptctl.report import scan as as_text

    if console.structured:
        console.write(renderers.SCAN[console.form](found))
        summarise(github.summary(found.experiments, found.findings), console)
    else:
        console.answer(as_text.render(found.experiments, found.findings, console.answer_page))


def _page(found: Scan, path: str) -> None:
    from ckptctl.report import html

    text = html.scan(found.experiments, found.findings, found.rules)
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        reason = error.strerror or str(error)
        raise LocationError(f"cannot write {path}: {reason}", location=path) from error
