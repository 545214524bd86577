"""Which checkpoint of a trial is the best by a metric."""

from __future__ import annotations

from ckptctl.model.experiment import Best, Retention, Trial
from ckptctl.model.metrics import finite_number, values_of


def best_by(trial: Trial, retention: Retention | None) -> Best | None:
    """The best checkpoint on storage by a retention's metric; the later one of equals.

    A metric that is missing, not a number or not finite gives a checkpoint no score; None where
    nothing ranks the trial's checkpoints or none has a score.
    """
    if retention is None or retention.monitor is None:
        return None
    metric, saves = retention.monitor, trial.saves
    values = values_of(metric, [checkpoint.metrics for checkpoint in saves])
    scored = [place for place, value in enumerate(values) if finite_number(value) is not None]
    if not scored:
        return None
    best = (max if retention.mode == "max" else min)([values[place] for place in scored])
    place = next(place for place in reversed(scored) if values[place] == best)
    value = float(values[place])
    return Best(name=saves[place].name, metric=metric, mode=retention.mode, value=value)
