"""Edits of a trial's result log, so that each row names the folder of its own save."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from ckptctl.codec.values import to_json
from ckptctl.model.experiment import Experiment, Record, Row, TrainableKind, Trial
from ckptctl.model.plan import Edit
from ckptctl.planner.record_value import result_values


def repair_rows(experiment: Experiment, trial: Trial, kept: Collection[Record]) -> tuple[Edit, ...]:
    """Names where class trainables wrote none or the wrong one; null on older rows of one folder.

    Ray 2.8 and newer leave the name out of every row of a class trainable, and `Result.from_path`
    fails on that; Ray 2.7 writes it on a row of an earlier save.
    """
    if trial.result_log is None or not trial.rows:
        return ()
    wanted = _names_by_line(trial, kept)
    unnamed = not any(row.has_name for row in trial.rows)
    shifted = experiment.counter_means_next and trial.kind is TrainableKind.CLASS
    named = _named(trial, wanted) if unnamed or shifted else _once_each(trial, wanted)
    return (*named, *_lost(trial, kept))


def _names_by_line(trial: Trial, kept: Collection[Record]) -> dict[int, str]:
    return {
        record.row: record.ref.name
        for record in kept
        if record.row is not None and record.ref is not None and record.ref.trial == trial.dirname
    }


def _named(trial: Trial, wanted: Mapping[int, str]) -> Iterator[Edit]:
    live = {c.name for c in trial.folders} | set(wanted.values())
    for row in trial.rows:
        name = wanted.get(row.line)
        if name is None and (row.name is None or row.name not in live):
            continue
        if row.name != name:
            yield _edit(row, name)


def _once_each(trial: Trial, wanted: Mapping[int, str]) -> Iterator[Edit]:
    """A folder holds the last of the saves that went into it, so only that row may name it."""
    live = {c.name for c in trial.folders}
    last = {row.name: row.line for row in trial.rows if row.name in live}
    last |= {name: line for line, name in wanted.items()}
    for row in trial.rows:
        if row.name in live and last[row.name] != row.line:
            yield _edit(row, wanted.get(row.line))
        elif row.line in wanted and row.name != wanted[row.line]:
            yield _edit(row, wanted[row.line])


def _lost(trial: Trial, kept: Collection[Record]) -> Iterator[Edit]:
    """Rows of recorded saves behind the end of the log, as far as their records know them."""
    end = trial.rows[-1]
    if any(problem.truncated for problem in trial.problems):
        return
    lost = [
        (record.training_iteration, record)
        for record in kept
        if record.row is None
        and not record.estimated
        and record.ref is not None
        and record.ref.trial == trial.dirname
        and record.training_iteration is not None
        and record.training_iteration > (end.training_iteration or 0)
    ]
    for iteration, record in sorted(lost, key=lambda pair: pair[0]):
        row: dict[str, object] = dict(record.metrics)
        row |= {"training_iteration": iteration, "trial_id": trial.trial_id}
        row |= {"checkpoint_dir_name": record.ref.name if record.ref else None}
        yield Edit(op="insert", pointer=f"{end.line + 1}", after=to_json(result_values(row)))


def _edit(row: Row, name: str | None) -> Edit:
    return Edit(
        op="set",
        pointer=f"{row.line}/checkpoint_dir_name",
        before=row.name,
        after=name,
    )
