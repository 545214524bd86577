"""Real processes: locked out, racing, killed anywhere, and interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ckptctl.errors import Cancelled, CkptctlError, JournalError
from ckptctl.executor import apply, fresh, resume, undo, work
from ckptctl.journal.store import history
from ckptctl.model.plan import Outcome, Plan
from ckptctl.storage import local_files
from ckptctl.storage.local_store import LocalStore
from ckptctl.storage.store import Store
from tests.faults.world import Planner, World, build, make_plan, replace_text


@pytest.fixture(autouse=True)
def processes_that_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here processes are what they are."""
    monkeypatch.setattr(fresh, "apply_edits", replace_text)


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World("local", tmp_path / "exp")
    build(made)
    return made


def start(code: str, *args: object) -> subprocess.Popen[str]:
    """A Python process that runs `code`, with pipes to talk through."""
    setup = (
        "import sys; from ckptctl.executor import apply, fresh\n"
        "from tests.faults.world import *\n"
        "fresh.apply_edits = replace_text\n"
    )
    return subprocess.Popen(
        [sys.executable, "-c", setup + textwrap.dedent(code), *map(str, args)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([os.getcwd(), *sys.path])},
    )


@contextmanager
def talking(process: subprocess.Popen[str]) -> Iterator[tuple[Any, Any]]:
    assert process.stdin is not None and process.stdout is not None
    with process.stdin, process.stdout:
        yield process.stdin, process.stdout


SLOW = """
class Slow(LocalStore):
    def move_tree(self, source, target):
        if source == "t1/checkpoint_2":
            print("half way", flush=True)
            sys.stdin.readline()
        super().move_tree(source, target)
world = World("local", Path(sys.argv[1]))
apply(Slow(sys.argv[1]), make_plan(world))
"""


def test_a_live_process_locks_out_others_and_a_killed_one_does_not(world: World) -> None:
    first = world.snapshot()
    process = start(SLOW, world.folder)
    with talking(process) as (_, told):
        assert told.readline() == "half way\n"
        for act in (resume, undo):
            with pytest.raises(JournalError, match=f"held by process {process.pid} on "):
                act(world.clean)
        process.kill()
        process.wait()
    outcome = undo(world.clean)
    assert any(f"process {process.pid}" in note for note in outcome.notes)
    assert world.snapshot() == first
    assert [str(e.state) for e in history(world.clean)] == ["undone"]


RACE = """
world = World("local", Path(sys.argv[1]))
plan = make_plan(world)
print("ready", flush=True)
sys.stdin.readline()
try:
    apply(LocalStore(sys.argv[1]), plan)
except Exception as error:
    print(type(error).__name__)
else:
    print("applied")
"""


def test_of_applies_at_once_exactly_one_works(world: World) -> None:
    racers = [start(RACE, world.folder) for _ in range(3)]
    for racer in racers:
        assert racer.stdout is not None and racer.stdout.readline() == "ready\n"
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("go\n")
        racer.stdin.flush()
    ends = []
    for racer in racers:
        with talking(racer) as (_, told):
            ends.append(told.read().strip())
        racer.wait()
    assert ends.count("applied") == 1
    assert set(ends) <= {"applied", "JournalError", "StalePlanError"}
    assert [str(e.state) for e in history(world.clean)] == ["applied"]


def test_of_applies_in_threads_exactly_one_works(world: World) -> None:
    plan = make_plan(world)
    ready = threading.Barrier(4)
    ends: list[str] = []

    def race() -> None:
        ready.wait()
        try:
            ends.append(str(apply(LocalStore(str(world.folder)), plan).applied))
        except CkptctlError as error:
            ends.append(type(error).__name__)

    threads = [threading.Thread(target=race) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ends.count("True") == 1
    assert set(ends) <= {"True", "JournalError", "StalePlanError"}


SYSTEM_CALLS = ("open", "write", "mkdir", "link", "unlink", "rmdir", "rename", "replace", "fchmod")


def dying(at: int) -> None:
    """From here on this process dies at its system call number `at` that changes anything."""
    count = -1

    def counted(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            nonlocal count
            creates = real is not real_open or args[1] & os.O_CREAT
            count += bool(creates)
            if creates and count == at:
                os._exit(9)
            return real(*args, **kwargs)

        return call

    real_open = os.open
    for name in SYSTEM_CALLS:
        setattr(os, name, counted(getattr(os, name)))
    rename = counted(local_files._renameat2() or os.rename)
    local_files._renameat2 = lambda: rename  # type: ignore[assignment]


def killed(folder: Path, act: Callable[[Store], Outcome], at: int) -> bool:
    """Do something in a child that dies at a system call; False where it came to its end."""
    child = os.fork()
    if child == 0:
        try:
            dying(at)
            act(LocalStore(str(folder)))
            os._exit(0)
        except BaseException:  # noqa: BLE001  the child must not come back into pytest
            os._exit(1)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    assert code in (0, 9)
    return code == 9


def small_plan(world: World) -> Plan:
    p = Planner(world)
    p.rewrite("t1/checkpoint_1/sub/meta.json", "one 1", "one number one")
    p.move("t1/checkpoint_1", ".ckptctl/tmp/x/0")
    p.move("t1/checkpoint_2", "t1/checkpoint_1")
    p.move(".ckptctl/tmp/x/0", "t3/checkpoint_2")
    p.rewrite("t1/result.json", "checkpoint", "ck")
    return p.plan()


@pytest.mark.parametrize("way_out", [resume, undo])
def test_a_process_killed_at_any_system_call_leaves_nothing_behind(
    tmp_path: Path,
    way_out: Callable[[Store], Outcome],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    whole = World("local", tmp_path / "whole")
    build(whole)
    first = whole.snapshot()
    apply(whole.clean, small_plan(whole))
    last = whole.snapshot()
    for at in range(1000):
        world = World("local", tmp_path / f"exp{at}")
        build(world)
        plan = small_plan(world)
        if not killed(world.folder, lambda store, p=plan: apply(store, p), at):  # type: ignore[misc]
            break
        begun = bool(history(world.clean))
        way_out(world.clean)
        assert world.snapshot() == (last if begun and way_out is resume else first), at
    with capsys.disabled():
        print(f"\n  {at} kills at system calls of an apply, then {way_out.__name__}")
    assert at > 40


def test_ctrl_c_waits_for_the_store_call_and_says_what_is_pending(world: World) -> None:
    plan, first = make_plan(world), world.snapshot()
    moved: list[str] = []

    class Interrupted(LocalStore):
        def move_tree(self, source: str, target: str) -> None:
            if source == "t1/checkpoint_2":
                signal.raise_signal(signal.SIGINT)
            super().move_tree(source, target)
            moved.append(source)

    with pytest.raises(Cancelled) as caught:
        apply(Interrupted(str(world.folder)), plan)
    assert moved == ["t1/checkpoint_1", "t1/checkpoint_2"]
    assert "interrupted; 3 of 14 steps are done" in caught.value.message
    assert "ckptctl resume" in (caught.value.hint or "")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    undo(world.clean)
    assert world.snapshot() == first


def test_ctrl_c_before_the_first_change_withdraws_the_plan(world: World) -> None:
    plan, first = make_plan(world), world.snapshot(own=True)

    class Interrupted(LocalStore):
        def create(self, path: str, data: bytes) -> bool:
            signal.raise_signal(signal.SIGINT)
            return super().create(path, data)

    with pytest.raises(Cancelled, match="nothing was changed"):
        apply(Interrupted(str(world.folder)), plan)
    assert world.snapshot(own=True) == first


def test_a_second_ctrl_c_interrupts_at_once(world: World) -> None:
    plan, first = make_plan(world), world.snapshot()

    class Interrupted(LocalStore):
        def move_tree(self, source: str, target: str) -> None:
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(Cancelled, match="1 of 14 steps are done"):
        apply(Interrupted(str(world.folder)), plan)
    undo(world.clean)
    assert world.snapshot() == first


def test_a_handler_of_the_caller_is_left_in_place(world: World) -> None:
    def mine(number: int, frame: object) -> None:
        raise AssertionError(number)

    before = signal.signal(signal.SIGINT, mine)
    try:
        with work._interrupts_put_off() as interrupted:
            assert signal.getsignal(signal.SIGINT) is mine
            assert not interrupted()
    finally:
        signal.signal(signal.SIGINT, before)
