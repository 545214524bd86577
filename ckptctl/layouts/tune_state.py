"""The experiment state of Ray Tune 2.7 and newer: ``experiment_state-*.json``.

Each trial is a pair of JSON texts inside the JSON; the driver's counter and its list of
checkpoints are pickles inside those (Ray 2.54 ``tune/execution/tune_controller.py``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from ckptctl.codec.errors import CodecError, RecordError
from ckptctl.codec.json_records import load_json
from ckptctl.codec.pickle_alike import Alike
from ckptctl.layouts.pickled import Pickled, open_fallback
from ckptctl.model.checkpoint import Metrics
from ckptctl.model.experiment import RecordShape, Retention
from ckptctl.model.heap import Heap, Priority
from ckptctl.model.metrics import flatten, pack, whole_number

_MANAGER = "checkpoint_manager"
_KEYS_OF_2_7 = frozenset({"_legacy_orig_experiment_path", "legacy_sync_config"})
"""What Ray 2.8 dropped of a trial (Ray 2.7 ``tune/experiment/trial.py``)."""
_LAST_SET, _FIRST_PICKLED = "_state_json", "results"
"""Keys of Ray 2.7 to 2.9, in the order in which they write them (``tune/experiment/trial.py``)."""


class StateError(ValueError):
    """A state file that is JSON but not the state of an experiment."""


class StateRecord(Struct, frozen=True, kw_only=True):
    """One ``_TrainingResult`` as recorded: a checkpoint's path and its metrics."""

    path: str
    metrics: Metrics
    dir_name: str | None
    """``checkpoint_dir_name`` inside the metrics."""
    timestamp: object
    pointer: str
    """The address of the record as a whole."""
    path_pointer: str
    name_pointer: str
    """Where `dir_name` is."""
    number: int | None = None
    """Its place in the recorded list; None for what is recorded beside it."""
    serial: int | None = None
    """The number of its registration (Ray 2.6 and before)."""
    priority: Priority | None = None


class StateTrial(Struct, frozen=True, kw_only=True):
    """One trial of the state, with the place of everything that may have to change."""

    position: int
    trial_id: str | None
    status: str | None
    dirname: str
    experiment_name: str = ""
    storage_root: str = ""
    """``storage_fs_path``: where experiments are kept, without scheme."""
    scheme: str = ""
    """``s3`` or ``gs`` where the recorded filesystem says so, else empty."""
    raw_index: int | None = None
    index_pointer: str = ""
    records: tuple[StateRecord, ...] = ()
    latest: StateRecord | None = None
    latest_is: int | None = None
    """The place in `records` of the latest, where it is one of them by identity."""
    restore_path: tuple[str, str] | None = None
    """(pointer, text) of a checkpoint that ``tune.run(restore=)`` named."""
    restored: StateRecord | None = None
    last_iteration: int | None = None
    last_dir_name: str | None = None
    retention: Retention | None = None
    shape: RecordShape | None = None
    broken: str | None = None
    """Why nothing but the plain facts could be read."""
    best: StateRecord | None = None
    """What Ray 2.6 records as the best beside its heap."""
    is_2_7: bool = False
    is_legacy: bool = False
    """Ray 2.6 and before."""
    heap: Heap | None = None
    staging: str | None = None
    keeps_roots: bool = False
    """Ray 2.7 and 2.8 go on at the recorded root wherever the experiment lies."""
    storage_fields: frozenset[str] = frozenset()
    """The attributes of its ``StorageContext``."""


def read_trial_data(pairs: Iterable[object]) -> tuple[StateTrial, ...]:
    """The trials of a state file's list ``trial_data``, in its own order.

    Raises:
        CodecError: a text is not JSON, or a pickle inside cannot be read.
        StateError: an item is not what Ray writes.
    """
    return tuple(_trials(pairs))


def _trials(pairs: Iterable[object]) -> Iterator[StateTrial]:
    storages, managers = Alike(), Alike()
    for position, pair in enumerate(pairs):
        if not isinstance(pair, list) or len(pair) != 2:
            raise StateError(f"trial_data/{position} is not a pair")
        trial, run = (load_json(t) if isinstance(t, str) else t for t in pair)
        if not isinstance(trial, Mapping) or not isinstance(run, Mapping):
            raise StateError(f"trial_data/{position} holds no objects")
        try:
            storage = open_fallback(trial.get("storage"), storages)
            manager = open_fallback(run.get(_MANAGER), managers)
            yield _trial(position, trial, run, storage, manager)
        except CodecError as error:
            yield broken_trial(position, trial, str(error))


def broken_trial(position: int, trial: Mapping[str, object], reason: str) -> StateTrial:
    """A trial of which a pickle cannot be read: its plain facts, and why there are no others."""
    return StateTrial(
        position=position,
        trial_id=_text(trial.get("trial_id")),
        status=_text(trial.get("status")),
        dirname=(_text(trial.get("relative_logdir")) or "").rstrip("/").rpartition("/")[2],
        is_2_7=_is_2_7(trial),
        broken=reason,
    )


def _is_2_7(trial: Mapping[str, object]) -> bool:
    """Whether it is to be read as Ray 2.7 reads it.

    A newer Ray that goes on with a state of 2.7 keeps the keys that it does not know: behind all
    that it sets itself, and before what it cannot write as JSON (seen with 2.9.3).
    """
    keys = list(trial)
    if _LAST_SET in trial and _FIRST_PICKLED in trial:
        del keys[keys.index(_LAST_SET) : keys.index(_FIRST_PICKLED)]
    return not _KEYS_OF_2_7.isdisjoint(keys)


def _trial(
    position: int,
    trial: Mapping[str, object],
    run: Mapping[str, object],
    storage: Pickled,
    manager: Pickled,
) -> StateTrial:
    base, meta = f"trial_data/{position}/0#", f"trial_data/{position}/1#"
    results = manager.at("_checkpoint_results")
    if manager.present and not results.is_list:
        raise RecordError(f"its {_MANAGER} holds no list of checkpoints")
    last = run.get("last_result")
    last = last if isinstance(last, Mapping) else {}
    records = tuple(_records(results, f"{meta}{_MANAGER}#_checkpoint_results"))
    latest = manager.at("_latest_checkpoint_result")
    latest_is = _same_object(results, latest)
    dirname = storage.text("trial_dir_name") or _text(trial.get("relative_logdir")) or ""
    last_name = last.get("checkpoint_dir_name")
    restored = open_fallback(trial.get("_restore_checkpoint_result"))
    restore_path = _text(trial.get("restore_path"))
    index = storage.whole("current_checkpoint_index")
    return StateTrial(
        position=position,
        trial_id=_text(trial.get("trial_id")),
        status=_text(trial.get("status")),
        dirname=dirname.rstrip("/").rpartition("/")[2],
        experiment_name=storage.text("experiment_dir_name") or "",
        storage_root=storage.text("storage_fs_path") or "",
        scheme=_scheme(storage),
        raw_index=index,
        index_pointer=f"{base}storage#current_checkpoint_index",
        records=records,
        latest=_latest(records, latest_is, latest, meta),
        latest_is=latest_is,
        restore_path=(f"{base}restore_path", restore_path) if restore_path else None,
        restored=_record(restored, f"{base}_restore_checkpoint_result#"),
        last_iteration=whole_number(last.get("training_iteration")),
        last_dir_name=last_name if isinstance(last_name, str) else None,
        retention=_retention(manager.at("_checkpoint_config")),
        shape=_shape(storage, manager, base, meta),
        is_2_7=_is_2_7(trial),
        staging=_staging(storage),
        keeps_roots=storage.at("storage_path").present,
        storage_fields=storage.fields,
        broken=None if index is not None else "its storage tells no current_checkpoint_index",
    )


def _shape(storage: Pickled, manager: Pickled, base: str, meta: str) -> RecordShape:
    first = next((i for i in manager.at("_checkpoint_results").items()), None)
    first = first or manager.at("_latest_checkpoint_result")
    module = (manager.at("_checkpoint_config").called or "ray.train").partition(":")[0]
    return RecordShape(
        list_pointer=f"{meta}{_MANAGER}#_checkpoint_results",
        latest_pointer=f"{meta}{_MANAGER}#_latest_checkpoint_result",
        filesystem_pointer=f"{base}storage#storage_filesystem",
        result_class=first.called or "ray.train._internal.session:_TrainingResult",
        # Ray moves Checkpoint and CheckpointConfig together: ray.train, since 2.54 ray.tune.
        checkpoint_class=first.at("checkpoint").called or f"{module}:Checkpoint",
        roots=tuple(_roots(storage, f"{base}storage#")),
        last_result_pointer=f"{meta}last_result",
    )


def _records(results: Pickled, pointer: str) -> Iterator[StateRecord]:
    for number, item in enumerate(results.items()):
        record = _record(item, f"{pointer}/{number}", number)
        if record is not None:
            yield record


def _record(item: Pickled, pointer: str, number: int | None = None) -> StateRecord | None:
    path = item.at("checkpoint").text("path")
    if path is None:
        return None
    metrics = item.at("metrics").plain()
    metrics = metrics if isinstance(metrics, Mapping) else {}
    name = metrics.get("checkpoint_dir_name")
    own = name if isinstance(name, str) else None
    return _placed(path, pack(flatten(metrics)), own, metrics.get("timestamp"), pointer, number)


def _placed(  # noqa: PLR0913, PLR0917 - the parts of one value
    path: str,
    metrics: Metrics,
    dir_name: str | None,
    timestamp: object,
    pointer: str,
    number: int | None = None,
) -> StateRecord:
    return StateRecord(
        path=path,
        metrics=metrics,
        dir_name=dir_name,
        timestamp=timestamp,
        pointer=pointer,
        path_pointer=f"{pointer}/checkpoint/path",
        name_pointer=f"{pointer}/metrics/checkpoint_dir_name",
        number=number,
    )


def _latest(
    records: tuple[StateRecord, ...], number: int | None, latest: Pickled, meta: str
) -> StateRecord | None:
    """The record of the latest; where it is one of the list by identity, that is not read again."""
    pointer = f"{meta}{_MANAGER}#_latest_checkpoint_result"
    same = next((r for r in records if r.number == number), None) if number is not None else None
    if same is None:
        return _record(latest, pointer)
    return _placed(same.path, same.metrics, same.dir_name, same.timestamp, pointer)


def _same_object(results: Pickled, latest: Pickled) -> int | None:
    for number, item in enumerate(results.items()):
        if latest.present and item.is_same(latest):
            return number
    return None


def _roots(storage: Pickled, base: str) -> Iterator[tuple[str, str]]:
    for name in ("storage_fs_path", "storage_path", "experiment_dir_name"):
        text = storage.text(name)
        if text is not None:
            yield f"{base}{name}", text
    local = storage.text("storage_local_path")
    if local is not None and local == storage.text("storage_fs_path"):
        yield f"{base}storage_local_path", local


def _staging(storage: Pickled) -> str | None:
    """Where the driver of Ray 2.7 to 2.9 keeps its copy, if that is not the storage itself."""
    local, name = storage.text("storage_local_path"), storage.text("experiment_dir_name")
    if local is None or name is None or local == storage.text("storage_fs_path"):
        return None
    return f"{local.rstrip('/')}/{name}"


def _scheme(storage: Pickled) -> str:
    called = storage.at("storage_filesystem").called or ""
    for mark, scheme in (("_s3fs", "s3"), ("_gcsfs", "gs"), ("_hdfs", "hdfs")):
        if mark in called:
            return scheme
    return ""


def _retention(config: Pickled) -> Retention | None:
    if not config.present:
        return None
    keep, frequency = config.whole("num_to_keep"), config.whole("checkpoint_frequency")
    at_end = config.at("checkpoint_at_end").plain()
    return Retention(
        num_to_keep=keep,
        monitor=config.text("checkpoint_score_attribute"),
        mode=config.text("checkpoint_score_order") or "max",
        frequency=frequency,
        at_end=at_end if isinstance(at_end, bool) else None,
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
