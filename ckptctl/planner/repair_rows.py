"""Edits of a trial's result log, so that each row names the folder of its own save."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from ckptctl.codec.values import to_json
from ckptctl.model.experiment import Experiment, Record, Row, TrainableKind, Trial
from ckptctl.model.plan import Edit
from ckptctl.model.rows import columns
from ckptctl.planner.record_value import result_values
from ckptctl.planner.saves import NewSave


def repair_rows(
    experiment: Experiment,
    trial: Trial,
    kept: Collection[Record],
    added: Collection[NewSave] = (),
) -> tuple[Edit, ...]:
    """Names where class trainables wrote none or the wrong one; null on older rows of one folder.

    Ray 2.8 and newer leave the name out of every row of a class trainable, and `Result.from_path`
    fails on that; Ray 2.7 writes it on a row of an earlier save. Ray 2.6 and before name no folder
    in the log.
    """
    if trial.result_log is None:
        return ()
    if experiment.layout == "ray-legacy":
        return tuple(_lost(trial, kept, added, named=False))
    wanted = _names_by_line(trial, kept)
    unnamed = not columns(trial.rows).keyed
    shifted = experiment.counter_means_next and trial.kind is TrainableKind.CLASS
    named = _named(trial, wanted) if unnamed or shifted else _once_each(trial, wanted)
    return (*named, *_lost(trial, kept, named=True))


def newest_result(
    trial: Trial, added: Collection[NewSave]
) -> tuple[int, Mapping[str, object]] | None:
    """The newest result and its iteration: the log's, or what a trainable left behind its end."""
    row = trial.rows[-1] if trial.rows else None
    end = (row.training_iteration if row else None) or 0
    left = [(_iteration(s), s.metrics) for s in added if s.checkpoint.left_result is not None]
    newest = max(left, key=lambda pair: pair[0], default=None)
    if newest is not None and newest[0] > end:
        return newest
    return None if row is None or row.result is None else (end, row.result)


def _iteration(save: NewSave) -> int:
    return save.checkpoint.left.value if save.checkpoint.left else 0


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


def _lost(
    trial: Trial,
    kept: Collection[Record],
    added: Collection[NewSave] = (),
    *,
    named: bool,
) -> Iterator[Edit]:
    """Rows of saves behind the end of the log, as far as record or trainable know them."""
    end = trial.rows[-1] if trial.rows else None
    known = end.training_iteration if end else 0
    if known is None or any(problem.truncated for problem in trial.problems):
        return
    behind = end.line + 1 if end else 0
    lost: list[tuple[int, str | None, Mapping[str, object]]] = [
        (record.training_iteration, record.ref.name, record.metrics)
        for record in kept
        if record.row is None
        and not record.estimated
        and record.ref is not None
        and record.ref.trial == trial.dirname
        and record.training_iteration is not None
        and record.training_iteration > known
        and not _is_contradicted(trial, record)
    ]
    lost += [
        (_iteration(save), None, save.metrics)
        for save in added
        if save.checkpoint.left_result is not None and _iteration(save) > known
    ]
    for iteration, name, metrics in sorted(lost, key=lambda each: each[0]):
        row: dict[str, object] = dict(metrics)
        row |= {"training_iteration": iteration, "trial_id": trial.trial_id}
        if named:
            row |= {"checkpoint_dir_name": name}
        yield Edit(op="insert", pointer=f"{behind}", after=to_json(result_values(row)))


def _is_contradicted(trial: Trial, record: Record) -> bool:
    """Whether the trainable left another iteration in the folder than the record has."""
    checkpoint = trial.checkpoint(record.ref.name) if record.ref else None
    left = checkpoint.left if checkpoint else None
    return left is not None and left.value != record.training_iteration


def _edit(row: Row, name: str | None) -> Edit:
    return Edit(
        op="set",
        pointer=f"{row.line}/checkpoint_dir_name",
        before=row.name,
        after=name,
    )
