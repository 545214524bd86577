"""A bar on stderr while steps are done, at a terminal only."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ckptctl.cli._console import Console

_WIDTH = 24


@contextmanager
def progress(console: Console, total: int) -> Iterator[Callable[[int, int], None] | None]:
    """Yield what the executor calls after each step; None where nobody watches."""
    stream = sys.stderr
    dumb = os.environ.get("TERM") == "dumb"
    if stream is None or not stream.isatty() or dumb or console.json or console.quiet or total < 2:
        yield None
        return
    page = console.page(stream)
    full, empty = ("━", "╌") if page.marks.arrow == "→" else ("#", "-")
    start = time.monotonic()

    def tick(done: int, of: int) -> None:
        filled = _WIDTH * done // max(of, 1)
        seconds = int(time.monotonic() - start)
        bar = full * filled + empty * (_WIDTH - filled)
        stream.write(f"\r  {bar} {done}/{of}{page.marks.dot}{seconds // 60}:{seconds % 60:02}")
        stream.flush()

    tick(0, total)
    try:
        yield tick
    finally:
        stream.write("\n")
        stream.flush()
