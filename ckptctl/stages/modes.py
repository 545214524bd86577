"""Metrics that are ranked by the end that their names speak against."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from ckptctl.model.experiment import Experiment, Trial
from ckptctl.stages.conflicts import Said, lightning_of, ray_said, saver_said
from ckptctl.stages.ranking import ranking_of

_LOW_IS_GOOD = (
    "loss losses err error errors mse rmse mae mape nll perplexity ppl wer cer fid regret cost "
    "latency divergence kl brier logloss"
)
_HIGH_IS_GOOD = (
    "acc accuracy f1 auc auroc ap map precision recall reward rewards return score iou dice bleu "
    "rouge psnr ssim ndcg mrr r2 throughput"
)
_DOWN, _UP = frozenset(_LOW_IS_GOOD.split()), frozenset(_HIGH_IS_GOOD.split())
_WORDS = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z0-9]+")


class Suspect(Struct, frozen=True, kw_only=True):
    """A metric that is ranked by the end that its name speaks against."""

    said: Said
    metric: str
    mode: str


def suspect_mode(metric: str, mode: str) -> bool:
    """Whether a metric's name speaks against ranking it by this end."""
    words = {word.lower() for word in _WORDS.findall(metric[:200])}
    down, up = bool(words & _DOWN), bool(words & _UP)
    return down != up and (mode == "max" if down else mode == "min")


def suspects(experiment: Experiment, trial: Trial) -> Iterator[Suspect]:
    """Every stage of a trial that ranks by the end that the metric's name speaks against."""
    found, ranking = lightning_of(experiment, trial), ranking_of(experiment, trial)
    told: list[tuple[str | None, str | None, Said]] = (
        [(saver.monitor, saver.mode, saver_said(saver, found)) for saver in found.savers]
        if found
        else []
    )
    if ranking is not None and ranking.exact:
        told.append((ranking.monitor, ranking.mode, ray_said(ranking)))
    for metric, mode, said in told:
        if metric is not None and mode is not None and suspect_mode(metric, mode):
            yield Suspect(said=said, metric=metric, mode=mode)
