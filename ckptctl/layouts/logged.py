"""The rows of a result log, decoded as far as they are compared, and no further.

A log is mostly metrics that nobody asks for, and a value costs far more as an object than as
bytes: so a line becomes a row at once, and its metrics when they are asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, cast

import msgspec
from msgspec import UNSET, field

from ckptctl.codec.json_records import load_json
from ckptctl.model.checkpoint import Metrics
from ckptctl.model.experiment import Row
from ckptctl.model.metrics import flatten

_UNSAID: Any = UNSET
"""The name of a row that has no key for one, which is not the same as null."""


class LogText:
    """The bytes of a log, for what is asked of them later."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def __eq__(self, other: object) -> bool:
        """Whether both are the same bytes."""
        return isinstance(other, LogText) and self._data == other._data

    def __hash__(self) -> int:
        """As `__eq__` has it."""
        return hash(self._data)

    @cached_property
    def _lines(self) -> Sequence[bytes]:
        return self._data.split(b"\n")

    def result(self, line: int) -> Mapping[str, object]:
        """The whole result on a line that became a row."""
        return cast("Mapping[str, object]", load_json(self._lines[line]))

    def later(self, line: int) -> Mapping[str, object]:
        """The same, read when it is looked into: only a repair does that."""
        return _Later(self, line)


class _Later(Mapping[str, object]):
    def __init__(self, log: LogText, line: int) -> None:
        self._log = log
        self._line = line

    @cached_property
    def _result(self) -> Mapping[str, object]:
        return self._log.result(self._line)

    def __getitem__(self, key: str) -> object:
        return self._result[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._result)

    def __len__(self) -> int:
        return len(self._result)


# It is filled in after the decoder has made it, and handed out as a row, which is frozen.
class LoggedRow(Row, frozen=False, kw_only=True):  # type: ignore[misc]
    """A row whose metrics are still in the text.

    What no result has is named in a way that no result names its own.
    """

    line: int = field(default=-1, name="ckptctl: line")
    has_name: bool = field(default=True, name="ckptctl: has_name")
    name: str | None = field(default=_UNSAID, name="checkpoint_dir_name")
    training_iteration: int | None = None
    checkpointed: bool = field(default=False, name="should_checkpoint")
    result: Mapping[str, object] | None = field(default=None, name="ckptctl: result")
    log: LogText | None = field(default=None, name="ckptctl: log")
    known: Metrics | None = field(default=None, name="ckptctl: known")

    @property  # type: ignore[misc]
    def metrics(self) -> Metrics:
        """The metrics of this row, read from the text when they are first asked for."""
        if self.known is None:
            self.known = flatten(self.log.result(self.line)) if self.log is not None else {}
        return self.known


_decode = msgspec.json.Decoder(LoggedRow).decode_lines


def read_rows(data: bytes) -> tuple[Row, ...] | None:
    """The rows of a log in which every line is a whole result of the usual kind, else None."""
    # What the decoder skips it does not look at.
    if not (data.isascii() or _is_text(data)):
        return None
    try:
        rows = _decode(data)
    except (ValueError, RecursionError, MemoryError):
        return None
    # It skips blank lines too, which count.
    if len(rows) != data.count(b"\n") + (not data.endswith(b"\n")):
        return None
    log = LogText(data)
    for line, row in enumerate(rows):
        row.line = line
        row.log = log
        if not row.name:
            row.has_name = row.name is not _UNSAID
            row.name = None
    return tuple(rows)


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
