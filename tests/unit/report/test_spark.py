from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from ckptctl.model.experiment import Trial
from ckptctl.report.lines import ASCII_MARKS, Page
from ckptctl.report.spark import WIDTH, spark


def drawn(*values: object, page: Page | None = None) -> str:
    saves = [SimpleNamespace(metrics={"loss": value}) for value in values]
    trial = cast(Trial, cast(Any, SimpleNamespace(saves=saves)))
    return spark(trial, "loss", page or Page(width=80))


def test_from_the_lowest_to_the_highest() -> None:
    assert drawn(0, 1, 2, 3, 4, 5, 6, 7) == "▁▂▃▄▅▆▇█"
    assert drawn(7.0, 0.0) == "█▁"
    assert drawn(3, 3, 3) == "▅▅▅"


def test_what_is_no_number_is_a_gap() -> None:
    assert drawn(0, None, float("nan"), True, "x", 10**400, 1) == "▁     █"
    assert drawn(1, None) == drawn(1) == drawn() == ""


def test_many_saves_are_sampled_with_both_ends() -> None:
    line = drawn(*range(1000))
    assert len(line) == WIDTH
    assert (line[0], line[-1]) == ("▁", "█")


def test_the_range_may_be_more_than_a_float_holds() -> None:
    assert drawn(-1.7e308, 1.7e308) == "▁█"


def test_pipes_and_ascii_terminals_get_none() -> None:
    assert drawn(1, 2, page=Page()) == ""
    assert drawn(1, 2, page=Page(width=80, marks=ASCII_MARKS)) == ""
