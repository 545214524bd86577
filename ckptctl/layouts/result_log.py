"""The result log of a trial: ``result.json``, one JSON object a line, and ``progress.csv``."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from ckptctl.codec.csv_records import is_plainly_csv, read_column
from ckptctl.codec.json_records import RecordError
from ckptctl.layouts.base import Source
from ckptctl.layouts.log_columns import DIR_NAME_KEY
from ckptctl.layouts.logged import LogReader, LogRows, Read
from ckptctl.model.bookkeeping import Provenance
from ckptctl.model.checkpoint import CheckpointName, TrialDir
from ckptctl.model.experiment import (
    CheckpointRef,
    Mention,
    MentionForm,
    RecordRole,
    Unreadable,
)
from ckptctl.model.rows import RowList, Rows

LOG_NAME = "result.json"
PROGRESS_NAME = "progress.csv"
_NO_ROWS: Rows = RowList(())


class ResultLog(Struct, frozen=True, kw_only=True):
    """What was read of one result log."""

    path: str = ""
    rows: Rows = _NO_ROWS
    problems: tuple[Unreadable, ...] = ()

    @property
    def unlike(self) -> set[str]:
        """The names in it that are not like Ray's, which may be folders all the same."""
        return {n for n in self.rows.names if n and (n[:10] != "checkpoint" or "/" in n)}

    def rest(self, source: Source) -> None:
        """Nobody will go through it soon: a text that is too much to keep is forgotten."""
        if isinstance(self.rows, LogRows):
            text = self.rows.text
            if source.may_keep(text.size):
                text.close()
            elif source.is_near:
                text.release()
            else:
                text.deflate()

    def mentions(self, trial: TrialDir) -> Iterator[Mention]:
        """Every place in it that names a checkpoint of its trial."""
        for line, name in self.rows.pairs:
            if name:
                yield _mention(self.path, f"{line}/{DIR_NAME_KEY}", trial, name)


def read_result_log(path: str, data: bytes) -> ResultLog:
    """The rows of a log that is there as a whole."""
    reader = LogReader()
    reader.take(data)
    return result_log(path, reader.done())


def result_log(path: str, read: Read) -> ResultLog:
    """What was read of a log, with its trouble.

    A torn last line and unreadable lines are told as problems; the others still count.
    """
    problems = [
        Unreadable(file=path, reason=f"line {number + 1}: {reason}", role=RecordRole.RESULT_LOG)
        for number, reason in read.bad
    ]
    if read.torn is not None:
        problems.append(
            Unreadable(file=path, reason=read.torn, truncated=True, role=RecordRole.RESULT_LOG)
        )
    return ResultLog(path=path, rows=read.rows, problems=tuple(problems))


class ProgressCheck:
    """Whether ``progress.csv`` can be read, of which nearly all tell that without being parsed."""

    def __init__(self) -> None:
        self.sure = True
        self.whole: bytes | None = None
        """The text, where it came as one piece."""
        self._pieces = 0

    def take(self, data: bytes) -> None:
        """The next piece."""
        self._pieces += 1
        self.whole = data if self._pieces == 1 else None
        self.sure = self.sure and is_plainly_csv(data)


def problem_of_progress(path: str, data: bytes) -> Unreadable | None:
    """Why ``progress.csv`` cannot be read, if it cannot."""
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
