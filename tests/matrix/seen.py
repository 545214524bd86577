"""What must hold of Ray's answers, whatever the version."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.judge.checks import assert_own_metrics, assert_sound, contents, trials, under
from tests.judge.experiments import trial_folders
from tests.judge.judge import Option
from tests.matrix.told import must

Answer = dict[str, Any]
NUMBERED = re.compile(r"checkpoint_\d+")


def same_books(before: Answer, after: Answer) -> None:
    """Ray knows the same checkpoints by other names, and the same latest and best."""
    assert_sound(after)
    old, new = trials(before), trials(after)
    must(old.keys() == new.keys(), f"Ray knew the trials {sorted(old)}, now {sorted(new)}")
    for trial_id, trial in new.items():
        was = old[trial_id]
        for key in ("status", "iteration"):
            must(trial[key] == was[key], f"{trial_id}: {key} was {was[key]}, is {trial[key]}")
        must(
            latest_state(trial) == latest_state(was),
            f"{trial_id}: the latest was {was['latest']}, is {trial['latest']}",
        )
        must(
            contents(trial["checkpoints"]) == contents(was["checkpoints"]),
            f"{trial_id}: Ray lists other checkpoints than before",
        )
    for which in ("best", "best_by_metric"):
        if before.get(which) is not None:
            must(
                after.get(which) and after[which]["state"] == before[which]["state"],
                f"{which} was {before[which]}, is {after.get(which)}",
            )


def latest_state(trial: Answer) -> Answer | None:
    state: Answer | None = trial["latest"] and trial["latest"]["state"]
    return state


def from_path_agrees(read: Answer, experiment: Path) -> None:
    """`Result.from_path` finds every folder, with the metrics of its own save."""
    for folder in trial_folders(experiment):
        found = read["from_path"][folder.name]
        must(found["error"] is None, f"Result.from_path fails: {found['error']}")
        names = sorted(each.name for each in checkpoints(folder))
        listed = sorted(each["name"] for each in found["checkpoints"])
        must(listed == names, f"Result.from_path lists {listed}, and {names} are there")
        (trial,) = (trial for trial in read["trials"] if trial["dirname"] == folder.name)
        recorded = {each["name"] for each in trial["checkpoints"]}
        for each in found["checkpoints"]:
            if each["name"] in recorded:
                assert_own_metrics(each)
        steps = [each["state"]["iteration"] for each in found["checkpoints"]]
        must(
            not steps or found["latest"]["state"]["iteration"] == max(steps),
            f"Result.from_path takes {found['latest']} for the latest",
        )


def checkpoints(folder: Path) -> list[Path]:
    return sorted(p for p in folder.iterdir() if p.is_dir() and NUMBERED.match(p.name))


def iteration_in(folder: Path) -> int:
    state = folder / "state.json"
    return int(json.loads(state.read_text())["iteration"]) if state.is_file() else -1


def went_on(
    resumed: Answer,
    before: Answer,
    experiment: Path,
    options: Mapping[str, Option],
    *,
    evicts: bool,
) -> str:
    """The restored run began at the latest checkpoints, and spared everything that was there."""
    must(not resumed["errors"], f"the restored run failed: {resumed['errors']}")
    read = resumed["read"]
    must(read is not None, f"Ray cannot read it afterwards: {resumed['read_error']}")
    old, new = trials(before), trials(read)
    must(new.keys() == old.keys(), f"Ray began anew: {sorted(new)} are not {sorted(old)}")
    going = {k: trial for k, trial in old.items() if trial["status"] != "TERMINATED"}
    began = {each["trial_id"]: each["state"] for each in resumed["restored"]}
    wanted = {trial_id: latest_state(trial) for trial_id, trial in going.items()}
    must(began == wanted, f"it began at {began}, and the latest were {wanted}")
    must(not resumed["overwritten"], f"overwritten: {resumed['overwritten']}")
    if not evicts:
        must(not any(resumed["gone"].values()), f"removed: {resumed['gone']}")
    for trial_id, trial in going.items():
        _trial_went_on(resumed, trial, new[trial_id], options)
    assert_sound(read)
    must(under(read, experiment), "Ray names checkpoints outside of the experiment")
    first = sorted({state["iteration"] for state in began.values()})
    last = sorted({new[trial_id]["latest"]["state"]["iteration"] for trial_id in going})
    return f"{spelled(first)} → {spelled(last)}"


def _trial_went_on(
    resumed: Answer, was: Answer, trial: Answer, options: Mapping[str, Option]
) -> None:
    name = trial["dirname"]
    there = [each for each in resumed["before"][name] if NUMBERED.match(each)]
    saved = [each for each in resumed["new"][name] if NUMBERED.match(each)]
    must(saved, f"{name} saved nothing")
    must(
        min(saved) > max(there, default=""),
        f"{name}: {min(saved)} sorts before {max(there, default='')}",
    )
    stagger = int(options.get("stagger") or 0) * int(was["latest"]["state"]["seed"])
    steps = int(options["steps"] or 0) - stagger
    must(trial["status"] == "TERMINATED", f"{name} ended as {trial['status']}")
    reached = trial["latest"]["state"]["iteration"]
    must(reached == steps, f"{name} reached {reached}, not {steps}")
    found = resumed["read"]["from_path"][name]
    must(found["error"] is None, f"Result.from_path fails afterwards: {found['error']}")
    must(
        found["latest"]["state"] == latest_state(trial),
        f"Result.from_path takes {found['latest']} for the latest of {name}, Ray {trial['latest']}",
    )


def spelled(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers))
