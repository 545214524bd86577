"""Names the row of a class trainable's save before Ray writes it. Imports Ray: only `hook` does.

Tune gives a result to its loggers, and only then asks a class trainable to save, so by itself no
row of one tells a name (Ray 2.8 to 2.60). Here the driver looks ahead when a result has come in:
will this trial be saved with it, and what will the trainable call the save? It decides by the
metrics and the index by which the trainable will, with the same code. Results of functions and
trainers carry their name already and are left alone.
"""

from __future__ import annotations

import functools
from typing import Any

from ray.tune.execution.tune_controller import TuneController
from ray.tune.experiment import Trial
from ray.tune.result import SHOULD_CHECKPOINT, TRIAL_ID
from ray.tune.schedulers import TrialScheduler

from ckptctl.integrations.ray.storage import NAME_KEY, NamingStorage


def name_rows() -> None:
    """Teach the driver of this Ray to look ahead; once a process."""
    original = TuneController._process_trial_results

    @functools.wraps(original)
    def process(self: Any, trial: Any, results: list[dict[str, Any]]) -> Any:
        if not _is_unnamed(trial, results[-1]):
            return original(self, trial, results)
        scheduler, callbacks = self._scheduler_alg, self._callbacks
        coming = _Coming(self, trial, results[-1])
        self._scheduler_alg = _Scheduler(scheduler, coming)
        self._callbacks = _Callbacks(callbacks, coming)
        try:
            return original(self, trial, results)
        finally:
            self._scheduler_alg, self._callbacks = scheduler, callbacks

    TuneController._process_trial_results = process


def _is_unnamed(trial: Any, result: dict[str, Any]) -> bool:
    """Whether the rows of this trial are to be named here.

    A log that was begun without the key goes on without it: the columns of ``progress.csv`` are
    those of its first row.
    """
    storage = trial.storage
    if not isinstance(storage, NamingStorage) or NAME_KEY in result:
        return False
    if storage.ckptctl_rows is None:
        storage.ckptctl_rows = not trial.has_reported_at_least_once
    return storage.ckptctl_rows


class _Coming:
    """The save that may come with a result."""

    def __init__(self, controller: Any, trial: Any, result: dict[str, Any]) -> None:
        self._controller, self._trial = controller, trial
        # As the trainable has it: scheduler and stopper still add to the driver's.
        self._metrics = {TRIAL_ID: trial.trial_id, **result}
        self.decision: str | None = None
        """What the scheduler wants next."""

    def name(self, row: dict[str, Any]) -> None:
        """Put the name of the save into its row, and none into any other."""
        row[NAME_KEY] = None
        if self._controller._buffer_length > 1:
            return  # a save may be of a later result than the one that it is due at
        storage = self._trial.storage
        index: int = storage.current_checkpoint_index
        for _ in range(self._saves(row)):
            decision = storage.decide(self._metrics, index)
            index, row[NAME_KEY] = decision.index, decision.name
        storage.ckptctl_row = row[NAME_KEY]

    def _saves(self, row: dict[str, Any]) -> int:
        """How many saves the trainable will make of this result."""
        trial = self._trial
        if trial not in self._controller._trial_to_actor:  # it is being stopped
            return 0
        asked = int(trial.is_saving)  # by a scheduler that needs the checkpoint for another trial
        if self.decision == TrialScheduler.PAUSE:
            return max(asked, 1)
        due = Trial.should_checkpoint(_WithResult(trial, row)) or row.get(SHOULD_CHECKPOINT)
        return asked + bool(due)


class _WithResult:
    """A trial as it is going to be when the result is its last one."""

    def __init__(self, trial: Any, result: dict[str, Any]) -> None:
        self._trial, self.last_result = trial, result

    def __getattr__(self, name: str) -> Any:
        return getattr(self._trial, name)


class _Scheduler:
    """Stands in for the scheduler while a result is handled, and listens."""

    def __init__(self, scheduler: Any, coming: _Coming) -> None:
        self._scheduler, self._coming = scheduler, coming

    def on_trial_result(self, *args: Any, **kwargs: Any) -> Any:
        self._coming.decision = self._scheduler.on_trial_result(*args, **kwargs)
        return self._coming.decision

    def __getattr__(self, name: str) -> Any:
        return getattr(self._scheduler, name)


class _Callbacks:
    """Stands in for the callbacks, of which the loggers are some, and names the row."""

    def __init__(self, callbacks: Any, coming: _Coming) -> None:
        self._callbacks, self._coming = callbacks, coming

    def on_trial_result(self, **info: Any) -> None:
        self._coming.name(info["result"])
        self._callbacks.on_trial_result(**info)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._callbacks, name)
