"""The documents that programs read, in the shape of the contract.

Fields are only ever added. Values are JSON-able here: what JSON cannot hold is a text.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from ckptctl._version import __version__
from ckptctl.errors import CkptctlError, RefusedError, StalePlanError
from ckptctl.model.bookkeeping import Bookkeeping, Claim, Witness
from ckptctl.model.checkpoint import Checkpoint, Metrics
from ckptctl.model.experiment import Best, Experiment, Trial
from ckptctl.model.finding import Evidence, Finding, Severity
from ckptctl.model.metrics import Packed, read_all
from ckptctl.model.plan import Edit, MoveTree, Outcome, Plan, Refusal, Step

FORMAT_VERSION = "1.0"

Document = dict[str, object]


def jsonable(value: object) -> object:
    """Replace numbers that JSON cannot hold by their names, however deep they lie."""
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    if isinstance(value, Mapping):
        return {str(k): jsonable(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(v) for v in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return repr(value)


def envelope(command: str) -> Document:
    """Open every document in the same way."""
    return {
        "format_version": FORMAT_VERSION,
        "tool": {"name": "ckptctl", "version": __version__},
        "command": command,
    }


def scan_document(experiments: Sequence[Experiment], findings: Sequence[Finding]) -> Document:
    """All that `scan` knows."""
    return {
        **envelope("scan"),
        "experiments": [_experiment(e) for e in experiments],
        "findings": [finding_document(f) for f in findings],
        "summary": summary(experiments, findings),
    }


def summary(experiments: Sequence[Experiment], findings: Sequence[Finding]) -> dict[str, int]:
    """Count what was found. Checkpoints are those on storage."""
    trials = [t for e in experiments for t in e.trials]
    folders = [c for t in trials for c in t.checkpoints if c.on_storage]
    levels = [f.severity for f in findings]
    return {
        "experiments": len(experiments),
        "trials": len(trials),
        "checkpoints": len(folders),
        "size_bytes": sum(c.size_bytes for c in folders),
        "errors": levels.count(Severity.ERROR),
        "warnings": levels.count(Severity.WARNING),
        "infos": levels.count(Severity.INFO),
    }


def _experiment(experiment: Experiment) -> Document:
    return {**experiment_head(experiment), "trials": [trial(t) for t in experiment.trials]}


def experiment_head(experiment: Experiment) -> Document:
    """Describe an experiment, its trials left out."""
    return {
        "location": experiment.location,
        "name": experiment.name,
        "layout": experiment.layout,
        "ray_version": experiment.ray_version,
        "state_file": experiment.state_file,
        "recorded_root": experiment.recorded_root,
        "pending": experiment.pending,
    }


def trial(
    trial: Trial, told: Callable[[Sequence[Metrics]], Iterable[object]] | None = None
) -> Document:
    """Describe one trial; `told` gives metrics another form than JSON's own."""
    return {
        "trial_id": trial.trial_id,
        "dirname": trial.dirname,
        "status": trial.status,
        "checkpoints": checkpoints(trial.checkpoints, told),
        "books": {str(w): _book(trial.books.get(w)) for w in Witness},
        "latest": trial.latest.name if trial.latest else None,
        "best": _best(trial.best),
    }


def checkpoints(
    own: Sequence[Checkpoint], told: Callable[[Sequence[Metrics]], Iterable[object]] | None = None
) -> list[Document]:
    """Describe checkpoints; `told` gives metrics another form than JSON's own."""
    metrics = (told or _all_metrics)([c.metrics for c in own])
    return list(map(_checkpoint, own, metrics))


def _checkpoint(checkpoint: Checkpoint, metrics: object) -> Document:
    return {
        "name": checkpoint.name,
        "index": checkpoint.index,
        "state": checkpoint.state,
        "training_iteration": checkpoint.training_iteration,
        "metrics": metrics,
        "files": checkpoint.files,
        "size_bytes": checkpoint.size_bytes,
        "recorded_by": list(checkpoint.recorded_by),
        "saved": checkpoint.saved,
    }


def _all_metrics(metrics: Sequence[Metrics]) -> Iterable[object]:
    return map(_metrics, read_all(metrics))


def _metrics(metrics: Metrics) -> object:
    """Metrics as JSON can hold them."""
    (metrics,) = read_all([metrics])
    return metrics.values_by_name() if isinstance(metrics, Packed) else jsonable(metrics)


def _book(book: Bookkeeping | None) -> Document | None:
    if book is None:
        return None
    return {
        "latest_index": _value(book.latest_index),
        "latest_checkpoint": _value(book.latest_checkpoint),
        "next_index": book.next_index,
        "checkpoints": list(book.names),
    }


def _value(claim: Claim[int] | Claim[str] | None) -> int | str | None:
    return None if claim is None else claim.value


def _best(best: Best | None) -> Document | None:
    if best is None:
        return None
    return {
        "name": best.name,
        "metric": best.metric,
        "mode": best.mode,
        "value": jsonable(best.value),
    }


def finding_document(
    finding: Finding, told: Callable[[Sequence[Evidence]], object] | None = None
) -> Document:
    """One finding; `told` gives its evidence another form than JSON's own."""
    remedy = finding.remedy
    evidence = (told or _evidence)(finding.evidence)
    return {
        "code": finding.code,
        "rule": finding.rule,
        "severity": finding.severity,
        "experiment": finding.experiment,
        "trial": finding.trial,
        "checkpoint": finding.checkpoint,
        "checkpoints": list(finding.checkpoints),
        "message": finding.message,
        "evidence": evidence,
        "remedy": remedy
        and {
            "applicability": remedy.applicability,
            "command": remedy.command,
            "note": remedy.note,
        },
    }


def _evidence(evidence: Sequence[Evidence]) -> list[Document]:
    return [
        {"witness": e.witness, "claim": e.claim, "file": e.file, "pointer": e.pointer}
        for e in evidence
    ]


def plans_document(command: str, plans: Sequence[tuple[Plan, Outcome | None]]) -> Document:
    """What was planned, and what became of it."""
    return {**envelope(command), "plans": [_plan(plan, outcome) for plan, outcome in plans]}


def _plan(plan: Plan, outcome: Outcome | None) -> Document:
    return {
        "plan_id": plan.plan_id,
        "location": plan.location,
        "layout": plan.layout,
        "fingerprint": plan.fingerprint,
        "steps": [_step(s) for s in plan.steps],
        "refusals": [_refusal(r) for r in plan.refusals],
        "notes": list(plan.notes),
        "renames": [{"trial": t, "from": old, "to": new} for t, old, new in plan.renames],
        "unsafe": plan.unsafe,
        "undoes": plan.undoes,
        "outcome": _outcome(outcome),
    }


def _step(step: Step) -> Document:
    if isinstance(step, MoveTree):
        return {"kind": "move", "from": step.source, "to": step.target}
    edits = [_edit(e) for e in step.edits]
    return {"kind": "rewrite", "file": step.file, "edits": edits, "restores": step.restores}


def _edit(edit: Edit) -> Document:
    return {
        "op": edit.op,
        "pointer": edit.pointer,
        "before": jsonable(edit.before),
        "after": jsonable(edit.after),
    }


def _refusal(refusal: Refusal) -> Document:
    return {
        "code": refusal.code,
        "message": refusal.message,
        "trial": refusal.trial,
        "checkpoints": list(refusal.checkpoints),
        "details": list(refusal.details),
        "help": list(refusal.help),
    }


def _outcome(outcome: Outcome | None) -> Document | None:
    if outcome is None:
        return None
    return {
        "applied": outcome.applied,
        "steps_done": outcome.steps_done,
        "verified": outcome.verified,
        "entry": outcome.entry,
        "notes": list(outcome.notes),
    }


def error_document(error: CkptctlError) -> Document:
    """One error, for stderr."""
    body: Document = {
        "code": error.code,
        "exit_code": int(error.exit_code),
        "message": error.message,
        "hint": error.hint,
        "location": error.location,
    }
    if isinstance(error, RefusedError):
        body["reasons"] = list(error.reasons)
    if isinstance(error, StalePlanError):
        body["changed"] = list(error.changed)
    return {"error": body}


def picks_document(command: str, picks: Sequence[tuple[Experiment, Trial, str | None]]) -> Document:
    """Describe what `latest` or `best` chose for each trial: a path, or null."""
    return {**envelope(command), "checkpoints": [_pick(*pick) for pick in picks]}


def _pick(experiment: Experiment, trial: Trial, path: str | None) -> Document:
    checkpoint = trial.checkpoint(path.rpartition("/")[2]) if path else None
    return {
        "location": experiment.location,
        "trial_id": trial.trial_id,
        "trial": trial.dirname,
        "path": path,
        "checkpoint": checkpoint and _checkpoint(checkpoint, _metrics(checkpoint.metrics)),
    }
