"""A trial in one row: what lies there, and what each witness believes of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from ckptctl.model.bookkeeping import Witness
from ckptctl.model.checkpoint import CheckpointState
from ckptctl.model.experiment import Best, Experiment, Trial
from ckptctl.model.finding import Finding, Severity
from ckptctl.report import words

SPEAKERS = (Witness.TRIAL, Witness.TRAINABLE, Witness.SESSION)
"""The witnesses beside storage, in the order of their columns."""

_BROKEN = (CheckpointState.PARTIAL, CheckpointState.EMPTY, CheckpointState.TEMPORARY)


class Belief(Struct, frozen=True, kw_only=True):
    """The last index by one witness."""

    witness: Witness
    index: int | None
    behind: bool
    """Whether a folder has a higher number."""


class Overview(Struct, frozen=True, kw_only=True):
    """One trial, ready to be laid out."""

    trial: Trial
    label: str
    status: str
    folders: int
    last: int | None
    """The highest number among the folders."""
    beliefs: tuple[Belief, ...]
    latest: str
    best: Best | None
    notes: tuple[str, ...]
    findings: tuple[Finding, ...]

    @property
    def worst(self) -> Severity | None:
        """The worst that was found about the trial."""
        return min((f.severity for f in self.findings), key=lambda s: s.rank, default=None)


def labels(experiment: Experiment) -> Mapping[str, str]:
    """Give each trial folder a short name: the trial id, where it is the only one of its kind."""
    ids = Counter(t.trial_id for t in experiment.trials)
    return {
        t.dirname: t.trial_id if t.trial_id and ids[t.trial_id] == 1 else _named(t, experiment)
        for t in experiment.trials
    }


def _named(trial: Trial, experiment: Experiment) -> str:
    return experiment.name if trial.dirname == "." else trial.dirname


def speakers(trials: Iterable[Trial]) -> tuple[Witness, ...]:
    """Choose the witnesses that say anything at all here."""
    trials = tuple(trials)
    return tuple(w for w in SPEAKERS if any(last_by(t, w) is not None for t in trials))


def overviews(experiment: Experiment, findings: Sequence[Finding]) -> tuple[Overview, ...]:
    """Sum up every trial of an experiment; `findings` are the experiment's own."""
    names, shown = labels(experiment), speakers(experiment.trials)
    own: dict[str | None, list[Finding]] = {}
    for finding in findings:
        own.setdefault(finding.trial, []).append(finding)
    return tuple(
        _overview(trial, names[trial.dirname], shown, tuple(own.get(trial.dirname, ())))
        for trial in experiment.trials
    )


def _overview(
    trial: Trial, label: str, shown: Sequence[Witness], findings: tuple[Finding, ...]
) -> Overview:
    last = last_folder(trial)
    beliefs = []
    for witness in shown:
        index = last_by(trial, witness)
        behind = index is not None and last is not None and index < last
        beliefs.append(Belief(witness=witness, index=index, behind=behind))
    return Overview(
        trial=trial,
        label=label,
        status=str(trial.status or ""),
        folders=len(trial.folders),
        last=last,
        beliefs=tuple(beliefs),
        latest=_latest(trial),
        best=trial.best,
        notes=notes(trial),
        findings=findings,
    )


def last_folder(trial: Trial) -> int | None:
    """The highest number among the folders."""
    return max((c.index for c in trial.folders if c.index is not None), default=None)


def last_by(trial: Trial, witness: Witness) -> int | None:
    """The last index that a witness believes to be used."""
    book = trial.books.get(witness)
    return book.latest_index.value if book and book.latest_index else None


def _latest(trial: Trial) -> str:
    if trial.latest is None:
        return ""
    return trial.latest.name if trial.latest.trial == trial.dirname else trial.latest.path


def notes(trial: Trial) -> tuple[str, ...]:
    """What is remarkable about the folders of a trial: ``3 newer on storage``."""
    counted = trial.counted_index
    newer = sum(
        counted is not None and c.index is not None and c.index > counted for c in trial.folders
    )
    states = Counter(c.state for c in trial.checkpoints)
    told = [f"{newer:,} newer on storage"] if newer else []
    if gone := states[CheckpointState.MISSING]:
        told.append(f"{gone:,} gone")
    return (*told, *(f"{states[s]:,} {s}" for s in _BROKEN if states[s]))


def facts(experiment: Experiment) -> tuple[str, ...]:
    """Sum up an experiment: its layout, and how much there is of what."""
    folders = [c for t in experiment.trials for c in t.checkpoints if c.on_storage]
    layout = words.layout(experiment.layout)
    return (
        f"{layout} ({experiment.ray_version})" if experiment.ray_version else layout,
        words.count(len(experiment.trials), "trial"),
        words.count(len(folders), "checkpoint"),
        words.size(sum(c.size_bytes for c in folders)),
    )


def verdict(findings: Sequence[Finding]) -> str:
    """``2 errors, 1 warning``, or ``clean``."""
    levels = Counter(f.severity for f in findings)
    parts = [
        words.count(levels[s], str(s)) for s in (Severity.ERROR, Severity.WARNING) if levels[s]
    ]
    return ", ".join(parts) or "clean"


def worst_first(findings: Sequence[Finding]) -> list[Finding]:
    """Order findings by severity and code; within these they stay as they were."""
    return sorted(findings, key=lambda f: (f.severity.rank, f.code))
