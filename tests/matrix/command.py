"""The command line of ckptctl, called in this process."""

from __future__ import annotations

import contextlib
import io
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

from ckptctl.cli.main import main
from tests.matrix.told import Broken


def call(*arguments: str | Path, expect: int | None = 0) -> Any:
    """Run a command line with --json, hold it to its exit code, and return its answer."""
    words = [*map(str, arguments), "--json"]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(words)
    if expect is not None and code != expect:
        said = err.getvalue().strip() or out.getvalue()[:2000]
        raise Broken(f"`ckptctl {' '.join(words)}` ended with {code}, not {expect}: {said}")
    return json.loads(out.getvalue())


def write(verb: str, experiment: Path, *options: str) -> Any:
    """Apply, and return the plan."""
    (plan,) = call(verb, experiment, *options, "--yes")["plans"]
    if plan["refusals"]:
        raise Broken(f"{verb} was refused: {plan['refusals']}")
    if not (plan["outcome"] and plan["outcome"]["applied"] and plan["outcome"]["verified"]):
        raise Broken(f"{verb} was not applied and verified: {plan['outcome']}")
    return plan


def findings(experiment: Path) -> Counter[tuple[str, str]]:
    """How often a scan gives a code, by severity and code."""
    _let_minutes_pass(experiment)
    found = call("scan", experiment, "--fail-on", "never")["findings"]
    return Counter((each["severity"], each["code"]) for each in found)


def _let_minutes_pass(experiment: Path) -> None:
    """Till then, what was killed looks like a run that goes on, and what is wrong is a note."""
    for path in (experiment, *experiment.rglob("*")):
        now = path.stat(follow_symlinks=False)
        os.utime(path, (now.st_atime - 300, now.st_mtime - 300), follow_symlinks=False)


def codes(found: Counter[tuple[str, str]], *severities: str) -> list[str]:
    return sorted({code for severity, code in found if severity in severities})
