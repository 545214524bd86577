"""How `latest` and `best` answer."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from ckptctl.cli._console import Console
from ckptctl.errors import ExitCode
from ckptctl.model.experiment import Experiment, Trial
from ckptctl.report.lines import Span, Style, line

Picks = Sequence[tuple[Experiment, Trial, str | None]]


def give(command: str, picks: Picks, console: Console, why_not: str) -> ExitCode:
    """Print what was chosen; 1 where some trial has no answer."""
    from ckptctl.report import document

    if console.structured:
        console.listing(document.picks_document(command, picks))
    else:
        console.paths(f"{e.location.rstrip('/')}/{path}" for e, _, path in picks if path)
    without = [own for _, own, path in picks if path is None]
    if not console.quiet:
        console.note([line(f"{own.trial_id or own.dirname}: {why_not}") for own in without])
    return ExitCode.FINDINGS if without or not picks else ExitCode.DONE


def suggest(metric: str | None, names: set[str], console: Console) -> None:
    """Say which metrics could have been asked for."""
    if console.quiet:
        return
    near = difflib.get_close_matches(metric or "", names, n=1)
    text = f"--metric with one of {', '.join(sorted(names))}" if names else "no metric is recorded"
    if near:
        text = f"did you mean {near[0]}?"
    console.note([line(Span("help: ", Style.STRONG), text, indent=2)])
