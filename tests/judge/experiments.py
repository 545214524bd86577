"""Experiments that are made once and handed out as often as a test wants one."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.judge.judge import Judge, Option

NAME = "exp"


class Experiments:
    """Experiments of one Ray version.

    Each is put back to the place where it was made: the state of Ray 2.7 holds that place, and
    a copy elsewhere would be another case.
    """

    def __init__(self, judge: Judge, root: Path) -> None:
        self._judge = judge
        self._root = root
        self._kept: dict[str, Path] = {}

    def get(self, scenario: str, **options: Option) -> Path:
        """A fresh experiment of that scenario."""
        key = "-".join([scenario, *(f"{name}-{value}" for name, value in options.items())])
        return self.built(key, lambda storage: self._judge.make(scenario, storage, NAME, **options))

    def behind(self, scenario: str, first: int = 3, then: int = 6) -> Path:
        """One whose saved state knows less than its folders and its result log.

        As if the driver had died between two snapshots: saves up to `then` are there, while the
        newest state file is from when there were those up to `first`.
        """

        def build(storage: Path) -> Path:
            experiment = self._judge.make(scenario, storage, NAME, fail_at=first)
            old = state_file(experiment).read_bytes()
            self._judge.resume(experiment, fail_at=then, steps=then + 2)
            state_file(experiment).write_bytes(old)
            return experiment

        return self.built(f"behind-{scenario}-{first}-{then}", build)

    def built(self, key: str, build: Callable[[Path], Path]) -> Path:
        """A fresh copy of what `build` makes, which is made once."""
        storage = self._root / key
        if key not in self._kept:
            storage.mkdir(parents=True)
            made = build(storage)
            self._kept[key] = made.rename(storage / "as-made")
        experiment = storage / NAME
        shutil.rmtree(experiment, ignore_errors=True)
        shutil.copytree(self._kept[key], experiment, symlinks=True)
        return experiment


def state_file(experiment: Path) -> Path:
    """The state file that Ray opens."""
    return max(experiment.glob("experiment_state-*.json"))


def trial_folders(experiment: Path) -> list[Path]:
    return sorted(path.parent for path in experiment.glob("*/params.json"))


def checkpoint_names(experiment: Path) -> dict[str, list[str]]:
    """The names of the checkpoint folders, by trial folder."""
    return {
        trial.name: sorted(path.name for path in trial.glob("checkpoint*") if path.is_dir())
        for trial in trial_folders(experiment)
    }


def tree(experiment: Path) -> dict[str, tuple[object, ...]]:
    """Names, modes and contents of everything but ckptctl's own; times of what is moved."""
    found: dict[str, tuple[object, ...]] = {}
    for path in sorted(experiment.rglob("*")):
        name = path.relative_to(experiment)
        if name.parts[0] == ".ckptctl":
            continue
        status = path.lstat()
        content = "" if path.is_dir() else hashlib.sha256(path.read_bytes()).hexdigest()
        in_checkpoint = any(part.startswith("checkpoint") for part in name.parts)
        moved = status.st_mtime_ns if in_checkpoint else None
        found[str(name)] = (status.st_mode, content, moved)
    return found


def ckptctl(*arguments: str | Path, expect: int = 0) -> str:
    """Run the command line, hold it to its exit code, and return its stdout."""
    command = [sys.executable, "-m", "ckptctl", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    told = f"{' '.join(command[2:])}\n{done.stdout}\n{done.stderr}"
    assert done.returncode == expect, f"exit {done.returncode}, not {expect}: {told}"
    return done.stdout
