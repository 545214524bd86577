from __future__ import annotations

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ckptctl.cli.main import main

CORPUS = Path(__file__).parents[1] / "corpus"


@dataclass(frozen=True)
class Answer:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def error(self) -> Any:
        return json.loads(self.err)["error"]


Call = Callable[..., Answer]
Copy = Callable[[str], Path]


@pytest.fixture
def ckptctl(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Call:
    """Run a command line in this process, without a terminal."""
    monkeypatch.setenv("CKPTCTL_DEBUG", "1")
    monkeypatch.delenv("FORCE_COLOR", raising=False)

    def call(*arguments: object) -> Answer:
        capsys.readouterr()
        code = main([str(a) for a in arguments])
        captured = capsys.readouterr()
        return Answer(code, captured.out, captured.err)

    return call


@pytest.fixture
def process() -> Call:
    """Run a command line as a process of its own."""

    def call(*arguments: object, **more: str) -> Answer:
        done = subprocess.run(
            [sys.executable, "-m", "ckptctl", *map(str, arguments)],
            capture_output=True,
            text=True,
            encoding="utf-8",
            env={**os.environ, **more},
            stdin=subprocess.DEVNULL,
            check=False,
            timeout=120,
        )
        return Answer(done.returncode, done.stdout, done.stderr)

    return call


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    """Copy an experiment of the corpus, as if its run had ended an hour ago."""

    def make(name: str) -> Path:
        (source,) = CORPUS.glob(f"*/{name}")
        target = tmp_path / source.name
        shutil.copytree(source, target)
        then = time.time() - 3600
        for path in (target, *target.rglob("*")):
            os.utime(path, (then, then))
        return target

    return make


def snapshot(folder: Path) -> dict[str, bytes]:
    """Every file but ckptctl's own, with its bytes."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and ".ckptctl" not in path.parts
    }


def at_terminal(
    arguments: Sequence[object],
    typed: str = "",
    columns: int = 100,
    more: Mapping[str, str] | None = None,
) -> Answer:
    """Run with a terminal of some width on all three streams, and type an answer."""
    env = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm", "LC_ALL": "C.UTF-8"}
    env |= more or {}
    for name in ("NO_COLOR", "FORCE_COLOR"):
        env.pop(name, None)
    child, master = pty.fork()
    if child == 0:  # pragma: no cover
        signal.signal(signal.SIGINT, signal.default_int_handler)
        command = [sys.executable, "-m", "ckptctl", *map(str, arguments)]
        os.execve(sys.executable, command, env)
    seen = b""
    while True:
        if typed and b"[y/N]" in seen:
            os.write(master, typed.encode())
            typed = ""
        try:
            chunk = os.read(master, 65536)
        except OSError:
            break
        if not chunk:
            break
        seen += chunk
    os.close(master)
    _, status = os.waitpid(child, 0)
    text = seen.decode().replace("\r\n", "\n")
    return Answer(os.waitstatus_to_exitcode(status), text, "")
