from __future__ import annotations

import pytest

from ckptctl.model.finding import Evidence
from ckptctl.report.where import folder_of, line_of, main_evidence, path, uri
from tests.unit.report.values import finding


@pytest.mark.parametrize(
    ("location", "file", "expected"),
    [
        ("runs/a", "t/checkpoint_000001", "runs/a/t/checkpoint_000001"),
        ("runs/a b", "x=1%", "runs/a%20b/x=1%25"),
        ("/data/a", ".", "file:///data/a"),
        ("s3://bucket/a b/", "t/#1", "s3://bucket/a%20b/t/%231"),
        ("a:b", "c", "a%3Ab/c"),
        ("a", "\udcff", "a/%FF"),
        ("a", "\ud800", "a/%ED%A0%80"),
        ("a", "\n::x", "a/%0A%3A%3Ax"),
    ],
)
def test_a_place_is_a_uri(location: str, file: str, expected: str) -> None:
    assert uri(location, file) == expected


def test_a_place_is_a_path() -> None:
    assert path("runs/a/", "t/x") == "runs/a/t/x"
    assert path("runs/a", ".") == "runs/a"


@pytest.mark.parametrize(
    ("file", "pointer", "line"),
    [
        ("t/result.json", "6/training_iteration", 7),
        ("experiment_state.json", "trial_data/3/0#storage", None),
        ("t/progress.csv", "3/loss", None),
        ("tuner.pkl", "#a", None),
        ("t/result.json", "", None),
        ("t/result.json", "~9", None),
    ],
)
def test_a_log_has_lines(file: str, pointer: str, line: int | None) -> None:
    assert line_of(Evidence(witness="session", claim="x", file=file, pointer=pointer)) == line


def test_a_record_is_where_to_look_first() -> None:
    evidence = main_evidence(finding().evidence)
    assert evidence is not None
    assert evidence.witness == "trial"
    assert folder_of(finding()) == "fn_00000/checkpoint_000007"
    assert folder_of(finding(trial=None, checkpoint=None)) == "."
