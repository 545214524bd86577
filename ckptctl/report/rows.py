"""What the table formats show of a scan and of plans. Columns are stable; new ones come last."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from ckptctl.model.checkpoint import Checkpoint
from ckptctl.model.experiment import Experiment, Trial
from ckptctl.model.finding import Finding
from ckptctl.model.plan import Edit, MoveTree, Outcome, Plan, Step
from ckptctl.report.cells import Cell, Table, listed
from ckptctl.report.document import jsonable

SCAN = (
    "experiment",
    "layout",
    "trial_id",
    "trial",
    "status",
    "checkpoint",
    "index",
    "state",
    "training_iteration",
    "files",
    "size_bytes",
    "recorded_by",
    "latest",
    "best",
    "findings",
)
PLANS = (
    "plan_id",
    "location",
    "step",
    "kind",
    "from",
    "to",
    "file",
    "op",
    "pointer",
    "before",
    "after",
    "done",
    "message",
)

Row = tuple[Cell, ...]
Codes = dict[tuple[str, str], list[str]]
"""Codes of findings by trial and checkpoint; what concerns all of them has empty names."""


def scan(experiments: Sequence[Experiment], findings: Sequence[Finding]) -> Table:
    """One row for each checkpoint, with the codes of the findings that concern it.

    What is found about a trial or an experiment as a whole has a row of its own, with the names
    of what it is not about left empty. A trial without checkpoints and an experiment without
    trials have such a row too, so that nothing is left out.
    """
    rows: list[Row] = []
    for experiment in experiments:
        codes = _codes(f for f in findings if f.experiment == experiment.location)
        own = codes.pop(("", ""), [])
        if own or not experiment.trials:
            rows.append(_row(experiment, None, None, own))
        for trial in experiment.trials:
            rows += _trial(experiment, trial, codes)
        rows += [_left(experiment, *names, found) for names, found in sorted(codes.items())]
    return Table(columns=SCAN, rows=tuple(rows))


def _codes(findings: Iterator[Finding]) -> Codes:
    codes: Codes = {}
    for finding in findings:
        names = finding.checkpoints or (finding.checkpoint or "",)
        for name in names:
            found = codes.setdefault((finding.trial or "", name), [])
            if finding.code not in found:
                found.append(finding.code)
    return {key: sorted(found) for key, found in codes.items()}


def _trial(experiment: Experiment, trial: Trial, codes: Codes) -> Iterator[Row]:
    own = codes.pop((trial.dirname, ""), [])
    if own or not trial.checkpoints:
        yield _row(experiment, trial, None, own)
    for checkpoint in trial.checkpoints:
        found = codes.pop((trial.dirname, checkpoint.name), [])
        yield _row(experiment, trial, checkpoint, found)


def _row(
    experiment: Experiment,
    trial: Trial | None,
    checkpoint: Checkpoint | None,
    codes: Sequence[str],
) -> Row:
    whose: Row = (None, None, None)
    what: Row = (None,) * 9
    if trial is not None:
        whose = (trial.trial_id, trial.dirname, trial.status and str(trial.status))
    if trial is not None and checkpoint is not None:
        what = (
            checkpoint.name,
            checkpoint.index,
            str(checkpoint.state),
            checkpoint.training_iteration,
            checkpoint.files,
            checkpoint.size_bytes,
            listed(checkpoint.recorded_by),
            is_latest(trial, checkpoint),
            trial.best is not None and trial.best.name == checkpoint.name,
        )
    return (experiment.location, experiment.layout, *whose, *what, listed(codes))


def is_latest(trial: Trial, checkpoint: Checkpoint) -> bool:
    """Whether this is the trial's latest; that can also be a checkpoint of another trial."""
    ref = trial.latest
    return ref is not None and ref.trial == trial.dirname and ref.name == checkpoint.name


def _left(experiment: Experiment, trial: str, checkpoint: str, codes: Sequence[str]) -> Row:
    """Place a finding that names a folder which is none of the trials or checkpoints."""
    known = experiment.trial(trial)
    row = list(_row(experiment, known, None, codes))
    row[SCAN.index("trial")] = trial or None
    row[SCAN.index("checkpoint")] = checkpoint or None
    return tuple(row)


def plans(planned: Sequence[tuple[Plan, Outcome | None]]) -> Table:
    """One row for each folder that moves and each edit, in order, and one for each refusal."""
    rows: list[Row] = []
    for plan, outcome in planned:
        for number, step in enumerate(plan.steps, 1):
            done = None if outcome is None else number <= outcome.steps_done
            rows += [_plan_row(plan, step=number, done=done, **cells) for cells in _step(step)]
        for refusal in plan.refusals:
            told: Mapping[str, Cell] = {"op": refusal.code, "message": refusal.message}
            rows.append(_plan_row(plan, kind="refusal", **told))
    return Table(columns=PLANS, rows=tuple(rows))


def _plan_row(plan: Plan, **cells: Cell) -> Row:
    named: dict[str, Cell] = {"plan_id": plan.plan_id, "location": plan.location, **cells}
    return tuple(named.get(column) for column in PLANS)


def _step(step: Step) -> Iterator[dict[str, Cell]]:
    if isinstance(step, MoveTree):
        yield {"kind": "move", "from": step.source, "to": step.target}
        return
    if not step.edits:
        yield {"kind": "rewrite", "file": step.file, "op": "restore"}
    for edit in step.edits:
        yield {"kind": "rewrite", "file": step.file, **_edit(edit)}


def _edit(edit: Edit) -> dict[str, Cell]:
    before, after = _value(edit.before), _value(edit.after)
    return {"op": edit.op, "pointer": edit.pointer, "before": before, "after": after}


def _value(value: object) -> Cell:
    """Numbers and truth as they are, everything else as JSON on one line."""
    if value is None or isinstance(value, bool | int | float):
        return value
    return json.dumps(jsonable(value), ensure_ascii=False, allow_nan=False)
