"""What the next save of a trial deletes.

Ray puts the new save into its ascending list and drops from the front what is more than
``num_to_keep``, the newest aside (Ray 2.8 to 2.60 ``train/_internal/checkpoint_manager.py``). Ray
2.6 keeps a heap of that size, and the latest beside it.
"""

from __future__ import annotations

from ckptctl.model.experiment import Experiment, Record, Trial
from ckptctl.stages.ranking import Ranking

_LEGACY = "ray-legacy"


def next_deleted(experiment: Experiment, trial: Trial, ranking: Ranking | None) -> tuple[str, ...]:
    """The names of what goes when one more checkpoint comes that ranks above all of it."""
    keep = ranking.num_to_keep if ranking is not None and ranking.exact else None
    if keep is None or keep < 1:
        return ()
    records = trial.records
    if experiment.layout == _LEGACY:
        records = tuple(sorted(records, key=_priority))
    extra = max(0, len(records) + 1 - keep)
    return tuple(r.ref.name if r.ref else r.path for r in records[:extra])


def _priority(record: Record) -> tuple[bool, float, int]:
    return record.priority or (False, 0.0, record.serial or 0)
