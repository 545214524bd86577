"""Surroundings that fail: permission, links, pipes, depth, clocks, files on the move."""

from __future__ import annotations

import itertools
import os
import shutil
import stat
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ckptctl.api import applying
from ckptctl.executor import work
from ckptctl.storage.local_store import LocalStore
from tests.faults.test_full_disk import can_mount
from tests.faults.world import a_process
from tests.fuzz.run import tree
from tests.kills.walk import pending
from tests.security.verbs import TEMPLATE, Answer, change, run
from tests.support import copy_of

NAME = "ray-2.54.1-function_topk"
NOBODY = 65534


@pytest.fixture(autouse=True)
def processes_that_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each call is another process, which has ended when the next one begins."""
    numbers = itertools.count()
    monkeypatch.setattr(work, "this_process", lambda: a_process(next(numbers)))
    monkeypatch.setenv("CKPTCTL_DEBUG", "1")


@pytest.fixture
def place() -> Iterator[Path]:
    """Where every user may come: folders of pytest are closed to others."""
    with tempfile.TemporaryDirectory(prefix="ckptctl-test-") as folder:
        os.chmod(folder, 0o755)
        yield copy_of(NAME, Path(folder))


def trials(place: Path) -> list[Path]:
    return sorted(p for p in place.iterdir() if p.is_dir())


def state_of(place: Path) -> Path:
    return next(place.glob("experiment_state-*.json"))


@contextmanager
def one_who_may_not(place: Path) -> Iterator[None]:
    """Be an ordinary user, who owns the experiment: modes count again."""
    if os.geteuid() != 0:
        yield
        return
    for path in (place, *place.rglob("*")):
        os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
    os.setegid(NOBODY)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)


def rename(place: Path) -> Answer:
    return change("rename", place, "--to", TEMPLATE)


def entry_of(place: Path) -> str | None:
    """The open entry of the journal."""
    found = {p.relative_to(place).as_posix(): b"" for p in place.rglob("*") if p.is_file()}
    return pending(found)


def opened(*paths: Path) -> None:
    for path in paths:
        path.chmod(0o755 if path.is_dir() else 0o644)


def test_an_experiment_that_may_not_be_written_is_left_as_it_is(place: Path) -> None:
    before = tree(place)
    with one_who_may_not(place):
        place.chmod(0o555)
        try:
            assert run("scan", place).code == 0
            done = rename(place)
            assert done.code == 10 and "no permission" in done.err
        finally:
            opened(place)
    assert tree(place) == before and not (place / ".ckptctl").exists()


@pytest.mark.parametrize("way", ["resume", "undo"])
@pytest.mark.parametrize("which", [0, 1])
def test_a_trial_that_may_not_be_written_stops_half_way_or_before(
    place: Path, which: int, way: str
) -> None:
    before, closed = tree(place), trials(place)[which]
    with one_who_may_not(place):
        closed.chmod(0o555)
        done = rename(place)
        opened(closed)
        assert "no permission" in done.err
        if done.code == 10:
            assert tree(place) == before and entry_of(place) is None
            return
        assert done.code == 13 and f"ckptctl {way}" in done.err and entry_of(place)
        assert (change("undo", place) if way == "undo" else run("resume", place, "--yes")).code == 0
        if way == "resume":
            assert tree(place) != before
            assert change("undo", place).code == 0
    assert tree(place) == before


def test_a_trial_closed_to_writing_stops_part_way_in_one_order(place: Path) -> None:
    """Of the two trials one comes first: the other one's lock comes after the first change."""
    codes = []
    for closed in trials(place):
        with one_who_may_not(place):
            closed.chmod(0o555)
            codes.append(rename(place).code)
            opened(closed)
            if codes[-1] == 13:
                assert change("undo", place).code == 0
    assert sorted(codes) == [10, 13]


@pytest.mark.parametrize("what", ["state", "log", "trial", "checkpoint"])
def test_what_may_not_be_read_is_a_finding_and_no_crash(place: Path, what: str) -> None:
    trial = trials(place)[0]
    path = {
        "state": state_of(place),
        "log": trial / "result.json",
        "trial": trial,
        "checkpoint": trial / "checkpoint_000007",
    }[what]
    before = tree(place)
    with one_who_may_not(place):
        path.chmod(0)
        try:
            said = run("scan", place)
            assert said.code == 1 and "no permission" in said.out + said.err
            assert "CKP201" in said.out
            done = rename(place)
            if what in ("state", "log"):
                assert done.code == 14 and "its records cannot follow" in done.err
            else:  # what cannot be seen stays as it is, and its records too
                assert done.code == 0
                assert change("undo", place).code == 0
            if change("reindex", place, "--unsafe").code == 0:
                assert change("undo", place).code == 0
        finally:
            opened(path)
    assert tree(place) == before


@pytest.fixture
def unchangeable() -> Iterator[Callable[[Path], None]]:
    """Files that not even the administrator can change, where the file system has those."""
    made: list[Path] = []

    def make(path: Path) -> None:
        done = subprocess.run(["chattr", "+i", path], check=False, capture_output=True)
        if done.returncode == 0:
            made.append(path)

    yield make
    for path in made:
        subprocess.run(["chattr", "-i", path], check=True)


def test_a_record_that_cannot_be_changed_stops_part_way(
    place: Path, unchangeable: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    before, state = tree(place), state_of(place)
    unchangeable(state)
    real = os.replace

    def replace(source: str, target: str) -> None:
        if target == str(state):
            raise PermissionError(1, os.strerror(1), target)
        real(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", replace)
        done = rename(place)
    assert done.code == 13 and "no permission" in done.err
    subprocess.run(["chattr", "-i", state], check=False, capture_output=True)
    assert run("resume", place, "--yes").code == 0
    assert tree(place) != before
    assert change("undo", place).code == 0
    assert tree(place) == before


def test_a_read_only_file_system_changes_nothing(tmp_path: Path, place: Path) -> None:
    before = tree(place)
    if not can_mount():
        place.chmod(0o555)
        with one_who_may_not(place):
            assert rename(place).code == 10
        opened(place)
        return
    other = tmp_path / "read-only"
    other.mkdir()
    subprocess.run(["mount", "--bind", place, other], check=True)
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", other], check=True)
        assert run("scan", other).code == 0
        for done in (rename(other), change("reindex", other, "--by", "training_iteration")):
            assert done.code == 10 and "read-only" in done.err
        assert run("history", other, "--prune", "--yes").code in (0, 10)
    finally:
        subprocess.run(["umount", other], check=True)
    assert tree(place) == before and not (place / ".ckptctl").exists()


def odd_things(place: Path, outside: Path) -> None:
    """Links, loops, pipes and devices beside, above and inside the checkpoints."""
    for number, folder in enumerate((place, *trials(place), *place.glob("*/checkpoint_000007"))):
        (folder / "loop").symlink_to(".")
        (folder / "up").symlink_to("..")
        (folder / "self").symlink_to("self")
        (folder / "out").symlink_to(outside)
        (folder / "checkpoint_000099").symlink_to(outside)
        (folder / "checkpoint_000098").symlink_to("nowhere")
        os.mkfifo(folder / "pipe")
        os.mkfifo(folder / "experiment_state-2099-01-01_00-00-00.json")
        if os.geteuid() == 0:
            os.mknod(folder / f"device{number}", stat.S_IFCHR | 0o600, os.makedev(1, 5))


def test_links_pipes_and_devices_are_neither_followed_nor_opened(
    place: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    shutil.copytree(place, outside)
    apart = tree(outside)
    odd_things(place, outside)
    before = tree(place)
    began = time.process_time()
    for words in (("scan", "-v"), ("scan", "--deep"), ("rename", "-n", "--to", TEMPLATE)):
        run(words[0], place, *words[1:])
    for verb in (
        ("rename", "--to", TEMPLATE),
        ("reindex", "--unsafe", "--quarantine"),
        ("reindex", "--by", "sequential"),
    ):
        assert change(verb[0], place, *verb[1:]).code in (0, 10, 14)
        if tree(place) != before:
            assert change("undo", place).code == 0
        assert tree(place) == before
    assert tree(outside) == apart
    assert time.process_time() - began < 30


def test_checkpoints_that_hold_links_and_pipes_move_with_them(place: Path, tmp_path: Path) -> None:
    for checkpoint in place.glob("*/checkpoint_*"):
        (checkpoint / "self").symlink_to("self")
        (checkpoint / "out").symlink_to(tmp_path)
        os.mkfifo(checkpoint / "pipe")
    before = tree(place)
    assert rename(place).code == 0
    moved = tree(place)
    assert moved != before and sorted(moved.values()) != []
    assert sum(v.startswith(b"-> ") for v in moved.values()) == sum(
        v.startswith(b"-> ") for v in before.values()
    )
    assert change("undo", place).code == 0
    assert tree(place) == before


@pytest.mark.parametrize("depth", [400, 3000])
def test_a_tree_that_is_very_deep_is_told_or_moved(place: Path, depth: int) -> None:
    checkpoint = next(place.glob("*/checkpoint_000007"))
    here = os.open(checkpoint, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("d", dir_fd=here)
        there = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = there
    os.close(os.open("end", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)
    try:
        said = run("scan", place)
        assert said.code in (0, 1)
        done = rename(place)
        if depth == 400:
            assert done.code == 0, done
            assert change("undo", place).code == 0
        else:
            assert said.code == 1 and "too long" in said.out
            assert done.code == 14 and "arrives whole" in done.err
    finally:
        subprocess.run(["rm", "-rf", place], check=True)


JUMPS = (0.0, -10 * 365 * 86400.0, 20 * 365 * 86400.0, -1.0, 1e9)


@pytest.mark.parametrize("jump", JUMPS)
def test_a_clock_that_jumps_changes_no_answer(
    place: Path, jump: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, real, calls = tree(place), time.time, itertools.count()
    monkeypatch.setattr(time, "time", lambda: max(0.0, real() + (next(calls) % 3) * jump))
    assert run("rename", place, "--to", TEMPLATE, "--yes").code == 0
    assert run("scan", place).code == 0
    assert run("undo", place, "--yes").code == 0
    listed = run("history", place).out
    assert listed.index("undo") < listed.index("rename")
    assert run("history", place, "--prune", "--yes").code == 0
    assert tree(place) == before


def test_a_killed_run_dated_in_the_future_is_refused_and_can_be_mended_all_the_same(
    tmp_path: Path,
) -> None:
    place = copy_of("killed--ray-2.54.1", tmp_path)
    ahead = time.time() + 30 * 86400
    for path in place.rglob("*"):
        os.utime(path, (ahead, ahead))
    refused = run("reindex", place, "--unsafe", "--yes")
    assert refused.code == 14 and "in the future" in refused.err and "--allow-live" in refused.err
    assert change("reindex", place, "--unsafe").code == 0
    assert run("undo", place, "--yes", "--allow-live").code == 0


def gone(path: Path) -> None:
    path.unlink()


def grown(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b'{"x": 1}\n' * 50)


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def parent_gone(path: Path) -> None:
    shutil.rmtree(path.parent)


MOMENTS = ("before it is read", "after it is read")


@pytest.mark.parametrize("happens", [gone, grown, cut, folder, parent_gone])
@pytest.mark.parametrize("when", MOMENTS)
def test_files_that_change_during_a_scan_give_an_answer(
    tmp_path: Path, happens: Callable[[Path], None], when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("ray-2.54.1-function_topk", "ray-2.6.3-class_freq", "ray-2.54.1-train_v2_topk")
    tried = 0
    for name in names:
        records = _read_by_a_scan(copy_of(name, tmp_path / "all"), monkeypatch)
        for record in records:
            for verb in (("scan",), ("rename", "--to", TEMPLATE, "--on-missing", "skip", "-n")):
                place = copy_of(name, tmp_path / f"{tried}")
                with monkeypatch.context() as patch:
                    _meanwhile(patch, record, happens, when)
                    said = run(verb[0], place, *verb[1:])
                assert said.code in (0, 1, 10, 12, 14), (record, said)
                shutil.rmtree(tmp_path / f"{tried}")
                tried += 1
    assert tried >= 20


def _read_by_a_scan(place: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    found: list[str] = []
    real = LocalStore.read_bytes

    def read_bytes(self: LocalStore, path: str, limit: int | None = None) -> bytes:
        found.append(path)
        return real(self, path, limit)

    with monkeypatch.context() as patch:
        patch.setattr(LocalStore, "read_bytes", read_bytes)
        run("scan", place)
    return sorted(set(found))


def _meanwhile(
    patch: pytest.MonkeyPatch, record: str, happens: Callable[[Path], None], when: str
) -> None:
    real, done = LocalStore.read_bytes, [False]

    def read_bytes(self: LocalStore, path: str, limit: int | None = None) -> bytes:
        mine = path == record and not done[0]
        if mine and when == MOMENTS[0]:
            done[0] = True
            happens(Path(self.root, path))
        data = real(self, path, limit)
        if mine and when == MOMENTS[1]:
            done[0] = True
            happens(Path(self.root, path))
        return data

    patch.setattr(LocalStore, "read_bytes", read_bytes)


@pytest.mark.parametrize("happens", [gone, grown, cut])
def test_a_record_that_changes_between_plan_and_apply_is_stale(
    place: Path, happens: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    real, after = applying.apply, {}

    def apply(*args: object, **kwargs: object) -> object:
        happens(state_of(place))
        after.update(tree(place))
        return real(*args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr("ckptctl.api.apply", apply)
    done = rename(place)
    assert done.code == 12, done
    assert tree(place) == after
