"""Which Rays are asked, what each makes, and what a pair of them is put through."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.judge.judge import Judge, JudgeError, Option, rays_folder
from tests.judge.v2 import TrainJudge
from tests.matrix.command import call, write
from tests.matrix.told import must

RAYS = ("2.7.2", "2.9.3", "2.24.0", "2.40.0", "2.48.0", "2.54.1", "2.60.0")
TRAIN_V2_RAYS = ("2.46.0", "2.48.0", "2.54.1", "2.60.0")
TRAIN_V2 = "train-v2"
SCENARIOS: dict[str, dict[str, Option]] = {
    "function": {"fail_at": 3},
    "class": {"fail_at": 3},
    "pbt": {},
}
NAMES = (*SCENARIOS, TRAIN_V2)
STEPS = 6

GOES_ON, OVERWRITES, STARTS_OVER, RAISES = "goes on", "overwrites", "starts over", "raises"
MESSAGES = {
    "a restore would start the experiment from scratch": STARTS_OVER,
    "a restore would raise": RAISES,
    "it would save over the latest folder": OVERWRITES,
}
"""How CKP207 says what a Ray would do."""
WORST = (RAISES, STARTS_OVER, OVERWRITES)


def pairs() -> list[tuple[str, str, str]]:
    """Every scenario, source and target, target by target."""
    found = [(n, s, t) for t in RAYS for n in SCENARIOS for s in RAYS]
    return found + [(TRAIN_V2, s, t) for t in TRAIN_V2_RAYS for s in TRAIN_V2_RAYS]


@dataclass
class Seen:
    """What one Ray did with what another one wrote."""

    scenario: str
    source: str
    target: str
    told: str
    """What `scan --for-ray` told beforehand."""
    real: str
    """What the Ray then did."""
    edits: int
    """How many records `migrate` changed."""
    migrated: str
    """What the Ray did after it, or why `migrate` was refused."""
    digest: str = ""
    trouble: list[str] = field(default_factory=list)
    """What should have been otherwise."""


@dataclass(frozen=True)
class Asked:
    """The Ray that goes on, and the experiments that others made."""

    judge: Judge
    folder: Path

    def made(self, scenario: str, source: str) -> Path:
        """A fresh copy at the place where it was made, which Ray 2.7 holds on to."""
        storage = self.folder / source / scenario
        experiment = storage / "exp"
        shutil.rmtree(experiment, ignore_errors=True)
        shutil.copytree(storage / "as-made", experiment, symlinks=True)
        return experiment


def make(folder: Path, source: str, scenarios: Iterable[str]) -> None:
    """Make experiments that fail half-way, each once; the Ray is shut down again."""
    missing = [s for s in scenarios if not (folder / source / s / "as-made").is_dir()]
    for scenario in missing:
        shutil.rmtree(folder / source / scenario, ignore_errors=True)
        (folder / source / scenario).mkdir(parents=True)
    if TRAIN_V2 in missing:
        with TrainJudge(source) as train:
            train.fit(folder / source / TRAIN_V2 / "exp", steps=STEPS, fail_at=3)
    if missing and missing != [TRAIN_V2]:
        with Judge(source) as judge:
            for scenario in missing:
                if scenario != TRAIN_V2:
                    storage = folder / source / scenario
                    judge.make(scenario, storage, "exp", **SCENARIOS[scenario])
    for scenario in missing:
        storage = folder / source / scenario
        (storage / "exp").rename(storage / "as-made")


def made_folder() -> Path:
    return rays_folder() / "upgrades" / "made"


def run(asked: Asked, scenario: str, source: str) -> Seen:
    """Tell, look, carry over, look again, and take it back."""
    target = asked.judge.version
    experiment = asked.made(scenario, source)
    told = verdict(experiment, target)
    real, _ = go_on(asked.judge, experiment, scenario)
    seen = Seen(scenario, source, target, told=told, real=real, edits=0, migrated=real)
    if told != real:
        seen.trouble.append(f"scan told that it {told}, and it {real}")
    experiment = asked.made(scenario, source)
    before = contents(experiment)
    (plan,) = call("migrate", experiment, "--to-ray", target, "-n", expect=None)["plans"]
    seen.edits = sum(len(step["edits"]) for step in plan["steps"])
    if plan["refusals"]:
        seen.migrated = f"refused: {plan['refusals'][0]['message']}"
    elif plan["steps"]:
        write("migrate", experiment, "--to-ray", target)
        left = verdict(experiment, target)
        if left != GOES_ON:
            seen.trouble.append(f"after migrate, scan tells that it {left}")
        write("undo", experiment)
        if contents(experiment) != before:
            seen.trouble.append("undo did not give every byte back")
        write("migrate", experiment, "--to-ray", target)
        seen.migrated, why = go_on(asked.judge, experiment, scenario)
        if seen.migrated != GOES_ON:
            seen.trouble.append(f"after migrate, it {seen.migrated}: {why}")
    shutil.rmtree(experiment)
    return seen


def contents(experiment: Path) -> dict[str, bytes]:
    """The bytes of every file but ckptctl's own."""
    return {
        path.relative_to(experiment).as_posix(): path.read_bytes()
        for path in sorted(experiment.rglob("*"))
        if path.is_file() and ".ckptctl" not in path.parts
    }


def verdict(experiment: Path, target: str) -> str:
    """What `scan --for-ray` tells."""
    options = ("--for-ray", target, "--select", "CKP207", "--fail-on", "never")
    found = call("scan", experiment, *options)["findings"]
    told = {said for each in found for words, said in MESSAGES.items() if words in each["message"]}
    return next((said for said in WORST if said in told), GOES_ON)


def go_on(judge: Judge, experiment: Path, scenario: str) -> tuple[str, str]:
    """What the Ray does with it, and the reason where it does not go on to the end."""
    if scenario == TRAIN_V2:
        return _train_on(judge, experiment)
    known = {folder.name for folder in experiment.glob("*/") if (folder / "params.json").exists()}
    try:
        answer = judge.resume(experiment, steps=STEPS)
    except JudgeError as error:
        return RAISES, str(error)[-300:]
    if not answer["restored"]:
        return STARTS_OVER, "nothing was restored"
    if answer["overwritten"]:
        return OVERWRITES, f"{answer['overwritten']}"
    return GOES_ON, _checked(answer, known)


def _checked(answer: dict[str, Any], known: set[str]) -> str:
    """Every trial went on from its latest checkpoint to the end, in its own folder."""
    must(not answer["errors"], f"a trial failed: {answer['errors']}")
    must(set(answer["rows"]) == known, "there are other trials than before")
    must(len(answer["restored"]) == len(known), f"restored: {answer['restored']}")
    for trial, folders in answer["before"].items():
        last = max(f["state"]["iteration"] for f in answer["after"][trial].values())
        must(last == STEPS, f"{trial} ended with a checkpoint of step {last}")
        must(not answer["gone"][trial], f"gone from {trial}: {answer['gone'][trial]}")
        mine = [r for r in answer["restored"] if r["trial_id"] in trial]
        latest = max(f["state"]["iteration"] for f in folders.values())
        foreign = mine[0]["state"]["trial_id"] not in trial
        must(
            foreign or mine[0]["state"]["iteration"] == latest,
            f"{trial} went on from {mine[0]['state']['iteration']}, not from {latest}",
        )
    return ""


def _train_on(judge: Judge, run_: Path) -> tuple[str, str]:
    assert isinstance(judge, TrainJudge)
    answer = judge.fit(run_, steps=STEPS)
    if answer["error"]:
        return RAISES, answer["error"][-300:]
    if not answer["restored"]:
        return STARTS_OVER, "nothing was restored"
    from_, saved = answer["restored"][0]["state"]["iteration"], answer["read"]["on_disk"].values()
    must(from_ == STEPS // 2, f"it went on from {from_}")
    must(max(state["iteration"] for state in saved) == STEPS, "it did not end")
    return GOES_ON, ""
