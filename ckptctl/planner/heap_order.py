"""The order of the list of records of Ray 2.6 and before, which is a heap.

Ray evicts the first of it (``heapq.heappushpop``), so that a list which is no heap loses a better
checkpoint. A list that ascends is a heap.
"""

from __future__ import annotations

from collections.abc import Sequence

from ckptctl.model.heap import Priority

__all__ = ["is_heap", "staying"]


def is_heap(priorities: Sequence[Priority]) -> bool:
    """Whether no item comes before one that it should come behind."""
    return all(
        priorities[(place - 1) // 2] <= priority
        for place, priority in enumerate(priorities)
        if place
    )


def staying(priorities: Sequence[Priority]) -> frozenset[int]:
    """The places of items that stay where they are when the list is put in ascending order.

    They are those that nothing smaller follows. Every other item then moves towards the end, where
    the pickle can name it again: it stays the very object that the best and the latest are.
    """
    kept: list[int] = []
    for place in range(len(priorities) - 1, -1, -1):
        if not kept or priorities[place] <= priorities[kept[-1]]:
            kept.append(place)
    return frozenset(kept)
