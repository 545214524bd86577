"""Fixtures that hand a test the real Ray, and experiments which that Ray made."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.judge.asked import the_real
from tests.judge.experiments import Experiments
from tests.judge.judge import Judge

# One of every way in which Ray keeps its books, and the newest.
VERSIONS = ("2.7.2", "2.9.3", "2.54.1", "2.60.0")
_CHANGES = (
    "test_a_class_trainable_counts_by_iteration_again",
    "test_a_failed_run_is_read_and_goes_on",
    "test_folders_that_the_log_knows_are_registered",
    "test_ray_finds_the_same_checkpoints_and_goes_on",
)
ASKED_OF = {
    "2.9.3": _CHANGES,
    "2.60.0": (
        *_CHANGES,
        "test_a_population_is_renumbered",
        "test_gaps_of_retention_are_closed",
        "test_the_record_of_a_removed_folder_is_dropped",
    ),
}
"""What is asked of Rays that keep their books as 2.54.1 does: where one of them has changed
something, and all that changes counters of the newest; 2.9.3 also what only Rays with a copy in
a folder of their own can be asked. `make matrix` asks every Ray for every kind of damage."""
STAGES_IN_HOME = ("2.7.2", "2.9.3")
"""The Rays whose driver keeps its copy in a folder that the user can choose."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Only what a Ray can do is asked of it; CKPTCTL_JUDGE=all asks all of them everything."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.judge)
    items[:] = [item for item in items if here not in item.path.parents or _applies(item)]


def _applies(item: pytest.Item) -> bool:
    params = getattr(getattr(item, "callspec", None), "params", {})
    version = params.get("judge")
    if str(params.get("how", "")).startswith("local-"):
        return version in STAGES_IN_HOME
    if version in ASKED_OF and os.environ.get("CKPTCTL_JUDGE") != "all":
        return item.name.partition("[")[0] in ASKED_OF[version]
    if "moved_experiment_is_renamed" in item.name:
        return version != "2.7.2"  # it goes on at the recorded place: `reindex --relocate`
    return True


@pytest.fixture(scope="session", params=VERSIONS)
def judge(request: pytest.FixtureRequest) -> Iterator[Judge]:
    """The real Ray, one version after the other."""
    with the_real(Judge, request.param) as judge:
        yield judge


@pytest.fixture(scope="session")
def experiments(judge: Judge, tmp_path_factory: pytest.TempPathFactory) -> Experiments:
    """Experiments of that Ray."""
    return Experiments(judge, tmp_path_factory.mktemp(f"ray-{judge.version}-"))
