"""No space left: before the first change nothing is changed, later the apply can be resumed.

On a real file system of a few pages that is filled so far that every number of pages, and every
number of names, is once all that is left; and with a system call that fails, one after another.
"""

from __future__ import annotations

import errno
import gc
import itertools
import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ckptctl.cli.main import main
from ckptctl.executor import work
from tests.counts import keep
from tests.faults.conftest import Say
from tests.faults.test_crash_points import EVERY_PAIR
from tests.faults.world import a_process
from tests.kills.places import Disk, Files
from tests.kills.walk import COURSES, Course, pending, users

PAGE = 4096
STRIDE = 1 if EVERY_PAIR else 7
SYSTEM_CALLS = ("open", "write", "mkdir", "link", "fsync")
"""Those that need room: what only takes names away does not."""


@pytest.fixture(autouse=True)
def processes_that_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each call is another process, which has ended when the next one begins."""
    numbers = itertools.count()
    monkeypatch.setattr(work, "this_process", lambda: a_process(next(numbers)))
    monkeypatch.delenv("CKPTCTL_DEBUG", raising=False)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """A call of the command line: its exit code, and what it said on stderr."""

    def call(*words: str) -> tuple[int, str]:
        capsys.readouterr()
        code = main([*words, "--yes"])
        gc.enable()  # a process of its own goes without
        return code, capsys.readouterr().err

    return call


Run = Callable[..., tuple[int, str]]


@pytest.fixture(params=[c for c in COURSES if c.name in ("rename", "reindex", "rename V2")])
def course(request: pytest.FixtureRequest) -> Course:
    found: Course = request.param
    return found


@dataclass
class Trial:
    """One experiment, and a verb that may run out of room."""

    disk: Disk
    course: Course
    run: Run

    def verb(self) -> tuple[str, ...]:
        words = (word.replace("{}", self.disk.url, 1) for word in self.course.verb[:2])
        return (*words, *self.course.verb[2:], "--allow-live")

    def ends(self) -> tuple[Files, Files]:
        """What there is before the verb and after it, where there is room."""
        self.disk.reset(self.course.corpus)
        first = self.disk.files()
        assert self.run(*self.verb())[0] == 0
        return first, users(self.disk.files())

    def judge(self, code: int, told: str, first: Files, last: Files, at: int) -> None:
        """Whether a verb that may have failed has kept the law; there is room again."""
        way = ("resume", "undo")[at // STRIDE % 2]
        now = self.disk.files()
        if code == 0:
            assert users(now) == last
        elif code == 10:
            assert now == first, sorted(now.keys() ^ first.keys())
            assert "no space left" in told
        else:
            assert code == 13, (code, told)
            assert "no space left" in told and "ckptctl resume" in told and "ckptctl undo" in told
            assert pending(now)
            more = ("--allow-live",) if way == "undo" else ()
            assert self.run(way, self.disk.url, *more)[0] == 0
            assert users(self.disk.files()) == (last if way == "resume" else first)
            assert pending(self.disk.files()) is None


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """A maker of small file systems of their own."""
    mounted: list[Path] = []

    def make(options: str) -> Path:
        folder = tmp_path / f"small{len(mounted)}"
        folder.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "ckptctl", folder], check=True)
        mounted.append(folder)
        return folder

    yield make
    for folder in mounted:
        subprocess.run(["umount", "-l", folder], check=True)


def can_mount() -> bool:
    """Only the administrator of a machine may; where not, the system calls below have to do."""
    if os.geteuid() != 0 or shutil.which("mount") is None:
        return False
    done = subprocess.run(
        ["unshare", "-m", "mount", "-t", "tmpfs", "x", "/mnt"], check=False, capture_output=True
    )
    return done.returncode == 0


def fill(folder: Path, left: int) -> Path:
    """Take all pages but `left`."""
    path = folder / "filler"
    free = os.statvfs(folder)
    with path.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, max(1, free.f_bavail - left) * PAGE)
    assert os.statvfs(folder).f_bavail == left
    return path


def take_names(folder: Path, left: int) -> Path:
    """Take all names but `left`."""
    path = folder / "names"
    path.mkdir()
    for number in range(os.statvfs(folder).f_favail - left):
        (path / str(number)).touch()
    assert os.statvfs(folder).f_favail == left
    return path


def clear(path: Path) -> None:
    shutil.rmtree(path) if path.is_dir() else path.unlink()


if can_mount():
    KINDS: dict[str, tuple[str, Callable[[Path, int], Path]]] = {
        "pages": ("size=4m", fill),
        "names": ("size=4m,nr_inodes=150", take_names),
    }

    @pytest.mark.parametrize("kind", KINDS)
    def test_a_disk_that_is_full_at_any_moment_loses_nothing(
        small: Callable[[str], Path], course: Course, run: Run, kind: str, say: Say
    ) -> None:
        options, take = KINDS[kind]
        folder = small(options)
        trial = Trial(Disk(folder / "exp"), course, run)
        first, last = trial.ends()
        codes: Counter[int] = Counter()
        for left in range(0, 1000, STRIDE):
            trial.disk.reset(course.corpus)
            taken = take(folder, left)
            code, told = run(*trial.verb())
            clear(taken)
            trial.judge(code, told, first, last, left)
            codes[code] += 1
            if code == 0:
                break
        say(f"{left} {kind} left at most, {course.name}: {dict(codes)}")
        assert codes[10] and codes[0] == 1
        if EVERY_PAIR:
            keep(f"full disk, {kind}, {course.name}", {str(c): n for c, n in codes.items()})


def failing(patch: pytest.MonkeyPatch, at: int) -> Callable[[], bool]:
    """The system call number `at` that needs room below has none; whether it was reached."""
    count = -1

    def counted(real: Callable[..., Any], name: str) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            nonlocal count
            if name != "open" or args[1] & os.O_CREAT:
                count += 1
                if count == at:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return real(*args, **kwargs)

        return call

    for name in SYSTEM_CALLS:
        patch.setattr(os, name, counted(getattr(os, name), name))
    return lambda: count >= at


def test_any_system_call_without_room_loses_nothing(
    tmp_path: Path, course: Course, run: Run, say: Say
) -> None:
    trial = Trial(Disk(tmp_path / "exp"), course, run)
    first, last = trial.ends()
    codes: Counter[int] = Counter()
    for at in range(0, 10_000, STRIDE):
        trial.disk.reset(course.corpus)
        with pytest.MonkeyPatch.context() as patch:
            reached = failing(patch, at)
            code, told = run(*trial.verb())
        trial.judge(code, told, first, last, at)
        if not reached():
            break
        codes[code] += 1
    say(f"{codes.total()} calls without room, {course.name}: {dict(codes)}")
    assert codes[10] > 2 and at > 20
    if EVERY_PAIR:
        assert codes[13]
        keep(f"no room, {course.name}", {str(c): n for c, n in codes.items()})


def test_an_undo_without_room_changes_nothing_or_can_be_resumed(
    tmp_path: Path, course: Course, run: Run, say: Say
) -> None:
    trial = Trial(Disk(tmp_path / "exp"), course, run)
    first, _ = trial.ends()
    applied = trial.disk.files()
    codes: Counter[int] = Counter()
    for at in range(0, 10_000, STRIDE):
        trial.disk.reset(course.corpus)
        assert run(*trial.verb())[0] == 0
        with pytest.MonkeyPatch.context() as patch:
            reached = failing(patch, at)
            code, told = run("undo", trial.disk.url, "--allow-live")
        now = trial.disk.files()
        if code == 10:
            assert users(now) == users(applied) and pending(now) is None
        elif code == 13:
            assert run("resume", trial.disk.url)[0] == 0
            assert users(trial.disk.files()) == first
        else:
            assert code == 0 and users(now) == first, told
        if not reached():
            break
        codes[code] += 1
    say(f"{codes.total()} calls of an undo without room, {course.name}: {dict(codes)}")
    assert codes[10] and (codes[13] or not EVERY_PAIR)
    if EVERY_PAIR:
        keep(f"no room, undo of {course.name}", {str(c): n for c, n in codes.items()})
