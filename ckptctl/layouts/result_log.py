"""The result log of a trial: ``result.json``, one JSON object a line, and ``progress.csv``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct

from ckptctl.codec.csv_records import read_column
from ckptctl.codec.json_records import RecordError, read_lines
from ckptctl.layouts.logged import LogText, read_rows
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


def _nothing(line: int) -> Mapping[str, object]:
    raise KeyError(line)


class ResultLog(Struct, frozen=True, kw_only=True):
    """What was read of one result log."""

    path: str = ""
    rows: tuple[Row, ...] = ()
    problems: tuple[Unreadable, ...] = ()
    results: Callable[[int], Mapping[str, object]] = _nothing
    """The whole result on a line."""

    @property
    def names(self) -> set[str]:
        """The names of checkpoints in it."""
        return {row.name for row in self.rows if row.name}

    def mentions(self, trial: TrialDir) -> Iterator[Mention]:
        """Every place in it that names a checkpoint of its trial."""
        for row in self.rows:
            if row.name:
                yield _mention(self.path, f"{row.line}/{DIR_NAME_KEY}", trial, row.name)


def read_result_log(path: str, data: bytes) -> ResultLog:
    """The rows of a log.

    A torn last line and unreadable lines are told as problems; the others still count.
    """
    rows = read_rows(data)
    if rows is not None:
        return ResultLog(path=path, rows=rows, results=LogText(data).later)
    lines = read_lines(data)
    results = {row.line: row.value for row in lines.rows if isinstance(row.value, Mapping)}
    problems = [
        Unreadable(file=path, reason=f"line {number + 1}: {reason}", role=RecordRole.RESULT_LOG)
        for number, reason in lines.bad
    ]
    if lines.torn is not None:
        problems.append(
            Unreadable(file=path, reason=lines.torn, truncated=True, role=RecordRole.RESULT_LOG)
        )
    return ResultLog(
        path=path,
        rows=tuple(_row(line, result) for line, result in results.items()),
        problems=tuple(problems),
        results=results.__getitem__,
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


def problem_of_progress(path: str, data: bytes) -> Unreadable | None:
    """Why ``progress.csv`` cannot be read, if it cannot."""
    # Only a quote that does not end makes text no CSV.
    if b'"' not in data and data.isascii():
        return None
    try:
        read_column(data, DIR_NAME_KEY)
    except RecordError as error:
        return Unreadable(file=path, reason=str(error), role=RecordRole.PROGRESS)
    return None


def mentions_of_progress(path: str, data: bytes, trial: TrialDir) -> Iterator[Mention]:
    """The places in it that name a checkpoint, found by the header as readers do."""
    try:
        cells = read_column(data, DIR_NAME_KEY)
    except RecordError:
        return
    for row, text in cells:
        if text:
            yield _mention(path, f"{row}/{DIR_NAME_KEY}", trial, text)


def _mention(path: str, pointer: str, trial: TrialDir, name: str) -> Mention:
    return Mention(
        ref=CheckpointRef(trial=trial, name=CheckpointName(name)),
        provenance=Provenance(file=path, pointer=pointer),
        text=name,
        form=MentionForm.NAME,
    )
