from __future__ import annotations

import pytest

from ckptctl.report import words


def test_singular_and_plural() -> None:
    assert words.count(1, "error") == "1 error"
    assert words.count(0, "error") == "0 errors"
    assert words.count(4000, "trial") == "4,000 trials"


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0 B"), (270, "270 B"), (999, "999 B"), (1000, "1.0 kB"), (999_960, "1.0 MB"),
     (4_100_000_000, "4.1 GB"), (5_000_000_000_000_000, "5000.0 TB")],
)  # fmt: skip
def test_sizes_get_units(number: int, text: str) -> None:
    assert words.size(number) == text


@pytest.mark.parametrize(
    ("passed", "text"),
    [(5, "just now"), (180, "3 min ago"), (7200, "2 h ago"), (86400 * 3, "3 days ago")],
)
def test_times_are_relative_for_people(passed: int, text: str) -> None:
    assert words.ago(1_796_000_000 - passed, 1_796_000_000) == text


def test_times_are_absolute_for_programs() -> None:
    assert words.moment(1_796_042_849) == "2026-11-30T12:47:29Z"


@pytest.mark.parametrize(
    ("number", "text"), [(3, "3"), (0.25, "0.25"), (0.285714, "0.2857"), (1e-05, "1e-05")]
)
def test_metrics_keep_four_digits(number: float, text: str) -> None:
    assert words.value(number) == text
