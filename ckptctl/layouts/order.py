"""The order in which a trial saved its checkpoints, from what its witnesses tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def save_order(names: Sequence[str], rows: Mapping[str, int]) -> dict[str, int]:
    """The place of each name in save order, from 0.

    `names` are in natural order. `rows` gives the line of the result log that tells of a save,
    where one does: the log is written in order, so its lines decide. A name without a line goes
    right behind its natural predecessor, since Ray counts upwards.
    """
    told = sorted([n for n in names if n in rows], key=rows.__getitem__)
    if len(told) < len(names):
        told = _with_untold(told, names)
    return dict(zip(told, range(len(told)), strict=True))


def _with_untold(told: Sequence[str], names: Sequence[str]) -> list[str]:
    behind: dict[str | None, list[str]] = {None: [], **{name: [] for name in told}}
    last: str | None = None
    for name in names:
        if name in behind:
            last = name
        else:
            behind[last].append(name)
    ordered = [*behind[None]]
    for name in told:
        ordered += (name, *behind[name])
    return ordered
