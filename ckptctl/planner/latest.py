"""Which save has to be a trial's latest once its records match the folders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from ckptctl.model.experiment import Experiment, Record, Trial
from ckptctl.planner.saves import NewSave, is_there

__all__ = [
    "Choice",
    "choose_latest",
    "latest_is_gone",
    "name_of_choice",
    "saved_place",
    "unlisted_latest",
]

Choice: TypeAlias = Record | NewSave | Literal["gone"] | None
"""None to leave the latest as it is; ``gone`` where no save is left."""


def choose_latest(
    experiment: Experiment, trial: Trial, kept: Sequence[Record], added: Sequence[NewSave]
) -> Choice:
    """The save that becomes the latest: the recorded one, unless it is gone or no longer newest."""
    own = [r for r in kept if r.ref is not None and r.ref.trial == trial.dirname]
    saves: list[Record | NewSave] = [*own, *added]
    newest = max(saves, key=lambda s: saved_place(trial, s), default=None)
    old = trial.latest_record
    if old is None:
        # Ray sets it with the first record; a restore that failed leaves it without a path.
        return newest
    if not is_there(experiment, old):
        return newest or "gone"
    if old.ref is None or old.ref.trial != trial.dirname:
        # Another trial's checkpoint, taken over: only a save that the log tells of behind the end
        # of the state is surely newer; one before it may be what the exploit threw away.
        ahead = isinstance(newest, NewSave) and _is_behind_state(trial, newest)
        return newest if ahead else None
    if isinstance(newest, NewSave):
        newer = saved_place(trial, newest) > saved_place(trial, old)
        return newest if newer else None
    if old.position is not None and old not in own:
        same = [r for r in own if r.path == old.path]
        return same[-1] if same else None
    return None


def _is_behind_state(trial: Trial, save: NewSave) -> bool:
    state = trial.state_iteration
    if state is None:
        return False
    told = [row.line for row in trial.rows if row.training_iteration == state.value]
    named = [row.line for row in trial.rows if row.name == save.checkpoint.name]
    return bool(told) and bool(named) and named[-1] > told[-1]


def latest_is_gone(experiment: Experiment, trial: Trial) -> bool:
    """Whether a restore has nothing to go on from."""
    latest = trial.latest_record
    return latest is None or not is_there(experiment, latest)


def unlisted_latest(experiment: Experiment, trial: Trial, kept: Sequence[Record]) -> Record | None:
    """The latest where its folder is there, and the trial's own list has no record of it."""
    old = trial.latest_record
    if old is None or old.position is not None or not is_there(experiment, old):
        return None
    own = old.ref is not None and old.ref.trial == trial.dirname
    return old if own and all(r.path != old.path for r in kept) else None


def name_of_choice(choice: Choice) -> str | None:
    """The folder's name; empty where no save is left, None where nothing changes."""
    match choice:
        case Record():
            return choice.ref.name if choice.ref else choice.path
        case NewSave():
            return choice.checkpoint.name
    return None if choice is None else ""


def saved_place(trial: Trial, save: Record | NewSave) -> int:
    """The place of a save in the order in which the trial saved."""
    if isinstance(save, NewSave):
        return save.checkpoint.saved
    checkpoint = trial.checkpoint(save.ref.name) if save.ref else None
    return checkpoint.saved if checkpoint else -1
