"""What runs with the hook have to leave: names from the start, and nothing for a scan to find."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ckptctl import api
from ckptctl.model.experiment import TrainableKind, Trial
from ckptctl.model.finding import Severity
from tests.judge.experiments import checkpoint_names
from tests.policies.jobs import Job, run

FOLDERS: dict[str, list[str]] = {
    "index": [f"checkpoint_{number:06d}" for number in range(5, 101, 5)],
    "function": [
        "checkpoint_000002-0.8333",
        "checkpoint_000004-0.4500",
        "checkpoint_000006-0.1429",
    ],
    "class": ["checkpoint_000006-0.1429", "checkpoint_000007-0.3750"],
    "restored": [
        "checkpoint_000002-0.8333",
        "checkpoint_000004-0.4500",
        "checkpoint_000006-0.1429",
        "checkpoint_000007-0.3750",
    ],
    **{name: [f"checkpoint_{n:06d}" for n in range(4)] for name in ("sequential", "unsaved")},
    "asking": ["checkpoint_000000", "checkpoint_000001"],
    "unhooked": ["checkpoint_000000", "checkpoint_000004", "checkpoint_000005"],
}
"""By experiment, where no scheduler decides."""
ALLOWED = {
    # A state file of the first run lies beside that of the second.
    **{name: {"CKP203"} for name in ("index", "restored")},
    "gone": {"CKP004", "CKP203"},
    "unhooked": {"CKP004", "CKP107", "CKP203"},
    # Ray ends a trial that takes over another's checkpoint before it hears of its last save, and
    # the checkpoint that it took over stays its latest.
    **{name: {"CKP105", "CKP110"} for name in ("synch", "asynch")},
}
"""The findings that have a reason of Ray's own."""


def codes(place: Path | str) -> set[str]:
    """What a scan finds."""
    return {finding.code for _, own in api.audit(str(place)) for finding in own}


def wrong(experiment: str, place: Path) -> list[str]:
    """What is not as it has to be in one experiment."""
    found = [
        f"{f.code} {f.message}"
        for _, own in api.audit(str(place))
        for f in own
        if f.code not in ALLOWED.get(experiment, ()) or f.severity is Severity.ERROR
    ]
    expected = FOLDERS.get(experiment)
    for dirname, names in checkpoint_names(place).items():
        if expected is not None and names != expected:
            found.append(f"{dirname} has {names}")
    functions = experiment in ("function", "gone")
    kind = TrainableKind.FUNCTION if functions else TrainableKind.CLASS
    for trial in (t for scanned in api.scan(str(place)) for t in scanned.trials):
        found += _unnamed(trial) if experiment != "unhooked" else []
        if trial.kind is not kind:
            found.append(f"{trial.dirname} is taken for a {trial.kind}")
    return found


def _unnamed(trial: Trial) -> list[str]:
    """The saves whose row names neither their folder nor another of the same result.

    Population-based training loses rows of its own, with the hook and without.
    """
    rows = {row.line: row.name for row in trial.rows}
    own = [r for r in trial.records if r.ref is not None and r.ref.trial == trial.dirname]
    saves = {(r.row, r.ref.name) for r in own if r.ref is not None}
    return [
        f"the row of {record.ref.name} names {rows[record.row]}"
        for record in own
        if record.ref is not None
        and record.row is not None
        and (record.row, rows[record.row]) not in saves
    ]


def ask(version: str, jobs: Sequence[Job], storage: Path) -> list[str]:
    """Run these with one Ray, and say what is wrong with what they leave."""
    answers = run(version, [job | {"storage": str(storage)} for job in jobs])
    failed = [
        f"{job['name']}: {answer['error'] or answer['warnings']}"
        for job, answer in zip(jobs, answers, strict=True)
        if (answer["error"] and "told to fail" not in answer["error"]) or answer["warnings"]
    ]
    names = dict.fromkeys(job["name"] for job in jobs)
    return failed + [f"{name}: {text}" for name in names for text in wrong(name, storage / name)]
