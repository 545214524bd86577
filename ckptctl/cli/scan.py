"""`ckptctl scan`."""

from __future__ import annotations

import typer

from ckptctl.cli import _options as o
from ckptctl.cli._verb import verb
from ckptctl.errors import CkptctlError, ExitCode

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
    from ckptctl.report import document
    from ckptctl.report import json as as_json
    from ckptctl.report import scan as as_text

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
    if console.json:
        console.write(as_json.render(document.scan_document(experiments, findings)))
    elif quiet:
        console.paths(dict.fromkeys(f.experiment for f in bad))
    else:
        console.answer(as_text.render(experiments, findings, console.answer_page))
    for failure in failures:
        report(failure, console)
    if failures:
        return failures[0].exit_code
    return ExitCode.FINDINGS if bad else ExitCode.DONE
