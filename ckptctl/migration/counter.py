"""The recorded counter: the next index in Ray 2.7, the last one used since 2.8.

Which of the two a state means is told by the keys of its trials, which therefore change with it.
A newer Ray that goes on with a state of 2.7 keeps those keys elsewhere, and counts in its own way
(seen with 2.8.1 and 2.9.3). Where a state lost the order of its keys since, the index seems to be
behind the folders: it is mended first.
"""

from __future__ import annotations

from collections.abc import Iterator

from ckptctl.codec.pointer import Pointer
from ckptctl.migration.fields import STORAGE
from ckptctl.migration.need import Need, Outcome, Place
from ckptctl.model.experiment import Experiment
from ckptctl.model.plan import Edit
from ckptctl.model.rays import RayRow, rays

__all__ = ["needs"]

_INDEX = "current_checkpoint_index"


def needs(experiment: Experiment, ray: RayRow, who: str) -> Iterator[Need]:
    """One need, where the Ray takes the counter for the other thing."""
    if experiment.counter_means_next == ray.counts_next:
        return
    behind = tuple(_behind(experiment))
    if behind and experiment.counter_means_next:
        yield Need(
            message="the index is behind the folders: it may be of Ray 2.7 or of a newer one",
            outcome=Outcome.GOES_ON,
            places=behind,
            before="reindex it first: then it is true for either",
        )
        return
    places = (*_counters(experiment, ray), *_keys(experiment, ray))
    saved = any(t.counted_index is not None and t.counted_index >= 0 for t in experiment.trials)
    if ray.counts_next:
        outcome = Outcome.OVERWRITES if saved else Outcome.GOES_ON
        message = f"{who} takes the index for the next one: it would save over the latest folder"
    else:
        outcome = Outcome.GOES_ON
        message = f"{who} takes the index for the last one used: its next save leaves one out"
    yield Need(message=message, outcome=outcome, places=places)


def _behind(experiment: Experiment) -> Iterator[Place]:
    """The trials whose counter is lower than the index of a folder."""
    for trial in experiment.trials:
        highest = max((c.index for c in trial.folders if c.index is not None), default=-1)
        counted, slot = trial.counted_index, trial.index_slot
        if slot is not None and counted is not None and counted < highest:
            yield Place(
                file=slot.file,
                pointer=slot.pointer,
                claim=f"the index is {counted}, and there is a folder of index {highest}",
                edit=None,
            )


def _counters(experiment: Experiment, ray: RayRow) -> Iterator[Place]:
    shift = 1 if ray.counts_next else -1
    meant = "the next one" if experiment.counter_means_next else "the last one used"
    for pickle in experiment.pickles:
        for stored in pickle.objects:
            counted = stored.plain.get(_INDEX)
            if not stored.name.endswith(f":{STORAGE}") or not isinstance(counted, int):
                continue
            edit = None
            if stored.pointer is not None:
                pointer = str(Pointer.parse(stored.pointer) / _INDEX)
                edit = Edit(op="set", pointer=pointer, before=counted, after=counted + shift)
            yield Place(
                file=pickle.file,
                pointer=edit.pointer if edit else pickle.pointer,
                claim=f"the index is {meant}",
                edit=edit,
            )


def _keys(experiment: Experiment, ray: RayRow) -> Iterator[Place]:
    known = {key for row in rays() for key in row.trial}
    for held in experiment.state_keys:
        if held.part != "trial":
            continue
        for key in sorted(known & held.keys - ray.trial.keys()):
            pointer = str(Pointer.parse(held.pointer) / key)
            edit = Edit(op="remove", pointer=pointer)
            yield Place(file=held.file, pointer=pointer, claim=key, edit=edit)
        for key, default in ray.trial.items():
            if key not in held.keys:
                pointer = str(Pointer.parse(held.pointer) / key)
                edit = Edit(op="set", pointer=pointer, after=default.value)
                yield Place(file=held.file, pointer=pointer, claim=f"no {key}", edit=edit)
