"""What a trial's chart shows: a metric over the iterations, and what became of each save."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum

from msgspec import Struct

from ckptctl.model.checkpoint import Checkpoint, CheckpointState, Metrics
from ckptctl.model.experiment import Trial
from ckptctl.model.metrics import finite_number
from ckptctl.report.rows import is_latest

# What Ray adds to every result by itself, and what only counts.
_DULL = frozenset(
    {
        "training_iteration",
        "timestamp",
        "time_this_iter_s",
        "time_total_s",
        "time_since_restore",
        "iterations_since_restore",
        "pid",
        "epoch",
        "step",
        "i",
    }
)


class Fate(StrEnum):
    """What became of a save."""

    KEPT = "kept"
    BROKEN = "broken"
    """On storage, but not complete."""
    MISSING = "missing"
    """Recorded, but not on storage."""
    EVICTED = "evicted"
    """Told by the log alone: deleted by retention."""


class Mark(Struct, frozen=True, kw_only=True):
    """One save."""

    x: float
    y: float | None
    """None where its value is not known or no number."""
    fate: Fate
    name: str
    best: bool = False
    latest: bool = False


class Chart(Struct, frozen=True, kw_only=True):
    """A metric of a trial, ready to be drawn."""

    metric: str
    mode: str | None
    """Only where the trial ranks by this metric."""
    by: str
    """What the horizontal axis counts."""
    curve: tuple[tuple[float, float], ...]
    """Every reported value, in order; gaps are not finite."""
    marks: tuple[Mark, ...]


def chart(trial: Trial) -> Chart | None:
    """Gather a trial's chart; None where nothing numeric was reported."""
    retention = trial.retention
    ranked = retention.monitor if retention else None
    metric = ranked or (trial.best.metric if trial.best else None)
    if metric is None or not _reported(trial, metric):
        metric = _first(trial)
    if metric is None:
        return None
    mode = retention.mode if retention and metric == ranked else None
    counted = all(c.training_iteration is not None for c in trial.checkpoints)
    by_iteration = counted or bool(trial.rows)
    return Chart(
        metric=metric,
        mode=mode,
        by="iteration" if by_iteration else "save",
        curve=tuple(_curve(trial, metric)) if by_iteration else (),
        marks=tuple(_marks(trial, metric, by_iteration=by_iteration)),
    )


def _metrics(trial: Trial) -> Iterator[Metrics]:
    yield from (c.metrics for c in trial.checkpoints)
    yield from (row.metrics for row in trial.rows)


def _reported(trial: Trial, metric: str) -> bool:
    return any(number(m.get(metric)) is not None for m in _metrics(trial))


def _first(trial: Trial) -> str | None:
    for metrics in _metrics(trial):
        for key, value in metrics.items():
            if key not in _DULL and not key.startswith("config/") and number(value) is not None:
                return key
    return None


def number(value: object) -> float | None:
    """Take a metric as a finite number, or not at all."""
    found = finite_number(value)
    return None if found is None else float(found)


def _curve(trial: Trial, metric: str) -> Iterator[tuple[float, float]]:
    for row in trial.rows:
        x, y = number(row.training_iteration), number(row.metrics.get(metric))
        if x is not None:
            yield x, math.nan if y is None else y


def _marks(trial: Trial, metric: str, *, by_iteration: bool) -> Iterator[Mark]:
    best = trial.best.name if trial.best and trial.best.metric == metric else None
    last = -1.0
    for checkpoint in sorted(trial.checkpoints, key=lambda c: c.saved):
        told = number(checkpoint.training_iteration if by_iteration else checkpoint.saved)
        # A folder that nobody recorded comes after the save before it.
        last = last + 1 if told is None else told
        yield Mark(
            x=last,
            y=number(checkpoint.metrics.get(metric)),
            fate=_fate(checkpoint),
            name=checkpoint.name,
            best=checkpoint.name == best,
            latest=is_latest(trial, checkpoint),
        )
    if by_iteration:
        yield from _evicted(trial, metric)


def _fate(checkpoint: Checkpoint) -> Fate:
    if checkpoint.state is CheckpointState.MISSING:
        return Fate.MISSING
    return Fate.KEPT if checkpoint.state is CheckpointState.COMPLETE else Fate.BROKEN


def _evicted(trial: Trial, metric: str) -> Iterator[Mark]:
    known = {c.name for c in trial.checkpoints}
    at = {c.training_iteration for c in trial.checkpoints}
    for row in trial.rows:
        saved = row.name is not None or row.checkpointed
        x = number(row.training_iteration)
        if saved and x is not None and row.name not in known and row.training_iteration not in at:
            y = number(row.metrics.get(metric))
            yield Mark(x=x, y=y, fate=Fate.EVICTED, name=row.name or f"iteration {x:.0f}")


def thinned(points: Sequence[tuple[float, float]], most: int) -> Sequence[tuple[float, float]]:
    """Leave out points evenly; both ends stay."""
    if len(points) <= most:
        return points
    last = len(points) - 1
    return [points[round(i * last / (most - 1))] for i in range(most)]


def ticks(low: float, high: float, most: int) -> list[float]:
    """Choose round numbers between two ends."""
    rough = high / most - low / most
    step = _round(rough) if rough > 0 else 0.0
    if not step or not math.isfinite(step):
        return [low, high] if high > low else [low]
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [i * step for i in range(first, last + 1)] or [low, high]


def _round(rough: float) -> float:
    """Find the next number that begins with 1, 2 or 5 and goes on with zeros."""
    power = 10.0 ** math.floor(math.log10(rough))
    return next((u * power for u in (1, 2, 5) if u * power >= rough * (1 - 1e-9)), 10 * power)


def span(values: Iterable[float]) -> tuple[float, float]:
    """Find both ends of what is finite; a single value gets some room around it."""
    finite = [v for v in values if math.isfinite(v)]
    low, high = min(finite, default=0.0), max(finite, default=1.0)
    if low < high:
        return low, high
    room = abs(low) / 10 or 1.0
    return max(low - room, -sys.float_info.max), min(high + room, sys.float_info.max)
