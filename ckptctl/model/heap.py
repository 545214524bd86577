"""What Ray 2.6 and before keep beside the records of a trial.

Their list of records is a heap of the best; the best, the latest and a counter of registrations
stand beside it (Ray 2.6 ``air/_internal/checkpoint_manager.py``).
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

Priority: TypeAlias = tuple[bool, int | float, int]
"""How a save is ranked: not NaN, the score, and the number of its registration."""


class Heap(Struct, frozen=True, kw_only=True):
    """The places beside the list of records, in the state file."""

    best_pointer: str
    counter_pointer: str
    counter: int
    """The number of the next registration."""
    clean_up_pointer: str
    clean_up: tuple[str, ...] = ()
    """Recorded paths of checkpoints that Ray deletes at the next save: the latest, where it is
    not among the best."""
    hollow: tuple[str, ...] = ()
    """Items of the list without a path: Ray takes it away after a restore that failed."""
