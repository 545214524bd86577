"""What goes on, on one line of stderr, at a terminal only."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from typing import TextIO

from ckptctl.cli._console import Console
from ckptctl.model.plan import MoveTree, Plan
from ckptctl.report import words
from ckptctl.report.lines import Page

_WIDTH = 24
_TICK = 0.1
"""Seconds between two pictures of the line."""
_PATIENCE = 0.4
"""Seconds before a scan shows anything: most are done by then."""
_ESTIMATE = 2.0
"""Seconds before what is left can be told from what is done."""


class Live:
    """A line that is drawn over and over, also while nothing is told of."""

    def __init__(self, stream: TextIO, page: Page) -> None:
        self._stream = stream
        self._room = (page.width or 80) - 1
        """The last column would wrap at some terminals."""
        self._full, self._empty = ("━", "╌") if page.marks.bars else ("#", "-")
        self._dot = page.marks.dot
        self._start = time.monotonic()
        self._shown = ""
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._ticker = threading.Thread(target=self._tick, daemon=True)

    @property
    def seconds(self) -> float:
        """How long it has gone on."""
        return time.monotonic() - self._start

    def text(self) -> str:
        """Say what goes on; empty for nothing yet."""
        raise NotImplementedError

    def start(self) -> None:
        """Begin to draw."""
        self._start = time.monotonic()
        self._ticker.start()

    def draw(self) -> None:
        """Draw the line as things stand, over what was there."""
        with self._lock:
            text = self.text()
            text = text[: self._room]
            if text != self._shown:
                rest = " " * max(len(self._shown) - len(text), 0)
                self._write(f"\r{text}{rest}")
                self._shown = text

    def finish(self, *, keep: bool) -> None:
        """Draw no more; leave the line behind, or nothing at all."""
        self._stop.set()
        if self._ticker.is_alive():
            self._ticker.join()
        if keep:
            self.draw()
        if self._shown:
            self._write("\n" if keep else f"\r{' ' * len(self._shown)}\r")

    def _tick(self) -> None:
        while not self._stop.wait(_TICK):
            self.draw()

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):  # the terminal is gone; the work is not
            self._stop.set()


class Bar(Live):
    """How far a plan has come: steps, bytes, how fast, and how long it will take."""

    def __init__(self, stream: TextIO, page: Page, sizes: Sequence[int]) -> None:
        super().__init__(stream, page)
        self._sums = [0, *accumulate(sizes)]
        self._done = self._total = 0
        self._copied: tuple[int, int, int, int] | None = None
        self._begun = False

    def begin(self, what: str, total: int) -> None:
        """Draw the empty bar."""
        self._total, self._begun = total, True
        self.start()

    def advance(self, done: int) -> None:
        """Note how far it has come; the line follows in its own time."""
        self._done = done

    def end(self) -> None:
        """Leave the full bar to `finish`."""

    def transfer(self, objects: int, of_objects: int, size: int, of_size: int) -> None:
        """Note how far the copying in a bucket has come, which the steps wait for."""
        self._copied = None if objects == of_objects else (objects, of_objects, size, of_size)

    def text(self) -> str:
        """``━━━━╌╌ 4/6 · 1.2 GB · 300.0 MB/s · 0:04 · 0:02 left``."""
        if not self._begun:
            return ""
        if self._copied:
            return self._copying(*self._copied)
        done, total, seconds = self._done, max(self._total, 1), self.seconds
        filled = _WIDTH * done // total
        parts = [f"{self._full * filled}{self._empty * (_WIDTH - filled)} {done}/{self._total}"]
        if moved := self._sums[min(done, len(self._sums) - 1)]:
            parts.append(words.size(moved))
            if seconds >= 1:
                parts.append(f"{words.size(int(moved / seconds))}/s")
        parts.append(_clock(seconds))
        if 0 < done < self._total and seconds >= _ESTIMATE:
            parts.append(f"{_clock(seconds * (1 - self._share) / self._share)} left")
        return "  " + self._dot.join(parts)

    def _copying(self, objects: int, of_objects: int, size: int, of_size: int) -> str:
        """``━━━━╌╌ 400/600 objects · 40.0 of 60.0 MB · 0:04 · 0:02 left``."""
        seconds = self.seconds
        share = size / of_size if size and of_size else objects / of_objects
        filled = int(_WIDTH * share)
        parts = [
            self._full * filled
            + self._empty * (_WIDTH - filled)
            + f" {objects}/{of_objects} objects",
            f"{words.size(size)} of {words.size(of_size)}",
            _clock(seconds),
        ]
        if seconds >= _ESTIMATE and share:
            parts.append(f"{_clock(seconds * (1 - share) / share)} left")
        return "  " + self._dot.join(parts)

    @property
    def _share(self) -> float:
        """Which part is done: of the bytes where any move, else of the steps."""
        whole, moved = self._sums[-1], self._sums[min(self._done, len(self._sums) - 1)]
        return moved / whole if whole and moved else self._done / max(self._total, 1)


class Counter(Live):
    """How much of a scan was read."""

    def __init__(self, stream: TextIO, page: Page) -> None:
        super().__init__(stream, page)
        self._experiments = self._done = self._files = 0

    def found(self, experiments: int) -> None:
        """So many more experiments are going to be read."""
        self._experiments += experiments

    def read(self, path: str) -> None:
        """Count a file."""
        self._files += 1

    def done(self) -> None:
        """Count an experiment."""
        self._done += 1

    def text(self) -> str:
        """``  reading · 3 of 12 experiments · 1,204 files · 0:03``."""
        if self.seconds < _PATIENCE:
            return ""
        parts = ["listing"]
        if self._experiments:
            whole = words.count(self._experiments, "experiment")
            parts = ["reading", f"{self._done:,} of {whole}", words.count(self._files, "file")]
        return "  " + self._dot.join([*parts, _clock(self.seconds)])


@contextmanager
def bar(plan: Plan, console: Console) -> Iterator[Bar | None]:
    """A bar for a plan, if somebody can see it; what follows it begins on a line of its own."""
    stream = _seen(console)
    if stream is None:
        yield None
        return
    sizes = [
        sum(f.size for f in step.files) if isinstance(step, MoveTree) else 0 for step in plan.steps
    ]
    live = Bar(stream, console.page(stream), sizes)
    try:
        yield live
    finally:
        live.finish(keep=True)


@contextmanager
def counter(console: Console) -> Iterator[Counter | None]:
    """A count for a scan, if somebody can see it; nothing of it is left behind."""
    stream = _seen(console)
    if stream is None:
        yield None
        return
    live = Counter(stream, console.page(stream))
    live.start()
    try:
        yield live
    finally:
        live.finish(keep=False)


def _seen(console: Console) -> TextIO | None:
    stream = sys.stderr
    if stream is None or not stream.isatty() or os.environ.get("TERM") == "dumb":
        return None
    return None if console.structured or console.quiet else stream


def _clock(seconds: float) -> str:
    whole = round(seconds)
    if whole >= 3600:
        return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"
    return f"{whole // 60}:{whole % 60:02}"
