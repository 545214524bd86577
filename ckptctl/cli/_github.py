"""The summary of a step in GitHub Actions: a file that the environment names."""

from __future__ import annotations

import os

from ckptctl.cli._console import Console
from ckptctl.cli._failure import report
from ckptctl.errors import LocationError

VARIABLE = "GITHUB_STEP_SUMMARY"


def summarise(text: str, console: Console) -> None:
    """Append to the step's summary, where there is one; the answer stands without it too."""
    path = os.environ.get(VARIABLE)
    if not path or console.form != "github":
        return
    try:
        with open(path, "a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
    except OSError as error:
        reason = error.strerror or str(error)
        report(LocationError(f"cannot write {path}: {reason}", location=path), console)
