"""How a metric went along the checkpoints of a trial, in a few columns of a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from ckptctl.model.experiment import Trial
from ckptctl.model.metrics import finite_number
from ckptctl.report.lines import Page

WIDTH = 16


def spark(trial: Trial, metric: str, page: Page) -> str:
    """Draw the metric in the order of the saves; empty in a pipe, and for fewer than two."""
    bars = page.marks.bars
    if page.width is None or not bars:
        return ""
    values = _sampled([_number(c.metrics.get(metric)) for c in trial.saves])
    known = [v for v in values if v is not None]
    if len(known) < 2:
        return ""
    low, high = min(known), max(known)
    return "".join(_bar(value, low, high, bars) for value in values)


def _number(value: object) -> float | None:
    number = finite_number(value)
    return None if number is None else float(number)


def _sampled(values: Sequence[float | None]) -> list[float | None]:
    """Keep the first, the last, and others at even distances."""
    if len(values) <= WIDTH:
        return list(values)
    return [values[round(n * (len(values) - 1) / (WIDTH - 1))] for n in range(WIDTH)]


def _bar(value: float | None, low: float, high: float, bars: str) -> str:
    if value is None:
        return " "
    # Halves: the range of two floats may be more than a float holds.
    span = high / 2 - low / 2
    share = (value / 2 - low / 2) / span if span else 0.5
    return bars[round(share * (len(bars) - 1))]
