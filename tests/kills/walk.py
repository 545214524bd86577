"""A walk of `kill -9`: verbs of the real command line, each ended at a random moment.

From wherever a kill left it, the next verb goes on: `resume` or `undo` where an apply is
pending, else the way there or back. Every few kills a `resume` or `undo` may come to its end;
then everything must be, byte for byte, as before the first verb or as after it. After every
single kill each checkpoint must be whole in at least one place.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tests.kills.places import Files, Place

OWN = ".ckptctl/"
_BEFORE_THE_LOCK = 0.1
"""The share of kills that may come before anything is written."""
_PATIENCE = 120.0
AFTER = "after the last step"


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """An experiment of the corpus, and what is done to it."""

    name: str
    corpus: str
    verb: tuple[str, ...]


TEMPLATE = "checkpoint_{index:06d}-{loss:.4f}"
COURSES = (
    Course(
        name="rename", corpus="ray-2.54.1-function_topk", verb=("rename", "{}", "--to", TEMPLATE)
    ),
    Course(name="reindex", corpus="killed--ray-2.54.1", verb=("reindex", "{}", "--unsafe")),
    Course(
        name="reindex --by",
        corpus="ray-2.54.1-function_topk",
        verb=("reindex", "{}", "--by", "sequential"),
    ),
    Course(
        name="rename V2",
        corpus="ray-2.54.1-train_v2_topk",
        verb=("rename", "{}", "--to", "checkpoint_{step:06d}-{loss:.4f}"),
    ),
    Course(
        name="rename 2.6", corpus="ray-2.6.3-function_topk", verb=("rename", "{}", "--to", TEMPLATE)
    ),
)


@dataclass(slots=True)
class Count:
    """What a walk has seen."""

    kills: Counter[str] = field(default_factory=Counter)
    """By the verb that was killed."""
    moments: Counter[str] = field(default_factory=Counter)
    """By what the journal said after the kill."""
    ended: int = 0
    """Verbs that ended before they could be killed."""
    checked: int = 0
    """How often the bytes were compared after a way out."""
    lost: list[str] = field(default_factory=list)
    """Checkpoints that were whole nowhere."""
    unrecoverable: list[str] = field(default_factory=list)
    """States that no way out led out of, or to other bytes than the first or the last."""

    @property
    def total(self) -> int:
        return sum(self.kills.values())

    def row(self) -> dict[str, object]:
        """The counts as they are printed and kept."""
        return {
            "kills": self.total,
            "by verb": dict(sorted(self.kills.items())),
            "by moment": dict(sorted(self.moments.items())),
            "ended before the kill": self.ended,
            "ways out compared": self.checked,
            "lost": len(self.lost),
            "unrecoverable": len(self.unrecoverable),
        }

    def add(self, other: Count) -> None:
        self.kills += other.kills
        self.moments += other.moments
        self.ended += other.ended
        self.checked += other.checked
        self.lost += other.lost
        self.unrecoverable += other.unrecoverable


class Walk:
    """One course at one place."""

    def __init__(self, place: Place, course: Course, seed: int) -> None:
        self.count = Count()
        self._place = place
        self._course = course
        self._random = random.Random(seed)
        self._seed = seed
        place.reset(course.corpus)
        self.first = users(place.files())
        began = time.monotonic()
        self._run(self._verb())
        self._whole = time.monotonic() - began
        self._working = self._whole / 10
        """How long a verb holds the lock; learned by killing."""
        self.last = users(place.files())
        assert self.last != self.first
        self._checkpoints = checkpoints(self.first)
        assert self._checkpoints.total() > 2

    def go(self, kills: int) -> Count:
        """Kill so many times, then leave by a way out."""
        run = 0
        self._fresh()
        while self.count.total < kills and not self.count.unrecoverable:
            if run > 12:
                self._fresh()
                run = 0
            verb = self._next()
            if self._killed(verb):
                run += 1
                if run % 3 == 0:
                    self._leave()
        self._leave()
        return self.count

    def _fresh(self) -> None:
        self._place.reset(self._course.corpus)
        self._files: Files = self._place.files()

    def _verb(self) -> tuple[str, ...]:
        words = tuple(word.replace("{}", self._place.url, 1) for word in self._course.verb[:2])
        return (*words, *self._course.verb[2:], "--yes", "--allow-live")

    def _out(self, way: str) -> tuple[str, ...]:
        more = ("--allow-live",) if way == "undo" else ()
        return (way, self._place.url, "--yes", *more)

    def _next(self) -> tuple[str, ...]:
        if pending(self._files):
            return self._out(self._random.choice(("resume", "undo")))
        return self._verb() if users(self._files) == self.first else self._out("undo")

    def _leave(self) -> None:
        """A way out that is not killed must lead to the first or the last state."""
        way = self._random.choice(("resume", "undo"))
        entry = pending(self._files)
        now = users(self._files)
        done = self._run(self._out(way))
        self._files = self._place.files()
        after = users(self._files)
        self.count.checked += 1
        if entry is None:
            expected = now if way == "resume" or now == self.first else self.first
        else:
            expected = self.last if self._leads_on(entry, way) else self.first
        if done.returncode != 0:
            self._wrong(f"{way} ended with {done.returncode}: {done.stderr.strip()}")
        elif open_still := pending(self._files):
            own = sorted(path for path in self._files if path.startswith(OWN))
            self._wrong(f"after {way} {open_still} is open, after {entry}: {own}")
        elif after != expected:
            odd = sorted(
                k for k in after.keys() | expected.keys() if after.get(k) != expected.get(k)
            )
            self._wrong(f"after {way} these are not as expected: {odd[:5]}")

    def _leads_on(self, entry: str, way: str) -> bool:
        """Whether a way out of a pending entry leads to the last state."""
        plan = json.loads(self._files[f"{OWN}journal/{entry}/plan.json"])["plan"]
        back = way == "undo" or f"{OWN}journal/{entry}/rollback.json" in self._files
        return back == (plan.get("undoes") is not None)

    def _wrong(self, what: str) -> None:
        where = f"{self._course.name} at {self._place.url}, seed {self._seed}"
        self.count.unrecoverable.append(f"{where}, after {self.count.total} kills: {what}")

    def _killed(self, verb: Sequence[str]) -> bool:
        """Begin a verb and end it at a random moment; False where it was faster."""
        left = self._place.locks()
        process = subprocess.Popen(
            command(verb),
            env={**os.environ, **self._place.environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        if self._random.random() < _BEFORE_THE_LOCK:
            time.sleep(self._random.uniform(0, self._whole))
        else:
            until = time.monotonic() + _PATIENCE
            while self._place.locks() == left and process.poll() is None:
                assert time.monotonic() < until
                time.sleep(0.0003)
            time.sleep(self._random.uniform(0, self._working))
        process.kill()
        _, told = process.communicate()
        before, self._files = self._files, self._place.files()
        if process.returncode != -9:
            assert process.returncode == 0, told
            self.count.ended += 1
            self._working *= 0.8
            return False
        when = moment(before, self._files)
        self._working *= 0.9 if when == AFTER else 1.07
        self.count.kills[verb[0]] += 1
        self.count.moments[when] += 1
        for gone in self._checkpoints - checkpoints(self._files):
            self.count.lost.append(f"{self._course.name}, seed {self._seed}: {gone}")
        return True

    def _run(self, verb: Sequence[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command(verb),
            check=False,
            env={**os.environ, **self._place.environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
        )


def command(verb: Sequence[str]) -> list[str]:
    """The installed command."""
    return [os.path.join(os.path.dirname(sys.executable), "ckptctl"), *verb]


def users(files: Files) -> Files:
    """What is not ckptctl's own."""
    return {path: data for path, data in files.items() if not path.startswith(OWN)}


def pending(files: Files) -> str | None:
    """The journal entry that is open."""
    names = {p.split("/")[2] for p in files if p.startswith(f"{OWN}journal/")}
    for name in sorted(names, reverse=True):
        entry = f"{OWN}journal/{name}/"
        if f"{entry}plan.json" in files and f"{entry}commit.json" not in files:
            return name
    return None


def moment(before: Files, after: Files) -> str:
    """How far a killed verb had come."""
    own = {p for p in after.keys() ^ before.keys() if p.startswith(OWN)}
    if users(before) != users(after):
        return "half-way" if pending(after) else AFTER
    if not own:
        return "before the lock"
    return "before the first step" if pending(after) else "before the journal"


Checkpoint = tuple[str, ...]
"""The digests of a checkpoint's payload, sorted."""


def checkpoints(files: Files) -> Counter[Checkpoint]:
    """Every checkpoint that has files, wherever it lies, by what is in it."""
    inside: dict[str, list[str]] = {}
    for path in files:
        parts = path.split("/")
        for depth, name in enumerate(parts[:-1], start=1):
            # ckptctl's own folders hold checkpoints too, under names of its own.
            if name.startswith("checkpoint_") or parts[:2] == [OWN[:-1], "tmp"]:
                inside.setdefault("/".join(parts[:depth]), []).append(path)
    return Counter(_payload(files, folder, paths) for folder, paths in inside.items())


def _payload(files: Files, folder: str, paths: Iterable[str]) -> Checkpoint:
    """What ckptctl may rewrite in a checkpoint is left out."""
    cut = len(folder) + 1
    return tuple(
        sorted(
            f"{path[cut:]} {hashlib.sha256(files[path]).hexdigest()}"
            for path in paths
            if not path.endswith(".tune_metadata")
        )
    )
