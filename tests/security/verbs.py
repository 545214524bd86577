"""Verbs run in this process, judged by the same law as those of the fuzz run."""

from __future__ import annotations

import gc
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO

from ckptctl.cli.main import main
from tests.fuzz.run import CODES, PYTHON

TEMPLATE = "checkpoint_{training_iteration:06d}-{loss:.4f}"
FORMATS = ("text", "json", "jsonl", "tsv", "csv", "github", "sarif", "junit", "markdown")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a verb said, and its exit code."""

    code: int
    out: str
    err: str


def run(*words: object) -> Answer:
    """Run a verb; a traceback, an unknown exit code or Python's own words are a failure."""
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            code = main([str(word) for word in words])
        finally:
            gc.enable()  # a process of its own goes without
    answer = Answer(code, out.getvalue(), err.getvalue())
    assert code in CODES, answer
    found = PYTHON.search(answer.out + answer.err)
    assert found is None, (found, answer)
    return answer


def change(verb: str, place: object, *more: str) -> Answer:
    """Run a verb that writes, whatever looks alive."""
    return run(verb, place, "--yes", "--allow-live", *more)
