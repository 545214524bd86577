"""The order of a plan's steps.

The law, of every instant while a plan is applied:

1. Outside a window that an open journal owns, a record *must* never name a checkpoint that does
   not exist.
2. A checkpoint *must* exist whole in at least one place.
3. Every instant *must* be recoverable from the journal alone, by another machine.
4. A record *should* name every checkpoint that a save has finished; where it does not, that is a
   finding and not a loss.

What follows from it. Where a folder is renamed in one step, all folders move first and the
records follow: each instant between belongs to the journal, which was written before the first
step (1, 3), and no folder is ever in two halves (2). Where a rename is a copy and a removal, the
executor copies for a move, and removes the old folders behind the last record (2, and no window
for 1). A move *must* find its target free: chains run from their free end, cycles go over
``.ckptctl/tmp/``. Of the records, the state comes first, since a restore reads it and nothing
else; the result logs come behind it, and what only people read comes last.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ckptctl.model.experiment import RecordRole
from ckptctl.model.plan import MoveTree, ReplaceFile, Step
from ckptctl.planner.routing import order_moves

__all__ = ["order_steps"]

_RANK = {
    RecordRole.STATE: 0,
    RecordRole.CHECKPOINT_METADATA: 1,
    RecordRole.TUNER: 2,
    RecordRole.SEARCHER: 2,
    RecordRole.RESULT_LOG: 3,
    RecordRole.PROGRESS: 4,
    RecordRole.SUPERSEDED_STATE: 5,
}


def order_steps(
    moves: Iterable[MoveTree], rewrites: Iterable[ReplaceFile], roles: Mapping[str, RecordRole]
) -> tuple[Step, ...]:
    """All moves, each behind those it needs, then all records; `roles` is by file."""
    by_ends = {(move.source, move.target): move for move in moves}
    ordered = [by_ends[ends] for ends in order_moves(tuple(by_ends))]
    records = sorted(rewrites, key=lambda r: (_rank(roles.get(r.file)), r.file))
    return (*ordered, *records)


def _rank(role: RecordRole | None) -> int:
    return len(_RANK) if role is None else _RANK[role]
