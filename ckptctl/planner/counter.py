"""The recorded index after a rename."""

from __future__ import annotations

from collections.abc import Iterable

from ckptctl.model.experiment import Mention
from ckptctl.model.names import index_of, ray_name
from ckptctl.model.plan import Edit
from ckptctl.planner.ground import After

__all__ = ["counter_edit", "lowest_safe", "will_be_used"]


def lowest_safe(after: After) -> int | None:
    """The lowest last index after which no save meets a name that is there or recorded.

    None where the trial has no counter; the counter as it is where the trial has no folder.
    """
    if after.ground.trial.index_slot is None:
        return None
    if not after.folders:
        return after.ground.trial.counted_index
    held = (index_of(name) for name in after.ground.held)
    known = (after.highest, *held)
    return max((i for i in known if i is not None), default=None)


def will_be_used(after: After, last_used: int) -> tuple[Mention, ...]:
    """Places that name a folder that is gone, whose name a later save would take."""
    found: list[Mention] = []
    for name, mentions in after.ground.clearable.items():
        index = index_of(name)
        if index is not None and index > last_used and name == ray_name(index):
            found += mentions
    return tuple(found)


def counter_edit(after: After, last_used: int | None) -> tuple[Edit, str] | None:
    """The edit that makes `last_used` the recorded last index, and a note; None if it is so.

    Ray 2.7 records the next index under the same name, Ray 2.8 and newer the last one used.
    """
    ground = after.ground
    slot, counted = ground.trial.index_slot, ground.trial.counted_index
    if slot is None or last_used is None or counted == last_used:
        return None
    shift = 1 if ground.experiment.counter_means_next else 0
    before = None if counted is None else counted + shift
    edit = Edit(op="set", pointer=slot.pointer, before=before, after=last_used + shift)
    return edit, _note(after, before, last_used + shift)


def _note(after: After, before: int | None, value: int) -> str:
    ground = after.ground
    several = len(ground.experiment.trials) > 1
    who = f"{ground.label}: " if several else ""
    highest = _last(name for _, name in after.folders)
    why = "" if highest is None else f", so that the next save sorts behind {highest}"
    was = "unknown" if before is None else str(before)
    return f"{who}recorded index {was} → {value}{why}"


def _last(names: Iterable[str]) -> str | None:
    return max(names, default=None)
