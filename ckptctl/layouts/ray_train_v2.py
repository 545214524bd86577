"""Ray Train V2: one run, its folders directly in it, and one snapshot that is the index.

There is no counter and no result log; names are dates or the caller's own, and order comes from
the snapshot alone (Ray 2.54 ``train/v2/_internal/execution/checkpoint/checkpoint_manager.py``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from msgspec import Struct
from msgspec.structs import replace

from ckptctl.codec.errors import CodecError
from ckptctl.codec.json_prefix import whole_members
from ckptctl.codec.json_records import load_json
from ckptctl.layouts.base import Match, Source
from ckptctl.layouts.folders import Folder, checkpoint_folders, compare_siblings
from ckptctl.layouts.order import save_order
from ckptctl.layouts.tree import SNAPSHOT, Tree
from ckptctl.layouts.tune_folders import is_experiment
from ckptctl.model.bookkeeping import Bookkeeping, Claim, Provenance, Witness
from ckptctl.model.checkpoint import (
    Checkpoint,
    CheckpointName,
    CheckpointState,
    Metrics,
    TrialDir,
)
from ckptctl.model.experiment import (
    CheckpointRef,
    Experiment,
    Mention,
    MentionForm,
    Record,
    RecordKind,
    RecordRole,
    Trial,
    Unreadable,
)
from ckptctl.model.metrics import flatten, whole_number
from ckptctl.model.names import NameKind, index_of, kind_of, natural_key
from ckptctl.model.ranking import newest_whole

_RUN = TrialDir(".")
_NAME = "checkpoint_dir_name"
_NAME_LISTS = (
    "validated_checkpoint_dir_names",
    "timed_out_validation_checkpoint_dir_names",
    "failed_validation_checkpoint_dir_names",
)
"""Lists of bare names that Ray 2.60 keeps beside the results."""


class RayTrainV2:
    """Ray Train V2 of Ray 2.46 to 2.60."""

    names: ClassVar[tuple[str, ...]] = ("ray-train-v2",)

    def match(self, tree: Tree) -> Match | None:
        """By the snapshot's name."""
        if tree.file(SNAPSHOT) is None:
            return None
        return Match(confidence=90, why=f"{SNAPSHOT} lies in it")

    def read(self, tree: Tree, source: Source) -> Experiment:
        """The run as one trial whose folder is the experiment's own."""
        snapshot = _read_snapshot(source)
        named: set[str] = {r.path for r in snapshot.records}
        if not snapshot.read:
            # Only checkpoints lie in a run's folder, whatever they are called.
            named = {n for n in tree.folders() if n[0] != "." and not is_experiment(tree, n)}
        folders = compare_siblings({_RUN: checkpoint_folders(tree, "", named)})[_RUN]
        trial = _trial(snapshot, folders)
        return Experiment(
            location=source.location,
            name=source.root.rstrip("/").rpartition("/")[2] or source.location,
            layout=self.names[0],
            trials=(trial,),
            ray_version=snapshot.ray_version,
            state_file=SNAPSHOT,
            actual_root=source.root,
            records=tuple(source.files),
            mentions=snapshot.mentions,
            problems=tuple(source.problems),
            odd=tree.odd_paths(),
            unparsed=tuple(
                f.name for f in folders if kind_of(f.name) is NameKind.OTHER and f.name not in named
            ),
            state_fields=snapshot.fields,
            salvaged=snapshot.salvaged,
        )


class _Snapshot(Struct, frozen=True, kw_only=True):
    read: bool
    ray_version: str | None = None
    records: tuple[Record, ...] = ()
    latest: Record | None = None
    mentions: tuple[Mention, ...] = ()
    numbers: tuple[int, ...] | None = None
    """The report number of each record: later saves have higher ones."""
    next_report: int | None = None
    fields: frozenset[str] = frozenset()
    salvaged: Mapping[str, object] | None = None
    """What is whole in a text that is no snapshot."""


def _read_snapshot(source: Source) -> _Snapshot:
    data = source.read(SNAPSHOT, RecordKind.JSON, RecordRole.STATE)
    if data is None:
        return _Snapshot(read=False)
    try:
        return _parse(load_json(data))
    except (CodecError, _NoSnapshot) as error:
        source.problems.append(
            Unreadable(
                file=SNAPSHOT,
                reason=str(error),
                empty=not data.strip(),
                role=RecordRole.STATE,
            )
        )
        return _Snapshot(read=False, salvaged=whole_members(data))


class _NoSnapshot(ValueError):
    """JSON, but not a snapshot."""


def _parse(document: object) -> _Snapshot:
    if not isinstance(document, Mapping):
        raise _NoSnapshot("it holds no object")
    results = document.get("checkpoint_results")
    if not isinstance(results, list):
        raise _NoSnapshot("it has no list `checkpoint_results`")
    records = tuple(_listed_record(item, n) for n, item in enumerate(results))
    latest = _record(document.get("latest_checkpoint_result"), "latest_checkpoint_result", None)
    version = document.get("ray_version")
    return _Snapshot(
        read=True,
        ray_version=version if isinstance(version, str) else None,
        records=records,
        latest=_listed(latest, records),
        mentions=tuple(_mentions(document, records, latest)),
        numbers=_numbers(document, results),
        next_report=whole_number(document.get("current_report_index")),
        fields=frozenset(map(str, document)),
    )


def _record(item: object, pointer: str, position: int | None) -> Record | None:
    if not isinstance(item, Mapping) or not isinstance(item.get(_NAME), str):
        return None
    name = item[_NAME]
    metrics = item.get("metrics")
    flat = flatten(metrics) if isinstance(metrics, Mapping) else {}
    return Record(
        ref=CheckpointRef(trial=_RUN, name=CheckpointName(name)),
        path=name,
        metrics=flat,
        training_iteration=whole_number(flat.get("training_iteration")),
        provenance=Provenance(file=SNAPSHOT, pointer=pointer),
        path_pointer=f"{pointer}/{_NAME}",
        position=position,
        written=item,
    )


def _listed(latest: Record | None, records: tuple[Record, ...]) -> Record | None:
    if latest is None:
        return None
    same = [r for r in records if r.path == latest.path]
    return replace(latest, position=same[-1].position) if same else latest


def _mentions(
    document: Mapping[str, object], records: tuple[Record, ...], latest: Record | None
) -> Iterator[Mention]:
    for record in (*records, *((latest,) if latest else ())):
        yield _mention(record.path, record.path_pointer)
    pending = document.get("pending_training_results")
    for n, item in enumerate(pending if isinstance(pending, list) else ()):
        name = item.get(_NAME) if isinstance(item, Mapping) else None
        if isinstance(name, str):
            yield _mention(name, f"pending_training_results/{n}/{_NAME}")
    for key in _NAME_LISTS:
        names = document.get(key)
        for n, name in enumerate(names if isinstance(names, list) else ()):
            if isinstance(name, str):
                yield _mention(name, f"{key}/{n}")


def _mention(name: str, pointer: str) -> Mention:
    return Mention(
        ref=CheckpointRef(trial=_RUN, name=CheckpointName(name)),
        provenance=Provenance(file=SNAPSHOT, pointer=pointer),
        text=name,
        form=MentionForm.NAME,
    )


def _listed_record(item: object, number: int) -> Record:
    record = _record(item, f"checkpoint_results/{number}", number)
    if record is None:  # Ray reads all of the list, or nothing
        raise _NoSnapshot(f"its checkpoint_results/{number} names no checkpoint")
    return record


def _numbers(document: Mapping[str, object], results: list[object]) -> tuple[int, ...] | None:
    numbers = document.get("checkpoint_report_indices")
    if not isinstance(numbers, list) or len(numbers) != len(results):
        return None
    whole = tuple(n for n in map(whole_number, numbers) if n is not None)
    return whole if len(whole) == len(numbers) else None


def _places(snapshot: _Snapshot) -> dict[str, int]:
    """Registration order is score order where a score ranks, so only the numbers tell."""
    if snapshot.numbers is None:
        return {}
    return {r.path: snapshot.numbers[r.position or 0] for r in snapshot.records}


def _trial(snapshot: _Snapshot, folders: tuple[Folder, ...]) -> Trial:
    by_name = {record.path: record for record in snapshot.records}
    if snapshot.latest is not None:
        by_name.setdefault(snapshot.latest.path, snapshot.latest)
    on_storage = {folder.name: folder for folder in folders}
    names = sorted({*on_storage, *by_name}, key=natural_key)
    places = save_order(names, _places(snapshot))
    checkpoints = tuple(
        _checkpoint(name, on_storage.get(name), by_name.get(name), places[name]) for name in names
    )
    trial = Trial(
        trial_id=None,
        dirname=_RUN,
        status=None,
        in_state=snapshot.read,
        on_storage=True,
        checkpoints=checkpoints,
        records=snapshot.records,
        latest_record=snapshot.latest,
        report_numbers=snapshot.numbers,
        next_report=None
        if snapshot.next_report is None
        else Claim(
            value=snapshot.next_report,
            witness=Witness.TRIAL,
            provenance=Provenance(file=SNAPSHOT, pointer="current_report_index"),
        ),
    )
    trial = replace(trial, books=_books(snapshot, trial))
    return replace(trial, latest=_latest(trial))


def _checkpoint(name: str, folder: Folder | None, record: Record | None, place: int) -> Checkpoint:
    metrics: Metrics = record.metrics if record else {}
    return Checkpoint(
        trial=_RUN,
        name=CheckpointName(name),
        index=index_of(name),
        state=folder.state if folder else CheckpointState.MISSING,
        training_iteration=record.training_iteration if record else None,
        metrics=metrics,
        files=folder.count if folder else 0,
        size_bytes=folder.size if folder else 0,
        modified=folder.modified if folder else None,
        recorded_by=(Witness.TRIAL,) if record else (),
        saved=place,
        lacks=folder.lacks if folder else (),
        hollow=folder.hollow if folder else (),
        torn=folder.torn if folder else (),
        strays=folder.strays if folder else (),
        begun=folder.begun if folder else None,
    )


def _books(snapshot: _Snapshot, trial: Trial) -> dict[Witness, Bookkeeping]:
    saves = trial.saves
    books = {
        Witness.STORAGE: Bookkeeping(
            latest_checkpoint=_folder_claim(saves[-1].name) if saves else None,
            checkpoints=tuple(_folder_claim(c.name) for c in trial.folders),
        )
    }
    if snapshot.read:
        books[Witness.TRIAL] = Bookkeeping(
            latest_checkpoint=_record_claim(snapshot.latest) if snapshot.latest else None,
            checkpoints=tuple(_record_claim(r) for r in snapshot.records),
        )
    return books


def _folder_claim(name: str) -> Claim[str]:
    return Claim(value=name, witness=Witness.STORAGE, provenance=Provenance(file=name))


def _record_claim(record: Record) -> Claim[str]:
    return Claim(
        value=record.path,
        witness=Witness.TRIAL,
        provenance=Provenance(file=SNAPSHOT, pointer=record.path_pointer),
    )


def _latest(trial: Trial) -> CheckpointRef | None:
    record = trial.latest_record
    known = trial.checkpoint(record.path) if record else None
    if known is not None and known.on_storage:
        return CheckpointRef(trial=_RUN, name=known.name)
    newest = newest_whole(trial)
    return CheckpointRef(trial=_RUN, name=newest.name) if newest else None
