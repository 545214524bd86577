"""Which saves of a trial its records will hold after a repair; no record is written here."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from ckptctl.model.bookkeeping import Witness
from ckptctl.model.checkpoint import Checkpoint, CheckpointState
from ckptctl.model.experiment import (
    ESTIMATED,
    Experiment,
    Record,
    Row,
    Trial,
    TrialStatus,
)
from ckptctl.model.saves import save_of


class NewSave(Struct, frozen=True, kw_only=True):
    """A folder that gets a record."""

    checkpoint: Checkpoint
    metrics: Mapping[str, object]
    estimated: bool = False
    copied: bool = False
    """Whether another folder with a record holds the same save."""

    @property
    def unsafe(self) -> bool:
        """Whether only a person can know that it is a save of its own."""
        return self.estimated or self.copied


def is_there(experiment: Experiment, record: Record) -> bool:
    """Whether a record's folder is on storage.

    Outside the experiment it counts as there, and so does a link, which is not followed.
    """
    if record.ref is None or not {record.ref.path, record.ref.trial}.isdisjoint(experiment.odd):
        return True
    trial = experiment.trial(record.ref.trial)
    checkpoint = trial.checkpoint(record.ref.name) if trial else None
    return checkpoint is not None and checkpoint.on_storage


def kept_records(experiment: Experiment, trial: Trial) -> tuple[Record, ...]:
    """The recorded saves whose folder is there, each folder once: the later save of two."""
    last: dict[str, Record] = {}
    for record in trial.records:
        known = last.get(record.path)
        if known is None or _later(record, known):
            last[record.path] = record
    return tuple(r for r in trial.records if last[r.path] is r and is_there(experiment, r))


def _later(record: Record, known: Record) -> bool:
    if record.row is None or known.row is None:
        return True
    return record.row >= known.row


def new_saves(experiment: Experiment, trial: Trial, *, unsafe: bool) -> tuple[NewSave, ...]:
    """The whole folders without a record that may get one, in save order.

    Those whose result the log knows always; with `unsafe` the others too, with an iteration
    estimated from their neighbours.
    """
    return tuple(_new_saves(experiment, trial, unsafe=unsafe))


def unrecorded(experiment: Experiment, trial: Trial) -> tuple[Checkpoint, ...]:
    """The whole folders that no trial's record names, in save order."""
    borrowed = {
        t.latest_record.ref.name
        for t in experiment.trials
        if t.latest_record is not None
        and t.latest_record.ref is not None
        and t.latest_record.ref.trial == trial.dirname
    }
    return tuple(
        c
        for c in trial.saves
        if c.state is CheckpointState.COMPLETE
        and Witness.TRIAL not in c.recorded_by
        and c.name not in borrowed
    )


def _new_saves(experiment: Experiment, trial: Trial, *, unsafe: bool) -> Iterator[NewSave]:
    results = {r.name: r.result for r in trial.rows if r.name and r.result is not None}
    known = known_saves(experiment, trial)
    for checkpoint in unrecorded(experiment, trial):
        result = results.get(checkpoint.name)
        left = checkpoint.left
        if checkpoint.left_result is not None and left is not None:
            metrics = {**checkpoint.left_result, "training_iteration": left.value}
            copied = save_of(checkpoint.left_result) in known
            if unsafe or not copied:
                yield NewSave(checkpoint=checkpoint, metrics=metrics, copied=copied)
        elif result is not None and Witness.SESSION in checkpoint.recorded_by:
            yield NewSave(checkpoint=checkpoint, metrics=result)
        elif unsafe:
            yield _estimated(trial, checkpoint)


def known_saves(experiment: Experiment, trial: Trial) -> frozenset[object]:
    """The saves that a record and its folder hold."""
    found = {save_of(record.metrics) for record in kept_records(experiment, trial)}
    return frozenset(found - {None})


def _estimated(trial: Trial, checkpoint: Checkpoint) -> NewSave:
    iteration = estimate_iteration(trial, checkpoint)
    metrics: dict[str, object] = {"training_iteration": iteration, ESTIMATED: True}
    row = next((r for r in reversed(trial.rows) if r.training_iteration == iteration), None)
    if row is not None and row.name in (None, checkpoint.name):
        metrics = {**row.metrics, **metrics}
    if any(r.claimed_name for r in trial.records):
        metrics["checkpoint_dir_name"] = checkpoint.name
    return NewSave(checkpoint=checkpoint, metrics=metrics, estimated=True)


def estimate_iteration(trial: Trial, checkpoint: Checkpoint) -> int:
    """The iteration of a save by its neighbours: evenly spaced, never before the one it follows.

    A trial that has ended saved nothing behind the last iteration it reported.
    """
    known = [
        (c.saved, c.training_iteration)
        for c in sorted(trial.checkpoints, key=lambda c: c.saved)
        if c.training_iteration is not None and c.name != checkpoint.name
    ]
    before = [k for k in known if k[0] < checkpoint.saved]
    step = _spacing(before)
    if before:
        place, iteration = before[-1]
        guess = iteration + step * (checkpoint.saved - place)
    else:
        guess = max(0, known[0][1] - 1) if known else checkpoint.saved + 1
    end = _last_iteration(trial)
    if end is None or guess <= end:
        return guess
    later = sum(c.saved > checkpoint.saved for c in trial.saves)
    return max(0, end - step * later)


def _spacing(known: Sequence[tuple[int, int]]) -> int:
    """Iterations from one save to the next, by the last two that are known."""
    if len(known) < 2:
        return 1
    (place, iteration), (later, reached) = known[-2:]
    return max(1, round((reached - iteration) / (later - place)))


def _last_iteration(trial: Trial) -> int | None:
    if trial.status not in (TrialStatus.TERMINATED, TrialStatus.ERROR):
        return None
    row = last_row(trial)
    told = [row.training_iteration if row else None]
    told.append(trial.state_iteration.value if trial.state_iteration else None)
    return max((n for n in told if n is not None), default=None)


def score(trial: Trial, metrics: Mapping[str, object]) -> tuple[bool, float] | None:
    """How Ray ranks a save, ascending (Ray 2.54 ``train/_internal/checkpoint_manager.py``).

    NaN ranks below minus infinity, and so does a missing metric above NaN; None where the trial
    is not ranked at all, or where the metric is no number and Ray itself could not rank it.
    """
    retention = trial.retention
    if retention is None or retention.monitor is None:
        return None
    value = metrics.get(retention.monitor, -math.inf)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if isinstance(value, float) and math.isnan(value):
        return (False, -math.inf)
    return (True, value if retention.mode == "max" else -value)


def last_row(trial: Trial) -> Row | None:
    """The newest row of the result log."""
    return trial.rows[-1] if trial.rows else None
