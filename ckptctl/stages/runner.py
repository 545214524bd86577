"""What ran a trial, and so which settings of its `CheckpointConfig` anybody reads.

Seen in runs of Ray 2.6.3, 2.40.0 and 2.54.1 for each kind; the attributes that decide are
``_handles_checkpoint_freq`` and ``_handles_checkpoint_at_end`` of the trainer's class, asked in
``tune/impl/tuner_internal.py``.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from ckptctl.model.experiment import Experiment, TrainableKind, Trial
from ckptctl.model.policies import runs_trainer
from ckptctl.stages.ranking import TRAIN_V2

_BOOSTERS = ("XGBoostTrainer", "LightGBMTrainer", "GBDTTrainer")


class Runner(StrEnum):
    """What called for a save."""

    CLASS = "class trainable"
    FUNCTION = "function trainable"
    TRAINER = "trainer of Ray Train"
    BOOSTER = "tree-boosting trainer of Ray Train"
    """XGBoost and LightGBM, whose own training loop reads the settings."""
    TRAIN_V2 = "trainer of Ray Train V2"
    UNKNOWN = "unknown trainable"


class Applies(StrEnum):
    """What becomes of a setting."""

    YES = "yes"
    NO = "no"
    """It has no effect."""
    REFUSED = "refused"
    """Ray refuses to start with it."""
    LOOP = "training-loop"
    """The trainer's own loop reads it, and Tune's copy is switched off."""


class Verdict(Struct, frozen=True, kw_only=True):
    """Whether a setting applies, and how."""

    applies: Applies
    why: str


def runner_of(experiment: Experiment, trial: Trial) -> Runner:
    """What ran a trial, by the name of its trainer or by what its log looks like."""
    if experiment.layout == TRAIN_V2:
        return Runner.TRAIN_V2
    name = trainer_name(experiment, trial)
    if name is not None:
        return Runner.BOOSTER if name in _BOOSTERS else Runner.TRAINER
    match trial.kind:
        case TrainableKind.CLASS:
            return Runner.CLASS
        case TrainableKind.FUNCTION:
            return Runner.FUNCTION
        case _:
            return Runner.UNKNOWN


def trainer_name(experiment: Experiment, trial: Trial) -> str | None:
    """The trainer's class, where one of Ray Train ran the trial."""
    if experiment.layout == TRAIN_V2:
        return None
    recorded = experiment.settings.trainer
    if recorded is not None:
        return recorded.rpartition(":")[2].rpartition(".")[2]
    named = experiment.settings.trainable or ""
    if named in _BOOSTERS or (trial.trial_id and trial.dirname.startswith(_BOOSTERS)):
        return next((b for b in _BOOSTERS if named == b or trial.dirname.startswith(b)), None)
    if not runs_trainer(trial, experiment.layout):
        return None
    return named or trial.dirname.partition("_")[0]


def frequency(runner: Runner, *, own_loop: bool | None, value: int | None) -> Verdict:
    """What becomes of ``checkpoint_frequency``."""
    match runner:
        case Runner.CLASS if value:
            return _yes(f"Tune saves when training_iteration is a multiple of {value}")
        case Runner.CLASS:
            return _yes("0: Tune saves only at the end, or when a scheduler pauses the trial")
        case Runner.BOOSTER if own_loop:
            return _no("the training loop is the user's own: its report callback has a frequency")
        case Runner.BOOSTER if value:
            return _loop(f"its training loop saves every {value} rounds")
        case Runner.BOOSTER:
            return _loop("0: its training loop saves at the end only")
        case Runner.FUNCTION | Runner.TRAINER:
            return _refused("saves are made where the training loop calls report(checkpoint=...)")
        case Runner.TRAIN_V2:
            return _refused("Train V2 saves where the training loop calls report(checkpoint=...)")
        case _:
            return _yes("for a class trainable; nothing tells what ran this trial")


def at_end(runner: Runner, *, own_loop: bool | None, value: bool | None) -> Verdict:
    """What becomes of ``checkpoint_at_end``."""
    match runner:
        case Runner.CLASS:
            told = "not set, which means yes" if value is None else "yes" if value else "no"
            return _yes(f"Tune saves once more when the trial ends: {told}")
        case Runner.BOOSTER if own_loop:
            return _no("the training loop is the user's own: its report callback has the switch")
        case Runner.BOOSTER:
            told = "not set, which means yes" if value is None else "yes" if value else "no"
            return _loop(f"its training loop saves once more at the end: {told}")
        case Runner.FUNCTION:
            return _refused("True: a last report(checkpoint=...) in the function does it")
        case Runner.TRAINER:
            return _refused("True or False: a last report(checkpoint=...) in the loop does it")
        case Runner.TRAIN_V2:
            return _refused("a last report(checkpoint=...) in the loop does it")
        case _:
            return _yes("for a class trainable; nothing tells what ran this trial")


def _yes(why: str) -> Verdict:
    return Verdict(applies=Applies.YES, why=why)


def _no(why: str) -> Verdict:
    return Verdict(applies=Applies.NO, why=why)


def _loop(why: str) -> Verdict:
    return Verdict(applies=Applies.LOOP, why=why)


def _refused(why: str) -> Verdict:
    return Verdict(applies=Applies.REFUSED, why=why)
