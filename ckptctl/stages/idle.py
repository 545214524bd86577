"""Settings that were given and that nobody reads."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from ckptctl.model.bookkeeping import Provenance
from ckptctl.model.experiment import Experiment, Trial
from ckptctl.model.stages import Requested
from ckptctl.stages import runner as r
from ckptctl.stages.ranking import Ranking, ranking_of


class Idle(Struct, frozen=True, kw_only=True):
    """A setting that has no effect, and why."""

    setting: str
    value: object
    why: str
    provenance: Provenance


def idle(experiment: Experiment, trial: Trial) -> Iterator[Idle]:
    """Every setting of a trial that was given and has no effect."""
    asked, ranking = experiment.settings.requested, ranking_of(experiment, trial)
    if asked is not None:
        yield from _unread(experiment, trial, asked)
    if ranking is None or not ranking.exact:
        return
    if ranking.monitor is None and ranking.mode == "min":
        yield Idle(
            setting="checkpoint_score_order",
            value="min",
            why="there is no checkpoint_score_attribute, so the newest are kept",
            provenance=ranking.provenance,
        )
    if asked is not None:
        yield from _overruled(experiment, trial, asked, ranking)


def _unread(experiment: Experiment, trial: Trial, asked: Requested) -> Iterator[Idle]:
    runner, own_loop = r.runner_of(experiment, trial), experiment.settings.own_loop
    frequency = r.frequency(runner, own_loop=own_loop, value=asked.frequency)
    at_end = r.at_end(runner, own_loop=own_loop, value=asked.at_end)
    # A function trainable takes False, which is what it does anyway.
    ended = asked.at_end is not None and not (runner is r.Runner.FUNCTION and not asked.at_end)
    told = (
        ("checkpoint_frequency", asked.frequency, bool(asked.frequency), frequency),
        ("checkpoint_at_end", asked.at_end, ended, at_end),
    )
    for setting, value, given, verdict in told:
        if given and verdict.applies in (r.Applies.NO, r.Applies.REFUSED):
            yield Idle(setting=setting, value=value, why=verdict.why, provenance=asked.provenance)


def _overruled(
    experiment: Experiment, trial: Trial, asked: Requested, ranking: Ranking
) -> Iterator[Idle]:
    """What ``tuner.pkl`` says and the trial's own record, which counts, does not.

    A restored trial goes on by its own record (Ray 2.6 to 2.60 ``tune/experiment/trial.py``).
    """
    if trial.retention is None:
        return
    monitor = ranking.monitor
    if experiment.layout == "ray-legacy" and monitor == "training_iteration":
        monitor = asked.monitor  # what Ray 2.6 puts there by itself
    pairs = (
        ("num_to_keep", asked.num_to_keep, ranking.num_to_keep),
        ("checkpoint_score_attribute", asked.monitor, monitor),
        ("checkpoint_score_order", asked.mode or "max", ranking.mode),
    )
    for setting, wanted, used in pairs:
        if wanted != used:
            yield Idle(
                setting=setting,
                value=wanted,
                why=f"trials go by their own record, which has {used}",
                provenance=asked.provenance,
            )
