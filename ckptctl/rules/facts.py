"""Questions that several rules ask of an experiment, and the evidence for the answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ckptctl.model.bookkeeping import Claim, Witness
from ckptctl.model.checkpoint import Checkpoint, CheckpointState, TrialDir
from ckptctl.model.experiment import (
    CheckpointRef,
    Experiment,
    Record,
    RecordRole,
    Row,
    TrainableKind,
    Trial,
    Unreadable,
)
from ckptctl.model.finding import Evidence
from ckptctl.model.names import index_of
from ckptctl.model.rows import columns

LEGACY = "ray-legacy"
TUNE_2_7 = "ray-tune-2.7"
TUNE = "ray-tune"
TRAIN_V2 = "ray-train-v2"
# An enum takes its time to tell its value.
_STORAGE, _TRIAL, _SESSION = Witness.STORAGE.value, Witness.TRIAL.value, Witness.SESSION.value


def state_was_read(experiment: Experiment) -> bool:
    """Whether the state that counts was there and whole, so that its silence means something."""
    return experiment.state_file is not None and not any(
        p.role is RecordRole.STATE for p in experiment.problems
    )


def trial_was_read(trial: Trial) -> bool:
    """Whether the state tells of this trial, and all that it tells could be read."""
    return trial.in_state and not any(p.role is RecordRole.STATE for p in trial.problems)


def all_records(trial: Trial) -> tuple[Record, ...]:
    """The recorded list, and the latest where the list has not got it."""
    latest = trial.latest_record
    if latest is None or latest.position is not None:
        return trial.records
    return (*trial.records, latest)


def own_names(trial: Trial, records: Iterable[Record]) -> set[str]:
    """The names of the trial's own folders among `records`."""
    return {r.ref.name for r in records if r.ref is not None and r.ref.trial == trial.dirname}


def is_foreign(trial: Trial, record: Record) -> bool:
    """Whether a record of this trial is of a folder outside it."""
    return record.ref is None or record.ref.trial != trial.dirname


def is_there(ref: CheckpointRef, trial: Trial, experiment: Experiment) -> bool:
    """Whether a folder that `trial` records is on storage; in a trial that is left out, it is."""
    holder = trial if ref.trial == trial.dirname else experiment.trial(ref.trial)
    if holder is None:
        return True
    if not {ref.path, ref.trial}.isdisjoint(experiment.odd):
        return True  # behind a link, or where nothing may be read: nobody looked
    checkpoint = holder.checkpoint(ref.name)
    return checkpoint is not None and checkpoint.on_storage


def naming_rows(trial: Trial, experiment: Experiment) -> Mapping[str, Sequence[int]]:
    """The places of the result rows that name each folder there, if they prove a save.

    Ray 2.7 logs what the driver expects the next folder to be; for a class trainable that is the
    name of a save that has yet to come (``Ray 2.7 tune/execution/tune_controller.py``).
    """
    if experiment.layout == TUNE_2_7 and trial.kind is TrainableKind.CLASS:
        return {}
    named: dict[str, list[int]] = {c.name: [] for c in trial.folders}
    for place, name in enumerate(columns(trial.rows).names):
        if name in named:
            named[name].append(place)
    return {name: places for name, places in named.items() if places}


def can_go_on(trial: Trial, experiment: Experiment) -> bool:
    """Whether a whole checkpoint is left whose metrics a record or the log knows."""
    known = own_names(trial, all_records(trial)) | set(naming_rows(trial, experiment))
    return any(c.state is CheckpointState.COMPLETE and c.name in known for c in trial.folders)


def may_be_renamed(trial: Trial, experiment: Experiment, missing: Iterable[str]) -> str:
    """A word of warning where a missing folder may lie here under a name of somebody's own."""
    known = own_names(trial, all_records(trial)) | set(naming_rows(trial, experiment))
    numbers = {None, *map(index_of, missing)}
    names = [c.name for c in trial.folders if c.name not in known and c.index in numbers]
    if not names:
        return ""
    return f"; if {' or '.join(names)} is it under another name, rename it back first"


def trial_index(trial: Trial) -> Claim[int] | None:
    """The driver's counter as the last index used, where there is one."""
    book = trial.books.get(Witness.TRIAL)
    return None if book is None else book.latest_index


def indexed(trial: Trial) -> Iterator[tuple[int, Checkpoint]]:
    """The folders that carry an index, with it."""
    for checkpoint in trial.folders:
        if checkpoint.index is not None:
            yield checkpoint.index, checkpoint


def owner(ref: CheckpointRef, experiment: Experiment) -> str:
    """How a message calls the trial that a checkpoint lies in, when it is about another one."""
    trial = experiment.trial(ref.trial)
    return f"trial {(trial.trial_id if trial else None) or ref.trial}"


def says(claim: Claim[int] | Claim[str], text: str | None = None) -> Evidence:
    """A claim as evidence."""
    return Evidence(
        witness=claim.witness.value,
        claim=text or str(claim.value),
        file=claim.provenance.file,
        pointer=claim.provenance.pointer,
    )


def lies(checkpoint: Checkpoint, text: str | None = None) -> Evidence:
    """A folder as evidence."""
    return Evidence(witness=_STORAGE, claim=text or checkpoint.name, file=checkpoint.path)


def absent(ref: CheckpointRef) -> Evidence:
    """A folder that is not there, as evidence."""
    return Evidence(witness=_STORAGE, claim=f"no {ref.name}", file=ref.path)


def recorded(record: Record, text: str | None = None) -> Evidence:
    """A record as evidence."""
    return Evidence(
        witness=_TRIAL,
        claim=text or (record.ref.name if record.ref else record.path),
        file=record.provenance.file,
        pointer=record.path_pointer,
    )


def logged(trial: Trial, row: Row, text: str, key: str = "checkpoint_dir_name") -> Evidence:
    """What a row of the result log says under a key, as evidence."""
    absent_key = key == "checkpoint_dir_name" and not row.has_name
    return Evidence(
        witness=_SESSION,
        claim=text,
        file=trial.result_log or "",
        pointer=str(row.line) if absent_key else f"{row.line}/{key}",
    )


def problems(experiment: Experiment) -> Iterator[tuple[Trial | None, Unreadable]]:
    """Everything that could not be read, each file once, with the trial whose file it is."""
    seen: set[Unreadable] = set()
    for trial in experiment.trials:
        for problem in trial.problems:
            if problem not in seen:
                seen.add(problem)
                yield trial, problem
    owners = {t.dirname: t for t in experiment.trials if t.dirname != "."}
    for problem in experiment.problems:
        if problem not in seen:
            seen.add(problem)
            yield owners.get(TrialDir(problem.file.partition("/")[0])), problem


def is_torn_log(problem: Unreadable) -> bool:
    """Whether only the last line of a log is missing."""
    return problem.truncated and problem.role in (RecordRole.RESULT_LOG, RecordRole.PROGRESS)


def restored_from(trial: Trial, names: Sequence[str]) -> str:
    """What it means for a restore that these folders are not whole."""
    latest = trial.latest_record
    if latest is None or is_foreign(trial, latest) or latest.ref is None:
        return ""
    if latest.ref.name not in names:
        return ""
    which = "it is" if len(names) == 1 else f"{latest.ref.name} is"
    return f"; {which} the latest, which a restore goes on from"
