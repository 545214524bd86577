"""Experiments that one Ray began and a newer one went on with: both have written in them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.judge.asked import the_real
from tests.judge.experiments import NAME, checkpoint_names, ckptctl
from tests.judge.judge import Judge

FIRST = "2.7.2"


def experiment_told(experiment: Path) -> tuple[dict[str, Any], set[str]]:
    """What a scan says of it, and the codes of its errors and warnings."""
    told = json.loads(ckptctl("scan", experiment, "--json", "--fail-on", "never"))
    codes = {f["code"] for f in told["findings"] if f["severity"] != "info"}
    return told["experiments"][0], codes


@pytest.mark.parametrize(("then", "scenario"), [("2.9.3", "class"), ("2.54.1", "function")])
def test_the_index_of_2_7_is_read_as_the_ray_that_wrote_it_last_means_it(
    then: str, scenario: str, tmp_path: Path
) -> None:
    with the_real(Judge, FIRST) as first:
        experiment = first.make(scenario, tmp_path, NAME, fail_at=3)
    before, codes = experiment_told(experiment)
    assert before["layout"] == "ray-tune-2.7"
    assert "CKP101" not in codes
    if then != "2.9.3":  # which reads the state of 2.7 by itself
        ckptctl("migrate", experiment, "--to-ray", then, "--yes")
    with the_real(Judge, then) as second:
        resumed = second.resume(experiment, steps=8)
    assert resumed["errors"] == []
    assert all(resumed["new"].values())
    after, codes = experiment_told(experiment)
    assert after["layout"] == "ray-tune"
    # 2.7 names other saves in the rows of a class trainable; 2.9 goes on logging in the folder for
    # the driver's copy of the process that is gone, so that the log on storage ends before.
    assert codes <= {"CKP106", "CKP112"}
    highest = {int(names[-1][-6:]) for names in checkpoint_names(experiment).values()}
    for trial in after["trials"]:
        assert {trial["books"]["trial"]["latest_index"]} == highest
