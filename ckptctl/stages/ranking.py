"""How the checkpoints of a trial are ranked and how many stay: recorded, noted, or inferred.

Train V2 keeps its `CheckpointConfig` in memory only (Ray 2.46 to 2.60), but inserts each save
into its list by score, so that the order of the list tells what could have ranked it (Ray 2.54
``train/v2/_internal/execution/checkpoint/checkpoint_manager.py``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from itertools import pairwise

from msgspec import Struct

from ckptctl.model.bookkeeping import Provenance
from ckptctl.model.experiment import Experiment, Record, Trial
from ckptctl.model.metrics import finite_number
from ckptctl.model.stages import RunSettings

TRAIN_V2 = "ray-train-v2"
_MANAGER_FIELD = {"ray-legacy": "_checkpoint_strategy"}
_NOTE = ".ckptctl/train-v2.json"
_SNAPSHOT = "checkpoint_manager_snapshot.json"
_CONFIG = "checkpoint_config"


class Basis(StrEnum):
    """What a ranking is known from."""

    RECORDED = "recorded"
    """The trial's own record in the experiment state."""
    NOTED = "noted"
    """What ckptctl's integration wrote down while the run went on."""
    INFERRED = "inferred"
    """The order of the recorded checkpoints."""


class Ranking(Struct, frozen=True, kw_only=True):
    """How the outer stage, Ray's own, ranks and keeps."""

    basis: Basis
    provenance: Provenance
    num_to_keep: int | None = None
    monitor: str | None = None
    mode: str = "max"
    by_score: bool | None = None
    """Whether a score ranks at all; None where the order fits both."""
    candidates: tuple[tuple[str, str], ...] = ()
    """Of an inferred one: every (metric, mode) that gives just the order of the list."""

    @property
    def exact(self) -> bool:
        """Whether it is what was set, and not what fits."""
        return self.basis is not Basis.INFERRED

    def allows(self, metric: str | None, mode: str | None) -> bool:
        """Whether the checkpoints could be ranked by this metric and mode."""
        if self.exact:
            return (self.monitor, self.mode) == (metric, mode)
        return (metric, mode) in self.candidates


def ranking_of(experiment: Experiment, trial: Trial) -> Ranking | None:
    """How a trial's checkpoints are ranked; None where nothing tells."""
    if experiment.layout == TRAIN_V2:
        return _noted(experiment.settings) or _inferred(trial)
    kept = trial.retention
    if kept is None or trial.shape is None:
        return None
    name = _MANAGER_FIELD.get(experiment.layout, "_checkpoint_config")
    pointer = f"{trial.shape.list_pointer.rpartition('#')[0]}#{name}"
    return Ranking(
        basis=Basis.RECORDED,
        provenance=Provenance(file=experiment.state_file or "", pointer=pointer),
        num_to_keep=kept.num_to_keep,
        monitor=kept.monitor,
        mode=kept.mode,
        by_score=kept.monitor is not None,
    )


def _noted(settings: RunSettings) -> Ranking | None:
    config = (settings.recorded or {}).get(_CONFIG)
    if not isinstance(config, Mapping):
        return None
    keep, monitor = config.get("num_to_keep"), config.get("checkpoint_score_attribute")
    mode = config.get("checkpoint_score_order")
    return Ranking(
        basis=Basis.NOTED,
        provenance=Provenance(file=_NOTE, pointer=_CONFIG),
        num_to_keep=keep if isinstance(keep, int) and not isinstance(keep, bool) else None,
        monitor=monitor if isinstance(monitor, str) and monitor else None,
        mode=mode if mode in ("min", "max") else "max",
        by_score=isinstance(monitor, str) and bool(monitor),
    )


def _inferred(trial: Trial) -> Ranking | None:
    if len(trial.records) < 2:
        return None
    numbers = trial.report_numbers
    in_order = None if numbers is None else all(a < b for a, b in pairwise(numbers))
    candidates = tuple(_candidates(trial.records))
    return Ranking(
        basis=Basis.INFERRED,
        provenance=Provenance(file=_SNAPSHOT, pointer="checkpoint_results"),
        by_score=None if in_order is not False else True,
        candidates=candidates,
    )


def _candidates(records: tuple[Record, ...]) -> Iterator[tuple[str, str]]:
    """By name of the metric; the list is in ascending order of the score."""
    for metric in sorted(set.intersection(*(set(r.metrics) for r in records))):
        values = [score(r.metrics[metric]) for r in records]
        numbers = [v for v in values if v is not None]
        if len(numbers) < len(values) or len(set(numbers)) == 1:
            continue
        if all(a <= b for a, b in pairwise(numbers)):
            yield metric, "max"
        elif all(a >= b for a, b in pairwise(numbers)):
            yield metric, "min"


def score(value: object) -> float | None:
    """A reported value as a finite number, or None."""
    number = finite_number(value)
    return None if number is None else float(number)
