"""The inventory of a scan: per trial, the folders and what each witness believes of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ckptctl.model.bookkeeping import Witness
from ckptctl.model.checkpoint import Checkpoint
from ckptctl.model.experiment import Experiment, Trial
from ckptctl.model.finding import Finding, Severity
from ckptctl.report import overview, words
from ckptctl.report.lines import (
    BLANK,
    Line,
    Page,
    Span,
    Style,
    fits,
    length,
    line,
    spread,
    table,
    wrap,
)
from ckptctl.report.spark import spark

_ROWS = 24
"""Trials that a terminal shows before the rest is only counted."""


def render(
    experiment: Experiment, findings: Sequence[Finding], page: Page, title: str
) -> list[Line]:
    """One experiment: a headline, and a row for each trial."""
    rows = _worth_a_row(experiment, findings, page)
    lines = _headline(experiment, title, _verdict(findings, page), page)
    lines += _reasons(experiment, page)
    if rows:
        lines += [BLANK, *_table(experiment, rows, page)]
    if left := len(experiment.trials) - len(rows):
        rest = f"{words.count(left, 'more trial')} not shown; -v lists all"
        lines.append(line(Span(f"{page.marks.dots} {rest}", Style.DIM), indent=2))
    if page.verbose:
        lines += _checkpoints(experiment, page)
    return lines


def _headline(experiment: Experiment, title: str, verdict: Line, page: Page) -> list[Line]:
    facts = page.marks.dot.join(overview.facts(experiment))
    row = line(Span(title, Style.STRONG), f"   {facts}")
    if page.width is None or length(row) <= page.width:
        return spread(row, verdict, page)
    below = wrap(facts, page, indent=2)
    return [line(Span(title, Style.STRONG)), *below, line(*verdict, indent=2)]


def _verdict(findings: Sequence[Finding], page: Page) -> Line:
    levels = Counter(f.severity for f in findings)
    if not levels[Severity.ERROR] and not levels[Severity.WARNING]:
        return line("clean")
    spans: list[Span] = []
    for severity, style in ((Severity.ERROR, Style.ERROR), (Severity.WARNING, Style.WARNING)):
        if levels[severity]:
            spans += [Span(page.marks.dot)] if spans else []
            spans.append(Span(words.count(levels[severity], str(severity)), style))
    return tuple(spans)


def _reasons(experiment: Experiment, page: Page) -> list[Line]:
    if not page.verbose:
        return []
    facts = (
        ("location", experiment.location),
        (
            "layout",
            f"{experiment.layout}: {experiment.why}" if experiment.why else experiment.layout,
        ),
        ("state file", experiment.state_file),
        ("recorded root", experiment.recorded_root),
    )
    return [line(Span(f"{name:<13}  ", Style.DIM), fact, indent=2) for name, fact in facts if fact]


def _worth_a_row(
    experiment: Experiment, findings: Sequence[Finding], page: Page
) -> tuple[Trial, ...]:
    """Choose the trials to show: all, or at a terminal the ones in trouble first."""
    if not page.brief or len(experiment.trials) <= _ROWS:
        return experiment.trials
    troubled = {f.trial for f in findings if f.severity is not Severity.INFO}
    chosen = sorted(experiment.trials, key=lambda t: t.dirname not in troubled)[:_ROWS]
    return tuple(t for t in experiment.trials if t in chosen)


def _table(experiment: Experiment, trials: Sequence[Trial], page: Page) -> list[Line]:
    names = overview.labels(experiment)
    shown = overview.speakers(trials)
    best = next((t.best for t in trials if t.best), None)
    sign = _sign(best.mode, page) if best else ""
    header = ["trial", "status", "folders", *(str(w) for w in shown), "latest"]
    header += ["best", f"{best.metric} {sign}"] if best else []
    wide = max((len(str(len(t.folders))) for t in trials), default=1)
    rows: list[list[Span]] = []
    for trial in trials:
        row = [Span(names[trial.dirname]), Span(str(trial.status or page.marks.none))]
        row.append(Span(_folders(trial, wide, page)))
        row += [_believes(trial, w, page) for w in shown]
        row.append(Span(trial.latest.name if trial.latest else page.marks.none))
        row += _best(trial, f"{best.metric} {sign}", page) if best else []
        rows.append([*row, Span(", ".join(overview.notes(trial)), Style.DIM)])
    if best:
        header, rows = _with_sparks(header, rows, trials, best.metric, page)
    return table([*header, ""], rows, page)


def _with_sparks(
    header: list[str],
    rows: list[list[Span]],
    trials: Sequence[Trial],
    metric: str,
    page: Page,
) -> tuple[list[str], list[list[Span]]]:
    """Add how the metric went along the saves, where it can be drawn and has room."""
    sparks = [spark(trial, metric, page) for trial in trials]
    drawn = [[*r[:-1], Span(text), r[-1]] for r, text in zip(rows, sparks, strict=True)]
    if not any(sparks) or not fits([*header, "", ""], drawn, page):
        return header, rows
    return [*header, ""], drawn


def _folders(trial: Trial, wide: int, page: Page) -> str:
    last = overview.last_folder(trial)
    number = f"{len(trial.folders):>{wide}}"
    return number if last is None else f"{number}  {page.marks.dots}{last}"


def _believes(trial: Trial, witness: Witness, page: Page) -> Span:
    index, last = overview.last_by(trial, witness), overview.last_folder(trial)
    if index is None:
        return Span(page.marks.none, Style.DIM)
    if last is not None and index < last:
        return Span(f"{index} {page.marks.behind}", Style.STRONG)
    return Span(str(index))


def _best(trial: Trial, title: str, page: Page) -> list[Span]:
    if trial.best is None:
        return [Span(page.marks.none, Style.DIM), Span("")]
    own = f"{trial.best.metric} {_sign(trial.best.mode, page)}"
    text = words.value(trial.best.value)
    return [Span(trial.best.name), Span(text if own == title else f"{text} ({own})")]


def _sign(mode: str, page: Page) -> str:
    return page.marks.lowest if mode == "min" else page.marks.highest


def _checkpoints(experiment: Experiment, page: Page) -> list[Line]:
    lines: list[Line] = []
    for trial in experiment.trials:
        if trial.checkpoints:
            lines += [BLANK, line(Span(trial.dirname, Style.STRONG), indent=2)]
            header = ("checkpoint", "state", "iteration", "files", "size", "recorded by")
            rows = [_checkpoint(c, page) for c in trial.checkpoints]
            lines += table(header, rows, page, indent=4)
    return lines


def _checkpoint(checkpoint: Checkpoint, page: Page) -> list[Span]:
    iteration = checkpoint.training_iteration
    return [
        Span(checkpoint.name),
        Span(str(checkpoint.state)),
        Span(page.marks.none if iteration is None else str(iteration)),
        Span(str(checkpoint.files)),
        Span(words.size(checkpoint.size_bytes)),
        Span(", ".join(checkpoint.recorded_by) or page.marks.none),
    ]
