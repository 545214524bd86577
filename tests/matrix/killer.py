"""A driver that is killed without a word."""

from __future__ import annotations

import json
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.judge.judge import LIMIT, Judge, JudgeError, Option

# So that a snapshot of the state is soon there, and soon behind the folders.
SNAPSHOTS = {"TUNE_GLOBAL_CHECKPOINT_S": "3"}
PAUSE = 0.5


class Doomed(Judge):
    """A Ray that is killed while it trains."""

    def __init__(self, version: str) -> None:
        # What its workers leave behind when they are killed with it.
        self._litter = Path(tempfile.mkdtemp(prefix="judge-"))
        super().__init__(version, SNAPSHOTS | {"TMPDIR": str(self._litter)})

    def close(self) -> None:
        super().close()
        shutil.rmtree(self._litter, ignore_errors=True)

    def train_until(
        self,
        ready: Callable[[Path], bool],
        scenario: str,
        storage: Path,
        name: str,
        **options: Option,
    ) -> Path:
        """Begin an experiment, and kill the driver once the experiment is ready for it."""
        work = str(self._ask("where"))
        process = self._running()
        assert process.stdin is not None
        arguments = {"scenario": scenario, "storage": str(storage), "name": name, **options}
        request = {"command": "make", "limit": LIMIT, "arguments": {**arguments, "pause": PAUSE}}
        process.stdin.write(json.dumps(request).encode() + b"\n")
        process.stdin.flush()
        experiment = storage / name
        deadline = time.monotonic() + LIMIT
        try:
            while not ready(experiment):
                if process.poll() is not None:
                    raise self._failure("make", "the Ray process ended")
                if time.monotonic() > deadline:
                    raise JudgeError(f"Ray {self.version}: nothing to kill after {LIMIT} s")
                time.sleep(1)
        finally:
            process.kill()
            process.wait()
            await_end(work)
            shutil.rmtree(work, ignore_errors=True)
        return experiment


def await_end(work: str, patience: float = 10) -> None:
    """Wait until nothing runs any more that was started with this work folder.

    Ray's processes die with their driver; whichever does not in time is killed.
    """
    deadline = time.monotonic() + patience
    while left := started_in(work):
        if time.monotonic() > deadline:
            for pid in left:
                os.kill(pid, signal.SIGKILL)
            deadline = time.monotonic() + patience
        time.sleep(0.5)


def started_in(work: str) -> list[int]:
    found: list[int] = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            told = (path / "cmdline").read_bytes() + (path / "environ").read_bytes()
        except OSError:
            continue
        # A process that has ended and is not waited for has neither.
        if f"{work}/".encode() in told and int(path.name) != os.getpid():
            found.append(int(path.name))
    return found
