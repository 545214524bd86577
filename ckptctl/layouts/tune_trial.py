"""Puts one Tune trial together from its state, its folders and its result log."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache
from itertools import compress, product
from types import MappingProxyType

from msgspec.structs import replace

from ckptctl.layouts.folders import Folder
from ckptctl.layouts.logged import LogRows
from ckptctl.layouts.order import save_order
from ckptctl.layouts.tune_books import tune_books
from ckptctl.layouts.tune_metadata import TrainableNote
from ckptctl.layouts.tune_rows import RowIndex, kind_of_trainable
from ckptctl.layouts.tune_sources import Dialect, TrialSources
from ckptctl.layouts.tune_state import StateRecord, StateTrial
from ckptctl.model.bookkeeping import Claim, Provenance, Witness
from ckptctl.model.checkpoint import (
    Checkpoint,
    CheckpointName,
    CheckpointState,
    Metrics,
    TrialDir,
)
from ckptctl.model.experiment import (
    CheckpointRef,
    Record,
    RecordRole,
    TrainableKind,
    Trial,
    TrialStatus,
    Unreadable,
)
from ckptctl.model.metrics import pack, whole_number
from ckptctl.model.names import index_of, natural_key
from ckptctl.model.ranking import best_by, newest_whole
from ckptctl.model.rows import Rows
from ckptctl.storage.folders import Folder as Files


def build_trial(sources: TrialSources) -> Trial:
    """The trial as its witnesses tell it; pure."""
    state, rows = sources.state, sources.log.rows
    records = _records(sources)
    latest = _latest_record(sources, records)
    kind = kind_of_trainable(sources)
    checkpoints = _checkpoints(sources, records, latest, kind)
    trial = Trial(
        trial_id=(state.trial_id if state else None) or _logged_trial_id(rows),
        dirname=sources.dirname,
        status=_status(state),
        in_state=state is not None,
        on_storage=sources.on_storage,
        kind=kind,
        checkpoints=checkpoints,
        records=records,
        latest_record=latest,
        best_record=_beside(sources, state.best if state else None),
        heap=state.heap if state else None,
        rows=_with_results(sources, checkpoints, kind),
        retention=state.retention if state else None,
        state_position=state.position if state else None,
        state_iteration=_state_iteration(sources),
        index_slot=_index_slot(sources),
        shape=state.shape if state else None,
        trial_root=_trial_root(state),
        result_log=sources.log_path,
        problems=(*_state_problems(sources), *sources.log.problems),
    )
    ranks = trial.retention
    return replace(
        trial,
        books=tune_books(sources, trial),
        best=best_by(trial.saves, ranks.monitor, ranks.mode) if ranks else None,
        latest=_latest(trial),
    )


def _records(sources: TrialSources) -> tuple[Record, ...]:
    if sources.state is None or sources.state_file is None:
        return ()
    rows = RowIndex(sources.log.rows)
    return tuple(_record(sources, rows, record) for record in sources.state.records)


def _record(sources: TrialSources, rows: RowIndex, record: StateRecord) -> Record:
    ref = sources.references.resolve(record.path)
    own = ref is not None and ref.trial == sources.dirname
    row = rows.of(record.metrics, ref.name if ref else None) if own else None
    iteration = whole_number(record.metrics.get("training_iteration"))
    if iteration is None and row is not None:
        iteration = row.training_iteration
    return Record(
        ref=ref,
        path=record.path,
        metrics=record.metrics,
        training_iteration=iteration,
        provenance=Provenance(file=sources.state_file or "", pointer=record.pointer),
        path_pointer=record.path_pointer,
        position=record.number,
        row=None if row is None else row.line,
        claimed_name=record.dir_name,
        serial=record.serial,
        priority=record.priority,
    )


def _latest_record(sources: TrialSources, records: tuple[Record, ...]) -> Record | None:
    state = sources.state
    if state is None or state.latest is None:
        return None
    if state.latest_is is not None:
        return next((r for r in records if r.position == state.latest_is), None)
    return _beside(sources, state.latest)


def _beside(sources: TrialSources, record: StateRecord | None) -> Record | None:
    """A record that stands by itself, beside the list."""
    if record is None or sources.state_file is None:
        return None
    return _record(sources, RowIndex(sources.log.rows), record)


def _checkpoints(
    sources: TrialSources,
    records: tuple[Record, ...],
    latest: Record | None,
    kind: TrainableKind | None,
) -> tuple[Checkpoint, ...]:
    own = [
        (r.ref.name, r)
        for r in (*records, *((latest,) if latest else ()))
        if r.ref is not None and r.ref.trial == sources.dirname
    ]
    by_name: dict[str, Record] = {}
    for name, record in own:
        by_name[name] = _newer(by_name.get(name), record)
    folders = {f.name: f for f in sources.folders}
    names = _in_order(tuple(folders if by_name.keys() <= folders.keys() else {*folders, *by_name}))
    rows = sources.log.rows
    last = _last_places(sources, kind, set(names))
    lines = {name: rows.lines[place] for name, place in last.items()}
    if sources.notes:
        known = set(names)
        lines |= {n: line for n, line in _noted_lines(sources).items() if n in known}
    lines |= {name: r.row for name, r in by_name.items() if r.row is not None}
    places = save_order(names, lines)
    told = _Told(sources.dirname, rows, last, sources.notes, by_name)
    return tuple([told.checkpoint(CheckpointName(n), folders.get(n), places[n]) for n in names])


@lru_cache(256)
def _in_order(names: tuple[str, ...]) -> tuple[str, ...]:
    """In natural order; trials repeat the names of their checkpoints."""
    return tuple(sorted(names, key=natural_key))


def _noted_lines(sources: TrialSources) -> dict[str, int]:
    """The line of the save that the trainable's own note in a folder tells of."""
    rows = RowIndex(sources.log.rows)
    found = {name: rows.of(note.metrics, None) for name, note in sources.notes.items()}
    return {name: row.line for name, row in found.items() if row is not None}


def _newer(known: Record | None, other: Record) -> Record:
    """Of two records of one folder the later save, whose content the folder holds."""
    if known is None or known.row is None or other.row is None:
        return other
    return other if other.row >= known.row else known


def _last_places(
    sources: TrialSources, kind: TrainableKind | None, names: Collection[str]
) -> dict[str, int]:
    """Which row is the last to name each folder; none where Ray 2.7 writes names on wrong rows."""
    if sources.dialect is Dialect.TUNE_2_7 and kind is TrainableKind.CLASS:
        return {}
    return sources.log.rows.last_places(names)


_WITNESSES = (Witness.TRIAL, Witness.TRAINABLE, Witness.SESSION)
_SPOKEN = {said: tuple(compress(_WITNESSES, said)) for said in product((False, True), repeat=3)}
"""The witnesses that speak of a checkpoint, by which of them do."""
_LOGGED, _UNKNOWN = _SPOKEN[False, False, True], _SPOKEN[False, False, False]
_GONE = Folder(name="", held=Files(), state=CheckpointState.MISSING, size=0, modified=None)
"""What a record tells of, and no folder is there."""
_NO_METRICS: Metrics = MappingProxyType({})


class _Told:
    """Makes the checkpoints of one trial out of what is told of them.

    Most are a folder and a row of the log, which are put together first and in the fewest steps.
    """

    def __init__(
        self,
        trial: TrialDir,
        rows: Rows,
        places: Mapping[str, int],
        notes: Mapping[str, TrainableNote],
        records: Mapping[str, Record],
    ) -> None:
        self._trial, self._rows, self._iterations = trial, rows, rows.iterations
        self._places, self._notes, self._records = places, notes, records

    def checkpoint(self, name: CheckpointName, folder: Folder | None, saved: int) -> Checkpoint:
        """The checkpoint of a name: the folder, and what the log knows of it."""
        place = self._places.get(name)
        lies = _GONE if folder is None else folder
        made = Checkpoint(
            trial=self._trial,
            name=name,
            index=index_of(name),
            state=lies.state,
            training_iteration=None if place is None else self._iterations[place],
            metrics=_NO_METRICS if place is None else self._rows.metrics(place),
            files=len(lies.held.names),
            size_bytes=lies.size,
            modified=lies.modified,
            recorded_by=_UNKNOWN if place is None else _LOGGED,
            saved=saved,
            begun=lies.begun,
        )
        if name in self._records or name in self._notes:
            made = self._known(made)
        if lies.lacks or lies.hollow or lies.torn or lies.strays:
            made = replace(
                made,
                lacks=lies.lacks,
                hollow=lies.hollow,
                torn=lies.torn,
                strays=lies.strays,
            )
        return made

    def _known(self, made: Checkpoint) -> Checkpoint:
        """The same with what the driver and the trainable know of it; the driver comes first."""
        record, note = self._records.get(made.name), self._notes.get(made.name)
        logged = made.name in self._places
        metrics, iteration = made.metrics, made.training_iteration
        if record is not None:
            metrics = record.metrics
            if record.training_iteration is not None:
                iteration = record.training_iteration
            logged = logged or record.row is not None
        elif note is not None and not logged:
            metrics = note.metrics
        left = note.iteration if note else None
        if iteration is None and left is not None:
            iteration = left.value
        return replace(
            made,
            metrics=pack(metrics),
            training_iteration=iteration,
            recorded_by=_SPOKEN[record is not None, note is not None, logged],
            left=left,
            left_result=note.result() if note and not record else None,
        )


def _with_results(
    sources: TrialSources, checkpoints: tuple[Checkpoint, ...], kind: TrainableKind | None
) -> Rows:
    """The rows, with the whole result where a repair may have to write it into the state."""
    rows = sources.log.rows
    if sources.state is None or not isinstance(rows, LogRows):
        return rows
    unknown = {c.name for c in checkpoints if c.on_storage and Witness.TRIAL not in c.recorded_by}
    wanted = {rows.lines[place] for place in _last_places(sources, kind, unknown).values()}
    last = rows.iterations[-1] if rows else None
    if (last or 0) > (sources.state.last_iteration or 0):
        wanted.add(rows.lines[-1])
    return rows.with_results(wanted) if wanted else rows


def _status(state: StateTrial | None) -> TrialStatus | None:
    known = TrialStatus.__members__
    return None if state is None else known.get(state.status or "")


def _logged_trial_id(rows: Rows) -> str | None:
    return next((r.trial_id for r in reversed(rows) if r.trial_id), None)


def _index_slot(sources: TrialSources) -> Provenance | None:
    if sources.state is None or sources.state_file is None or sources.state.raw_index is None:
        return None
    return Provenance(file=sources.state_file, pointer=sources.state.index_pointer)


def _state_problems(sources: TrialSources) -> tuple[Unreadable, ...]:
    state = sources.state
    if state is None or state.broken is None or sources.state_file is None:
        return ()
    reason = f"trial {state.trial_id or sources.dirname}: {state.broken}"
    return (Unreadable(file=sources.state_file, reason=reason, role=RecordRole.STATE),)


def _state_iteration(sources: TrialSources) -> Claim[int] | None:
    state = sources.state
    if state is None or state.last_iteration is None or state.shape is None:
        return None
    if sources.state_file is None:
        return None
    return Claim(
        value=state.last_iteration,
        witness=Witness.TRIAL,
        provenance=Provenance(
            file=sources.state_file, pointer=f"{state.shape.last_result_pointer}/training_iteration"
        ),
    )


def _trial_root(state: StateTrial | None) -> str | None:
    if state is None or not state.storage_root:
        return None
    root = state.storage_root.rstrip("/")
    return f"{root}/{state.experiment_name}/{state.dirname}"


def _latest(trial: Trial) -> CheckpointRef | None:
    """What a restore would go on from; where its folder is gone, the newest that is whole."""
    record = trial.latest_record
    if record is not None and record.ref is not None:
        own = record.ref.trial == trial.dirname
        checkpoint = trial.checkpoint(record.ref.name) if own else None
        if not own or (checkpoint is not None and checkpoint.on_storage):
            return record.ref
    newest = newest_whole(trial)
    return CheckpointRef(trial=trial.dirname, name=newest.name) if newest else None
