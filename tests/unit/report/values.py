"""Experiments, findings and plans made of nothing, for renderers to show."""

from __future__ import annotations

from ckptctl.model.bookkeeping import Bookkeeping, Claim, Provenance, Witness
from ckptctl.model.checkpoint import Checkpoint, CheckpointName, CheckpointState, TrialDir
from ckptctl.model.experiment import (
    Best,
    CheckpointRef,
    Experiment,
    RecordKind,
    Trial,
    TrialStatus,
)
from ckptctl.model.finding import Applicability, Evidence, Finding, Remedy, Severity
from ckptctl.model.plan import Edit, MoveTree, Plan, ReplaceFile

STATE = "experiment_state-2026-11-30_11-15-02.json"
POINTER = "trial_data/1/0#storage#current_checkpoint_index"


def checkpoint(index: int, *, trial: str = "fn_00000", **more: object) -> Checkpoint:
    fields: dict[str, object] = {
        "trial": TrialDir(trial),
        "name": CheckpointName(f"checkpoint_{index:06d}"),
        "index": index,
        "state": CheckpointState.COMPLETE,
        "training_iteration": index + 1,
        "metrics": {"loss": 1 / (index + 1)},
        "files": 2,
        "size_bytes": 135,
        "recorded_by": (Witness.TRIAL, Witness.SESSION),
        "saved": index,
    }
    return Checkpoint(**{**fields, **more})  # type: ignore[arg-type]


def book(witness: Witness, index: int) -> Bookkeeping:
    place = Provenance(file=STATE, pointer=POINTER)
    return Bookkeeping(
        latest_index=Claim(value=index, witness=witness, provenance=place),
        latest_checkpoint=Claim(value=f"checkpoint_{index:06d}", witness=witness, provenance=place),
        checkpoints=(Claim(value=f"checkpoint_{index:06d}", witness=witness, provenance=place),),
    )


def trial(
    number: int = 0, *, folders: tuple[int, ...] = (5, 6, 7), recorded: int = 7, **more: object
) -> Trial:
    dirname = TrialDir(f"fn_{number:05d}")
    checkpoints = tuple(checkpoint(i, trial=dirname) for i in folders)
    latest = CheckpointRef(trial=dirname, name=checkpoints[-1].name)
    fields: dict[str, object] = {
        "trial_id": f"c08b9_{number:05d}",
        "dirname": dirname,
        "status": TrialStatus.TERMINATED,
        "in_state": True,
        "on_storage": True,
        "checkpoints": checkpoints,
        "books": {
            Witness.STORAGE: book(Witness.STORAGE, folders[-1]),
            Witness.TRIAL: book(Witness.TRIAL, recorded),
            Witness.SESSION: book(Witness.SESSION, recorded),
        },
        "latest": latest,
        "best": Best(
            name=CheckpointName("checkpoint_000005"), metric="loss", mode="min", value=0.25
        ),
    }
    return Trial(**{**fields, **more})  # type: ignore[arg-type]


def experiment(*trials: Trial, name: str = "tune_lr") -> Experiment:
    return Experiment(
        location=f"runs/{name}",
        name=name,
        layout="ray-tune",
        trials=trials or (trial(0), trial(1)),
        ray_version="2.54.1",
        state_file=STATE,
        why="experiment_state-*.json, and result.json names checkpoints",
    )


def finding(
    code: str = "CKP101",
    *,
    severity: Severity = Severity.ERROR,
    message: str = "the trial's index is 5, but checkpoint_000007 exists",
    trial: str | None = "fn_00000",
    checkpoint: str | None = "checkpoint_000007",
) -> Finding:
    return Finding(
        code=code,
        rule="index-behind-storage",
        severity=severity,
        experiment="runs/tune_lr",
        trial=trial,
        checkpoint=checkpoint,
        message=message,
        evidence=(
            Evidence(witness="trial", claim="5", file=STATE, pointer=POINTER),
            Evidence(witness="storage", claim="7", file="fn_00000/checkpoint_000007"),
        ),
        remedy=Remedy(applicability=Applicability.SAFE, command="ckptctl reindex runs/tune_lr"),
        checkpoints=(checkpoint,) if checkpoint else (),
    )


def rename_plan() -> Plan:
    names = ("checkpoint_000006-0.3333", "checkpoint_000007-0.2857")
    olds = ("checkpoint_000005", "checkpoint_000006")
    return Plan(
        plan_id="4be1e9b0c2aa",
        command="rename",
        location="runs/tune_lr",
        layout="ray-tune",
        fingerprint="f00d",
        steps=(
            *(
                MoveTree(source=f"fn_00000/{old}", target=f"fn_00000/{new}", files=())
                for old, new in zip(olds, names, strict=True)
            ),
            ReplaceFile(
                file=STATE,
                kind=RecordKind.JSON,
                before="0" * 64,
                after="1" * 64,
                edits=(Edit(op="set", pointer=POINTER, before=6, after=7),),
            ),
        ),
        notes=("recorded index 6 → 7, so that the next save sorts behind the others",),
        renames=tuple(("fn_00000", o, n) for o, n in zip(olds, names, strict=True)),
    )
