"""`reindex` for Ray Train V2: the snapshot is the index, and it must name what is there.

Since Ray 2.54 a run does not load at all when its snapshot names a folder that is gone, or a latest
that is not among its results (``train/v2/_internal/execution/checkpoint/checkpoint_manager.py``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from msgspec import Struct

from ckptctl.codec.values import to_json
from ckptctl.model.checkpoint import Checkpoint
from ckptctl.model.experiment import Experiment, Record, Trial
from ckptctl.model.plan import Edit
from ckptctl.planner.draft import Draft
from ckptctl.planner.record_value import result_values
from ckptctl.planner.saves import kept_records, unrecorded

_RESULTS, _NUMBERS, _LATEST = (
    "checkpoint_results",
    "checkpoint_report_indices",
    "latest_checkpoint_result",
)
_PENDING, _SPECS = "pending_training_results", "pending_validation_specs"


class _Entry(Struct, frozen=True, kw_only=True):
    """One result of the snapshot as it will be."""

    name: str
    number: int | None
    written: dict[str, object]
    record: Record | None
    """None where it is new."""


def plan_repair_v2(experiment: Experiment, *, unsafe: bool) -> Draft:
    """What makes the snapshot agree with the folders.

    With `unsafe` folders without a record are registered too; no witness knows their metrics.
    """
    if experiment.state_file is None or not experiment.trials:
        return Draft()
    (trial,) = experiment.trials
    kept = [_kept(trial, r) for r in kept_records(experiment, trial)]
    unlisted = _unlisted_latest(trial, kept)
    fresh = [_fresh(trial, c) for c in unrecorded(experiment, trial)] if unsafe else []
    added = [*((unlisted,) if unlisted else ()), *fresh]
    dropped = [r for r in trial.records if all(e.record is not r for e in kept)]
    latest = _latest(trial, [*kept, *added])
    edits = [*_removals(trial, dropped), *_insertions(trial, kept, added)]
    edits += _latest_edit(trial, latest)
    edits += _next_report(trial, added)
    edits += _forgotten(experiment, {e.name for e in (*kept, *added)})
    return Draft(
        edits={experiment.state_file: tuple(edits)} if edits else {},
        notes=tuple(_notes(experiment, dropped, fresh, latest, unsafe=unsafe)),
        unsafe=bool(fresh),
    )


def _kept(trial: Trial, record: Record) -> _Entry:
    return _Entry(
        name=record.path,
        number=_number(trial, record),
        written=dict(record.written or {}),
        record=record,
    )


def _number(trial: Trial, record: Record) -> int | None:
    if trial.report_numbers is None or record.position is None:
        return None
    return trial.report_numbers[record.position]


def _unlisted_latest(trial: Trial, kept: Sequence[_Entry]) -> _Entry | None:
    """The latest whose folder is there, though the results do not list it."""
    latest = trial.latest_record
    if latest is None or any(e.name == latest.path for e in kept):
        return None
    checkpoint = trial.checkpoint(latest.path)
    if checkpoint is None or not checkpoint.on_storage:
        return None
    return _Entry(
        name=latest.path,
        number=_after_all(trial),
        written=dict(latest.written or {}),
        record=None,
    )


def _after_all(trial: Trial) -> int | None:
    if trial.report_numbers is None:
        return None
    return max(trial.report_numbers, default=-1) + 1


def _fresh(trial: Trial, checkpoint: Checkpoint) -> _Entry:
    written: dict[str, object] = {"checkpoint_dir_name": checkpoint.name, "metrics": {}}
    version = next((r.written.get("version") for r in trial.records if r.written), 0)
    if isinstance(version, int):
        written = {"version": version, **written}
    return _Entry(
        name=checkpoint.name,
        number=_number_at(trial, checkpoint),
        written=written,
        record=None,
    )


def _number_at(trial: Trial, checkpoint: Checkpoint) -> int | None:
    """The number of the save it follows: Ray breaks ties by place in the list."""
    if trial.report_numbers is None:
        return None
    places: dict[str, int] = {c.name: c.saved for c in trial.checkpoints}
    before = [
        number
        for record, number in zip(trial.records, trial.report_numbers, strict=True)
        if places.get(record.path, -1) < checkpoint.saved
    ]
    later = len(before) < len(trial.report_numbers)
    if not before:
        return 0 if not trial.report_numbers else min(trial.report_numbers)
    return max(before) + (0 if later else 1)


def _latest(trial: Trial, entries: Sequence[_Entry]) -> _Entry | None:
    """The recorded latest where it is listed and there; else the newest that is."""
    recorded = trial.latest_record
    if recorded is not None:
        same = [e for e in entries if e.name == recorded.path]
        newest = _newest(trial, entries)
        if same and (newest is None or newest.record is not None or newest in same):
            return same[-1]
    return _newest(trial, entries)


def _newest(trial: Trial, entries: Sequence[_Entry]) -> _Entry | None:
    places: dict[str, int] = {c.name: c.saved for c in trial.checkpoints}
    return max(entries, key=lambda e: places.get(e.name, -1), default=None)


def _removals(trial: Trial, dropped: Sequence[Record]) -> Iterator[Edit]:
    for record in dropped:
        yield Edit(op="remove", pointer=f"{_RESULTS}/{record.position}")
        if trial.report_numbers is not None:
            yield Edit(op="remove", pointer=f"{_NUMBERS}/{record.position}")


def _insertions(trial: Trial, kept: Sequence[_Entry], added: Sequence[_Entry]) -> Iterator[Edit]:
    """At the front: without metrics a checkpoint ranks lowest; an unlisted latest at the end."""
    end = len(trial.records)
    for entry in added:
        place = end if entry.written.get("metrics") or not kept else 0
        yield Edit(
            op="insert",
            pointer=f"{_RESULTS}/{place}",
            after=to_json(result_values(entry.written)),
        )
        if entry.number is not None:
            yield Edit(op="insert", pointer=f"{_NUMBERS}/{place}", after=entry.number)


def _latest_edit(trial: Trial, latest: _Entry | None) -> Iterator[Edit]:
    recorded = trial.latest_record
    if latest is None:
        if recorded is not None:
            yield Edit(op="set", pointer=_LATEST, after=None)
        return
    if recorded is None or recorded.path != latest.name:
        yield Edit(op="set", pointer=_LATEST, after=to_json(result_values(latest.written)))


def _next_report(trial: Trial, added: Sequence[_Entry]) -> Iterator[Edit]:
    if trial.next_report is None:
        return
    highest = max((e.number for e in added if e.number is not None), default=-1)
    if highest >= trial.next_report.value:
        yield Edit(
            op="set",
            pointer=trial.next_report.provenance.pointer,
            before=trial.next_report.value,
            after=highest + 1,
        )


def _forgotten(experiment: Experiment, known: Collection[str]) -> Iterator[Edit]:
    """Validations of saves that are no results: with one that waits, Ray does not load the run."""
    for mention in experiment.mentions:
        key, _, place = mention.provenance.pointer.partition("/")
        number = place.partition("/")[0]
        if key in (_RESULTS, _LATEST) or mention.ref.name in known:
            continue
        yield Edit(op="remove", pointer=f"{key}/{number}")
        if key == _PENDING:
            yield Edit(op="remove", pointer=f"{_SPECS}/{number}")


def _notes(
    experiment: Experiment,
    dropped: Sequence[Record],
    fresh: Sequence[_Entry],
    latest: _Entry | None,
    *,
    unsafe: bool,
) -> Iterator[str]:
    for record in dropped:
        yield f"a record of {record.path} is dropped"
    for entry in fresh:
        yield f"{entry.name} is registered without metrics, which no record knows"
    (trial,) = experiment.trials
    recorded = trial.latest_record
    if latest is None and recorded is not None:
        yield "no checkpoint is left, so the run starts from scratch"
    elif latest is not None and (recorded is None or recorded.path != latest.name):
        yield f"the latest becomes {latest.name}"
    left = [] if unsafe else [c.name for c in unrecorded(experiment, trial)]
    if left:
        yield (
            f"{', '.join(left)} cannot be registered, since no record knows the metrics; "
            "--unsafe registers without"
        )
