"""Who saves, reports, keeps and deletes: what `policy` is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptctl.api._executor import LOCAL, Executor
from ckptctl.api.reading import check, experiments, narrow
from ckptctl.model.finding import Finding

if TYPE_CHECKING:
    from ckptctl.scanner import Watch
    from ckptctl.stages.told import Stages

CODES = ("CKP401", "CKP402", "CKP403", "CKP404")


def policy(
    location: str,
    *,
    layout: str | None = None,
    trial: str | None = None,
    watch: Watch | None = None,
    executor: Executor = LOCAL,
) -> tuple[tuple[Stages, tuple[Finding, ...]], ...]:
    """Tell, stage by stage, which settings decide what is saved and kept, and what disagrees.

    One payload of every trial is looked into; of a file of Lightning its small pickle is read.
    """
    from ckptctl.stages.told import stages_of

    pairs = []
    read = experiments(
        location, layout=layout, trial=trial, stages=True, watch=watch, executor=executor
    )
    for whole in read:
        view = narrow(whole, trial)
        kept = {t.dirname for t in view.trials} | {None}
        found = check(whole, select=CODES)
        pairs.append((stages_of(view), tuple(f for f in found if f.trial in kept)))
    return tuple(pairs)
