"""The scenario of Ray Train V2: one run without trials, whose books are one JSON file."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.judge.experiments import tree
from tests.judge.v2 import TrainJudge
from tests.matrix.command import call, codes, findings, write
from tests.matrix.course import said
from tests.matrix.told import Broken, Told, must, told

TEMPLATE = "checkpoint_{step:06d}-{loss:.4f}"
SNAPSHOT = "checkpoint_manager_snapshot.json"
LIVE = "--allow-live"

Answer = dict[str, Any]


def run(judge: TrainJudge, root: Path) -> list[Told]:
    """Every phase."""
    course = Course(judge, root)
    made = told("made", course.made)
    if made.state != "ok":
        return [made]
    phases: tuple[tuple[str, Callable[[], str]], ...] = (
        ("scanned", course.scanned),
        ("renamed", course.renamed),
        ("older state", course.older_state),
        ("folders and index", course.folders),
    )
    return [made, *(told(name, phase) for name, phase in phases), course.undone()]


class Course:
    """The run under way."""

    def __init__(self, judge: TrainJudge, root: Path) -> None:
        self.judge = judge
        self.place = root / "run"
        self.kept = root / "as-made"
        self.renamed_snapshot: bytes | None = None
        self.taken_back: list[bool] = []
        self.reader = ""

    def made(self) -> str:
        """Make a run that fails after four saves."""
        went = self.judge.fit(self.place, steps=6, fail_at=4)
        must("told to fail" in str(went["error"]), f"it ended with {went['error']}")
        shutil.copytree(self.place, self.kept)
        error = self.judge.look(self.place)["error"]
        if error:
            self.reader = f"; this Ray's `Result.from_path`: {error.splitlines()[0]}"
        return f"{len(on_disk(self.place))} checkpoints{self.reader}"

    def scanned(self) -> str:
        """A scan finds no error."""
        found = findings(self._fresh())
        must(not codes(found, "error"), f"a scan finds {said(found)}")
        return said(found)

    def renamed(self) -> str:
        """Rename; Ray finds the same, and goes on behind it."""
        run = self._fresh()
        before, books = on_disk(run), latest(run)
        self._write("rename", run, "--to", TEMPLATE)
        must(latest(run) == books, f"the latest was {books}, is {latest(run)}")
        must(states(on_disk(run)) == states(before), "the folders hold something else")
        for name, state in on_disk(run).items():
            must(name.startswith(f"checkpoint_{state['iteration']:06d}-"), f"{name} holds {state}")
        self._read_agrees(run)
        self.renamed_snapshot = (run / SNAPSHOT).read_bytes()
        way = self._goes_on(run, steps=6)
        return f"{len(before)} folders; went on {way}"

    def older_state(self) -> str:
        """What went on after the rename, with the snapshot from before it went on."""
        if self.renamed_snapshot is None:
            raise Broken("not run, since the rename failed")
        run = self.place
        (run / SNAPSHOT).write_bytes(self.renamed_snapshot)
        found = findings(run)
        must(codes(found, "error", "warning"), "a scan finds nothing")
        self._write("reindex", run, "--unsafe")
        call("scan", run)
        got = latest(run)["iteration"]
        must(got == 6, f"the latest is of iteration {got}, and 6 is there")
        self._read_agrees(run)
        way = self._goes_on(run, steps=8)
        return f"{said(found)}; mended with `--unsafe`; went on {way}"

    def folders(self) -> str:
        """The latest and the oldest folder removed."""
        run = self._fresh()
        by_age = sorted(on_disk(run), key=lambda name: on_disk(run)[name]["iteration"])
        for name in (by_age[0], by_age[-1]):
            shutil.rmtree(run / name)
        found = findings(run)
        must(codes(found, "error"), "a scan finds no error")
        self._write("reindex", run)
        call("scan", run)
        got = latest(run)["iteration"]
        must(got == 3, f"the latest is of iteration {got}, and 3 is the newest there")
        self._read_agrees(run)
        way = self._goes_on(run, steps=6)
        return f"{said(found)}; mended; went on {way}"

    # --- helpers

    def _goes_on(self, run: Path, steps: int) -> str:
        before, begins = on_disk(run), latest(run)
        went = self.judge.fit(run, steps=steps)
        if went["error"]:
            raise Broken(f"the run failed: {went['error']}")
        began = [each["state"] for each in went["restored"]]
        must(began == [begins], f"it began at {began}, and the latest was {begins}")
        after = on_disk(run)
        changed = [name for name, state in before.items() if after.get(name) != state]
        must(not changed, f"overwritten or removed: {changed}")
        new = sorted(set(after) - set(before))
        must(new and new[0] > max(before), f"the new names are {new}, there was {max(before)}")
        reached = latest(run)["iteration"]
        must(reached == steps, f"it reached {reached}, not {steps}")
        self._read_agrees(run)
        return f"{begins['iteration']} → {reached}"

    def _read_agrees(self, run: Path) -> None:
        read = self.judge.look(run)
        if self.reader:
            return
        must(read["error"] is None, f"Result.from_path fails: {read['error']}")
        must(
            read["latest"]["state"] == latest(run),
            f"Result.from_path takes {read['latest']} for the latest",
        )
        for each in read["checkpoints"]:
            must(each["exists"], f"Ray names {each['name']}, which is not there")
            step = each["metrics"].get("step") if each["metrics"] else None
            must(step in (None, each["state"]["iteration"]), f"{each['name']} has other metrics")

    def _fresh(self) -> Path:
        shutil.rmtree(self.place, ignore_errors=True)
        shutil.copytree(self.kept, self.place)
        return self.place

    def _write(self, verb: str, run: Path, *options: str) -> None:
        before = unmoved(run)
        write(verb, run, *options, LIVE)
        must(unmoved(run) != before, f"{verb} changed nothing")
        call("undo", run, "--yes", LIVE)
        same = unmoved(run) == before
        self.taken_back.append(same)
        must(same, f"undo of {verb} did not give every byte back")
        write(verb, run, *options, LIVE)

    def undone(self) -> Told:
        """What became of the writes that were taken back."""
        count = len(self.taken_back)
        if not self.taken_back or not all(self.taken_back):
            return Told("undone", "failed", f"{sum(self.taken_back)} of {count} taken back")
        return Told("undone", "ok", f"{count} of {count}")


def unmoved(run: Path) -> dict[str, tuple[object, ...]]:
    """Names, modes and contents; the snapshot's time is not that of a checkpoint."""
    return {name: found[:2] for name, found in tree(run).items()}


def on_disk(run: Path) -> dict[str, Answer]:
    """What every folder holds, by its name."""
    return {
        path.parent.relative_to(run).as_posix(): json.loads(path.read_text())
        for path in sorted(run.rglob("state.json"))
        if ".ckptctl" not in path.parts
    }


def states(found: dict[str, Answer]) -> list[Answer]:
    return sorted(found.values(), key=lambda state: int(state["iteration"]))


def latest(run: Path) -> Answer:
    """What the checkpoint holds that the snapshot calls the latest."""
    document = json.loads((run / SNAPSHOT).read_text())
    name = document["latest_checkpoint_result"]["checkpoint_dir_name"]
    found = on_disk(run).get(name)
    if found is None:
        raise Broken(f"the snapshot names {name}, which is not there")
    return found
