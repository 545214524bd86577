"""The real Ray as the judge of what ckptctl writes."""

from __future__ import annotations

import json
import os
import selectors
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self, TypeAlias

SCRIPTS = Path(__file__).parent / "ray_scripts"
REPOSITORY = Path(__file__).parents[2]
READY_MARKER = "ckptctl-judge-ready"

# Names from the caller's environment that a Ray process may see; everything else could change
# what it does.
KEPT_ENVIRONMENT = ("PATH", "LANG", "LC_ALL", "TZ", "TMPDIR", "LD_LIBRARY_PATH")

# Seconds for one command; on an idle machine none takes a tenth of it.
LIMIT = 240

Option: TypeAlias = int | bool | str | None


class JudgeError(Exception):
    """The real Ray could not do what it was asked."""


class MissingRay(JudgeError):
    """No virtual environment with this Ray."""


def rays_folder() -> Path:
    return Path(os.environ.get("CKPTCTL_RAYS") or REPOSITORY / ".rays")


class Judge:
    """One Ray version, kept running for many questions until it is closed."""

    script = "session.py"

    def __init__(self, version: str, environment: dict[str, str] | None = None) -> None:
        self.version = version
        self._environment = environment or {}
        venv = rays_folder() / f"ray-{version}"
        if not (venv / READY_MARKER).is_file():
            raise MissingRay(
                f"Ray {version} is not installed in {venv}:"
                f" run python tests/judge/install_rays.py {version}"
            )
        self._python = venv / "bin" / "python"
        self._process: subprocess.Popen[bytes] | None = None
        self._folder: Path | None = None
        self._answers = b""
        self.durations: list[tuple[str, float]] = []

    @property
    def release(self) -> tuple[int, int]:
        major, minor = self.version.split(".")[:2]
        return int(major), int(minor)

    def make(self, scenario: str, storage: Path, name: str, **options: Option) -> Path:
        """Run a new experiment; the options are those of `make.py`."""
        self._ask("make", scenario=scenario, storage=str(storage), name=name, **options)
        return storage / name

    def read(self, experiment: Path) -> dict[str, Any]:
        """What Ray's own readers say of an experiment."""
        return self._ask("read", experiment=str(experiment))

    def resume(self, experiment: Path, **options: Option) -> dict[str, Any]:
        """Restore an experiment, let it go on, and say what became of its checkpoints."""
        return self._ask("resume", experiment=str(experiment), **options)

    def close(self) -> None:
        """Shut Ray down; a later question starts it again."""
        process, self._process = self._process, None
        if process is not None:
            assert process.stdin is not None and process.stdout is not None
            process.stdin.close()
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            process.stdout.close()
        folder, self._folder = self._folder, None
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _ask(self, command: str, **arguments: object) -> dict[str, Any]:
        started = time.monotonic()
        process = self._running()
        assert process.stdin is not None and process.stdout is not None
        # The Ray process gives up first, and shuts its Ray down itself.
        request = {"command": command, "limit": LIMIT, "arguments": arguments}
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
            line = self._line(process.stdout, started + LIMIT + 60)
        except OSError as error:
            raise self._failure(command, str(error)) from error
        if line is None:
            process.kill()
            raise self._failure(command, f"no answer after {LIMIT + 60} s")
        if not line:
            raise self._failure(command, "the Ray process ended")
        document = json.loads(line)
        self.durations.append((command, time.monotonic() - started))
        if "error" in document:
            raise JudgeError(f"Ray {self.version}, {command}: {document['error']}")
        answer: dict[str, Any] = document["answer"]
        return answer

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            self._folder = Path(tempfile.mkdtemp(prefix="judge-"))
            environment = {
                name: os.environ[name] for name in KEPT_ENVIRONMENT if name in os.environ
            }
            environment |= {"HOME": str(self._folder), "PYTHONUNBUFFERED": "1"}
            environment |= self._environment
            with (self._folder / "stderr").open("wb") as stderr:
                self._process = subprocess.Popen(
                    [str(self._python), str(SCRIPTS / self.script)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=stderr,
                    cwd=self._folder,
                    env=environment,
                    start_new_session=True,
                )
            self._answers = b""
        return self._process

    def _line(self, stream: IO[bytes], deadline: float) -> bytes | None:
        """The next line, empty at the end of the stream, None when it is too late."""
        with selectors.DefaultSelector() as selector:
            selector.register(stream, selectors.EVENT_READ)
            while b"\n" not in self._answers:
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    return None
                part = os.read(stream.fileno(), 65536)
                if not part:
                    return b""
                self._answers += part
        line, _, self._answers = self._answers.partition(b"\n")
        return line

    def _failure(self, command: str, reason: str) -> JudgeError:
        tail = ""
        if self._folder is not None:
            tail = (self._folder / "stderr").read_text(errors="replace")[-4000:]
        self.close()
        return JudgeError(f"Ray {self.version}, {command}: {reason}\n{tail}")
