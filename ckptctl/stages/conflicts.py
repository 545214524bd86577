"""Where two stages disagree about what is kept, or by what."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from ckptctl.model.bookkeeping import Provenance
from ckptctl.model.experiment import Experiment, Trial
from ckptctl.model.stages import Lightning, Saver
from ckptctl.stages.ranking import Ranking, ranking_of


class Said(Struct, frozen=True, kw_only=True):
    """What one stage says, and where."""

    stage: str
    """``lightning``, ``ray`` or ``tune``."""
    claim: str
    provenance: Provenance


class Conflict(Struct, frozen=True, kw_only=True):
    """Two stages that keep or rank checkpoints differently."""

    inner: Said
    outer: Said
    exact: bool
    """Whether both are settings; else one is what the records allow."""


def lightning_of(experiment: Experiment, trial: Trial) -> Lightning | None:
    """What Lightning was configured with, or what it left in the trial's newest checkpoint."""
    return experiment.settings.configured or trial.lightning


def conflicts(experiment: Experiment, trial: Trial) -> Iterator[Conflict]:
    """Every pair of stages of a trial that disagree about what is kept."""
    ranking = ranking_of(experiment, trial)
    if ranking is None:
        return
    found = lightning_of(experiment, trial)
    for saver in found.savers if found else ():
        if saver.monitor is not None and _disagree(saver, ranking, found):
            yield Conflict(
                inner=saver_said(saver, found),
                outer=ray_said(ranking),
                exact=ranking.exact,
            )
    tuned = experiment.settings.tuned
    if tuned is None or not ranking.exact or ranking.monitor is None or tuned.mode is None:
        return
    if tuned.metric == ranking.monitor and tuned.mode != ranking.mode:
        claim = f"TuneConfig ranks trials by {tuned.metric} ({tuned.mode})"
        said = Said(stage="tune", claim=claim, provenance=tuned.provenance)
        yield Conflict(inner=said, outer=ray_said(ranking), exact=True)


def _disagree(saver: Saver, ranking: Ranking, found: Lightning | None) -> bool:
    if not ranking.exact:
        # In the order of the saves it may as well be unranked.
        return ranking.by_score is True and not ranking.allows(saver.monitor, saver.mode)
    if ranking.monitor is None:
        return ranking.num_to_keep is not None
    if (ranking.monitor, ranking.mode) != (saver.monitor, saver.mode):
        return True
    kept = kept_of(saver, found)
    return None not in (kept, ranking.num_to_keep) and kept not in (-1, ranking.num_to_keep)


def kept_of(saver: Saver, found: Lightning | None) -> int | None:
    """How many files a `ModelCheckpoint` keeps, where it has come to drop some or was asked."""
    if saver.keeps_exactly or saver.keeps is None:
        return saver.keeps
    # Its state is of before this save, so that epoch 3 (from 0) tells of three.
    dropped = found is not None and found.epoch is not None and found.epoch > saver.keeps
    return saver.keeps if dropped and saver.every_n_epochs == 1 else None


def saver_said(saver: Saver, found: Lightning | None) -> Said:
    """What a `ModelCheckpoint` says about what it keeps."""
    kept = kept_of(saver, found)
    many = "keeps" if kept is None else "keeps all" if kept == -1 else f"keeps {kept}"
    by = f" by {saver.monitor} ({saver.mode})" if saver.monitor else ""
    return Said(stage="lightning", claim=f"{saver.name} {many}{by}", provenance=saver.provenance)


def ray_said(ranking: Ranking) -> Said:
    """What Ray's `CheckpointConfig` says, or what the records say about it."""
    return Said(stage="ray", claim=_outer_claim(ranking), provenance=ranking.provenance)


def _outer_claim(ranking: Ranking) -> str:
    if not ranking.exact:
        fits = [f"{metric} ({mode})" for metric, mode in ranking.candidates]
        told = " or ".join(fits) if fits else "no reported metric"
        return f"Ray lists its checkpoints in the order of {told}"
    keep = ranking.num_to_keep
    many = "keeps all" if keep is None else f"keeps {keep}"
    if ranking.monitor is None:
        return f"CheckpointConfig {many}" + ("" if keep is None else ", the newest")
    ranked = ", ranked" if keep is None else ""
    return f"CheckpointConfig {many}{ranked} by {ranking.monitor} ({ranking.mode})"
