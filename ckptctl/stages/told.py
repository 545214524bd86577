"""All stages of an experiment's trials in one answer: each setting, what reads it, and where."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from ckptctl.model.bookkeeping import Provenance
from ckptctl.model.experiment import Experiment, Trial
from ckptctl.model.stages import Lightning, Saver, Stopper
from ckptctl.stages import runner as r
from ckptctl.stages.conflicts import kept_of, lightning_of
from ckptctl.stages.eviction import next_deleted
from ckptctl.stages.ranking import Basis, Ranking, ranking_of
from ckptctl.stages.scores import unscored

Value = bool | int | float | str | None


class Setting(Struct, frozen=True, kw_only=True):
    """One setting of one stage."""

    stage: str
    """``lightning``, ``report``, ``ray`` or ``tune``, in the order in which they act."""
    name: str
    value: Value
    """None where it is not set, or not known."""
    why: str
    """What it does here, or why it does nothing."""
    applies: r.Applies = r.Applies.YES
    exact: bool = True
    """Whether it is what was set, and not what the files let one guess."""
    provenance: Provenance | None = None


class TrialStages(Struct, frozen=True, kw_only=True):
    """The stages of one trial, and what comes of them."""

    trial_id: str | None
    dirname: str
    runner: r.Runner
    trainer: str | None
    settings: tuple[Setting, ...]
    deleted_next: tuple[str, ...]
    """What the next save deletes, as far as the records tell."""

    @property
    def same_as(self) -> tuple[object, ...]:
        """Equal for trials that are set up alike, whatever files say so."""
        told = tuple((s.stage, s.name, s.value, s.applies, s.why) for s in self.settings)
        return self.runner, self.trainer, told


class Stages(Struct, frozen=True, kw_only=True):
    """The stages of one experiment."""

    location: str
    name: str
    layout: str
    ray_version: str | None
    trials: tuple[TrialStages, ...]


def stages_of(experiment: Experiment) -> Stages:
    """Who saves, reports, keeps and deletes checkpoints in an experiment."""
    return Stages(
        location=experiment.location,
        name=experiment.name,
        layout=experiment.layout,
        ray_version=experiment.ray_version,
        trials=tuple(_trial(experiment, trial) for trial in experiment.trials),
    )


def _trial(experiment: Experiment, trial: Trial) -> TrialStages:
    ranking = ranking_of(experiment, trial)
    return TrialStages(
        trial_id=trial.trial_id,
        dirname=trial.dirname,
        runner=r.runner_of(experiment, trial),
        trainer=r.trainer_name(experiment, trial),
        settings=(
            *_lightning(experiment, trial),
            *_report(experiment, trial),
            *_ray(experiment, trial, ranking),
            *_tune(experiment),
        ),
        deleted_next=next_deleted(experiment, trial, ranking),
    )


def _lightning(experiment: Experiment, trial: Trial) -> Iterator[Setting]:
    found = lightning_of(experiment, trial)
    if found is None:
        return
    for saver in found.savers:
        yield from _saver(saver, found)
    for stopper in found.stoppers:
        yield from _stopper(stopper)


_TAKEN_OVER = "a CheckpointConfig in which nothing is set takes it over, another does not"
_OWN_FILES = "only of the files in its own working folder, which no restore sees"


def _saver(saver: Saver, found: Lightning) -> Iterator[Setting]:
    def row(name: str, value: Value, why: str, *, exact: bool = True) -> Setting:
        return Setting(
            stage="lightning",
            name=name,
            value=value,
            exact=exact,
            why=why,
            provenance=saver.provenance,
        )

    kept = kept_of(saver, found)
    # In Ray 2.6 the callback itself reports; since 2.7 a callback of its own does, every epoch.
    legacy = saver.name == "RayModelCheckpoint"
    reports = "and reports each" if legacy else _OWN_FILES
    yield row("saves", _interval(saver), f"{saver.name} saves, {reports}")
    yield row("monitor", saver.monitor, f"{saver.name} ranks by it")
    yield row("mode", saver.mode, "which end of the metric is best")
    if saver.keeps is not None:
        told = "set" if saver.keeps_exactly else "as many as it holds after dropping others"
        concerns = _TAKEN_OVER if legacy else _OWN_FILES
        why = f"{told}; {concerns}" if kept is not None else "it may be going to hold more"
        exact = saver.keeps_exactly
        yield row("save_top_k", saver.keeps, why, exact=exact)


def _interval(saver: Saver) -> str | None:
    if saver.every_n_train_steps:
        return f"every {saver.every_n_train_steps} training steps"
    if saver.interval:
        return f"every {saver.interval}"
    if saver.every_n_epochs:
        many = saver.every_n_epochs
        return "every epoch" if many == 1 else f"every {many} epochs"
    return None


def _stopper(stopper: Stopper) -> Iterator[Setting]:
    for name, value in (
        ("early_stopping", stopper.monitor),
        ("early_stopping_mode", stopper.mode),
        ("early_stopping_patience", stopper.patience),
    ):
        yield Setting(
            stage="lightning",
            name=name,
            value=value,
            why="EarlyStopping ends the training by it; it keeps nothing",
            provenance=stopper.provenance,
        )


_FILLED_IN = frozenset(
    {
        "episodes_total",
        "iterations_since_restore",
        "time_since_restore",
        "time_this_iter_s",
        "time_total_s",
        "timestamp",
        "timesteps_since_restore",
        "timesteps_total",
        "training_iteration",
    }
)
"""What Ray adds to every result by itself (Ray 2.54 ``tune/trainable/trainable.py``)."""


def _report(experiment: Experiment, trial: Trial) -> Iterator[Setting]:
    saves = [c for c in trial.checkpoints if c.metrics]
    if not saves:
        return
    common = set.intersection(*(set(c.metrics) for c in saves)) - _FILLED_IN
    only = sorted({m for c in saves for m in c.metrics} - common - _FILLED_IN)
    why = "reported with every checkpoint that is known"
    if only:
        why += f"; with some only: {', '.join(only)}"
    yield _fact("report", "metrics", ", ".join(sorted(common)) or None, why)
    missing = unscored(experiment, trial)
    if missing is not None:
        metric, names = missing
        yield _fact("report", "metrics_missing", metric, f"not reported with {', '.join(names)}")


def _fact(stage: str, name: str, value: Value, why: str) -> Setting:
    return Setting(stage=stage, name=name, value=value, why=why)


def _ray(experiment: Experiment, trial: Trial, ranking: Ranking | None) -> Iterator[Setting]:
    if ranking is not None:
        yield from _kept(trial, ranking)
    runner, own_loop = r.runner_of(experiment, trial), experiment.settings.own_loop
    asked, used = experiment.settings.requested, trial.retention
    frequency = asked.frequency if asked else used.frequency if used else None
    at_end = asked.at_end if asked else used.at_end if used else None
    place = asked.provenance if asked else ranking.provenance if ranking else None
    of_frequency = r.frequency(runner, own_loop=own_loop, value=frequency)
    of_end = r.at_end(runner, own_loop=own_loop, value=at_end)
    verdicts = (
        ("checkpoint_frequency", frequency, of_frequency),
        ("checkpoint_at_end", at_end, of_end),
    )
    for name, value, verdict in verdicts:
        yield Setting(
            stage="ray",
            name=name,
            value=value,
            applies=verdict.applies,
            why=verdict.why,
            provenance=place,
        )


def _kept(trial: Trial, ranking: Ranking) -> Iterator[Setting]:
    def row(name: str, value: Value, why: str, *, applies: bool = True) -> Setting:
        return Setting(
            stage="ray",
            name=name,
            value=value,
            applies=r.Applies.YES if applies else r.Applies.NO,
            exact=ranking.exact,
            why=why,
            provenance=ranking.provenance,
        )

    if not ranking.exact:
        yield from _guessed(trial, ranking)
        return
    keep, monitor = ranking.num_to_keep, ranking.monitor
    how = "the best" if monitor else "the newest"
    kept = "all are kept" if keep is None else f"{how} {keep} are kept, and always the latest"
    yield row("num_to_keep", keep, kept)
    ranked = "it ranks the recorded checkpoints" if monitor else "nothing ranks them"
    yield row("checkpoint_score_attribute", monitor, ranked)
    end = "the lowest" if ranking.mode == "min" else "the highest"
    why = f"{end} is best" if monitor else "nothing ranks them"
    yield row(
        "checkpoint_score_order",
        ranking.mode,
        why,
        applies=monitor is not None or ranking.mode == "max",
    )


def _guessed(trial: Trial, ranking: Ranking) -> Iterator[Setting]:
    """What the records of Train V2 let one guess, which keeps its settings in memory only."""
    listed = len(trial.records)
    many = f"{listed} are recorded, so it is at least {max(1, listed - 1)}, or not set"
    fits = " or ".join(f"{metric} ({mode})" for metric, mode in ranking.candidates)
    order = "in the order of the saves" if ranking.by_score is None else "not in save order"
    told = f"inferred: the list is {order}"
    if fits:
        told += f", and ranked by {fits} it would be the same"
    one = ranking.candidates[0] if len(ranking.candidates) == 1 and ranking.by_score else None
    for name, value, why in (
        ("num_to_keep", None, f"inferred: {many}"),
        ("checkpoint_score_attribute", one[0] if one else None, told),
        ("checkpoint_score_order", one[1] if one else None, told),
    ):
        yield Setting(
            stage="ray",
            name=name,
            value=value,
            exact=False,
            why=why,
            provenance=ranking.provenance,
        )


def _tune(experiment: Experiment) -> Iterator[Setting]:
    tuned = experiment.settings.tuned
    if tuned is None:
        return
    for name, value in (("metric", tuned.metric), ("mode", tuned.mode)):
        yield Setting(
            stage="tune",
            name=name,
            value=value,
            why="get_best_result and schedulers rank trials by it, and keep no checkpoint",
            provenance=tuned.provenance,
        )


__all__ = ["Basis", "Setting", "Stages", "TrialStages", "Value", "stages_of"]
