"""A process that is killed or interrupted in the middle of an apply: what the next call says."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Call, Copy, at_terminal, snapshot

CLEAN = "ray-2.54.1-function_topk"
TEMPLATE = "checkpoint_{training_iteration:06d}-{loss:.4f}"

HOOK = """
import os, signal, time
from ckptctl.storage.local_store import LocalStore
real, moves = LocalStore.move_tree, []
def move_tree(self, source, target):
    moves.append(source)
    if len(moves) == {nth}:
        {act}
    real(self, source, target)
LocalStore.move_tree = move_tree
"""
KILL = "os.kill(os.getpid(), signal.SIGKILL)"
INTERRUPT = "os.kill(os.getpid(), signal.SIGINT)"
BROKEN = "raise OSError(28, os.strerror(28))"


Hook = Callable[..., dict[str, str]]


@pytest.fixture
def hook(tmp_path: Path) -> Hook:
    """Have a process do something before its nth move."""

    numbers = itertools.count()

    def make(act: str, nth: int = 4) -> dict[str, str]:
        # What is compiled of one hook must not count as another, made in the same second.
        folder = tmp_path / f"hook-{next(numbers)}"
        folder.mkdir()
        (folder / "sitecustomize.py").write_text(HOOK.format(act=act, nth=nth))
        return {"PYTHONPATH": str(folder)}

    return make


@pytest.fixture
def killed(process: Call, copy: Copy, hook: Hook) -> tuple[Path, dict[str, bytes]]:
    place = copy(CLEAN)
    before = snapshot(place)
    answer = process("rename", place, "--to", TEMPLATE, "--yes", **hook(KILL))
    assert answer.code == -signal.SIGKILL
    return place, before


def test_a_killed_apply_is_a_finding_and_blocks_the_next(
    ckptctl: Call, killed: tuple[Path, dict[str, bytes]]
) -> None:
    place, _ = killed
    scan = ckptctl("scan", place)
    assert scan.code == 1
    assert "CKP901 pending-journal" in scan.out
    blocked = ckptctl("rename", place, "--to", "checkpoint_{index:06d}-x", "--yes")
    assert blocked.code == 11
    assert f"ckptctl resume {place}" in blocked.err
    assert f"ckptctl undo {place}" in blocked.err
    assert "pending" in ckptctl("history", place).out


@pytest.mark.parametrize(
    "words",
    [
        ("rename", "--to", TEMPLATE),
        ("rename", "--to", "checkpoint_{index:06d}", "--check"),
        ("rename", "--to", "checkpoint_{index:06d}", "-n"),
        ("reindex", "--check"),
        ("reindex", "--yes"),
        ("reindex", "--by", "sequential", "-n"),
        ("migrate", "--to-ray", "2.60.0", "-n"),
    ],
)
def test_nothing_is_planned_from_what_is_half_done(
    ckptctl: Call, killed: tuple[Path, dict[str, bytes]], words: tuple[str, ...]
) -> None:
    place, _ = killed
    verb, *rest = words
    answer = ckptctl(verb, place, *rest)
    assert (answer.code, answer.out) == (11, "")
    assert f"ckptctl resume {place}" in answer.err and f"ckptctl undo {place}" in answer.err


def test_who_is_at_work_is_told(ckptctl: Call, killed: tuple[Path, dict[str, bytes]]) -> None:
    place, _ = killed
    answer = ckptctl("rename", place, "--to", "checkpoint_{index:06d}", "--check")
    assert answer.code == 11
    assert "is at work" in answer.err and "wait until it has finished" in answer.err


def test_a_killed_apply_can_be_finished(
    ckptctl: Call, killed: tuple[Path, dict[str, bytes]]
) -> None:
    place, before = killed
    shown = ckptctl("resume", place, "-n")
    assert shown.code == 0
    assert "checkpoint_000007  →  checkpoint_000008-0.4000" in shown.out
    assert "\n  02a88_00000\n" in shown.out
    assert ckptctl("resume", place).code == 2
    answer = ckptctl("resume", place, "--yes", "--json")
    assert answer.code == 0
    assert answer.json["plans"][0]["outcome"]["verified"] is True
    assert ckptctl("scan", place).code == 0
    assert ckptctl("resume", place, "--yes").err.endswith("nothing is pending\n")
    assert ckptctl("undo", place, "--yes").code == 0
    assert snapshot(place) == before


def test_a_killed_apply_can_be_taken_back(
    ckptctl: Call, killed: tuple[Path, dict[str, bytes]]
) -> None:
    place, before = killed
    assert ckptctl("undo", place, "--yes").code == 0
    assert snapshot(place) == before
    assert ckptctl("scan", place).code == 0


def test_an_apply_killed_before_its_first_step_is_closed_by_undo(
    ckptctl: Call, process: Call, copy: Copy, hook: Hook
) -> None:
    place = copy(CLEAN)
    before = snapshot(place)
    killed = process("rename", place, "--to", TEMPLATE, "--yes", **hook(KILL, nth=1))
    assert killed.code == -signal.SIGKILL
    assert "CKP901" in ckptctl("scan", place).out
    shown = ckptctl("undo", place, "--dry-run")
    assert shown.code == 0 and "no step is done; its journal is closed" in shown.out
    answer = ckptctl("undo", place, "--yes")
    assert answer.code == 0 and "Do it again" not in answer.out
    assert "CKP901" not in ckptctl("scan", place).out
    assert "undone" in ckptctl("history", place).out
    assert snapshot(place) == before


def test_a_way_back_that_is_killed_can_be_gone_to_its_end(
    ckptctl: Call, process: Call, killed: tuple[Path, dict[str, bytes]], hook: Hook
) -> None:
    place, before = killed
    assert process("undo", place, "--yes", **hook(KILL, nth=2)).code == -signal.SIGKILL
    assert "going back" in ckptctl("history", place).out
    answer = ckptctl("resume", place, "--yes")
    assert answer.code == 0
    assert "earlier" in answer.out and "Take it back" not in answer.out
    assert snapshot(place) == before


def test_a_resume_that_is_killed_can_be_resumed(
    ckptctl: Call, process: Call, killed: tuple[Path, dict[str, bytes]], hook: Hook
) -> None:
    place, _ = killed
    assert process("resume", place, "--yes", **hook(KILL, nth=2)).code == -signal.SIGKILL
    assert ckptctl("resume", place, "--yes").code == 0
    assert ckptctl("scan", place).code == 0


def test_a_full_disk_stops_part_way_and_says_how_to_go_on(
    process: Call,
    ckptctl: Call,
    copy: Copy,
    hook: Hook,
) -> None:
    place = copy(CLEAN)
    before = snapshot(place)
    answer = process("rename", place, "--to", TEMPLATE, "--yes", "--json", **hook(BROKEN))
    assert answer.code == 13
    assert f"ckptctl resume {place}" in answer.error["hint"]
    assert f"ckptctl undo {place}" in answer.error["hint"]
    assert ckptctl("undo", place, "--yes").code == 0
    assert snapshot(place) == before


def test_ctrl_c_in_the_middle_names_both_ways(ckptctl: Call, copy: Copy, hook: Hook) -> None:
    place = copy(CLEAN)
    before = snapshot(place)
    answer = at_terminal(["rename", place, "--to", TEMPLATE, "--yes"], more=hook(INTERRUPT))
    assert answer.code == 130
    assert f"ckptctl resume {place}" in answer.out
    assert f"ckptctl undo {place}" in answer.out
    assert "Traceback" not in answer.out
    assert ckptctl("undo", place, "--yes").code == 0
    assert snapshot(place) == before


def test_ctrl_c_twice_ends_at_once_and_still_names_both_ways(
    ckptctl: Call,
    copy: Copy,
    hook: Hook,
) -> None:
    place = copy(CLEAN)
    twice = f"{INTERRUPT}; time.sleep(0.05); {INTERRUPT}; time.sleep(5)"
    answer = at_terminal(["rename", place, "--to", TEMPLATE, "--yes"], more=hook(twice))
    assert answer.code == 130
    assert f"ckptctl resume {place}" in answer.out
    assert ckptctl("resume", place, "--yes").code == 0
    assert ckptctl("scan", place).code == 0


LATE = """
import os, signal
from ckptctl.report import plans
def outcome(plan, done):
    os.kill(os.getpid(), signal.SIGINT)
    return []
plans.outcome = outcome
"""


def test_ctrl_c_after_the_work_says_that_it_is_done(copy: Copy, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(LATE)
    place = copy(CLEAN)
    answer = at_terminal(
        ["rename", place, "--to", TEMPLATE, "--yes"], more={"PYTHONPATH": str(tmp_path)}
    )
    assert answer.code == 130
    assert "interrupted: all of it is done" in answer.out
    assert f"`ckptctl undo {place}`" in answer.out


ENDING = """
import os, signal
from ckptctl.cli import main
real = main.{name}
def interrupted(*args):
    main.{name} = real
    os.kill(os.getpid(), signal.SIGINT)
    return real(*args)
main.{name} = interrupted
"""


@pytest.mark.parametrize("name", ["_dismiss", "_run"])
def test_ctrl_c_when_the_call_is_about_to_end_or_has_just_begun(
    copy: Copy, tmp_path: Path, name: str
) -> None:
    (tmp_path / "sitecustomize.py").write_text(ENDING.format(name=name))
    place = copy(CLEAN)
    words = ["rename", place, "--to", TEMPLATE, "--yes"]
    answer = at_terminal(words, more={"PYTHONPATH": str(tmp_path)})
    if name == "_dismiss":
        assert answer.code == 130 and "done and verified" in answer.out
        assert "interrupted: all of it is done" in answer.out
        assert f"`ckptctl undo {place}`" in answer.out
    else:
        assert answer.code == 130
        assert "interrupted: nothing was applied" in answer.out
        assert "done and verified" not in answer.out


def test_ctrl_c_in_a_scan(copy: Copy, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import os, signal\nfrom ckptctl import checker\n"
        "checker.check = lambda *a, **k: os.kill(os.getpid(), signal.SIGINT)\n"
    )
    answer = at_terminal(["scan", copy(CLEAN)], more={"PYTHONPATH": str(tmp_path)})
    assert answer.code == 130
    assert "Traceback" not in answer.out


SLOW = """
import time
from ckptctl.storage import local_store
from ckptctl.storage.local_store import LocalStore
for name in ("create", "replace", "move_tree", "remove", "flush"):
    def slow(self, *args, _real=getattr(LocalStore, name)):
        time.sleep(0.02)
        return _real(self, *args)
    setattr(LocalStore, name, slow)
"""


@pytest.mark.parametrize("delay", [0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5])
def test_ctrl_c_at_any_moment_leaves_what_its_message_says(
    ckptctl: Call, copy: Copy, tmp_path: Path, delay: float
) -> None:
    (tmp_path / "sitecustomize.py").write_text(SLOW)
    place = copy(CLEAN)
    before = snapshot(place)
    process = subprocess.Popen(
        [sys.executable, "-m", "ckptctl", "rename", place, "--to", TEMPLATE, "--yes"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert "get new names" in process.stdout.readline()
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert "Traceback" not in err
    assert process.returncode in (0, 130)
    if "nothing was" in err:
        assert snapshot(place) == before
        assert ckptctl("resume", place, "--yes").err.endswith("nothing is pending\n")
        return
    if process.returncode == 130 and "all of it is done" not in err:
        assert f"ckptctl resume {place}" in err
    else:
        assert "done" in out + err
    assert ckptctl("undo", place, "--yes").code == 0
    assert snapshot(place) == before
