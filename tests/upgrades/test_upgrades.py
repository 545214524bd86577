"""A part of `make upgrades`: two pairs of Rays, one up and one down, and how pairs are told."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.judge.judge import Judge, MissingRay
from tests.upgrades import document, results
from tests.upgrades.pairs import (
    GOES_ON,
    NAMES,
    RAISES,
    RAYS,
    STARTS_OVER,
    TRAIN_V2,
    TRAIN_V2_RAYS,
    Asked,
    Seen,
    make,
    pairs,
    run,
)

PART = (
    ("function", "2.7.2", "2.60.0", STARTS_OVER),
    ("class", "2.54.1", "2.9.3", RAISES),
)


@pytest.mark.judge
@pytest.mark.parametrize(("scenario", "source", "target", "as_it_is"), PART)
def test_a_pair_of_real_rays(
    scenario: str, source: str, target: str, as_it_is: str, tmp_path: Path
) -> None:
    try:
        make(tmp_path, source, [scenario])
        judge = Judge(target)
    except MissingRay as error:
        if os.environ.get("CKPTCTL_JUDGE") == "skip-missing":
            pytest.skip(str(error))
        pytest.fail(str(error), pytrace=False)
    with judge:
        seen = run(Asked(judge, tmp_path), scenario, source)
    assert not seen.trouble
    assert (seen.told, seen.real, seen.migrated) == (as_it_is, as_it_is, GOES_ON)
    assert seen.edits > 0


def test_every_ray_is_asked_about_every_other() -> None:
    found = pairs()
    assert len(found) == len(set(found)) == 3 * len(RAYS) ** 2 + len(TRAIN_V2_RAYS) ** 2
    assert {scenario for scenario, _, _ in found} == set(NAMES)
    targets = [target for scenario, _, target in found if scenario != TRAIN_V2]
    assert targets == sorted(targets, key=RAYS.index), "one Ray after the other is started"


def test_a_result_is_kept_until_the_code_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CKPTCTL_RAYS", str(tmp_path))
    seen = Seen("class", "2.7.2", "2.60.0", STARTS_OVER, STARTS_OVER, 30, GOES_ON, digest="d")
    results.save(seen)
    assert results.load("class", "2.7.2", "2.60.0") == seen
    assert results.load("class", "2.9.3", "2.60.0") is None
    before = results.digest()
    monkeypatch.setattr(results, "FILES", results.FILES[1:])
    assert results.digest() != before


def test_the_tables_tell_what_was_seen_and_what_was_wrong() -> None:
    pair = ("function", "2.7.2", "2.60.0")
    seen = Seen(*pair, told=STARTS_OVER, real=STARTS_OVER, edits=30, migrated=GOES_ON)
    same = ("function", "2.60.0", "2.60.0")
    other = Seen(*same, told=GOES_ON, real=RAISES, edits=0, migrated=RAISES, trouble=["it raises"])
    told = document.tables({pair: seen, same: other})
    assert (
        "| 2.7.2 | not run | not run | not run | not run | not run | not run | starts over |"
        in told
    )
    assert "| goes on (30) |" in told
    assert "nothing to do" in told
    assert "in 1 of 2 pairs" in told
    assert "- function, 2.60.0 to 2.60.0: it raises" in told


def test_only_what_stands_between_the_marks_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CKPTCTL_RAYS", str(tmp_path))
    page = tmp_path / "page.md"
    page.write_text(f"before\n{document.BEGIN}\nwhat was there\n{document.END}\nbehind\n")
    document.write(page)
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("\nbehind\n")
    assert "what was there" not in text
    assert "### Train V2" in text
