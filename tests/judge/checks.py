"""What must hold of Ray's answers before and after ckptctl wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

Answer = dict[str, Any]


def trials(read: Answer) -> dict[str, Answer]:
    return {trial["trial_id"]: trial for trial in read["trials"]}


def iterations(checkpoints: list[Answer]) -> list[int]:
    return [checkpoint["state"]["iteration"] for checkpoint in checkpoints]


def assert_sound(read: Answer) -> None:
    """Every checkpoint that Ray names is there, named once, and has the metrics of its save."""
    for trial in read["trials"]:
        paths = [checkpoint["path"] for checkpoint in trial["checkpoints"]]
        assert len(set(paths)) == len(paths)
        for checkpoint in trial["checkpoints"]:
            assert_own_metrics(checkpoint)
            said = checkpoint["metrics"].get("checkpoint_dir_name")
            assert said in (None, checkpoint["name"])
        if trial["latest"] is not None:
            assert trial["latest"]["exists"], trial["latest"]
    if read["best"] is not None:
        assert read["best"]["exists"], read["best"]


def assert_own_metrics(checkpoint: Answer) -> None:
    assert checkpoint["exists"], checkpoint
    metrics, step = checkpoint["metrics"], checkpoint["state"]["iteration"]
    assert metrics["training_iteration"] == metrics["step"] == step, checkpoint
    assert metrics["eval/acc"] == metrics["val/f1"] * 2, checkpoint
    assert abs(metrics["eval/acc"] - (1 - metrics["loss"] / 4)) < 2e-6, checkpoint


def assert_same_books(before: Answer, after: Answer) -> None:
    """Ray knows the same checkpoints, in the same order, with the same latest and best."""
    assert_sound(after)
    old, new = trials(before), trials(after)
    assert old.keys() == new.keys()
    for trial_id, trial in new.items():
        assert trial["status"] == old[trial_id]["status"]
        assert trial["iteration"] == old[trial_id]["iteration"]
        assert trial["latest"]["state"] == old[trial_id]["latest"]["state"]
        assert contents(trial["checkpoints"]) == contents(old[trial_id]["checkpoints"])
    for which in ("best", "best_by_metric"):
        assert after[which]["exists"]
        assert after[which]["state"] == before[which]["state"]


def contents(checkpoints: list[Answer]) -> list[tuple[Answer, Answer]]:
    """The checkpoints without their names."""
    return [
        (each["state"], {**each["metrics"], "checkpoint_dir_name": None}) for each in checkpoints
    ]


def assert_from_path(read: Answer, names: dict[str, list[str]]) -> None:
    """Ray's reader of trial folders finds every folder, in order, with its own metrics."""
    for dirname, found in read["from_path"].items():
        assert found["error"] is None, found["error"]
        assert [each["name"] for each in found["checkpoints"]] == names[dirname]
        for checkpoint in found["checkpoints"]:
            assert_own_metrics(checkpoint)
        order = iterations(found["checkpoints"])
        assert order == sorted(order)
        assert found["latest"]["state"] == found["checkpoints"][-1]["state"]


def assert_went_on(resumed: Answer, before: Answer, steps: int) -> None:
    """The restored run began at the latest checkpoints and spared everything that was there."""
    old, new = trials(before), trials(resumed["read"])
    assert resumed["errors"] == []
    # A Ray that cannot load the state starts anew, with new trials.
    assert new.keys() == old.keys()
    began = {each["trial_id"]: each for each in resumed["restored"]}
    assert began.keys() == old.keys()
    for trial_id, trial in old.items():
        assert began[trial_id]["path"] == trial["latest"]["path"]
        assert began[trial_id]["state"] == trial["latest"]["state"]
    assert resumed["overwritten"] == []
    for dirname, names in resumed["new"].items():
        assert names, f"{dirname} saved nothing"
        assert min(names) > max(resumed["before"][dirname])
    for trial in new.values():
        assert trial["status"] == "TERMINATED"
        assert trial["latest"]["state"]["iteration"] == steps
        assert resumed["rows"][trial["dirname"]][-1] == steps
        found = resumed["read"]["from_path"][trial["dirname"]]
        assert found["error"] is None, found["error"]
        assert found["latest"]["state"] == trial["latest"]["state"]
    assert_sound(resumed["read"])


def kept(resumed: Answer) -> dict[str, list[int]]:
    """The iterations that are on disk after a run, by trial folder."""
    return {
        dirname: sorted(each["state"]["iteration"] for each in folders.values())
        for dirname, folders in resumed["after"].items()
    }


def under(read: Answer, experiment: Path) -> bool:
    """Whether everything that Ray names lies in this experiment."""
    named = [trial["latest"] for trial in read["trials"] if trial["latest"]]
    named += [each for trial in read["trials"] for each in trial["checkpoints"]]
    return all(Path(each["path"]).is_relative_to(experiment) for each in named)
