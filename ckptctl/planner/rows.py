"""The names in the result rows of class trainables.

Ray 2.8 and newer leave ``checkpoint_dir_name`` out of every row of a class trainable, and
``Result.from_path`` fails on that with ``KeyError``; Ray 2.7 writes it on the row of an earlier
save (seen with 2.7.2, 2.8.1, 2.40.0, 2.54.1 and 2.60.0). The driver's records tell which row and
which folder belong together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ckptctl.model.experiment import Experiment, Row, TrainableKind, Trial
from ckptctl.model.plan import Edit

__all__ = ["NAME_KEY", "names_for_rows"]

NAME_KEY = "checkpoint_dir_name"

_LAYOUTS = ("ray-tune", "ray-tune-2.7")
"""Where rows name folders; no reader of Ray 2.6 and before looks for a name there."""


def names_for_rows(
    experiment: Experiment, trial: Trial, names: Mapping[tuple[str, str], str]
) -> tuple[Edit, ...]:
    """Edits of `trial.result_log` after which each recorded save's row names its folder.

    `names` gives the new names by (trial dirname, old name). Rows without the key get it where a
    record tells of them; names that Ray 2.7 wrote on the wrong row are set right. Other rows stay.
    """
    if trial.result_log is None or experiment.layout not in _LAYOUTS:
        return ()
    wanted = _names_by_line(trial)
    corrects = experiment.counter_means_next and trial.kind is TrainableKind.CLASS
    return tuple(_edits(trial, wanted, names, corrects=corrects))


def _names_by_line(trial: Trial) -> dict[int, str]:
    """The folder of each row; a folder that was saved into twice is that of the later row."""
    latest = (trial.latest_record,) if trial.latest_record else ()
    there = {c.name for c in trial.checkpoints if c.on_storage}
    lines: dict[str, int] = {}
    for record in (*trial.records, *latest):
        ref = record.ref
        if ref is None or ref.trial != trial.dirname or record.row is None:
            continue
        if ref.name in there:
            lines[ref.name] = max(record.row, lines.get(ref.name, -1))
    taken: dict[int, list[str]] = {}
    for name, line in lines.items():
        taken.setdefault(line, []).append(name)
    return {line: own[0] for line, own in taken.items() if len(own) == 1}


def _edits(
    trial: Trial,
    wanted: Mapping[int, str],
    names: Mapping[tuple[str, str], str],
    *,
    corrects: bool,
) -> Iterator[Edit]:
    known = frozenset(wanted.values())
    for row in trial.rows:
        name = wanted.get(row.line)
        new = None if name is None else names.get((trial.dirname, name), name)
        if not row.has_name:
            if new is not None:
                yield _edit(row, new)
        elif corrects and row.name != name and (name is not None or row.name in known):
            yield _edit(row, new)


def _edit(row: Row, name: str | None) -> Edit:
    pointer = f"{row.line}/{NAME_KEY}"
    return Edit(op="set", pointer=pointer, before=row.name, after=name)
