"""Whether a run still writes to an experiment. Pure: the caller names the time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import inf

from ckptctl.model.experiment import Experiment, RecordFile, RecordRole, Trial

QUIET_PERIOD = 60.0
"""Seconds without a change after which a run counts as gone."""
TRAIN_V2 = "ray-train-v2"
"""The layout whose records tell no status, so that any of its runs may be alive."""
_SKEW = 2.0
"""Seconds by which the clock of a storage service may be ahead of ours."""
_NONE: Mapping[str, float] = {}


def alive(
    experiment: Experiment,
    now: float,
    quiet_period: float = QUIET_PERIOD,
    own_digests: frozenset[str] = frozenset(),
    own_moves: Mapping[str, float] = _NONE,
) -> tuple[str, ...]:
    """Why a run looks alive, one sentence for each trial; empty where none does.

    Args:
        experiment: as it was scanned.
        now: seconds since the epoch, by the clock that dates the files.
        quiet_period: seconds.
        own_digests: contents that ckptctl wrote itself, from `journal.store.own_writes`.
        own_moves: until when it moved folders to these paths, which may have made new files.
    """
    since = now - quiet_period
    # Few records are new, while trials and records may be many.
    records = [r for r in experiment.records if r.modified is not None and r.modified > since]
    found: list[str] = []
    for trial in experiment.trials:
        if not _may_be_alive(experiment, trial):
            continue
        changes = _changes(
            [r for r in records if _concerns(r, trial)], trial, own_digests, own_moves
        )
        if recent := [(m, path) for path, m in changes if m > since]:
            modified, path = max(recent)
            found.append(f"{_state(trial)}, and {path} changed {_ago(now - modified)}")
    return tuple(found)


def _may_be_alive(experiment: Experiment, trial: Trial) -> bool:
    if trial.status is None:
        return experiment.layout == TRAIN_V2
    return trial.status.may_be_alive


def _changes(
    records: list[RecordFile], trial: Trial, own: frozenset[str], moved: Mapping[str, float]
) -> Iterator[tuple[str, float]]:
    """The paths of a trial's records and checkpoints, and when they changed."""
    ours = {(r.path, r.modified) for r in records if r.sha256 and r.sha256 in own}
    for record in records:
        if record.modified is not None and (record.path, record.modified) not in ours:
            yield record.path, record.modified
    for checkpoint in trial.checkpoints:
        inside = {m for path, m in ours if path.startswith(f"{checkpoint.path}/")}
        if checkpoint.modified is None or checkpoint.modified in inside:
            continue
        if checkpoint.modified > moved.get(checkpoint.path, -inf) + _SKEW:
            yield checkpoint.path, checkpoint.modified


def _concerns(record: RecordFile, trial: Trial) -> bool:
    """A record of the trial itself, or of the whole experiment."""
    if record.role is RecordRole.SUPERSEDED_STATE:
        return False
    if trial.dirname == "." or "/" not in record.path:
        return True
    return record.path == trial.result_log or record.path.startswith(f"{trial.dirname}/")


def _state(trial: Trial) -> str:
    name = trial.trial_id or trial.dirname
    return f"trial {name} is {trial.status}" if trial.status else f"run {name} may go on"


def _ago(seconds: float) -> str:
    return f"{int(seconds)} s ago" if seconds >= 0 else "in the future"
