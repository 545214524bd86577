"""What is found in experiments of real Rays: exactly these errors and warnings."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ckptctl import api
from ckptctl.checker import check
from ckptctl.model.finding import Severity
from ckptctl.rules import ALL
from ckptctl.scanner import scan
from tests.support import copy_of

CORPUS = Path(__file__).parents[1] / "corpus"
HEALTHY = CORPUS / "healthy"
DAMAGED = {
    "callback-raised": "CKP105 CKP108 CKP109",
    "extra-folder-ahead--ray-2.54.1": "CKP101 CKP105",
    "extra-folder-ahead--ray-2.6.3": "CKP105 CKP113",
    "killed": "CKP101 CKP104 CKP105",
    "latest-folder-removed": "CKP103 CKP104",
    "log-truncated": "CKP112 CKP202",
    "nan-metric": "",
    "no-state": "CKP206",
    "older-folder-removed": "CKP104",
    "partial-checkpoint": "CKP302",
    "renamed-by-hand": "CKP103 CKP104 CKP105",
    "renumbered-by-hand": "CKP101 CKP103 CKP104 CKP105",
    "rows-removed": "CKP112",
    "rows-shifted-by-ray": "CKP106 CKP116",
    "score-not-a-number": "CKP101 CKP105",
    "state-truncated": "CKP201",
    "temporary-left": "CKP005",
    "tuner-empty": "CKP204",
    "two-states": "",
    "unrecorded-folder": "CKP105",
    "zero-byte-files": "CKP302",
}
UNNAMED_ROWS = ("class_freq", "class_failed", "pbt", "seed_metric_index")


def expected_of_healthy(name: str) -> str:
    """What Ray itself writes wrongly."""
    _, version, kind = name.split("-", 2)
    if version == "2.7.2":
        return "CKP116"
    if version != "2.6.3" and kind in UNNAMED_ROWS:
        return "CKP107"
    return "CKP401" if kind == "lightning_v1" else ""


def expected_of_damaged(name: str) -> str:
    return next(codes for start, codes in DAMAGED.items() if name.startswith(start))


def found(place: Path) -> dict[str, Severity]:
    (experiment,) = scan(str(place))
    return {f.code: f.severity for f in check(experiment)}


def serious(place: Path) -> set[str]:
    return {code for code, severity in found(place).items() if severity is not Severity.INFO}


@pytest.mark.parametrize("place", sorted(HEALTHY.iterdir()), ids=lambda p: p.name)
def test_a_healthy_experiment_has_only_what_its_ray_is_to_blame_for(place: Path) -> None:
    assert serious(place) == set(expected_of_healthy(place.name).split())


@pytest.mark.parametrize("place", sorted((CORPUS / "damaged").iterdir()), ids=lambda p: p.name)
def test_a_damage_is_told_and_nothing_else(place: Path) -> None:
    assert serious(place) == set(expected_of_damaged(place.name).split())


def test_two_states_are_told_as_an_info() -> None:
    assert "CKP203" in found(CORPUS / "damaged" / "two-states--ray-2.54.1-function_topk")


def test_all_experiments_are_judged_by_rules_that_exist() -> None:
    places = [*HEALTHY.iterdir(), *(CORPUS / "damaged").iterdir()]
    assert len(places) == 46
    codes = {c for p in HEALTHY.iterdir() for c in expected_of_healthy(p.name).split()}
    codes |= {c for expected in DAMAGED.values() for c in expected.split()}
    assert codes <= {rule.code for rule in ALL}


NEW_DAMAGES = {
    "empty-checkpoint": "CKP301",
    "mixed-generations": "CKP303",
    "all-folders-removed": "CKP103 CKP104",
    "unpadded-names": "CKP103 CKP104 CKP105",
}


@pytest.mark.parametrize("kind", NEW_DAMAGES)
@pytest.mark.parametrize(
    "name",
    ["2.54.1-function_topk", "2.40.0-class_freq", "2.54.1-pbt", "2.7.2-function_topk", "2.6.3-pbt"],
)
def test_a_new_damage_is_told_and_nothing_else(kind: str, name: str, tmp_path: Path) -> None:
    source, place = HEALTHY / f"ray-{name}", tmp_path / "experiment"
    damage = [sys.executable, str(CORPUS / "damage.py"), kind, str(source), str(place)]
    subprocess.run(damage, check=True)
    expected = f"{NEW_DAMAGES[kind]} {expected_of_healthy(source.name)}"
    assert serious(place) == set(expected.split())


def mend(place: Path, by: str | None = None) -> set[str]:
    (experiment,) = scan(str(place))
    assert api.apply(api.plan_reindex(experiment, by=by), allow_live=True).verified
    return set(found(place))


def test_a_latest_that_was_taken_off_the_list_is_put_back(tmp_path: Path) -> None:
    place = copy_of("ray-2.54.1-train_v2_topk", tmp_path)
    snapshot = place / "checkpoint_manager_snapshot.json"
    document = json.loads(snapshot.read_text())
    del document["checkpoint_results"][-1], document["checkpoint_report_indices"][-1]
    snapshot.write_text(json.dumps(document))
    assert serious(place) == {"CKP115"}
    assert "CKP115" not in mend(place)


@pytest.mark.parametrize(
    ("name", "code"), [("checkpoint_2", "CKP002"), ("checkpoint_000009", "CKP004")]
)
def test_new_numbers_end_gaps_and_doubles(name: str, code: str, tmp_path: Path) -> None:
    place = copy_of("ray-2.54.1-class_freq", tmp_path)
    trial = min(p for p in place.iterdir() if p.is_dir())
    shutil.copytree(trial / "checkpoint_000002", trial / name)
    assert code in found(place)
    assert code not in mend(place, "sequential")


@pytest.mark.parametrize("by", ["sequential", "training_iteration", "ray-2.6"])
@pytest.mark.parametrize("name", ["2.54.1-class_freq", "2.54.1-seed_metric_index", "2.6.3-pbt"])
def test_numbers_that_ckptctl_gave_are_right(name: str, by: str, tmp_path: Path) -> None:
    place = copy_of(f"ray-{name}", tmp_path)
    assert not mend(place, by) & {"CKP002", "CKP003", "CKP004", "CKP006", "CKP113"}
