"""The judge itself: what is known of Ray must show in its answers."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.judge.checks import Answer, assert_from_path, assert_sound, iterations, trials
from tests.judge.experiments import Experiments, checkpoint_names, state_file
from tests.judge.judge import SCRIPTS, Judge, JudgeError, MissingRay, rays_folder


@pytest.mark.parametrize("scenario", ["function", "class"])
def test_a_failed_run_is_read_and_goes_on(
    judge: Judge, experiments: Experiments, scenario: str
) -> None:
    experiment = experiments.get(scenario, fail_at=4)
    read = judge.read(experiment)
    names = [f"checkpoint_{index:06d}" for index in range(4)]
    assert set(map(tuple, checkpoint_names(experiment).values())) == {tuple(names)}
    assert_sound(read)
    assert len(read["trials"]) == 2
    for trial in read["trials"]:
        assert trial["status"] == "ERROR"
        assert [each["name"] for each in trial["checkpoints"]] == names
        assert iterations(trial["checkpoints"]) == [1, 2, 3, 4]
        assert trial["latest"]["name"] == names[-1]

    resumed = judge.resume(experiment, steps=6)
    assert resumed["errors"] == []
    assert resumed["overwritten"] == []
    assert {each["path"] for each in resumed["restored"]} == {
        trial["latest"]["path"] for trial in read["trials"]
    }
    for trial in resumed["read"]["trials"]:
        assert trial["status"] == "TERMINATED"
        assert resumed["new"][trial["dirname"]] == ["checkpoint_000004", "checkpoint_000005"]
        assert trial["latest"]["state"]["iteration"] == 6


def test_the_folder_reader_fails_class_trainables(judge: Judge, experiments: Experiments) -> None:
    # Ray 2.7 pairs the wrong rows, later ones find no column at all.
    read = judge.read(experiments.get("class", fail_at=4, frequency=2))
    for found in read["from_path"].values():
        if judge.release == (2, 7):
            metrics = [each["metrics"]["training_iteration"] for each in found["checkpoints"]]
            assert metrics == [1, 3]
            assert iterations(found["checkpoints"]) == [2, 4]
        else:
            assert found["error"].startswith("KeyError: 'checkpoint_dir_name'")


def test_the_folder_reader_serves_function_trainables(
    judge: Judge, experiments: Experiments
) -> None:
    experiment = experiments.get("function_every", fail_at=6)
    assert_from_path(judge.read(experiment), checkpoint_names(experiment))


def test_a_renamed_folder_alone_is_lost_to_ray(judge: Judge, experiments: Experiments) -> None:
    experiment = experiments.get("function", fail_at=4)
    for path in experiment.glob("*/checkpoint_000003"):
        path.rename(path.with_name("checkpoint_000003-renamed"))
    with pytest.raises(AssertionError):
        assert_sound(judge.read(experiment))
    resumed = judge.resume(experiment, steps=6)
    assert len(resumed["errors"]) == 2


def test_an_index_that_is_too_low_overwrites(judge: Judge, experiments: Experiments) -> None:
    experiment = experiments.behind("function")
    resumed = judge.resume(experiment, steps=6)
    assert len(resumed["overwritten"]) == 6


def test_staging_that_is_still_there_wins_over_the_result_log(
    judge: Judge, experiments: Experiments
) -> None:
    # Before 2.12 it lies in ~/ray_results, later in the folder of the Ray session.
    experiment = experiments.get("function", fail_at=3, keep_staging=True)
    for log in experiment.glob("*/result.json"):
        log.write_text(log.read_text().replace("checkpoint_000001", "checkpoint_000001-edited"))
    judge.resume(experiment, steps=4)
    assert not any("edited" in log.read_text() for log in experiment.glob("*/result.json"))


def test_without_staging_an_edited_result_log_stays(judge: Judge, experiments: Experiments) -> None:
    experiment = experiments.get("function", fail_at=4)
    for log in experiment.glob("*/result.json"):
        log.write_text(log.read_text().replace("checkpoint_000001", "checkpoint_000001-edited"))
    judge.resume(experiment, steps=5)
    assert all("edited" in log.read_text() for log in experiment.glob("*/result.json"))


@pytest.mark.parametrize("scenario", ["pbt", "pbt_class"])
def test_a_population_leaves_a_foreign_latest(
    judge: Judge, experiments: Experiments, scenario: str
) -> None:
    experiment = experiments.get(scenario)
    read = judge.read(experiment)
    exploited, donor = read["trials"] if seeded(read) == [0, 1] else read["trials"][::-1]
    assert Path(exploited["latest"]["path"]).parent.name == donor["dirname"]
    assert exploited["latest"]["state"]["trial_id"] == donor["trial_id"]
    assert iterations(exploited["checkpoints"]) == [1, 2]
    assert iterations(donor["checkpoints"]) == [1, 2, 3]


def seeded(read: Answer) -> list[int]:
    return [trial["checkpoints"][0]["state"]["seed"] for trial in read["trials"]]


def test_the_reader_script_prints_one_document(judge: Judge, experiments: Experiments) -> None:
    experiment = experiments.get("function", fail_at=4)
    python = rays_folder() / f"ray-{judge.version}" / "bin" / "python"
    done = subprocess.run(
        [python, SCRIPTS / "read.py", experiment],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert trials(json.loads(done.stdout)) == trials(judge.read(experiment))


def test_what_ray_refuses_is_told(judge: Judge, experiments: Experiments) -> None:
    experiment = experiments.get("function", fail_at=4)
    state_file(experiment).write_text("{")
    with pytest.raises(JudgeError, match=judge.version):
        judge.read(experiment)


def test_a_missing_ray_names_the_remedy() -> None:
    with pytest.raises(MissingRay, match=r"install_rays\.py 0\.0\.1"):
        Judge("0.0.1")


def test_the_tests_run_outside_of_ray() -> None:
    assert "ray" not in sys.modules
