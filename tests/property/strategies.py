"""Experiments as values, made up for tests, and what becomes of them when a draft is done."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from hypothesis import strategies as st
from msgspec import Struct, field
from msgspec.structs import replace

from ckptctl.model.bookkeeping import Bookkeeping, Claim, Provenance, Witness
from ckptctl.model.checkpoint import (
    Checkpoint,
    CheckpointName,
    CheckpointState,
    Metrics,
    MetricValue,
    TrialDir,
)
from ckptctl.model.experiment import (
    CheckpointRef,
    Experiment,
    Mention,
    MentionForm,
    Record,
    RecordFile,
    RecordKind,
    RecordRole,
    Row,
    TrainableKind,
    Trial,
    TrialStatus,
)
from ckptctl.model.names import index_of, natural_key
from ckptctl.model.plan import Edit
from ckptctl.planner.draft import Draft

STATE = "experiment_state-2026-11-30_10-37-15.json"
OLD_STATE = "experiment_state-2026-11-29_10-37-15.json"
ROOT = "/data/runs/exp"


class Save(Struct, frozen=True, kw_only=True):
    """One save of a trial, as a test wishes it."""

    name: str
    iteration: int | None = None
    metrics: Metrics = field(default_factory=dict)
    state: CheckpointState = CheckpointState.COMPLETE
    recorded: bool = True
    row: bool = True


def saves(losses: Sequence[float], *, first: int = 0) -> list[Save]:
    """One save an iteration, from 1, named as Ray names them."""
    return [
        Save(name=f"checkpoint_{first + i:06d}", iteration=i + 1, metrics={"loss": loss})
        for i, loss in enumerate(losses)
    ]


class Made(Struct, frozen=True, kw_only=True):
    """A trial and all that mentions its checkpoints."""

    trial: Trial
    mentions: tuple[Mention, ...]
    records: tuple[RecordFile, ...]


def make_trial(
    own: Sequence[Save],
    *,
    trial_id: str = "c08b9_00000",
    position: int = 0,
    status: TrialStatus | None = TrialStatus.TERMINATED,
    counted: int | None = None,
    kind: TrainableKind = TrainableKind.FUNCTION,
    evicted: Sequence[str] = (),
    counter: bool = True,
    named_rows: bool = True,
    dirname: str | None = None,
) -> Made:
    """A trial of Ray Tune with these saves; `evicted` names folders that only rows know."""
    where = TrialDir(dirname or f"fn_{trial_id}_0_2026-11-30_10-37-15")
    log, progress = f"{where}/result.json", f"{where}/progress.csv"
    rows: list[Row] = []
    lines: dict[str, int] = {}
    for name, iteration, metrics in (
        *((name, None, {}) for name in evicted),
        *((s.name, s.iteration, s.metrics) for s in own if s.row),
    ):
        lines[name] = len(rows)
        rows.append(
            Row(
                line=len(rows),
                has_name=named_rows,
                name=name if named_rows else None,
                training_iteration=iteration,
                metrics=metrics,
            )
        )
    manager = f"trial_data/{position}/1#checkpoint_manager#_checkpoint_results"
    recorded = [s for s in own if s.recorded]
    records = tuple(
        Record(
            ref=CheckpointRef(trial=where, name=CheckpointName(s.name)),
            path=f"{ROOT}/{where}/{s.name}",
            metrics=s.metrics,
            training_iteration=s.iteration,
            provenance=Provenance(file=STATE, pointer=f"{manager}/{i}"),
            path_pointer=f"{manager}/{i}/checkpoint/path",
            position=i,
            row=lines.get(s.name),
        )
        for i, s in enumerate(recorded)
    )
    mentions = [
        *(_path_mention(r.provenance.pointer, r.path, r.ref) for r in records if r.ref),
        *(_path_mention(f"old/{r.position}", r.path, r.ref, OLD_STATE) for r in records if r.ref),
    ]
    if records and records[-1].ref:
        latest = manager.replace("_checkpoint_results", "_latest_checkpoint_result")
        mentions.append(_path_mention(latest, records[-1].path, records[-1].ref))
    if named_rows:
        mentions += [_row_mention(log, row, where) for row in rows]
        mentions += [_row_mention(progress, row, where) for row in rows]
    slot = Provenance(
        file=STATE, pointer=f"trial_data/{position}/0#storage#current_checkpoint_index"
    )
    highest = max((i for s in own if (i := index_of(s.name)) is not None), default=-1)
    last = highest if counted is None else counted
    trial = Trial(
        trial_id=trial_id,
        dirname=where,
        status=status,
        in_state=True,
        on_storage=True,
        kind=kind,
        checkpoints=_checkpoints(where, own),
        records=records,
        latest_record=records[-1] if records else None,
        latest=records[-1].ref if records else None,
        rows=tuple(rows),
        index_slot=slot if counter else None,
        result_log=log,
        books={
            Witness.TRIAL: Bookkeeping(
                latest_index=Claim(value=last, witness=Witness.TRIAL, provenance=slot)
            )
        }
        if counter
        else {},
    )
    files = (
        _file(log, RecordKind.JSON_LINES, RecordRole.RESULT_LOG),
        _file(progress, RecordKind.CSV, RecordRole.PROGRESS),
    )
    return Made(trial=trial, mentions=tuple(mentions), records=files)


def _checkpoints(where: TrialDir, own: Sequence[Save]) -> tuple[Checkpoint, ...]:
    made = [
        Checkpoint(
            trial=where,
            name=CheckpointName(s.name),
            index=index_of(s.name),
            state=s.state,
            training_iteration=s.iteration,
            metrics=s.metrics,
            saved=place,
        )
        for place, s in enumerate(own)
    ]
    return tuple(sorted(made, key=lambda c: natural_key(c.name)))


def _path_mention(pointer: str, path: str, ref: CheckpointRef, file: str = STATE) -> Mention:
    provenance = Provenance(file=file, pointer=f"{pointer}/checkpoint/path")
    return Mention(ref=ref, provenance=provenance, text=path, form=MentionForm.PATH)


def _row_mention(file: str, row: Row, trial: TrialDir) -> Mention:
    name = CheckpointName(row.name or "")
    return Mention(
        ref=CheckpointRef(trial=trial, name=name),
        provenance=Provenance(file=file, pointer=f"{row.line}/checkpoint_dir_name"),
        text=name,
        form=MentionForm.NAME,
    )


def _file(path: str, kind: RecordKind, role: RecordRole) -> RecordFile:
    return RecordFile(path=path, kind=kind, role=role, sha256="", size=1)


def make_experiment(
    *made: Made, layout: str = "ray-tune", counter_means_next: bool = False
) -> Experiment:
    """An experiment of these trials."""
    return Experiment(
        location="runs/exp",
        name="exp",
        layout=layout,
        trials=tuple(sorted((m.trial for m in made), key=lambda t: t.dirname)),
        state_file=STATE,
        counter_means_next=counter_means_next,
        records=(
            _file(STATE, RecordKind.JSON, RecordRole.STATE),
            _file(OLD_STATE, RecordKind.JSON, RecordRole.SUPERSEDED_STATE),
            *(record for m in made for record in m.records),
        ),
        mentions=tuple(mention for m in made for mention in m.mentions),
    )


# What a draft does to a value --------------------------------------------------------------


def moved(paths: Iterable[str], moves: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Where each path is after the moves; fails where a move finds its target taken."""
    now = {path: path for path in paths}
    for source, target in moves:
        assert source in now, f"{source} is not there"
        assert target not in now, f"{target} is taken"
        now[target] = now.pop(source)
    return {first: path for path, first in now.items()}


def done(experiment: Experiment, draft: Draft) -> Experiment:
    """The experiment once the draft is done."""
    assert not draft.refusals
    paths = [c.path for t in experiment.trials for c in t.checkpoints if c.on_storage]
    now = moved(paths, draft.moves)
    edits = {(file, e.pointer): e for file, own in draft.edits.items() for e in own}
    mentions = tuple(m for old in experiment.mentions if (m := _edited(old, edits)) is not None)
    trials = tuple(_trial_after(experiment, t, now, edits) for t in experiment.trials)
    added = tuple(
        _row_mention(t.result_log or "", row, t.dirname)
        for before, t in zip(experiment.trials, trials, strict=True)
        for old, row in zip(before.rows, t.rows, strict=True)
        if old.name is None and row.name is not None
    )
    return replace(experiment, trials=trials, mentions=(*mentions, *added))


def _edited(mention: Mention, edits: Mapping[tuple[str, str], Edit]) -> Mention | None:
    edit = edits.get((mention.provenance.file, mention.provenance.pointer))
    if edit is None:
        return mention
    assert edit.before == mention.text
    if not edit.after:
        assert mention.form is MentionForm.NAME
        return None
    text = str(edit.after)
    name = CheckpointName(text.rpartition("/")[2])
    return replace(mention, text=text, ref=replace(mention.ref, name=name))


def _trial_after(
    experiment: Experiment,
    trial: Trial,
    now: Mapping[str, str],
    edits: Mapping[tuple[str, str], Edit],
) -> Trial:
    def named(name: str) -> CheckpointName:
        path = now.get(f"{trial.dirname}/{name}", name)
        return CheckpointName(path.rpartition("/")[2])

    def record(one: Record) -> Record:
        assert one.ref is not None
        return replace(one, ref=replace(one.ref, name=named(one.ref.name)))

    checkpoints = [
        replace(c, name=named(c.name), index=index_of(named(c.name))) for c in trial.checkpoints
    ]
    rows = []
    for row in trial.rows:
        edit = edits.get((trial.result_log or "", f"{row.line}/checkpoint_dir_name"))
        if edit is None:
            rows.append(row)
            continue
        assert edit.before == row.name
        text = None if edit.after is None else str(edit.after)
        rows.append(replace(row, has_name=True, name=text))
    books = dict(trial.books)
    if trial.index_slot and (e := edits.get((trial.index_slot.file, trial.index_slot.pointer))):
        assert isinstance(e.after, int)
        value = e.after - (1 if experiment.counter_means_next else 0)
        claim = Claim(value=value, witness=Witness.TRIAL, provenance=trial.index_slot)
        books[Witness.TRIAL] = replace(books[Witness.TRIAL], latest_index=claim)
    return replace(
        trial,
        checkpoints=tuple(sorted(checkpoints, key=lambda c: natural_key(c.name))),
        records=tuple(record(r) for r in trial.records),
        latest_record=record(trial.latest_record) if trial.latest_record else None,
        latest=replace(trial.latest, name=named(trial.latest.name)) if trial.latest else None,
        rows=tuple(rows),
        books=books,
    )


# Strategies --------------------------------------------------------------------------------

field_names = st.text(
    st.characters(exclude_characters="{}[]!:", exclude_categories=("Cs", "Cc", "Z")),
    min_size=1,
    max_size=12,
).filter(lambda name: "._" not in name and not name.startswith(("index.", "timestamp.", "tr")))
"""Names of metrics that a template can write."""

specs = st.sampled_from(
    ["", "d", "06d", "3d", ".2f", "010.4f", ".3e", ".5g", "%", ".1%", "+.2f", "x", "_d", "<8",
     "s", ".10s", "*>12"]
)  # fmt: skip

metric_values: st.SearchStrategy[MetricValue] = st.one_of(
    st.integers(-(10**30), 10**30),
    st.floats(),
    st.booleans(),
    st.none(),
    st.text(max_size=8),
)


@st.composite
def templates(draw: st.DrawFn) -> str:
    """The text of a good template."""
    literal = st.text(max_size=6).map(lambda t: t.replace("{", "{{").replace("}", "}}"))
    parts = [draw(literal)]
    for _ in range(draw(st.integers(0, 3))):
        spec = draw(specs)
        parts.append(f"{{{draw(field_names)}{':' if spec else ''}{spec}}}")
        parts.append(draw(literal))
    return "".join(parts)


@st.composite
def losses(draw: st.DrawFn) -> list[float]:
    """Losses that are often alike when rounded."""
    few = st.integers(-50, 50).map(lambda n: n / 1000)
    return draw(st.lists(st.one_of(few, st.floats(-1e3, 1e3)), min_size=1, max_size=12))


@st.composite
def experiments(draw: st.DrawFn) -> Experiment:
    """One or two trials, finished or not, whole and with evicted checkpoints."""
    made = []
    for number in range(draw(st.integers(1, 2))):
        gone = draw(st.integers(0, 3))
        made.append(
            make_trial(
                saves(draw(losses()), first=gone),
                trial_id=f"c08b9_{number:05d}",
                position=number,
                status=draw(st.sampled_from([TrialStatus.TERMINATED, TrialStatus.ERROR])),
                evicted=[f"checkpoint_{i:06d}" for i in range(gone)],
            )
        )
    return make_experiment(*made, counter_means_next=draw(st.booleans()))
