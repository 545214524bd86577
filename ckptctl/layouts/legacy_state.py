"""The experiment state of Ray 2.6 and before: one JSON text a trial, a heap of records.

There is no counter in it: a folder is numbered by the iteration that the trainable knew when it
saved (Ray 2.6 ``tune/trainable/trainable.py``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec.structs import replace

from ckptctl.codec.errors import CodecError
from ckptctl.codec.json_records import load_json
from ckptctl.layouts.pickled import Pickled, open_fallback
from ckptctl.layouts.tune_state import StateError, StateRecord, StateTrial, broken_trial
from ckptctl.model.experiment import RecordShape, Retention
from ckptctl.model.heap import Heap, Priority
from ckptctl.model.metrics import flatten, whole_number

_MANAGER = "checkpoint_manager"
_LIST = "_top_persisted_checkpoints"


def read_legacy_trials(texts: Iterable[object]) -> tuple[StateTrial, ...]:
    """The trials of a state file's list ``checkpoints``, in its own order.

    Raises:
        CodecError: a text is not JSON, or a pickle inside cannot be read.
        StateError: an item is not what Ray writes.
    """
    return tuple(_trials(texts))


def _trials(texts: Iterable[object]) -> Iterator[StateTrial]:
    for position, text in enumerate(texts):
        trial = load_json(text) if isinstance(text, str) else text
        if not isinstance(trial, Mapping):
            raise StateError(f"checkpoints/{position} holds no object")
        try:
            yield _trial(position, trial)
        except CodecError as error:
            yield replace(broken_trial(position, trial, str(error)), is_legacy=True)


def _trial(position: int, trial: Mapping[str, object]) -> StateTrial:
    base = f"checkpoints/{position}#"
    manager = open_fallback(trial.get(_MANAGER))
    last = trial.get("_last_result")
    last = last if isinstance(last, Mapping) else {}
    records = tuple(_records(manager, f"{base}{_MANAGER}#{_LIST}"))
    latest = manager.at("_latest_persisted_checkpoint")
    restore_path = trial.get("restore_path")
    root = _text(trial.get("_local_experiment_path")) or ""
    return StateTrial(
        position=position,
        trial_id=_text(trial.get("trial_id")),
        status=_text(trial.get("status")),
        dirname=(_text(trial.get("relative_logdir")) or "").rstrip("/").rpartition("/")[2],
        experiment_name=root.rpartition("/")[2],
        storage_root=root.rpartition("/")[0],
        scheme="",
        raw_index=None,
        index_pointer="",
        records=records,
        latest=_record(latest, f"{base}{_MANAGER}#_latest_persisted_checkpoint"),
        latest_is=_same_object(manager, latest),
        restore_path=(f"{base}restore_path", restore_path)
        if isinstance(restore_path, str) and restore_path
        else None,
        restored=None,
        best=_record(
            manager.at("_best_persisted_checkpoint"),
            f"{base}{_MANAGER}#_best_persisted_checkpoint",
        ),
        last_iteration=whole_number(last.get("training_iteration")),
        last_dir_name=None,
        retention=_retention(manager.at("_checkpoint_strategy")),
        shape=_shape(trial, base),
        is_legacy=True,
        heap=_heap(manager, f"{base}{_MANAGER}#"),
    )


def _records(manager: Pickled, pointer: str) -> Iterator[StateRecord]:
    for number, item in enumerate(manager.at(_LIST).items()):
        record = _record(item.at("tracked_checkpoint"), f"{pointer}/{number}/tracked_checkpoint")
        if record is not None:
            yield replace(record, number=number, priority=_priority(item.at("priority").plain()))


def _priority(value: object) -> Priority | None:
    match value:
        case (bool(first), int(score) | float(score), int(serial)):
            return first, score, serial
    return None


def _heap(manager: Pickled, base: str) -> Heap | None:
    counter = manager.whole("_latest_checkpoint_id")
    if counter is None:
        return None
    waiting = [item.text("dir_or_data") for item in manager.at("_checkpoints_to_clean_up").items()]
    return Heap(
        best_pointer=f"{base}_best_persisted_checkpoint",
        counter_pointer=f"{base}_latest_checkpoint_id",
        counter=counter,
        clean_up_pointer=f"{base}_checkpoints_to_clean_up",
        clean_up=tuple(path for path in waiting if path),
        hollow=tuple(
            f"{base}{_LIST}/{number}"
            for number, item in enumerate(manager.at(_LIST).items())
            if item.at("tracked_checkpoint").text("dir_or_data") is None
        ),
    )


def _record(item: Pickled, pointer: str) -> StateRecord | None:
    path = item.text("dir_or_data")
    if path is None:
        return None
    metrics = item.at("metrics").plain()
    metrics = metrics if isinstance(metrics, Mapping) else {}
    return StateRecord(
        path=path,
        metrics=flatten(metrics),
        dir_name=None,
        timestamp=metrics.get("timestamp"),
        pointer=pointer,
        path_pointer=f"{pointer}/dir_or_data",
        name_pointer="",
        serial=item.whole("id"),
    )


def _same_object(manager: Pickled, latest: Pickled) -> int | None:
    for number, item in enumerate(manager.at(_LIST).items()):
        if latest.present and item.at("tracked_checkpoint").is_same(latest):
            return number
    return None


def _retention(config: Pickled) -> Retention | None:
    if not config.present:
        return None
    at_end = config.at("checkpoint_at_end").plain()
    return Retention(
        num_to_keep=config.whole("num_to_keep"),
        monitor=config.text("checkpoint_score_attribute"),
        mode=config.text("checkpoint_score_order") or "max",
        frequency=config.whole("checkpoint_frequency"),
        at_end=at_end if isinstance(at_end, bool) else None,
    )


def _shape(trial: Mapping[str, object], base: str) -> RecordShape:
    roots = ("_local_experiment_path", "_orig_experiment_path", "_remote_experiment_path")
    return RecordShape(
        list_pointer=f"{base}{_MANAGER}#{_LIST}",
        latest_pointer=f"{base}{_MANAGER}#_latest_persisted_checkpoint",
        filesystem_pointer="",
        result_class="ray.air._internal.checkpoint_manager:_HeapCheckpointWrapper",
        checkpoint_class="ray.air._internal.checkpoint_manager:_TrackedCheckpoint",
        roots=tuple((f"{base}{name}", text) for name in roots if (text := _text(trial.get(name)))),
        last_result_pointer=f"{base}_last_result",
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
