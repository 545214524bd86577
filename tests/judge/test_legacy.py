"""What ckptctl writes for Ray 2.6, judged by the real Ray 2.6.3.

It reads a checkpoint into memory before it restores it, so that the path a trainable sees on a
restore says nothing; the nonce in the checkpoint's state does.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.judge.checks import Answer, assert_sound, contents, iterations, trials
from tests.judge.experiments import Experiments, ckptctl, state_file, tree
from tests.judge.judge import Judge, MissingRay

VERSION = "2.6.3"
both = pytest.mark.parametrize("scenario", ["function", "class"])
# The next folder of a function has the number of the iteration that it goes on from.
TEMPLATES = {
    "function": "checkpoint_{index:06d}-{loss:.4f}",
    "class": "checkpoint_{training_iteration:06d}-{loss:.4f}",
}


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    try:
        judge = Judge(VERSION)
    except MissingRay as error:
        if os.environ.get("CKPTCTL_JUDGE") == "skip-missing":
            pytest.skip(str(error))
        pytest.fail(str(error), pytrace=False)
    with judge:
        yield judge


@pytest.fixture(scope="module")
def experiments(judge: Judge, tmp_path_factory: pytest.TempPathFactory) -> Experiments:
    return Experiments(judge, tmp_path_factory.mktemp("ray-2.6.3-"))


def write(verb: str, experiment: Path, *options: str) -> None:
    done = json.loads(ckptctl(verb, experiment, *options, "--yes", "--json"))
    (plan,) = done["plans"]
    assert plan["refusals"] == []
    assert plan["outcome"]["applied"]
    assert plan["outcome"]["verified"]


def first_trial(experiment: Path) -> Path:
    return min(path.parent for path in experiment.glob("*_00000_*/params.json"))


def folders(trial: Path) -> list[Path]:
    return sorted(path for path in trial.glob("checkpoint_*") if path.is_dir())


def assert_from_path_agrees(read: Answer) -> None:
    """Ray's reader of trial folders takes the same latest, with the metrics of its own save."""
    for trial in read["trials"]:
        found = read["from_path"][trial["dirname"]]
        assert found["error"] is None, found["error"]
        assert found["latest"]["state"] == trial["latest"]["state"]
        for checkpoint in found["checkpoints"]:
            metrics = checkpoint["metrics"]
            assert metrics["training_iteration"] == checkpoint["state"]["iteration"]


def assert_goes_on(resumed: Answer, before: Answer, steps: int) -> None:
    """The restored run began at the latest checkpoints, and spared everything that was there."""
    assert resumed["errors"] == []
    old, new = trials(before), trials(resumed["read"])
    assert new.keys() == old.keys()
    began = {each["trial_id"]: each["state"] for each in resumed["restored"]}
    assert began == {trial_id: trial["latest"]["state"] for trial_id, trial in old.items()}
    assert resumed["overwritten"] == []
    for trial in new.values():
        assert trial["status"] == "TERMINATED"
        assert trial["latest"]["state"]["iteration"] == steps
        assert resumed["new"][trial["dirname"]]
    assert_sound(resumed["read"])
    assert_from_path_agrees(resumed["read"])


@both
def test_a_removed_latest_folder(judge: Judge, experiments: Experiments, scenario: str) -> None:
    experiment = experiments.get(scenario, fail_at=4, keep=3)
    trial = first_trial(experiment)
    shutil.rmtree(folders(trial)[-1])
    damaged = tree(experiment)
    write("reindex", experiment)

    after = judge.read(experiment)
    assert_sound(after)
    assert_from_path_agrees(after)
    mended = next(t for t in after["trials"] if t["dirname"] == trial.name)
    left = json.loads((folders(trial)[-1] / "state.json").read_text())
    assert mended["latest"]["state"] == left

    ckptctl("undo", experiment, "--yes")
    assert tree(experiment) == damaged
    write("reindex", experiment)
    assert_goes_on(judge.resume(experiment, steps=6), after, 6)


@both
def test_a_removed_older_folder(judge: Judge, experiments: Experiments, scenario: str) -> None:
    experiment = experiments.get(scenario, fail_at=4)
    trial = first_trial(experiment)
    shutil.rmtree(folders(trial)[1])
    write("reindex", experiment)

    after = judge.read(experiment)
    assert_sound(after)
    mended = next(t for t in after["trials"] if t["dirname"] == trial.name)
    assert iterations(mended["checkpoints"]) == [1, 3, 4]
    assert_goes_on(judge.resume(experiment, steps=6), after, 6)


@both
@pytest.mark.parametrize("keep", [None, 3])
def test_folders_that_the_state_does_not_know(
    judge: Judge, experiments: Experiments, scenario: str, keep: int | None
) -> None:
    """As if the driver had died between two snapshots of the state."""

    def build(storage: Path) -> Path:
        experiment = judge.make(scenario, storage, "exp", fail_at=2, keep=keep)
        old = state_file(experiment).read_bytes()
        judge.resume(experiment, fail_at=4, steps=6)
        for path in experiment.glob("experiment_state-*.json"):
            path.write_bytes(old)
        return experiment

    experiment = experiments.built(f"behind-{scenario}-{keep}", build)
    there = {trial.name: len(folders(trial)) for trial in experiment.glob("*_0000?_*")}
    write("reindex", experiment)

    after = judge.read(experiment)
    assert_sound(after)
    assert_from_path_agrees(after)
    for trial in after["trials"]:
        assert trial["latest"]["state"]["iteration"] == 4
        assert len(trial["checkpoints"]) == there[trial["dirname"]]
        assert after["best"]["exists"]
    told = json.loads(ckptctl("scan", experiment, "--json"))
    assert told["summary"]["errors"] == 0
    assert_goes_on(judge.resume(experiment, steps=6), after, 6)


@both
@pytest.mark.parametrize("keep", [None, 2])
def test_a_rename(judge: Judge, experiments: Experiments, scenario: str, keep: int | None) -> None:
    experiment = experiments.get(scenario, fail_at=4, keep=keep)
    as_made = tree(experiment)
    before = judge.read(experiment)
    write("rename", experiment, "--to", TEMPLATES[scenario])

    after = judge.read(experiment)
    assert_sound(after)
    assert_from_path_agrees(after)
    old, new = trials(before), trials(after)
    for trial_id, trial in new.items():
        assert trial["latest"]["state"] == old[trial_id]["latest"]["state"]
        assert contents(trial["checkpoints"]) == contents(old[trial_id]["checkpoints"])
        for each in trial["checkpoints"]:
            number = each["state"]["iteration"] - (scenario == "function")
            assert each["name"] == f"checkpoint_{number:06d}-{each['metrics']['loss']:.4f}"
    assert after["best"]["state"] == before["best"]["state"]

    ckptctl("undo", experiment, "--yes")
    assert tree(experiment) == as_made
    write("rename", experiment, "--to", TEMPLATES[scenario])
    assert_goes_on(judge.resume(experiment, steps=6), after, 6)


@both
def test_renumbering(judge: Judge, experiments: Experiments, scenario: str) -> None:
    experiment = experiments.get(scenario, fail_at=4)
    for trial in experiment.glob("*_0000?_*"):
        assert len(folders(trial)) == 4
    write("rename", experiment, "--to", "checkpoint_{index:06d}-{loss:.2f}")
    write("reindex", experiment, "--by", "ray-2.6")
    first = 0 if scenario == "function" else 1
    names = [f"checkpoint_{number + first:06d}" for number in range(4)]
    assert all([f.name for f in folders(t)] == names for t in experiment.glob("*_0000?_*"))
    after = judge.read(experiment)
    assert_sound(after)
    assert_goes_on(judge.resume(experiment, steps=6), after, 6)


@both
def test_a_trial_that_can_go_on_is_not_numbered_past_its_iterations(
    experiments: Experiments, scenario: str
) -> None:
    """The next folder is numbered by the iteration, and must not lie in a checkpoint."""
    experiment = experiments.get(scenario, fail_at=4)
    options = ("--to", "checkpoint_{step:03d}7", "--yes")
    ckptctl("rename", experiment, *options, expect=14)
