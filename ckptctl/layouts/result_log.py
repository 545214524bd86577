"""The result log of a trial: ``result.json``, one JSON object a line, and ``progress.csv``."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from ckptctl.codec.csv_records import read_column
from ckptctl.codec.json_records import RecordError, read_lines
from ckptctl.model.bookkeeping import Provenance
from ckptctl.model.checkpoint import CheckpointName, TrialDir
from ckptctl.model.experiment import (
    CheckpointRef,
    Mention,
    MentionForm,
    RecordRole,
    Row,
    Unreadable,
)
from ckptctl.model.metrics import flatten, real_number, whole_number

LOG_NAME = "result.json"
PROGRESS_NAME = "progress.csv"
DIR_NAME_KEY = "checkpoint_dir_name"
"""The key under which a row names the folder that was saved with it (Ray 2.7 and newer)."""


class ResultLog(Struct, frozen=True, kw_only=True):
    """What was read of one result log."""

    rows: tuple[Row, ...]
    mentions: tuple[Mention, ...]
    problems: tuple[Unreadable, ...]
    results: Mapping[int, Mapping[str, object]] = field(default_factory=dict)
    """The whole results, by line."""


def read_result_log(path: str, data: bytes, trial: TrialDir) -> ResultLog:
    """The rows of a log, and every place in it that names a checkpoint of `trial`.

    A torn last line and unreadable lines are told as problems; the others still count.
    """
    lines = read_lines(data)
    rows: list[Row] = []
    mentions: list[Mention] = []
    results: dict[int, Mapping[str, object]] = {}
    for line in lines.rows:
        if not isinstance(line.value, Mapping):
            continue
        row = _row(line.line, line.value)
        rows.append(row)
        results[row.line] = line.value
        if row.name:
            mentions.append(_mention(path, f"{row.line}/{DIR_NAME_KEY}", trial, row.name))
    problems = [
        Unreadable(file=path, reason=f"line {number + 1}: {reason}", role=RecordRole.RESULT_LOG)
        for number, reason in lines.bad
    ]
    if lines.torn is not None:
        problems.append(
            Unreadable(file=path, reason=lines.torn, truncated=True, role=RecordRole.RESULT_LOG)
        )
    return ResultLog(
        rows=tuple(rows),
        mentions=tuple(mentions),
        problems=tuple(problems),
        results=results,
    )


def _row(number: int, value: Mapping[object, object]) -> Row:
    name = value.get(DIR_NAME_KEY)
    trial_id = value.get("trial_id")
    total = real_number(value.get("time_total_s"))
    return Row(
        line=number,
        has_name=DIR_NAME_KEY in value,
        name=name if isinstance(name, str) and name else None,
        training_iteration=whole_number(value.get("training_iteration")),
        metrics=flatten(value),
        trial_id=trial_id if isinstance(trial_id, str) else None,
        timestamp=real_number(value.get("timestamp")),
        time_total_s=None if total is None else float(total),
        checkpointed=value.get("should_checkpoint") is True,
    )


def read_progress(
    path: str, data: bytes, trial: TrialDir
) -> tuple[tuple[Mention, ...], tuple[Unreadable, ...]]:
    """The places in ``progress.csv`` that name a checkpoint, found by the header as readers do."""
    try:
        cells = read_column(data, DIR_NAME_KEY)
    except RecordError as error:
        problem = Unreadable(file=path, reason=str(error), role=RecordRole.PROGRESS)
        return (), (problem,)
    return (
        tuple(_mention(path, f"{row}/{DIR_NAME_KEY}", trial, text) for row, text in cells if text),
        (),
    )


def _mention(path: str, pointer: str, trial: TrialDir, name: str) -> Mention:
    return Mention(
        ref=CheckpointRef(trial=trial, name=CheckpointName(name)),
        provenance=Provenance(file=path, pointer=pointer),
        text=name,
        form=MentionForm.NAME,
    )
