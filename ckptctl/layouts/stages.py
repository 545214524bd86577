"""An experiment with what its files say about the stages that save, report, keep and delete."""

from __future__ import annotations

from collections.abc import Collection

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
    for trial in experiment.trials:
        file = _payload(trial, tree) if left > 0 else None
        if file is None:
            trials.append(trial)
            continue
        found = _look(tree, source, file)
        left = left - 1 if every or found is None else 0
        trials.append(replace(trial, lightning=found))
    return replace(experiment, trials=tuple(trials), settings=read_settings(tree, source, own))


def _payload(trial: Trial, tree: Tree) -> str | None:
    """The file of the newest checkpoint that could be one of Lightning's."""
    for checkpoint in reversed(trial.saves):
        for file in tree.files_below(checkpoint.path):
            if file.path.endswith(".ckpt") or file.path == _LEGACY_NAME:
                return f"{checkpoint.path}/{file.path}"
    return None


def _look(tree: Tree, source: Source, path: str) -> Lightning | None:
    from ckptctl.layouts.lightning import read_lightning

    entry = tree.file(path)
    return None if entry is None else read_lightning(path, entry.size, lambda: source.open(path))
