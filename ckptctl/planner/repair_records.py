"""Edits of a trial's list of records and of its latest, so that they match the folders."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ckptctl.codec.pointer import Pointer
from ckptctl.codec.values import Copy, Ref, to_json
from ckptctl.model.experiment import Experiment, Record, RecordShape, Trial
from ckptctl.model.plan import Edit
from ckptctl.planner.record_value import record_value
from ckptctl.planner.saves import NewSave, is_there, kept_records, new_saves, score


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordRepair:
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
    dropped = tuple(r for r in trial.records if r not in kept)
    added = new_saves(experiment, trial, unsafe=unsafe)
    if not unsafe and dropped and not kept and not added and _latest_is_gone(experiment, trial):
        return RecordRepair(
            edits=(), dropped=(), added=(), latest=None, count=len(trial.records), hopeless=True
        )
    ranked = _in_order(trial, kept) if reorder else list(kept)
    misplaced = [r for r in kept if r not in ranked]
    edits = [_removal(shape, record) for record in (*dropped, *misplaced)]
    edits += _insertions(shape, trial, ranked, (*misplaced, *added))
    latest = _Latest(experiment, trial, kept, added)
    edits += latest.edits(shape)
    return RecordRepair(
        edits=tuple(edits),
        dropped=dropped,
        added=added,
        moved=tuple(misplaced),
        latest=latest.name,
        count=len(kept) + len(added) + latest.listed,
    )


def _latest_is_gone(experiment: Experiment, trial: Trial) -> bool:
    latest = trial.latest_record
    return latest is None or not is_there(experiment, latest)


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
            value = to_json(Copy(_inside(save.provenance.pointer)))
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
    own = score(trial, _flat(save.metrics))
    saved = _saved(trial, save)
    if own is None:
        later = (r for r in kept if _saved(trial, r) > saved)
        return min((_position(r) for r in later), default=end), (False, 0.0), saved
    scores = [score(trial, r.metrics) or (False, 0.0) for r in kept]
    at = bisect_right(scores, own) if scores == sorted(scores) else len(kept)
    return (_position(kept[at]) if at < len(kept) else end), own, saved


def _flat(metrics: Mapping[str, object], prefix: str = "") -> dict[str, object]:
    flat: dict[str, object] = {}
    for key, value in metrics.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{prefix}{key}/")
        else:
            flat[f"{prefix}{key}"] = value
    return flat


def _position(record: Record) -> int:
    return record.position if record.position is not None else 0


def _saved(trial: Trial, record: Record | NewSave) -> int:
    if isinstance(record, NewSave):
        return record.checkpoint.saved
    checkpoint = trial.checkpoint(record.ref.name) if record.ref else None
    return checkpoint.saved if checkpoint else -1


class _Latest:
    """Which record has to be the latest, and how it gets there."""

    def __init__(
        self,
        experiment: Experiment,
        trial: Trial,
        kept: Sequence[Record],
        added: Sequence[NewSave],
    ) -> None:
        self._trial = trial
        self._kept = [r for r in kept if r.ref is not None and r.ref.trial == trial.dirname]
        self._added = added
        self._old = trial.latest_record
        self._old_there = self._old is not None and is_there(experiment, self._old)
        self._choice = self._choose()
        self.listed = 1 if self._unlisted_latest() else 0

    @property
    def name(self) -> str | None:
        match self._choice:
            case None:
                return None
            case "gone":
                return ""
            case Record() as record:
                return record.ref.name if record.ref else record.path
            case NewSave() as save:
                return save.checkpoint.name
        return None

    def _choose(self) -> Record | NewSave | str | None:
        """None to leave it; ``gone`` where no save is left."""
        old = self._old
        saves: list[Record | NewSave] = [*self._kept, *self._added]
        newest = max(saves, key=lambda s: _saved(self._trial, s), default=None)
        if old is None:
            return newest if self._added else None
        if not self._old_there:
            return newest or "gone"
        foreign = old.ref is None or old.ref.trial != self._trial.dirname
        if not foreign and isinstance(newest, NewSave):
            newer = _saved(self._trial, newest) > _saved(self._trial, old)
            return newest if newer else None
        if not foreign and old.position is not None and old not in self._kept:
            same = [r for r in self._kept if r.path == old.path]
            return same[-1] if same else None
        return None

    def _unlisted_latest(self) -> bool:
        """Ray lists the latest too; it is missing where registering it failed half-way."""
        old = self._old
        return (
            old is not None
            and self._old_there
            and old.position is None
            and old.ref is not None
            and old.ref.trial == self._trial.dirname
            and all(r.path != old.path for r in self._kept)
        )

    def edits(self, shape: RecordShape) -> Iterator[Edit]:
        if self._unlisted_latest():
            yield Edit(
                op="insert",
                pointer=f"{shape.list_pointer}/{len(self._trial.records)}",
                after=to_json(Copy(_inside(shape.latest_pointer))),
            )
        match self._choice:
            case "gone":
                yield Edit(op="set", pointer=shape.latest_pointer, after=None)
            case Record() as record:
                target = f"{shape.list_pointer}/{record.position}"
                yield Edit(
                    op="set", pointer=shape.latest_pointer, after=to_json(Ref(_inside(target)))
                )
            case NewSave() as save:
                yield Edit(
                    op="set",
                    pointer=shape.latest_pointer,
                    after=record_value(shape, _path(self._trial, save), save.metrics),
                )


def _inside(pointer: str) -> tuple[str | int, ...]:
    """The path inside the innermost pickle of a pointer."""
    steps = Pointer.parse(pointer).levels[-1]
    return tuple(int(step) if step.isdigit() else step for step in steps)
