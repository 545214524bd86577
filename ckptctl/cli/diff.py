"""`ckptctl diff`."""

from __future__ import annotations

from typing import Annotated

import typer

from ckptctl.cli import _options as o
from ckptctl.cli._verb import verb
from ckptctl.errors import ExitCode

_PLACE = "A path or URL of one place of the experiment."


def register(app: typer.Typer) -> None:
    """Add the verb to the app."""
    verb(
        app,
        "diff",
        examples=(
            "ckptctl diff ~/ray_results/tune_lr s3://bucket/tune_lr",
            "ckptctl diff s3://bucket/tune_lr gs://bucket/tune_lr --json",
            "ckptctl diff ~/ray_results/tune_lr /mnt/backup/tune_lr --quiet",
        ),
        exits=(0, 1, 2, 10),
        done="nothing differs",
        one="there are differences",
    )(diff)


def diff(
    a: Annotated[str, typer.Argument(metavar="A", help=_PLACE)],
    b: Annotated[str, typer.Argument(metavar="B", help="The other place.")],
    *,
    form: o.Format = "text",
    json: o.Json = False,
    out: o.OutFile = None,
    quiet: o.Quiet = False,
    verbose: o.Verbose = 0,
    color: o.Color = "auto",
    config: o.Config = None,
) -> ExitCode:
    """Compare two places of one experiment by names, sizes and checksums.

    One mark a line: = the same, * differs, + only in A, - only in B. With --quiet only the
    names of what is not the same. ckptctl's own folder is left out, and links are not followed.
    """
    from ckptctl import api
    from ckptctl.report import diff as as_text

    console = o.console(form, json, out, quiet, verbose, color)
    found = api.diff(a, b)
    if console.structured:
        console.listing(as_text.document(found))
    elif quiet:
        console.paths(one.path for one in found.files if one.mark != "=")
    else:
        console.answer(as_text.render(found.files))
        console.note([as_text.summary(found)])
    return ExitCode.DONE if found.identical else ExitCode.FINDINGS
