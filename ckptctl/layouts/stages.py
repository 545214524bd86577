"""An experiment with what its files say about the stages that save, report, keep and delete."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache

from msgspec.structs import replace

from ckptctl.layouts.base import Source
from ckptctl.layouts.settings import read_settings
from ckptctl.layouts.tree import Tree
from ckptctl.model.experiment import Experiment, Trial
from ckptctl.model.stages import Lightning

_TRIES = 3
"""Payloads that are opened at most where only one is wanted."""
_LEGACY_NAME = "model"
"""What ``LightningTrainer`` of Ray 2.6 calls the file."""


def with_stages(
    experiment: Experiment, tree: Tree, source: Source, *, every: bool, own: Collection[str]
) -> Experiment:
    """The experiment with its settings, and its trials with what Lightning left in them.

    The trials of an experiment share their code, so one payload tells how all were set up: more
    than one is opened only where `every` asks for it.
    """
    trials: list[Trial] = []
    left = len(experiment.trials) if every else _TRIES
    if not may_hold_payloads(tree):
        left = 0
    for trial in experiment.trials:
        file = _payload(trial, tree) if left > 0 else None
        if file is None:
            trials.append(trial)
            continue
        found = _look(tree, source, file)
        left = left - 1 if every or found is None else 0
        trials.append(replace(trial, lightning=found))
    return replace(experiment, trials=tuple(trials), settings=read_settings(tree, source, own))


def may_hold_payloads(tree: Tree) -> bool:
    """Whether a file anywhere could be one of Lightning's, by its name."""
    return tree.has_names(lambda names: _payload_in(names) is not None)


def _payload(trial: Trial, tree: Tree) -> str | None:
    """The file of the newest checkpoint that could be one of Lightning's."""
    for checkpoint in reversed(trial.saves):
        name = _payload_in(tree.flat(checkpoint.path).names)
        if name is not None:
            return f"{checkpoint.path}/{name}"
    return None


@lru_cache
def _payload_in(names: tuple[str, ...]) -> str | None:
    return next((n for n in names if n.endswith(".ckpt") or n == _LEGACY_NAME), None)


def _look(tree: Tree, source: Source, path: str) -> Lightning | None:
    from ckptctl.layouts.lightning import read_lightning

    entry = tree.file(path)
    return None if entry is None else read_lightning(path, entry.size, lambda: source.open(path))
