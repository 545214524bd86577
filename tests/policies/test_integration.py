"""Names and indexes that real Rays made with the integration installed.

A part of `make policies`, which asks more Rays and more trainers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TypeAlias

import pytest

from ckptctl import api
from tests.judge.experiments import checkpoint_names
from tests.judge.judge import Judge, MissingRay
from tests.policies import named
from tests.policies.jobs import Job, python_of, run
from tests.policies.scenarios import NAMING, PAUSED, V1, V2
from tests.policies.uninstalled import mentions

pytestmark = pytest.mark.judge
Made: TypeAlias = Callable[..., tuple[Path, dict[str, Job]]]
V1_RAY = pytest.mark.parametrize("version", ["2.54.1"])
V2_RAY = pytest.mark.parametrize("version", ["2.60.0"])


def asked(version: str) -> str:
    try:
        python_of(version)
    except MissingRay as error:
        import os

        if os.environ.get("CKPTCTL_JUDGE") == "skip-missing":
            pytest.skip(str(error))
        pytest.fail(str(error), pytrace=False)
    return version


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """What the scenarios of one Ray, or a part of them, left, and what each ended with."""

    @cache
    def made(part: str, *, v2: bool = False) -> tuple[Path, dict[str, Job]]:
        storage = tmp_path_factory.mktemp("policies")
        jobs = [job | {"storage": str(storage)} for job in (V2 if v2 else V1[part])]
        answers = run(asked(part.partition("-")[0]), jobs, v2=v2)
        named = (job["name"] + ("-restored" if job.get("restore") else "") for job in jobs)
        return storage, dict(zip(named, answers, strict=True))

    return made


def names(made: Made, version: str, experiment: str) -> list[str]:
    storage, answers = made(version)
    assert answers[experiment]["error"] is None or "told to fail" in answers[experiment]["error"]
    (found,) = checkpoint_names(storage / experiment).values()
    return found


PAUSES = {job["name"] for job in PAUSED}
HOOKED = [
    (part, name)
    for part, jobs in V1.items()
    for name in dict.fromkeys(job["name"] for job in jobs)
    if name in named.FOLDERS or name in PAUSES
]


@pytest.mark.parametrize(("part", "experiment"), HOOKED)
def test_what_is_named_from_the_start_leaves_a_scan_nothing_to_find(
    made: Made, part: str, experiment: str
) -> None:
    storage, answers = made(part)
    for answer in (answers[n] for n in (experiment, f"{experiment}-restored") if n in answers):
        assert answer["error"] is None or "told to fail" in answer["error"]
        assert answer["warnings"] == []
    assert named.wrong(experiment, storage / experiment) == []


@pytest.mark.parametrize("version", ["2.54.1", "2.9.3"])
def test_ray_finds_the_metrics_of_each_save_of_a_class_trainable(made: Made, version: str) -> None:
    storage, _ = made(version)
    with Judge(version) as judge:
        (told,) = judge.read(storage / "restored")["from_path"].values()
    assert told["error"] is None
    found = {one["name"]: one["metrics"]["training_iteration"] for one in told["checkpoints"]}
    assert found == {name: int(name[11:17]) for name in named.FOLDERS["restored"]}


@V1_RAY
def test_the_driver_follows_answers_in_any_order_and_warns_of_another_name(
    made: Made, version: str
) -> None:
    _, answers = made(version)
    assert answers["answers"]["error"] is None
    (told,) = answers["answers"]["warnings"]
    assert told.startswith(
        "trial trial: its result row names checkpoint_000006-b, and the save is called "
        "checkpoint_000006-a; to mend the row: ckptctl reindex "
    )


@V1_RAY
def test_what_is_written_is_read_where_ckptctl_is_not_installed(made: Made, version: str) -> None:
    storage, _ = made(version)
    for name in ("index", "function", "class"):
        assert mentions(storage / name) == []
    job = {"kind": "function", "storage": str(storage), "name": "gone", "restore": True}
    (answer,) = run(version, [job], with_ckptctl=False)
    assert answer["error"] is None
    assert names(made, version, "gone") == [
        "checkpoint_000002-0.8333",
        "checkpoint_000004-0.4500",
        "checkpoint_000005",  # Ray's own, behind those that are there
    ]
    assert named.wrong("gone", storage / "gone") == []


@V2_RAY
def test_two_workers_of_train_v2_share_the_names_of_rank_0(made: Made, version: str) -> None:
    storage, answers = made(version, v2=True)
    assert answers["v2"]["error"] is None
    run_of = storage / "v2"
    found = sorted(path.name for path in run_of.glob("checkpoint_*-*"))
    assert found == [
        "checkpoint_000003-0.2500",
        "checkpoint_000004-0.4500",
        "checkpoint_000005-0.6667",
    ]
    assert {p.name for p in (run_of / found[0]).iterdir()} == {
        "rank-0.txt",
        "rank-1.txt",
        "state.json",
    }
    assert [f.code for _, own in api.audit(str(run_of)) for f in own] == []
    ((stages, findings),) = api.policy(str(run_of))
    ray = {s.name: (s.value, s.exact) for s in stages.trials[0].settings if s.stage == "ray"}
    assert ray["num_to_keep"] == (2, True)
    assert ray["checkpoint_score_attribute"] == ("loss", True)
    assert findings == ()


@V2_RAY
def test_a_hook_that_train_v2_would_not_hear_is_refused_before_it_trains(
    made: Made, version: str
) -> None:
    storage, answers = made(version, v2=True)
    assert answers["v2-hooked"]["error"] == (
        "UsageError: Ray Train V2 takes names from report(), and no hook reaches it"
    )
    assert not (storage / "v2-hooked" / "checkpoint_manager_snapshot.json").exists()


@V1_RAY
def test_what_ray_refuses_is_what_policy_says_it_refuses(made: Made, version: str) -> None:
    storage, answers = made(version)
    assert "does not support" in answers["trainer-at-end"]["error"]
    assert "cannot be set for a function trainable" in answers["function-frequency"]["error"]
    ((stages, _),) = api.policy(str(storage / "function"))
    told = {s.name: s.applies.value for s in stages.trials[0].settings}
    assert told["checkpoint_frequency"] == "refused"
    ((stages, _),) = api.policy(str(storage / "index"))
    told = {s.name: s.applies.value for s in stages.trials[0].settings}
    assert told["checkpoint_frequency"] == "yes"


@pytest.mark.parametrize("version", ["2.7.2", "2.6.3"])
def test_a_ray_that_asks_nobody_is_told_before_training_starts(
    version: str, tmp_path: Path
) -> None:
    job = {"kind": "function", "storage": str(tmp_path), "name": "old", "no_ray": True}
    asks = ({"naming": NAMING}, {"index": "sequential"})
    told = {answer["error"] for answer in run(asked(version), [job | one for one in asks])}
    assert told == {
        (
            f"UsageError: Ray {version} names checkpoints by itself and asks nobody; "
            "it takes Ray 2.8 or newer"
        )
    }
    assert not (tmp_path / "old").exists()
