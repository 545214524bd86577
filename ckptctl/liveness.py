"""Whether a run still writes to an experiment. Pure: the caller names the time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from math import inf

from msgspec.structs import replace

from ckptctl.model.experiment import Experiment, RecordFile, RecordRole, Trial
from ckptctl.model.finding import Finding, Severity

QUIET_PERIOD = 60.0
"""Seconds without a change after which a run counts as gone."""
TRAIN_V2 = "ray-train-v2"
"""The layout whose records tell no status, so that any of its runs may be alive."""
IN_FLIGHT = frozenset(
    f"CKP{number}"
    for number in (*(101, 103, 104, 105, 111, 112, 114, 115, 117), *(201, 202, 204, 206))
) | {"CKP005", "CKP301", "CKP302", "CKP303"}
"""What a reader sees between two writes of a run: folders, logs and state are never all in step."""
_DATED = ("checkpoint_%Y-%m-%d", "experiment_state-%Y-%m-%d")
_TWO_DAYS = 48 * 3600.0
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
    return tuple(why_alive(experiment, now, quiet_period, own_digests, own_moves).values())


def why_alive(  # noqa: PLR0913  as `alive` has them
    experiment: Experiment,
    now: float,
    quiet_period: float = QUIET_PERIOD,
    own_digests: frozenset[str] = frozenset(),
    own_moves: Mapping[str, float] = _NONE,
    *,
    unknown: bool = False,
) -> dict[str, str]:
    """The same by the folder of the trial.

    With `unknown` a trial counts too whose status no state tells, and, by an empty folder, an
    experiment without any: a run that has just begun has not written its state yet, and Ray 2.54
    opens it before a trial has a folder.
    """
    since = now - quiet_period
    records = [r for r in experiment.records if r.modified is not None and r.modified > since]
    near = _by_folder(records)
    found: dict[str, str] = {}
    for trial in experiment.trials:
        if not _may_be_alive(experiment, trial, unknown=unknown):
            continue
        around = records if trial.dirname == "." else _around(near, trial)
        concerned = [r for r in around if _concerns(r, trial)]
        if recent := [(m, p) for p, m in _changes(concerned, trial, since, own_digests, own_moves)]:
            modified, path = max(recent)
            found[trial.dirname] = f"{_state(trial)}, and {path} changed {_ago(now - modified)}"
    if records and unknown and not experiment.trials and experiment.layout.startswith("ray-"):
        modified, path = max((r.modified or now, r.path) for r in records)
        found[""] = f"no trial has begun, and {path} changed {_ago(now - modified)}"
    return found


def looks_copied(experiment: Experiment, now: float, quiet_period: float = QUIET_PERIOD) -> bool:
    """Whether all of it is new while what it tells of is old: no run did that, but a copy.

    Copies and downloads seldom keep the times of files, and would look alive for a minute.
    """
    times = (
        *(record.modified for record in experiment.records),
        *(c.modified for trial in experiment.trials for c in trial.checkpoints),
    )
    if any(time is not None and time <= now - quiet_period for time in times):
        return False
    ends = [t.rows[-1].timestamp for t in experiment.trials if t.rows]
    if told := [time for time in ends if time is not None]:
        return max(told) <= now - quiet_period
    names = [
        *(c.name for trial in experiment.trials for c in trial.checkpoints),
        *(record.path for record in experiment.records),
    ]
    days = [day for name in names if (day := _day(name)) is not None]
    return bool(days) and max(days) < now - _TWO_DAYS


def _day(name: str) -> float | None:
    """When the day in a name began, in the time zone of whoever wrote it, or so.

    Ray Train V2 puts one into the names of checkpoints, Tune into those of its states.
    """
    for form in _DATED:
        with suppress(ValueError):
            return datetime.strptime(f"{name[: len(form) + 2]} +0000", f"{form} %z").timestamp()
    return None


def settle(findings: Iterable[Finding], alive: Mapping[str, str]) -> tuple[Finding, ...]:
    """Findings with those that a run which goes on leaves and clears by itself as mere notes.

    Ray 2.54 writes the state of an experiment every ten seconds and its checkpoints whenever one
    is reported; until the next state is written, the folders are ahead of it.

    Args:
        findings: of one experiment.
        alive: from `why_alive`.
    """
    whole = next(iter(alive.values()), None)
    return tuple(_settled(f, alive.get(f.trial, None) if f.trial else whole) for f in findings)


def _settled(finding: Finding, why: str | None) -> Finding:
    if why is None or finding.code not in IN_FLIGHT or finding.severity is Severity.INFO:
        return finding
    message = f"{finding.message} (the run goes on: {why})"
    return replace(finding, severity=Severity.INFO, message=message, remedy=None)


def _may_be_alive(experiment: Experiment, trial: Trial, *, unknown: bool) -> bool:
    if trial.status is None:
        return experiment.layout == TRAIN_V2 or (unknown and experiment.layout.startswith("ray-"))
    return trial.status.may_be_alive


def _changes(
    records: list[RecordFile],
    trial: Trial,
    since: float,
    own: frozenset[str],
    moved: Mapping[str, float],
) -> Iterator[tuple[str, float]]:
    """The paths of a trial's records, and of the checkpoints that changed since, and when."""
    ours = {(r.path, r.modified) for r in records if r.sha256 and r.sha256 in own}
    for record in records:
        if record.modified is not None and (record.path, record.modified) not in ours:
            yield record.path, record.modified
    for checkpoint in trial.checkpoints:
        if checkpoint.modified is None or checkpoint.modified <= since:
            continue
        inside = {m for path, m in ours if path.startswith(f"{checkpoint.path}/")}
        if checkpoint.modified in inside:
            continue
        if checkpoint.modified > moved.get(checkpoint.path, -inf) + _SKEW:
            yield checkpoint.path, checkpoint.modified


def _by_folder(records: Iterable[RecordFile]) -> Mapping[str, list[RecordFile]]:
    """Records by the first folder of their path, empty where they lie in none."""
    found: dict[str, list[RecordFile]] = {}
    for record in records:
        folder, _, inside = record.path.partition("/")
        found.setdefault(folder if inside else "", []).append(record)
    return found


def _around(near: Mapping[str, list[RecordFile]], trial: Trial) -> list[RecordFile]:
    """The records that could concern a trial: where all trials are new, so are their records."""
    folders = {path.partition("/")[0] for path in (trial.dirname, trial.result_log or "")}
    return [record for folder in sorted({"", *folders}) for record in near.get(folder, ())]


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
