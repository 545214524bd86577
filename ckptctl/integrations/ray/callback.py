"""The callback's class. Imports Ray: only `scanning` imports it."""

from __future__ import annotations

from typing import Any

from ray.tune import Callback

from ckptctl.integrations.ray.scanning import scan_trials


class CheckpointScan(Callback):
    """Scans before a restored experiment goes on, and at its end."""

    def __init__(self, fail_on: str) -> None:
        self._fail_on = fail_on
        self._begun = False

    def on_step_begin(self, iteration: int, trials: list[Any], **info: Any) -> None:
        """Scan once, where a trial has a checkpoint before anything ran."""
        if self._begun:
            return
        self._begun = True
        if any(trial.checkpoint is not None for trial in trials):
            scan_trials(trials, "before it goes on", self._fail_on)

    def on_experiment_end(self, trials: list[Any], **info: Any) -> None:
        """Scan what the run has left."""
        scan_trials(trials, "at the end", "never")
