"""The trials on the page: a chart and a list of checkpoints each, folded where they are many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from ckptctl.model.checkpoint import Checkpoint, CheckpointState
from ckptctl.model.experiment import Experiment, Trial
from ckptctl.report import svg, words
from ckptctl.report.chart import Chart, chart
from ckptctl.report.markup import EMPTY, Markup, el
from ckptctl.report.overview import Overview
from ckptctl.report.rows import is_latest

_OPEN = 4
"""Trials that are shown open."""
_DETAILED = 1000
"""Trials that have a chart; those in trouble come first."""

_STYLES = {
    CheckpointState.MISSING: "error",
    CheckpointState.EMPTY: "error",
    CheckpointState.PARTIAL: "error",
    CheckpointState.TEMPORARY: "warning",
}


class Limits(Struct, frozen=True, kw_only=True):
    """What each trial may take of the page."""

    trials: int
    rows: int
    budget: svg.Budget

    @classmethod
    def of(cls, trials: int) -> Limits:
        """Share out a page among its trials."""
        many = min(max(trials, 1), _DETAILED)
        rows = max(10, min(5_000 // many, 200))
        return cls(trials=_DETAILED, rows=rows, budget=svg.Budget.of(many))


def chosen(rows: Sequence[Overview], limits: Limits) -> Sequence[Overview]:
    """Choose the trials that have a chart, in their order."""
    if len(rows) <= limits.trials:
        return rows
    ranked = sorted(rows, key=lambda r: 3 if r.worst is None else r.worst.rank)
    kept = {row.trial.dirname for row in ranked[: limits.trials]}
    return [row for row in rows if row.trial.dirname in kept]


def details(
    experiment: Experiment,
    rows: Sequence[Overview],
    anchors: Mapping[str, str],
    limits: Limits,
) -> list[Markup]:
    """Lay out each trial, under a legend for all charts."""
    charts = {row.trial.dirname: chart(row.trial) for row in rows}
    if not any(row.trial.checkpoints or charts[row.trial.dirname] for row in rows):
        return []
    parts = [el("h3", "Checkpoints"), svg.legend()]
    for row in rows:
        own = charts[row.trial.dirname]
        parts.append(_trial(row, own, anchors[row.trial.dirname], limits, few=len(rows) <= _OPEN))
    if left := len(experiment.trials) - len(rows):
        parts.append(el("p", f"{words.count(left, 'more trial')} without a chart", class_="soft"))
    return parts


def _trial(row: Overview, own: Chart | None, anchor: str, limits: Limits, *, few: bool) -> Markup:
    trial = row.trial
    worst = row.worst
    badge = el("span", str(worst), class_=f"badge {worst}") if worst else None
    title = el(
        "summary",
        el("span", row.label, class_="code"),
        el("span", row.status, class_="soft") if row.status else None,
        el("span", words.count(row.folders, "checkpoint"), class_="soft"),
        badge,
    )
    name = el("p", trial.dirname, class_="code") if trial.dirname != row.label else EMPTY
    drawn = svg.draw(own, limits.budget) if own else EMPTY
    listed = _checkpoints(trial, own, limits) if trial.checkpoints else EMPTY
    shown = "" if few else None
    # Inside the fold, so that a link to it opens the fold.
    inner = el("div", name, drawn, listed, id=anchor)
    return el("details", title, inner, class_="trial", open=shown)


def _checkpoints(trial: Trial, own: Chart | None, limits: Limits) -> Markup:
    names = ["checkpoint", "state", "iteration"]
    names += [own.metric] if own else []
    names += ["files", "size", "recorded by"]
    numbers = set(names) - {"checkpoint", "state", "recorded by"}
    head = el("tr", *(el("th", n, class_="number" if n in numbers else None) for n in names))
    told = _newest(trial, limits.rows)
    body = [_checkpoint(trial, c, own, names, numbers) for c in told]
    table = el("table", el("thead", head), el("tbody", *body), class_="stack")
    more = EMPTY
    if left := len(trial.checkpoints) - len(told):
        more = el("p", f"{words.count(left, 'earlier checkpoint')} not listed", class_="soft")
    return el("div", table, more, class_="scroll")


def _newest(trial: Trial, most: int) -> Sequence[Checkpoint]:
    """Choose what to list: the trouble, the best, and of the rest the newest."""
    if len(trial.checkpoints) <= most:
        return trial.checkpoints
    best = trial.best.name if trial.best else None

    def rank(c: Checkpoint) -> tuple[bool, int]:
        return c.state is CheckpointState.COMPLETE and c.name != best, -c.saved

    kept = {c.name for c in sorted(trial.checkpoints, key=rank)[:most]}
    return [c for c in trial.checkpoints if c.name in kept]


def _checkpoint(
    trial: Trial,
    checkpoint: Checkpoint,
    own: Chart | None,
    names: Sequence[str],
    numbers: set[str],
) -> Markup:
    told = [word for word, on in _words(trial, checkpoint) if on]
    note = el("span", f"  {', '.join(told)}", class_="note") if told else None
    iteration = checkpoint.training_iteration
    cells: list[Markup | str] = [
        el("span", el("span", checkpoint.name, class_="code"), note),
        el("span", str(checkpoint.state), class_=_STYLES.get(checkpoint.state)),
        "" if iteration is None else str(iteration),
    ]
    cells += [_value(checkpoint.metrics.get(own.metric))] if own else []
    gone = checkpoint.state is CheckpointState.MISSING
    cells += ["" if gone else str(checkpoint.files)]
    cells += ["" if gone else words.size(checkpoint.size_bytes)]
    cells += [", ".join(checkpoint.recorded_by)]
    return el(
        "tr",
        *(
            el("td", cell, class_="number" if name in numbers else None, data_n=name)
            for name, cell in zip(names, cells, strict=True)
        ),
    )


def _words(trial: Trial, checkpoint: Checkpoint) -> tuple[tuple[str, bool], ...]:
    best = trial.best is not None and trial.best.name == checkpoint.name
    return ("best", best), ("latest", is_latest(trial, checkpoint))


def _value(value: object) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return words.value(value)
    return "" if value is None else str(value)
