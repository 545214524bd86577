"""`reindex` for Ray 2.6 and before: a heap of records, the best, the latest and a counter."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from msgspec import Struct

from ckptctl.codec.values import New, Ref, Value, to_json
from ckptctl.model.experiment import Experiment, Record, RecordShape, Trial
from ckptctl.model.heap import Heap, Priority
from ckptctl.model.plan import Edit
from ckptctl.planner.heap_order import is_heap, staying
from ckptctl.planner.heap_value import (
    priority_of,
    priority_value,
    tracked_value,
    wrapped_value,
)
from ckptctl.planner.latest import (
    choose_latest,
    latest_is_gone,
    name_of_choice,
    saved_place,
    unlisted_latest,
)
from ckptctl.planner.repair_records import RecordRepair, inside
from ckptctl.planner.saves import NewSave, is_there, kept_records, new_saves

__all__ = ["repair_heap"]

_EMPTY_SET = New(global_="builtins:set")


class _Books(Struct, frozen=True, kw_only=True):
    """One trial whose state can be written, and its places."""

    experiment: Experiment
    trial: Trial
    shape: RecordShape
    heap: Heap


class _Item(Struct, frozen=True, kw_only=True, eq=False):
    """One item of the list as it will be."""

    save: Record | NewSave
    priority: Priority
    corrected: int | None = None
    """The iteration that the record gets, where it is wrong."""

    @property
    def place(self) -> int | None:
        """Where it is in the list now; None where it is not."""
        return self.save.position if isinstance(self.save, Record) else None


def repair_heap(experiment: Experiment, trial: Trial, *, unsafe: bool) -> RecordRepair:
    """What makes a trial's records, its best, its latest and its counter match the folders."""
    shape, heap = trial.shape, trial.heap
    if shape is None or heap is None or trial.trial_root is None:
        return RecordRepair(edits=(), dropped=(), added=(), latest=None, count=0)
    kept = kept_records(experiment, trial)
    staying = {id(r) for r in kept}
    dropped = tuple(r for r in trial.records if id(r) not in staying)
    added = new_saves(experiment, trial, unsafe=unsafe)
    gone = latest_is_gone(experiment, trial)
    if not unsafe and dropped and not kept and not added and gone:
        return RecordRepair(
            edits=(), dropped=(), added=(), latest=None, count=len(trial.records), hopeless=True
        )
    books = _Books(experiment=experiment, trial=trial, shape=shape, heap=heap)
    return _Repair(books, kept, added).made(dropped)


class _Repair:
    """The repair of one trial."""

    def __init__(self, books: _Books, kept: Sequence[Record], added: Sequence[NewSave]) -> None:
        experiment, trial = books.experiment, books.trial
        self._experiment, self._trial = experiment, trial
        self._shape, self._heap = books.shape, books.heap
        self._serials = _serials(trial, books.heap, kept, added)
        self._added = tuple(added)
        # A restore reads the trainable's own note, and fails on a folder without one.
        able = [save for save in added if save.checkpoint.left is not None]
        self._choice = choose_latest(experiment, trial, kept, able)
        unlisted = unlisted_latest(experiment, trial, kept)
        self._unlisted = unlisted if self._choice is not None else None
        self._kept = tuple(self._item(record) for record in kept)
        fresh = (*added, *((self._unlisted,) if self._unlisted else ()))
        self._fresh = tuple(self._item(save) for save in fresh)
        self._moved = self._out_of_place()

    def made(self, dropped: tuple[Record, ...]) -> RecordRepair:
        trial = self._trial
        best = self._best()
        edits = [
            *self._corrections(),
            *self._removals(dropped),
            *self._insertions(),
            *self._beside(self._heap.best_pointer, best),
            *self._beside(self._shape.latest_pointer, self._latest()),
            *self._counter(),
            *self._clean_up(),
        ]
        written = {r.path_pointer for r in dropped}
        if best is not None and trial.best_record is not None:
            written.add(trial.best_record.path_pointer)
        return RecordRepair(
            edits=tuple(edits),
            dropped=dropped,
            added=self._added,
            moved=tuple(i.save for i in self._moved if isinstance(i.save, Record)),
            latest=name_of_choice(self._choice),
            count=len(self._kept) + len(self._fresh),
            written=frozenset(written),
            corrected=tuple(self._corrected()),
        )

    def _item(self, save: Record | NewSave) -> _Item:
        if isinstance(save, NewSave):
            serial = self._serials[save.checkpoint.name]
            return _Item(save=save, priority=priority_of(self._trial, save.metrics, serial))
        corrected = _noted_iteration(self._trial, save)
        serial = save.serial or 0
        if corrected is None and save.priority is not None:
            return _Item(save=save, priority=save.priority)
        metrics = dict(save.metrics)
        if corrected is not None:
            metrics["training_iteration"] = corrected
        priority = priority_of(self._trial, metrics, serial)
        return _Item(save=save, priority=priority, corrected=corrected)

    def _out_of_place(self) -> tuple[_Item, ...]:
        """The kept items that have to move, so that the list is a heap."""
        priorities = [item.priority for item in self._kept]
        if not self._ranks or (not self._fresh and is_heap(priorities)):
            return ()
        stay = staying(priorities)
        return tuple(item for n, item in enumerate(self._kept) if n not in stay)

    @property
    def _ranks(self) -> bool:
        """Without a number to keep Ray appends, and sorts when it is asked."""
        retention = self._trial.retention
        return retention is not None and retention.num_to_keep is not None

    # -- the list

    def _corrected(self) -> Iterator[tuple[Record, int]]:
        """The records with another iteration than the trainable left in the folder."""
        latest = self._trial.latest_record
        beside = latest is not None and latest.position is None
        records = [i.save for i in self._kept if isinstance(i.save, Record)]
        if latest is not None and beside and self._choice is None:
            records.append(latest)
        for record in records:
            iteration = _noted_iteration(self._trial, record)
            if iteration is not None:
                yield record, iteration

    def _corrections(self) -> Iterator[Edit]:
        """A restore goes by what the trainable left, so the record follows."""
        ranked = {i.place: i.priority for i in self._kept}
        for record, iteration in self._corrected():
            pointer = f"{record.provenance.pointer}/metrics/training_iteration"
            yield Edit(
                op="set",
                pointer=pointer,
                before=record.metrics.get("training_iteration"),
                after=iteration,
            )
            priority = ranked.get(record.position)
            if priority is not None and record.priority not in (None, priority):
                pointer = f"{self._shape.list_pointer}/{record.position}/priority"
                yield Edit(op="set", pointer=pointer, after=to_json(priority_value(priority)))

    def _removals(self, dropped: Sequence[Record]) -> Iterator[Edit]:
        places = [*(r.position for r in dropped), *(i.place for i in self._moved)]
        for place in places:
            yield Edit(op="remove", pointer=f"{self._shape.list_pointer}/{place}")
        for pointer in self._heap.hollow:
            yield Edit(op="remove", pointer=pointer)

    def _insertions(self) -> Iterator[Edit]:
        stay = [item for item in self._kept if item not in self._moved]  # by identity
        coming = [*self._moved, *self._fresh]
        if self._ranks:
            coming.sort(key=lambda item: item.priority)
        end = len(self._trial.records) + len(self._heap.hollow)
        priorities = [item.priority for item in stay]
        for item in coming:
            at = bisect_right(priorities, item.priority) if self._ranks else len(stay)
            place = stay[at].place if at < len(stay) else end
            yield Edit(
                op="insert",
                pointer=f"{self._shape.list_pointer}/{place}",
                after=to_json(self._wrapped(item)),
            )

    def _wrapped(self, item: _Item) -> Value:
        if item.place is not None:
            return Ref(inside(f"{self._shape.list_pointer}/{item.place}"))
        return wrapped_value(self._shape, item.priority, self._tracked(item.save))

    def _tracked(self, save: Record | NewSave) -> Value:
        if isinstance(save, Record):
            return Ref(inside(save.provenance.pointer))
        name = save.checkpoint.name
        path = f"{self._trial.trial_root}/{name}"
        return tracked_value(self._shape, path, save.metrics, self._serials[name])

    # -- beside the list

    def _best(self) -> _Item | str | None:
        """The item that becomes the best, ``none`` where no save is left; None to leave it."""
        items = (*self._kept, *self._fresh)
        choice = max(items, key=lambda item: item.priority, default=None)
        old = self._trial.best_record
        there = old is not None and is_there(self._experiment, old)
        if choice is None:
            return None if there or old is None else "none"
        if old is None or not there:
            return choice
        recorded = choice.save.path if isinstance(choice.save, Record) else None
        changed = choice in self._fresh or any(i.corrected is not None for i in self._kept)
        return choice if changed and recorded != old.path else None

    def _latest(self) -> _Item | str | None:
        if self._choice is None or self._choice == "gone":
            return self._choice and "none"
        return next(i for i in (*self._kept, *self._fresh) if i.save is self._choice)

    def _beside(self, pointer: str, item: _Item | str | None) -> Iterator[Edit]:
        if isinstance(item, _Item):
            yield Edit(op="set", pointer=pointer, after=to_json(self._tracked(item.save)))
        elif item is not None:
            yield Edit(op="set", pointer=pointer, after=None)

    def _counter(self) -> Iterator[Edit]:
        """Above the number of every registration."""
        known = (r.serial for r in self._trial.records if r.serial is not None)
        target = max((n + 1 for n in (*known, *self._serials.values())), default=0)
        if target > self._heap.counter:
            yield Edit(
                op="set",
                pointer=self._heap.counter_pointer,
                before=self._heap.counter,
                after=target,
            )

    def _clean_up(self) -> Iterator[Edit]:
        """Ray deletes by path what waits here, also what a later save wrote to that path."""
        names = (path.rstrip("/").rpartition("/")[2] for path in self._heap.clean_up)
        folders = {c.name for c in self._trial.checkpoints if c.on_storage}
        dead = any(name not in folders for name in names)
        if dead or (self._heap.clean_up and self._unlisted is not None):
            yield Edit(op="set", pointer=self._heap.clean_up_pointer, after=to_json(_EMPTY_SET))


def _noted_iteration(trial: Trial, record: Record) -> int | None:
    """The iteration that the trainable left in the folder, where the record has another."""
    own = record.ref is not None and record.ref.trial == trial.dirname
    checkpoint = trial.checkpoint(record.ref.name) if own and record.ref else None
    if checkpoint is None or checkpoint.left is None:
        return None
    told = record.metrics.get("training_iteration")
    return None if told == checkpoint.left.value else checkpoint.left.value


def _serials(
    trial: Trial, heap: Heap, kept: Sequence[Record], added: Sequence[NewSave]
) -> dict[str, int]:
    """The registration of each new save: by its place among those that are known."""
    known = [(saved_place(trial, r), r.serial) for r in kept if r.serial is not None]
    serials: dict[str, int] = {}
    counter = heap.counter
    for save in sorted(added, key=lambda s: s.checkpoint.saved):
        later = [n for place, n in known if place > save.checkpoint.saved]
        before = [n for place, n in known if place < save.checkpoint.saved]
        if later:
            serial = min(max(before, default=-1) + 1, *later)
        else:
            serial = max(counter, *(n + 1 for n in before)) if before else counter
            counter = serial + 1
        serials[save.checkpoint.name] = serial
        known.append((save.checkpoint.saved, serial))
    return serials
