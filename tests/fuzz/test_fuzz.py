"""A short run of `make fuzz`, and all that it has ever found."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from tests.fuzz.run import MEMORY, Tally, fuzz, judge
from tests.support import copy_of

CASES = sorted(Path(__file__).parent.joinpath("cases").glob("*/ORIGIN"))
NUMBER = 40


@pytest.fixture(autouse=True)
def a_bug_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    """And not made into a report."""
    monkeypatch.setenv("CKPTCTL_DEBUG", "1")


def test_damaged_experiments_end_in_an_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seed = random.randrange(1 << 40)
    tally = fuzz(tmp_path, seed, seconds=60, cases=NUMBER, keep=tmp_path / "failures")
    with capsys.disabled():
        print(
            f"\n  seed {seed}: {tally.cases} damaged experiments, {tally.codes.total()} verbs, "
            f"{tally.applied} applied and undone, peak {tally.peak >> 20} MiB"
        )
    assert tally.failures == []
    assert tally.cases > 5


@pytest.mark.parametrize("origin", CASES, ids=lambda path: path.parent.name)
def test_what_was_found_stays_mended(tmp_path: Path, origin: Path) -> None:
    place = copy_of(origin.read_text().strip(), tmp_path)
    shutil.copytree(origin.parent, place, dirs_exist_ok=True)
    (place / "ORIGIN").unlink()
    tally = Tally()
    assert judge(place, tally, apply=True) is None
    assert tally.peak < MEMORY
