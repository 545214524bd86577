"""`ckptctl rename`, judged by the Ray that reads, restores and goes on afterwards."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.judge.checks import (
    assert_from_path,
    assert_same_books,
    assert_went_on,
    kept,
    under,
)
from tests.judge.experiments import Experiments, checkpoint_names, ckptctl, tree
from tests.judge.judge import Judge, Option

TEMPLATE = "checkpoint_{training_iteration:06d}-{loss:.4f}"
SHORT_TEMPLATE = "checkpoint_{training_iteration}-{loss:.2f}"

SCENARIOS = {
    "function": ("function", {"fail_at": 4}),
    "function-keep": ("function", {"fail_at": 5, "keep": 2}),
    "function-every": ("function_every", {"fail_at": 5}),
    "class": ("class", {"fail_at": 4}),
    "class-every": ("class", {"fail_at": 5, "frequency": 2}),
    "class-keep": ("class", {"fail_at": 5, "keep": 2}),
    "pbt": ("pbt", {}),
    "pbt-class": ("pbt_class", {}),
}

every_scenario = pytest.mark.parametrize("case", SCENARIOS)

STEPS = 8


def get(experiments: Experiments, case: str) -> Path:
    scenario, options = SCENARIOS[case]
    return experiments.get(scenario, **options)


def rename(experiment: Path, template: str = TEMPLATE, *options: str) -> None:
    done = json.loads(ckptctl("rename", experiment, "--to", template, "--yes", "--json", *options))
    (plan,) = done["plans"]
    assert plan["refusals"] == []
    assert plan["outcome"]["applied"]
    assert plan["outcome"]["verified"]


@every_scenario
def test_ray_finds_the_same_checkpoints_and_goes_on(
    judge: Judge, experiments: Experiments, case: str
) -> None:
    experiment = get(experiments, case)
    before = judge.read(experiment)
    rename(experiment)

    after = judge.read(experiment)
    assert_same_books(before, after)
    for trial in after["trials"]:
        for each in trial["checkpoints"]:
            metrics = each["metrics"]
            assert each["name"] == TEMPLATE.format(**metrics)
    names = checkpoint_names(experiment)
    assert_from_path(after, names)
    assert all("-0." in name for folders in names.values() for name in folders)

    resumed = judge.resume(experiment, steps=STEPS)
    assert_went_on(resumed, after, STEPS)


@pytest.mark.parametrize("case", ["function-keep", "class-keep"])
def test_retention_keeps_what_it_would_have_kept(
    judge: Judge, experiments: Experiments, case: str
) -> None:
    untouched = judge.resume(get(experiments, case), steps=STEPS)
    experiment = get(experiments, case)
    rename(experiment)
    assert kept(judge.resume(experiment, steps=STEPS)) == kept(untouched)


@every_scenario
def test_undo_gives_back_every_byte(experiments: Experiments, case: str) -> None:
    experiment = get(experiments, case)
    before = tree(experiment)
    rename(experiment)
    assert tree(experiment) != before
    ckptctl("undo", experiment, "--yes")
    assert tree(experiment) == before


@pytest.mark.parametrize("case", ["function", "class"])
def test_ray_goes_on_after_an_undo(judge: Judge, experiments: Experiments, case: str) -> None:
    experiment = get(experiments, case)
    before = judge.read(experiment)
    rename(experiment)
    ckptctl("undo", experiment, "--yes")
    assert judge.read(experiment) == before
    resumed = judge.resume(experiment, steps=STEPS)
    assert {trial["status"] for trial in resumed["read"]["trials"]} == {"TERMINATED"}
    assert resumed["overwritten"] == []


def test_undo_is_refused_once_ray_has_gone_on(judge: Judge, experiments: Experiments) -> None:
    experiment = get(experiments, "function")
    rename(experiment)
    judge.resume(experiment, steps=STEPS)
    before = tree(experiment)
    ckptctl("undo", experiment, "--yes", expect=12)
    assert tree(experiment) == before


def test_a_second_rename_after_ray_went_on(judge: Judge, experiments: Experiments) -> None:
    experiment = get(experiments, "function")
    rename(experiment)
    judge.resume(experiment, steps=6)
    before = judge.read(experiment)
    rename(experiment, "checkpoint_{training_iteration:06d}-acc{eval/acc:.3f}")
    after = judge.read(experiment)
    assert_same_books(before, after)
    assert_from_path(after, checkpoint_names(experiment))
    assert all("-acc0." in name for each in checkpoint_names(experiment).values() for name in each)


@pytest.mark.parametrize(("scenario", "steps"), [("finished_nine", 9), ("class", 9)])
def test_an_unpadded_number_passes_for_nine_iterations(
    judge: Judge, experiments: Experiments, scenario: str, steps: int
) -> None:
    experiment = experiments.get(scenario, steps=steps)
    before = judge.read(experiment)
    assert {trial["status"] for trial in before["trials"]} == {"TERMINATED"}
    rename(experiment, SHORT_TEMPLATE)
    after = judge.read(experiment)
    assert_same_books(before, after)
    assert_from_path(after, checkpoint_names(experiment))
    for trial in after["trials"]:
        assert [each["name"] for each in trial["checkpoints"]] == [
            SHORT_TEMPLATE.format(**each["metrics"]) for each in trial["checkpoints"]
        ]


@pytest.mark.parametrize("options", [{"steps": 11}, {"fail_at": 4}], ids=["ten", "can-go-on"])
def test_an_unpadded_number_is_refused_otherwise(
    experiments: Experiments, options: dict[str, Option]
) -> None:
    experiment = experiments.get("function", **options)
    before = tree(experiment)
    told = ckptctl("rename", experiment, "--to", SHORT_TEMPLATE, "--yes", "--json", expect=14)
    (plan,) = json.loads(told)["plans"]
    assert plan["refusals"]
    assert tree(experiment) == before


@pytest.mark.parametrize("case", ["function", "class", "pbt"])
def test_a_moved_experiment_is_renamed_where_it_lies(
    judge: Judge, experiments: Experiments, case: str, tmp_path: Path
) -> None:
    made = get(experiments, case)
    experiment = tmp_path / "elsewhere" / "renamed"
    shutil.copytree(made, experiment)
    untouched = tree(made)
    before = judge.read(experiment)
    rename(experiment)
    after = judge.read(experiment)
    assert_same_books(before, after)
    assert_from_path(after, checkpoint_names(experiment))
    if case != "pbt":
        assert under(after, experiment)
        assert_went_on(judge.resume(experiment, steps=STEPS), after, STEPS)
    assert tree(made) == untouched
