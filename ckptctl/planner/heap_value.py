"""What a new record of Ray 2.6 and before holds, and how Ray ranks it.

As ``air/_internal/checkpoint_manager.py`` of Ray 2.6 has it: the list of records is a heap of
wrappers, each with the priority of the checkpoint that it tracks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from ckptctl.codec.values import New, Tuple, Value
from ckptctl.model.experiment import RecordShape, Trial
from ckptctl.model.heap import Priority
from ckptctl.planner.record_value import result_values
from ckptctl.planner.repair_records import flattened
from ckptctl.planner.saves import score

__all__ = ["priority_of", "priority_value", "tracked_value", "wrapped_value"]

_PERSISTENT = 2
"""``CheckpointStorage.PERSISTENT``: on storage, not in memory."""


def priority_of(trial: Trial, metrics: Mapping[str, object], serial: int) -> Priority:
    """How Ray ranks a save: higher is better, of equals the later registration."""
    number, value = score(trial, flattened(metrics)) or (True, -math.inf)
    return (True, value, serial) if number else (False, 0, serial)


def priority_value(priority: Priority) -> Tuple:
    """A priority as the record has it."""
    return Tuple(tuple(priority))


def tracked_value(shape: RecordShape, path: str, metrics: Mapping[str, object], serial: int) -> New:
    """The checkpoint at `path`, as its driver tracks it."""
    module = shape.checkpoint_class.partition(":")[0]
    return New(
        global_=shape.checkpoint_class,
        state={
            "dir_or_data": path,
            "id": serial,
            "storage_mode": New(global_=f"{module}:CheckpointStorage", args=(_PERSISTENT,)),
            "rank": 0,
            "metrics": result_values(metrics),
            "node_ip": _text(metrics.get("node_ip")),
            "_move_instead_of_copy": True,
        },
    )


def wrapped_value(shape: RecordShape, priority: Priority, tracked: Value) -> New:
    """An item of the list."""
    return New(
        global_=shape.result_class,
        state={"priority": priority_value(priority), "tracked_checkpoint": tracked},
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
