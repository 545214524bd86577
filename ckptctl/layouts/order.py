"""The order in which a trial saved its checkpoints, from what its witnesses tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ckptctl.model.names import natural_key


def save_order(names: Sequence[str], rows: Mapping[str, int]) -> dict[str, int]:
    """The place of each name in save order, from 0.

    `rows` gives the line of the result log that tells of a save, where one does: the log is
    written in order, so its lines decide. A name without a line goes right behind its natural
    predecessor, since Ray counts upwards.
    """
    natural = sorted(names, key=natural_key)
    ordered = sorted([n for n in natural if n in rows], key=rows.__getitem__)
    if len(ordered) == len(natural):
        return dict(zip(ordered, range(len(ordered)), strict=True))
    for position, name in enumerate(natural):
        if name in rows:
            continue
        before = natural[position - 1] if position else None
        ordered.insert(0 if before is None else ordered.index(before) + 1, name)
    return {name: place for place, name in enumerate(ordered)}
