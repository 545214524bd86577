"""Hand-built experiments: as little as a rule looks at, and nothing read from files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from ckptctl.model.bookkeeping import Bookkeeping, Claim, Provenance, Witness
from ckptctl.model.checkpoint import (
    Checkpoint,
    CheckpointName,
    CheckpointState,
    MetricValue,
    TrialDir,
)
from ckptctl.model.experiment import (
    CheckpointRef,
    Experiment,
    Record,
    Retention,
    Row,
    TrainableKind,
    Trial,
    TrialStatus,
    Unreadable,
)
from ckptctl.model.finding import Finding
from ckptctl.model.names import index_of
from ckptctl.rules import by_code

STATE = "experiment_state-2026-11-30_10-37-15.json"
COMPLETE, PARTIAL = CheckpointState.COMPLETE, CheckpointState.PARTIAL
EMPTY, TEMPORARY = CheckpointState.EMPTY, CheckpointState.TEMPORARY
MISSING = CheckpointState.MISSING


def name_of(number: int | str) -> str:
    """``checkpoint_000007`` for 7; a text is a name already."""
    return number if isinstance(number, str) else f"checkpoint_{number:06d}"


def folder(
    number: int | str,
    state: CheckpointState = COMPLETE,
    *,
    saved: int | None = None,
    iteration: int | None = None,
    recorded_by: tuple[Witness, ...] = (Witness.TRIAL,),
    lacks: tuple[str, ...] = (),
    hollow: tuple[str, ...] = (),
) -> Checkpoint:
    """A checkpoint, saved in the order of its number where nothing else is said."""
    name = CheckpointName(name_of(number))
    index = index_of(name)
    return Checkpoint(
        trial=TrialDir("t1"),
        name=name,
        index=index,
        state=state,
        training_iteration=iteration,
        files=0 if state in (EMPTY, MISSING) else 2,
        recorded_by=recorded_by,
        saved=saved if saved is not None else index or 0,
        lacks=lacks,
        hollow=hollow,
    )


def record(
    number: int | str,
    iteration: int | None = None,
    *,
    trial: str | None = "t1",
    row: int | None = None,
    metrics: Mapping[str, MetricValue] | None = None,
) -> Record:
    """A record; its place in the list is set by `a_trial`. No trial: outside the experiment."""
    name = CheckpointName(name_of(number))
    return Record(
        ref=None if trial is None else CheckpointRef(trial=TrialDir(trial), name=name),
        path=f"/old/exp/{trial or '..'}/{name}",
        metrics=metrics or {},
        training_iteration=iteration,
        provenance=Provenance(file=STATE, pointer="manager#_checkpoint_results"),
        path_pointer="manager#_checkpoint_results/checkpoint/path",
        position=None,
        row=row,
    )


def row(
    line: int,
    number: int | str | None = None,
    iteration: int | None = None,
    *,
    has_name: bool = True,
    checkpointed: bool = False,
) -> Row:
    """A result row, of the iteration after its line where nothing else is said."""
    return Row(
        line=line,
        has_name=has_name,
        name=None if number is None else name_of(number),
        training_iteration=line + 1 if iteration is None else iteration,
        metrics={},
        checkpointed=checkpointed,
    )


def rows(*numbers: int | str | None, has_name: bool = True) -> tuple[Row, ...]:
    """Rows of iterations 1, 2, 3, …"""
    return tuple(row(i, n, has_name=has_name) for i, n in enumerate(numbers))


def a_trial(
    *folders: Checkpoint | int | str,
    index: int | None = None,
    records: Sequence[Record | int] = (),
    latest: Record | int | None = None,
    log: Sequence[Row] = (),
    state_iteration: int | None = None,
    status: TrialStatus | None = TrialStatus.TERMINATED,
    kind: TrainableKind | None = TrainableKind.FUNCTION,
    retention: Retention | None = None,
    dirname: str = "t1",
    in_state: bool = True,
    has_log: bool = True,
    problems: tuple[Unreadable, ...] = (),
) -> Trial:
    """A trial; a latest that is a number is one of the list where the list has it."""
    listed = tuple(
        replace(r if isinstance(r, Record) else record(r, trial=dirname), position=i)
        for i, r in enumerate(records)
    )
    if isinstance(latest, int):
        same = [r for r in listed if r.ref is not None and r.ref.name == name_of(latest)]
        latest = same[-1] if same else record(latest, trial=dirname)
    checkpoints = tuple(
        replace(f if isinstance(f, Checkpoint) else folder(f), trial=TrialDir(dirname))
        for f in folders
    )
    return Trial(
        trial_id=f"id_{dirname}",
        dirname=TrialDir(dirname),
        status=status,
        in_state=in_state,
        on_storage=True,
        kind=kind,
        checkpoints=checkpoints,
        books={} if index is None else {Witness.TRIAL: Bookkeeping(latest_index=_whole(index))},
        records=listed,
        latest_record=latest,
        rows=tuple(log),
        retention=retention,
        state_iteration=None if state_iteration is None else _whole(state_iteration),
        result_log=f"{dirname}/result.json" if has_log else None,
        problems=problems,
    )


def _whole(value: int) -> Claim[int]:
    provenance = Provenance(file=STATE, pointer="trial_data/0/0#storage.current_checkpoint_index")
    return Claim(value=value, witness=Witness.TRIAL, provenance=provenance)


def experiment(
    *trials: Trial, layout: str = "ray-tune", state_file: str | None = STATE
) -> Experiment:
    """An experiment of these trials, at ``runs/exp``; `dataclasses.replace` changes the rest."""
    return Experiment(
        location="runs/exp",
        name="exp",
        layout=layout,
        trials=trials,
        state_file=state_file,
        counter_means_next=layout == "ray-tune-2.7",
    )


def run(code: str, what: Experiment | Trial) -> list[Finding]:
    """What one rule finds."""
    whole = experiment(what) if isinstance(what, Trial) else what
    return list(by_code(code).check(whole))


def one(code: str, what: Experiment | Trial) -> Finding:
    """The only finding of one rule."""
    (finding,) = run(code, what)
    return finding


def claims(finding: Finding) -> list[tuple[str, str]]:
    """Who says what."""
    return [(e.witness, e.claim) for e in finding.evidence]


def commands(findings: Iterable[Finding]) -> list[str | None]:
    """The commands that mend them."""
    return [f.remedy.command if f.remedy else None for f in findings]
