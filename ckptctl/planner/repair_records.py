"""Edits of a trial's list of records and of its latest, so that they match the folders."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from msgspec import Struct

from ckptctl.codec.pointer import Pointer
from ckptctl.codec.values import Copy, Ref, to_json
from ckptctl.model.experiment import Experiment, Record, RecordShape, Trial
from ckptctl.model.plan import Edit
from ckptctl.planner.latest import (
    Choice,
    choose_latest,
    latest_is_gone,
    name_of_choice,
    saved_place,
    unlisted_latest,
)
from ckptctl.planner.record_value import record_value
from ckptctl.planner.saves import NewSave, kept_records, new_saves, score


class RecordRepair(Struct, frozen=True, kw_only=True):
    """What a repair does to one trial's records."""

    edits: tuple[Edit, ...]
    dropped: tuple[Record, ...]
    added: tuple[NewSave, ...]
    moved: tuple[Record, ...] = ()
    """Those that go to another place in the list, so that the last is the best."""
    latest: str | None
    """The name that becomes the latest, where it changes; empty for none at all."""
    count: int
    """How many records the list holds afterwards."""
    written: frozenset[str] = frozenset()
    """The pointers of paths that the edits drop or write anew."""
    corrected: tuple[tuple[Record, int], ...] = ()
    """Records that get the iteration which the trainable left in the folder."""
    hopeless: bool = False
    """No whole save with known metrics is left: only `unsafe` gives the dead records up."""


def repair_records(
    experiment: Experiment, trial: Trial, *, unsafe: bool, reorder: bool
) -> RecordRepair:
    """Drop dead and double records, add those of unrecorded saves, and set the latest right.

    With `reorder` the records that are out of their ranking's order go to their places, too.
    """
    shape = trial.shape
    if shape is None or trial.trial_root is None:
        return RecordRepair(edits=(), dropped=(), added=(), latest=None, count=0)
    kept = kept_records(experiment, trial)
    staying = {id(r) for r in kept}
    dropped = tuple(r for r in trial.records if id(r) not in staying)
    added = new_saves(experiment, trial, unsafe=unsafe)
    if not unsafe and dropped and not kept and not added and latest_is_gone(experiment, trial):
        return RecordRepair(
            edits=(), dropped=(), added=(), latest=None, count=len(trial.records), hopeless=True
        )
    ranked = _in_order(trial, kept) if reorder else list(kept)
    misplaced = [r for r in kept if r not in ranked]
    edits = [_removal(shape, record) for record in (*dropped, *misplaced)]
    edits += _insertions(shape, trial, ranked, (*misplaced, *added))
    latest, unlisted = (
        choose_latest(experiment, trial, kept, added),
        unlisted_latest(experiment, trial, kept),
    )
    edits += _latest_edits(trial, latest, unlisted)
    return RecordRepair(
        edits=tuple(edits),
        dropped=dropped,
        added=added,
        moved=tuple(misplaced),
        latest=name_of_choice(latest),
        count=len(kept) + len(added) + (unlisted is not None),
    )


def _removal(shape: RecordShape, record: Record) -> Edit:
    return Edit(op="remove", pointer=f"{shape.list_pointer}/{record.position}")


def _insertions(
    shape: RecordShape,
    trial: Trial,
    ranked: Sequence[Record],
    saves: Sequence[Record | NewSave],
) -> Iterator[Edit]:
    placed = sorted((_place(trial, ranked, save), n, save) for n, save in enumerate(saves))
    for place, _, save in placed:
        if isinstance(save, Record):
            value = to_json(Copy(inside(save.provenance.pointer)))
        else:
            value = record_value(shape, _path(trial, save), save.metrics)
        yield Edit(op="insert", pointer=f"{shape.list_pointer}/{place[0]}", after=value)


def _in_order(trial: Trial, kept: Sequence[Record]) -> list[Record]:
    """The longest run of records that ascend as Ray keeps them; the rest are out of place."""
    scores = [score(trial, record.metrics) for record in kept]
    if None in scores or all(a <= b for a, b in pairwise(scores) if a and b):
        return list(kept)
    runs: list[list[Record]] = []
    tails: list[tuple[bool, float]] = []
    for record, own in zip(kept, scores, strict=True):
        if own is None:
            continue
        at = bisect_right(tails, own)
        run = [*(runs[at - 1] if at else []), record]
        tails[at : at + 1], runs[at : at + 1] = [own], [run]
    return runs[-1] if runs else []


def _path(trial: Trial, save: NewSave) -> str:
    return f"{trial.trial_root}/{save.checkpoint.name}"


def _place(
    trial: Trial, kept: Sequence[Record], save: Record | NewSave
) -> tuple[int, tuple[bool, float], int]:
    """Before which item of the list as it stands a new record goes, and its rank among others.

    Ray keeps the list ascending by score, equal ones in order of registration; without a score
    in order of registration.
    """
    end = len(trial.records)
    own = score(trial, flattened(save.metrics))
    saved = saved_place(trial, save)
    if own is None:
        later = (r for r in kept if saved_place(trial, r) > saved)
        return min((_position(r) for r in later), default=end), (False, 0.0), saved
    scores = [score(trial, r.metrics) or (False, 0.0) for r in kept]
    at = bisect_right(scores, own) if scores == sorted(scores) else len(kept)
    return (_position(kept[at]) if at < len(kept) else end), own, saved


def flattened(metrics: Mapping[str, object], prefix: str = "") -> dict[str, object]:
    """Nested metrics by keys joined by ``/``, as Ray ranks them."""
    flat: dict[str, object] = {}
    for key, value in metrics.items():
        if isinstance(value, Mapping):
            flat |= flattened(value, f"{prefix}{key}/")
        else:
            flat[f"{prefix}{key}"] = value
    return flat


def _position(record: Record) -> int:
    return record.position if record.position is not None else 0


def _latest_edits(trial: Trial, choice: Choice, unlisted: Record | None) -> Iterator[Edit]:
    shape = trial.shape
    if shape is None:
        return
    if unlisted is not None:
        # Ray lists the latest too; it is missing where registering it failed half-way.
        yield Edit(
            op="insert",
            pointer=f"{shape.list_pointer}/{len(trial.records)}",
            after=to_json(Copy(inside(shape.latest_pointer))),
        )
    after: object = None
    match choice:
        case None:
            return
        case Record():
            after = to_json(Ref(inside(f"{shape.list_pointer}/{choice.position}")))
        case NewSave():
            after = record_value(shape, _path(trial, choice), choice.metrics)
    yield Edit(op="set", pointer=shape.latest_pointer, after=after)


def inside(pointer: str) -> tuple[str | int, ...]:
    """The path inside the innermost pickle of a pointer."""
    steps = Pointer.parse(pointer).levels[-1]
    return tuple(int(step) if step.isdigit() else step for step in steps)
