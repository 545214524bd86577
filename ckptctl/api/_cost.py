"""What moving by copies takes, told before it is done: requests cost money."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ckptctl.model.plan import Plan

if TYPE_CHECKING:
    from ckptctl.storage.store import Capabilities

_PAGE = 1000
# How often an apply lists the whole, what it asks for a record, and for lock and journal.
_LISTINGS, _FOR_A_RECORD, _FOR_ALL = 4, 5, 9


def cost(plan: Plan, objects: int, can: Capabilities) -> Sequence[str]:
    """One note with objects, bytes and requests; none where folders are renamed.

    Args:
        plan: what is to be applied.
        objects: how many there are in the experiment, as far as is known.
        can: what the store can do.
    """
    if not can.bulk or not plan.moves:
        return ()
    from ckptctl.report.words import count, size

    sizes = [file.size for move in plan.moves for file in move.files]
    copies, records = len(sizes), len({step.file for step in plan.rewrites})
    listings = _LISTINGS * (1 + (max(objects, copies) + copies) // _PAGE)
    requests = copies + -(-copies // can.deletions) + listings + _FOR_A_RECORD * records + _FOR_ALL
    moved = f"moves by copying: {count(copies, 'object')}, {size(sum(sizes))}"
    return (f"{moved}, in about {count(requests, 'request')}",)
