"""`ckptctl reindex`, judged by the Ray that reads, restores and goes on afterwards."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.judge.checks import (
    Answer,
    assert_from_path,
    assert_same_books,
    assert_sound,
    assert_went_on,
    iterations,
    kept,
    under,
)
from tests.judge.experiments import (
    Experiments,
    checkpoint_names,
    ckptctl,
    tree,
    trial_folders,
)
from tests.judge.judge import Judge

both = pytest.mark.parametrize("scenario", ["function", "class"])


def reindex(experiment: Path, *options: str) -> None:
    done = json.loads(ckptctl("reindex", experiment, "--yes", "--json", *options))
    (plan,) = done["plans"]
    assert plan["refusals"] == []
    assert plan["outcome"]["applied"]
    assert plan["outcome"]["verified"]


def assert_no_error_left(experiment: Path) -> None:
    told = ckptctl("scan", experiment, "--json")
    assert json.loads(told)["summary"]["errors"] == 0


def assert_undone(experiment: Path, before: dict[str, tuple[object, ...]]) -> None:
    assert tree(experiment) != before
    ckptctl("undo", experiment, "--yes")
    assert tree(experiment) == before


def numbered(*numbers: int) -> list[str]:
    return [f"checkpoint_{number:06d}" for number in numbers]


def latest_iterations(read: Answer) -> list[int]:
    return [trial["latest"]["state"]["iteration"] for trial in read["trials"]]


# --- renumbering


def test_a_class_trainable_counts_by_iteration_again(
    judge: Judge, experiments: Experiments
) -> None:
    experiment = experiments.get("class", frequency=5, fail_at=100)
    as_made = tree(experiment)
    before = judge.read(experiment)
    reindex(experiment, "--by", "training_iteration")
    expected = numbered(*range(5, 101, 5))
    assert set(map(tuple, checkpoint_names(experiment).values())) == {tuple(expected)}
    after = judge.read(experiment)
    assert_same_books(before, after)
    assert_from_path(after, checkpoint_names(experiment))
    assert_no_error_left(experiment)

    assert_undone(experiment, as_made)
    reindex(experiment, "--by", "training_iteration")
    resumed = judge.resume(experiment, steps=105)
    assert_went_on(resumed, after, 105)
    assert list(resumed["new"].values()) == [numbered(101)] * 2


@pytest.mark.parametrize(
    ("scenario", "expected"),
    [("function", (0, 1, 2, 3)), ("class", (1, 2, 3, 4))],
)
def test_the_numbering_of_ray_2_6(
    judge: Judge, experiments: Experiments, scenario: str, expected: tuple[int, ...]
) -> None:
    experiment = experiments.get(scenario, fail_at=4)
    before = judge.read(experiment)
    ckptctl("reindex", experiment, "--by", "ray-2.6", "--yes")
    assert set(map(tuple, checkpoint_names(experiment).values())) == {tuple(numbered(*expected))}
    after = judge.read(experiment)
    assert_same_books(before, after)
    assert_from_path(after, checkpoint_names(experiment))
    assert_went_on(judge.resume(experiment, steps=6), after, 6)


@both
def test_gaps_of_retention_are_closed(
    judge: Judge, experiments: Experiments, scenario: str
) -> None:
    untouched = judge.resume(experiments.get(scenario, fail_at=5, keep=2), steps=8)
    experiment = experiments.get(scenario, fail_at=5, keep=2)
    as_made = tree(experiment)
    before = judge.read(experiment)
    assert numbered(0, 1) not in checkpoint_names(experiment).values()
    reindex(experiment, "--by", "sequential")
    for names in checkpoint_names(experiment).values():
        assert names == numbered(*range(len(names)))
    after = judge.read(experiment)
    assert_same_books(before, after)
    assert_from_path(after, checkpoint_names(experiment))

    assert_undone(experiment, as_made)
    reindex(experiment, "--by", "sequential")
    resumed = judge.resume(experiment, steps=8)
    assert_went_on(resumed, after, 8)
    assert kept(resumed) == kept(untouched)


@pytest.mark.parametrize("scenario", ["pbt", "pbt_class"])
def test_a_population_is_renumbered(judge: Judge, experiments: Experiments, scenario: str) -> None:
    experiment = experiments.get(scenario)
    as_made = tree(experiment)
    before = judge.read(experiment)
    reindex(experiment, "--by", "training_iteration")
    after = judge.read(experiment)
    assert_same_books(before, after)
    assert_from_path(after, checkpoint_names(experiment))
    assert_undone(experiment, as_made)
    reindex(experiment, "--by", "training_iteration")
    assert_went_on(judge.resume(experiment, steps=6), after, 6)


# --- records that disagree with the folders


@both
@pytest.mark.parametrize("which", ["oldest", "middle", "latest"])
def test_the_record_of_a_removed_folder_is_dropped(
    judge: Judge, experiments: Experiments, scenario: str, which: str
) -> None:
    experiment = experiments.get(scenario, fail_at=4)
    gone = {"oldest": 1, "middle": 2, "latest": 4}[which]
    for trial in trial_folders(experiment):
        shutil.rmtree(trial / f"checkpoint_{gone - 1:06d}")
    as_damaged = tree(experiment)
    reindex(experiment)
    assert_no_error_left(experiment)
    after = judge.read(experiment)
    assert_sound(after)
    left = [number for number in (1, 2, 3, 4) if number != gone]
    for trial in after["trials"]:
        assert iterations(trial["checkpoints"]) == left
    assert latest_iterations(after) == [left[-1]] * 2
    assert_from_path(after, checkpoint_names(experiment))

    assert_undone(experiment, as_damaged)
    reindex(experiment)
    assert_went_on(judge.resume(experiment, steps=6), after, 6)


def test_folders_that_the_log_knows_are_registered(judge: Judge, experiments: Experiments) -> None:
    experiment = experiments.behind("function", first=3, then=6)
    as_damaged = tree(experiment)
    assert latest_iterations(judge.read(experiment)) == [3, 3]
    reindex(experiment)
    assert_no_error_left(experiment)
    after = judge.read(experiment)
    assert_sound(after)
    for trial in after["trials"]:
        assert iterations(trial["checkpoints"]) == [1, 2, 3, 4, 5, 6]
    assert latest_iterations(after) == [6, 6]
    assert_from_path(after, checkpoint_names(experiment))

    assert_undone(experiment, as_damaged)
    reindex(experiment)
    resumed = judge.resume(experiment, steps=8)
    assert_went_on(resumed, after, 8)
    assert list(resumed["new"].values()) == [numbered(6, 7)] * 2


def test_folders_that_no_log_names_are_never_overwritten(
    judge: Judge, experiments: Experiments
) -> None:
    # The rows of a class trainable do not say which folder they were saved in.
    experiment = experiments.behind("class", first=3, then=6)
    as_damaged = tree(experiment)
    reindex(experiment)
    assert_sound(judge.read(experiment))
    assert_undone(experiment, as_damaged)
    reindex(experiment)
    resumed = judge.resume(experiment, steps=8)
    assert resumed["errors"] == []
    assert resumed["overwritten"] == []
    assert_sound(resumed["read"])
    for names in resumed["new"].values():
        assert min(names) > "checkpoint_000005"


def test_a_record_is_registered_and_another_dropped(judge: Judge, experiments: Experiments) -> None:
    experiment = experiments.behind("function", first=3, then=6)
    for trial in trial_folders(experiment):
        shutil.rmtree(trial / "checkpoint_000001")
        shutil.rmtree(trial / "checkpoint_000005")
    as_damaged = tree(experiment)
    reindex(experiment)
    assert_no_error_left(experiment)
    after = judge.read(experiment)
    assert_sound(after)
    for trial in after["trials"]:
        assert iterations(trial["checkpoints"]) == [1, 3, 4, 5]
    assert latest_iterations(after) == [5, 5]
    assert_undone(experiment, as_damaged)
    reindex(experiment)
    resumed = judge.resume(experiment, steps=8)
    assert_went_on(resumed, after, 8)
    for names in resumed["new"].values():
        # A row still names 5, and a name must not mean two saves.
        assert names[0] >= "checkpoint_000006"


def test_the_save_of_an_exploited_trial_is_registered(
    judge: Judge, experiments: Experiments
) -> None:
    # Whether Ray registers the last save of a trial before another's replaces it is a race.
    experiment = experiments.get("pbt", late=0)
    reindex(experiment, "--by", "sequential")
    after = judge.read(experiment)
    assert_sound(after)
    assert_from_path(after, checkpoint_names(experiment))
    assert_went_on(judge.resume(experiment, steps=6), after, 6)


# --- experiments that lie elsewhere


@both
@pytest.mark.parametrize("how", ["moved", "copied", "local-moved", "local-staged-later"])
def test_a_relocated_experiment_goes_on_where_it_lies(
    judge: Judge, experiments: Experiments, scenario: str, how: str, tmp_path: Path
) -> None:
    local = how.startswith("local")
    made = experiments.get(scenario, fail_at=4, local=local)
    before = judge.read(made)
    untouched = tree(made)
    experiment = tmp_path / "elsewhere" / made.name
    shutil.copytree(made, experiment)
    if how != "copied":
        shutil.rmtree(made)
    as_copied = tree(experiment)
    reindex(experiment, "--relocate")
    after = judge.read(experiment)
    assert_same_books(before, after)
    assert under(after, experiment)
    assert_undone(experiment, as_copied)
    reindex(experiment, "--relocate")
    if how == "local-staged-later":
        # The default: ~/ray_results was the storage, and is but the staging now.
        resumed = judge.resume(experiment, steps=6, cache=str(made.parent))
    else:
        resumed = judge.resume(experiment, steps=6, local=local)
        assert made.exists() == (how == "copied")
    assert_went_on(resumed, after, 6)
    if how == "copied":
        assert tree(made) == untouched


def test_a_foreign_latest_is_relocated(
    judge: Judge, experiments: Experiments, tmp_path: Path
) -> None:
    made = experiments.get("pbt")
    before = judge.read(made)
    experiment = tmp_path / made.name
    shutil.copytree(made, experiment)
    shutil.rmtree(made)
    reindex(experiment, "--relocate")
    after = judge.read(experiment)
    assert_same_books(before, after)
    assert under(after, experiment)
    assert_went_on(judge.resume(experiment, steps=6), after, 6)


def test_a_relocated_experiment_is_renamed(
    judge: Judge, experiments: Experiments, tmp_path: Path
) -> None:
    made = experiments.get("function", fail_at=4)
    before = judge.read(made)
    experiment = tmp_path / "elsewhere" / "other-name"
    shutil.copytree(made, experiment)
    shutil.rmtree(made)
    reindex(experiment, "--relocate")
    template = "checkpoint_{training_iteration:06d}-{loss:.4f}"
    ckptctl("rename", experiment, "--to", template, "--yes")
    after = judge.read(experiment)
    assert_same_books(before, after)
    assert_from_path(after, checkpoint_names(experiment))
    assert under(after, experiment)
    assert_went_on(judge.resume(experiment, steps=6), after, 6)
