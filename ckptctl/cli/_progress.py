"""A bar on stderr while steps are done, at a terminal only."""

from __future__ import annotations

import os
import sys
import time
from typing import TextIO

from ckptctl.cli._console import Console

_WIDTH = 24


class Bar:
    """Draws itself over and over on one line."""

    def __init__(self, stream: TextIO, *, ascii_only: bool) -> None:
        self._stream = stream
        self._full, self._empty = ("#", "-") if ascii_only else ("━", "╌")
        self._dot = ", " if ascii_only else " · "
        self._total = 0
        self._start = 0.0

    def begin(self, what: str, total: int) -> None:
        """Draw the empty bar."""
        self._what, self._total, self._start = what, total, time.monotonic()
        self.advance(0)

    def advance(self, done: int) -> None:
        """Draw the bar as far as it has come."""
        filled = _WIDTH * done // max(self._total, 1)
        bar = self._full * filled + self._empty * (_WIDTH - filled)
        seconds = int(time.monotonic() - self._start)
        text = f"{done}/{self._total}{self._dot}{seconds // 60}:{seconds % 60:02}"
        self._stream.write(f"\r  {bar} {text}")
        self._stream.flush()

    def end(self) -> None:
        """Leave the full bar behind."""
        self._stream.write("\n")
        self._stream.flush()


def bar(console: Console) -> Bar | None:
    """Make a bar if somebody can see it."""
    stream = sys.stderr
    if stream is None or not stream.isatty() or os.environ.get("TERM") == "dumb":
        return None
    if console.structured or console.quiet:
        return None
    return Bar(stream, ascii_only=console.page(stream).marks.arrow != "→")
