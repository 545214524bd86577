from __future__ import annotations

import math
import sys

import pytest

from ckptctl.model.checkpoint import CheckpointState
from ckptctl.model.experiment import Retention, Row
from ckptctl.report import svg
from ckptctl.report.chart import Chart, Fate, Mark, chart, span, thinned, ticks
from tests.unit.report.values import checkpoint, trial


def rows(number: int) -> tuple[Row, ...]:
    return tuple(
        Row(
            line=i,
            has_name=True,
            name=f"checkpoint_{i:06d}",
            training_iteration=i + 1,
            metrics={"training_iteration": i + 1, "loss": 1 / (i + 1), "acc": 0.5},
            checkpointed=True,
        )
        for i in range(number)
    )


def test_rows_tell_of_what_was_evicted() -> None:
    found = chart(trial(0, rows=rows(8)))
    assert found is not None
    assert (found.metric, found.by) == ("loss", "iteration")
    assert len(found.curve) == 8
    fates = [m.fate for m in found.marks]
    assert fates.count(Fate.KEPT) == 3
    assert fates.count(Fate.EVICTED) == 5
    assert [m.name for m in found.marks if m.latest] == ["checkpoint_000007"]
    assert [m.name for m in found.marks if m.best] == ["checkpoint_000005"]


def test_the_ranking_metric_goes_first() -> None:
    ranked = trial(0, rows=rows(8), retention=Retention(monitor="acc", mode="max"), best=None)
    found = chart(ranked)
    assert found is not None
    assert (found.metric, found.mode) == ("acc", "max")


def test_a_ranking_metric_that_nobody_reported_is_not_shown() -> None:
    found = chart(trial(0, rows=rows(8), retention=Retention(monitor="gone"), best=None))
    assert found is not None
    assert (found.metric, found.mode) == ("loss", None)


def test_missing_and_broken_saves_are_told_apart() -> None:
    points = (
        checkpoint(5, state=CheckpointState.MISSING),
        checkpoint(6, state=CheckpointState.PARTIAL),
        checkpoint(7, metrics={"loss": math.nan}, training_iteration=None),
    )
    found = chart(trial(0, checkpoints=points, rows=rows(6)))
    assert found is not None
    assert [m.fate for m in found.marks[:3]] == [Fate.MISSING, Fate.BROKEN, Fate.KEPT]
    assert (found.marks[2].x, found.marks[2].y) == (8.0, None)


def test_without_numbers_there_is_no_chart() -> None:
    assert chart(trial(0, checkpoints=(checkpoint(5, metrics={"s": "x"}),), best=None)) is None


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (0, 1),
        (-5, 5),
        (1e-300, 2e-300),
        (5e-324, 1e-323),
        (-sys.float_info.max, sys.float_info.max),
        (3, 3),
        (1e16, 1e16 + 2),
    ],
)
def test_ticks_lie_between_the_ends(low: float, high: float) -> None:
    found = ticks(low, high, 5)
    assert 1 <= len(found) <= 12
    assert all(math.isfinite(t) for t in found)


@pytest.mark.parametrize("top", [0.0, 1.0, 5e-324, 1e308, sys.float_info.max])
def test_any_numbers_can_be_drawn(top: float) -> None:
    curve = ((0.0, -top), (1.0, math.nan), (2.0, top))
    marks = tuple(
        Mark(x=x, y=y, fate=Fate.KEPT, name="a", best=True, latest=True) for x, y in curve
    )
    drawn = svg.draw(
        Chart(metric="m", mode=None, by="save", curve=curve, marks=marks), svg.Budget()
    )
    assert "inf" not in drawn
    assert 'd=""' not in drawn


def test_both_ends_stay_when_points_are_left_out() -> None:
    points = [(float(i), 0.0) for i in range(1000)]
    kept = thinned(points, 10)
    assert (len(kept), kept[0], kept[-1]) == (10, points[0], points[-1])
    assert thinned(points[:3], 10) == points[:3]
    assert span([]) == (0.0, 1.0)
