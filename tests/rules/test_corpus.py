"""What is found in experiments of real Rays: exactly these errors and warnings."""

from __future__ import annotations

from pathlib import Path

import pytest

from ckptctl.checker import check
from ckptctl.model.finding import Severity
from ckptctl.rules import ALL
from ckptctl.scanner import scan

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


def with_a_rule(codes: str) -> set[str]:
    return set(codes.split()) & {rule.code for rule in ALL}


@pytest.mark.parametrize("place", sorted(HEALTHY.iterdir()), ids=lambda p: p.name)
def test_a_healthy_experiment_has_only_what_its_ray_is_to_blame_for(place: Path) -> None:
    assert serious(place) == with_a_rule(expected_of_healthy(place.name))


@pytest.mark.parametrize("place", sorted((CORPUS / "damaged").iterdir()), ids=lambda p: p.name)
def test_a_damage_is_told_and_nothing_else(place: Path) -> None:
    assert serious(place) == with_a_rule(expected_of_damaged(place.name))


def test_two_states_are_told_as_an_info() -> None:
    assert "CKP203" in found(CORPUS / "damaged" / "two-states--ray-2.54.1-function_topk")
