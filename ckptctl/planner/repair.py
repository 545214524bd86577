"""`reindex` without a policy: the records follow the folders, and no folder moves."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

from msgspec import Struct
from msgspec.structs import replace

from ckptctl.codec.values import to_json
from ckptctl.model.experiment import Experiment, Trial
from ckptctl.model.names import index_of
from ckptctl.model.plan import Edit, Refusal
from ckptctl.model.saves import save_of
from ckptctl.planner.draft import Draft
from ckptctl.planner.quarantine import set_aside
from ckptctl.planner.rebuild_v2 import can_rebuild, plan_rebuild_v2
from ckptctl.planner.record_value import result_values
from ckptctl.planner.relocate import (
    refuse_relocation,
    relocation_edits,
    relocation_needed,
)
from ckptctl.planner.repair_legacy import repair_heap
from ckptctl.planner.repair_records import RecordRepair, repair_records
from ckptctl.planner.repair_rows import newest_result, repair_rows
from ckptctl.planner.repair_v2 import plan_repair_v2
from ckptctl.planner.saves import kept_records, known_saves, unrecorded


def plan_repair(
    experiment: Experiment,
    *,
    unsafe: bool = False,
    relocate: bool = False,
    quarantine: bool = False,
    trial_glob: str | None = None,
) -> Draft:
    """What makes every record of the experiment agree with what is on storage.

    With `unsafe` a folder whose result no log knows is registered too, its iteration estimated
    and marked so; with `relocate` the recorded roots follow a moved experiment; with `quarantine`
    folders that are no whole checkpoints move aside.
    """
    if quarantine:
        return _with_quarantine(experiment, unsafe=unsafe, relocate=relocate, trial_glob=trial_glob)
    if unsafe and can_rebuild(experiment):
        return plan_rebuild_v2(experiment)
    refusal = _unreadable_state(experiment)
    if refusal is not None:
        return Draft(refusals=(refusal,))
    if experiment.layout == "ray-train-v2":
        return plan_repair_v2(experiment, unsafe=unsafe)
    moved = relocate and relocation_needed(experiment)
    refused = refuse_relocation(experiment) if moved else None
    if refused is not None:
        return Draft(refusals=(refused,))
    target = _relocated(experiment) if moved else experiment
    repairs = [
        _repair_trial(target, trial, unsafe=unsafe, reorder=not moved)
        for trial in target.trials
        if trial.in_state and _chosen(target, trial, trial_glob)
    ]
    edits: dict[str, list[Edit]] = {}
    for repair in repairs:
        for file, own in repair.edits.items():
            edits.setdefault(file, []).extend(own)
    notes = [note for repair in repairs for note in repair.notes]
    if moved:
        _merge(edits, _relocation(experiment, repairs))
        notes.append(f"recorded root {experiment.recorded_root} → {experiment.actual_root}")
    return Draft(
        edits={file: tuple(own) for file, own in edits.items() if own},
        notes=tuple(notes),
        unsafe=any(repair.unsafe for repair in repairs),
    )


def _with_quarantine(
    experiment: Experiment, *, unsafe: bool, relocate: bool, trial_glob: str | None
) -> Draft:
    aside = set_aside(experiment, unsafe=unsafe, trial_glob=trial_glob)
    if experiment.state_file is None and aside.moves:
        return Draft(moves=aside.moves, notes=aside.notes)
    rest = plan_repair(aside.rest, unsafe=unsafe, relocate=relocate, trial_glob=trial_glob)
    if rest.refusals:
        return rest
    return replace(rest, moves=aside.moves, notes=(*aside.notes, *rest.notes))


class _TrialRepair(Struct, frozen=True, kw_only=True):
    edits: dict[str, list[Edit]]
    notes: tuple[str, ...]
    unsafe: bool
    written: frozenset[str]
    """The pointers of paths that the repair drops or writes anew."""


def _unreadable_state(experiment: Experiment) -> Refusal | None:
    if experiment.state_file is None:
        return Refusal(
            code="unreadable",
            message="there is no experiment_state file, so there are no records to mend",
        )
    for problem in experiment.problems:
        if problem.file == experiment.state_file:
            return Refusal(
                code="unreadable",
                message=f"{problem.file} cannot be read: {problem.reason}",
                help=(
                    ("--unsafe makes a new one from the folders",)
                    if can_rebuild(experiment)
                    else ("scan says what to do about it",)
                ),
            )
    return None


def _chosen(experiment: Experiment, trial: Trial, glob: str | None) -> bool:
    if experiment.focus is not None and trial.dirname != experiment.focus:
        return False
    return (
        glob is None or fnmatchcase(trial.dirname, glob) or fnmatchcase(trial.trial_id or "", glob)
    )


def _relocated(experiment: Experiment) -> Experiment:
    """The same experiment, with new records made for the place where it lies now."""
    root = (experiment.actual_root or "").partition("://")[2] or experiment.actual_root
    return replace(
        experiment,
        trials=tuple(
            replace(trial, trial_root=f"{root}/{trial.dirname}") if trial.trial_root else trial
            for trial in experiment.trials
        ),
    )


def _relocation(experiment: Experiment, repairs: list[_TrialRepair]) -> dict[str, list[Edit]]:
    return relocation_edits(experiment, frozenset(p for repair in repairs for p in repair.written))


def _merge(edits: dict[str, list[Edit]], more: dict[str, list[Edit]]) -> None:
    for file, own in more.items():
        edits.setdefault(file, []).extend(own)


def _repair_trial(
    experiment: Experiment, trial: Trial, *, unsafe: bool, reorder: bool
) -> _TrialRepair:
    if experiment.layout == "ray-legacy":
        records = repair_heap(experiment, trial, unsafe=unsafe)
    else:
        records = repair_records(experiment, trial, unsafe=unsafe, reorder=reorder)
    index = _index_edit(experiment, trial)
    state = [*records.edits, *((index,) if index else ()), *_last_result_edit(trial, records)]
    edits: dict[str, list[Edit]] = {}
    if state and experiment.state_file is not None:
        edits[experiment.state_file] = state
    rows = repair_rows(experiment, trial, kept_records(experiment, trial), records.added)
    if rows and trial.result_log is not None:
        edits[trial.result_log] = list(rows)
    written = {r.path_pointer for r in records.dropped} | records.written
    if records.latest is not None and trial.latest_record is not None:
        written.add(trial.latest_record.path_pointer)
        # The latest may be one of the list by identity: then it is written down at both places.
        written.update(
            f"{trial.shape.latest_pointer}/{path}"
            for path in ("checkpoint/path", "dir_or_data")
            if trial.shape
        )
    return _TrialRepair(
        edits=edits,
        notes=tuple(_notes(experiment, trial, records, index)),
        unsafe=records.latest == "" or any(save.unsafe for save in records.added),
        written=frozenset(written),
    )


def _index_edit(experiment: Experiment, trial: Trial) -> Edit | None:
    """Raised above every folder and every row that names one; never lowered.

    Too high is a gap, too low overwrites a checkpoint.
    """
    slot, book = trial.index_slot, trial.counted_index
    highest = max((c.index for c in trial.folders if c.index is not None), default=-1)
    if slot is None or book is None or book >= highest:
        return None
    named = [index_of(row.name) for row in trial.rows if row.name]
    target = max(highest, *(n for n in named if n is not None), book)
    shift = 1 if experiment.counter_means_next else 0
    return Edit(op="set", pointer=slot.pointer, before=book + shift, after=target + shift)


def _last_result_edit(trial: Trial, records: RecordRepair) -> Iterator[Edit]:
    """The state's last result becomes the newest that the log or a trainable knows."""
    newest = newest_result(trial, records.added)
    known = trial.state_iteration.value if trial.state_iteration else 0
    if newest is not None and trial.shape is not None and newest[0] > known:
        yield Edit(
            op="set",
            pointer=trial.shape.last_result_pointer,
            after=to_json(result_values(newest[1])),
        )


def _notes(
    experiment: Experiment, trial: Trial, records: RecordRepair, index: Edit | None
) -> Iterator[str]:
    name = trial.trial_id or trial.dirname
    for record in records.dropped:
        gone = record.ref.name if record.ref else record.path
        yield f"{name}: a record of {gone} is dropped"
    for save in records.added:
        how = "with an estimated iteration" if save.estimated else "with the result in its log"
        if save.checkpoint.left_result is not None:
            how = "with the result that its trainable left in it"
        yield f"{name}: {save.checkpoint.name} is registered {how}"
    for record in records.moved:
        name_of = record.ref.name if record.ref else record.path
        yield f"{name}: {name_of} goes to its place in the ranking"
    for record, iteration in records.corrected:
        name_of = record.ref.name if record.ref else record.path
        yield f"{name}: the record of {name_of} gets iteration {iteration}, as the folder has it"
    if records.hopeless:
        yield (
            f"{name}: no checkpoint is left whose metrics are known, so its dead records stay; "
            "--unsafe drops them, and a restore then starts this trial from scratch"
        )
    if records.latest == "":
        yield f"{name}: no checkpoint is left, so a restore starts this trial from scratch"
    elif records.latest is not None:
        yield f"{name}: the latest becomes {records.latest}"
    if index is not None:
        yield f"{name}: recorded index {index.before} → {index.after}"
    registered = {save.checkpoint.name for save in records.added}
    left = [c.name for c in unrecorded(experiment, trial) if c.name not in registered]
    strange = [c for c in unrecorded(experiment, trial) if c.name in left]
    known = known_saves(experiment, trial) if strange else frozenset()
    copies = [c.name for c in strange if save_of(c.left_result or {}) in known]
    if copies:
        yield (
            f"{name}: {', '.join(copies)} holds a save that another folder has a record of; "
            "--unsafe registers it too"
        )
    left = [n for n in left if n not in copies]
    if left:
        yield (
            f"{name}: {', '.join(left)} cannot be registered, since no log knows the metrics; "
            "--unsafe registers with an estimated iteration"
        )
    yield from _surplus(trial, name, records)


def _surplus(trial: Trial, name: str, records: RecordRepair) -> Iterator[str]:
    """What Ray makes of more records than it shall keep."""
    keep = trial.retention.num_to_keep if trial.retention else None
    if keep is None or not records.added:
        return
    told = f"{name}: {records.count} checkpoints are recorded and num_to_keep is {keep}"
    if trial.heap is not None and records.count > keep:
        yield f"{told}: Ray 2.6 never deletes what it has too many of, so that many stay"
    elif records.count > keep + 1:
        yield f"{told}, so the next save of Ray deletes the lowest ranked"
