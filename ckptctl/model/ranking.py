"""Which checkpoint of a trial is the best by a metric."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ckptctl.model.experiment import Best, Retention, Trial
from ckptctl.model.metrics import finite_number, values_of

_NUMBERS = frozenset({int, float})


def best_by(trial: Trial, retention: Retention | None) -> Best | None:
    """The best checkpoint on storage by a retention's metric; the later one of equals.

    A metric that is missing, not a number or not finite gives a checkpoint no score; None where
    nothing ranks the trial's checkpoints or none has a score.
    """
    if retention is None or retention.monitor is None:
        return None
    metric, saves = retention.monitor, trial.saves
    values = values_of(metric, [checkpoint.metrics for checkpoint in saves])
    scored = _scored(values)
    if not scored:
        return None
    best = (max if retention.mode == "max" else min)([values[place] for place in scored])
    place = next(place for place in reversed(scored) if values[place] == best)
    value = float(values[place])
    return Best(name=saves[place].name, metric=metric, mode=retention.mode, value=value)


def _scored(values: Sequence[object]) -> list[int]:
    """The places of finite numbers."""
    try:
        numbers = ((n, value) for n, value in enumerate(values) if type(value) in _NUMBERS)
        return [n for n, value in numbers if math.isfinite(value)]  # type: ignore[arg-type]
    except OverflowError:  # a whole number of hundreds of digits
        return [n for n, value in enumerate(values) if finite_number(value) is not None]
