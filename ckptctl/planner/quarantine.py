"""Folders that are no whole checkpoints, moved aside into the experiment's own quarantine.

The records are then mended as if the folders were gone, in the same plan, and ``undo`` brings both
back. Outside its trial a folder is no checkpoint to any reader, and its name is free for a save
that would otherwise be written on top of it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from ckptctl.model.checkpoint import Checkpoint, CheckpointState
from ckptctl.model.experiment import CheckpointRef, Experiment, Trial
from ckptctl.planner.ground import is_chosen
from ckptctl.planner.saves import kept_records, new_saves

__all__ = ["Quarantine", "set_aside"]

_FOLDER = ".ckptctl/quarantine"
_STATES = (CheckpointState.PARTIAL, CheckpointState.EMPTY, CheckpointState.TEMPORARY)


class Quarantine(Struct, frozen=True, kw_only=True):
    """What moves aside, and the experiment without it."""

    rest: Experiment
    moves: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()


def set_aside(experiment: Experiment, *, unsafe: bool, trial_glob: str | None) -> Quarantine:
    """Move partial, empty and temporary folders of the chosen trials aside.

    The last checkpoints that a trial's records know stay where no other is left to go on from,
    unless `unsafe`; so do folders that another trial's records need.
    """
    chosen = [t for t in experiment.trials if is_chosen(experiment, t, trial_glob)]
    needed = _needed_elsewhere(experiment, {t.dirname for t in chosen})
    found = {c.path: c for trial in chosen for c in trial.checkpoints if c.state in _STATES}
    moving = {path: c for path, c in found.items() if path not in needed}
    kept = {path: c for path, c in found.items() if path in needed}
    for trial in chosen if not unsafe else ():
        own = _last_hope(experiment, trial, moving)
        kept |= {path: moving.pop(path) for path in own}
    targets = _targets(experiment, moving.values())
    return Quarantine(
        rest=_without(experiment, moving),
        moves=tuple((path, targets[path]) for path in moving),
        notes=(*_moved_notes(moving.values(), targets), *_kept_notes(kept.values(), needed)),
    )


def _needed_elsewhere(experiment: Experiment, chosen: Collection[str]) -> frozenset[str]:
    return frozenset(
        ref.path
        for trial in experiment.trials
        if trial.dirname not in chosen
        for ref in _refs(trial)
    )


def _refs(trial: Trial) -> Iterator[CheckpointRef]:
    for record in (*trial.records, trial.latest_record, trial.best_record):
        if record is not None and record.ref is not None:
            yield record.ref


def _last_hope(
    experiment: Experiment, trial: Trial, moving: Mapping[str, Checkpoint]
) -> tuple[str, ...]:
    """The trial's recorded folders, where moving them would leave nothing to go on from."""
    own = tuple(path for path in dict.fromkeys(r.path for r in _refs(trial)) if path in moving)
    if not own:
        return ()
    rest = _without(experiment, moving)
    after = rest.trial(trial.dirname)
    if after is None or kept_records(rest, after) or new_saves(rest, after, unsafe=False):
        return ()
    return own


def _without(experiment: Experiment, moving: Mapping[str, Checkpoint]) -> Experiment:
    """The same, with these folders missing."""
    if not moving:
        return experiment
    recorded = {ref.path for trial in experiment.trials for ref in _refs(trial)}
    return replace(
        experiment,
        trials=tuple(
            replace(
                trial,
                checkpoints=tuple(
                    replace(c, state=CheckpointState.MISSING) if c.path in moving else c
                    for c in trial.checkpoints
                    if c.path not in moving or c.path in recorded
                ),
            )
            for trial in experiment.trials
        ),
        unparsed=tuple(path for path in experiment.unparsed if path not in moving),
    )


def _targets(experiment: Experiment, moving: Collection[Checkpoint]) -> dict[str, str]:
    taken = set(experiment.quarantined)
    targets: dict[str, str] = {}
    for checkpoint in moving:
        name, number = checkpoint.path, 1
        while name in taken:
            number += 1
            name = f"{checkpoint.path}-{number}"
        taken.add(name)
        targets[checkpoint.path] = f"{_FOLDER}/{name}"
    return targets


def _moved_notes(moving: Collection[Checkpoint], targets: Mapping[str, str]) -> Iterator[str]:
    for checkpoint in moving:
        yield f"{checkpoint.path} is {_why(checkpoint)} and moves to {targets[checkpoint.path]}"


def _kept_notes(kept: Collection[Checkpoint], needed: Collection[str]) -> Iterator[str]:
    for checkpoint in kept:
        told = f"{checkpoint.path} is {_why(checkpoint)} and stays"
        if checkpoint.path in needed:
            yield f"{told}: a trial that is left out records it"
        else:
            yield f"{told}: no other checkpoint is left to go on from; --unsafe moves it too"


def _why(checkpoint: Checkpoint) -> str:
    lacking = (*checkpoint.lacks, *checkpoint.hollow)
    if checkpoint.state is CheckpointState.PARTIAL and lacking:
        more = f" and {len(lacking) - 1} more" if len(lacking) > 1 else ""
        return f"partial (without {lacking[0]}{more})"
    if checkpoint.torn:
        return f"partial ({checkpoint.torn[0][0]} is torn)"
    return checkpoint.state.value
