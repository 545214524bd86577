"""Which checkpoint of a trial is the best by a metric."""

from __future__ import annotations

import math

from ckptctl.model.experiment import Best, Retention, Trial
from ckptctl.model.metrics import values_of


def best_by(trial: Trial, retention: Retention | None) -> Best | None:
    """The best checkpoint on storage by a retention's metric; the later one of equals.

    A metric that is missing, not a number or not finite gives a checkpoint no score; None where
    nothing ranks the trial's checkpoints or none has a score.
    """
    if retention is None or retention.monitor is None:
        return None
    metric, sign = retention.monitor, 1 if retention.mode == "max" else -1
    scored = []
    values = values_of(metric, [checkpoint.metrics for checkpoint in trial.saves])
    for checkpoint, value in zip(trial.saves, values, strict=True):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            continue
        if math.isfinite(value):
            scored.append((sign * value, checkpoint.saved, checkpoint.name, value))
    if not scored:
        return None
    _, _, name, value = max(scored)
    return Best(name=name, metric=metric, mode=retention.mode, value=float(value))
