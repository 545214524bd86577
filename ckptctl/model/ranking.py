"""Which checkpoint of a trial is the newest, and which the best by a metric."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ckptctl.model.bookkeeping import Witness
from ckptctl.model.checkpoint import Checkpoint, CheckpointState
from ckptctl.model.experiment import Best, Trial
from ckptctl.model.metrics import finite_number, values_of


def newest_whole(trial: Trial) -> Checkpoint | None:
    """The newest complete checkpoint, of those on record if there are any."""
    newest = None
    if trial.records or trial.latest_record is not None:
        newest = next((c for c in _whole(trial) if Witness.TRIAL in c.recorded_by), None)
    return newest or next(_whole(trial), None)


def _whole(trial: Trial) -> Iterator[Checkpoint]:
    """The complete checkpoints, the newest first."""
    return (c for c in reversed(trial.saves) if c.state is CheckpointState.COMPLETE)


def best_by(saves: Sequence[Checkpoint], metric: str | None, mode: str) -> Best | None:
    """The best of some checkpoints, in the order of their saves; the later one of equals.

    `mode` is ``min`` or ``max``. A metric that is missing, not a number or not finite gives a
    checkpoint no score; None where there is no metric to rank by, or none has a score.
    """
    if metric is None:
        return None
    values = values_of(metric, [checkpoint.metrics for checkpoint in saves])
    scored = [place for place, value in enumerate(values) if finite_number(value) is not None]
    if not scored:
        return None
    best = (max if mode == "max" else min)([values[place] for place in scored])
    place = next(place for place in reversed(scored) if values[place] == best)
    return Best(name=saves[place].name, metric=metric, mode=mode, value=float(values[place]))
