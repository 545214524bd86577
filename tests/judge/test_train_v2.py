"""What ckptctl writes for Train V2, judged by the real Ray."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ckptctl.api import apply, plan_reindex, scan
from tests.judge.asked import the_real
from tests.judge.experiments import ckptctl, tree
from tests.judge.v2 import TrainJudge

Answer = dict[str, Any]
SNAPSHOT = "checkpoint_manager_snapshot.json"


class Runs:
    """Train V2 runs of one Ray, each made once."""

    def __init__(self, judge: TrainJudge, storage: Path) -> None:
        self.judge = judge
        self._storage = storage
        self._made: dict[str, Path] = {}

    def get(self, keep: int | None = None, *, named: bool = False) -> Path:
        """A fresh copy of a run of four saves that failed, at the place where it was made."""
        key = f"keep-{keep}-named-{named}"
        run = self._storage / key / "run"
        if key not in self._made:
            run.parent.mkdir()
            self.judge.fit(run, 6, fail_at=4, keep=keep, named=named)
            self._made[key] = run.rename(run.with_name("as-made"))
        shutil.rmtree(run, ignore_errors=True)
        shutil.copytree(self._made[key], run)
        return run


@pytest.fixture(scope="module", params=["2.54.1", "2.60.0"])
def runs(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Runs]:
    with the_real(TrainJudge, request.param) as judge:
        yield Runs(judge, tmp_path_factory.mktemp(f"ray-{judge.version}-"))


def write(verb: str, run: Path, *options: str) -> None:
    told = ckptctl(verb, run, *options, "--yes", "--json", "--allow-live")
    (plan,) = json.loads(told)["plans"]
    assert plan["refusals"] == []
    assert plan["outcome"]["applied"]
    assert plan["outcome"]["verified"]


def unmoved(run: Path) -> dict[str, tuple[object, ...]]:
    """Names, modes and contents; the snapshot's time is not that of a checkpoint."""
    return {name: found[:2] for name, found in tree(run).items()}


def assert_goes_on(
    runs: Runs, run: Path, *, keep: int | None = None, named: bool = False, steps: int = 6
) -> Answer:
    """It loads, begins at the latest, saves behind it, and spares what was there."""
    before = runs.judge.look(run)
    assert before["error"] is None, before["error"]
    went = runs.judge.fit(run, steps, keep=keep, named=named)
    assert went["error"] is None, went["error"]
    assert [r["state"] for r in went["restored"]] == [before["latest"]["state"]]
    after = went["read"]
    assert after["latest"]["state"]["iteration"] == steps
    for checkpoint in after["checkpoints"]:
        assert checkpoint["exists"]
        if checkpoint["metrics"]:
            assert checkpoint["metrics"]["step"] == checkpoint["state"]["iteration"]
    kept = after["on_disk"]
    if keep is None and not named:
        assert all(kept[name] == state for name, state in before["on_disk"].items())
    return went


def remove_latest(run: Path) -> None:
    document = json.loads((run / SNAPSHOT).read_text())
    shutil.rmtree(run / document["latest_checkpoint_result"]["checkpoint_dir_name"])


def remove_oldest(run: Path) -> None:
    shutil.rmtree(min(run.glob("checkpoint_*/")))


def unlist_latest(run: Path) -> None:
    """As a crash between the upload and the snapshot leaves it."""
    document = json.loads((run / SNAPSHOT).read_text())
    document["checkpoint_results"].pop()
    document["checkpoint_report_indices"].pop()
    document["latest_checkpoint_result"] = document["checkpoint_results"][-1]
    document["current_report_index"] -= 1
    (run / SNAPSHOT).write_text(json.dumps(document))


def tear(run: Path) -> None:
    data = (run / SNAPSHOT).read_bytes()
    (run / SNAPSHOT).write_bytes(data[: len(data) // 2])


def empty(run: Path) -> None:
    (run / SNAPSHOT).write_bytes(b"")


@pytest.mark.parametrize(
    ("damage", "options", "latest"),
    [
        (remove_latest, (), 3),
        (remove_oldest, (), 4),
        (unlist_latest, ("--unsafe",), 4),
        (tear, ("--unsafe",), 4),
        (empty, ("--unsafe",), 4),
    ],
)
def test_a_mended_run_goes_on(
    runs: Runs, damage: Callable[[Path], None], options: tuple[str, ...], latest: int
) -> None:
    run = runs.get()
    damage(run)
    damaged = unmoved(run)
    write("reindex", run, *options)
    ckptctl("undo", run, "--yes", "--allow-live")
    assert unmoved(run) == damaged
    write("reindex", run, *options)
    read = runs.judge.look(run)
    assert read["error"] is None, read["error"]
    assert read["latest"]["state"]["iteration"] == latest
    assert {c["name"] for c in read["checkpoints"]} == set(read["on_disk"])
    assert_goes_on(runs, run)


@pytest.mark.parametrize(("keep", "named"), [(None, False), (2, False), (None, True)])
def test_a_renamed_run_goes_on(runs: Runs, keep: int | None, named: bool) -> None:
    run = runs.get(keep, named=named)
    before = runs.judge.look(run)
    write("rename", run, "--to", "checkpoint_{step:06d}-{loss:.4f}")
    after = runs.judge.look(run)
    assert after["latest"]["state"] == before["latest"]["state"]
    for old, new in zip(before["checkpoints"], after["checkpoints"], strict=True):
        assert new["state"] == old["state"]
        step, loss = new["metrics"]["step"], new["metrics"]["loss"]
        assert new["name"] == f"checkpoint_{step:06d}-{loss:.4f}"
    assert_goes_on(runs, run, keep=keep, named=named)


def test_an_empty_folder_moves_aside(runs: Runs) -> None:
    run = runs.get()
    document = json.loads((run / SNAPSHOT).read_text())
    latest = run / document["latest_checkpoint_result"]["checkpoint_dir_name"]
    for path in latest.iterdir():
        path.unlink()
    (experiment,) = scan(str(run))
    assert apply(plan_reindex(experiment, quarantine=True), allow_live=True).verified
    read = runs.judge.look(run)
    assert read["latest"]["state"]["iteration"] == 3
    assert_goes_on(runs, run)
