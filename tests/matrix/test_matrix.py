"""A part of `make matrix`: two Rays, and the scenarios that no other test of this suite makes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.judge.asked import the_real
from tests.judge.judge import Judge
from tests.matrix import course, document, results
from tests.matrix.results import Result
from tests.matrix.scenarios import NAMES, RAYS, TRAIN_V2, cells, named
from tests.matrix.told import Told

PART = ("killed", "failed", "retried")


@pytest.fixture(scope="module", params=["2.54.1", "2.7.2"])
def judge(request: pytest.FixtureRequest) -> Iterator[Judge]:
    with the_real(Judge, request.param) as judge:
        yield judge


@pytest.mark.judge
@pytest.mark.parametrize("scenario", PART)
def test_a_scenario_with_a_real_ray(judge: Judge, scenario: str, tmp_path: Path) -> None:
    seen = course.run(judge, named(scenario), tmp_path)
    failed = [f"{phase.phase}: {phase.text}" for phase in seen if phase.state != "ok"]
    assert not failed, "\n".join(failed)
    assert len(seen) == 6


def test_every_ray_has_every_scenario() -> None:
    found = cells(RAYS, NAMES)
    assert len(found) == len(RAYS) * (len(NAMES) - 1) + 3
    assert [version for version, name in found if name == TRAIN_V2] == [
        "2.48.0",
        "2.54.1",
        "2.60.0",
    ]


def test_a_result_is_kept_until_the_code_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CKPTCTL_RAYS", str(tmp_path))
    kept = Result(
        "2.54.1", "function", results.digest(), [Told("made", "ok", "seen")], 1.5, "today"
    )
    results.save(kept)
    assert results.load("2.54.1", "function") == kept
    assert results.load("2.54.1", "class") is None
    monkeypatch.setattr(results, "FILES", results.FILES[1:])
    assert results.digest() != kept.digest


def test_the_document_tells_what_failed() -> None:
    phases = [Told("made", "ok", "3 ERROR"), Told("renamed", "failed", "a | b\nc")]
    told = document.render([Result("2.54.1", "function", "", phases, 1.0, "2026-11-30")])
    assert "| function | 3 ERROR | not run | **failed**: a \\| b c | not run |" in told
    assert "## Ray 2.54.1" in told
    assert "## Ray 2.7.2" not in told
