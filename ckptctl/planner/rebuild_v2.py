"""A new snapshot for a Train V2 run whose own cannot be read.

Ray writes the snapshot in place, so that a crash can leave it torn or empty, and then refuses to
load the run at all. What is left are the folders, and the whole part of the text.

The document has the fields of Ray 2.60. Ray 2.46 to 2.54 ignore the ones they do not know; a
version that is not recorded is taken to be the reader's own (``_CheckpointManagerState`` in
``train/v2/_internal/execution/checkpoint/checkpoint_manager.py``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from ckptctl.codec.values import to_json
from ckptctl.model.checkpoint import Checkpoint, CheckpointState
from ckptctl.model.experiment import Experiment, Trial
from ckptctl.model.names import NameKind, kind_of
from ckptctl.model.plan import Edit
from ckptctl.planner.draft import Draft
from ckptctl.planner.record_value import result_values

__all__ = ["can_rebuild", "plan_rebuild_v2"]

_NAME = "checkpoint_dir_name"
_ORDERED = (NameKind.DATE, NameKind.RAY_INDEX, NameKind.TAGGED)


class _Result(Struct, frozen=True, kw_only=True):
    """One whole checkpoint, and what the text still tells of it."""

    checkpoint: Checkpoint
    number: int
    """Of its report."""
    written: Mapping[str, object] | None


def can_rebuild(experiment: Experiment) -> bool:
    """Whether it is a Train V2 run whose snapshot was read, but is no snapshot."""
    return experiment.salvaged is not None


def plan_rebuild_v2(experiment: Experiment) -> Draft:
    """A whole new snapshot, made from the folders; unsafe, since their metrics may be lost."""
    if experiment.state_file is None or experiment.salvaged is None:
        return Draft()
    (trial,) = experiment.trials
    text = experiment.salvaged
    results = _results(trial, text)
    edit = Edit(op="set", pointer="", after=to_json(result_values(_document(text, results))))
    return Draft(
        edits={experiment.state_file: (edit,)},
        notes=tuple(_notes(experiment.state_file, text, results)),
        unsafe=True,
    )


def _results(trial: Trial, text: Mapping[str, object]) -> list[_Result]:
    """In save order; a report that the text does not number follows all that it does."""
    told = _told(text)
    numbers = _numbers(text)
    saves = [c for c in _in_order(trial.saves) if c.state is CheckpointState.COMPLETE]
    if numbers and all(c.name in numbers for c in saves):
        saves.sort(key=lambda c: numbers[c.name])
    following = max(numbers.values(), default=-1) + 1
    results: list[_Result] = []
    for checkpoint in saves:
        number = numbers.get(checkpoint.name)
        if number is None:
            number, following = following, following + 1
        written = told.get(checkpoint.name)
        results.append(_Result(checkpoint=checkpoint, number=number, written=written))
    return results


def _in_order(saves: Sequence[Checkpoint]) -> list[Checkpoint]:
    """By name where all names tell an order, else by time."""
    ordered = list(saves)
    times = [c.modified for c in saves]
    if any(kind_of(c.name) not in _ORDERED for c in saves) and None not in times:
        ordered.sort(key=lambda c: (c.modified or 0.0, c.saved))
    return ordered


def _told(text: Mapping[str, object]) -> dict[str, Mapping[str, object]]:
    listed = text.get("checkpoint_results")
    items = [*(listed if isinstance(listed, list) else ()), text.get("latest_checkpoint_result")]
    return {
        str(item[_NAME]): item
        for item in items
        if isinstance(item, Mapping)
        and isinstance(item.get(_NAME), str)
        and isinstance(item.get("metrics"), Mapping)
    }


def _numbers(text: Mapping[str, object]) -> dict[str, int]:
    listed, numbers = text.get("checkpoint_results"), text.get("checkpoint_report_indices")
    if not isinstance(listed, list) or not isinstance(numbers, list):
        return {}
    return {
        str(item[_NAME]): number
        for item, number in zip(listed, numbers, strict=False)
        if isinstance(item, Mapping) and isinstance(item.get(_NAME), str) and _is_whole(number)
    }


def _is_whole(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool)


def _document(text: Mapping[str, object], results: Sequence[_Result]) -> dict[str, object]:
    # The list ascends by score; what the text no longer tells stood behind what it does.
    listed = text.get("checkpoint_results")
    items = listed if isinstance(listed, list) else []
    named = ((n, item.get(_NAME)) for n, item in enumerate(items) if isinstance(item, Mapping))
    places = {name: n for n, name in named if isinstance(name, str)}
    ranked = sorted(results, key=lambda r: places.get(r.checkpoint.name, len(places)))
    latest = _latest(text, results)
    current = text.get("current_report_index")
    following = max((r.number for r in results), default=-1) + 1
    return {
        **{key: text[key] for key in ("version", "ray_version") if key in text},
        "checkpoint_results": [_written(result) for result in ranked],
        "checkpoint_report_indices": [result.number for result in ranked],
        "latest_checkpoint_result": _written(latest) if latest else None,
        "pending_training_results": [],
        "pending_validation_specs": [],
        "current_report_index": max(following, current) if isinstance(current, int) else following,
        "validated_checkpoint_dir_names": [],
        "timed_out_validation_checkpoint_dir_names": [],
        "failed_validation_checkpoint_dir_names": [],
    }


def _latest(text: Mapping[str, object], results: Sequence[_Result]) -> _Result | None:
    """As the text has it, where it has it and the folder is whole; else the last saved."""
    told = text.get("latest_checkpoint_result")
    name = told.get(_NAME) if isinstance(told, Mapping) else None
    newest = results[-1] if results else None
    return next((r for r in results if r.checkpoint.name == name), newest)


def _written(result: _Result) -> dict[str, object]:
    if result.written is not None:
        return dict(result.written)
    return {"version": 0, _NAME: result.checkpoint.name, "metrics": {}}


def _notes(file: str, text: Mapping[str, object], results: Sequence[_Result]) -> Iterator[str]:
    lost = [r.checkpoint.name for r in results if r.written is None]
    yield f"{file} is made anew from {len(results)} folders"
    if lost:
        yield f"the metrics of {', '.join(lost)} are lost: no record tells them any more"
    latest = _latest(text, results)
    if latest is None:
        yield "no whole checkpoint is left, so the run starts from scratch"
    else:
        yield f"the latest becomes {latest.checkpoint.name}"
    if "ray_version" not in text:
        yield "no Ray version is recorded: any Ray that reads it takes it for its own"
