"""Whether the metric that ranks a trial's checkpoints was there at each save."""

from __future__ import annotations

from ckptctl.model.bookkeeping import Witness
from ckptctl.model.experiment import Experiment, Trial
from ckptctl.model.rows import columns
from ckptctl.stages.ranking import ranking_of


def unscored(experiment: Experiment, trial: Trial) -> tuple[str, tuple[str, ...]] | None:
    """The ranking metric, and the checkpoints that were saved without it, or None.

    Evicted ones count too where the result log names them.
    """
    ranking = ranking_of(experiment, trial)
    if ranking is None or not ranking.exact or ranking.monitor is None:
        return None
    metric = ranking.monitor
    estimated = {r.ref.name for r in trial.records if r.ref and r.estimated}
    names: dict[str, None] = {}
    known = [c for c in trial.checkpoints if Witness.TRIAL in c.recorded_by]
    for checkpoint in sorted(known, key=lambda c: c.saved):
        told = checkpoint.metrics
        if told and metric not in told and checkpoint.name not in estimated:
            names[checkpoint.name] = None
    rows = columns(trial.rows)
    for place in rows.without(metric):
        names[rows.names[place] or ""] = None
    return (metric, tuple(names)) if names else None
