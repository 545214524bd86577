"""One damaged experiment after another through the verbs, and what must not happen."""

from __future__ import annotations

import contextlib
import gc
import io
import itertools
import os
import re
import resource
import shutil
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from types import FrameType

from ckptctl.cli.main import main
from tests.fuzz.mutate import CHANGES
from tests.support import corpus

MEMORY = 1 << 30
"""Bytes that no input may take more than."""
PATIENCE = 60
"""Seconds that no verb may take, on a machine with other things to do."""
EXPERIMENTS = (
    "ray-2.54.1-function_topk",
    "ray-2.54.1-class_freq",
    "ray-2.54.1-train_v2_topk",
    "ray-2.6.3-function_topk",
    "ray-2.6.3-class_freq",
    "ray-2.7.2-function_topk",
    "ray-2.9.3-class_failed",
    "ray-2.60.0-train_v2_topk",
    "killed--ray-2.54.1",
    "renumbered-by-hand--ray-2.54.1-function_topk",
    "rows-shifted-by-ray--ray-2.7.2-class_freq",
    "unrecorded-folder--ray-2.54.1-train_v2_topk",
    "extra-folder-ahead--ray-2.6.3-function_topk",
)
CODES = frozenset({0, 1, 2, 10, 11, 12, 13, 14})
PYTHON = re.compile(
    r"Traceback|Expecting |Extra data: line|Unterminated string|Invalid control character"
    r"|set_int_max_str_digits|maximum recursion|\[Errno|codec can't|object is not|<class '"
    r"|invalid literal|unhashable|index out of range|object has no attribute|Invalid \\\\?escape"
)
"""Words of Python's own, which say nothing to who reads a message."""


@dataclass(slots=True)
class Tally:
    """What a run has seen."""

    cases: int = 0
    codes: Counter[str] = field(default_factory=Counter)
    applied: int = 0
    peak: int = 0
    """Bytes, at most, of any case."""
    slowest: float = 0.0
    failures: list[str] = field(default_factory=list)


class TooSlow(BaseException):
    """A verb has not ended."""


def limit_memory() -> None:
    """Let this process have no more than the limit beside what it has now."""
    now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (now + MEMORY, hard))


def peak() -> int:
    """The most memory that this process had since `forget_peak`, in bytes."""
    return _told("VmHWM")


def resident() -> int:
    """The memory that this process has, in bytes: other tests may have run in it."""
    return _told("VmRSS")


def _told(name: str) -> int:
    found = re.search(rf"{name}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found
    return int(found[1]) << 10


def forget_peak() -> None:
    """Measure anew; where that cannot be, the peak is that of all."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def fuzz(folder: Path, seed: int, *, seconds: float, cases: int | None, keep: Path) -> Tally:
    """Damage and run until the time is over or so many cases are done."""
    tally = Tally()
    until = time.monotonic() + seconds
    for number in itertools.count():
        if time.monotonic() > until or (cases is not None and number >= cases):
            return tally
        one(folder, seed + number, tally, keep)
    raise AssertionError


def one(folder: Path, seed: int, tally: Tally, keep: Path) -> None:
    """One case, given by its seed alone."""
    rng = Random(seed)
    origin = rng.choice(EXPERIMENTS)
    work = folder / "case"
    shutil.rmtree(work, ignore_errors=True)
    place = work / "exp"
    shutil.copytree(corpus(origin), place)
    files = sorted(p.relative_to(place).as_posix() for p in place.rglob("*") if p.is_file())
    change = rng.choices([c for c, _ in CHANGES], [w for _, w in CHANGES])[0]
    what = change(place, files, rng)
    if wrong := judge(place, tally, apply=rng.random() < 0.3):
        kept = keep / f"{seed}"
        shutil.rmtree(kept, ignore_errors=True)
        with contextlib.suppress(OSError, shutil.Error):
            _keep(corpus(origin), place, kept)
        tally.failures.append(f"seed {seed}: {origin}: {what}: {wrong}")


def _keep(origin: Path, place: Path, kept: Path) -> None:
    """Of a failing case, the files that are not as in the corpus."""
    for path in sorted(p for p in place.rglob("*") if p.is_file() and not p.is_symlink()):
        inner = path.relative_to(place)
        if not (origin / inner).is_file() or (origin / inner).read_bytes() != path.read_bytes():
            (kept / inner).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, kept / inner)
    kept.mkdir(parents=True, exist_ok=True)
    (kept / "ORIGIN").write_text(origin.name)


TEMPLATE = "checkpoint_{training_iteration:06d}-{loss:.4f}"


def judge(place: Path, tally: Tally, *, apply: bool) -> str | None:
    """Run the verbs on an experiment; what was wrong comes back."""
    tally.cases += 1
    where = str(place)
    before = tree(place.parent)
    for words in (
        ("scan", where, "--json"),
        ("scan", where, "--deep", "-v"),
        ("reindex", where, "-n", "--unsafe", "--quarantine"),
        ("rename", where, "-n", "--to", TEMPLATE, "--on-missing", "skip"),
        ("reindex", where, "-n", "--by", "training_iteration"),
    ):
        if wrong := verb(words, tally)[1]:
            return wrong
        if tree(place.parent) != before:
            return f"{words[0]} -n wrote something"
    return _there_and_back(place, tally, before) if apply else None


def _there_and_back(place: Path, tally: Tally, before: Mapping[str, bytes]) -> str | None:
    where = str(place)
    for words in (
        ("reindex", where, "--unsafe", "--yes", "--allow-live"),
        ("rename", where, "--to", TEMPLATE, "--on-missing", "skip", "--yes", "--allow-live"),
    ):
        code, wrong = verb(words, tally)
        if wrong:
            return wrong
        if code == 13:
            return f"{words[0]} stopped part-way"
        if tree(place.parent) == before:
            continue
        tally.applied += 1
        code, wrong = verb(("undo", where, "--yes", "--allow-live"), tally)
        if wrong or code != 0:
            return wrong or f"undo of {words[0]} ended with {code}"
        after = tree(place.parent)
        if after != before:
            return f"undo of {words[0]} left {sorted(after.keys() ^ before.keys())[:3]}"
        shutil.rmtree(place / ".ckptctl", ignore_errors=True)
    return None


def verb(words: tuple[str, ...], tally: Tally) -> tuple[int, str | None]:
    """Run a verb in this process; its exit code, and what was wrong with it."""
    out, err = io.StringIO(), io.StringIO()
    forget_peak()
    at_first = resident()
    began = time.monotonic()
    try:
        with _in_time(), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(list(words))
    except TooSlow:
        return -1, f"{words[0]} took more than {PATIENCE} s"
    except Exception as error:  # noqa: BLE001  with CKPTCTL_DEBUG a bug is raised
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(last.filename).name}:{last.lineno}"
        return 70, f"{words[:4]}: {type(error).__name__}: {str(error)[:120]} ({where})"
    tally.slowest = max(tally.slowest, time.monotonic() - began)
    tally.peak = max(tally.peak, used := peak() - at_first)
    tally.codes[f"{words[0]} {code}"] += 1
    if code not in CODES:
        return code, f"{words[0]} ended with {code}: {err.getvalue()[:300]}"
    if found := PYTHON.search(out.getvalue() + err.getvalue()):
        text = out.getvalue() + err.getvalue()
        return code, f"{words[0]} says {text[max(0, found.start() - 80) : found.end() + 40]!r}"
    if used > MEMORY:
        return code, f"{words[0]} took {used >> 20} MiB"
    return code, None


@contextlib.contextmanager
def _in_time() -> Iterator[None]:
    def late(_number: int, _frame: FrameType | None) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(PATIENCE)
    try:
        yield
    finally:
        gc.enable()  # a process of its own goes without
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def tree(folder: Path) -> dict[str, bytes]:
    """Everything in a folder but ckptctl's own, links and pipes not followed."""
    found: dict[str, bytes] = {}
    for here, folders, files in os.walk(os.fsencode(folder)):
        folders[:] = [f for f in folders if f != b".ckptctl"]
        for name in (*files, *folders):
            path = os.path.join(here, name)
            inner = os.fsdecode(os.path.relpath(path, os.fsencode(folder)))
            if os.path.islink(path):
                found[inner] = b"-> " + os.readlink(path)
            elif os.path.isfile(path):
                with open(path, "rb") as file:
                    found[inner] = file.read()
            else:
                found[inner] = b"other"
    return found


def debugging() -> None:
    """A bug is raised, and not made into a report."""
    os.environ["CKPTCTL_DEBUG"] = "1"
    sys.setrecursionlimit(1000)
